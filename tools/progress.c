/*
 * How far a video is: a line on stderr that is written over again and again.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _DEFAULT_SOURCE /* winsize */
#include "tools/progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "tools/say.h"

enum { BAR = 20, LINE = 256, INTERVAL_US = 200000 };

static struct {
    int on, shown;
    char name[32];
    int64_t length, begin, last;
} bar;

static int64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* 1:02:03, or 2:03 */
static const char *clock_text(int64_t us, char *buf, size_t size)
{
    long long s = us < 0 ? 0 : us / 1000000;

    if (s >= 3600)
        snprintf(buf, size, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(buf, size, "%lld:%02lld", s / 60, s % 60);
    return buf;
}

void ag_progress_start(const char *name, int64_t length_us, int quiet)
{
    const char *slash = strrchr(name, '/');

    bar.on = !quiet && isatty(STDERR_FILENO);
    bar.shown = 0;
    bar.length = length_us;
    bar.begin = bar.last = now_us();
    snprintf(bar.name, sizeof(bar.name), "%s", slash && slash[1] ? slash + 1 : name);
    for (char *p = bar.name; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 127)
            *p = '?';
    ag_say_before(bar.on ? ag_progress_clear : NULL);
}

/* "[======>      ]  42%", nothing when the length is not known */
static void draw_bar(char *to, size_t size, int64_t position)
{
    int n = (int)(position * BAR / bar.length);

    snprintf(to, size, " [%.*s%s%*s] %3d%%", n, "====================", n < BAR ? ">" : "",
             n < BAR ? BAR - n - 1 : 0, "", (int)(position * 100 / bar.length));
}

void ag_progress_show(int64_t position, int64_t n_cue)
{
    char line[LINE], part[64] = "", at[24], all[24], eta[24], speed_text[24] = "";
    int64_t now = now_us(), spent = now - bar.begin;
    double speed = spent > 0 ? (double)position / (double)spent : 0;
    struct winsize ws;
    int width = 80;

    if (!bar.on || now - bar.last < INTERVAL_US)
        return;
    bar.last = now;
    if (position < 0)
        position = 0;
    if (bar.length && position > bar.length)
        position = bar.length;
    if (bar.length)
        draw_bar(part, sizeof(part), position);
    snprintf(speed_text, sizeof(speed_text), "%.2f", speed);
    snprintf(line, sizeof(line), "%s%s %s%s%s, %lld cue%s, %sx%s%s", bar.name, part,
             clock_text(position, at, sizeof(at)), bar.length ? "/" : "",
             bar.length ? clock_text(bar.length, all, sizeof(all)) : "", (long long)n_cue,
             n_cue == 1 ? "" : "s", speed_text, bar.length && speed > 0 ? ", ETA " : "",
             bar.length && speed > 0
                 ? clock_text((int64_t)((double)(bar.length - position) / speed), eta, sizeof(eta))
                 : "");
    if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &ws) && ws.ws_col > 1)
        width = ws.ws_col;
    fprintf(stderr, "\r\033[K%.*s", width - 1, line);
    fflush(stderr);
    bar.shown = 1;
}

void ag_progress_clear(void)
{
    if (bar.on && bar.shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    bar.shown = 0;
}

void ag_progress_end(void)
{
    ag_progress_clear();
    bar.on = 0;
    ag_say_before(NULL);
}
