/*
 * Entry points: argument checks, models and contexts opened and closed.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "libargus/caption.h"
#include "libargus/context.h"
#include "libargus/dsp/peak.h"
#include "libargus/encode.h"
#include "libargus/preprocess.h"

unsigned argus_version(void)
{
    return ARGUS_VERSION_INT;
}

const char *argus_version_string(void)
{
    return ARGUS_VERSION_STRING;
}

const char *argus_configuration(void)
{
    return ARGUS_CONFIGURATION;
}

void argus_free(void *p)
{
    ag_free(p);
}

double argus_peak_flops(unsigned mask, int threads, double *mean)
{
    return ag_peak_flops(argus_cpu_flags() & mask, threads, mean);
}

double argus_peak_bandwidth(unsigned mask, int threads, double *mean)
{
    return ag_read_bandwidth(argus_cpu_flags() & mask, threads, mean);
}

/* ------------------------------------------------------------------------ */
/* Models: a registry, so that one weights file is open once                  */

const char *argus_precision_name(int precision)
{
    return precision == ARGUS_PRECISION_Q8 ? "q8" : "exact";
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ArgusModel *models; /* open ones, newest first; under the lock */

void argus_model_default_settings(ArgusModelSettings *s)
{
    *s = (ArgusModelSettings){.cpumask = ARGUS_CPU_ALL};
}

static void model_free(ArgusModel *m)
{
    ag_text_free(&m->text);
    ag_quant_close(&m->quant);
    ag_connector_free(&m->connector);
    ag_vision_free(&m->vision);
    ag_tokenizer_close(&m->tokenizer);
    ag_weights_close(&m->weights);
    ag_source_free(&m->src);
    ag_free(m);
}

static int check_vocab(const ArgusModel *m, const ArgusLogger *log)
{
    int n = ag_tokenizer_size(m->tokenizer);

    if (n > m->config.vocab)
        return ag_fail(
            log, ARGUS_ERR_FORMAT,
            "%s: expected a tokenizer of at most %d ids (vocab_size of config.json), found %d",
            m->src.path, m->config.vocab, n);
    return 0;
}

/* The tokenizer is read on a thread of its own, since it takes four fifths of the time. What
 * it has to say waits, so that messages keep their order and the caller's thread. */
typedef struct Reader {
    ArgusModel *m;
    char message[1024];
    int err;
} Reader;

static void keep_message(void *opaque, int level, const char *message)
{
    Reader *r = opaque;

    (void)level; /* it has errors only, and the last one counts */
    snprintf(r->message, sizeof(r->message), "%s", message);
}

static void *read_tokenizer(void *arg)
{
    Reader *r = arg;
    const ArgusLogger log = {keep_message, r};

    r->err = ag_tokenizer_open(&r->m->tokenizer, &r->m->src, &log);
    return NULL;
}

/* Weights are only mapped, and vectors widened. */
static int load_towers(ArgusModel *m, const ArgusLogger *log)
{
    const AgConfig *c = &m->config;
    int err = ag_weights_open(&m->weights, &m->src, log);

    if (err < 0)
        return err;
    if (m->precision == ARGUS_PRECISION_Q8 && !(m->quant = ag_quant_open()))
        return ag_nomem(log, "the model");
    if (ag_vision_load(&m->vision, m->weights, c, &m->dsp, m->shifted_positions, m->quant) < 0 ||
        ag_connector_load(&m->connector, m->weights, c) < 0 ||
        ag_text_load(&m->text, m->weights, c, &m->dsp, m->quant) < 0)
        return ag_nomem(log, "the model");
    return 0;
}

static int load_parts(ArgusModel *m, const ArgusLogger *log)
{
    Reader r = {.m = m};
    pthread_t thread;
    int beside = ag_thread_start(&thread, read_tokenizer, &r) == 0;
    int err = load_towers(m, log);

    if (beside)
        pthread_join(thread, NULL);
    else if (err >= 0)
        read_tokenizer(&r);
    if (err >= 0 && (err = r.err) < 0)
        ag_fail(log, err, "%s", r.message);
    return err;
}

static int model_load(ArgusModel *m, const ArgusLogger *log)
{
    AgConfig *c = &m->config;
    int err;

    ag_dsp_init(&m->dsp, argus_cpu_flags() & m->cpumask);
    if ((err = ag_config_load(c, &m->src, log)) < 0 || (err = load_parts(m, log)) < 0 ||
        (err = check_vocab(m, log)) < 0 ||
        (err = ag_markers_find(&m->markers, m->tokenizer, c, log)) < 0)
        return err;
    if ((err = ag_config_add_stop(c, m->markers.end_of_utterance)) < 0)
        return ag_fail(log, err, "%s: expected at most %d stop ids", m->src.path, AG_MAX_STOP);
    if ((err = ag_weights_check(m->weights, log)) < 0 || !m->quant)
        return err;
    if (ag_quant_finish(m->quant, &m->src, m->weights, &m->dsp, log) < 0)
        return ag_nomem(log, "int8 weights");
    return 0;
}

static ArgusModel *find_open(const char *path, const ArgusModelSettings *s)
{
    for (ArgusModel *m = models; m; m = m->next)
        if (!strcmp(m->src.path, path) && m->cpumask == s->cpumask &&
            m->shifted_positions == s->shifted_positions && m->precision == s->precision)
            return m;
    return NULL;
}

int argus_model_open(ArgusModel **out, const ArgusModelSettings *s)
{
    const ArgusLogger *log = &s->logger;
    AgSource src;
    ArgusModel *m;

    *out = NULL;
    if (s->shifted_positions < 0 || s->shifted_positions > 1)
        return ag_fail(log, ARGUS_ERR(EINVAL), "shifted_positions: expected 0 or 1, found %d",
                       s->shifted_positions);
    if (s->precision != ARGUS_PRECISION_EXACT && s->precision != ARGUS_PRECISION_Q8)
        return ag_fail(log, ARGUS_ERR(EINVAL), "precision: expected exact (%d) or q8 (%d), "
                       "found %d", ARGUS_PRECISION_EXACT, ARGUS_PRECISION_Q8, s->precision);
    int err = ag_source_find(&src, s->model, log);
    if (err < 0)
        return err;
    pthread_mutex_lock(&lock);
    if ((m = find_open(src.path, s))) {
        ag_source_free(&src);
        m->n_ref++;
    } else if (!(m = ag_calloc(1, sizeof(*m)))) {
        ag_source_free(&src);
        err = ag_nomem(log, "the model");
    } else {
        m->src = src;
        m->n_ref = 1;
        m->cpumask = s->cpumask;
        m->shifted_positions = s->shifted_positions;
        m->precision = s->precision;
        if ((err = model_load(m, log)) < 0) {
            model_free(m);
            m = NULL;
        } else {
            m->next = models;
            models = m;
        }
    }
    pthread_mutex_unlock(&lock);
    *out = m;
    return err;
}

void argus_model_close(ArgusModel **mp)
{
    ArgusModel *m = *mp;

    *mp = NULL;
    if (!m)
        return;
    pthread_mutex_lock(&lock);
    int last = --m->n_ref == 0;
    if (last) {
        ArgusModel **p = &models;
        while (*p != m)
            p = &(*p)->next;
        *p = m->next;
    }
    pthread_mutex_unlock(&lock);
    if (last)
        model_free(m);
}

void argus_model_info(const ArgusModel *m, ArgusModelInfo *info)
{
    const AgConfig *c = &m->config;

    *info = (ArgusModelInfo){
        .name = m->src.name,
        .path = m->src.path,
        .sha256 = ag_weights_fingerprint(m->weights),
        .cpu_tier = argus_cpu_tier(m->cpumask),
        .n_params = ag_weights_params(m->weights),
        .mapped_bytes = ag_weights_bytes(m->weights),
        .precision = m->precision,
        .d_vis = c->d_vis,
        .n_vis_layer = c->n_vis_layer,
        .d_txt = c->d_txt,
        .n_txt_layer = c->n_layer,
        .vocab = c->vocab,
        .tile_size = c->tile,
        .tokens_per_tile = c->n_img_tok,
        .n_pos = c->n_pos,
        .is_tiny = m->src.embedded || !strcmp(m->src.name, "argus-tiny"),
    };
    if (m->quant) {
        info->q8_bytes = ag_quant_bytes(m->quant);
        info->q8_mapped = ag_quant_mapped(m->quant);
        info->mapped_bytes += info->q8_mapped ? info->q8_bytes : 0;
    }
}

/* ------------------------------------------------------------------------ */
/* Contexts                                                                   */

void argus_default_settings(ArgusSettings *s)
{
    *s = (ArgusSettings){0};
}

/* Measures with a NULL base, then places. */
static void carve(ArgusContext *ctx, AgArena *a)
{
    const AgConfig *c = &ctx->model->config;

    ag_exec_carve(&ctx->exec, a, &ctx->model->dsp, ctx->pool);
    if (ctx->model->quant) {
        int rows = c->n_patch, depth = AG_MAX(c->d_vis_ff, c->d_vis);
        int text = AG_MAX(AG_MAX(c->d_ff, c->d_txt), c->n_head * c->head_dim);
        if ((int64_t)rows * depth < (int64_t)AG_TEXT_CHUNK * text)
            rows = AG_TEXT_CHUNK, depth = text;
        ag_q8_carve(&ctx->exec.q8, a, rows, depth);
    }
    ctx->logits = AG_TAKE(a, float, c->vocab);
    ag_sample_carve(&ctx->sample, a, c->vocab);
    ctx->kv_ids = AG_TAKE(a, int, c->n_pos);
    ctx->kv_serial = AG_TAKE(a, int64_t, c->n_pos);
    AgArena text = *a, vision = *a;
    ag_text_carve(&ctx->text, &text, c);
    ag_vision_carve(&ctx->vision, &vision, c);
    a->used = AG_MAX(text.used, vision.used);
}

int argus_open(ArgusContext **out, ArgusModel *model, const ArgusSettings *s)
{
    int n_thread = s->threads ? s->threads : AG_MIN(argus_cpu_count(), AG_MAX_THREADS);
    AgArena measure = {0};

    *out = NULL;
    if (s->threads < 0 || s->threads > AG_MAX_THREADS)
        return ag_fail(&s->logger, ARGUS_ERR(EINVAL), "threads: expected 0 to %d, found %d",
                       AG_MAX_THREADS, s->threads);
    ArgusContext *ctx = ag_calloc(1, sizeof(*ctx));
    if (!ctx)
        return ag_nomem(&s->logger, "a context");
    ctx->log = s->logger;
    ctx->model = model;
    pthread_mutex_lock(&lock);
    model->n_ref++;
    pthread_mutex_unlock(&lock);
    int err = ag_pool_open(&ctx->pool, n_thread);
    if (err < 0) {
        char why[128];
        ag_fail(&s->logger, err, "threads: expected to start %d, can't: %s; try a smaller number",
                n_thread, argus_strerror(err, why, sizeof(why)));
        goto fail;
    }
    ag_pool_set_cancel(ctx->pool, &ctx->cancel);
    carve(ctx, &measure);
    ctx->arena.size = measure.used;
    ctx->arena.base = ag_malloc(measure.used);
    err = ctx->arena.base ? ag_kv_open(&ctx->kv, &model->config) : ARGUS_ERR(ENOMEM);
    if (err < 0) {
        ag_nomem(&s->logger, "a context");
        goto fail;
    }
    carve(ctx, &ctx->arena);
    *out = ctx;
    return 0;
fail:
    argus_close(&ctx);
    return err;
}

void argus_close(ArgusContext **cp)
{
    ArgusContext *ctx = *cp;

    *cp = NULL;
    if (!ctx)
        return;
    ag_context_forget(ctx);
    ag_kv_close(&ctx->kv);
    ag_encode_release(ctx);
    ag_pool_close(&ctx->pool);
    ag_free(ctx->arena.base);
    argus_model_close(&ctx->model);
    ag_free(ctx);
}

void argus_cancel(ArgusContext *ctx)
{
    atomic_store(&ctx->cancel, 1);
}

void argus_stats(const ArgusContext *ctx, ArgusStats *stats)
{
    *stats = ctx->stats;
    stats->anon_bytes = (int64_t)(ctx->arena.size + ctx->streams.size) + ag_kv_bytes(&ctx->kv);
    for (size_t i = 0; i < ctx->n_last; i++)
        if (ctx->last[i])
            stats->anon_bytes += (int64_t)ctx->last[i]->n_byte;
}

/* ------------------------------------------------------------------------ */
/* Requests                                                                   */

void argus_decoding_default(ArgusDecoding *d)
{
    *d = (ArgusDecoding){
        .max_tokens = 256, .temperature = 0, .top_k = 0, .top_p = 1, .repetition_penalty = 1,
    };
}

/* NaN fails every comparison, so ranges are asked for, never excluded. */
static int check_double(const ArgusLogger *log, const char *name, double v, int ok,
                        const char *range)
{
    if (ok)
        return 0;
    return ag_fail(log, ARGUS_ERR(EINVAL), "%s: expected %s, found %g", name, range, v);
}

static int check_strings(const ArgusLogger *log, const char *name, const char *const *s, int n)
{
    if (n < 0 || n > 64)
        return ag_fail(log, ARGUS_ERR(EINVAL), "%s: expected 0 to 64 strings, found %d", name, n);
    for (int i = 0; i < n; i++)
        if (!s || !s[i] || !*s[i])
            return ag_fail(log, ARGUS_ERR(EINVAL), "%s: string %d is empty", name, i + 1);
    return 0;
}

int argus_decoding_check(const ArgusDecoding *d, const ArgusLogger *log)
{
    int err;

    if (d->max_tokens < 1 || d->max_tokens > 1 << 20)
        return ag_fail(log, ARGUS_ERR(EINVAL), "max_tokens: expected 1 to %d, found %d", 1 << 20,
                       d->max_tokens);
    if (d->top_k < 0)
        return ag_fail(log, ARGUS_ERR(EINVAL), "top_k: expected 0 or more, found %d", d->top_k);
    if ((err = check_double(log, "temperature", d->temperature,
                            d->temperature >= 0 && d->temperature <= 100, "0 to 100")) < 0 ||
        (err = check_double(log, "top_p", d->top_p, d->top_p > 0 && d->top_p <= 1,
                            "more than 0, at most 1")) < 0 ||
        (err = check_double(log, "repetition_penalty", d->repetition_penalty,
                            d->repetition_penalty > 0 && d->repetition_penalty <= 100,
                            "more than 0, at most 100")) < 0 ||
        (err = check_strings(log, "stop", d->stop, d->n_stop)) < 0 ||
        (err = check_strings(log, "choices", d->choices, d->n_choice)) < 0)
        return err;
    int sampling = d->temperature > 0 || d->top_k > 0 || d->top_p < 1;
    if (sampling && !d->seeded)
        return ag_fail(
            log, ARGUS_ERR(EINVAL),
            "temperature, top_k and top_p: expected a seed with them, found none (the same seed "
            "gives the same text)");
    if (d->n_choice == 1)
        return ag_fail(log, ARGUS_ERR(EINVAL), "choices: expected at least 2, found 1");
    for (int i = 1; i < d->n_choice; i++)
        for (int k = 0; k < i; k++)
            if (!strcmp(d->choices[i], d->choices[k]))
                return ag_fail(log, ARGUS_ERR(EINVAL),
                               "choices: expected each once, found '%s' twice", d->choices[i]);
    if (d->n_choice && (sampling || d->repetition_penalty != 1 || d->n_stop))
        return ag_fail(log, ARGUS_ERR(EINVAL),
                       "choices: can't go together with temperature, top_k, "
                       "top_p, repetition_penalty or stop");
    return 0;
}

/* What only the model knows. */
static int check_decoding_model(const ArgusContext *ctx, const ArgusDecoding *d)
{
    const AgConfig *c = &ctx->model->config;

    if (d->max_tokens > c->n_pos)
        return ag_fail(&ctx->log, ARGUS_ERR(EINVAL),
                       "max_tokens: expected 1 to %d (the model's context), "
                       "found %d",
                       c->n_pos, d->max_tokens);
    if (d->top_k > c->vocab)
        return ag_fail(&ctx->log, ARGUS_ERR(EINVAL),
                       "top_k: expected 0 to %d (the vocabulary), found %d", c->vocab, d->top_k);
    return 0;
}

void argus_request_default(ArgusRequest *r)
{
    *r = (ArgusRequest){.split = 1};
    argus_decoding_default(&r->decoding);
}

static int check_request(const ArgusContext *ctx, const ArgusRequest *r)
{
    int err = argus_decoding_check(&r->decoding, &ctx->log);

    if (err < 0 || (err = check_decoding_model(ctx, &r->decoding)) < 0)
        return err;
    if (!r->n_part || !r->parts)
        return ag_fail(&ctx->log, ARGUS_ERR(EINVAL),
                       "prompt: expected a picture or a text, found nothing");
    if (r->split < 0 || r->split > 1)
        return ag_fail(&ctx->log, ARGUS_ERR(EINVAL), "split: expected 0 or 1, found %d", r->split);
    for (size_t i = 0; i < r->n_part; i++) {
        const ArgusPart *p = &r->parts[i];
        if (p->kind == ARGUS_PART_IMAGE && !p->image)
            return ag_fail(&ctx->log, ARGUS_ERR(EINVAL),
                           "prompt: part %zu: expected a picture, found none", i);
        if (p->kind == ARGUS_PART_TURN && p->text && strcmp(p->text, "system") &&
            strcmp(p->text, "user") && strcmp(p->text, "assistant"))
            return ag_fail(&ctx->log, ARGUS_ERR(EINVAL),
                           "prompt: part %zu: expected the role system, user or "
                           "assistant, found %s",
                           i, p->text);
    }
    return 0;
}

int argus_describe(ArgusContext *ctx, const ArgusRequest *r, ArgusCaption *out)
{
    *out = (ArgusCaption){.choice = -1};
    atomic_store(&ctx->cancel, 0);
    int err = check_request(ctx, r);
    return err < 0 ? err : ag_caption_describe(ctx, r, out);
}

void argus_caption_free(ArgusCaption *c)
{
    ag_free(c->text);
    ag_free(c->ids);
    ag_free(c->logprobs);
    *c = (ArgusCaption){.choice = -1};
}

const char *argus_finish_name(int finish)
{
    static const char *const names[] = {"stop", "length", "string", "empty"};

    return finish >= 0 && finish < (int)AG_COUNT(names) ? names[finish] : "unknown";
}
