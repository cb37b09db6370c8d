/*
 * Unit tests of ag_sampler_position(): two samplers, the second of them opened
 * where the first one stopped, take the samples and close the windows that one
 * sampler would.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tests/unit/unit.h"

#include <errno.h>
#include <string.h>

#include "libargus/track_sampler.h"

enum { FRAMES = 100, LENGTH = 33 }; /* of a frame, in milliseconds */

/* What came out: all samples, all windows. */
typedef struct Run {
    AgSampler p;
    int64_t sample[FRAMES];
    AgSpan span[FRAMES];
    int n_sample, n_span;
} Run;

static void keep(Run *r, const AgSpan *span)
{
    if (span->n_frame && r->n_span < FRAMES)
        r->span[r->n_span++] = *span;
}

static void frame(Run *r, int64_t pts)
{
    AgSpan span;
    int events, wanted = ag_sampler_frame(&r->p, pts, LENGTH, &span, &events);

    keep(r, &span);
    if (wanted && r->n_sample < FRAMES) {
        r->sample[r->n_sample++] = pts;
        ag_sampler_take(&r->p);
    }
}

static void flush(Run *r, int64_t end)
{
    AgSpan span;

    ag_sampler_flush(&r->p, end, &span);
    keep(r, &span);
}

/* The stream is flushed before frame number `cut`, from which on all times are
 * `back` less. two: by two samplers. */
static void play(Run *r, ArgusTrackSettings s, int cut, int back, int two)
{
    memset(r, 0, sizeof(*r));
    CU_ASSERT_EQUAL(ag_sampler_open(&r->p, &s), 0);
    for (int i = 0; i < FRAMES; i++) {
        if (i == cut)
            flush(r, i * LENGTH);
        if (i == cut && two) {
            ag_sampler_position(&r->p, &s.from);
            ag_sampler_close(&r->p);
            CU_ASSERT_EQUAL(ag_sampler_open(&r->p, &s), 0);
        }
        frame(r, i * LENGTH - (i < cut ? 0 : back));
    }
    flush(r, FRAMES * LENGTH - back);
    ag_sampler_close(&r->p);
}

static void compare(ArgusTrackSettings *s, int back)
{
    Run one, two;

    for (int cut = 0; cut < FRAMES; cut++) {
        play(&one, *s, cut, back, 0);
        play(&two, *s, cut, back, 1);
        CU_ASSERT_EQUAL_FATAL(two.n_sample, one.n_sample);
        CU_ASSERT_EQUAL(memcmp(two.sample, one.sample, sizeof(one.sample)), 0);
        CU_ASSERT_EQUAL_FATAL(two.n_span, one.n_span);
        for (int i = 0; i < one.n_span; i++) {
            CU_ASSERT_EQUAL(two.span[i].start, one.span[i].start);
            CU_ASSERT_EQUAL(two.span[i].end, one.span[i].end);
            CU_ASSERT_EQUAL(two.span[i].n_frame, one.span[i].n_frame);
            CU_ASSERT_EQUAL(two.span[i].window, i);
        }
    }
}

static ArgusTrackSettings settings(int fps, int window)
{
    ArgusTrackSettings s;

    argus_track_default_settings(&s);
    CU_ASSERT_EQUAL(s.from.valid, 0);
    s.time_base = (ArgusRational){1, 1000};
    s.fps = (ArgusRational){fps, 1};
    s.window = window;
    return s;
}

static void goes_on(void)
{
    ArgusTrackSettings s = settings(2, 3);

    compare(&s, 0);
    s = settings(0, 5); /* every frame */
    compare(&s, 0);
    s = settings(7, 4);
    s.hop = 2;
    compare(&s, 0);
    s = settings(5, 2);
    s.max_frames = 6;
    compare(&s, 0);
}

static void backwards(void)
{
    ArgusTrackSettings s = settings(3, 2);

    compare(&s, 1500);
}

/* 0.5 s after tick 0 nothing is due at 1 fps, but for a new track it is. */
static void by_hand(void)
{
    ArgusTrackSettings s = settings(1, 1);
    AgSampler p;
    AgSpan span;
    int events;

    s.from = (ArgusTrackPosition){1, 1000, 3, 3400, ARGUS_NOPTS, 7, 3};
    CU_ASSERT_EQUAL(ag_sampler_open(&p, &s), 0);
    CU_ASSERT_EQUAL(ag_sampler_frame(&p, 3500, 100, &span, &events), 0);
    CU_ASSERT_EQUAL(ag_sampler_frame(&p, 4000, 100, &span, &events), 1);
    CU_ASSERT_EQUAL(ag_sampler_take(&p), 1);
    CU_ASSERT_EQUAL(p.full.window, 7);
    CU_ASSERT_EQUAL(p.n_sample, 4);
    ag_sampler_close(&p);
    s.from.valid = 0;
    CU_ASSERT_EQUAL(ag_sampler_open(&p, &s), 0);
    CU_ASSERT_EQUAL(ag_sampler_frame(&p, 3500, 100, &span, &events), 1);
    ag_sampler_close(&p);
}

static void refused(void)
{
    ArgusTrackSettings s = settings(1, 1);

    s.from = (ArgusTrackPosition){.valid = 1, .tick = -1};
    CU_ASSERT_EQUAL(argus_track_check(&s), ARGUS_ERR(EINVAL));
    s.from = (ArgusTrackPosition){.valid = 1, .window = -1};
    CU_ASSERT_EQUAL(argus_track_check(&s), ARGUS_ERR(EINVAL));
    s.from.window = 0;
    CU_ASSERT_EQUAL(argus_track_check(&s), 0);
}

void ag_tests_track_position(void)
{
    static const AgTest tests[] = {
        {"goes on", goes_on},
        {"time runs backwards", backwards},
        {"by hand", by_hand},
        {"bad positions", refused},
        {NULL, NULL},
    };

    ag_suite("track_position", tests);
}
