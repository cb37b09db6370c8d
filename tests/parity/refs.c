/*
 * References from refs.json. See refs.h.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tests/parity/refs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "libargus/base/sha256.h"
#include "tools/formula.h"
#include "tools/picture.h"
#include "tools/say.h"

static const char *str(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

static int fail(const char *where, const char *what)
{
    fprintf(stderr, "%s: %s\n", where, what);
    return -1;
}

static void *need(void *p)
{
    if (!p) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    return p;
}

/* ------------------------------------------------------------------------ */
/* Pictures                                                                  */

/* Entry {width, height, scene, time, sha256} of the synth sets. */
static int make_formula(AgRefCase *c, ArgusImage *img, const json_t *entry)
{
    int w = (int)json_integer_value(json_object_get(entry, "width"));
    int h = (int)json_integer_value(json_object_get(entry, "height"));
    const char *expected = str(entry, "sha256");
    AgSha256 sha;
    char hex[65];

    if (w < 1 || h < 1 || !expected)
        return fail(c->name, "a picture without size or sha256");
    unsigned char *rgb = need(malloc((size_t)w * (size_t)h * 3));
    *img = (ArgusImage){.data = rgb, .stride = (ptrdiff_t)w * 3, .width = w, .height = h,
                        .format = ARGUS_RGB24};
    ag_formula_image(rgb, w, h, (unsigned)json_integer_value(json_object_get(entry, "scene")),
                     (unsigned)json_integer_value(json_object_get(entry, "time")));
    ag_sha256_init(&sha);
    ag_sha256_add(&sha, rgb, (size_t)w * (size_t)h * 3);
    ag_sha256_hex(&sha, hex);
    c->pictures_equal &= !strcmp(hex, expected);
    return 0;
}

static int read_png(ArgusImage *img, const char *path)
{
    const AgPicOptions as_reference = {.alpha = AG_PIC_ALPHA_DROP};
    const ArgusLogger log = ag_say_logger();
    AgPic pic;

    if (ag_pic_load(&pic, path, &as_reference, &log) < 0)
        return -1;
    *img = (ArgusImage){.data = pic.rgb, .stride = (ptrdiff_t)pic.width * 3, .width = pic.width,
                        .height = pic.height, .format = ARGUS_RGB24};
    return 0;
}

/* A formula, or the name of a PNG file. */
static int load_image(AgRefCase *c, ArgusImage *img, const json_t *entry, const char *dir)
{
    char path[4096];

    if (json_is_object(entry))
        return make_formula(c, img, entry);
    if (!CONFIG_PNG) {
        c->skip = "built without PNG";
        return 0;
    }
    snprintf(path, sizeof(path), "%s/%s", dir, json_string_value(entry));
    return read_png(img, path);
}

/* The prefill's logits, if CASE.logits.f32 lies beside refs.json. */
static int load_logits(AgRefCase *c, const char *dir)
{
    char path[4096];

    snprintf(path, sizeof(path), "%s/%s.logits.f32", dir, c->name);
    FILE *f = fopen(path, "rb");
    if (!f)
        return 0;
    long size = fseek(f, 0, SEEK_END) ? -1 : ftell(f);
    rewind(f);
    if (size > 0) {
        c->n_logit = (size_t)size / sizeof(float);
        c->logits = need(malloc((size_t)size));
        if (fread(c->logits, sizeof(float), c->n_logit, f) != c->n_logit)
            size = -1;
    }
    fclose(f);
    return size > 0 ? 0 : fail(path, "can't be read");
}

int ag_ref_case_load(AgRefCase *c, const char *dir)
{
    c->pictures_equal = 1;
    for (size_t i = 0, k = 0; i < c->n_part; i++)
        if (c->parts[i].kind == ARGUS_PART_IMAGE) {
            if (load_image(c, &c->images[k], json_array_get(c->pictures, k), dir) < 0)
                return -1;
            c->parts[i].image = &c->images[k++];
        }
    return load_logits(c, dir);
}

void ag_ref_case_unload(AgRefCase *c)
{
    for (size_t i = 0; i < c->n_image; i++) {
        free((void *)c->images[i].data);
        c->images[i].data = NULL;
    }
    free(c->logits);
    c->logits = NULL;
}

/* ------------------------------------------------------------------------ */
/* Cases                                                                     */

/* Items {type, text} of one turn. */
static int add_content(AgRefCase *c, const json_t *content)
{
    const json_t *item;
    size_t i;

    json_array_foreach(content, i, item) {
        const char *type = str(item, "type");
        ArgusPart *p = &c->parts[c->n_part++];
        p->kind = type && !strcmp(type, "image") ? ARGUS_PART_IMAGE : ARGUS_PART_TEXT;
        p->text = str(item, "text");
        if (p->kind == ARGUS_PART_TEXT && !p->text)
            return fail(c->name, "a text item without text");
    }
    return 0;
}

static double smallest(const json_t *list)
{
    double least = json_number_value(json_array_get(list, 0));
    const json_t *v;
    size_t i;

    json_array_foreach(list, i, v)
        if (json_number_value(v) < least)
            least = json_number_value(v);
    return least;
}

static int add_messages(AgRefCase *c, const json_t *messages)
{
    const json_t *message;
    size_t i;

    json_array_foreach(messages, i, message) {
        c->parts[c->n_part++] = (ArgusPart){.kind = ARGUS_PART_TURN, .text = str(message, "role")};
        if (add_content(c, json_object_get(message, "content")) < 0)
            return -1;
    }
    return 0;
}

/* {choices: [{text}], best, best_prob}: nothing is generated. */
static int read_choices(AgRefCase *c, const json_t *o)
{
    const json_t *list = json_object_get(o, "choices"), *item;
    size_t i;

    if (!list)
        return 0;
    c->choices = need(calloc(json_array_size(list) + 1, sizeof(*c->choices)));
    json_array_foreach(list, i, item)
        if (!(c->choices[c->n_choice++] = str(item, "text")))
            return fail(c->name, "a choice without text");
    c->best = (int)json_integer_value(json_object_get(o, "best"));
    c->best_prob = json_number_value(json_object_get(o, "best_prob"));
    if (c->n_choice < 2 || c->best < 0 || c->best >= c->n_choice)
        return fail(c->name, "at least two choices and the best of them expected");
    c->text = c->choices[c->best];
    return 0;
}

/* With stage numbers: the synth sets, one turn, and the prompt sets, which may
 * have several turns. */
static int read_synth(AgRefCase *c, const json_t *o)
{
    const json_t *messages = json_object_get(o, "messages");

    c->prompt_ids = json_object_get(o, "prompt_ids");
    c->pixel_sha256 = str(json_object_get(o, "pixel_values"), "sha256");
    c->margin = smallest(json_object_get(o, "margins"));
    c->stages = o;
    c->top_ids = c->top_logits = json_object_get(o, "top5"); /* pairs */
    c->logprobs = json_object_get(o, "logprobs");
    if (json_object_get(o, "max_new_tokens"))
        c->max_tokens = (int)json_integer_value(json_object_get(o, "max_new_tokens"));
    if (json_object_get(o, "repetition_penalty"))
        c->repetition_penalty = json_number_value(json_object_get(o, "repetition_penalty"));
    if (read_choices(c, o) < 0)
        return -1;
    if (c->n_choice) /* no stage numbers there */
        c->stages = c->top_ids = c->top_logits = NULL;
    if (messages)
        return add_messages(c, messages);
    c->parts[c->n_part++] = (ArgusPart){.kind = ARGUS_PART_TURN, .text = "user"};
    return add_content(c, json_object_get(o, "content"));
}

/* A conversation, no stage numbers: argus-tiny. */
static int read_tiny(AgRefCase *c, const json_t *o)
{
    c->prompt_ids = json_object_get(o, "input_ids");
    c->pixel_sha256 = str(o, "pixel_sha256");
    c->margin = json_number_value(json_object_get(o, "min_margin"));
    c->top_ids = json_object_get(o, "first_top5_ids");
    c->top_logits = json_object_get(o, "first_top5_logits");
    return add_messages(c, json_object_get(o, "messages"));
}

static size_t count_items(const json_t *o)
{
    size_t n = 1 + json_array_size(json_object_get(o, "content")), i;
    const json_t *message;

    json_array_foreach(json_object_get(o, "messages"), i, message)
        n += 1 + json_array_size(json_object_get(message, "content"));
    return n;
}

static int read_case(AgRefCase *c, const json_t *o)
{
    size_t n = 0;

    c->name = str(o, "name");
    if (!c->name)
        return fail("refs.json", "a case without a name");
    c->split = json_is_true(json_object_get(o, "split"));
    c->generated_ids = json_object_get(o, "generated_ids");
    c->text = str(o, "text");
    c->parts = need(calloc(count_items(o), sizeof(*c->parts)));
    c->pictures = json_object_get(o, "images");
    c->n_image = json_array_size(c->pictures);
    c->images = need(calloc(c->n_image + 1, sizeof(*c->images)));
    c->max_tokens = 32; /* of the reference runs that do not say */
    c->repetition_penalty = 1;
    if ((json_object_get(o, "input_ids") ? read_tiny(c, o) : read_synth(c, o)) < 0)
        return -1;
    for (size_t i = 0; i < c->n_part; i++)
        n += c->parts[i].kind == ARGUS_PART_IMAGE;
    if (n != c->n_image)
        return fail(c->name, "as many images as image items expected");
    if (!json_array_size(c->prompt_ids) || !c->text ||
        (!json_array_size(c->generated_ids) && !c->n_choice))
        return fail(c->name, "no prompt ids, generated ids or text");
    return 0;
}

int ag_refs_open(AgRefs *r, const char *dir)
{
    json_error_t error;
    char path[4096];

    int is_file = strlen(dir) > 5 && !strcmp(dir + strlen(dir) - 5, ".json");
    snprintf(path, sizeof(path), "%s%s", dir, is_file ? "" : "/refs.json");
    *r = (AgRefs){.json = json_load_file(path, 0, &error)};
    if (!r->json)
        return fail(path, error.text);
    json_t *cases = json_object_get(r->json, "cases");
    r->n_case = json_array_size(cases);
    r->cases = need(calloc(r->n_case + 1, sizeof(*r->cases)));
    for (size_t i = 0; i < r->n_case; i++)
        if (read_case(&r->cases[i], json_array_get(cases, i)) < 0)
            return -1;
    return r->n_case ? 0 : fail(path, "no cases");
}

void ag_refs_close(AgRefs *r)
{
    for (size_t i = 0; i < r->n_case; i++) {
        free(r->cases[i].parts);
        free(r->cases[i].images);
        free((void *)r->cases[i].choices);
    }
    free(r->cases);
    json_decref(r->json);
}
