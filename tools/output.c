/*
 * stdout: results, written as soon as they are there.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tools/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tools/say.h"

static int failed;

static int check(int bad)
{
    int err = errno;

    if (bad && !failed && err != EPIPE)
        ag_say(ARGUS_LOG_ERROR, "standard output: %s", strerror(err));
    failed |= bad;
    return failed ? -1 : 0;
}

void ag_out(const char *text, int one_line)
{
    for (; *text && !failed; text++) {
        int blank = one_line && (*text == '\n' || *text == '\r');
        if (putchar(blank ? ' ' : (unsigned char)*text) == EOF)
            check(1);
    }
}

void ag_out_bytes(const void *data, size_t size)
{
    if (!failed && fwrite(data, 1, size, stdout) != size)
        check(1);
}

int ag_out_flush(void)
{
    return check(!failed && fflush(stdout) != 0);
}

int ag_out_close(void)
{
    return check(!failed && fclose(stdout) != 0);
}
