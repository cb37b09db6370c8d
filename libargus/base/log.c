/*
 * Messages to the caller's logger, and the texts of error codes.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _POSIX_C_SOURCE 200809L
#include "libargus/base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void emit(const ArgusLogger *log, int level, const char *fmt, va_list ap)
{
    char line[1024];

    if (!log || !log->callback)
        return;
    int n = vsnprintf(line, sizeof(line), fmt, ap);
    if (n < 0)
        return;
    if ((size_t)n >= sizeof(line)) { /* never end inside a UTF-8 sequence */
        size_t i = sizeof(line) - 1;
        while (i > 0 && ((unsigned char)line[i - 1] & 0xC0) == 0x80)
            i--;
        line[i > 0 ? i - 1 : 0] = 0;
    }
    for (char *p = line; *p; p++)
        if (*p == '\n' || *p == '\r')
            *p = ' ';
    log->callback(log->opaque, level, line);
}

void ag_log(const ArgusLogger *log, int level, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    emit(log, level, fmt, ap);
    va_end(ap);
}

int ag_fail(const ArgusLogger *log, int err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    emit(log, ARGUS_LOG_ERROR, fmt, ap);
    va_end(ap);
    return err;
}

int ag_nomem(const ArgusLogger *log, const char *what)
{
    return ag_fail(log, ARGUS_ERR(ENOMEM), "out of memory for %s", what);
}

const char *argus_strerror(int err, char *buf, size_t size)
{
    switch (err) {
    case ARGUS_ERR_FORMAT: return "damaged or foreign file";
    case ARGUS_ERR_UNSUPPORTED: return "not supported";
    case ARGUS_ERR_BUDGET: return "prompt and answer do not fit into the context";
    case ARGUS_ERR_CANCELLED: return "cancelled";
    case ARGUS_ERR_NO_MODEL: return "no such model";
    }
    if (err >= 0)
        return "success";
    if (!buf || !size)
        return "unknown error";
    if (strerror_r(-err, buf, size) != 0)
        snprintf(buf, size, "error %d", err);
    return buf;
}
