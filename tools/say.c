/*
 * What the program says on stderr: "argus: ..." lines.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tools/say.h"

#include <stdarg.h>
#include <stdio.h>

enum { LINE_SIZE = 2048 };

static int most = ARGUS_LOG_INFO;
static void (*before_line)(void);

void ag_say_level(int level)
{
    most = level;
}

void ag_say_before(void (*before)(void))
{
    before_line = before;
}

static void print(void *opaque, int level, const char *message)
{
    char line[LINE_SIZE + 32];
    int n;

    (void)opaque;
    if (level > most)
        return;
    n = snprintf(line, sizeof(line) - 1, "argus: %s%s",
                 level == ARGUS_LOG_WARNING ? "warning: " : "", message);
    if (n < 0)
        return;
    if ((size_t)n > sizeof(line) - 2)
        n = (int)sizeof(line) - 2;
    for (int i = 0; i < n; i++)
        if ((unsigned char)line[i] < ' ' || line[i] == 127)
            line[i] = '?';
    line[n++] = '\n';
    if (before_line)
        before_line();
    fwrite(line, 1, (size_t)n, stderr);
}

void ag_say(int level, const char *fmt, ...)
{
    char text[LINE_SIZE];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    print(NULL, level, text);
}

ArgusLogger ag_say_logger(void)
{
    return (ArgusLogger){print, NULL};
}

int ag_tell(const ArgusLogger *log, int level, int err, const char *fmt, ...)
{
    char text[LINE_SIZE];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (log && log->callback)
        log->callback(log->opaque, level, text);
    return err;
}
