/*
 * Compares what the stages compute with the numbers of a reference case.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TESTS_PARITY_STAGES_H
#define AG_TESTS_PARITY_STAGES_H

#include "libargus/base/sha256.h"
#include "libargus/tap.h"
#include "tests/parity/refs.h"

/* Stages in the order of the table. */
enum {
    AG_STAGE_PATCH,     /* patch_embedding */
    AG_STAGE_EMBED,     /* embeddings */
    AG_STAGE_VISION,    /* vision_layers, the worst of them */
    AG_STAGE_CONNECTOR, /* connector_first, connector_last */
    AG_STAGE_TOKEN,     /* text_embedding */
    AG_STAGE_TEXT,      /* text_layers, the worst of them */
    AG_N_STAGE,
};

/*
 * error[]: worst relative RMS error of a stage. Of recorded values v (first
 * and last together) and ours u it is sqrt(sum (u - v)^2 / sum v^2); of a
 * recorded mean or standard deviation it is |u - v| / standard deviation.
 * Negative: the reference has the stage, but nothing came. NAN: no reference.
 * Only the first report of each stage counts: frame 0 and the prefill.
 */
typedef struct AgStages {
    const AgRefCase *c;
    double error[AG_N_STAGE];
    unsigned seen[AG_N_STAGE];  /* layers reported so far */
    double logit;               /* largest difference to stored logits; NAN, negative alike */
    double logit_rms;           /* relative RMS error of all stored logits together */
    int digest;                 /* 1: also hash all numbers that are reported */
    AgSha256 sha;
} AgStages;

void ag_stages_init(AgStages *s, const AgRefCase *c, int digest);
/* To be set on a context; points to s. */
AgTap ag_stages_tap(AgStages *s);
/* After the caption: stages whose reference was not met by any report. */
void ag_stages_finish(AgStages *s);

#endif /* AG_TESTS_PARITY_STAGES_H */
