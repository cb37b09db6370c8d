/*
 * Stage: logits -> ids and text, one forward pass a token. Stop ids, stop
 * strings, streaming of valid UTF-8.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DECODE_H
#define AG_DECODE_H

#include "libargus/base/buf.h"
#include "libargus/context.h"

enum { AG_DRAFT_ROWS = 12 }; /* ids of a draft that are read in one pass */

/* Ids that the answer may turn out to be, best the last answer of a stream. They are
 * read ahead, several in one pass over the weights, and what the model says after
 * each is kept as far as it agrees. Greedy decoding only. */
typedef struct AgDraft {
    const int *ids;
    int n;
} AgDraft;

/* How far a draft was followed. */
typedef struct AgFollow {
    AgDraft draft;     /* n 0: none, or left */
    int at;            /* ids of it that were said */
    float *logits;     /* [AG_DRAFT_ROWS, vocab] after the ids of the last pass */
    int n_row, row;    /* rows there, and used */
    int base;          /* position of the first */
} AgFollow;

/* An answer while it grows. All memory is taken before the token loop. */
typedef struct AgAnswer {
    const ArgusDecoding *d;
    int (*on_token)(void *opaque, int id, const char *text);
    void *opaque;
    int *ids;          /* [max_tokens] */
    float *logprobs;   /* [max_tokens] */
    int n;
    double sum;        /* of logprobs */
    AgBuf bytes;       /* of the words so far */
    size_t told;       /* bytes of it given to on_token */
    size_t longest_stop;
    int finish;
    AgFollow follow;
} AgAnswer;

/* draft may be NULL; its ids must stay. */
int ag_answer_open(AgAnswer *a, ArgusContext *ctx, const ArgusDecoding *d, const AgDraft *draft);
void ag_answer_free(AgAnswer *a);
/* The cache holds the prompt, ctx->logits those of its last token.
 * @return 0, CANCELLED, ENOMEM. */
int ag_decode_run(AgAnswer *a, ArgusContext *ctx);
/* Score d->choices after the prompt; the best one's index and its probability
 * among them. The cache holds the prompt again afterwards. */
int ag_decode_choose(ArgusContext *ctx, const ArgusDecoding *d, int *choice, double *prob,
                     double *logprob, int *n_token);
/* Bytes to caption text: valid UTF-8, leading blank trimmed. */
void ag_decode_text(AgBuf *out, const char *bytes, size_t n);

#endif /* AG_DECODE_H */
