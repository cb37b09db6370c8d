/*
 * Values of options that are neither whole nor real numbers. Read digit by
 * digit: nothing is rounded, and the locale does not matter.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tools/values.h"

#include <string.h>

enum { SECOND = 1000000 };
#define MAX_SECONDS 1000000000

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits up to a limit. @return the text behind them, NULL if there are none. */
static const char *whole(const char *p, int64_t limit, int64_t *out)
{
    if (!is_digit(*p))
        return NULL;
    for (*out = 0; is_digit(*p); p++)
        if ((*out = *out * 10 + (*p - '0')) > limit)
            return NULL;
    return p;
}

/* ".25" as 250000; what lies behind the sixth digit is cut. */
static const char *fraction(const char *p, int64_t *out)
{
    int64_t unit = SECOND / 10;

    *out = 0;
    if (*p != '.')
        return p;
    for (p++; is_digit(*p); p++, unit /= 10)
        *out += (*p - '0') * unit;
    return p;
}

int ag_value_time(const char *text, int64_t *us)
{
    int negative = *text == '-', n = 0;
    const char *p = text + negative;
    int64_t v = 0, part, micro;

    do {
        p = whole(p, MAX_SECONDS, &part);
        if (!p || (n && part > 59))
            return -1;
        v = v * 60 + part;
    } while (*p == ':' && n++ < 2 && p++);
    p = fraction(p, &micro);
    v = v * SECOND + micro;
    if (!n && !strcmp(p, "ms"))
        v /= 1000;
    else if (!n && !strcmp(p, "us"))
        v /= SECOND;
    else if (*p && (n || strcmp(p, "s")))
        return -1;
    if (v > (int64_t)MAX_SECONDS * SECOND)
        return -1;
    *us = negative ? -v : v;
    return 0;
}

int ag_value_rational(const char *text, ArgusRational *out)
{
    int64_t num, den = 1, digit;
    const char *p = whole(text, INT32_MAX, &num);

    if (p && *p == '/') {
        p = whole(p + 1, INT32_MAX, &den);
    } else if (p && *p == '.') {
        for (p++; is_digit(*p); p++) {
            digit = *p - '0';
            if (num > (INT32_MAX - 9) / 10 || den > INT32_MAX / 10)
                return -1;
            num = num * 10 + digit;
            den *= 10;
        }
    }
    if (!p || *p || den < 1)
        return -1;
    *out = (ArgusRational){(int)num, (int)den};
    return 0;
}
