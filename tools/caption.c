/*
 * argus PICTURE|VIDEO...: describes pictures, one after the other or all
 * together, and videos.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/media.h"
#include "tools/output.h"
#include "tools/say.h"
#include "tools/stats.h"
#include "tools/verbs.h"

typedef struct Run {
    const AgCli *o;
    ArgusModel *model;
    ArgusContext *ctx;
    int *kinds;        /* [o->n_input] enum AgMediaKind */
    int n_video;
    int several;       /* more than one answer: each on a line of its own */
    int streamed;      /* bytes of the running answer that are printed */
    int failed;        /* an input did not get its answer */
    char *text;        /* with -o: answers about the input so far, a line each, */
    char **objects;    /* and as JSON; [o->n_prompt], n_object in use */
    int n_object;
    int64_t us_load;   /* reading and decoding of pictures */
} Run;

static int64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Nothing more can be done: told to stop, or nobody takes the results. */
static int is_over(void)
{
    return ag_stopped() || ag_out_flush() < 0;
}

static int on_token(void *opaque, int id, const char *text)
{
    Run *r = opaque;

    (void)id;
    if (r->o->stream) {
        ag_out(text, r->several);
        r->streamed += (int)strlen(text);
    }
    return is_over();
}

static int to_files(const Run *r)
{
    return r->o->video.sink.n_out > 0;
}

static void print_name(const Run *r, const char *name)
{
    if (r->o->n_input > 1 && !r->o->multi && !r->o->json && !to_files(r)) {
        ag_out(name, 1);
        ag_out(": ", 0);
    }
}

/* Answers that go to files wait until the last one about the input is there. */
static void keep_answer(Run *r, const ArgusCaption *c, const char *name, const char *prompt)
{
    size_t old = r->text ? strlen(r->text) : 0, size = old + strlen(c->text) + 2;
    char *text = realloc(r->text, size), *json = argus_caption_json(c, name, prompt, r->model);

    if (text) {
        r->text = text;
        strcpy(text + old, c->text);
        for (char *p = text + old; *p; p++)
            if (*p == '\n' && r->o->n_prompt > 1) /* a line is an answer */
                *p = ' ';
        strcat(text, "\n");
    }
    if (text && json) {
        r->objects[r->n_object++] = json;
        return;
    }
    argus_free(json);
    ag_say(ARGUS_LOG_ERROR, "%s: out of memory", name);
    r->failed = 1;
}

/* All answers about an input to its files, or none. */
static void write_answers(Run *r, const char *input)
{
    if (r->n_object == r->o->n_prompt &&
        ag_sink_stills(&r->o->video.sink, input, r->text, (const char *const *)r->objects,
                       r->n_object) < 0)
        r->failed = 1;
    while (r->n_object > 0)
        argus_free(r->objects[--r->n_object]);
    free(r->text);
    r->text = NULL;
}

static void print_answer(Run *r, const ArgusCaption *c, const char *name, const char *prompt)
{
    if (to_files(r)) {
        keep_answer(r, c, name, prompt);
        return;
    }
    if (r->o->json) {
        char *json = argus_caption_json(c, name, prompt, r->model);
        if (json) {
            ag_out(json, 1);
        } else {
            ag_say(ARGUS_LOG_ERROR, "%s: out of memory", name);
            r->failed = 1;
        }
        argus_free(json);
    } else if (!r->streamed) {
        ag_out(c->text, r->several);
    }
    ag_out("\n", 0);
}

/* One question about n pictures. parts has room for n and 4 more. */
static void ask(Run *r, ArgusPart *parts, const ArgusImage *images, int n, const char *name,
                const char *prompt)
{
    const AgCli *o = r->o;
    ArgusRequest q;
    ArgusCaption c;
    size_t at = 0;
    int err;

    if (o->system) {
        parts[at++] = (ArgusPart){.kind = ARGUS_PART_TURN, .text = "system"};
        parts[at++] = (ArgusPart){.kind = ARGUS_PART_TEXT, .text = o->system};
        parts[at++] = (ArgusPart){.kind = ARGUS_PART_TURN, .text = "user"};
    }
    for (int i = 0; i < n; i++)
        parts[at++] = (ArgusPart){.kind = ARGUS_PART_IMAGE, .image = &images[i]};
    if (*prompt)
        parts[at++] = (ArgusPart){.kind = ARGUS_PART_TEXT, .text = prompt};
    argus_request_default(&q);
    q.parts = parts;
    q.n_part = at;
    q.split = o->split;
    q.decoding = o->decoding;
    q.on_token = on_token;
    q.opaque = r;
    r->streamed = 0;
    if (o->stream)
        print_name(r, name);
    err = argus_describe(r->ctx, &q, &c);
    if (err >= 0) {
        if (!o->stream)
            print_name(r, name);
        print_answer(r, &c, name, *prompt ? prompt : NULL);
    } else {
        if (o->stream)
            ag_out("\n", 0);
        if (err != ARGUS_ERR_CANCELLED)
            ag_say(ARGUS_LOG_ERROR, "%s: no answer", name);
        r->failed = 1;
    }
    argus_caption_free(&c);
    ag_out_flush();
}

/* All questions about n pictures that are read together. */
static void describe(Run *r, const char *const *paths, int n, const char *name)
{
    AgPic *pics = calloc((size_t)n, sizeof(*pics));
    ArgusImage *images = calloc((size_t)n, sizeof(*images));
    ArgusPart *parts = calloc((size_t)n + 4, sizeof(*parts));
    ArgusLogger log = ag_say_logger();
    int64_t begin = now_us();
    int good = 0;

    if (!pics || !images || !parts) {
        ag_say(ARGUS_LOG_ERROR, "%s: out of memory", name);
    } else {
        for (int i = 0; i < n && !ag_stopped(); i++) {
            if (ag_pic_load(&pics[i], paths[i], &r->o->picture, &log) < 0)
                continue;
            images[i] = (ArgusImage){pics[i].rgb, (ptrdiff_t)pics[i].width * 3, pics[i].width,
                                     pics[i].height, ARGUS_RGB24};
            good++;
        }
    }
    r->us_load += now_us() - begin;
    if (good < n)
        r->failed = 1;
    for (int i = 0; good == n && i < r->o->n_prompt && !is_over(); i++)
        ask(r, parts, images, n, name, r->o->prompts[i]);
    if (to_files(r))
        write_answers(r, paths[0]);
    for (int i = 0; pics && i < n; i++)
        ag_pic_free(&pics[i]);
    free(pics);
    free(images);
    free(parts);
}

static const char *display_name(const char *path)
{
    return strcmp(path, "-") ? path : "(stdin)";
}

/* "a.png, b.png", malloc'ed. */
static char *join(const char *const *paths, int n)
{
    size_t size = 1;
    char *all;

    for (int i = 0; i < n; i++)
        size += strlen(display_name(paths[i])) + 2;
    all = malloc(size);
    if (!all)
        return NULL;
    *all = 0;
    for (int i = 0; i < n; i++) {
        strcat(all, i ? ", " : "");
        strcat(all, display_name(paths[i]));
    }
    return all;
}

static void describe_all(Run *r)
{
    const AgCli *o = r->o;

    if (o->multi) {
        char *name = join(o->inputs, o->n_input);
        describe(r, o->inputs, o->n_input, name ? name : "pictures");
        free(name);
        return;
    }
    for (int i = 0; i < o->n_input && !is_over(); i++) {
        if (r->kinds[i] == AG_MEDIA_PICTURE)
            describe(r, &o->inputs[i], 1, display_name(o->inputs[i]));
        else if (ag_video_run(r->ctx, r->model, o, o->inputs[i], &r->us_load) < 0)
            r->failed = 1;
    }
}

/* Can the answers about pictures be written where -o says? With videos beside
 * them the names of all must differ. */
static int check_stills(const Run *r)
{
    const AgCli *o = r->o;

    if (o->stream) {
        ag_say(ARGUS_LOG_ERROR, "--stream can't go together with -o");
        return -1;
    }
    return ag_sink_check_stills(&o->video.sink, o->inputs, o->multi ? 1 : o->n_input);
}

/* What each input is, and whether that goes together with the options.
 * @return -1 to go on, else the exit code. */
static int look_at_inputs(Run *r)
{
    const AgCli *o = r->o;
    const char **videos = calloc((size_t)o->n_input, sizeof(*videos));
    const char *wrong = NULL;
    int code = -1, n_still = 0;

    r->kinds = calloc((size_t)o->n_input, sizeof(*r->kinds));
    r->objects = calloc((size_t)o->n_prompt, sizeof(*r->objects));
    if (!videos || !r->kinds || !r->objects) {
        ag_say(ARGUS_LOG_ERROR, "out of memory");
        free(videos);
        return AG_EXIT_FAILED;
    }
    for (int i = 0; i < o->n_input; i++) {
        r->kinds[i] = ag_media_kind(o->inputs[i]);
        if (r->kinds[i] == AG_MEDIA_VIDEO)
            videos[r->n_video++] = o->inputs[i];
        else /* what can't be read is told later, and is no reason to refuse the others */
            n_still += !strcmp(o->inputs[i], "-") || access(o->inputs[i], R_OK) == 0;
    }
    if (r->n_video && o->multi)
        wrong = "--multi: expected pictures";
    else if (r->n_video && o->stream)
        wrong = "--stream: expected pictures";
    else if (r->n_video && o->n_prompt > 1)
        wrong = "several questions: expected pictures";
    if (wrong)
        ag_say(ARGUS_LOG_ERROR, "%s, found the video %s", wrong, videos[0]);
    if (wrong || (r->n_video && ag_sink_check(&o->video.sink, videos, r->n_video) < 0))
        code = AG_EXIT_USAGE;
    else if (n_still && to_files(r) && check_stills(r) < 0)
        code = AG_EXIT_USAGE;
    else if (!r->n_video && o->video.given && !o->video.sink.n_out)
        ag_say(ARGUS_LOG_WARNING, "--%s is for videos, and there is none", o->video.given);
    else if (r->n_video == o->n_input && o->picture_given)
        ag_say(ARGUS_LOG_WARNING, "--%s is for pictures, and there is none", o->picture_given);
    free(videos);
    return code;
}

int ag_verb_caption(const AgCli *o)
{
    Run r = {.o = o};
    int64_t begin = now_us(), us_open;
    int code = look_at_inputs(&r);

    if (code >= 0) {
        free(r.kinds);
        free(r.objects);
        return code;
    }
    r.several = o->n_prompt > 1 || (o->n_input > 1 && !o->multi);
    if (ag_open(&r.model, &r.ctx, o) < 0) {
        r.failed = 1;
    } else {
        us_open = now_us() - begin;
        ag_watch(r.ctx);
        describe_all(&r);
        if (o->stats)
            ag_stats_print(r.ctx, r.model, us_open, r.us_load, now_us() - begin);
        ag_watch(NULL);
    }
    argus_close(&r.ctx);
    argus_model_close(&r.model);
    free(r.kinds);
    free(r.objects);
    return r.failed ? AG_EXIT_FAILED : AG_EXIT_OK;
}
