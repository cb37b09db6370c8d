/*
 * Instruction sets and usable cores. Flags are enum ArgusCpu of argus.h.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_BASE_CPU_H
#define AG_BASE_CPU_H

#include "libargus/argus.h"

/* Quota of a cgroup v2 "cpu.max" text ("max 100000", "150000 100000"): cores,
 * rounded up, or 0 for no limit. For tests. */
int ag_cpu_parse_quota(const char *text);

#endif /* AG_BASE_CPU_H */
