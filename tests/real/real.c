/*
 * The published weights against published facts: real FACTS.json MODEL-DIRECTORY.
 *
 * 1. Every file of the directory is compared with the model's manifest.
 * 2. A computed picture is asked about; the length of the prompt is compared.
 * 3. The answer's text is compared, once with the patch positions as trained and once with
 *    those of transformers 4.55.0 to 4.57.6, since the text's origin names no version.
 *
 * Exit status: 0 if 1 and 2 are right, 1 if not; 3 is told and does not count.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "libargus/argus.h"
#include "libargus/base/sha256.h"

#define PI 3.14159265358979323846

typedef struct Facts {
    const char *manifest, *question, *text, *picture; /* picture: sha256 of its bytes */
    int size, n_prompt, max_tokens;
} Facts;

static void say(void *opaque, int level, const char *message)
{
    (void)opaque;
    printf("%s%s\n", level == ARGUS_LOG_ERROR ? "error: " : "", message);
}

static const ArgusLogger log_out = {say, NULL};

static int number(const json_t *o, const char *key)
{
    return (int)json_integer_value(json_object_get(o, key));
}

static const char *text(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

static int read_facts(Facts *f, const json_t *o)
{
    *f = (Facts){text(o, "manifest"), text(o, "question"), text(o, "text"), text(o, "picture_sha256"),
                 number(o, "size"), number(o, "n_prompt"), number(o, "max_tokens")};
    return f->manifest && f->question && f->text && f->picture && f->size > 0 && f->size <= 4096 &&
           f->n_prompt > 0 && f->max_tokens > 0;
}

/* 1 if all that is needed is there, and nothing is other than published. */
static int verify(const char *name, const char *dir)
{
    ArgusManifests *list;
    char path[4096];
    int n_bad = 0, n_ok = 0;

    if (argus_manifests_open(&list, &log_out) < 0)
        return 0;
    const ArgusManifest *m = argus_manifests_find(list, name);
    if (!m)
        printf("error: %s: no manifest\n", name);
    for (int i = 0; m && i < m->n_file; i++) {
        const ArgusManifestFile *f = &m->files[i];
        snprintf(path, sizeof(path), "%s/%s", dir, f->name);
        int err = argus_manifest_check(f, path, 1, &log_out);
        if (err == ARGUS_ERR(ENOENT) && f->needed)
            printf("error: %s: expected %lld bytes, found no such file\n", path, (long long)f->size);
        n_ok += err >= 0;
        n_bad += err < 0 && (f->needed || err != ARGUS_ERR(ENOENT));
    }
    printf("files: %d as published, %d not\n", n_ok, n_bad);
    argus_manifests_close(&list);
    return m && !n_bad;
}

static double wave(double turns)
{
    return .5 + .5 * sin(turns);
}

/* RGB24 [n, n, 3] */
static uint8_t *make_picture(int n)
{
    uint8_t *p = malloc((size_t)n * (size_t)n * 3), *out = p;

    for (int y = 0; p && y < n; y++) {
        for (int x = 0; x < n; x++) {
            *out++ = (uint8_t)(wave(6 * PI * x / n) * 255 + .5);
            *out++ = (uint8_t)(wave(6 * PI * y / n + 1) * 255 + .5);
            *out++ = (uint8_t)(wave(6 * PI * (x + y) / n + 2) * 255 + .5);
        }
    }
    return p;
}

static int check_picture(const Facts *f, const uint8_t *pixels)
{
    AgSha256 s;
    char hex[65];

    ag_sha256_init(&s);
    ag_sha256_add(&s, pixels, (size_t)f->size * (size_t)f->size * 3);
    ag_sha256_hex(&s, hex);
    if (!strcmp(hex, f->picture)) {
        printf("picture: %dx%d, as expected\n", f->size, f->size);
        return 1;
    }
    printf("error: picture: expected sha256 %s, found %s\n", f->picture, hex);
    return 0;
}

static void tell_text(const Facts *f, const char *found)
{
    const char *expected = f->text + (*f->text == ' '); /* answers come trimmed */
    size_t n = 0;

    while (found[n] && found[n] == expected[n])
        n++;
    if (!strcmp(found, expected))
        printf("    the same text: %s\n", found);
    else
        printf("    another text, from character %zu on: %s\n", n + 1, found);
}

/* @return 1 if the prompt was as long as it should be. */
static int ask(const Facts *f, const char *dir, int shifted, const uint8_t *pixels)
{
    ArgusImage image = {pixels, (ptrdiff_t)f->size * 3, f->size, f->size, ARGUS_RGB24};
    ArgusPart parts[] = {{ARGUS_PART_IMAGE, NULL, &image}, {ARGUS_PART_TEXT, f->question, NULL}};
    ArgusModelSettings ms;
    ArgusSettings cs;
    ArgusModel *model = NULL;
    ArgusContext *ctx = NULL;
    ArgusRequest r;
    ArgusCaption c;
    int ok = 0;

    argus_model_default_settings(&ms);
    ms.logger = log_out;
    ms.model = dir;
    ms.shifted_positions = shifted;
    argus_default_settings(&cs);
    cs.logger = log_out;
    argus_request_default(&r);
    r.parts = parts;
    r.n_part = 2;
    r.decoding.max_tokens = f->max_tokens;
    printf("positions %s:\n", shifted ? "shifted, as transformers 4.55.0 to 4.57.6" : "as trained");
    if (argus_model_open(&model, &ms) >= 0 && argus_open(&ctx, model, &cs) >= 0 &&
        argus_describe(ctx, &r, &c) >= 0) {
        ok = c.n_prompt == f->n_prompt;
        printf("    %sprompt: expected %d ids, found %d\n", ok ? "" : "error: ", f->n_prompt,
               c.n_prompt);
        tell_text(f, c.text);
        argus_caption_free(&c);
    }
    argus_close(&ctx);
    argus_model_close(&model);
    return ok;
}

int main(int argc, char **argv)
{
    json_error_t e;
    Facts f;

    setvbuf(stdout, NULL, _IOLBF, 0); /* a full-size picture takes minutes on a slow machine */
    if (argc != 3) {
        fprintf(stderr, "usage: real FACTS.json MODEL-DIRECTORY\n");
        return 2;
    }
    json_t *o = json_load_file(argv[1], 0, &e);
    if (!o || !read_facts(&f, o)) {
        fprintf(stderr, "%s: expected facts, found %s\n", argv[1], o ? "others" : e.text);
        json_decref(o);
        return 2;
    }
    uint8_t *pixels = make_picture(f.size);
    int ok = pixels && check_picture(&f, pixels) && verify(f.manifest, argv[2]);
    if (ok) {
        ok = ask(&f, argv[2], 0, pixels);
        ok &= ask(&f, argv[2], 1, pixels);
    }
    printf("%s: %s\n", f.manifest, ok ? "files and prompt are right; the texts are told, not judged"
           : "failed");
    free(pixels);
    json_decref(o);
    return !ok;
}
