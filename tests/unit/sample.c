/*
 * Unit tests of the sampler: candidates, distribution, penalty, determinism.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libargus/base/mem.h"
#include "libargus/dsp/vec.h"
#include "libargus/sample.h"

enum { VOCAB = 60, DRAWS = 10000 };

static AgVecDsp dsp;
static AgSampleWork work;
static void *memory;
static float logits[VOCAB];

static void open_work(void)
{
    AgArena a = {0};

    ag_vec_init(&dsp, argus_cpu_flags());
    ag_sample_carve(&work, &a, VOCAB);
    memory = ag_malloc(a.used);
    CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
    a = (AgArena){memory, 0, a.used};
    ag_sample_carve(&work, &a, VOCAB);
    uint32_t s = 12345; /* logits from -6 to 6, two of them equal */
    for (int i = 0; i < VOCAB; i++) {
        s = s * 1664525u + 1013904223u;
        logits[i] = (float)(s >> 8) / 16777216.0f * 12 - 6;
    }
    logits[17] = logits[42];
}

static void close_work(void)
{
    ag_free(memory);
    memory = NULL;
}

static int next(const ArgusDecoding *d)
{
    float logprob;
    int id = ag_sample_next(&work, &dsp, d, logits, &logprob);
    double sum = 0;

    for (int i = 0; i < VOCAB; i++)
        sum += exp((double)logits[i]);
    CU_ASSERT_DOUBLE_EQUAL(logprob, (double)logits[id] - log(sum), 1e-5);
    CU_ASSERT_DOUBLE_EQUAL(logprob, ag_logprob(&dsp, logits, VOCAB, id), 1e-6);
    return id;
}

typedef struct Ranked {
    double p;
    int id;
} Ranked;

static int by_rank(const void *a, const void *b)
{
    const Ranked *x = a, *y = b;

    return x->p != y->p ? (x->p < y->p) - (x->p > y->p) : x->id - y->id;
}

/* Probabilities as defined: softmax(logits / T), the k likeliest, then the
 * fewest of them with at least top_p of what is left. Doubles, a plain sort. */
static void expected(const ArgusDecoding *d, double *p)
{
    Ranked r[VOCAB];
    double sum = 0, kept = 0;
    int n = d->top_k > 0 && d->top_k < VOCAB ? d->top_k : VOCAB, m = 0;

    for (int i = 0; i < VOCAB; i++)
        r[i] = (Ranked){exp(logits[i] / d->temperature), i};
    qsort(r, VOCAB, sizeof(r[0]), by_rank);
    for (int i = 0; i < n; i++)
        sum += r[i].p;
    do
        kept += r[m++].p;
    while (m < n && kept < d->top_p * sum);
    memset(p, 0, VOCAB * sizeof(*p));
    for (int i = 0; i < m; i++)
        p[r[i].id] = r[i].p / kept;
}

/* Pearson's chi-squared over cells with at least five expected draws, the rest
 * in one; far beyond the 1 - 1e-6 quantile is a failure. */
static void check_distribution(const ArgusDecoding *d)
{
    double p[VOCAB], chi = 0, rest_p = 0;
    int count[VOCAB] = {0}, cells = 0, rest = 0;

    expected(d, p);
    ag_sample_start(&work, d, NULL, 0);
    for (int i = 0; i < DRAWS; i++)
        count[next(d)]++;
    for (int i = 0; i < VOCAB; i++) {
        if (p[i] == 0)
            CU_ASSERT_EQUAL(count[i], 0); /* cut off: never drawn */
        if (p[i] * DRAWS < 5) {
            rest_p += p[i];
            rest += count[i];
            continue;
        }
        chi += pow(count[i] - p[i] * DRAWS, 2) / (p[i] * DRAWS);
        cells++;
    }
    if (rest_p * DRAWS >= 1) {
        chi += pow(rest - rest_p * DRAWS, 2) / (rest_p * DRAWS);
        cells++;
    }
    double dof = cells - 1, z = 4.75; /* Wilson and Hilferty */
    double limit = dof > 0 ? dof * pow(1 - 2 / (9 * dof) + z * sqrt(2 / (9 * dof)), 3) : 1e-9;
    CU_ASSERT(chi <= limit);
    if (chi > limit)
        printf("\n    T %g k %d p %g: chi-squared %g of %g cells, limit %g", d->temperature, d->top_k,
               d->top_p, chi, dof + 1, limit);
}

static void distribution(void)
{
    static const struct {
        double t, p;
        int k;
    } cases[] = {
        {1, 1, 0}, {0.7, 1, 0}, {2.5, 1, 0}, {1, 1, 5}, {1, 1, 1}, {1, 1, VOCAB}, {1, 0.9, 0},
        {1, 0.5, 0}, {0.7, 0.95, 10}, {3, 0.3, 40}, {1, 1e-9, 0}, {100, 0.999, 0},
    };

    open_work();
    for (size_t i = 0; i < AG_COUNT(cases); i++) {
        ArgusDecoding d;
        argus_decoding_default(&d);
        d.seeded = 1;
        d.seed = 1000 + i;
        d.temperature = cases[i].t;
        d.top_k = cases[i].k;
        d.top_p = cases[i].p;
        check_distribution(&d);
    }
    close_work();
}

static void same_seed(void)
{
    ArgusDecoding d;
    int first[200], differs = 0;

    open_work();
    argus_decoding_default(&d);
    d.seeded = 1;
    d.temperature = 1.5;
    d.top_p = 0.9;
    for (int run = 0; run < 20; run++) {
        d.seed = 7;
        ag_sample_start(&work, &d, NULL, 0);
        for (int i = 0; i < 200; i++) {
            int id = next(&d);
            if (run == 0)
                first[i] = id;
            CU_ASSERT_EQUAL(id, first[i]);
        }
    }
    d.seed = 8;
    ag_sample_start(&work, &d, NULL, 0);
    for (int i = 0; i < 200; i++)
        differs += next(&d) != first[i];
    CU_ASSERT(differs > 50);
    close_work();
}

static void greedy(void)
{
    ArgusDecoding d;
    int best = 0;

    open_work();
    argus_decoding_default(&d);
    ag_sample_start(&work, &d, NULL, 0);
    for (int i = 1; i < VOCAB; i++)
        best = logits[i] > logits[best] ? i : best;
    CU_ASSERT_EQUAL(next(&d), best);
    logits[3] = logits[50] = 9; /* equal: the lowest id */
    CU_ASSERT_EQUAL(next(&d), 3);
    close_work();
}

/* Positive logits are divided, negative multiplied, ids of the prompt count. */
static void penalty(void)
{
    ArgusDecoding d;
    static const int prompt[] = {3, 3, 5};

    open_work();
    argus_decoding_default(&d);
    d.repetition_penalty = 2;
    for (int i = 0; i < VOCAB; i++)
        logits[i] = -10;
    logits[3] = 4;     /* seen: 2 */
    logits[7] = 3;     /* not seen: wins, then 1.5 */
    logits[5] = -0.5f; /* seen: -1 */
    logits[9] = 1.75f;
    ag_sample_start(&work, &d, prompt, 3);
    CU_ASSERT_EQUAL(next(&d), 7);
    CU_ASSERT_EQUAL(next(&d), 3); /* 2 against 1.75 and 1.5 */
    CU_ASSERT_EQUAL(next(&d), 3); /* the penalty is not applied twice */
    logits[3] = 3;
    CU_ASSERT_EQUAL(next(&d), 9);
    CU_ASSERT_EQUAL(next(&d), 3); /* 1.5, as 7, the lower id */
    for (int i = 0; i < VOCAB; i++)
        logits[i] = -0.9f;
    logits[5] = -0.6f; /* seen: -1.2 */
    CU_ASSERT_EQUAL(next(&d), 0);
    close_work();
}

void ag_tests_sample(void)
{
    static const AgTest tests[] = {
        {"distribution of 10000 draws", distribution},
        {"same seed", same_seed},
        {"greedy", greedy},
        {"penalty", penalty},
        {NULL, NULL},
    };
    ag_suite("sample", tests);
}
