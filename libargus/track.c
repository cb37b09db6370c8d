/*
 * The track: frames' times and pixels -> timed captions. The sampler
 * (track_sampler.c) says which frames are wanted and which of them make a
 * window, track_shot.c makes tiles of their pixels; this file keeps them by
 * window, has the engine work (track_work.c) and hands the cues out in order.
 *
 * Memory: the pictures of the open window, of the window before it and of those
 * that wait for the engine, however long the stream is. A picture that equals one
 * of the first two kinds bit for bit is not kept twice and not encoded again.
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
#include "libargus/track_work.h"

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
    AgShot **before;        /* [window] of the window that was asked about last */
    int n_before;
    char *before_prompt;

    AgWork *work;         /* the engine's side */
    AgJob *first, **last; /* queue, oldest first */
    AgJob *due;           /* full window without an end, or NULL */
    AgJob *given;         /* handed out; its strings live until the next poll */
    int64_t n_dropped;    /* samples that found no room */
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
        (err = check_int(log, "reuse", s->reuse, 0, 1)) < 0 ||
        (err = check_int(log, "queue", s->queue, 0, AG_MAX_QUEUE)) < 0 ||
        (err = check_int(log, "live", s->live, 0, 1)) < 0)
        return err;
    if (s->live && !s->queue)
        return ag_fail(log, ARGUS_ERR(EINVAL), "queue: expected at least 1 with live, found 0");
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

/* Does a full window of pictures of the track's grid fit? */
static int check_budget(const ArgusTrack *t, const char *prompt)
{
    int n = t->s.max_frames ? AG_MIN(t->s.window, t->s.max_frames) : t->s.window;
    AgPromptPart *parts;
    size_t n_part;
    int err = ag_work_parts(&t->s, NULL, n, t->rows, t->cols, prompt, &parts, &n_part);

    if (err < 0)
        ag_nomem(&t->s.logger, "the prompt");
    else
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
    int err;

    if (old) {
        ag_caption_stats(t->ctx)->n_tile_reused += pic->plan.n_tile;
        ag_picture_free(&pic);
        ag_shots_hold(out, &old, 1);
        return 0;
    }
    if ((err = ag_shot_open(&t->s.logger, pic, out)) < 0)
        return err;
    if ((err = ag_work_encode(t->work, *out)) < 0)
        ag_shots_release(out, 1);
    return err;
}

/* ------------------------------------------------------------------------ */
/* Jobs                                                                      */

static int same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

/* Are the pictures and the question those of the window before? */
static int same_window(const ArgusTrack *t, const AgJob *j)
{
    if (!t->s.reuse || j->span.n_frame != t->n_before || !same_text(j->prompt, t->before_prompt))
        return 0;
    for (int i = 0; i < t->n_before; i++)
        if (j->shots[i] != t->before[i])
            return 0;
    return 1;
}

/* A job for a window of the first n pictures of the open one. */
static int job_open(ArgusTrack *t, const AgSpan *span, AgJob **out)
{
    AgJob *j = ag_calloc(1, sizeof(*j));

    if (j && (j->shots = ag_calloc((size_t)span->n_frame, sizeof(*j->shots)))) {
        j->span = *span;
        ag_shots_hold(j->shots, t->open, span->n_frame);
        if (copy_text(&j->prompt, t->prompt) == 0) {
            *out = j;
            return 0;
        }
    }
    ag_job_free(&j);
    return ag_nomem(&t->s.logger, "a window");
}

/* What the next window may share with this one. */
static int remember(ArgusTrack *t, const AgJob *j)
{
    if (!t->s.reuse)
        return 0;
    ag_shots_release(t->before, t->n_before);
    t->n_before = j->span.n_frame;
    ag_shots_hold(t->before, j->shots, t->n_before);
    ag_free(t->before_prompt);
    return copy_text(&t->before_prompt, j->prompt);
}

/* Queue a window of the open pictures and have it answered. *out is the queue's. */
static int submit(ArgusTrack *t, const AgSpan *span, AgJob **out)
{
    AgJob *j = NULL;
    int err = job_open(t, span, &j);

    if (err < 0)
        return err;
    j->same = same_window(t, j);
    if (remember(t, j) < 0) {
        ag_shots_release(t->before, t->n_before); /* nothing is like it */
        t->n_before = 0;
    }
    *t->last = j;
    t->last = &j->next;
    *out = j;
    ag_work_answer(t->work, j);
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
        AgJob *j;
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
    else if ((err = check_budget(t, t->prompt)) == 0)
        err = ag_work_open(&t->work, ctx, &t->s);
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
    ag_work_close(&t->work); /* before what it works on */
    for (AgJob *j; (j = t->first);) {
        t->first = j->next;
        ag_job_free(&j);
    }
    ag_job_free(&t->given);
    if (t->open)
        ag_shots_release(t->open, t->sampler.n);
    if (t->before)
        ag_shots_release(t->before, t->n_before);
    ag_free(t->open);
    ag_free(t->before);
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

/* Every call begins so: an earlier cancel was for others, and what the track's
 * thread had to say is told. */
static void enter(ArgusTrack *t)
{
    if (!t->s.queue)
        atomic_store(&t->ctx->cancel, 0);
    ag_work_relay(t->work);
}

/* Room for a wanted sample. @return 1, or 0 if the sample is left out. */
static int make_room(ArgusTrack *t)
{
    if (ag_work_room(t->work))
        return 1;
    if (!t->s.live) {
        ag_work_wait_room(t->work);
        ag_work_relay(t->work);
        return 1;
    }
    ag_sampler_leave(&t->sampler);
    if (!t->n_dropped++)
        ag_log(&t->s.logger, ARGUS_LOG_WARNING,
               "live: the captions do not keep up with the frames; samples are left out");
    return 0;
}

int argus_track_wants(ArgusTrack *t, int64_t pts, int64_t duration)
{
    int n = t->sampler.n, events;
    AgSpan span;

    enter(t);
    int wanted = ag_sampler_frame(&t->sampler, pts, duration, &span, &events);
    tell(t, events);
    int err = finish(t, &span, n);
    if (err < 0)
        return err;
    return wanted && make_room(t);
}

int argus_track_push(ArgusTrack *t, const ArgusImage *image, ArgusRational sar)
{
    AgPicture *pic;
    AgShot *shot;
    int err;

    enter(t);
    if (!t->sampler.wanted)
        return ag_fail(&t->s.logger, ARGUS_ERR(EINVAL), "track: expected a frame that "
                       "argus_track_wants() asked for, found another one");
    AgExec alone = {.dsp = t->ctx->exec.dsp, .n_thread = 1}; /* the pool is the thread's */
    if ((err = ag_shot_prepare(t->ctx, t->s.queue ? &alone : &t->ctx->exec, &t->s.logger, image,
                               sar, t->s.split, &t->sar_told, &pic)) < 0)
        return err;
    if (pic->plan.rows != t->rows || pic->plan.cols != t->cols) { /* before any vision work */
        t->rows = pic->plan.rows;
        t->cols = pic->plan.cols;
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

    enter(t);
    ag_sampler_flush(&t->sampler, end, &span);
    return finish(t, &span, n);
}

int argus_track_poll(ArgusTrack *t, ArgusCue *cue)
{
    AgJob *j = t->first;

    ag_job_free(&t->given);
    ag_work_relay(t->work);
    if (!j || !atomic_load(&j->done) || (j->err == 0 && j->span.end == ARGUS_NOPTS))
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
        .prompt = j->prompt ? j->prompt : "",
        .choice = j->reply.choice,
        .choice_prob = j->reply.choice_prob,
    };
    return 1;
}

int argus_track_pending(const ArgusTrack *t)
{
    int n = 0;

    for (const AgJob *j = t->first; j && j->span.end != ARGUS_NOPTS; j = j->next)
        n += !atomic_load(&j->done);
    return n;
}

void argus_track_wait(ArgusTrack *t)
{
    ag_work_wait(t->work);
    ag_work_relay(t->work);
}

int64_t argus_track_dropped(const ArgusTrack *t)
{
    return t->n_dropped;
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
