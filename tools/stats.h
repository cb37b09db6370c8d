/*
 * --stats: where the time went, and the memory.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TOOLS_STATS_H
#define AG_TOOLS_STATS_H

#include "libargus/argus.h"

/* Times in microseconds: opening the model, reading pictures, everything. */
void ag_stats_print(const ArgusContext *ctx, const ArgusModel *model, int64_t us_open,
                    int64_t us_load, int64_t us_all);

/* A line of /proc/self/status ("VmHWM", "RssAnon") in MiB; -1 where there is
 * none. */
double ag_status_mib(const char *key);

#endif /* AG_TOOLS_STATS_H */
