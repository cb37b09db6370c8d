/*
 * Shared libraries that are opened when their functions are first needed.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TOOLS_LIBRARY_H
#define AG_TOOLS_LIBRARY_H

/* Why something can't be had: the first reason counts. Begins empty. */
typedef struct AgLibraryFailure {
    char text[512];
} AgLibraryFailure;

#define AG_LIBRARY_NUMBER_(n) #n
#define AG_LIBRARY_NUMBER(n) AG_LIBRARY_NUMBER_(n)
#ifdef __APPLE__
#define AG_LIBRARY(name, version) "lib" name "." AG_LIBRARY_NUMBER(version) ".dylib"
#else
#define AG_LIBRARY(name, version) "lib" name ".so." AG_LIBRARY_NUMBER(version)
#endif

/* NULL on failure. It stays open until the program ends. */
void *ag_library_open(const char *file, AgLibraryFailure *why);
/* function: address of a pointer to the function of that name, NULL if library is or
 * has none. */
void ag_library_find(void *library, const char *name, void *function, AgLibraryFailure *why);

#endif /* AG_TOOLS_LIBRARY_H */
