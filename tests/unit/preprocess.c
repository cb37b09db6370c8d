/*
 * Unit tests of libargus/preprocess.c and dsp/resample.c. Expected hashes were
 * made by transformers 4.54.0 (slow Idefics3 processor, channels last) with
 * Pillow 13.0.0 on pictures of tests/gen/formula.c.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tests/unit/unit.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "libargus/base/mem.h"
#include "libargus/base/sha256.h"
#include "libargus/preprocess.h"
#include "tools/formula.h"

static const AgConfig config = {
    .tile = 512,
    .longest_edge = 2048,
    .rescale = 0.00392156862745098,
    .mean = {0.5f, 0.5f, 0.5f},
    .std = {0.5f, 0.5f, 0.5f},
};

enum { TILE_SIZE = 512 * 512 * 3, MAX_TILES = 17 };

static int is_hash(const void *data, size_t n, const char *want)
{
    AgSha256 s;
    char hex[65];

    ag_sha256_init(&s);
    ag_sha256_add(&s, data, n);
    ag_sha256_hex(&s, hex);
    return want && !strcmp(hex, want);
}

static uint8_t *formula(int w, int h, uint32_t scene)
{
    uint8_t *p = malloc((size_t)w * (size_t)h * 3);

    if (!p)
        abort();
    ag_formula_image(p, w, h, scene, 0);
    return p;
}

/* Tiles of a picture on one thread and plain C, or as x says; freed by the caller. */
static uint8_t *tiles_of(AgExec *x, const ArgusImage *im, int split, int *n_tile)
{
    AgPlan p = {0};
    uint8_t *tiles = calloc(MAX_TILES, TILE_SIZE), *pixels = calloc(MAX_TILES, TILE_SIZE);

    if (!tiles || !pixels)
        abort();
    CU_ASSERT_EQUAL_FATAL(ag_preprocess_plan(&p, &config, im->width, im->height, split), 0);
    CU_ASSERT_EQUAL_FATAL(ag_preprocess_size(&config, &p), (size_t)p.n_tile * TILE_SIZE);
    CU_ASSERT_EQUAL_FATAL(ag_preprocess_run(x, &config, &p, im, pixels), 0);
    for (int i = 0; i < p.n_tile; i++) {
        AgTile t = ag_preprocess_tile(&config, &p, pixels, i);
        for (int y = 0; y < config.tile; y++)
            memcpy(tiles + i * TILE_SIZE + y * config.tile * 3, t.data + y * t.stride,
                   (size_t)config.tile * 3);
    }
    free(pixels);
    *n_tile = p.n_tile;
    return tiles;
}

static int plan_is(int w, int h, int w1, int h1, int w2, int h2, int rows, int cols)
{
    AgPlan p = {0};

    return ag_preprocess_plan(&p, &config, w, h, 1) == 0 && p.w1 == w1 && p.h1 == h1 &&
           p.w2 == w2 && p.h2 == h2 && p.rows == rows && p.cols == cols &&
           p.n_tile == rows * cols + 1;
}

/* --- everything of tests/refs/preprocess.json */

static json_t *references(void)
{
    json_error_t e;
    json_t *j = json_load_file(ag_source_path("tests/refs/preprocess.json"), 0, &e);

    CU_ASSERT_PTR_NOT_NULL_FATAL(j);
    return j;
}

static int item(json_t *array, size_t i)
{
    return (int)json_integer_value(json_array_get(array, i));
}

static void reference_sizes(void)
{
    json_t *root = references(), *sizes = json_object_get(root, "sizes"), *s;
    size_t i, good = 0;

    json_array_foreach(sizes, i, s)
        good += (size_t)plan_is(item(s, 0), item(s, 1), item(s, 2), item(s, 3), item(s, 4),
                                item(s, 5), item(s, 6), item(s, 7));
    CU_ASSERT_EQUAL(json_array_size(sizes), 304);
    CU_ASSERT_EQUAL(good, 304);
    json_decref(root);
}

static int number(json_t *object, const char *key)
{
    return (int)json_integer_value(json_object_get(object, key));
}

/* Frames of one picture, split or not, that have the right hash. */
static size_t frames_right(AgExec *x, const ArgusImage *im, json_t *hashes, int split)
{
    int n_tile = 0;
    uint8_t *tiles = tiles_of(x, im, split, &n_tile);
    size_t good = 0, n = json_array_size(hashes);

    CU_ASSERT_EQUAL((size_t)n_tile, n);
    for (size_t i = 0; i < n && i < MAX_TILES; i++)
        good += (size_t)is_hash(tiles + i * TILE_SIZE, TILE_SIZE,
                                json_string_value(json_array_get(hashes, i)));
    free(tiles);
    return good;
}

static void reference_frames(void)
{
    json_t *root = references(), *f;
    AgDsp *dsp = calloc(1, sizeof(*dsp));
    AgExec x = {.dsp = dsp, .n_thread = 1}; /* the best kernels; plain C has the cases below */
    size_t i, good = 0;

    ag_dsp_init(dsp, ARGUS_CPU_ALL);
    json_array_foreach(json_object_get(root, "frames"), i, f) {
        int w = number(f, "width"), h = number(f, "height");
        uint8_t *p = formula(w, h, (uint32_t)number(f, "scene"));
        ArgusImage im = {p, (ptrdiff_t)w * 3, w, h, ARGUS_RGB24};

        CU_ASSERT(is_hash(p, (size_t)w * (size_t)h * 3,
                          json_string_value(json_object_get(f, "sha256"))));
        good += frames_right(&x, &im, json_object_get(f, "split"), 1);
        good += frames_right(&x, &im, json_object_get(f, "unsplit"), 0);
        free(p);
    }
    CU_ASSERT_EQUAL(i, 12);
    CU_ASSERT_EQUAL(good, 168);
    free(dsp);
    json_decref(root);
}

/* --- reported cases */

static void p1_grid_of_1080p(void)
{
    CU_ASSERT(plan_is(1920, 1080, 2048, 1152, 2048, 1536, 3, 4));
}

/* Crops and global view are of the tile-multiple picture; nothing is padded. */
static void p2_tiles_of_1080p(void)
{
    uint8_t *p = formula(1920, 1080, 40), *big = malloc((size_t)2048 * 1536 * 3), *view;
    ArgusImage im = {p, 1920 * 3, 1920, 1080, ARGUS_RGB24};
    int n_tile = 0;

    for (int i = 0; i < 64 * 64; i++) /* a checker of single pixels in the corner */
        memset(p + (i / 64 * 1920 + i % 64) * 3, (i / 64 + i % 64) & 1 ? 255 : 0, 3);
    uint8_t *tiles = tiles_of(NULL, &im, 1, &n_tile);
    CU_ASSERT_EQUAL(n_tile, 13);
    CU_ASSERT(is_hash(tiles, 13 * TILE_SIZE,
                      "4988efea0b11e75230b9f3bd80105a24d8141f7212e68fc77072b66b161109d7"));
    for (int t = 0; t < 12; t++) /* put the crops together again */
        for (int y = 0; y < 512; y++)
            memcpy(big + ((t / 4 * 512 + y) * 2048 + t % 4 * 512) * 3,
                   tiles + t * TILE_SIZE + y * 512 * 3, 512 * 3);
    view = malloc(TILE_SIZE);
    CU_ASSERT_EQUAL(ag_resample(NULL, view, 512, 512, big, 2048, 1536, 2048 * 3), 0);
    CU_ASSERT(!memcmp(view, tiles + 12 * TILE_SIZE, TILE_SIZE));
    free(view);
    free(tiles);
    free(big);
    free(p);
}

static void p4_small_picture(void)
{
    AgPlan p = {0};

    CU_ASSERT(plan_is(386, 386, 2048, 2048, 2048, 2048, 4, 4));
    CU_ASSERT_EQUAL(ag_preprocess_plan(&p, &config, 386, 386, 0), 0);
    CU_ASSERT(p.n_tile == 1 && p.rows == 0 && p.cols == 0 && p.w2 == 512 && p.h2 == 512);
}

typedef struct Whole {
    int w, h;
    uint32_t scene;
    int split, n_tile;
    const char *sha256; /* of all tiles */
} Whole;

static int whole_right(AgExec *x, const Whole *c)
{
    uint8_t *p = formula(c->w, c->h, c->scene);
    ArgusImage im = {p, (ptrdiff_t)c->w * 3, c->w, c->h, ARGUS_RGB24};
    int n_tile = 0;
    uint8_t *tiles = tiles_of(x, &im, c->split, &n_tile);
    int good = n_tile == c->n_tile && is_hash(tiles, (size_t)n_tile * TILE_SIZE, c->sha256);

    free(tiles);
    free(p);
    return good;
}

static void p5_extreme_shapes(void)
{
    static const Whole w = {20000, 1, 41, 1, 5,
        "92aa903d475b81c072a3ed77ee9b1f366d62634296fc68f443110bfdb86c201e"};
    static const Whole h = {1, 20000, 42, 1, 5,
        "d5dad41c2704dbc24ef493b62d79aa25ac0e061237fe4ce7c22f6a6f1abe4c97"};
    static const Whole two = {2, 1, 43, 1, 9,
        "2c5fe13817f4e10f66e1c4265b5323051197f56d98d8bd93787ece866d29c6e9"};
    AgPlan p = {0};

    CU_ASSERT(plan_is(20000, 1, 2048, 1, 2048, 512, 1, 4));
    CU_ASSERT(plan_is(1, 20000, 1, 2048, 512, 2048, 4, 1));
    CU_ASSERT(plan_is(1, 1, 2048, 2048, 2048, 2048, 4, 4));
    CU_ASSERT(plan_is(2, 1, 2048, 1024, 2048, 1024, 2, 4));
    CU_ASSERT(plan_is(AG_MAX_PIXELS, 1, 2048, 1, 2048, 512, 1, 4));
    CU_ASSERT(plan_is(1, AG_MAX_PIXELS, 1, 2048, 512, 2048, 4, 1));
    CU_ASSERT(whole_right(NULL, &w));
    CU_ASSERT(whole_right(NULL, &h));
    CU_ASSERT(whole_right(NULL, &two));
    CU_ASSERT_EQUAL(ag_preprocess_plan(&p, &config, 0, 1, 1), ARGUS_ERR(EINVAL));
    CU_ASSERT_EQUAL(ag_preprocess_plan(&p, &config, 46340, 46340, 1), ARGUS_ERR(EINVAL));
    CU_ASSERT_EQUAL(p.n_tile, 0);
}

/* The filter's table of one very wide row is made in turns. */
static void x3_wide_row(void)
{
    enum { W = 600000, OUT = 900 };
    uint8_t *p = malloc((size_t)W * 3), *out = malloc(OUT * 3);
    int i;

    for (i = 0; i < W; i++) /* a third of each colour, so that a table's edge would show */
        memset(p + (size_t)i * 3, i < W / 3 ? 10 : i < W / 3 * 2 ? 200 : 90, 3);
    CU_ASSERT_EQUAL(ag_resample(NULL, out, OUT, 1, p, W, 1, (ptrdiff_t)W * 3), 0);
    for (i = 0; i < OUT; i++) {
        int at = i % (OUT / 3), want = i < OUT / 3 ? 10 : i < OUT / 3 * 2 ? 200 : 90;
        if (at >= 3 && at < OUT / 3 - 3 && out[i * 3 + 2] != want)
            break;
    }
    CU_ASSERT_EQUAL(i, OUT);
    free(out);
    free(p);
}

/* Both pass orders, single passes, up, down and copies against Pillow. */
static void p7_resample(void)
{
    static const struct {
        int w, h, out_w, out_h;
        uint32_t scene;
        const char *sha256;
    } t[] = {
        {300, 200, 100, 70, 50, "f77499f8695a39739d6675362dbeb6cfcf584979c75d7a1e9d4bb96dc47224c9"},
        {40, 400, 30, 100, 51, "0ad0e9c798470c6dfe288d52aa18663765ae4e0e8027ccd79b5880016576c3b2"},
        {40, 400, 30, 379, 51, "022c0b19d6414cdb0cc12aa14bd4e9e4d90b72f1866939129fe8e814d5e9793b"},
        {40, 400, 30, 381, 51, "5814b14d9f890cd2aa6782731ada77ed702ac63c63c2d25b1f656b52e6d49f96"},
        {300, 200, 300, 70, 52, "59a2c91d0d2cee5f2b24d65b6d42c9899f2c5ef3e7103a1c4af1706d214d3b41"},
        {300, 200, 100, 200, 53,
         "4501d66f047845e62d41777dfcd6b0b28035aa407815ae5bc9054c86fb12df8b"},
        {17, 13, 100, 90, 54, "2d11ddf103e84a0f1e3cd07fb8b035192098c8dd93f5268985f90abbb8e236e5"},
        {2000, 3, 7, 3, 55, "d6c28bb05f7d92e591d91ff0def6b4495a817398a11f5c310a9c7f209442c411"},
        {5, 3, 5, 3, 56, "cdb34cdab103ae720fbc9f3c35dfa00e0a9035410f3c20ea18bd72b4e681ef61"},
    };

    for (size_t i = 0; i < AG_COUNT(t); i++) {
        size_t n = (size_t)t[i].out_w * (size_t)t[i].out_h * 3;
        uint8_t *p = formula(t[i].w, t[i].h, t[i].scene), *out = malloc(n + 1);

        out[n] = 77;
        CU_ASSERT_EQUAL(ag_resample(NULL, out, t[i].out_w, t[i].out_h, p, t[i].w, t[i].h,
                                    (ptrdiff_t)t[i].w * 3), 0);
        CU_ASSERT(is_hash(out, n, t[i].sha256));
        CU_ASSERT_EQUAL(out[n], 77);
        free(out);
        free(p);
    }
}

/* Grey goes to three channels first; alpha has no say (P10); rows may go up. */
static void i10_p10_formats(void)
{
    enum { W = 40, H = 30 };
    uint8_t rgb[W * H * 3], rgba[W * H * 4], grey[W * H];
    ArgusImage t[] = {
        {rgb, W * 3, W, H, ARGUS_RGB24},
        {rgba, W * 4, W, H, ARGUS_RGBA},
        {grey, W, W, H, ARGUS_GRAY8},
        {rgb + (H - 1) * W * 3, -W * 3, W, H, ARGUS_RGB24},
    };
    uint8_t *tiles[AG_COUNT(t)];
    int n_tile = 0, same = 1;

    ag_formula_image(rgb, W, H, 57, 0);
    for (int i = 0; i < W * H; i++) {
        grey[i] = rgb[i * 3] = rgb[i * 3 + 1] = rgb[i * 3 + 2];
        memcpy(rgba + i * 4, rgb + i * 3, 3);
        rgba[i * 4 + 3] = (uint8_t)i;
    }
    for (size_t i = 0; i < AG_COUNT(t); i++)
        tiles[i] = tiles_of(NULL, &t[i], 0, &n_tile);
    CU_ASSERT(!memcmp(tiles[0], tiles[1], TILE_SIZE));
    CU_ASSERT(!memcmp(tiles[0], tiles[2], TILE_SIZE));
    for (int y = 0; y < 512; y++) /* the filter is symmetric: turned over */
        same &= !memcmp(tiles[0] + y * 512 * 3, tiles[3] + (511 - y) * 512 * 3, 512 * 3);
    CU_ASSERT(same);
    for (size_t i = 0; i < AG_COUNT(t); i++)
        free(tiles[i]);
}

static void p11_unsplit(void)
{
    static const Whole square = {512, 512, 46, 0, 1,
        "b979bac366f3cba66b124c12c5704dbee53978d0e5a947402aaa0f9351bc9b89"};
    static const Whole wide = {300, 200, 47, 0, 1,
        "a7ec4bd6ccae1f37e2d915d8755c6802bdabfea1e7843c3b7275310cb9b370e7"};

    CU_ASSERT(whole_right(NULL, &square));
    CU_ASSERT(whole_right(NULL, &wide));
}

static void p12_two_grids(void)
{
    static const Whole c = {1000, 333, 44, 1, 9,
        "f0477b3c318d57b1ba397313e8d7f48512a0bd0627828149b3367f53f364e290"};

    CU_ASSERT(plan_is(1920, 1080, 2048, 1152, 2048, 1536, 3, 4));
    CU_ASSERT(plan_is(1000, 333, 2048, 682, 2048, 1024, 2, 4));
    CU_ASSERT(whole_right(NULL, &c));
}

/* --- what does not depend on the picture */

/* A model whose pictures are not larger than a tile: no grid. */
static void one_tile_model(void)
{
    AgConfig c = config;
    AgPlan p = {0};

    c.longest_edge = 512;
    CU_ASSERT_EQUAL(ag_preprocess_plan(&p, &c, 640, 480, 1), 0);
    CU_ASSERT(p.w1 == 512 && p.h1 == 384 && p.w2 == 512 && p.h2 == 512);
    CU_ASSERT(p.n_tile == 1 && p.rows == 0 && p.cols == 0);
    c.longest_edge = 5000; /* the reference stops at 4096 */
    CU_ASSERT_EQUAL(ag_preprocess_plan(&p, &c, 640, 480, 1), 0);
    CU_ASSERT(p.w1 == 4096 && p.h1 == 3072 && p.rows == 6 && p.cols == 8 && p.n_tile == 49);
}

/* A phone's screen: the global view and the first resize run vertically first. */
static const Whole tall = {400, 900, 45, 1, 9,
        "dc4e6d0f43e6b410859fc5867264fca732659e2d20f2d94fd427efcbb524ddc6"};

static void threads_and_tiers(void)
{
    static const unsigned cpu[] = {0, ARGUS_CPU_AVX2 | ARGUS_CPU_NEON, ARGUS_CPU_ALL};

    for (size_t i = 0; i < AG_COUNT(cpu); i++) {
        for (int n = cpu[i] ? 1 : 3; n <= 3; n++) {
            AgDsp *dsp = calloc(1, sizeof(*dsp));
            AgExec x = {.dsp = dsp, .n_thread = n};

            ag_dsp_init(dsp, cpu[i]);
            CU_ASSERT_EQUAL_FATAL(ag_pool_open(&x.pool, n), 0);
            CU_ASSERT(whole_right(&x, &tall));
            ag_pool_close(&x.pool);
            free(dsp);
        }
    }
}

/* Every allocation fails once; nothing is lost (under ASan). */
static void no_memory(void)
{
    uint8_t *p = malloc(30 * 70), *tiles = malloc(MAX_TILES * TILE_SIZE);
    ArgusImage im = {p, 30, 30, 70, ARGUS_GRAY8};
    AgConfig c = config;
    AgPlan plan = {0};
    int err = 0, n = 0;

    memset(p, 5, 30 * 70);
    c.tile = 64;
    c.longest_edge = 256;
    CU_ASSERT_EQUAL(ag_preprocess_plan(&plan, &c, 30, 70, 1), 0);
    do {
        ag_mem_fail_after(n++);
        err = ag_preprocess_run(NULL, &c, &plan, &im, tiles);
        ag_mem_fail_after(-1);
        CU_ASSERT(err == 0 || err == ARGUS_ERR(ENOMEM));
    } while (err < 0 && n < 100);
    CU_ASSERT(n > 10 && n < 100);
    CU_ASSERT_EQUAL(tiles[0], 5);
    free(tiles);
    free(p);
}

static void lut(void)
{
    float t[3][256];

    ag_preprocess_lut(t, &config);
    CU_ASSERT_EQUAL(t[0][0], -1.0f);
    CU_ASSERT_EQUAL(t[2][255], 1.0f);
    /* three roundings to float32: rescaled, less mean, over std */
    CU_ASSERT_EQUAL(t[1][100], -0x1.b9b9b8p-3f);
    CU_ASSERT_EQUAL(t[1][128], 0x1.0102p-8f);
}

void ag_tests_preprocess(void)
{
    static const AgTest tests[] = {
        {"304 sizes of the reference", reference_sizes},
        {"168 frames of the reference", reference_frames},
        {"P1 grid of 1920x1080", p1_grid_of_1080p},
        {"P2 tiles of 1920x1080", p2_tiles_of_1080p},
        {"P4 small picture", p4_small_picture},
        {"P5 extreme shapes", p5_extreme_shapes},
        {"X3 very wide row", x3_wide_row},
        {"P7 resample", p7_resample},
        {"I10 P10 formats", i10_p10_formats},
        {"P11 unsplit", p11_unsplit},
        {"P12 two grids", p12_two_grids},
        {"one-tile model", one_tile_model},
        {"threads and tiers", threads_and_tiers},
        {"no memory", no_memory},
        {"lut", lut},
        {NULL, NULL},
    };
    ag_suite("preprocess", tests);
}
