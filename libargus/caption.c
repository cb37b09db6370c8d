/*
 * From pictures and text to an answer. See caption.h.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _POSIX_C_SOURCE 200809L
#include "libargus/caption.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "libargus/context.h"
#include "libargus/decode.h"
#include "libargus/encode.h"
#include "libargus/image.h"
#include "libargus/preprocess.h"

enum { ROOM = 128 }; /* tokens of an answer that keys and values have room for from the start */

static int64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int cancelled(const ArgusContext *ctx)
{
    return atomic_load_explicit(&ctx->cancel, memory_order_relaxed) != 0;
}

int ag_caption_tiles(ArgusContext *ctx, AgExec *x, const ArgusImage *img, int split,
                     AgPicture **out)
{
    const AgConfig *c = &ctx->model->config;
    AgPlan plan;
    int64_t start = now_us();
    int err = ag_image_check(img, &ctx->log);

    *out = NULL;
    if (err < 0 || (err = ag_preprocess_plan(&plan, c, img->width, img->height, split)) < 0)
        return err;
    AgPicture *p = ag_malloc(sizeof(*p));
    if (!p)
        return ag_nomem(&ctx->log, "a picture");
    *p = (AgPicture){.plan = plan, .n_byte = ag_preprocess_size(c, &plan)};
    p->pixels = ag_malloc(p->n_byte);
    err = p->pixels ? ag_preprocess_run(x, c, &plan, img, p->pixels) : ARGUS_ERR(ENOMEM);
    if (err == 0 && x->pool && cancelled(ctx)) { /* some rows were skipped */
        ag_picture_free(&p);
        return ARGUS_ERR_CANCELLED;
    }
    if (err < 0) {
        ag_picture_free(&p);
        return ag_fail(&ctx->log, err, "out of memory for the tiles of a %dx%d picture", img->width,
                       img->height);
    }
    ctx->stats.us_preprocess += now_us() - start;
    *out = p;
    return 0;
}

/* Room for the features of pictures without any; their tiles in a row.
 * @return the number of tiles, or ENOMEM. */
static int tile_jobs(const AgConfig *c, AgPicture *const *pics, int n, float **features,
                     AgTileJob **jobs)
{
    size_t row = (size_t)c->n_img_tok * (size_t)c->d_txt, n_job = 0;

    for (int i = 0; i < n; i++)
        n_job += pics[i]->features ? 0 : (size_t)pics[i]->plan.n_tile;
    *jobs = NULL;
    if (!n_job)
        return 0;
    AgTileJob *job = *jobs = ag_malloc(ag_mul(n_job, sizeof(*job)));
    if (!job)
        return ARGUS_ERR(ENOMEM);
    for (int i = 0; i < n; i++) {
        const AgPicture *p = pics[i];
        if (p->features)
            continue;
        size_t n_tile = (size_t)p->plan.n_tile;
        if (!(features[i] = ag_malloc(ag_mul(ag_mul(n_tile, row), sizeof(float)))))
            return ARGUS_ERR(ENOMEM);
        for (size_t k = 0; k < n_tile; k++)
            *job++ = (AgTileJob){ag_preprocess_tile(c, &p->plan, p->pixels, (int)k),
                                 features[i] + k * row};
    }
    return (int)n_job;
}

int ag_caption_encode(ArgusContext *ctx, AgPicture *const *pics, int n)
{
    float *features[AG_ENCODE_MAX] = {NULL};
    AgTileJob *jobs;
    int64_t start = now_us(), flops = ctx->exec.flops;

    assert(n <= AG_ENCODE_MAX);
    int n_job = tile_jobs(&ctx->model->config, pics, n, features, &jobs), err = n_job;
    if (n_job > 0) {
        ctx->stats.n_tile += ag_encode(ctx, jobs, n_job);
        ctx->stats.us_vision += now_us() - start;
        ctx->stats.flops_vision += ctx->exec.flops - flops;
        err = cancelled(ctx) ? ARGUS_ERR_CANCELLED : 0;
    } else if (n_job < 0) {
        ag_nomem(&ctx->log, "image tokens");
    }
    ag_free(jobs);
    for (int i = 0; i < n; i++) {
        if (err < 0) {
            ag_free(features[i]);
        } else if (features[i]) {
            pics[i]->features = features[i];
            pics[i]->serial = ++ctx->serial;
        }
    }
    return err;
}

int ag_picture_equal(const AgPicture *a, const AgPicture *b)
{
    return a->plan.rows == b->plan.rows && a->plan.cols == b->plan.cols &&
           a->n_byte == b->n_byte && a->pixels && b->pixels &&
           !memcmp(a->pixels, b->pixels, a->n_byte);
}

void ag_picture_free(AgPicture **pp)
{
    AgPicture *p = *pp;

    if (!p)
        return;
    ag_free(p->pixels);
    ag_free(p->features);
    ag_free(p);
    *pp = NULL;
}

/* Build the prompt and check it against the context's length. */
static int build(ArgusContext *ctx, const AgPromptPart *parts, size_t n_part,
                 const ArgusDecoding *d, AgIds *ids)
{
    const ArgusModel *m = ctx->model;
    int n_image = 0, n_text = 0;
    int err = ag_prompt_build(ids, &m->markers, m->tokenizer, m->config.n_img_tok, parts, n_part,
                              &ctx->log);

    if (err < 0)
        return err;
    for (int i = 0; i < ids->n; i++)
        n_image += ids->id[i] == m->markers.image;
    n_text = ids->n - n_image;
    if (ids->n > m->config.n_pos - d->max_tokens)
        return ag_fail(
            &ctx->log, ARGUS_ERR_BUDGET,
            "prompt of %d tokens (%d of pictures, %d of text and markers) and max_tokens=%d: "
            "expected at most %d together (the model's context), found %d; use a smaller "
            "window, split=off, a shorter prompt or a smaller max_tokens",
            ids->n, n_image, n_text, d->max_tokens, m->config.n_pos, ids->n + d->max_tokens);
    return 0;
}

int ag_caption_budget(ArgusContext *ctx, const AgPromptPart *parts, size_t n_part,
                      const ArgusDecoding *d)
{
    AgIds ids = {0};
    int err = build(ctx, parts, n_part, d, &ids), n = ids.n;

    ag_ids_free(&ids);
    return err < 0 ? err : n;
}

/* Row pointers of all image slots, and the picture each id belongs to. */
static int fill_slots(ArgusContext *ctx, const AgPromptPart *parts, size_t n_part, const AgIds *ids,
                      const float ***slots, int64_t **serials)
{
    const ArgusModel *m = ctx->model;
    size_t n = (size_t)ids->n;
    int at = 0, part = -1, left = 0;

    *slots = ag_malloc(n * sizeof(**slots));
    *serials = ag_calloc(n, sizeof(**serials));
    if (!*slots || !*serials)
        return ag_nomem(&ctx->log, "the prompt");
    const float *row = NULL;
    for (int i = 0; i < ids->n; i++) {
        if (ids->id[i] != m->markers.image)
            continue;
        while (left == 0 && ++part < (int)n_part) {
            if (parts[part].kind == ARGUS_PART_IMAGE) {
                left = parts[part].pic->plan.n_tile * m->config.n_img_tok;
                row = parts[part].pic->features;
            }
        }
        if (left == 0)
            break;
        (*serials)[i] = parts[part].pic->serial;
        (*slots)[at++] = row;
        row += m->config.d_txt;
        left--;
    }
    int n_image = 0;
    for (int i = 0; i < ids->n; i++)
        n_image += ids->id[i] == m->markers.image;
    for (part++; part < (int)n_part; part++)
        left += parts[part].kind == ARGUS_PART_IMAGE;
    if (left || at != n_image)
        return ag_fail(&ctx->log, ARGUS_ERR(EINVAL),
                       "prompt: expected as many image slots as image "
                       "tokens, found %d slots and %d tokens",
                       n_image, at + left);
    return 0;
}

/* Positions at the front of the cache that this prompt has in common with it.
 * At least two ids are left over: one row alone goes through other kernels. */
static int common_prefix(const ArgusContext *ctx, const AgIds *ids, const int64_t *serials)
{
    int n = AG_MIN(ctx->kv.len, ids->n - 2), i = 0;

    if (ctx->tap.fn)
        return 0;
    while (i < n && ctx->kv_ids[i] == ids->id[i] && ctx->kv_serial[i] == serials[i])
        i++;
    return i;
}

/* answer: tokens to make room for beyond the prompt */
static int prefill(ArgusContext *ctx, const AgIds *ids, const float *const *slots,
                   const int64_t *serials, int answer)
{
    const ArgusModel *m = ctx->model;
    int64_t start = now_us(), flops = ctx->exec.flops;
    int keep = AG_MAX(common_prefix(ctx, ids, serials), 0), slot = 0;

    for (int i = 0; i < keep; i++)
        slot += serials[i] != 0;
    ag_kv_truncate(&ctx->kv, keep);
    if (ids->n + answer > ctx->kv.room) /* memory that is there already, rather than new */
        ag_encode_release(ctx);
    ag_kv_reserve(&ctx->kv, ids->n + answer);
    memcpy(ctx->kv_ids, ids->id, (size_t)ids->n * sizeof(int));
    memcpy(ctx->kv_serial, serials, (size_t)ids->n * sizeof(*serials));
    ag_text_run(m->text, &ctx->text, &ctx->exec, &ctx->kv, ids->id + keep, ids->n - keep, slots,
                &slot, ctx->logits, &ctx->tap);
    ctx->stats.n_prompt += ids->n - keep;
    ctx->stats.n_prompt_reused += keep;
    ctx->stats.us_prefill += now_us() - start;
    ctx->stats.flops_prefill += ctx->exec.flops - flops;
    return cancelled(ctx) ? ARGUS_ERR_CANCELLED : 0;
}

static int finish_free(ArgusContext *ctx, AgAnswer *a, ArgusCaption *out)
{
    AgBuf text = {0};

    ag_decode_text(&text, a->bytes.data, a->bytes.size);
    out->finish = a->finish == ARGUS_FINISH_STOP && !text.size ? ARGUS_FINISH_EMPTY : a->finish;
    out->text = ag_buf_detach(&text);
    if (!out->text)
        return ag_nomem(&ctx->log, "the caption");
    out->ids = a->ids;
    out->logprobs = a->logprobs;
    out->n_id = a->n;
    out->mean_logprob = a->sum / a->n;
    a->ids = NULL; /* the caption's now */
    a->logprobs = NULL;
    return 0;
}

static int decode_free(ArgusContext *ctx, const ArgusDecoding *d, const AgIds *prompt,
                       const AgDraft *draft, int (*on_token)(void *, int, const char *),
                       void *opaque, ArgusCaption *out)
{
    AgAnswer a = {.on_token = on_token, .opaque = opaque};
    int err = ag_answer_open(&a, ctx, d, draft);

    if (err == 0) {
        ag_sample_start(&ctx->sample, d, prompt->id, prompt->n);
        err = ag_decode_run(&a, ctx);
    }
    if (err == 0)
        err = finish_free(ctx, &a, out);
    ag_answer_free(&a);
    return err;
}

static int decode_choices(ArgusContext *ctx, const ArgusDecoding *d, ArgusCaption *out)
{
    int n = 0;
    int err = ag_decode_choose(ctx, d, &out->choice, &out->choice_prob, &out->mean_logprob, &n);

    if (err < 0)
        return err;
    out->finish = ARGUS_FINISH_STOP;
    out->text = ag_strdup(d->choices[out->choice]);
    return out->text ? 0 : ag_nomem(&ctx->log, "the caption");
}

int ag_caption_answer(ArgusContext *ctx, const AgPromptPart *parts, size_t n_part,
                      const ArgusDecoding *d, const AgDraft *draft,
                      int (*on_token)(void *, int, const char *), void *opaque, ArgusCaption *out)
{
    AgIds ids = {0};
    const float **slots = NULL;
    int64_t *serials = NULL, start, flops;

    *out = (ArgusCaption){.choice = -1};
    int err = build(ctx, parts, n_part, d, &ids);
    if (err == 0)
        err = fill_slots(ctx, parts, n_part, &ids, &slots, &serials);
    if (err == 0)
        err = prefill(ctx, &ids, slots, serials, AG_MIN(d->max_tokens, (int)ROOM));
    start = now_us();
    flops = ctx->exec.flops;
    if (err == 0)
        err = d->n_choice ? decode_choices(ctx, d, out)
                          : decode_free(ctx, d, &ids, draft, on_token, opaque, out);
    ctx->stats.us_decode += now_us() - start;
    ctx->stats.flops_decode += ctx->exec.flops - flops;
    if (err == 0) {
        out->n_prompt = ids.n;
        for (size_t i = 0; i < n_part; i++)
            out->n_tile += parts[i].kind == ARGUS_PART_IMAGE ? parts[i].pic->plan.n_tile : 0;
        ctx->stats.n_caption++;
    } else {
        argus_caption_free(out);
        ag_kv_truncate(&ctx->kv, 0); /* rows of a cancelled pass are not what they should be */
    }
    ag_free((void *)slots);
    ag_free(serials);
    ag_ids_free(&ids);
    return err;
}

void ag_caption_set_tap(ArgusContext *ctx, AgTap tap)
{
    ctx->tap = tap;
}

ArgusStats *ag_caption_stats(ArgusContext *ctx)
{
    return &ctx->stats;
}

AgExec *ag_caption_exec(ArgusContext *ctx)
{
    return &ctx->exec;
}

int ag_caption_image_tokens(const ArgusContext *ctx)
{
    return ctx->model->config.n_img_tok + 3;
}

/* ------------------------------------------------------------------------ */
/* argus_describe(): pictures from pixels, those of the last call kept        */

static void forget(AgPicture **pics, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ag_picture_free(&pics[i]);
    ag_free((void *)pics);
}

void ag_context_forget(ArgusContext *ctx)
{
    forget(ctx->last, ctx->n_last);
    ctx->last = NULL;
    ctx->n_last = 0;
}

/* Take the picture with these tiles out of the last call's, if it is there. */
static AgPicture *remembered(ArgusContext *ctx, AgPicture *pic)
{
    for (size_t i = 0; i < ctx->n_last; i++) {
        AgPicture *old = ctx->last[i];
        if (old && old->features && ag_picture_equal(old, pic)) {
            ctx->last[i] = NULL;
            return old;
        }
    }
    return NULL;
}

/* Tiles, then features, of every picture of the request. Pictures wait for each other in
 * groups, so that all threads have tiles. */
static int open_pictures(ArgusContext *ctx, const ArgusRequest *r, AgPromptPart *parts,
                         AgPicture **pics)
{
    size_t n = 0, done = 0;
    int err = 0;

    for (size_t i = 0; i < r->n_part; i++) {
        if (r->parts[i].kind != ARGUS_PART_IMAGE)
            continue;
        if ((err = ag_caption_tiles(ctx, &ctx->exec, r->parts[i].image, r->split, &pics[n])) < 0)
            return err;
        AgPicture *old = remembered(ctx, pics[n]);
        if (old) {
            ag_picture_free(&pics[n]);
            pics[n] = old;
            ctx->stats.n_tile_reused += old->plan.n_tile;
        }
        parts[i].pic = pics[n++];
        if (n - done == AG_ENCODE_MAX) {
            if ((err = ag_caption_encode(ctx, pics + done, AG_ENCODE_MAX)) < 0)
                return err;
            done = n;
        }
    }
    return ag_caption_encode(ctx, pics + done, (int)(n - done));
}

/* Parts with the grids that the pictures will have. */
static int plan_parts(ArgusContext *ctx, const ArgusRequest *r, AgPromptPart *parts, size_t *n_pic)
{
    for (size_t i = 0; i < r->n_part; i++) {
        const ArgusPart *p = &r->parts[i];
        parts[i] = (AgPromptPart){.kind = p->kind, .text = p->text};
        if (p->kind != ARGUS_PART_IMAGE)
            continue;
        AgPlan plan;
        int err = ag_image_check(p->image, &ctx->log);
        if (err < 0 || (err = ag_preprocess_plan(&plan, &ctx->model->config, p->image->width,
                                                 p->image->height, r->split)) < 0)
            return err;
        parts[i].rows = plan.rows;
        parts[i].cols = plan.cols;
        ++*n_pic;
    }
    return 0;
}

int ag_caption_describe(ArgusContext *ctx, const ArgusRequest *r, ArgusCaption *out)
{
    AgPromptPart *parts = ag_calloc(AG_MAX(r->n_part, 1), sizeof(*parts));
    AgPicture **pics = NULL;
    size_t n_pic = 0;

    if (!parts)
        return ag_nomem(&ctx->log, "the prompt");
    int err = plan_parts(ctx, r, parts, &n_pic);
    if (err == 0)
        err = ag_caption_budget(ctx, parts, r->n_part, &r->decoding);
    if (err >= 0 && !(pics = ag_calloc(AG_MAX(n_pic, 1), sizeof(*pics))))
        err = ag_nomem(&ctx->log, "the pictures");
    if (err >= 0)
        err = open_pictures(ctx, r, parts, pics);
    if (err == 0)
        err = ag_caption_answer(ctx, parts, r->n_part, &r->decoding, NULL, r->on_token, r->opaque,
                                out);
    if (pics) {
        ag_context_forget(ctx);
        ctx->last = pics;
        ctx->n_last = n_pic;
    }
    ag_free(parts);
    return err;
}
