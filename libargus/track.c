/*
 * The track: frames' times and pixels -> timed captions. The sampler
 * (track_sampler.c) says which frames are wanted and which of them make a
 * window, track_shot.c makes tiles and embeddings of their pixels; this file
 * keeps them by window, asks the engine (caption.h) and hands the cues out in
 * order.
 *
 * Memory: the pictures of the open window and of the window before it, however
 * long the stream is. A picture that equals one of these bit for bit is not
 * kept twice and not encoded again.
 *
 * Windows wait in a queue of jobs, oldest first. A job is handed out when its
 * answer and its end are both known; the answer comes as soon as the last
 * sample is in, the end with the sample after that.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <errno.h>
#include <string.h>

#include "libargus/context.h"
#include "libargus/track_sampler.h"
#include "libargus/track_shot.h"

/* What the model said about a window. */
typedef struct Reply {
    char *text;
    int n_token, finish, choice;
    double mean_logprob, choice_prob;
} Reply;

/* A window on its way to becoming a cue. */
typedef struct Job {
    struct Job *next;
    AgSpan span;    /* end is ARGUS_NOPTS until it is known */
    AgShot **shots;   /* [span.n_frame], released when answered */
    char *prompt;   /* may be NULL */
    int err;        /* < 0: no reply */
    Reply reply;
} Job;

struct ArgusTrack {
    ArgusContext *ctx;
    ArgusTrackSettings s; /* strings are copies */
    AgSampler sampler;
    int events;           /* AgSamplerEvent that were reported */
    int sar_told;

    char *prompt;         /* of the open window; NULL = none */
    char *next_prompt;    /* for the window after it */
    int prompt_set;       /* next_prompt counts */
    int rows, cols;       /* grid that the budget was checked with */

    AgShot **open;          /* [window] of the open window, sampler.n in use */
    AgShot **before;        /* [window] of the window that was answered last */
    int n_before;
    char *before_prompt;
    Reply before_reply;   /* text NULL = none */

    Job *first, **last;   /* queue, oldest first */
    Job *due;             /* full window without an end, or NULL */
    Job *given;           /* handed out; its strings live until the next poll */
};

/* ------------------------------------------------------------------------ */
/* Settings                                                                  */

void argus_track_default_settings(ArgusTrackSettings *s)
{
    *s = (ArgusTrackSettings){
        .time_base = {1, 1000000}, .frame_rate = {0, 1}, .fps = {1, 1}, .window = 8, .reuse = 1,
    };
    argus_decoding_default(&s->decoding);
    s->decoding.max_tokens = 64;
}

static int check_int(const ArgusLogger *log, const char *name, int v, int lo, int hi)
{
    if (v >= lo && v <= hi)
        return 0;
    return ag_fail(log, ARGUS_ERR(EINVAL), "%s: expected %d to %d, found %d", name, lo, hi, v);
}

int argus_track_check(const ArgusTrackSettings *s)
{
    const ArgusLogger *log = &s->logger;
    int err;

    if (s->time_base.num < 1 || s->time_base.den < 1)
        return ag_fail(log, ARGUS_ERR(EINVAL),
                       "time_base: expected a positive fraction, found %d/%d",
                       s->time_base.num, s->time_base.den);
    if (s->fps.num < 0 || s->fps.den < 1)
        return ag_fail(log, ARGUS_ERR(EINVAL),
                       "fps: expected 0 (every frame) or a positive fraction, "
                       "found %d/%d", s->fps.num, s->fps.den);
    if ((err = check_int(log, "window", s->window, 1, AG_MAX_WINDOW)) < 0 ||
        (err = check_int(log, "hop", s->hop, 0, s->window)) < 0 ||
        (err = check_int(log, "max_frames", s->max_frames, 0, INT32_MAX)) < 0 ||
        (err = check_int(log, "split", s->split, 0, 1)) < 0 ||
        (err = check_int(log, "reuse", s->reuse, 0, 1)) < 0)
        return err;
    if (s->from.valid && (s->from.tick < 0 || s->from.window < 0 || s->from.sample < 0))
        return ag_fail(log, ARGUS_ERR(EINVAL), "from: expected no number below 0");
    return argus_decoding_check(&s->decoding, log);
}

/* NULL and "" both mean none. */
static int copy_text(char **out, const char *s)
{
    *out = s && *s ? ag_strdup(s) : NULL;
    return s && *s && !*out ? ARGUS_ERR(ENOMEM) : 0;
}

static int copy_list(const char *const **list, int n)
{
    char **copy = n ? ag_calloc((size_t)n, sizeof(*copy)) : NULL;
    int ok = !n || copy;

    for (int i = 0; copy && i < n; i++)
        ok &= (copy[i] = ag_strdup((*list)[i])) != NULL;
    *list = (const char *const *)copy;
    return ok ? 0 : ARGUS_ERR(ENOMEM);
}

static void free_list(const char *const *list, int n)
{
    for (int i = 0; list && i < n; i++)
        ag_free((void *)list[i]);
    ag_free((void *)list);
}

/* ------------------------------------------------------------------------ */
/* Prompts                                                                   */

/* System turn, pictures, question. shots NULL: pictures of the track's grid.
 * *parts is the caller's. @return 0 or ENOMEM. */
static int build_parts(const ArgusTrack *t, AgShot *const *shots, int n, const char *prompt,
                       AgPromptPart **parts, size_t *n_part)
{
    AgPromptPart *p = ag_calloc((size_t)n + 4, sizeof(*p));
    size_t k = 0;

    *parts = p;
    if (!p)
        return ag_nomem(&t->s.logger, "the prompt");
    if (t->s.system) {
        p[k++] = (AgPromptPart){.kind = ARGUS_PART_TURN, .text = "system"};
        p[k++] = (AgPromptPart){.kind = ARGUS_PART_TEXT, .text = t->s.system};
        p[k++] = (AgPromptPart){.kind = ARGUS_PART_TURN, .text = "user"};
    }
    for (int i = 0; i < n; i++, k++) {
        AgPicture *pic = shots ? shots[i]->pic : NULL;
        p[k] = (AgPromptPart){.kind = ARGUS_PART_IMAGE, .pic = pic,
                              .rows = pic ? pic->rows : t->rows, .cols = pic ? pic->cols : t->cols};
    }
    if (prompt)
        p[k++] = (AgPromptPart){.kind = ARGUS_PART_TEXT, .text = prompt};
    *n_part = k;
    return 0;
}

/* Does a full window of pictures of the track's grid fit? */
static int check_budget(const ArgusTrack *t, const char *prompt)
{
    int n = t->s.max_frames ? AG_MIN(t->s.window, t->s.max_frames) : t->s.window;
    AgPromptPart *parts;
    size_t n_part;
    int err = build_parts(t, NULL, n, prompt, &parts, &n_part);

    if (err == 0)
        err = ag_caption_budget(t->ctx, parts, n_part, &t->s.decoding);
    ag_free(parts);
    return AG_MIN(err, 0);
}

int argus_track_set_prompt(ArgusTrack *t, const char *prompt)
{
    char *copy;
    int err = copy_text(&copy, prompt);

    if (err < 0)
        return ag_nomem(&t->s.logger, "the prompt");
    if ((err = check_budget(t, copy)) < 0) {
        ag_free(copy);
        return err;
    }
    ag_free(t->next_prompt);
    t->next_prompt = copy;
    t->prompt_set = 1;
    return 0;
}

/* A window begins: the prompt that was set last is its own. */
static void begin_window(ArgusTrack *t)
{
    if (!t->prompt_set)
        return;
    ag_free(t->prompt);
    t->prompt = t->next_prompt;
    t->next_prompt = NULL;
    t->prompt_set = 0;
}

/* ------------------------------------------------------------------------ */
/* Pictures                                                                  */

/* A picture with the same tiles in the open window or the one before it. */
static AgShot *find_equal(const ArgusTrack *t, const AgPicture *pic)
{
    for (int i = t->sampler.n; i-- > 0;)
        if (ag_picture_equal(t->open[i]->pic, pic))
            return t->open[i];
    for (int i = t->n_before; i-- > 0;)
        if (ag_picture_equal(t->before[i]->pic, pic))
            return t->before[i];
    return NULL;
}

/* A shot of the picture: one that is there already, or a new one. Takes pic. */
static int make_shot(ArgusTrack *t, AgPicture *pic, AgShot **out)
{
    AgShot *old = t->s.reuse ? find_equal(t, pic) : NULL;

    if (!old)
        return ag_shot_encode(t->ctx, &t->s.logger, pic, out);
    ag_caption_stats(t->ctx)->n_tile_reused += pic->n_tile;
    ag_picture_free(&pic);
    ag_shots_hold(out, &old, 1);
    return 0;
}

/* ------------------------------------------------------------------------ */
/* Jobs                                                                      */

static void reply_free(Reply *r)
{
    ag_free(r->text);
    *r = (Reply){0};
}

static void job_free(Job **jp)
{
    Job *j = *jp;

    *jp = NULL;
    if (!j)
        return;
    if (j->shots)
        ag_shots_release(j->shots, j->span.n_frame);
    ag_free(j->shots);
    ag_free(j->prompt);
    reply_free(&j->reply);
    ag_free(j);
}

/* A job for a window of the first n pictures of the open one. */
static int job_open(ArgusTrack *t, const AgSpan *span, Job **out)
{
    Job *j = ag_calloc(1, sizeof(*j));

    if (j && (j->shots = ag_calloc((size_t)span->n_frame, sizeof(*j->shots)))) {
        j->span = *span;
        ag_shots_hold(j->shots, t->open, span->n_frame);
        if (copy_text(&j->prompt, t->prompt) == 0) {
            *out = j;
            return 0;
        }
    }
    job_free(&j);
    return ag_nomem(&t->s.logger, "a window");
}

static int same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

/* Are the pictures and the question those of the window before? */
static int same_window(const ArgusTrack *t, const Job *j)
{
    if (!t->s.reuse || !t->before_reply.text || j->span.n_frame != t->n_before ||
        !same_text(j->prompt, t->before_prompt))
        return 0;
    for (int i = 0; i < t->n_before; i++)
        if (j->shots[i] != t->before[i])
            return 0;
    return 1;
}

static int reply_copy(Reply *to, const Reply *from)
{
    *to = *from;
    return from->text && !(to->text = ag_strdup(from->text)) ? ARGUS_ERR(ENOMEM) : 0;
}

static int ask(ArgusTrack *t, Job *j)
{
    ArgusCaption c;
    AgPromptPart *parts;
    size_t n_part;
    int err = build_parts(t, j->shots, j->span.n_frame, j->prompt, &parts, &n_part);

    if (err == 0)
        err = ag_caption_answer(t->ctx, parts, n_part, &t->s.decoding, NULL, NULL, &c);
    if (err == 0) {
        j->reply = (Reply){c.text, c.n_id, c.finish, c.choice, c.mean_logprob, c.choice_prob};
        c.text = NULL; /* the reply's now */
        argus_caption_free(&c);
    }
    ag_free(parts);
    return AG_MIN(err, 0);
}

/* Answer a job, and keep what the next windows may share with it. */
static void job_run(ArgusTrack *t, Job *j)
{
    if (same_window(t, j)) {
        j->err = reply_copy(&j->reply, &t->before_reply);
        if (j->err < 0)
            ag_nomem(&t->s.logger, "a caption");
        else
            ag_caption_stats(t->ctx)->n_caption_reused++;
    } else {
        j->err = ask(t, j);
        reply_free(&t->before_reply);
        ag_free(t->before_prompt);
        t->before_prompt = NULL;
        if (t->s.reuse && j->err == 0 && copy_text(&t->before_prompt, j->prompt) == 0 &&
            reply_copy(&t->before_reply, &j->reply) < 0)
            reply_free(&t->before_reply);
    }
    if (t->s.reuse) {
        ag_shots_release(t->before, t->n_before);
        t->n_before = j->span.n_frame;
        ag_shots_hold(t->before, j->shots, t->n_before);
    }
    ag_shots_release(j->shots, j->span.n_frame);
    ag_free(j->shots);
    j->shots = NULL;
}

/* Queue a window of the open pictures and answer it. *out is the queue's. */
static int submit(ArgusTrack *t, const AgSpan *span, Job **out)
{
    Job *j;
    int err = job_open(t, span, &j);

    if (err < 0)
        return err;
    *t->last = j;
    t->last = &j->next;
    *out = j;
    job_run(t, j);
    return 0;
}

/* The sampler knows the end of a window: of the full one that waits for it,
 * or of one that will get no more samples. n: pictures in the open window
 * before the sampler looked. */
static int finish(ArgusTrack *t, const AgSpan *span, int n)
{
    int err = 0;

    if (span->n_frame && span->full) {
        if (t->due)
            t->due->span.end = span->end;
        t->due = NULL;
    } else if (span->n_frame) {
        Job *j;
        err = submit(t, span, &j);
    }
    ag_shots_release(t->open + t->sampler.n, n - t->sampler.n);
    return err;
}

/* ------------------------------------------------------------------------ */
/* The public face                                                           */

int argus_track_open(ArgusTrack **out, ArgusContext *ctx, const ArgusTrackSettings *s)
{
    int err = argus_track_check(s);

    *out = NULL;
    if (err < 0)
        return err;
    if ((err = check_int(&s->logger, "top_k", s->decoding.top_k, 0, ctx->model->config.vocab)) < 0)
        return err;
    ArgusTrack *t = ag_calloc(1, sizeof(*t));
    if (!t)
        return ag_nomem(&s->logger, "a track");
    t->ctx = ctx;
    t->s = *s;
    t->last = &t->first;
    err = copy_text((char **)&t->s.system, s->system);
    t->s.prompt = NULL;
    int bad = copy_text(&t->prompt, s->prompt);
    bad |= copy_list(&t->s.decoding.stop, s->decoding.n_stop);
    bad |= copy_list(&t->s.decoding.choices, s->decoding.n_choice);
    bad |= ag_sampler_open(&t->sampler, s);
    t->open = ag_calloc((size_t)s->window, sizeof(*t->open));
    t->before = ag_calloc((size_t)s->window, sizeof(*t->before));
    if (err < 0 || bad || !t->open || !t->before)
        err = ag_nomem(&s->logger, "a track");
    else
        err = check_budget(t, t->prompt);
    if (err < 0)
        argus_track_close(&t);
    *out = t;
    return err;
}

void argus_track_close(ArgusTrack **tp)
{
    ArgusTrack *t = *tp;

    *tp = NULL;
    if (!t)
        return;
    for (Job *j; (j = t->first);) {
        t->first = j->next;
        job_free(&j);
    }
    job_free(&t->given);
    if (t->open)
        ag_shots_release(t->open, t->sampler.n);
    if (t->before)
        ag_shots_release(t->before, t->n_before);
    ag_free(t->open);
    ag_free(t->before);
    reply_free(&t->before_reply);
    ag_free(t->before_prompt);
    ag_free(t->prompt);
    ag_free(t->next_prompt);
    ag_free((void *)t->s.system);
    free_list(t->s.decoding.stop, t->s.decoding.n_stop);
    free_list(t->s.decoding.choices, t->s.decoding.n_choice);
    ag_sampler_close(&t->sampler);
    ag_free(t);
}

/* Each kind of trouble with times is told once. */
static void tell(ArgusTrack *t, int events)
{
    int fresh = events & ~t->events;
    const ArgusLogger *log = &t->s.logger;

    t->events |= events;
    if (fresh & AG_EVENT_NOPTS)
        ag_log(log, ARGUS_LOG_WARNING,
               "frames without a time stamp: their times are counted from the "
               "last known one");
    if (fresh & AG_EVENT_SKIPPED)
        ag_log(log, ARGUS_LOG_WARNING,
               "frames without a time stamp and no frame rate to count with: "
               "they are not sampled");
    if (fresh & AG_EVENT_BACKWARDS)
        ag_log(log, ARGUS_LOG_WARNING,
               "time runs backwards: the window is closed and sampling starts "
               "again there");
}

int argus_track_wants(ArgusTrack *t, int64_t pts, int64_t duration)
{
    int n = t->sampler.n, events;
    AgSpan span;

    atomic_store(&t->ctx->cancel, 0);
    int wanted = ag_sampler_frame(&t->sampler, pts, duration, &span, &events);
    tell(t, events);
    int err = finish(t, &span, n);
    return err < 0 ? err : wanted;
}

int argus_track_push(ArgusTrack *t, const ArgusImage *image, ArgusRational sar)
{
    AgPicture *pic;
    AgShot *shot;
    int err;

    atomic_store(&t->ctx->cancel, 0);
    if (!t->sampler.wanted)
        return ag_fail(&t->s.logger, ARGUS_ERR(EINVAL), "track: expected a frame that "
                       "argus_track_wants() asked for, found another one");
    if ((err = ag_shot_prepare(t->ctx, &t->s.logger, image, sar, t->s.split,
                               &t->sar_told, &pic)) < 0)
        return err;
    if (pic->rows != t->rows || pic->cols != t->cols) { /* before any vision work */
        t->rows = pic->rows;
        t->cols = pic->cols;
        err = check_budget(t, t->prompt_set ? t->next_prompt : t->prompt);
    }
    if (err < 0) {
        ag_picture_free(&pic);
        t->rows = t->cols = 0;
        return err;
    }
    if ((err = make_shot(t, pic, &shot)) < 0)
        return err;
    if (!t->sampler.n_new)
        begin_window(t);
    t->open[t->sampler.n] = shot;
    if (!ag_sampler_take(&t->sampler))
        return 0;
    err = submit(t, &t->sampler.full, &t->due);
    ag_shots_release(t->open, t->sampler.window - t->sampler.n);
    memmove((void *)t->open, (void *)(t->open + t->sampler.window - t->sampler.n),
            (size_t)t->sampler.n * sizeof(*t->open));
    return err;
}

int argus_track_flush(ArgusTrack *t, int64_t end)
{
    int n = t->sampler.n;
    AgSpan span;

    atomic_store(&t->ctx->cancel, 0);
    ag_sampler_flush(&t->sampler, end, &span);
    return finish(t, &span, n);
}

int argus_track_poll(ArgusTrack *t, ArgusCue *cue)
{
    Job *j = t->first;

    job_free(&t->given);
    if (!j || (j->err == 0 && j->span.end == ARGUS_NOPTS))
        return 0;
    t->first = j->next;
    if (!t->first)
        t->last = &t->first;
    if (t->due == j)
        t->due = NULL;
    t->given = j;
    if (j->err < 0)
        return j->err;
    *cue = (ArgusCue){
        .start = j->span.start,
        .end = j->span.end,
        .time_base = t->s.time_base,
        .offset_us = t->s.offset_us,
        .window = j->span.window,
        .n_frame = j->span.n_frame,
        .n_token = j->reply.n_token,
        .mean_logprob = j->reply.mean_logprob,
        .finish = j->reply.finish,
        .text = j->reply.text,
        .choice = j->reply.choice,
        .choice_prob = j->reply.choice_prob,
    };
    return 1;
}

int64_t argus_track_open_start(const ArgusTrack *t)
{
    return t->first ? t->first->span.start : ag_sampler_start(&t->sampler);
}

void argus_track_position(const ArgusTrack *t, ArgusTrackPosition *pos)
{
    ag_sampler_position(&t->sampler, pos);
}

int64_t argus_track_samples(const ArgusTrack *t)
{
    return t->sampler.n_sample;
}
