/*
 * The two objects behind argus.h's handles.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_CONTEXT_H
#define AG_CONTEXT_H

#include <stdatomic.h>

#include "libargus/connector.h"
#include "libargus/kvcache.h"
#include "libargus/prompt.h"
#include "libargus/sample.h"
#include "libargus/tap.h"
#include "libargus/text.h"
#include "libargus/vision.h"

/* Immutable once open, but for n_ref and next (under the registry's lock). */
struct ArgusModel {
    int n_ref;
    ArgusModel *next;       /* in the registry of open models */
    unsigned cpumask;
    int shifted_positions;
    int precision;          /* enum ArgusPrecision */

    AgSource src;
    AgConfig config;
    AgWeights *weights;
    AgTokenizer *tokenizer;
    AgMarkers markers;
    AgDsp dsp;
    AgVision *vision;
    AgConnector *connector;
    AgText *text;
    AgQuant *quant;         /* int8 weights of precision q8, else NULL */
};

struct ArgusContext {
    ArgusModel *model;
    ArgusLogger log;
    AgPool *pool;
    atomic_int cancel;
    AgArena arena;          /* everything carved below */
    AgArena streams;        /* of encode.c: for further tiles at a time */
    AgExec exec;
    AgVisionWork vision;    /* vision and text never run at the same time: */
    AgTextWork text;        /* their memory overlaps */
    AgSampleWork sample;
    float *logits;          /* [vocab] */

    AgKv kv;
    int *kv_ids;            /* [n_pos] ids in the cache */
    int64_t *kv_serial;     /* [n_pos] picture of an image slot, else 0 */

    AgPicture **last;       /* pictures of the last argus_describe(): a second question */
    size_t n_last;          /* about them costs no vision */
    int64_t serial;         /* of the newest encoding */
    ArgusStats stats;
    AgTap tap;
};

#endif /* AG_CONTEXT_H */
