/*
 * Times the products, attention and norms of a 256M model's vision tower,
 * prefill and decoding step on made-up weights, layer after layer, so that
 * weights come from memory as they do in a run. Prints each operation's share
 * of the multiply-add peak, or of the read bandwidth, of the same run.
 *
 *     stack [--threads=N] [--cpu=NAME] [--rounds=N] [--q8] [vision|prefill|decode]...
 *     stack ... --steps
 *
 * --q8: int8 weights; shares are still those of float32 multiply-adds. --steps: each
 * line of the standard input names a step of the vision tower's layers, or "causal" or
 * "registers"; it is done, and its rate printed in G/s: for tests/bench/pair.py.
 *
 * Each figure is the best of all rounds and layers: on a machine that others
 * use, the least disturbed one. With one thread, processor time is counted.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libargus/argus.h"
#include "libargus/dsp/dsp.h"
#include "libargus/dsp/peak.h"

enum { OPS = 16, LINEARS = 220, D_VIS = 768, FF_VIS = 3072, D = 576, KV = 192, FF = 1536, VOCAB = 49280 };

typedef struct Op {
    const char *name;
    double best, work; /* seconds; operations, or bytes when decoding */
    int count;         /* a round */
} Op;

typedef struct Bench {
    AgDsp dsp;
    AgPool *pool;
    AgExec x;
    unsigned cpu;
    int threads, rounds, q8;
    uint16_t *weights;    /* bfloat16, of all layers; int8 of q8 in the same memory */
    size_t at;            /* next one */
    AgQ8 view[LINEARS];   /* of q8 */
    int n_view;
    float *in, *out, *big, *vec;
    Op op[OPS];
    int n_op;
    double start;
    double peak, bandwidth;
} Bench;

static const size_t WEIGHTS = (size_t)140 << 20; /* numbers */
static const size_t ROWS = 1142;

static double now(const Bench *b)
{
    struct timespec t;

    if (b->threads > 1)
        return ag_clock();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Next weights of a linear layer. */
static AgLinear take(Bench *b, int n_out, int n_in)
{
    AgLinear l = {b->weights + b->at, AG_BF16, n_out, n_in, b->vec};

    if (b->q8) {
        AgQ8 *q = &b->view[b->n_view++];
        ag_q8_view(q, l.w, n_out, n_in);
        b->at += ag_q8_size(n_out, n_in) / sizeof(*b->weights);
        l.w = q;
        l.dtype = AG_Q8;
        return l;
    }
    b->at += (size_t)n_out * (size_t)n_in;
    return l;
}

static void begin(Bench *b)
{
    b->start = now(b);
}

static void end(Bench *b, const char *name, double work)
{
    double t = now(b) - b->start;
    int i = 0;

    while (i < b->n_op && strcmp(b->op[i].name, name))
        i++;
    if (i == b->n_op)
        b->op[b->n_op++] = (Op){name, t, work, 0};
    b->op[i].best = AG_MIN(b->op[i].best, t);
    b->op[i].count++;
}

static void linear(Bench *b, const char *name, int m, int n_out, int n_in, AgEpilogue epi)
{
    AgLinear l = take(b, n_out, n_in);

    begin(b);
    ag_linear(&b->x, &l, epi, b->in, n_in, b->big, n_out, m);
    double bytes = b->q8 ? (double)ag_q8_size(n_out, n_in) : 2.0 * n_out * n_in;
    end(b, name, m == 1 ? bytes : 2.0 * m * n_out * n_in);
}

static void qkv(Bench *b, int m, int d, int kv)
{
    AgLinear q = take(b, d, d), k = take(b, kv, d), v = take(b, kv, d);
    int ld = d + 2 * kv;
    AgMatmulJob jobs[3] = {{&q, b->big, ld, AG_EPI_STORE, 0.125f},
                           {&k, b->big + d, ld, AG_EPI_STORE, 1},
                           {&v, b->big + d + kv, ld, AG_EPI_STORE, 1}};

    begin(b);
    ag_matmul(&b->x, jobs, 3, b->in, d, m);
    end(b, "qkv", 2.0 * m * ld * d);
}

static void attention(Bench *b, int n_q, int n_kv, int d, int kv, int causal)
{
    int ld = d + 2 * kv, heads = d / 64;
    AgAttnArgs a = {b->big, b->big + d, b->big + d + kv, b->out, ld, ld, d, n_q, n_kv,
                    heads, kv / 64, 64, causal, n_kv - n_q};
    int64_t before = b->x.flops;

    begin(b);
    if (b->q8)
        ag_q8_attn(&b->x, &a);
    else
        ag_attn(&b->x, &a);
    end(b, "attention", n_q == 1 ? 8.0 * n_kv * kv : (double)(b->x.flops - before));
}

static void vision(Bench *b)
{
    enum { M = 1024 };

    b->at = 0;
    b->n_view = 0;
    for (int i = 0; i < 12; i++) {
        begin(b);
        ag_layernorm(&b->x, b->out, b->in, D_VIS, b->vec, b->vec, M, D_VIS, 1e-6f);
        end(b, "layernorm", 0);
        qkv(b, M, D_VIS, D_VIS);
        attention(b, M, M, D_VIS, D_VIS, 0);
        linear(b, "out", M, D_VIS, D_VIS, AG_EPI_ADD);
        begin(b);
        ag_layernorm(&b->x, b->out, b->in, D_VIS, b->vec, b->vec, M, D_VIS, 1e-6f);
        end(b, "layernorm", 0);
        linear(b, "fc1+gelu", M, FF_VIS, D_VIS, AG_EPI_GELU);
        linear(b, "fc2", M, D_VIS, FF_VIS, AG_EPI_ADD);
    }
}

static void text(Bench *b, int m, int n_kv)
{
    b->at = 0;
    b->n_view = 0;
    for (int i = 0; i < 30; i++) {
        begin(b);
        ag_rmsnorm(&b->x, b->out, b->in, D, b->vec, m, D, 1e-5f);
        end(b, "rmsnorm", 0);
        qkv(b, m, D, KV);
        attention(b, m, n_kv, D, KV, 1);
        linear(b, "o", m, D, D, AG_EPI_ADD);
        linear(b, "up", m, FF, D, AG_EPI_STORE);
        linear(b, "gate*silu", m, FF, D, AG_EPI_SILU_MUL);
        linear(b, "down", m, D, FF, AG_EPI_ADD);
    }
    if (m == 1)
        linear(b, "head", 1, VOCAB, D, AG_EPI_STORE);
}

static void print(const Bench *b, const char *what, int bytes)
{
    double limit = bytes ? b->bandwidth : b->peak, work = 0, time = 0;

    printf("%s: %d thread%s, %s, %s %.1f G%s/s\n", what, b->threads, b->threads > 1 ? "s" : "",
           argus_cpu_tier(b->cpu), bytes ? "bandwidth" : "peak", limit * 1e-9, bytes ? "B" : "F");
    for (int i = 0; i < b->n_op; i++) {
        const Op *o = &b->op[i];
        int count = o->count / b->rounds;
        printf("  %-10s %3d x %9.3f ms", o->name, count, o->best * 1e3);
        if (o->work > 0)
            printf(" %8.1f G/s %5.1f %%", o->work / o->best * 1e-9, 100 * o->work / o->best / limit);
        putchar('\n');
        work += o->work * count;
        time += o->best * count;
    }
    printf("  %-10s       %9.3f ms %8.1f G/s %5.1f %%\n", "all", time * 1e3, work / time * 1e-9,
           100 * work / time / limit);
}

static void part(Bench *b, const char *what)
{
    int decode = !strcmp(what, "decode");

    b->n_op = 0;
    b->peak = 0;
    b->bandwidth = decode ? ag_read_bandwidth(b->cpu, b->threads, NULL) : 0;
    for (int i = 0; i < b->rounds; i++) {
        double peak = decode ? 0 : ag_peak_flops(b->cpu, b->threads, NULL);
        b->peak = AG_MAX(b->peak, peak);
        if (!strcmp(what, "vision"))
            vision(b);
        else
            text(b, decode ? 1 : (int)ROWS, (int)ROWS);
    }
    if (decode) { /* before and after: the better one */
        double again = ag_read_bandwidth(b->cpu, b->threads, NULL);
        b->bandwidth = AG_MAX(b->bandwidth, again);
    }
    print(b, what, decode);
}

/* One step, as asked for. @return its rate; 0: no such step */
static double step(Bench *b, const char *name)
{
    enum { M = 1024 };
    double rate;

    if (!strcmp(name, "registers")) {
        ag_peak_flops(b->cpu, b->threads, &rate); /* on average */
        return rate;
    }
    b->n_op = b->n_view = 0;
    if (b->at > WEIGHTS / 2)
        b->at = 0;
    if (!strcmp(name, "qkv"))
        qkv(b, M, D_VIS, D_VIS);
    else if (!strcmp(name, "attention"))
        attention(b, M, M, D_VIS, D_VIS, 0);
    else if (!strcmp(name, "causal"))
        attention(b, (int)ROWS, (int)ROWS, D, KV, 1);
    else if (!strcmp(name, "out"))
        linear(b, name, M, D_VIS, D_VIS, AG_EPI_ADD);
    else if (!strcmp(name, "fc1"))
        linear(b, name, M, FF_VIS, D_VIS, AG_EPI_GELU);
    else if (!strcmp(name, "fc2"))
        linear(b, name, M, D_VIS, FF_VIS, AG_EPI_ADD);
    else
        return 0;
    return b->op[0].work / b->op[0].best;
}

static int steps(Bench *b)
{
    char name[16];

    while (scanf("%15s", name) == 1) {
        printf("%.3f\n", step(b, name) * 1e-9);
        fflush(stdout);
    }
    return 0;
}

static int setup(Bench *b)
{
    AgArena a = {0};
    size_t big = ROWS * FF_VIS;

    ag_dsp_init(&b->dsp, b->cpu);
    if (ag_pool_open(&b->pool, b->threads) < 0)
        return -1;
    for (int i = 0; i < 2; i++) {
        ag_exec_carve(&b->x, &a, &b->dsp, b->pool);
        ag_q8_carve(&b->x.q8, &a, (int)ROWS, FF_VIS);
        b->weights = AG_TAKE(&a, uint16_t, WEIGHTS);
        b->in = AG_TAKE(&a, float, big);
        b->out = AG_TAKE(&a, float, big);
        b->big = AG_TAKE(&a, float, big);
        b->vec = AG_TAKE(&a, float, VOCAB);
        if (i == 0) {
            a.size = a.used;
            a.base = ag_malloc(a.used);
            a.used = 0;
            if (!a.base)
                return -1;
        }
    }
    for (size_t i = 0; i < WEIGHTS; i++) /* about +-0.004..0.03 */
        b->weights[i] = (uint16_t)(0x3C00 + ((i * 2654435761u >> 7) & 0x817F));
    for (size_t i = 0; i < big; i++)
        b->in[i] = b->out[i] = b->big[i] = (float)(i * 2654435761u % 2001) * 1e-3f - 1;
    for (size_t i = 0; i < VOCAB; i++)
        b->vec[i] = 0.5f;
    return 0;
}

int main(int argc, char **argv)
{
    static Bench b = {.cpu = ARGUS_CPU_ALL, .threads = 1, .rounds = 5};
    const char *all[] = {"vision", "prefill", "decode"};
    int chosen = 0, by_steps = 0;

    for (int i = 1; i < argc; i++) {
        if (!strncmp(argv[i], "--threads=", 10))
            b.threads = AG_CLIP(atoi(argv[i] + 10), 1, AG_MAX_THREADS);
        else if (!strncmp(argv[i], "--rounds=", 9))
            b.rounds = AG_MAX(atoi(argv[i] + 9), 1);
        else if (!strcmp(argv[i], "--q8"))
            b.q8 = 1;
        else if (!strcmp(argv[i], "--steps"))
            by_steps = 1;
        else if (!strncmp(argv[i], "--cpu=", 6) && !argus_cpu_mask(argv[i] + 6, &b.cpu))
            continue;
        else if (argv[i][0] != '-')
            chosen++;
        else
            return fputs("usage: stack [--threads=N] [--cpu=NAME] [--rounds=N] [--q8] "
                         "[--steps] [vision|prefill|decode]...\n", stderr), 2;
    }
    if (setup(&b) < 0)
        return fputs("stack: no memory or threads\n", stderr), 1;
    if (by_steps)
        return steps(&b);
    for (int i = 0; i < 3; i++) {
        int want = !chosen;
        for (int j = 1; j < argc; j++)
            want |= !strcmp(argv[j], all[i]);
        if (want)
            part(&b, all[i]);
    }
    ag_pool_close(&b.pool);
    return 0;
}
