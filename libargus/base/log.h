/*
 * Messages to the caller's logger.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_BASE_LOG_H
#define AG_BASE_LOG_H

#include "libargus/argus.h"
#include "libargus/base/common.h"

/* One line, at most 1023 bytes, cut at a character. log may be NULL. */
void ag_log(const ArgusLogger *log, int level, const char *fmt, ...) AG_PRINTF(3, 4);
/* Log at ARGUS_LOG_ERROR and give err back: return ag_fail(log, ERR, "…"). */
int ag_fail(const ArgusLogger *log, int err, const char *fmt, ...) AG_PRINTF(3, 4);
/* ARGUS_ERR(ENOMEM) with a message that says what for. */
int ag_nomem(const ArgusLogger *log, const char *what);

#endif /* AG_BASE_LOG_H */
