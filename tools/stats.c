/*
 * --stats: where the time went, and the memory.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tools/stats.h"

#include <stdio.h>
#include <string.h>

#include "tools/say.h"

double ag_status_mib(const char *key)
{
    char line[256];
    long kib = -1;
    FILE *f = fopen("/proc/self/status", "r");

    while (f && fgets(line, sizeof(line), f))
        if (!strncmp(line, key, strlen(key)) && sscanf(line + strlen(key), ": %ld", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return kib < 0 ? -1 : (double)kib / 1024;
}

static double per(int64_t us, int64_t n)
{
    return n ? (double)us / 1000 / (double)n : 0;
}

static void line(const char *stage, int64_t us, const char *detail)
{
    ag_say(ARGUS_LOG_ERROR, "%-10s %10.1f ms%s%s", stage, (double)us / 1000,
           *detail ? "   " : "", detail);
}

/* GFLOP/s */
static double speed(int64_t flops, int64_t us)
{
    return us ? (double)flops / 1e3 / (double)us : 0;
}

/* Printed at the level of errors: asked for, so --quiet does not silence it. */
void ag_stats_print(const ArgusContext *ctx, const ArgusModel *model, int64_t us_open,
                    int64_t us_load, int64_t us_all)
{
    ArgusModelInfo m;
    ArgusStats s;
    char text[160];
    double rss = ag_status_mib("VmHWM"), anon = ag_status_mib("RssAnon");

    argus_stats(ctx, &s);
    argus_model_info(model, &m);
    snprintf(text, sizeof(text), "%s, %s kernels", m.name, m.cpu_tier);
    line("open", us_open, text);
    line("read", us_load, "");
    line("preprocess", s.us_preprocess, "");
    snprintf(text, sizeof(text), "%lld tiles, %lld reused, %.1f ms each, %.0f GFLOP/s",
             (long long)s.n_tile, (long long)s.n_tile_reused, per(s.us_vision, s.n_tile),
             speed(s.flops_vision, s.us_vision));
    line("vision", s.us_vision, text);
    snprintf(text, sizeof(text), "%lld tokens, %lld reused, %.0f GFLOP/s", (long long)s.n_prompt,
             (long long)s.n_prompt_reused, speed(s.flops_prefill, s.us_prefill));
    line("prefill", s.us_prefill, text);
    snprintf(text, sizeof(text), "%lld tokens, %.2f ms each, %.1f GB/s", (long long)s.n_token,
             per(s.us_decode, s.n_token), speed(s.bytes_decode, s.us_decode));
    line("decode", s.us_decode, text);
    snprintf(text, sizeof(text), "%lld answers", (long long)s.n_caption);
    line("all", us_all, text);
    snprintf(text, sizeof(text), "%-10s %10.1f MiB working memory, %.1f MiB weights", "memory",
             (double)s.anon_bytes / 1048576, (double)m.mapped_bytes / 1048576);
    if (rss >= 0 && anon >= 0)
        ag_say(ARGUS_LOG_ERROR, "%s; process: %.1f MiB at most, %.1f MiB anonymous now", text, rss,
               anon);
    else
        ag_say(ARGUS_LOG_ERROR, "%s", text);
}
