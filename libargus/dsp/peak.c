/*
 * What this machine can do: multiply-add chains and memory reads.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _GNU_SOURCE
#include "libargus/dsp/peak.h"

#include <string.h>
#include <time.h>

#include "config.h"
#include "libargus/argus.h"
#include "libargus/base/mem.h"
#include "libargus/base/thread.h"

enum { CHAINS = 32, ROUNDS = 60, PASSES = 8, SLICES = 64 };
static const size_t READ_SIZE = (size_t)512 << 20;

double ag_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double fma_c(long n, float *sink)
{
    float s[CHAINS], a = sink[0] + 0.999f, b = sink[0] + 1e-3f;

    for (int j = 0; j < CHAINS; j++)
        s[j] = (float)j;
    for (long i = 0; i < n; i++)
        for (int j = 0; j < CHAINS; j++)
            s[j] = s[j] * a + b;
    for (int j = 0; j < CHAINS; j++)
        sink[1] += s[j];
    return 2.0 * CHAINS * (double)n;
}

static float read_c(const float *p, long n)
{
    float s[CHAINS] = {0}, sum = 0;

    for (long i = 0; i < n; i += CHAINS)
        for (int j = 0; j < CHAINS; j++)
            s[j] += p[i + j];
    for (int j = 0; j < CHAINS; j++)
        sum += s[j];
    return sum;
}

static AgPeakDsp kernels(unsigned cpu)
{
    AgPeakDsp d = {fma_c, read_c};

    cpu &= argus_cpu_flags();
#if HAVE_AVX2
    if (cpu & ARGUS_CPU_AVX2)
        ag_peak_init_avx2(&d);
#endif
#if HAVE_AVX512
    if ((cpu & ARGUS_CPU_AVX2) && (cpu & ARGUS_CPU_AVX512))
        ag_peak_init_avx512(&d);
#endif
#if HAVE_NEON
    if (cpu & ARGUS_CPU_NEON)
        ag_peak_init_neon(&d);
#endif
    return d;
}

typedef struct Job {
    AgPeakDsp dsp;
    long n;           /* rounds, or floats of an item */
    const float *mem;
    double flops[AG_MAX_THREADS];                      /* of each item */
    double done[AG_MAX_THREADS], busy[AG_MAX_THREADS]; /* by each thread: operations, seconds */
    float sink[AG_MAX_THREADS][16];
} Job;

static void fma_run(void *arg, int item, int thread)
{
    Job *j = arg;
    double t = ag_clock();

    j->flops[item] = j->dsp.fma(j->n, j->sink[item]);
    j->done[thread] += j->flops[item];
    j->busy[thread] += ag_clock() - t;
}

static void read_run(void *arg, int item, int thread)
{
    Job *j = arg;

    j->sink[thread][1] += j->dsp.read(j->mem + item * j->n, j->n);
}

/* Seconds of the fastest of some runs, and in *mean their average. */
static double best(AgPool *pool, AgPoolFn fn, Job *job, int items, int rounds, double *mean)
{
    double least = 1e30, sum = 0;

    for (int i = 0; i < rounds; i++) {
        double t = ag_clock();
        ag_pool_run(pool, items, fn, job);
        t = ag_clock() - t;
        least = AG_MIN(least, t);
        sum += t;
    }
    *mean = AG_MAX(sum / rounds, 1e-9);
    return AG_MAX(least, 1e-9);
}

double ag_peak_flops(unsigned cpu, int threads, double *mean)
{
    Job job = {.dsp = kernels(cpu), .n = 4000};
    AgPool *pool = NULL;
    double sum = 0, average;

    if (mean)
        *mean = 0;
    if (ag_pool_open(&pool, threads) < 0)
        return 0;
    double t = best(pool, fma_run, &job, threads, 3, &average);
    job.n = AG_MAX(1, (long)((double)job.n * 0.002 / t));
    memset(job.done, 0, sizeof(job.done));
    memset(job.busy, 0, sizeof(job.busy));
    t = best(pool, fma_run, &job, threads, ROUNDS, &average);
    for (int i = 0; i < threads; i++)
        sum += job.flops[i];
    for (int i = 0; mean && i < threads; i++) /* no thread's waiting for others counts */
        *mean += job.busy[i] > 0 ? job.done[i] / job.busy[i] : 0;
    ag_pool_close(&pool);
    return sum / t;
}

double ag_read_bandwidth(unsigned cpu, int threads, double *mean)
{
    Job job = {.dsp = kernels(cpu)};
    AgPool *pool = NULL;
    float *mem = ag_malloc(READ_SIZE);
    double average;

    if (mean)
        *mean = 0;
    if (!mem || ag_pool_open(&pool, threads) < 0) {
        ag_free(mem);
        return 0;
    }
    size_t n = READ_SIZE / sizeof(float);
    for (size_t i = 0; i < n; i++) /* touched: no page of zeros is shared */
        mem[i] = 1.0f;
    job.mem = mem;
    job.n = (long)(n / SLICES);
    double least = best(pool, read_run, &job, SLICES, PASSES, &average);
    ag_pool_close(&pool);
    ag_free(mem);
    if (mean)
        *mean = (double)READ_SIZE / average;
    return (double)READ_SIZE / least;
}
