/*
 * argus bench: stage times of one prompt, against what the machine can do.
 *
 * The picture comes from the integer formula of the parity tests, or from a
 * file; --frames asks about several one-tile pictures, as a video window does.
 * Every run is a fresh context on a model that stays open: nothing is reused
 * from run to run.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/formula.h"
#include "tools/output.h"
#include "tools/say.h"
#include "tools/stats.h"
#include "tools/verbs.h"

enum { MAX_RUNS = 100, MAX_FRAMES = 64 };

typedef struct Sample {
    double preprocess, vision, prefill, decode, all; /* seconds */
    double flops; /* a second, what the machine gave on average right before and after the run */
    double least; /* the smaller of both, 0 where it was not asked before */
    double read;  /* bytes a second, right after it */
} Sample;

typedef struct Bench {
    const AgCli *o;
    ArgusModel *model;
    AgPic pic[MAX_FRAMES];
    int n_pic;
    int threads;
    double open_s;            /* model and context */
    double entry_s, before_s; /* clock when the verb began; CPU time until then */
    double start_s;           /* from the process's begin to the first tile of the first run */
    double peak, bandwidth;   /* of the machine, best of all: FLOP/s, bytes/s */
    double rss, anon;         /* MiB: most in the first run, and anonymous after an answer */
    Sample run[MAX_RUNS];
    int n_run;
    ArgusStats stats;         /* of one run: the work is the same in all */
    int n_prompt, n_token, *ids;
} Bench;

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Of the process. Before main it is the dynamic loader's, which waits for nothing
 * when all files are in memory, so that it is time on the clock too. */
static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int load_pictures(Bench *b)
{
    const AgCli *o = b->o;
    ArgusLogger log = ag_say_logger();

    b->n_pic = o->frames;
    for (int i = 0; i < b->n_pic; i++) {
        AgPic *p = &b->pic[i];
        if (o->n_input) {
            int err = ag_pic_load(p, o->inputs[0], &o->picture, &log);
            if (err < 0)
                return err;
            continue;
        }
        *p = (AgPic){malloc((size_t)o->formula_w * (size_t)o->formula_h * 3), o->formula_w,
                     o->formula_h};
        if (!p->rgb) {
            ag_say(ARGUS_LOG_ERROR, "out of memory");
            return -1;
        }
        /* the scenes that the references use: 1 for stills, 9 for windows */
        ag_formula_image(p->rgb, p->width, p->height, b->n_pic > 1 ? 9 : 1, (uint32_t)i);
    }
    return 0;
}

static int run_once(Bench *b, Sample *out)
{
    const AgCli *o = b->o;
    ArgusImage images[MAX_FRAMES];
    ArgusPart parts[MAX_FRAMES + 1];
    ArgusSettings s;
    ArgusContext *ctx = NULL;
    ArgusRequest q;
    ArgusCaption c;
    double begin = seconds();

    argus_default_settings(&s);
    s.logger = ag_say_logger();
    s.threads = b->threads;
    int err = argus_open(&ctx, b->model, &s);
    if (err < 0)
        return err;
    b->open_s += seconds() - begin;
    ag_watch(ctx);
    for (int i = 0; i < b->n_pic; i++) {
        const AgPic *p = &b->pic[i];
        images[i] = (ArgusImage){p->rgb, (ptrdiff_t)p->width * 3, p->width, p->height, ARGUS_RGB24};
        parts[i] = (ArgusPart){.kind = ARGUS_PART_IMAGE, .image = &images[i]};
    }
    parts[b->n_pic] = (ArgusPart){.kind = ARGUS_PART_TEXT, .text = o->prompts[0]};
    argus_request_default(&q);
    q.parts = parts;
    q.n_part = (size_t)b->n_pic + (*o->prompts[0] != 0);
    q.split = o->split;
    q.decoding = o->decoding;
    begin = seconds();
    err = argus_describe(ctx, &q, &c);
    out->all = seconds() - begin;
    if (err >= 0) {
        argus_stats(ctx, &b->stats);
        b->anon = ag_status_mib("RssAnon");
        out->preprocess = (double)b->stats.us_preprocess * 1e-6;
        if (!b->n_run) /* the first picture is cut, then its first tile runs */
            b->start_s = b->before_s + begin - b->entry_s + out->preprocess / b->n_pic;
        out->vision = (double)b->stats.us_vision * 1e-6;
        out->prefill = (double)b->stats.us_prefill * 1e-6;
        out->decode = (double)b->stats.us_decode * 1e-6;
        b->n_prompt = c.n_prompt;
        b->n_token = c.n_id;
        free(b->ids);
        b->ids = malloc((size_t)c.n_id * sizeof(int) + 1);
        if (b->ids)
            memcpy(b->ids, c.ids, (size_t)c.n_id * sizeof(int));
    }
    argus_caption_free(&c);
    ag_watch(NULL);
    argus_close(&ctx);
    return err;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Minimum, median and maximum of one stage over the runs. */
static void spread(const Bench *b, size_t offset, double out[3])
{
    double v[MAX_RUNS];

    for (int i = 0; i < b->n_run; i++)
        v[i] = *(const double *)(const void *)((const char *)&b->run[i] + offset);
    qsort(v, (size_t)b->n_run, sizeof(v[0]), by_value);
    out[0] = v[0];
    out[1] = v[b->n_run / 2];
    out[2] = v[b->n_run - 1];
}

/* The machine was the run's own: registers gave 94 % of their best before and after it. */
static int quiet(const Bench *b, const Sample *s)
{
    return s->least >= 0.94 * b->peak;
}

static int n_quiet(const Bench *b)
{
    int n = 0;

    for (int i = 0; i < b->n_run; i++)
        n += quiet(b, &b->run[i]);
    return n;
}

/* Median over the runs, or the quiet ones, of a stage's rate as a share of what the machine
 * gave then, in %; 0 where that is not known. */
static double share(const Bench *b, size_t stage, double work, size_t given, int only_quiet)
{
    double v[MAX_RUNS];
    int n = 0;

    for (int i = 0; i < b->n_run; i++) {
        const char *run = (const char *)&b->run[i];
        double seconds = *(const double *)(const void *)(run + stage);
        double rate = *(const double *)(const void *)(run + given);
        if (!only_quiet || quiet(b, &b->run[i]))
            v[n++] = seconds > 0 && rate > 0 ? 100 * work / seconds / rate : 0;
    }
    qsort(v, (size_t)n, sizeof(v[0]), by_value);
    return n ? v[n / 2] : 0;
}

static double rate(double work, double time)
{
    return time > 0 ? work / time : 0;
}

typedef struct Row {
    const char *name;
    size_t offset;
    double work;  /* of one run: operations or bytes */
    double limit; /* of the machine, 0 = none */
    size_t given; /* where a Sample has what the machine gave */
    int n;        /* units in one run */
    const char *unit;
} Row;

enum { N_ROW = 5 };

static void rows(const Bench *b, Row *r)
{
    const ArgusStats *s = &b->stats;

    size_t flops = offsetof(Sample, flops), read = offsetof(Sample, read);

    r[0] = (Row){"preprocess", offsetof(Sample, preprocess), 0, 0, 0, b->n_pic, "picture"};
    r[1] = (Row){"vision", offsetof(Sample, vision), (double)s->flops_vision, b->peak, flops,
                 (int)s->n_tile, "tile"};
    r[2] = (Row){"prefill", offsetof(Sample, prefill), (double)s->flops_prefill, b->peak, flops,
                 b->n_prompt, "token"};
    r[3] = (Row){"decode", offsetof(Sample, decode), (double)s->bytes_decode, b->bandwidth, read,
                 (int)s->n_forward, "token"};
    r[4] = (Row){"all", offsetof(Sample, all), 0, 0, 0, 1, "prompt"};
}

static void print_quiet(const Bench *b, const Row *r)
{
    char line[256];
    int n = snprintf(line, sizeof(line),
                     "quiet       %d of %d runs: it gave 94 %% of its best before and after",
                     n_quiet(b), b->n_run);

    for (int i = 0; n_quiet(b) && i < N_ROW; i++)
        if (r[i].limit > 0)
            n += snprintf(line + n, sizeof(line) - (size_t)n, "%s%s %.0f %%", i == 1 ? "; " : ", ",
                          r[i].name, share(b, r[i].offset, r[i].work, r[i].given, 1));
    snprintf(line + n, sizeof(line) - (size_t)n, "\n");
    ag_out(line, 0);
}

static void print_text(const Bench *b)
{
    ArgusModelInfo m;
    Row r[N_ROW];
    char line[256];

    argus_model_info(b->model, &m);
    snprintf(line, sizeof(line),
             "%s, %s kernels, %s, %d threads, %d runs; %d pictures, %d tiles, %d prompt tokens, "
             "%d tokens\n",
             m.name, m.cpu_tier, argus_precision_name(m.precision), b->threads, b->n_run, b->n_pic,
             (int)b->stats.n_tile, b->n_prompt, b->n_token);
    ag_out(line, 0);
    snprintf(line, sizeof(line),
             "machine: %.1f GFLOP/s in registers, %.1f GB/s read at best; in brackets: share of "
             "what it gave right then\n",
             b->peak * 1e-9, b->bandwidth * 1e-9);
    ag_out(line, 0);
    snprintf(line, sizeof(line), "%-11s %10s %10s %10s\n", "", "min s", "median s", "max s");
    ag_out(line, 0);
    rows(b, r);
    for (int i = 0; i < N_ROW; i++) {
        double t[3];
        spread(b, r[i].offset, t);
        int n = snprintf(line, sizeof(line), "%-11s %10.3f %10.3f %10.3f", r[i].name, t[0], t[1],
                         t[2]);
        if (r[i].n > 1)
            n += snprintf(line + n, sizeof(line) - (size_t)n, "   %.2f ms a %s",
                          1e3 * t[1] / r[i].n, r[i].unit);
        if (r[i].work > 0)
            n += snprintf(line + n, sizeof(line) - (size_t)n,
                          ", %.1f %s, %.0f %% of the machine (%.0f)",
                          rate(r[i].work, t[1]) * 1e-9, i == 3 ? "GB/s" : "GFLOP/s",
                          100 * rate(rate(r[i].work, t[1]), r[i].limit),
                          share(b, r[i].offset, r[i].work, r[i].given, 0));
        snprintf(line + n, sizeof(line) - (size_t)n, "\n");
        ag_out(line, 0);
    }
    if (b->n_run > 1)
        print_quiet(b, r);
    snprintf(line, sizeof(line),
             "open        %10.3f s a run\n"
             "start       %10.3f s from the process's begin to the first tile\n"
             "memory      %10.1f MiB at most, %.1f anonymous, %.1f "
             "working memory\n",
             b->open_s / b->n_run, b->start_s, b->rss, b->anon,
             (double)b->stats.anon_bytes / 1048576);
    ag_out(line, 0);
}

static void print_json(const Bench *b)
{
    ArgusModelInfo m;
    Row r[N_ROW];
    char line[256];

    argus_model_info(b->model, &m);
    snprintf(
        line, sizeof(line),
        "{\"tier\": \"%s\", \"precision\": \"%s\", \"threads\": %d, \"runs\": %d, "
        "\"tiles\": %d, \"quiet_runs\": %d, "
        "\"prompt_tokens\": %d, \"tokens\": %d, \"peak_flops\": %.4g, \"read_bandwidth\": %.4g",
        m.cpu_tier, argus_precision_name(m.precision), b->threads, b->n_run, (int)b->stats.n_tile,
        n_quiet(b), b->n_prompt, b->n_token, b->peak, b->bandwidth);
    ag_out(line, 0);
    rows(b, r);
    for (int i = 0; i < N_ROW; i++) {
        double t[3];
        spread(b, r[i].offset, t);
        snprintf(line, sizeof(line), ", \"%s_s\": [%.6f, %.6f, %.6f]", r[i].name, t[0], t[1], t[2]);
        ag_out(line, 0);
        if (r[i].limit > 0) {
            snprintf(line, sizeof(line), ", \"%s_share\": %.4f", r[i].name,
                     share(b, r[i].offset, r[i].work, r[i].given, 0) / 100);
            ag_out(line, 0);
            snprintf(line, sizeof(line), ", \"%s_share_quiet\": %.4f", r[i].name,
                     share(b, r[i].offset, r[i].work, r[i].given, 1) / 100);
            ag_out(line, 0);
        }
    }
    snprintf(line, sizeof(line), ", \"flops_vision\": %lld, \"flops_prefill\": %lld, "
             "\"flops_decode\": %lld, \"bytes_decode\": %lld", (long long)b->stats.flops_vision,
             (long long)b->stats.flops_prefill, (long long)b->stats.flops_decode,
             (long long)b->stats.bytes_decode);
    ag_out(line, 0);
    snprintf(line, sizeof(line), ", \"open_s\": %.6f, \"start_s\": %.6f, \"peak_rss_mib\": %.1f, "
             "\"anonymous_mib\": %.1f, \"ids\": [", b->open_s / b->n_run, b->start_s, b->rss,
             b->anon);
    ag_out(line, 0);
    for (int i = 0; b->ids && i < b->n_token; i++) {
        snprintf(line, sizeof(line), "%s%d", i ? ", " : "", b->ids[i]);
        ag_out(line, 0);
    }
    ag_out("]}\n", 0);
}

/* What the machine gives in registers; on a shared one that changes from second to second. */
static double measure_flops(Bench *b)
{
    double mean, peak = argus_peak_flops(b->o->cpumask, b->threads, &mean);

    b->peak = peak > b->peak ? peak : b->peak;
    return mean;
}

/* After a run; before: what measure_flops() said before it, 0 if nobody asked. */
static void measure_machine(Bench *b, Sample *s, double before)
{
    s->flops = measure_flops(b);
    s->least = s->flops < before ? s->flops : before;
    if (before > 0)
        s->flops = (s->flops + before) / 2;
    double bandwidth = argus_peak_bandwidth(b->o->cpumask, b->threads, &s->read);
    b->bandwidth = bandwidth > b->bandwidth ? bandwidth : b->bandwidth;
}

static int bench(Bench *b)
{
    const AgCli *o = b->o;
    ArgusModelSettings m;
    double begin = seconds();

    b->threads = o->threads ? o->threads : argus_cpu_count();
    if (o->peak) {
        measure_machine(b, &b->run[0], 0);
        char line[160];
        snprintf(line, sizeof(line),
                 "%s, %d threads: %.1f GFLOP/s in registers, %.1f GB/s read at best; %.1f and %.1f "
                 "on average\n",
                 argus_cpu_tier(o->cpumask), b->threads, b->peak * 1e-9, b->bandwidth * 1e-9,
                 b->run[0].flops * 1e-9, b->run[0].read * 1e-9);
        ag_out(line, 0);
        return 0;
    }
    argus_model_default_settings(&m);
    m.logger = ag_say_logger();
    m.model = o->model;
    m.cpumask = o->cpumask;
    m.precision = o->precision;
    begin = seconds();
    int err = argus_model_open(&b->model, &m);
    b->open_s = (seconds() - begin) * o->runs;
    if (err < 0 || (err = load_pictures(b)) < 0)
        return err;
    for (b->n_run = 0; b->n_run < o->runs; b->n_run++) {
        double before = b->n_run ? measure_flops(b) : 0; /* the first is timed from the start */
        if ((err = run_once(b, &b->run[b->n_run])) < 0)
            return err;
        if (b->n_run == 0) /* measuring the machine takes memory too */
            b->rss = ag_status_mib("VmHWM");
        measure_machine(b, &b->run[b->n_run], before);
    }
    if (o->json)
        print_json(b);
    else
        print_text(b);
    return 0;
}

int ag_verb_bench(const AgCli *o)
{
    Bench *b = calloc(1, sizeof(*b));
    int err = -1;

    if (b) {
        b->o = o;
        b->entry_s = seconds();
        b->before_s = cpu_seconds();
        err = bench(b);
        for (int i = 0; i < b->n_pic; i++)
            ag_pic_free(&b->pic[i]);
        argus_model_close(&b->model);
        free(b->ids);
    } else {
        ag_say(ARGUS_LOG_ERROR, "out of memory");
    }
    free(b);
    return err < 0 || ag_out_flush() < 0 ? AG_EXIT_FAILED : AG_EXIT_OK;
}
