/*
 * The sampler: times of frames -> samples -> windows -> spans of cues. Place in
 * the flow: first half of the track, before any pixel. All decisions are made
 * with exact fractions in 128 bits, so hours of 29.97 frames a second do not
 * drift. It follows doc/track.md, which gives each rule with an example.
 *
 * Sizes: times are 64 bits; lengths are fractions of positive 62-bit numbers,
 * products of two 31-bit ones; so a time difference times either part fits
 * into 127 bits.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/track_sampler.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "libargus/base/mem.h"

/* ------------------------------------------------------------------------ */
/* Exact time                                                                */

static int64_t saturate(AgI128 v)
{
    /* INT64_MIN is ARGUS_NOPTS, never the result of a sum */
    return v > INT64_MAX ? INT64_MAX : v <= INT64_MIN ? INT64_MIN + 1 : (int64_t)v;
}

/* num / den to the nearest integer, halves away from zero; den > 0 */
static AgI128 divide(AgI128 num, AgI128 den)
{
    return num < 0 ? -divide(-num, den) : num / den + (num % den >= den - num % den);
}

int64_t ag_time_round(int64_t pts, ArgusRational tb, int64_t offset_us, int per_second)
{
    if (pts == ARGUS_NOPTS || tb.num <= 0 || tb.den <= 0)
        return ARGUS_NOPTS;
    /* |us| < 2^63 * 2^31 * 2^20 + 2^94, and 10^3 more is below 2^125 */
    AgI128 us = (AgI128)pts * tb.num * 1000000 + (AgI128)offset_us * tb.den;
    return saturate(divide(us * per_second, (AgI128)tb.den * 1000000));
}

int64_t argus_time_ms(int64_t pts, ArgusRational time_base, int64_t offset_us)
{
    return ag_time_round(pts, time_base, offset_us, 1000);
}

/* Length of 1/rate in units of tb; 0/1 when the rate is unknown. */
static AgLength length_of(ArgusRational tb, ArgusRational rate)
{
    if (rate.num <= 0 || rate.den <= 0)
        return (AgLength){0, 1};
    return (AgLength){(int64_t)tb.den * rate.den, (int64_t)tb.num * rate.num};
}

/* Is the time x longer than n lengths? */
static int longer(AgI128 x, int n, AgLength l)
{
    return x * l.den > (AgI128)l.num * n;
}

/* Is the time x longer than a + b? For an integer x the whole part decides. */
static int longer_sum(AgI128 x, AgLength a, AgLength b)
{
    AgI128 ra = a.num % a.den, rb = b.num % b.den;
    AgI128 whole = (AgI128)(a.num / a.den) + b.num / b.den;

    return x > whole + (ra * b.den + rb * a.den >= (AgI128)a.den * b.den);
}

/* t + n * l, to the nearest unit */
static int64_t later(int64_t t, int64_t n, AgLength l)
{
    return saturate(t + divide((AgI128)l.num * n, l.den));
}

/* ------------------------------------------------------------------------ */
/* Windows                                                                   */

void ag_sampler_position(const AgSampler *p, ArgusTrackPosition *pos)
{
    *pos = (ArgusTrackPosition){
        .valid = 1,
        .origin = p->started ? p->origin : ARGUS_NOPTS,
        .tick = saturate(p->tick),
        .last = p->have_last ? p->last : ARGUS_NOPTS,
        .end = p->floor,
        .window = p->n_window,
        .sample = p->n_sample,
    };
}

/* As if the frames up to there had been seen, and the stretch flushed. */
static void go_on(AgSampler *p, const ArgusTrackPosition *from)
{
    p->started = from->origin != ARGUS_NOPTS;
    p->origin = from->origin;
    p->tick = from->tick;
    p->have_last = p->ended = from->last != ARGUS_NOPTS;
    p->last = from->last;
    p->floor = from->end;
    p->n_window = from->window;
    p->n_sample = from->sample;
}

int ag_sampler_open(AgSampler *p, const ArgusTrackSettings *s)
{
    assert(s->time_base.num > 0 && s->time_base.den > 0);
    assert(s->window >= 1 && s->window <= AG_MAX_WINDOW);
    assert(s->hop >= 0 && s->hop <= s->window);
    memset(p, 0, sizeof(*p));
    p->tb = s->time_base;
    p->step = length_of(p->tb, s->fps);
    p->nominal = length_of(p->tb, s->frame_rate);
    p->window = s->window;
    p->hop = s->hop ? s->hop : s->window;
    p->max_frames = s->max_frames;
    p->floor = ARGUS_NOPTS;
    p->last_length = (AgLength){0, 1};
    if (s->from.valid)
        go_on(p, &s->from);
    p->times = ag_calloc((size_t)p->window, sizeof(*p->times));
    return p->times ? 0 : ARGUS_ERR(ENOMEM);
}

void ag_sampler_close(AgSampler *p)
{
    ag_free(p->times);
    p->times = NULL;
}

/* 1/fps, which for "every frame" is the duration of the last sample's frame */
static AgLength step_of(const AgSampler *p)
{
    return p->step.num ? p->step : p->sample_length;
}

/* When the picture of the last sample ends if nothing follows it: after 1/fps,
 * but at least one unit later; a millisecond when nothing at all is known. */
static int64_t natural_end(const AgSampler *p)
{
    AgLength step = step_of(p);
    AgI128 den = (AgI128)p->tb.num * 1000, ms = (p->tb.den + den - 1) / den;

    if (!step.num)
        return saturate(p->sample + ms);
    return AG_MAX(later(p->sample, 1, step), p->sample + 1);
}

/* Is there a window, full or not, that has samples no finished cue has? */
static int is_open(const AgSampler *p)
{
    return p->due || p->n_new > 0;
}

/* Give the open window its end, which is after its last sample, but not after
 * `limit`. */
static void settle(AgSampler *p, int64_t end, int64_t limit, AgSpan *span)
{
    if (p->due) {
        *span = p->full;
        p->due = 0;
    } else {
        *span = (AgSpan){p->times[0], 0, p->n_window++, p->n, 0};
    }
    span->end = AG_MIN(end, limit);
}

/* Forget the samples: what comes next begins a window of its own. */
static void restart(AgSampler *p)
{
    p->n = p->n_new = 0;
    p->have_sample = 0;
}

/* The stretch ends at `end`, or if that is not known (or can't be, because a
 * frame was later) with the last frame. */
static void close_stretch(AgSampler *p, int64_t end, AgSpan *span)
{
    if (is_open(p)) {
        int64_t limit = INT64_MAX;
        if (end != ARGUS_NOPTS && end > p->last)
            limit = end;
        else if (p->last_length.num)
            limit = AG_MAX(later(p->last, 1, p->last_length), p->last + 1);
        settle(p, natural_end(p), limit, span);
        p->floor = span->end;
    }
    restart(p);
}

/* A sample at `next` follows the last one: what does that say about the
 * window before it? @return 1 if a gap lies between them. */
static int follow(AgSampler *p, int64_t next, AgSpan *span)
{
    AgI128 x = (AgI128)next - p->sample;
    AgLength step = step_of(p), own = p->sample_length, second = {p->tb.den, p->tb.num};
    AgLength nominal = p->nominal.num ? p->nominal : own;
    int64_t end = step.num ? natural_end(p) : next;

    if (longer(x, 2, step) && longer(x, 3, nominal) && longer(x, 1, second)) {
        if (is_open(p))
            settle(p, end, next, span);
        restart(p);
        return 1;
    }
    if (p->due && p->hop < p->window)
        settle(p, p->times[0], next, span);
    else if (p->due)
        settle(p, longer_sum(x, step, own) ? end : next, next, span);
    return 0;
}

/* ------------------------------------------------------------------------ */
/* Samples                                                                   */

/* Time of a frame that came without one. @return 0 if there is no telling. */
static int count_time(AgSampler *p, int64_t *pts)
{
    if (!p->have_base) {
        p->have_base = 1;
        *pts = p->base = p->n_after = 0;
        return 1;
    }
    p->n_after++;
    if (p->nominal.num) {
        *pts = later(p->base, p->n_after, p->nominal);
    } else if (p->last_length.num) {
        *pts = p->base = later(p->last, 1, p->last_length);
        p->n_after = 0;
    } else {
        return 0;
    }
    return 1;
}

/* Own duration, else the nominal one, else the distance to the frame before. */
static AgLength frame_length(const AgSampler *p, int64_t pts, int64_t duration)
{
    if (duration > 0)
        return (AgLength){duration, 1};
    if (p->nominal.num)
        return p->nominal;
    if (p->have_last && !p->ended && pts > p->last)
        return (AgLength){saturate((AgI128)pts - p->last), 1};
    return p->have_last ? p->last_length : (AgLength){0, 1};
}

/* Has the next tick come at pts? If so, the tick after pts is the next one. */
static int reach_tick(AgSampler *p, int64_t pts)
{
    if (!p->started) {
        p->started = 1;
        p->origin = pts;
        p->tick = 0;
    }
    if (p->floor != ARGUS_NOPTS && pts < p->floor)
        return 0;
    if (!p->step.num) /* every frame, but one for each moment */
        return !p->have_sample || pts > p->sample;
    AgI128 at = ((AgI128)pts - p->origin) * p->step.den;
    if (at < p->tick * p->step.num)
        return 0;
    p->tick = at / p->step.num + 1;
    return 1;
}

/* All samples are taken: does the stream reach the end of the last one? */
static void run_out(AgSampler *p, int64_t pts, AgSpan *span)
{
    int64_t end = step_of(p).num ? natural_end(p) : pts;

    if (!is_open(p) || pts <= p->sample || pts < end)
        return;
    settle(p, end, pts, span);
    restart(p);
}

int ag_sampler_frame(AgSampler *p, int64_t pts, int64_t duration, AgSpan *span, int *events)
{
    *span = (AgSpan){0};
    *events = 0;
    p->wanted = 0;
    if (pts == ARGUS_NOPTS) {
        *events |= AG_EVENT_NOPTS;
        if (!count_time(p, &pts)) {
            *events |= AG_EVENT_SKIPPED;
            return 0;
        }
    } else {
        p->have_base = 1;
        p->base = pts;
        p->n_after = 0;
    }
    if (pts == INT64_MAX) /* a cue could not end after it */
        return 0;
    AgLength length = frame_length(p, pts, duration), before = p->last_length;
    if (p->have_last && pts < p->last) {
        if (!p->ended)
            *events |= AG_EVENT_BACKWARDS;
        close_stretch(p, ARGUS_NOPTS, span);
        p->started = 0;
        p->floor = ARGUS_NOPTS;
    }
    p->have_last = 1;
    p->last = pts;
    p->last_length = length;
    p->ended = 0;
    if (p->max_frames && p->n_sample >= p->max_frames) {
        run_out(p, pts, span);
        return 0;
    }
    if (!reach_tick(p, pts))
        return 0;
    /* a distance that turns out to be a gap says nothing about frames */
    if (p->have_sample && follow(p, pts, span) && duration <= 0 && before.num)
        p->last_length = length = before;
    p->cand = pts;
    p->cand_length = length;
    p->wanted = 1;
    return 1;
}

int ag_sampler_take(AgSampler *p)
{
    assert(p->wanted && p->n < p->window);
    p->wanted = 0;
    p->have_sample = 1;
    p->sample = p->cand;
    p->sample_length = p->cand_length;
    p->n_sample++;
    p->times[p->n++] = p->cand;
    p->n_new++;
    if (p->n < p->window)
        return 0;
    p->full = (AgSpan){p->times[0], ARGUS_NOPTS, p->n_window++, p->n, 1};
    p->due = 1;
    p->n -= p->hop;
    p->n_new = 0;
    memmove(p->times, p->times + p->hop, (size_t)p->n * sizeof(*p->times));
    return 1;
}

void ag_sampler_leave(AgSampler *p)
{
    assert(p->wanted);
    p->wanted = 0;
    if (!p->have_sample)
        return;
    p->sample = p->cand;
    p->sample_length = p->cand_length;
}

void ag_sampler_flush(AgSampler *p, int64_t end, AgSpan *span)
{
    *span = (AgSpan){0};
    p->wanted = 0;
    close_stretch(p, end, span);
    p->ended = 1;
}

int64_t ag_sampler_start(const AgSampler *p)
{
    if (p->due)
        return p->full.start;
    if (p->n > 0)
        return p->times[0];
    return p->wanted ? p->cand : ARGUS_NOPTS;
}
