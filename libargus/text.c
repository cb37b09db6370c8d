/*
 * Text tower. See text.h. Follows modeling_llama.py of transformers 4.54.0.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/text.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "libargus/linear.h"

enum {
    PARTS = 4,       /* most parts of a chunk: each widens all weights once more */
    PART_ROWS = 256, /* least rows of one */
};

typedef struct Layer {
    const float *ln_in, *ln_post; /* [d] */
    AgLinear q, k, v, o;          /* [n_head hd, d], [n_kv hd, d] twice, [d, n_head hd] */
    AgLinear gate, up, down;      /* [d_ff, d] twice, [d, d_ff] */
} Layer;

struct AgText {
    int d, d_ff, n_layer, n_head, n_kv, hd, vocab, image_id;
    float eps;
    double theta;
    AgParams params;
    AgLinear embed; /* [vocab, d], read by rows */
    AgLinear head;  /* [vocab, d] */
    const float *norm;
    Layer *layer;
};

static void load_layer(AgText *t, Layer *l, int i, AgWeights *w, const AgDsp *dsp, AgQuant *quant)
{
    char p[80];
    int d = t->d, nq = t->n_head * t->hd, nkv = t->n_kv * t->hd;

    snprintf(p, sizeof(p), "model.text_model.layers.%d.", i);
    AgLoader ld = {w, &t->params, dsp, p, quant};
    l->ln_in = ag_load_vector(&ld, "input_layernorm.weight", d);
    l->ln_post = ag_load_vector(&ld, "post_attention_layernorm.weight", d);
    ag_load_linear(&ld, &l->q, "self_attn.q_proj", nq, d, 0);
    ag_load_linear(&ld, &l->k, "self_attn.k_proj", nkv, d, 0);
    ag_load_linear(&ld, &l->v, "self_attn.v_proj", nkv, d, 0);
    ag_load_linear(&ld, &l->o, "self_attn.o_proj", d, nq, 0);
    ag_load_linear(&ld, &l->gate, "mlp.gate_proj", t->d_ff, d, 0);
    ag_load_linear(&ld, &l->up, "mlp.up_proj", t->d_ff, d, 0);
    ag_load_linear(&ld, &l->down, "mlp.down_proj", d, t->d_ff, 0);
}

int ag_text_load(AgText **out, AgWeights *w, const AgConfig *c, const AgDsp *dsp, AgQuant *quant)
{
    AgText *t = ag_calloc(1, sizeof(*t));

    *out = NULL;
    if (!t)
        return ARGUS_ERR(ENOMEM);
    t->d = c->d_txt;
    t->d_ff = c->d_ff;
    t->n_layer = c->n_layer;
    t->n_head = c->n_head;
    t->n_kv = c->n_kv;
    t->hd = c->head_dim;
    t->vocab = c->vocab;
    t->image_id = c->image_token_id;
    t->eps = c->txt_eps;
    t->theta = c->rope_theta;
    t->layer = ag_calloc((size_t)t->n_layer, sizeof(*t->layer));
    size_t n_norm = 2 * (size_t)t->n_layer + 1;
    if (!t->layer || ag_params_open(&t->params, n_norm * (size_t)t->d, (int)n_norm) < 0) {
        ag_text_free(&t);
        return ARGUS_ERR(ENOMEM);
    }
    AgLoader ld = {w, &t->params, dsp, "", NULL};
    ag_load_linear(&ld, &t->embed, "model.text_model.embed_tokens", t->vocab, t->d, 0);
    for (int i = 0; i < t->n_layer; i++)
        load_layer(t, &t->layer[i], i, w, dsp, quant);
    t->norm = ag_load_vector(&ld, "model.text_model.norm.weight", t->d);
    /* The head is a tensor of its own in every published checkpoint. Only
     * tie_word_embeddings may put the embedding in its place. */
    if (c->tie_embeddings) {
        t->head = t->embed;
        if (quant && t->head.w) /* the embedding itself is read by rows: exact */
            ag_quant_add(quant, &t->head);
    } else {
        ld.quant = quant;
        ag_load_linear(&ld, &t->head, "lm_head", t->vocab, t->d, 0);
    }
    *out = t;
    return 0;
}

void ag_text_free(AgText **tp)
{
    AgText *t = *tp;

    if (!t)
        return;
    ag_params_close(&t->params);
    ag_free(t->layer);
    ag_free(t);
    *tp = NULL;
}

static int64_t linear_bytes(const AgLinear *l)
{
    if (l->dtype == AG_Q8)
        return (int64_t)ag_q8_size(l->n_out, l->n_in);
    return (int64_t)l->n_out * l->n_in * (int64_t)ag_dtype_size(l->dtype);
}

int64_t ag_text_bytes(const AgText *t)
{
    const Layer *l = &t->layer[0]; /* all have the same shapes, and mostly the same types */
    int64_t layer = linear_bytes(&l->q) + linear_bytes(&l->k) + linear_bytes(&l->v) +
                    linear_bytes(&l->o) + linear_bytes(&l->gate) + linear_bytes(&l->up) +
                    linear_bytes(&l->down);

    return layer * t->n_layer + linear_bytes(&t->head) +
           t->d * (int64_t)ag_dtype_size(t->embed.dtype);
}

void ag_text_carve(AgTextWork *w, AgArena *a, const AgConfig *c)
{
    size_t n = AG_TEXT_CHUNK, nq = (size_t)c->n_head * (size_t)c->head_dim, d = (size_t)c->d_txt;

    w->x = AG_TAKE(a, float, n * d);
    w->y = AG_TAKE(a, float, n * AG_MAX(d, nq));
    w->q = AG_TAKE(a, float, n * nq);
    w->ff = AG_TAKE(a, float, n * (size_t)c->d_ff);
    w->rope = AG_TAKE(a, float, n * (size_t)c->head_dim);
}

static void embed(const AgText *t, AgTextWork *w, const AgExec *x, const int *ids, int n,
                  const float *const *slots, int *slot)
{
    size_t d = (size_t)t->d, elem = ag_dtype_size(t->embed.dtype);

    for (int i = 0; i < n; i++) {
        float *row = w->x + (size_t)i * d;
        if (ids[i] == t->image_id && slots)
            memcpy(row, slots[(*slot)++], d * sizeof(float));
        else
            ag_widen(&x->dsp->vec, row, (const char *)t->embed.w + (size_t)ids[i] * d * elem,
                     t->embed.dtype, t->d);
    }
}

/* Rows of a chunk that go through the layers on their own, on one thread if others have
 * rows too. */
typedef struct Part {
    AgTextWork w;     /* from its first row on */
    AgExec x;
    int pos, n, want; /* position of the first row; rows; last rows wanted of the last layer */
    atomic_int ready; /* layers whose keys and values are in the cache */
} Part;

typedef struct Chunk {
    const AgText *t;
    AgKv *kv;
    const AgTap *tap; /* of the last part */
    int n_part;
    Part part[PARTS];
} Chunk;

/* Keys and values of n rows at positions pos.., and queries of the last m of them,
 * from the normed rows in w->y. */
static void project(const AgText *t, const Layer *l, int i, AgTextWork *w, AgExec *x, AgKv *kv,
                    int pos, int n, int m)
{
    float *k = ag_kv_k(kv, i) + (size_t)pos * (size_t)kv->row;
    float *v = ag_kv_v(kv, i) + (size_t)pos * (size_t)kv->row;
    int nq = t->n_head * t->hd;
    size_t first = (size_t)(n - m);
    AgMatmulJob jobs[3] = {
        {&l->k, k, kv->row, AG_EPI_STORE, 1},
        {&l->v, v, kv->row, AG_EPI_STORE, 1},
        {&l->q, w->q, nq, AG_EPI_STORE, (float)(1.0 / sqrt(t->hd))},
    };

    ag_matmul(x, jobs, m == n ? 3 : 2, w->y, t->d, n);
    if (m < n)
        ag_matmul(x, jobs + 2, 1, w->y + first * (size_t)t->d, t->d, m);
    ag_rope(x, k, kv->row, t->n_kv, t->hd, n, w->rope, 0);
    ag_rope(x, w->q, nq, t->n_head, t->hd, m, w->rope + first * (size_t)t->hd, 0);
}

/* Attention and MLP of the last m of n rows at positions pos... */
static void mix_rows(const AgText *t, const Layer *l, int i, AgTextWork *w, AgExec *x,
                     const AgKv *kv, int pos, int n, int m)
{
    int nq = t->n_head * t->hd;
    float *h = w->x + (size_t)(n - m) * (size_t)t->d;
    AgAttnArgs a = {
        .q = w->q, .k = ag_kv_k(kv, i), .v = ag_kv_v(kv, i), .out = w->y,
        .ld_q = nq, .ld_kv = kv->row, .ld_out = nq, .n_q = m, .n_kv = pos + n,
        .n_head = t->n_head, .n_kv_head = t->n_kv, .head_dim = t->hd,
        .causal = 1, .pos = pos + n - m,
    };

    ag_attn(x, &a);
    ag_linear(x, &l->o, AG_EPI_ADD, w->y, nq, h, t->d, m);
    ag_rmsnorm(x, w->y, h, t->d, l->ln_post, m, t->d, t->eps);
    ag_linear(x, &l->up, AG_EPI_STORE, w->y, t->d, w->ff, t->d_ff, m);
    ag_linear(x, &l->gate, AG_EPI_SILU_MUL, w->y, t->d, w->ff, t->d_ff, m);
    ag_linear(x, &l->down, AG_EPI_ADD, w->ff, t->d_ff, h, t->d, m);
}

/* All layers. In the last one only the wanted rows go past the keys and values. */
static void part_run(void *arg, int item, int thread)
{
    Chunk *c = arg;
    Part *p = &c->part[item];
    const AgText *t = c->t;
    const AgTap *tap = item == c->n_part - 1 && p->want ? c->tap : NULL;
    const float *last = p->w.x + (size_t)(p->n - 1) * (size_t)t->d;

    (void)thread;
    ag_tap(tap, "text_embedding", 0, last, 1, t->d);
    for (int i = 0; i < t->n_layer; i++) {
        const Layer *l = &t->layer[i];
        int m = i == t->n_layer - 1 ? p->want : p->n;

        ag_rmsnorm(&p->x, p->w.y, p->w.x, t->d, l->ln_in, p->n, t->d, t->eps);
        project(t, l, i, &p->w, &p->x, c->kv, p->pos, p->n, m);
        ag_pool_set(p->x.pool, &p->ready, i + 1);
        for (int j = 0; j < item && m; j++)
            ag_pool_wait(p->x.pool, &c->part[j].ready, i + 1);
        if (m)
            mix_rows(t, l, i, &p->w, &p->x, c->kv, p->pos, p->n, m);
        ag_tap(tap, "text_layer", i, last, 1, t->d);
    }
}

/* The rows from `first` on of what a chunk of n works with. */
static Part part_from(const AgText *t, const AgTextWork *w, const AgExec *x, int first, int n)
{
    size_t f = (size_t)first, nq = (size_t)t->n_head * (size_t)t->hd, d = (size_t)t->d;
    size_t q8 = x->q8.size / (size_t)n / AG_Q8_BLOCK * AG_Q8_BLOCK * f;
    Part p = {.w = {w->x + f * d, w->y + f * AG_MAX(d, nq), w->q + f * nq,
                    w->ff + f * (size_t)t->d_ff, w->rope + f * (size_t)t->hd},
              .x = *x};

    p.x.flops = 0;
    if (x->q8.size)
        p.x.q8 = (AgQ8Rows){x->q8.q + q8, x->q8.scale + q8 / AG_Q8_BLOCK, x->q8.size - q8};
    return p;
}

/* Cut n rows at position pos into parts that cost the same: later rows see more keys. */
static void cut(Chunk *c, const AgTextWork *w, const AgExec *x, int pos, int n)
{
    const AgText *t = c->t;
    double nq = t->n_head * t->hd, row = (2 * nq + 2.0 * t->n_kv * t->hd + 3.0 * t->d_ff) * t->d;
    double key = 2.5 * nq; /* with what attention costs beside its products */
    double all = n * (row + key * (pos + n / 2.0)), sum = 0;

    c->n_part = AG_CLIP(n / PART_ROWS, 1, AG_MIN(x->n_thread, (int)PARTS));
    for (int i = 0, first = 0; i < c->n_part; i++) {
        int end = first;
        for (; end < n && (sum < all * (i + 1) / c->n_part || i == c->n_part - 1); end++)
            sum += row + key * (pos + end);
        c->part[i] = part_from(t, w, x, first, n);
        c->part[i].x.n_thread = (x->n_thread + c->n_part - 1) / c->n_part;
        c->part[i].pos = pos + first;
        c->part[i].n = end - first;
        first = end;
    }
    for (int i = 0; i + 1 < c->n_part; i++)
        c->part[i].x.q8.size -= c->part[i + 1].x.q8.size;
}

/* n <= AG_TEXT_CHUNK rows through all layers, at the end of the cache. Of the last layer's
 * rows the last `want` are wanted, with 0 none. */
static void chunk_run(const AgText *t, AgTextWork *w, AgExec *x, AgKv *kv, int n, int want,
                      const AgTap *tap)
{
    Chunk c = {.t = t, .kv = kv, .tap = tap};

    ag_rope_table(w->rope, kv->len, n, t->hd, t->theta);
    cut(&c, w, x, kv->len, n);
    assert(want <= c.part[c.n_part - 1].n);
    c.part[c.n_part - 1].want = want;
    ag_pool_run_all(x->pool, c.n_part, part_run, &c);
    for (int i = 0; i < c.n_part; i++)
        x->flops += c.part[i].x.flops;
    kv->len += n;
}

void ag_text_run(const AgText *t, AgTextWork *w, AgExec *x, AgKv *kv, const int *ids, int n,
                 const float *const *slots, int *slot, float *logits, const AgTap *tap)
{
    assert(n > 0 && kv->len + n <= kv->n_pos);
    ag_kv_reserve(kv, kv->len + n);
    while (n > 0) {
        int n_chunk = (n + AG_TEXT_CHUNK - 1) / AG_TEXT_CHUNK;
        int m = (n + n_chunk - 1) / n_chunk; /* nearly equal: one row alone has other kernels */

        embed(t, w, x, ids, m, slots, slot);
        chunk_run(t, w, x, kv, m, m == n && logits ? 1 : 0, tap);
        ids += m;
        n -= m;
        if (n == 0 && logits) {
            ag_rmsnorm(x, w->y, w->x + (size_t)(m - 1) * (size_t)t->d, t->d, t->norm, 1, t->d,
                       t->eps);
            ag_linear(x, &t->head, AG_EPI_STORE, w->y, t->d, logits, t->vocab, 1);
            ag_tap(tap, "logits", 0, logits, 1, t->vocab);
        }
    }
}

void ag_text_verify(const AgText *t, AgTextWork *w, AgExec *x, AgKv *kv, const int *ids, int n,
                    float *logits)
{
    assert(n > 0 && n <= AG_TEXT_CHUNK && kv->len + n <= kv->n_pos);
    ag_kv_reserve(kv, kv->len + n);
    embed(t, w, x, ids, n, NULL, NULL);
    chunk_run(t, w, x, kv, n, n, NULL);
    ag_rmsnorm(x, w->y, w->x, t->d, t->norm, n, t->d, t->eps);
    ag_linear(x, &t->head, AG_EPI_STORE, w->y, t->d, logits, t->vocab, n);
}
