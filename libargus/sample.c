/*
 * Choosing the next id. See sample.h.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/sample.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void ag_sample_carve(AgSampleWork *w, AgArena *a, int vocab)
{
    w->vocab = vocab;
    w->order = AG_TAKE(a, int, vocab);
    w->scores = AG_TAKE(a, float, vocab);
    w->seen = AG_TAKE(a, uint8_t, vocab);
}

/* SplitMix64: one 64-bit state, every seed is a good one. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

void ag_sample_start(AgSampleWork *w, const ArgusDecoding *d, const int *prompt, int n)
{
    w->state = d->seed;
    if (d->repetition_penalty == 1)
        return;
    memset(w->seen, 0, (size_t)w->vocab);
    for (int i = 0; i < n; i++)
        w->seen[prompt[i]] = 1;
}

double ag_logprob(const AgVecDsp *dsp, const float *logits, int n, int id)
{
    float max = logits[dsp->argmax(logits, n)];

    return (double)(logits[id] - max) - log(dsp->sum_exp(logits, max, n));
}

static int before(const float *s, int a, int b)
{
    return s[a] > s[b] || (s[a] == s[b] && a < b);
}

static void sift(int *heap, int n, int i, const float *s)
{
    for (;;) {
        int best = i, l = 2 * i + 1, r = l + 1;
        if (l < n && before(s, heap[l], heap[best]))
            best = l;
        if (r < n && before(s, heap[r], heap[best]))
            best = r;
        if (best == i)
            return;
        int t = heap[i];
        heap[i] = heap[best];
        heap[best] = t;
        i = best;
    }
}

/* The reference's order: penalty, temperature, top-k, top-p, draw. Candidates
 * come off a heap by falling score, so only as many are ordered as are needed. */
static int draw(AgSampleWork *w, const ArgusDecoding *d)
{
    int n = w->vocab, *heap = w->order;
    int limit = d->top_k > 0 ? AG_MIN(d->top_k, n) : n;
    float *s = w->scores;

    for (int i = 0; i < n; i++) {
        s[i] = (float)(s[i] / d->temperature);
        heap[i] = i;
    }
    for (int i = n / 2 - 1; i >= 0; i--)
        sift(heap, n, i, s);
    float max = s[heap[0]];
    double total = 0; /* of the candidates left by top-k */
    if (limit == n) {
        for (int i = 0; i < n; i++)
            total += (double)expf(s[i] - max);
    }
    /* Pop the best `limit` ids to the end of the array, best last. */
    int left = n, kept = 0;
    double kept_sum = 0;
    if (limit < n) {
        for (; kept < limit; kept++, left--) {
            int best = heap[0];
            total += (double)expf(s[best] - max);
            heap[0] = heap[left - 1];
            sift(heap, left - 1, 0, s);
            heap[left - 1] = best;
        }
        left = n;
        kept = 0;
    }
    double u = (double)(next_random(&w->state) >> 11) * 0x1p-53;
    double goal = d->top_p < 1 ? d->top_p * total : total;
    if (limit == n && d->top_p >= 1) { /* plain softmax: no order needed */
        double at = 0;
        int last = 0;
        for (int i = 0; i < n; i++) {
            double p = (double)expf(s[i] - max);
            at += p;
            if (p > 0)
                last = i;
            if (u * total < at)
                return i;
        }
        return last;
    }
    int by_heap = limit == n;
    int first = n; /* heap[first..n) are the kept ids, best at n - 1 */
    do {
        if (by_heap) {
            int best = heap[0];
            heap[0] = heap[left - 1];
            sift(heap, left - 1, 0, s);
            heap[left - 1] = best;
            left--;
        }
        first--;
        kept++;
        kept_sum += (double)expf(s[heap[first]] - max);
    } while (kept < limit && kept_sum < goal);
    double at = 0;
    for (int i = n - 1; i >= first; i--) {
        at += (double)expf(s[heap[i]] - max);
        if (u * kept_sum < at)
            return heap[i];
    }
    return heap[first];
}

int ag_sample_next(AgSampleWork *w, const AgVecDsp *dsp, const ArgusDecoding *d,
                   const float *logits, float *logprob)
{
    const float *s = logits;
    int id;

    if (d->repetition_penalty != 1 || d->temperature > 0) {
        memcpy(w->scores, logits, (size_t)w->vocab * sizeof(float));
        s = w->scores;
    }
    if (d->repetition_penalty != 1) {
        float p = (float)d->repetition_penalty;
        for (int i = 0; i < w->vocab; i++)
            if (w->seen[i])
                w->scores[i] = w->scores[i] < 0 ? w->scores[i] * p : w->scores[i] / p;
    }
    id = d->temperature > 0 ? draw(w, d) : dsp->argmax(s, w->vocab);
    assert(id >= 0 && id < w->vocab);
    *logprob = (float)ag_logprob(dsp, logits, w->vocab, id);
    if (d->repetition_penalty != 1)
        w->seen[id] = 1;
    return id;
}
