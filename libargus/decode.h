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
} AgAnswer;

int ag_answer_open(AgAnswer *a, ArgusContext *ctx, const ArgusDecoding *d);
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
