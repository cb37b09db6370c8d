/*
 * argus VIDEO: media reader -> ArgusTrack -> ArgusWriter.
 *
 * As the filter this carries and does not compute: it tells the track the
 * time of every frame, hands over those it wants, and takes cues back. A
 * signal cancels the running caption; the files keep all cues before it, and
 * the open window is dropped.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _POSIX_C_SOURCE 200809L
#include "tools/video.h"

#include <string.h>
#include <time.h>

#include "tools/media.h"
#include "tools/output.h"
#include "tools/progress.h"
#include "tools/say.h"
#include "tools/verbs.h"

typedef struct Play {
    const AgCli *o;
    const char *name;
    AgMedia *media;
    AgMediaInfo info;
    ArgusTrack *track;
    AgSink *sink;
    int64_t n_cue, n_frame;
    int64_t first, position; /* times of the first and the last frame */
    int64_t us_read;
    int failed;
} Play;

static int64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

void ag_video_default(AgVideoOptions *v)
{
    ArgusTrackSettings t;

    argus_track_default_settings(&t);
    *v = (AgVideoOptions){.fps = t.fps, .window = t.window, .split = t.split, .reuse = t.reuse,
                          .square = 1, .from_us = AG_TIME_NONE, .to_us = AG_TIME_NONE};
}

void ag_video_settings(ArgusTrackSettings *t, const AgCli *o)
{
    const AgVideoOptions *v = &o->video;
    int max_tokens;

    argus_track_default_settings(t);
    max_tokens = v->max_tokens ? v->max_tokens : t->decoding.max_tokens;
    t->logger = ag_say_logger();
    t->fps = v->fps;
    t->window = v->window;
    t->hop = v->hop;
    t->max_frames = v->max_frames;
    t->offset_us = v->offset_us;
    t->split = v->split;
    t->reuse = v->reuse;
    t->prompt = o->n_prompt && *o->prompts[0] ? o->prompts[0] : NULL;
    t->system = o->system;
    t->decoding = o->decoding;
    t->decoding.max_tokens = max_tokens;
}

static int open_all(Play *p, ArgusContext *ctx, const ArgusModel *model)
{
    const AgVideoOptions *v = &p->o->video;
    AgMediaOptions mo = {v->from_us, v->to_us, v->copyts, v->square, p->o->threads};
    ArgusWriterSettings ws;
    ArgusTrackSettings ts;
    ArgusModelInfo info;
    int err;

    if ((err = ag_media_open(&p->media, p->name, &mo)) < 0)
        return err;
    ag_media_info(p->media, &p->info);
    ag_video_settings(&ts, p->o);
    ts.time_base = p->info.time_base;
    ts.frame_rate = p->info.frame_rate;
    ts.queue = 2; /* vision of one sample while the next is decoded */
    if ((err = argus_track_open(&p->track, ctx, &ts)) < 0)
        return err;
    argus_model_info(model, &info);
    argus_writer_default_settings(&ws);
    ws.wrap = v->wrap;
    ws.lines = v->lines;
    ws.merge = v->merge;
    ws.model = info.name;
    ws.sha256 = info.sha256;
    ws.prompt = ts.prompt;
    ws.fps = ts.fps;
    ws.window = ts.window;
    ws.decoding = &ts.decoding;
    ws.precision = info.precision;
    ws.source = p->o->n_input > 1 ? p->name : NULL; /* one of several is told by its name */
    return ag_sink_open(&p->sink, &v->sink, p->name, &ws, p->o->n_input > 1 ? p->name : NULL);
}

/* Nothing more can be done: told to stop, or nobody takes the results. */
static int is_over(void)
{
    return ag_stopped() || ag_out_flush() < 0;
}

/* @return 0, or < 0 if the outputs can't be written any more. A caption that
 * failed has been told, the others go on. */
static int take_cues(Play *p)
{
    ArgusCue cue;
    int err;

    while ((err = argus_track_poll(p->track, &cue)) != 0) {
        if (ag_stopped())
            return ARGUS_ERR_CANCELLED;
        if (err < 0) {
            p->failed = 1;
            continue;
        }
        ag_progress_clear();
        if ((err = ag_sink_cue(p->sink, &cue)) < 0)
            return err;
        p->n_cue++;
    }
    return 0;
}

/* Read the next frame, and its pixels if the track wants them.
 * @return 1, 0 at the end, < 0 on an error that ends this video. */
static int step(Play *p)
{
    int64_t begin = now_us();
    AgMediaFrame f;
    ArgusImage image;
    ArgusRational sar;
    int err = ag_media_next(p->media, &f);

    p->us_read += now_us() - begin;
    if (err <= 0)
        return err;
    if (!p->n_frame++)
        p->first = f.pts;
    p->position = f.pts;
    /* as the filter: the nominal rate says how long a frame is, where there is one */
    err = argus_track_wants(p->track, f.pts, p->info.frame_rate.num ? 0 : f.duration);
    if (err > 0) {
        begin = now_us();
        err = ag_media_pixels(p->media, &image, &sar);
        p->us_read += now_us() - begin;
        if (err >= 0)
            err = argus_track_push(p->track, &image, sar);
    }
    return err < 0 ? err : 1;
}

static void show(const Play *p)
{
    ArgusRational tb = p->info.time_base;
    int64_t from = p->o->video.copyts ? p->first : 0;

    if (p->position != ARGUS_NOPTS && from != ARGUS_NOPTS)
        ag_progress_show(argus_time_ms(p->position - from, tb, 0) * 1000, p->n_cue);
}

/* All samples that were asked for are taken. */
static int has_all(const Play *p)
{
    int most = p->o->video.max_frames;

    return most && argus_track_samples(p->track) >= most;
}

/* And captioned. */
static int is_done(const Play *p)
{
    return has_all(p) && argus_track_open_start(p->track) == ARGUS_NOPTS;
}

static int play(Play *p)
{
    int err;

    while ((err = step(p)) > 0) {
        if (has_all(p))
            argus_track_wait(p->track);
        if ((err = take_cues(p)) < 0 || is_over() || is_done(p))
            break;
        show(p);
    }
    if (err < 0 || is_over())
        return err;
    if ((err = argus_track_flush(p->track, ag_media_end(p->media))) >= 0) {
        argus_track_wait(p->track);
        err = take_cues(p);
    }
    if (err >= 0 && !p->n_frame && p->o->video.from_us != AG_TIME_NONE)
        ag_say(ARGUS_LOG_WARNING, "%s: no frame in the part that --ss and --to name", p->name);
    return err;
}

int ag_video_run(ArgusContext *ctx, const ArgusModel *model, const AgCli *o, const char *input,
                 int64_t *us_read)
{
    Play p = {.o = o, .name = input, .position = ARGUS_NOPTS};
    int64_t begin = now_us();
    int err = open_all(&p, ctx, model);

    p.us_read = now_us() - begin;
    if (err >= 0) {
        ag_progress_start(input, p.info.length_us, o->quiet);
        err = play(&p);
        ag_progress_end();
    }
    /* also after a failure: what is there is made complete */
    if (p.sink && ag_sink_close(&p.sink) < 0)
        p.failed = 1;
    if (p.media && !ag_stopped() && ag_media_failed(p.media))
        p.failed = 1;
    argus_track_close(&p.track);
    ag_media_close(&p.media);
    *us_read += p.us_read;
    return err < 0 || p.failed ? -1 : 0;
}
