/*
 * Writes a synthetic checkpoint of the Idefics3 architecture, the same bytes
 * everywhere: weights that look trained to the arithmetic (every layer adds
 * something, logits spread) and mean nothing. For parity and speed without a
 * download.
 *
 *     synth_checkpoint SHAPE OUT.safetensors [--seed N]   SHAPE: tiny 256m 500m
 *
 * Element i (from 1) of a tensor is BF16, rounded to nearest even, of
 *
 *     v = g * u                   VEC: embeddings, biases
 *     v = g * sqrt(3 / n_in) * u  MAT: what multiplies n_in inputs
 *     v = 1 + g * u               NORM: gains of norms
 *
 * u in [-1, 1): the top 24 bits of splitmix64 at step i, started with
 * FNV-1a(tensor name) ^ seed. Needs doubles evaluated as doubles.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_SEED = 1, MAX_TENSOR = 1024, MAX_NAME = 96, MAX_ENTRY = 192 };

typedef enum Kind { MAT, VEC, NORM } Kind;

typedef struct Shape {
    const char *name;
    int vocab, d_txt, d_ff, n_layer, n_head, n_kv, head_dim;
    int d_vis, d_vis_ff, n_vis_layer, tile, patch, shuffle;
} Shape;

static const Shape shapes[] = {
    {"tiny", 49280, 96, 160, 2, 6, 2, 16, 64, 128, 2, 64, 16, 2},
    {"256m", 49280, 576, 1536, 30, 9, 3, 64, 768, 3072, 12, 512, 16, 4},
    {"500m", 49280, 960, 2560, 32, 15, 5, 64, 768, 3072, 12, 512, 16, 4},
};

typedef struct Tensor {
    char name[MAX_NAME];
    int dim[4], n_dim;
    Kind kind;
    double g;
} Tensor;

static Tensor tensors[MAX_TENSOR];
static size_t n_tensor;

/* cols 0: one dimension */
static Tensor *add(const char *prefix, const char *name, const char *suffix, Kind kind, double g,
                   int rows, int cols)
{
    if (n_tensor == MAX_TENSOR)
        abort();
    Tensor *t = &tensors[n_tensor++];
    t->dim[0] = rows;
    t->dim[1] = cols;
    t->n_dim = cols ? 2 : 1;
    t->kind = kind;
    t->g = g;
    snprintf(t->name, sizeof(t->name), "%s%s%s", prefix, name, suffix);
    return t;
}

static void add_mat(const char *prefix, const char *name, double g, int rows, int cols)
{
    add(prefix, name, ".weight", MAT, g, rows, cols);
}

static void add_linear(const char *prefix, const char *name, double g, double g_bias, int rows,
                       int cols)
{
    add(prefix, name, ".weight", MAT, g, rows, cols);
    add(prefix, name, ".bias", VEC, g_bias, rows, 0);
}

static void add_layer_norm(const char *prefix, const char *name, int n)
{
    add(prefix, name, ".weight", NORM, 0.125, n, 0);
    add(prefix, name, ".bias", VEC, 0.125, n, 0);
}

static void add_text(const Shape *s)
{
    const char *txt = "model.text_model.";
    int d = s->d_txt, q = s->n_head * s->head_dim, kv = s->n_kv * s->head_dim;
    char p[64];

    add_mat("", "lm_head", 4.0, s->vocab, d);
    add(txt, "embed_tokens", ".weight", VEC, 0.125, s->vocab, d);
    add(txt, "norm", ".weight", NORM, 0.125, d, 0);
    for (int i = 0; i < s->n_layer; i++) {
        snprintf(p, sizeof(p), "%slayers.%d.", txt, i);
        add(p, "input_layernorm", ".weight", NORM, 0.125, d, 0);
        add(p, "post_attention_layernorm", ".weight", NORM, 0.125, d, 0);
        add_mat(p, "self_attn.q_proj", 1.75, q, d);
        add_mat(p, "self_attn.k_proj", 1.75, kv, d);
        add_mat(p, "self_attn.v_proj", 1.0, kv, d);
        add_mat(p, "self_attn.o_proj", 0.125, d, q);
        add_mat(p, "mlp.gate_proj", 1.25, s->d_ff, d);
        add_mat(p, "mlp.up_proj", 1.0, s->d_ff, d);
        add_mat(p, "mlp.down_proj", 0.125, d, s->d_ff);
    }
}

static void add_vision(const Shape *s)
{
    const char *vis = "model.vision_model.";
    int d = s->d_vis, grid = s->tile / s->patch;
    char p[64];

    Tensor *patch = add(vis, "embeddings.patch_embedding", ".weight", MAT, 0.25, d, 3);
    patch->dim[2] = patch->dim[3] = s->patch;
    patch->n_dim = 4;
    add(vis, "embeddings.patch_embedding", ".bias", VEC, 0.03125, d, 0);
    add(vis, "embeddings.position_embedding", ".weight", VEC, 0.125, grid * grid, d);
    add_layer_norm(vis, "post_layernorm", d);
    for (int i = 0; i < s->n_vis_layer; i++) {
        snprintf(p, sizeof(p), "%sencoder.layers.%d.", vis, i);
        add_layer_norm(p, "layer_norm1", d);
        add_layer_norm(p, "layer_norm2", d);
        add_linear(p, "self_attn.q_proj", 1.75, 0.125, d, d);
        add_linear(p, "self_attn.k_proj", 1.75, 0.125, d, d);
        add_linear(p, "self_attn.v_proj", 1.0, 0.125, d, d);
        add_linear(p, "self_attn.out_proj", 0.0625, 0.015625, d, d);
        add_linear(p, "mlp.fc1", 1.0, 0.125, s->d_vis_ff, d);
        add_linear(p, "mlp.fc2", 0.0625, 0.015625, d, s->d_vis_ff);
    }
    add_mat("", "model.connector.modality_projection.proj", 0.125, s->d_txt,
            d * s->shuffle * s->shuffle);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const Tensor *)a)->name, ((const Tensor *)b)->name);
}

/* Product of the dimensions from one on. */
static uint64_t count(const Tensor *t, int from)
{
    uint64_t n = 1;

    for (int i = from; i < t->n_dim; i++)
        n *= (uint64_t)t->dim[i];
    return n;
}

static void write_header(FILE *f)
{
    static char text[MAX_TENSOR * MAX_ENTRY];
    uint64_t offset = 0;
    size_t n = (size_t)sprintf(text, "{\"__metadata__\":{\"format\":\"pt\"}");

    for (size_t k = 0; k < n_tensor; k++) {
        const Tensor *t = &tensors[k];
        uint64_t end = offset + 2 * count(t, 0);

        n += (size_t)sprintf(text + n, ",\"%s\":{\"dtype\":\"BF16\",\"shape\":[", t->name);
        for (int i = 0; i < t->n_dim; i++)
            n += (size_t)sprintf(text + n, "%s%d", i ? "," : "", t->dim[i]);
        n += (size_t)sprintf(text + n, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", offset,
                             end);
        offset = end;
    }
    text[n++] = '}';
    while (n % 8)
        text[n++] = ' ';
    for (int i = 0; i < 8; i++)
        putc((int)((uint64_t)n >> (8 * i) & 0xFF), f);
    fwrite(text, 1, n, f);
}

static uint64_t splitmix64(uint64_t start, uint64_t step)
{
    uint64_t z = start + step * 0x9E3779B97F4A7C15u;

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static uint32_t bf16(float v)
{
    uint32_t bits;

    memcpy(&bits, &v, sizeof(bits));
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}

static void write_values(FILE *f, const Tensor *t, uint64_t seed)
{
    static unsigned char buf[1 << 16];
    uint64_t start = 0xCBF29CE484222325u, n = count(t, 0);
    double scale = t->kind == MAT ? t->g * sqrt(3.0 / (double)count(t, 1)) : t->g;
    size_t used = 0;

    for (const char *c = t->name; *c; c++)
        start = (start ^ (unsigned char)*c) * 0x100000001B3u;
    for (uint64_t i = 1; i <= n; i++) {
        int64_t top = (int64_t)(splitmix64(start ^ seed, i) >> 40) - (1 << 23);
        double v = (double)top * 0x1p-23 * scale;
        uint32_t b = bf16((float)(t->kind == NORM ? 1.0 + v : v));

        buf[used++] = (unsigned char)(b & 0xFF);
        buf[used++] = (unsigned char)(b >> 8);
        if (used == sizeof(buf) || i == n) {
            fwrite(buf, 1, used, f);
            used = 0;
        }
    }
}

int main(int argc, char **argv)
{
    const Shape *s = NULL;
    uint64_t seed = DEFAULT_SEED;

    for (size_t i = 0; argc > 2 && i < sizeof(shapes) / sizeof(shapes[0]); i++)
        if (!strcmp(argv[1], shapes[i].name))
            s = &shapes[i];
    if (!s || (argc != 3 && (argc != 5 || strcmp(argv[3], "--seed") != 0))) {
        fprintf(stderr, "usage: synth_checkpoint tiny|256m|500m OUT.safetensors [--seed N]\n");
        return 2;
    }
    if (argc == 5)
        seed = strtoull(argv[4], NULL, 10);
    add_text(s);
    add_vision(s);
    qsort(tensors, n_tensor, sizeof(tensors[0]), by_name);

    FILE *f = fopen(argv[2], "wb");
    if (!f) {
        perror(argv[2]);
        return 1;
    }
    write_header(f);
    for (size_t k = 0; k < n_tensor; k++)
        write_values(f, &tensors[k], seed);
    int bad = ferror(f);
    if (fclose(f) || bad) {
        fprintf(stderr, "%s: write failed\n", argv[2]);
        return 1;
    }
    return 0;
}
