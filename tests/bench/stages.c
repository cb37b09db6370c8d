/*
 * One stage after the other, again and again, on a model that stays loaded: our side of
 * compare.py --stages.
 *
 *     stages MODEL WIDTHxHEIGHT QUESTION TOKENS THREADS exact|q8
 *
 * Prints "ready" after a first answer about a computed picture in tiles. Then each line of
 * standard input asks for one JSON line: "ask" for prefill and TOKENS tokens about that
 * picture, whose image tokens are known, with a first word that is not the one before, so
 * that nothing of the KV cache can be used again; "tiles" for the vision of two pictures
 * of one tile.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libargus/argus.h"
#include "tools/formula.h"

enum { TILES = 2 };

typedef struct Bench {
    ArgusContext *still, *tiles;
    ArgusImage picture, tile[TILES];
    const char *question;
    int n_token, round;
} Bench;

static void fail(const char *what)
{
    fprintf(stderr, "stages: %s\n", what);
    exit(1);
}

static void say(void *opaque, int level, const char *message)
{
    (void)opaque;
    if (level <= ARGUS_LOG_WARNING)
        fprintf(stderr, "stages: %s\n", message);
}

static ArgusImage formula(int width, int height, uint32_t scene, uint32_t time)
{
    uint8_t *p = malloc((size_t)width * (size_t)height * 3);

    if (!p)
        fail("out of memory");
    ag_formula_image(p, width, height, scene, time);
    return (ArgusImage){p, (ptrdiff_t)width * 3, width, height, ARGUS_RGB24};
}

static void describe(ArgusContext *ctx, const ArgusPart *parts, size_t n, int split, int n_token)
{
    ArgusRequest r;
    ArgusCaption c;

    argus_request_default(&r);
    r.parts = parts;
    r.n_part = n;
    r.split = split;
    r.decoding.max_tokens = n_token;
    if (argus_describe(ctx, &r, &c) < 0)
        fail("no answer");
    argus_caption_free(&c);
}

static void ask(Bench *b)
{
    const ArgusPart parts[] = {
        {ARGUS_PART_TEXT, b->round++ % 2 ? "Yes" : "No", NULL},
        {ARGUS_PART_IMAGE, NULL, &b->picture},
        {ARGUS_PART_TEXT, b->question, NULL},
    };
    ArgusStats s, t;

    argus_stats(b->still, &s);
    describe(b->still, parts, 3, 1, b->n_token);
    argus_stats(b->still, &t);
    int64_t passes = t.n_forward - s.n_forward;
    printf("{\"prompt\": %d, \"tiles\": %d, \"prefill_s\": %.6f, \"token_s\": %.6f}\n",
           (int)(t.n_prompt - s.n_prompt), (int)(t.n_tile - s.n_tile),
           (double)(t.us_prefill - s.us_prefill) * 1e-6,
           (double)(t.us_decode - s.us_decode) * 1e-6 / (double)(passes ? passes : 1));
}

static void tiles(Bench *b)
{
    ArgusPart parts[TILES];
    ArgusStats s, t;

    for (int i = 0; i < TILES; i++) {
        uint8_t *p = (uint8_t *)b->tile[i].data;
        for (ptrdiff_t k = 0; k < 16 * b->tile[i].stride; k++) /* else its image tokens are known */
            p[k] ^= 255;
        parts[i] = (ArgusPart){ARGUS_PART_IMAGE, NULL, &b->tile[i]};
    }
    argus_stats(b->tiles, &s);
    describe(b->tiles, parts, TILES, 0, 1);
    argus_stats(b->tiles, &t);
    printf("{\"tiles\": %d, \"vision_s\": %.6f}\n", (int)(t.n_tile - s.n_tile),
           (double)(t.us_vision - s.us_vision) * 1e-6);
}

int main(int argc, char **argv)
{
    Bench b = {0};
    ArgusModelSettings ms;
    ArgusModelInfo info;
    ArgusSettings s;
    ArgusModel *m;
    char line[32];
    int w, h;

    if (argc != 7 || sscanf(argv[2], "%dx%d", &w, &h) != 2 || w < 1 || h < 1 || w > 8192 || h > 8192)
        fail("expected MODEL WIDTHxHEIGHT QUESTION TOKENS THREADS exact|q8");
    argus_model_default_settings(&ms);
    ms.logger.callback = say;
    ms.model = argv[1];
    ms.precision = strcmp(argv[6], "q8") ? ARGUS_PRECISION_EXACT : ARGUS_PRECISION_Q8;
    argus_default_settings(&s);
    s.logger = ms.logger;
    s.threads = (int)strtol(argv[5], NULL, 10);
    if (argus_model_open(&m, &ms) < 0 || argus_open(&b.still, m, &s) < 0 ||
        argus_open(&b.tiles, m, &s) < 0)
        return 1;
    argus_model_info(m, &info);
    b.question = argv[3];
    b.n_token = (int)strtol(argv[4], NULL, 10);
    b.picture = formula(w, h, 1, 0);
    for (int i = 0; i < TILES; i++)
        b.tile[i] = formula(info.tile_size, info.tile_size, 9, (uint32_t)i);
    const ArgusPart first = {ARGUS_PART_IMAGE, NULL, &b.picture};
    describe(b.still, &first, 1, 1, 1);
    for (puts("ready"); fflush(stdout), fgets(line, sizeof(line), stdin);) {
        if (!strncmp(line, "ask", 3))
            ask(&b);
        else
            tiles(&b);
    }
    free((void *)b.picture.data);
    for (int i = 0; i < TILES; i++)
        free((void *)b.tile[i].data);
    argus_close(&b.still);
    argus_close(&b.tiles);
    argus_model_close(&m);
    return 0;
}
