/*
 * Stage: logits -> next id.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_SAMPLE_H
#define AG_SAMPLE_H

#include "libargus/argus.h"
#include "libargus/base/arena.h"
#include "libargus/dsp/vec.h"

typedef struct AgSampleWork {
    int vocab;
    int *order;       /* [vocab] ids by falling logit */
    float *scores;    /* [vocab] after penalty and temperature */
    uint8_t *seen;    /* [vocab] ids in prompt and answer; penalty != 1 only */
    uint64_t state;   /* of the random numbers */
} AgSampleWork;

void ag_sample_carve(AgSampleWork *w, AgArena *a, int vocab);
/* New answer: seed, and the prompt's ids for the penalty. */
void ag_sample_start(AgSampleWork *w, const ArgusDecoding *d, const int *prompt, int n);
/* Choose an id. Greedy: the largest logit, lowest id of several. logits are
 * not changed. *logprob: natural log of its probability under the
 * plain softmax of the model's logits. */
int ag_sample_next(AgSampleWork *w, const AgVecDsp *dsp, const ArgusDecoding *d,
                   const float *logits, float *logprob);
/* log softmax(logits)[id], to about 1e-6. */
double ag_logprob(const AgVecDsp *dsp, const float *logits, int n, int id);

#endif /* AG_SAMPLE_H */
