/*
 * Version of libargus. Copyright (c) 2026 the argus authors. BSD-2-Clause.
 */
#ifndef ARGUS_VERSION_H
#define ARGUS_VERSION_H

#define ARGUS_VERSION_MAJOR 0
#define ARGUS_VERSION_MINOR 1
#define ARGUS_VERSION_MICRO 0

#define ARGUS_VERSION_INT \
    (ARGUS_VERSION_MAJOR << 16 | ARGUS_VERSION_MINOR << 8 | ARGUS_VERSION_MICRO)
#define ARGUS_VERSION_STRING "0.1.0"

#endif /* ARGUS_VERSION_H */
