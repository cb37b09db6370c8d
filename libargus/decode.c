/*
 * Token loop. See decode.h.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/decode.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "libargus/base/utf8.h"

/* Can a draft be followed? Only where the largest logit is the choice. */
static int may_follow(const ArgusContext *ctx, const ArgusDecoding *d, const AgDraft *draft)
{
    return draft && draft->n > 2 && d->temperature == 0 && d->repetition_penalty == 1 &&
           !ctx->tap.fn;
}

int ag_answer_open(AgAnswer *a, ArgusContext *ctx, const ArgusDecoding *d, const AgDraft *draft)
{
    size_t n = (size_t)d->max_tokens, vocab = (size_t)ctx->model->config.vocab;

    a->d = d;
    a->ids = ag_malloc(ag_mul(n, sizeof(int)));
    a->logprobs = ag_malloc(ag_mul(n, sizeof(float)));
    for (int i = 0; i < d->n_stop; i++)
        a->longest_stop = AG_MAX(a->longest_stop, strlen(d->stop[i]));
    /* Room for the longest word a token can be, so that the loop never grows it. */
    size_t room = ag_mul(n, (size_t)ag_tokenizer_longest(ctx->model->tokenizer));
    a->bytes.data = ag_malloc(ag_add(room, 1));
    a->bytes.cap = ag_add(room, 1);
    int follow = may_follow(ctx, d, draft);
    if (follow) {
        a->follow.draft = *draft;
        a->follow.logits = ag_malloc(ag_mul(AG_DRAFT_ROWS * vocab, sizeof(float)));
    }
    if (!a->ids || !a->logprobs || !a->bytes.data || (follow && !a->follow.logits))
        return ag_nomem(&ctx->log, "the answer");
    a->bytes.data[0] = 0;
    return 0;
}

void ag_answer_free(AgAnswer *a)
{
    ag_free(a->ids);
    ag_free(a->logprobs);
    ag_free(a->follow.logits);
    ag_buf_free(&a->bytes);
    *a = (AgAnswer){0};
}

static int is_stop_id(const AgConfig *c, int id)
{
    for (int i = 0; i < c->n_stop; i++)
        if (c->stop_id[i] == id)
            return 1;
    return 0;
}

/* Where the first stop string begins in the text, looking only at places that
 * bytes from old on can have completed; SIZE_MAX if none does. */
static size_t find_stop(const AgAnswer *a, size_t old)
{
    size_t from = old >= a->longest_stop ? old - a->longest_stop : 0, at = SIZE_MAX;

    for (int i = 0; i < a->d->n_stop; i++) {
        const char *stop = a->d->stop[i];
        size_t n = strlen(stop);
        for (size_t p = from; n && p + n <= a->bytes.size && p < at; p++)
            if (!memcmp(a->bytes.data + p, stop, n))
                at = p;
    }
    return at;
}

/* Bytes at the end that may yet become a stop string. */
static size_t held_back(const AgAnswer *a)
{
    size_t held = 0;

    for (int i = 0; i < a->d->n_stop; i++) {
        const char *stop = a->d->stop[i];
        size_t n = strlen(stop);
        for (size_t k = AG_MIN(n ? n - 1 : 0, a->bytes.size); k > held; k--)
            if (!memcmp(a->bytes.data + a->bytes.size - k, stop, k))
                held = k;
    }
    return held;
}

/* Bytes of s that do not wait for more to become a character. */
static size_t complete(const char *s, size_t n)
{
    for (size_t back = 1; back <= 3 && back <= n; back++) {
        unsigned char c = (unsigned char)s[n - back];
        size_t len = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
        if ((c & 0xC0) != 0x80)
            return back < len ? n - back : n;
    }
    return n;
}

/* Give on_token what has become certain. The piece is made valid UTF-8 in a
 * fixed buffer on the stack: a token's text that is longer comes in several calls. */
static int tell(AgAnswer *a, int id, int last)
{
    char piece[256];
    size_t end = a->bytes.size, n = 0;

    if (!a->on_token)
        return 0;
    if (!last) {
        end -= held_back(a);
        end = complete(a->bytes.data, end);
    }
    while (a->told < end) {
        const char *s = a->bytes.data + a->told;
        uint32_t c;
        size_t step = (size_t)ag_utf8_next(s, end - a->told, &c);
        if (n + 5 > sizeof(piece)) {
            piece[n] = 0;
            if (a->on_token(a->opaque, id, piece))
                return ARGUS_ERR_CANCELLED;
            n = 0;
        }
        if (c == AG_UTF8_BAD) {
            memcpy(piece + n, "\xEF\xBF\xBD", 3);
            n += 3;
        } else if (a->told || c != ' ') { /* a leading blank is no part of the caption */
            memcpy(piece + n, s, step);
            n += step;
        }
        a->told += step;
    }
    piece[n] = 0;
    return a->on_token(a->opaque, id, piece) ? ARGUS_ERR_CANCELLED : 0;
}

/* One forward pass of one id; its logits are in ctx->logits. */
static int forward(ArgusContext *ctx, int id)
{
    const AgText *t = ctx->model->text;

    ctx->kv_ids[ctx->kv.len] = id;
    ctx->kv_serial[ctx->kv.len] = 0;
    ctx->stats.bytes_decode += ag_text_bytes(t) + ag_kv_row_bytes(&ctx->kv) * (ctx->kv.len + 1);
    ag_text_run(t, &ctx->text, &ctx->exec, &ctx->kv, &id, 1, NULL, NULL, ctx->logits, NULL);
    ctx->stats.n_forward++;
    return atomic_load_explicit(&ctx->cancel, memory_order_relaxed) ? ARGUS_ERR_CANCELLED : 0;
}

/* One pass of the next ids of the draft, the first of which was just said. */
static int read_ahead(AgAnswer *a, ArgusContext *ctx)
{
    const AgText *t = ctx->model->text;
    AgFollow *f = &a->follow;
    int n = AG_MIN(f->draft.n - f->at - 1, a->d->max_tokens - a->n); /* nothing follows the end */

    n = AG_MIN(n, AG_DRAFT_ROWS);
    f->row = f->n_row = 0;
    if (n < 2) /* one row alone goes through other kernels */
        return 0;
    f->base = ctx->kv.len;
    f->n_row = n;
    for (int i = 0; i < n; i++) {
        ctx->kv_ids[f->base + i] = f->draft.ids[f->at + i];
        ctx->kv_serial[f->base + i] = 0;
    }
    ctx->stats.bytes_decode += ag_text_bytes(t) + ag_kv_row_bytes(&ctx->kv) * (f->base + n);
    ag_text_verify(t, &ctx->text, &ctx->exec, &ctx->kv, f->draft.ids + f->at, n, f->logits);
    ctx->stats.n_forward++;
    return atomic_load_explicit(&ctx->cancel, memory_order_relaxed) ? ARGUS_ERR_CANCELLED : 0;
}

/* Is the largest logit so far ahead that the last bits of sums don't matter? */
static int is_clear(const float *logits, int n)
{
    float first = -INFINITY, second = -INFINITY;

    for (int i = 0; i < n; i++) {
        second = logits[i] > first ? first : AG_MAX(second, logits[i]);
        first = AG_MAX(first, logits[i]);
    }
    return first - second > 1e-3f;
}

/* *logits: what the model says after id, which the answer has taken. */
static int next_logits(AgAnswer *a, ArgusContext *ctx, int id, const float **logits)
{
    AgFollow *f = &a->follow;
    int agrees = f->at < f->draft.n && f->draft.ids[f->at] == id, err = 0;

    if (agrees && f->row == f->n_row && (err = read_ahead(a, ctx)) < 0)
        return err;
    if (agrees && f->row < f->n_row) {
        *logits = f->logits + (size_t)f->row * (size_t)ctx->model->config.vocab;
        if (is_clear(*logits, ctx->model->config.vocab)) {
            f->at++;
            f->row++;
            ctx->stats.n_token_drafted++;
            return 0;
        }
    }
    if (f->n_row) /* what was read ahead and not said */
        ag_kv_truncate(&ctx->kv, f->base + f->row);
    f->row = f->n_row = 0;
    f->at++;
    if (!agrees)
        f->draft.n = 0;
    *logits = ctx->logits;
    return forward(ctx, id);
}

int ag_decode_run(AgAnswer *a, ArgusContext *ctx)
{
    const float *logits = ctx->logits;
    const ArgusModel *m = ctx->model;
    int64_t n_alloc = ag_mem_count();
    int err = 0;

    a->finish = ARGUS_FINISH_LENGTH;
    for (;;) {
        float logprob;
        int id = ag_sample_next(&ctx->sample, &m->dsp.vec, a->d, logits, &logprob);
        size_t old = a->bytes.size;

        a->ids[a->n] = id;
        a->logprobs[a->n++] = logprob;
        a->sum += logprob;
        if (is_stop_id(&m->config, id)) {
            a->finish = ARGUS_FINISH_STOP;
            break;
        }
        ag_tokenizer_bytes(m->tokenizer, id, 1, &a->bytes);
        size_t stop = a->d->n_stop ? find_stop(a, old) : SIZE_MAX;
        if (stop != SIZE_MAX) {
            a->bytes.size = stop;
            a->bytes.data[stop] = 0;
            a->finish = ARGUS_FINISH_STRING;
            break;
        }
        if (a->n == a->d->max_tokens) /* no forward pass whose logits nobody reads */
            break;
        if ((err = tell(a, id, 0)) < 0)
            break;
        if ((err = next_logits(a, ctx, id, &logits)) < 0)
            break;
    }
    ctx->stats.n_token += a->n;
    ctx->stats.n_alloc_decode += ag_mem_count() - n_alloc;
    if (err == 0)
        err = tell(a, a->ids[a->n - 1], 1);
    return err;
}

void ag_decode_text(AgBuf *out, const char *bytes, size_t n)
{
    if (n && bytes[0] == ' ') {
        bytes++;
        n--;
    }
    ag_utf8_lossy(out, bytes, n);
}

/* Total log-probability of an answer, its end token included, so that an
 * answer and a longer one that begins with it do not compete unfairly. */
static int score(ArgusContext *ctx, const char *choice, const float *first, double *sum, int *n)
{
    const ArgusModel *m = ctx->model;
    AgIds ids = {0};
    AgBuf text = {0};
    int prompt = ctx->kv.len, vocab = m->config.vocab, err = 0;

    ag_buf_char(&text, ' '); /* answers begin with a blank */
    ag_buf_str(&text, choice);
    if (ag_buf_ok(&text))
        err = ag_tokenizer_encode(m->tokenizer, text.data, text.size, 0, &ids);
    ag_ids_add(&ids, m->markers.end_of_utterance);
    ag_buf_free(&text);
    if (err < 0 || ids.failed) {
        ag_ids_free(&ids);
        return ag_nomem(&ctx->log, "a choice");
    }
    *sum = 0;
    *n = ids.n;
    for (int i = 0; i < ids.n; i++) {
        *sum += ag_logprob(&m->dsp.vec, i ? ctx->logits : first, vocab, ids.id[i]);
        if (i == ids.n - 1)
            break;
        if ((err = forward(ctx, ids.id[i])) < 0)
            break;
    }
    ag_kv_truncate(&ctx->kv, prompt);
    ag_ids_free(&ids);
    return err;
}

int ag_decode_choose(ArgusContext *ctx, const ArgusDecoding *d, int *choice, double *prob,
                     double *logprob, int *n_token)
{
    size_t size = (size_t)ctx->model->config.vocab * sizeof(float);
    float *first = ag_malloc(size);
    double *sums = ag_malloc((size_t)d->n_choice * sizeof(double)), total = 0;
    int best = 0, err = 0;

    if (!first || !sums)
        err = ag_nomem(&ctx->log, "the choices");
    else
        memcpy(first, ctx->logits, size);
    for (int i = 0; err == 0 && i < d->n_choice; i++) {
        int n = 0;
        err = score(ctx, d->choices[i], first, &sums[i], &n);
        if (err == 0 && (i == 0 || sums[i] > sums[best])) {
            best = i;
            *n_token = n;
        }
    }
    if (err == 0) {
        for (int i = 0; i < d->n_choice; i++)
            total += exp(sums[i] - sums[best]);
        *choice = best;
        *prob = 1 / total;
        *logprob = sums[best] / *n_token;
    }
    ag_free(first);
    ag_free(sums);
    return err;
}
