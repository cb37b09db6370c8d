/*
 * Unit tests of numbers that are easily a little wrong while texts stay plausible: places
 * of patches, the activation's flavour, epsilons. D3, D4, D5 are names of failures that
 * users of neighbouring tools reported.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "libargus/base/cpu.h"
#include "libargus/caption.h"
#include "libargus/context.h"
#include "libargus/vision.h"
#include "tests/gen/modelgen.h"
#include "tests/unit/clip.h"

enum { SIDE = 32, D = 16, FF = 16 };

/* ------------------------------------------------------------------------ */
/* D3                                                                        */

typedef struct Tensor {
    const char *name, *shape;
    int n;
} Tensor;

#define TOWER "model.vision_model."
#define LAYER TOWER "encoder.layers.0."
#define VECTOR(name) {name ".weight", "16", D}, {name ".bias", "16", D}
#define MATRIX(name) {name ".weight", "16,16", D * D}, {name ".bias", "16", D}

/* A tower of one layer whose weights are all 0, but for the positions: row r of the table is
 * r, r, r ... Patches are one pixel, so 32x32 of them make a tile. */
static void write_tower(const char *dir)
{
    static const Tensor t[] = {
        {TOWER "embeddings.position_embedding.weight", "1024,16", SIDE * SIDE * D},
        {TOWER "embeddings.patch_embedding.weight", "16,3,1,1", 3 * D},
        {TOWER "embeddings.patch_embedding.bias", "16", D},
        VECTOR(LAYER "layer_norm1"), VECTOR(LAYER "layer_norm2"),
        MATRIX(LAYER "self_attn.q_proj"), MATRIX(LAYER "self_attn.k_proj"),
        MATRIX(LAYER "self_attn.v_proj"), MATRIX(LAYER "self_attn.out_proj"),
        MATRIX(LAYER "mlp.fc1"), MATRIX(LAYER "mlp.fc2"), VECTOR(TOWER "post_layernorm"),
    };
    static float zero[D * D];
    AgBuf header = {0}, file = {0};
    size_t at = 0;

    for (size_t i = 0; i < AG_COUNT(t); i++) {
        char line[256];
        size_t end = at + 4 * (size_t)t[i].n;
        snprintf(line, sizeof(line), "%c\"%s\":{\"dtype\":\"F32\",\"shape\":[%s],"
                 "\"data_offsets\":[%zu,%zu]}", i ? ',' : '{', t[i].name, t[i].shape, at, end);
        ag_buf_str(&header, line);
        at = end;
    }
    ag_buf_char(&header, '}');
    while (header.size % 8)
        ag_buf_char(&header, ' ');
    for (int i = 0; i < 8; i++) /* little-endian length */
        ag_buf_char(&file, (char)(header.size >> (8 * i)));
    ag_buf_add(&file, header.data, header.size);
    for (int i = 0; i < SIDE * SIDE * D; i++) {
        float row = (float)(i / D);
        ag_buf_add(&file, &row, 4);
    }
    for (size_t i = 1; i < AG_COUNT(t); i++)
        ag_buf_add(&file, zero, 4 * (size_t)t[i].n);
    ag_gen_write(dir, "model.safetensors", file.data, file.size);
    ag_buf_free(&header);
    ag_buf_free(&file);
}

/* Takes [n_patch, d_vis] of the embeddings apart: the row of the table that each patch got. */
static void take_rows(void *opaque, const char *stage, int layer, const float *data, int rows,
                      int cols)
{
    int *row = opaque;

    (void)layer;
    for (int p = 0; p < rows && !strcmp(stage, "embeddings"); p++)
        row[p] = (int)data[(ptrdiff_t)p * cols];
}

static void rows_of(const AgConfig *c, const char *dir, int shifted, int *row)
{
    static uint8_t tile[SIDE * SIDE * 3];
    AgSource src = ag_gen_source(dir);
    AgWeights *w = NULL;
    AgVision *v = NULL;
    AgVisionWork work;
    AgArena a = {0};
    AgExec x = {0};
    AgDsp dsp;
    float *out = ag_malloc(sizeof(float) * SIDE * SIDE * D);
    AgTap tap = {take_rows, row};

    ag_dsp_init(&dsp, argus_cpu_flags());
    CU_ASSERT_EQUAL_FATAL(ag_weights_open(&w, &src, ag_test_log()), 0);
    CU_ASSERT_EQUAL_FATAL(ag_vision_load(&v, w, c, &dsp, shifted, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(ag_weights_check(w, ag_test_log()), 0);
    for (int place = 0; place < 2; place++) { /* measure, then place */
        ag_exec_carve(&x, &a, &dsp, NULL);
        ag_vision_carve(&work, &a, c);
        if (!place)
            a = (AgArena){ag_malloc(a.used), 0, a.used};
    }
    CU_ASSERT_PTR_NOT_NULL_FATAL(a.base);
    ag_vision_run(v, &work, &x, (AgTile){tile, 3 * SIDE}, out, &tap);
    ag_vision_free(&v);
    ag_weights_close(&w);
    ag_source_free(&src);
    ag_free(a.base);
    ag_free(out);
}

static void positions(void)
{
    AgConfig c = {.d_vis = D, .d_vis_ff = FF, .n_vis_layer = 1, .n_vis_head = 1, .tile = SIDE,
                  .patch = 1, .n_patch = SIDE * SIDE, .vis_eps = 1e-6f, .rescale = 1 / 255.0,
                  .mean = {0.5f, 0.5f, 0.5f}, .std = {0.5f, 0.5f, 0.5f}};
    const char *dir = ag_gen_dir("tower");
    int row[SIDE * SIDE], bad = 0;

    write_tower(dir);
    rows_of(&c, dir, 0, row);
    for (int p = 0; p < SIDE * SIDE; p++)
        bad += row[p] != p;
    CU_ASSERT_EQUAL(bad, 0);
    CU_ASSERT_EQUAL(row[1023], 1023);
    rows_of(&c, dir, 1, row); /* 0, 0, 1, 2 ... 30 on each axis, to compare with old texts */
    for (int p = 0; p < SIDE * SIDE; p++)
        bad += row[p] != AG_MAX(p / SIDE - 1, 0) * SIDE + AG_MAX(p % SIDE - 1, 0);
    CU_ASSERT_EQUAL(bad, 0);
    CU_ASSERT_EQUAL(row[1023], 990);
}

/* ------------------------------------------------------------------------ */
/* D4, D5                                                                    */

static double gelu_tanh(double x)
{
    return 0.5 * x * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
}

static void gelu(void)
{
    static const unsigned mask[] = {0, ARGUS_CPU_AVX2, ARGUS_CPU_AVX2 | ARGUS_CPU_AVX512,
                                    ARGUS_CPU_ALL};
    enum { N = 2001 };
    static float y[N];
    AgConfig c;
    AgDsp dsp;

    for (size_t k = 0; k < AG_COUNT(mask); k++) {
        double worst = 0, erf_away = 0;
        ag_dsp_init(&dsp, mask[k] & argus_cpu_flags());
        for (int i = 0; i < N; i++)
            y[i] = (float)(i - N / 2) / 100; /* -10 to 10 */
        dsp.act.gelu(y, N);
        for (int i = 0; i < N; i++) {
            double x = (float)(i - N / 2) / 100;
            worst = fmax(worst, fabs(y[i] - gelu_tanh(x)));
            erf_away = fmax(erf_away, fabs(y[i] - 0.5 * x * (1 + erf(x / sqrt(2)))));
        }
        CU_ASSERT(worst <= 1e-6 * 10);
        CU_ASSERT(erf_away > 4e-4); /* the other flavour is another function */
        /* no tanh above 1, and all of a large negative goes */
        float far[] = {9, 20, 1e4f, 1e10f, -9, -20, -1e4f, -1e10f};
        dsp.act.gelu(far, AG_COUNT(far));
        CU_ASSERT(far[0] == 9 && far[1] == 20 && far[2] == 1e4f && far[3] == 1e10f);
        for (int i = 4; i < 8; i++)
            CU_ASSERT(fabsf(far[i]) <= 1e-6f);
    }
    AgSource s = ag_gen_source(ag_source_path("models/argus-tiny"));
    CU_ASSERT_EQUAL(ag_config_load(&c, &s, ag_test_log()), 0);
    CU_ASSERT(c.vis_eps == 1e-6f && c.txt_eps == 1e-5f && c.rope_theta == 100000);
    ag_source_free(&s);
}

typedef struct Features {
    double x[4096];
    int n;
} Features;

static void take_features(void *opaque, const char *stage, int layer, const float *data, int rows,
                          int cols)
{
    Features *f = opaque;

    (void)layer;
    if (strcmp(stage, "connector") != 0)
        return;
    f->n = AG_MIN(rows * cols, (int)AG_COUNT(f->x));
    for (int i = 0; i < f->n; i++)
        f->x[i] = data[i];
}

/* What the text tower sees of two different pictures is different. */
static void cosine(void)
{
    static Features f[2];
    double ab = 0, aa = 0, bb = 0;
    ArgusRequest r;
    ArgusCaption out;

    argus_request_default(&r);
    r.split = 0;
    r.decoding.max_tokens = 1;
    for (int i = 0; i < 2; i++) {
        static uint8_t white[CLIP_W * CLIP_H * 3];
        ArgusContext *ctx = clip_open();
        ArgusImage im = clip_picture(2);
        ArgusPart part = {ARGUS_PART_IMAGE, NULL, &im};
        memset(white, 255, sizeof(white));
        if (i)
            im.data = white;
        r.parts = &part;
        r.n_part = 1;
        ag_caption_set_tap(ctx, (AgTap){take_features, &f[i]});
        CU_ASSERT_EQUAL_FATAL(argus_describe(ctx, &r, &out), 0);
        argus_caption_free(&out);
        argus_close(&ctx);
    }
    CU_ASSERT(f[0].n == f[1].n && f[0].n > 1000);
    for (int i = 0; i < f[0].n; i++) {
        ab += f[0].x[i] * f[1].x[i];
        aa += f[0].x[i] * f[0].x[i];
        bb += f[1].x[i] * f[1].x[i];
    }
    CU_ASSERT(ab / sqrt(aa * bb) < 0.9);
}

void ag_tests_numerics(void)
{
    static const AgTest tests[] = {
        {"D3 positions of 32x32 patches", positions},
        {"D4 D5 gelu and epsilons", gelu},
        {"D5 two pictures, two features", cosine},
        {NULL, NULL},
    };
    ag_suite("numerics", tests);
}
