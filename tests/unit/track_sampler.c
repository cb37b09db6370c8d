/*
 * Unit tests of the sampler: which frames are taken, where windows end, what
 * time a cue gets. Only times go in, so no model is needed. Names that begin
 * with V or S are cases of public bug reports.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "libargus/base/common.h"
#include "libargus/track_sampler.h"

enum { MAX = 8192 };

/* A stream on its way through a sampler, and all that came out. */
typedef struct Run {
    AgSampler p;
    int64_t sample[MAX];
    AgSpan span[MAX];
    int n_sample, n_span, n_taken_full, events;
} Run;

static Run run; /* too big for a stack */

static ArgusTrackSettings settings(int tb_num, int tb_den, int fps_num, int fps_den, int window)
{
    ArgusTrackSettings s;

    argus_track_default_settings(&s);
    s.time_base = (ArgusRational){tb_num, tb_den};
    s.fps = (ArgusRational){fps_num, fps_den};
    s.window = window;
    return s;
}

static Run *start(const ArgusTrackSettings *s)
{
    ag_sampler_close(&run.p);
    memset(&run, 0, sizeof(run));
    CU_ASSERT_EQUAL(ag_sampler_open(&run.p, s), 0);
    return &run;
}

static void keep(Run *r, const AgSpan *span)
{
    if (span->n_frame && r->n_span < MAX)
        r->span[r->n_span++] = *span;
}

static int frame(Run *r, int64_t pts, int64_t duration)
{
    AgSpan span;
    int events, wanted = ag_sampler_frame(&r->p, pts, duration, &span, &events);

    keep(r, &span);
    r->events |= events;
    if (wanted && r->n_sample < MAX) {
        r->sample[r->n_sample++] = r->p.cand;
        r->n_taken_full += ag_sampler_take(&r->p);
    }
    return wanted;
}

static void flush(Run *r, int64_t end)
{
    AgSpan span;

    ag_sampler_flush(&r->p, end, &span);
    keep(r, &span);
}

static void expect_samples(const Run *r, int n, const int64_t *t)
{
    CU_ASSERT_EQUAL_FATAL(r->n_sample, n);
    for (int i = 0; i < n; i++)
        CU_ASSERT_EQUAL(r->sample[i], t[i]);
}

/* n spans of {start, end, n_frame} */
static void expect_spans(const Run *r, int n, const int64_t t[][3])
{
    CU_ASSERT_EQUAL_FATAL(r->n_span, n);
    for (int i = 0; i < n; i++) {
        CU_ASSERT_EQUAL(r->span[i].start, t[i][0]);
        CU_ASSERT_EQUAL(r->span[i].end, t[i][1]);
        CU_ASSERT_EQUAL(r->span[i].n_frame, t[i][2]);
        CU_ASSERT_EQUAL(r->span[i].window, i);
    }
}

/* ------------------------------------------------------------------------ */
/* Times                                                                     */

static void time_ms(void)
{
    CU_ASSERT_EQUAL(argus_time_ms(0, (ArgusRational){1, 25}, 0), 0);
    CU_ASSERT_EQUAL(argus_time_ms(1, (ArgusRational){1, 3}, 0), 333);
    CU_ASSERT_EQUAL(argus_time_ms(2, (ArgusRational){1, 3}, 0), 667);
    CU_ASSERT_EQUAL(argus_time_ms(1, (ArgusRational){1, 2000}, 0), 1);   /* half, up */
    CU_ASSERT_EQUAL(argus_time_ms(-1, (ArgusRational){1, 2000}, 0), -1); /* half, down */
    CU_ASSERT_EQUAL(argus_time_ms(-1, (ArgusRational){1, 2001}, 0), 0);
    CU_ASSERT_EQUAL(argus_time_ms(1, (ArgusRational){1, 4000}, 250), 1); /* one rounding of the sum */
    CU_ASSERT_EQUAL(argus_time_ms(90000, (ArgusRational){1, 90000}, -1500000), -500);
    CU_ASSERT_EQUAL(argus_time_ms(1001, (ArgusRational){1, 30000}, 0), 33);
    CU_ASSERT_EQUAL(argus_time_ms(INT64_MAX, (ArgusRational){1, 1000}, 0), INT64_MAX);
    CU_ASSERT_EQUAL(argus_time_ms(INT64_MAX, (ArgusRational){INT32_MAX, 1}, INT64_MAX), INT64_MAX);
    CU_ASSERT_EQUAL(argus_time_ms(INT64_MIN + 1, (ArgusRational){INT32_MAX, 1}, 0), INT64_MIN + 1);
    CU_ASSERT_EQUAL(argus_time_ms(INT64_MAX, (ArgusRational){1, INT32_MAX}, 0), 4294967298000);
    CU_ASSERT_EQUAL(argus_time_ms(ARGUS_NOPTS, (ArgusRational){1, 25}, 0), ARGUS_NOPTS);
    CU_ASSERT_EQUAL(argus_time_ms(5, (ArgusRational){1, 0}, 0), ARGUS_NOPTS);
    CU_ASSERT_EQUAL(ag_time_round(7, (ArgusRational){1, 1000}, 0, 100), 1);
    CU_ASSERT_EQUAL(ag_time_round(4, (ArgusRational){1, 1000}, 999, 100), 0); /* not 5 ms first */
}

/* ------------------------------------------------------------------------ */
/* Which frames                                                              */

static void sampling_table(void)
{
    static const int fps[6] = {1, 2, 5, 10, 30, 0}, count[6] = {2, 4, 8, 16, 48, 48};
    static const int tb[4] = {30, 90000, 15360, 30000};

    for (size_t b = 0; b < AG_COUNT(tb); b++) {
        for (size_t i = 0; i < AG_COUNT(fps); i++) {
            ArgusTrackSettings s = settings(1, tb[b], fps[i], 1, 8);
            s.frame_rate = (ArgusRational){30, 1};
            Run *r = start(&s);
            for (int k = 0; k < 48; k++)
                frame(r, (int64_t)k * tb[b] / 30, 0);
            flush(r, (int64_t)48 * tb[b] / 30);
            CU_ASSERT_EQUAL(r->n_sample, count[i]);
            CU_ASSERT_EQUAL(r->n_span, (count[i] + 7) / 8);
            CU_ASSERT_EQUAL(r->span[r->n_span - 1].end, (int64_t)48 * tb[b] / 30);
            CU_ASSERT_EQUAL(r->events, 0);
        }
    }
}

static void at_25(void)
{
    static const int64_t at[] = {0, 9, 17, 25, 34, 42, 50, 59, 67, 75};
    ArgusTrackSettings s = settings(1, 25, 3, 1, 4);

    s.frame_rate = (ArgusRational){25, 1};
    Run *r = start(&s);
    for (int k = 0; k < 80; k++)
        frame(r, k, 1);
    flush(r, 80);
    expect_samples(r, 10, at); /* first frame at or after k/3 s */
    expect_spans(r, 3, (const int64_t[][3]){{0, 34, 4}, {34, 67, 4}, {67, 80, 2}});
}

static void origin_and_fractions(void)
{
    /* ticks count from the first frame, 2/3 of a sample a second */
    static const int64_t at[] = {1400, 2900, 4400};
    ArgusTrackSettings s = settings(1, 1000, 2, 3, 8);
    Run *r = start(&s);

    for (int k = 0; k < 40; k++)
        frame(r, 1400 + 100 * k, 100);
    flush(r, ARGUS_NOPTS);
    expect_samples(r, 3, at);
    expect_spans(r, 1, (const int64_t[][3]){{1400, 5400, 3}});
}

static void negative_times(void)
{
    static const int64_t at[] = {-50, 0, 50};
    ArgusTrackSettings s = settings(1, 100, 2, 1, 1);
    Run *r = start(&s);

    for (int k = -50; k < 80; k += 5)
        frame(r, k, 5);
    flush(r, 80);
    expect_samples(r, 3, at);
    expect_spans(r, 3, (const int64_t[][3]){{-50, 0, 1}, {0, 50, 1}, {50, 80, 1}});
}

static void v1_variable_rate(void)
{
    /* frames 0 .. 1.96 at 25 a second, then 7.2, 7.4 ... 9.8 */
    static const int64_t at[] = {0, 1000, 7200, 8000, 9000};

    for (int rate = 0; rate <= 25; rate += 25) {
        for (int duration = 0; duration <= 40; duration += 40) {
            ArgusTrackSettings s = settings(1, 1000, 1, 1, 8);
            s.frame_rate = (ArgusRational){rate, 1};
            Run *r = start(&s);
            for (int k = 0; k < 50; k++)
                frame(r, 40 * k, duration);
            for (int k = 36; k < 50; k++)
                frame(r, 200 * k, duration);
            flush(r, 10000);
            expect_samples(r, 5, at);
            /* S12: the cue before the gap ends at last sample + 1/fps */
            expect_spans(r, 2, (const int64_t[][3]){{0, 2000, 2}, {7200, 10000, 3}});
            CU_ASSERT_EQUAL(r->events, 0);
        }
    }
}

static void v3_rate_above_source(void)
{
    static const int64_t at[] = {0, 1, 2};
    ArgusTrackSettings s = settings(1, 1, 5, 1, 2);

    s.frame_rate = (ArgusRational){1, 1};
    Run *r = start(&s);
    for (int k = 0; k < 3; k++)
        frame(r, k, 1);
    flush(r, 3);
    expect_samples(r, 3, at);
    /* 1/fps is no whole unit here: the last cue lasts 0.2 s, at least one unit */
    expect_spans(r, 2, (const int64_t[][3]){{0, 2, 2}, {2, 3, 1}});
}

static void v4_ntsc_for_an_hour(void)
{
    static const int tb[3] = {30000, 90000, 1000};

    for (size_t b = 0; b < AG_COUNT(tb); b++) {
        ArgusTrackSettings s = settings(1, tb[b], 1, 1, 1);
        s.frame_rate = (ArgusRational){30000, 1001};
        Run *r = start(&s);
        int64_t k = 0, n = 0, bad = 0;
        for (int64_t i = 0; i < 107892; i++) { /* 3600 s */
            /* nearest unit, as muxers round; milliseconds are not exact */
            int64_t pts = (i * 1001 * tb[b] * 2 + 30000) / 60000;
            int wanted = frame(r, pts, 0);
            bad += wanted != (pts >= k * tb[b]);
            if (wanted)
                k = pts / tb[b] + 1;
            if (wanted && n++ == 1)
                CU_ASSERT_EQUAL(argus_time_ms(pts, s.time_base, 0), 1001);
        }
        flush(r, ARGUS_NOPTS);
        CU_ASSERT_EQUAL(bad, 0);
        CU_ASSERT_EQUAL(n, 3600);
        CU_ASSERT_EQUAL(r->n_sample, 3600);
        CU_ASSERT_EQUAL(r->n_span, 3600);
        int64_t gaps = 0;
        for (int i = 1; i < r->n_span; i++)
            gaps += r->span[i].start != r->span[i - 1].end;
        CU_ASSERT_EQUAL(gaps, 0);
        CU_ASSERT_EQUAL(argus_time_ms(r->sample[3599], s.time_base, 0), 3599029);
    }
}

static void never_twice(void)
{
    static const int64_t at[] = {0, 4, 8};
    ArgusTrackSettings s = settings(1, 100, 0, 1, 1);
    Run *r = start(&s);

    for (int k = 0; k < 3; k++) { /* fps=0: one sample for each moment */
        frame(r, 4 * k, 4);
        frame(r, 4 * k, 4);
    }
    flush(r, 12);
    expect_samples(r, 3, at);
    expect_spans(r, 3, (const int64_t[][3]){{0, 4, 1}, {4, 8, 1}, {8, 12, 1}});
}

static void max_frames(void)
{
    ArgusTrackSettings s = settings(1, 10, 2, 1, 2);

    s.max_frames = 3;
    Run *r = start(&s);
    int settled = -1;
    for (int k = 0; k < 50; k++) {
        frame(r, k, 1);
        if (r->n_span == 2 && settled < 0)
            settled = k;
    }
    CU_ASSERT_EQUAL(r->n_sample, 3);
    CU_ASSERT_EQUAL(settled, 15); /* known as soon as the third sample's time is over */
    flush(r, 50);
    expect_spans(r, 2, (const int64_t[][3]){{0, 10, 2}, {10, 15, 1}});

    s.max_frames = 2; /* the window is full and nothing follows */
    r = start(&s);
    for (int k = 0; k < 8; k++)
        frame(r, k, 1);
    flush(r, 8);
    expect_spans(r, 1, (const int64_t[][3]){{0, 8, 2}});
}

/* ------------------------------------------------------------------------ */
/* Times that are missing or wrong                                           */

static void v8_no_times(void)
{
    static const int64_t at[] = {0, 500, 1000};
    ArgusTrackSettings s = settings(1, 1000, 2, 1, 8);

    s.frame_rate = (ArgusRational){24, 1};
    Run *r = start(&s);
    for (int k = 0; k < 30; k++)
        frame(r, ARGUS_NOPTS, 0);
    flush(r, ARGUS_NOPTS);
    expect_samples(r, 3, at); /* frames 0, 12, 24 */
    expect_spans(r, 1, (const int64_t[][3]){{0, 1250, 3}});
    CU_ASSERT_EQUAL(r->events, AG_EVENT_NOPTS);
}

static void no_times_in_between(void)
{
    static const int64_t at[] = {5000, 5500, 6000};
    ArgusTrackSettings s = settings(1, 1000, 2, 1, 8);

    s.frame_rate = (ArgusRational){10, 1};
    Run *r = start(&s);
    frame(r, 5000, 0);
    for (int k = 0; k < 9; k++)
        frame(r, ARGUS_NOPTS, 0);
    frame(r, 6000, 0);
    flush(r, ARGUS_NOPTS);
    expect_samples(r, 3, at);
    CU_ASSERT_EQUAL(r->events, AG_EVENT_NOPTS);
}

static void no_times_no_rate(void)
{
    static const int64_t first[] = {0}, counted[] = {0, 50, 100};
    ArgusTrackSettings s = settings(1, 100, 2, 1, 8);
    Run *r = start(&s);

    for (int k = 0; k < 5; k++)
        frame(r, ARGUS_NOPTS, 0);
    flush(r, ARGUS_NOPTS);
    expect_samples(r, 1, first); /* 0 is as good a start as any; then no telling */
    CU_ASSERT_EQUAL(r->events, AG_EVENT_NOPTS | AG_EVENT_SKIPPED);
    expect_spans(r, 1, (const int64_t[][3]){{0, 50, 1}});

    r = start(&s); /* durations are enough */
    for (int k = 0; k < 6; k++)
        frame(r, ARGUS_NOPTS, 25);
    expect_samples(r, 3, counted);
    CU_ASSERT_EQUAL(r->events, AG_EVENT_NOPTS);
}

static void zero_is_a_time(void)
{
    static const int64_t at[] = {0};
    ArgusTrackSettings s = settings(1, 25, 1, 1, 8);
    Run *r = start(&s);

    frame(r, 0, 1);
    flush(r, 1);
    expect_samples(r, 1, at);
    CU_ASSERT_EQUAL(r->events, 0);
}

static void s8_backwards(void)
{
    static const int64_t at[] = {13, 0, 1};
    ArgusTrackSettings s = settings(1, 10, 0, 1, 8);

    s.frame_rate = (ArgusRational){10, 1};
    Run *r = start(&s);
    frame(r, 13, 0);
    frame(r, 13, 0);
    frame(r, 0, 0);
    frame(r, 1, 0);
    flush(r, ARGUS_NOPTS);
    expect_samples(r, 3, at);
    expect_spans(r, 2, (const int64_t[][3]){{13, 14, 1}, {0, 2, 2}});
    CU_ASSERT_EQUAL(r->events, AG_EVENT_BACKWARDS);
}

static void backwards_restarts_ticks(void)
{
    static const int64_t at[] = {0, 50, 100, 33, 83};
    ArgusTrackSettings s = settings(1, 100, 2, 1, 2);
    Run *r = start(&s);

    for (int t = 0; t < 120; t += 10)
        frame(r, t, 10);
    for (int t = 33; t < 120; t += 10)
        frame(r, t, 10);
    flush(r, ARGUS_NOPTS);
    expect_samples(r, 5, at);
    /* the stretch ends with its last frame, 110 + 10 */
    expect_spans(r, 3, (const int64_t[][3]){{0, 100, 2}, {100, 120, 1}, {33, 123, 2}});
}

/* ------------------------------------------------------------------------ */
/* Windows and the ends of cues                                              */

static void v5_one_frame(void)
{
    ArgusTrackSettings s = settings(1, 1000, 1, 1, 8);
    Run *r = start(&s);

    frame(r, 0, 40); /* its own duration */
    flush(r, ARGUS_NOPTS);
    expect_spans(r, 1, (const int64_t[][3]){{0, 40, 1}});

    r = start(&s); /* the end of the stream */
    frame(r, 0, 40);
    flush(r, 25);
    expect_spans(r, 1, (const int64_t[][3]){{0, 25, 1}});

    r = start(&s); /* nothing is known: 1/fps */
    frame(r, 0, 0);
    flush(r, ARGUS_NOPTS);
    expect_spans(r, 1, (const int64_t[][3]){{0, 1000, 1}});

    s.fps = (ArgusRational){0, 1};
    s.time_base = (ArgusRational){1, 90000};
    r = start(&s); /* nothing at all: a millisecond */
    frame(r, 0, 0);
    flush(r, ARGUS_NOPTS);
    expect_spans(r, 1, (const int64_t[][3]){{0, 90, 1}});

    r = start(&s); /* an end that can't be is no end */
    frame(r, 900, 0);
    frame(r, 1800, 0);
    flush(r, 5);
    expect_spans(r, 1, (const int64_t[][3]){{900, 2700, 2}});
}

static void empty_stream(void)
{
    ArgusTrackSettings s = settings(1, 1000, 1, 1, 8);
    Run *r = start(&s);

    CU_ASSERT_EQUAL(ag_sampler_start(&r->p), ARGUS_NOPTS);
    flush(r, ARGUS_NOPTS);
    flush(r, 1000);
    CU_ASSERT_EQUAL(r->n_span, 0);
    CU_ASSERT_EQUAL(r->n_sample, 0);
    CU_ASSERT_EQUAL(r->events, 0);
}

static void v7_last_window(void)
{
    ArgusTrackSettings s = settings(1, 10, 1, 1, 5);
    Run *r = start(&s);

    for (int k = 0; k < 73; k++)
        frame(r, k, 1);
    flush(r, 73);
    expect_spans(r, 2, (const int64_t[][3]){{0, 50, 5}, {50, 73, 3}});
}

static void full_window_waits_for_its_end(void)
{
    ArgusTrackSettings s = settings(1, 10, 1, 1, 2);
    Run *r = start(&s);

    for (int k = 0; k <= 10; k++)
        frame(r, k, 1);
    CU_ASSERT_EQUAL(r->n_taken_full, 1); /* can be captioned */
    CU_ASSERT_EQUAL(r->n_span, 0);       /* but has no end yet */
    CU_ASSERT_EQUAL(ag_sampler_start(&r->p), 0);
    for (int k = 11; k < 20; k++)
        frame(r, k, 1);
    CU_ASSERT_EQUAL(r->n_span, 0);
    frame(r, 20, 1);
    expect_spans(r, 1, (const int64_t[][3]){{0, 20, 2}});
    CU_ASSERT_EQUAL(r->span[0].full, 1);
    CU_ASSERT_EQUAL(ag_sampler_start(&r->p), 20);
}

static void gap_rule(void)
{
    /* longest of 2/fps, 3 frames, 1 s; a cue that is not followed closely ends
     * at its last sample + 1/fps */
    static const struct {
        int fps, rate, next; /* the gap follows samples at 0 and at `next` ms */
        int64_t at, n_frame, end;
    } t[] = {
        {1, 25, 1000, 3000, 3, 0},       /* 2 s are no gap at 1 fps */
        {1, 25, 1000, 3001, 2, 2000},
        {10, 25, 100, 1100, 3, 0},       /* 1 s */
        {10, 25, 100, 1101, 2, 200},
        {5, 1, 1000, 4000, 3, 0},        /* 3 frames of 1 s */
        {5, 1, 1000, 4001, 2, 1200},
        {0, 2, 500, 2000, 3, 0},         /* every frame: frames of 0.5 s, 3 of them */
        {0, 2, 500, 2001, 2, 1000},
    };

    for (size_t i = 0; i < AG_COUNT(t); i++) {
        ArgusTrackSettings s = settings(1, 1000, t[i].fps, 1, 8);
        s.frame_rate = (ArgusRational){t[i].rate, 1};
        Run *r = start(&s);
        CU_ASSERT_EQUAL(frame(r, 0, 0), 1);
        CU_ASSERT_EQUAL(frame(r, t[i].next, 0), 1);
        CU_ASSERT_EQUAL(frame(r, t[i].at, 0), 1);
        CU_ASSERT_EQUAL(r->n_span, t[i].n_frame == 2);
        if (r->n_span)
            CU_ASSERT_EQUAL(r->span[0].end, t[i].end);
        flush(r, ARGUS_NOPTS);
        CU_ASSERT_EQUAL(r->span[0].n_frame, t[i].n_frame);
    }
}

static void near_miss_is_no_overlap(void)
{
    /* the next window is later than 1/fps + one frame, but that is no gap */
    ArgusTrackSettings s = settings(1, 1000, 1, 1, 2);

    s.frame_rate = (ArgusRational){25, 1};
    Run *r = start(&s);
    frame(r, 0, 0);
    frame(r, 1000, 0);
    frame(r, 2041, 0); /* 1 ms more than 1 s + 40 ms */
    frame(r, 3000, 0);
    frame(r, 4040, 0); /* just close enough */
    flush(r, 4500);
    expect_spans(r, 3, (const int64_t[][3]){{0, 2000, 2}, {2041, 4040, 2}, {4040, 4500, 1}});
}

static void hop(void)
{
    ArgusTrackSettings s = settings(1, 10, 1, 1, 4);

    s.hop = 2;
    Run *r = start(&s);
    for (int k = 0; k < 75; k++) /* samples at 0 .. 7 s */
        frame(r, k, 1);
    CU_ASSERT_EQUAL(ag_sampler_start(&r->p), 40); /* 4 5 6 7 is full, waits for its end */
    flush(r, 75);
    /* windows 0-3, 2-5, 4-7; nothing new after that, so no fourth */
    expect_spans(r, 3, (const int64_t[][3]){{0, 20, 4}, {20, 40, 4}, {40, 75, 4}});

    r = start(&s); /* one more sample: a shorter window with two old ones */
    for (int k = 0; k < 85; k++)
        frame(r, k, 1);
    flush(r, 85);
    expect_spans(r, 4, (const int64_t[][3]){{0, 20, 4}, {20, 40, 4}, {40, 60, 4}, {60, 85, 3}});

    r = start(&s); /* a gap drops what would have been carried over */
    for (int k = 0; k <= 30; k += 10)
        frame(r, k, 1);
    frame(r, 90, 1);
    flush(r, 100);
    expect_spans(r, 2, (const int64_t[][3]){{0, 40, 4}, {90, 100, 1}});
}

static void flush_and_on(void)
{
    /* as `enable` does: two spans of one clip; the ticks are the clip's */
    static const int64_t at[] = {0, 10, 20, 37, 40, 50};
    ArgusTrackSettings s = settings(1, 10, 1, 1, 8);
    Run *r = start(&s);

    for (int k = 0; k < 25; k++)
        frame(r, k, 1);
    flush(r, 25);
    for (int k = 37; k < 58; k++)
        frame(r, k, 1);
    flush(r, 58);
    flush(r, 58); /* nothing is open: nothing happens */
    expect_samples(r, 6, at);
    expect_spans(r, 2, (const int64_t[][3]){{0, 25, 3}, {37, 58, 3}});

    r = start(&s); /* going back after the end is a new start, not trouble */
    frame(r, 100, 1);
    flush(r, ARGUS_NOPTS);
    frame(r, 0, 1);
    flush(r, ARGUS_NOPTS);
    expect_spans(r, 2, (const int64_t[][3]){{100, 101, 1}, {0, 1, 1}});
    CU_ASSERT_EQUAL(r->events, 0);
}

static void wanted_but_not_given(void)
{
    ArgusTrackSettings s = settings(1, 10, 1, 1, 2);
    Run *r = start(&s);
    AgSpan span;
    int events;

    CU_ASSERT_EQUAL(ag_sampler_frame(&r->p, 0, 1, &span, &events), 1);
    CU_ASSERT_EQUAL(ag_sampler_start(&r->p), 0);
    CU_ASSERT_EQUAL(ag_sampler_frame(&r->p, 1, 1, &span, &events), 0);
    CU_ASSERT_EQUAL(ag_sampler_start(&r->p), ARGUS_NOPTS);
    frame(r, 10, 1);
    flush(r, 20);
    expect_spans(r, 1, (const int64_t[][3]){{10, 20, 1}});
    CU_ASSERT_EQUAL(r->p.n_sample, 1);
}

/* ------------------------------------------------------------------------ */
/* Random streams                                                            */

static uint64_t seed;

static int64_t rnd(int64_t n) /* 0 .. n-1; xorshift64* */
{
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return (int64_t)((seed * 0x2545F4914F6CDD1Du >> 33) % (uint64_t)n);
}

/* What must hold for the spans of one run, in the order they came. */
typedef struct Check {
    int64_t end;      /* of the last span in this stretch */
    int have;
    int64_t n_frame;  /* in all spans */
    int bad;
} Check;

static void check_span(Check *c, const AgSpan *s, int64_t limit, const ArgusTrackSettings *set)
{
    if (!s->n_frame)
        return;
    c->bad += s->end <= s->start;
    c->bad += s->n_frame > set->window;
    c->bad += s->end > limit;
    c->bad += c->have && s->start < c->end;
    c->end = s->end;
    c->have = 1;
    c->n_frame += s->n_frame;
}

static ArgusTrackSettings random_settings(void)
{
    static const int dens[] = {1, 10, 25, 1000, 1001, 30000, 90000, 1000000, INT32_MAX};
    static const ArgusRational rates[] = {{0, 1}, {25, 1}, {30000, 1001}, {1, 1}, {1, 10},
                                          {1000, 1}, {INT32_MAX, 1}, {1, INT32_MAX}, {0, 0}};
    ArgusTrackSettings s = settings(1 + (int)rnd(3) / 2, dens[rnd(AG_COUNT(dens))], (int)rnd(4), 1,
                                    1 + (int)rnd(5));

    if (rnd(3) == 0)
        s.fps = (ArgusRational){(int)rnd(100), 1 + (int)rnd(100)};
    if (rnd(20) == 0)
        s.fps = (ArgusRational){INT32_MAX, 1 + (int)rnd(INT32_MAX)};
    s.frame_rate = rates[rnd(AG_COUNT(rates))];
    s.hop = (int)rnd(s.window + 1);
    s.max_frames = rnd(4) ? 0 : (int)rnd(20);
    return s;
}

/* One random stream; every rule that holds for all streams is checked. */
static int random_stream(void)
{
    ArgusTrackSettings s = random_settings();
    Run *r = start(&s);
    int64_t unit = 1 + s.time_base.den / (10 + rnd(40)), t = rnd(3) * unit - unit;
    int64_t last_sample = ARGUS_NOPTS, taken = 0;
    Check c = {0};
    int n = (int)rnd(120), kind = (int)rnd(4), numbers_ok = 1;
    int64_t next_window = 0;

    for (int i = 0; i < n; i++) {
        AgSpan span;
        int events, what = kind ? (int)rnd(40) : 9;
        int64_t d = rnd(3) ? 0 : rnd(2) ? unit : rnd(3 * unit + 1);
        int backwards = what == 0, missing = what == 1;

        t += what == 2 ? rnd(200) * unit : what == 3 ? 0 : kind == 1 ? rnd(2 * unit) : unit;
        if (backwards)
            t -= rnd(100) * unit;
        int64_t before = r->p.last;
        int seen = r->p.have_last;
        int wanted = ag_sampler_frame(&r->p, missing ? ARGUS_NOPTS : t, d, &span, &events);
        t = r->p.last; /* a counted time may have run ahead */
        if (t > INT64_MAX / 4 || t < INT64_MIN / 4)
            t = 0;
        int turned = seen && r->p.last < before;
        check_span(&c, &span, turned ? INT64_MAX : r->p.last, &s);
        if (span.n_frame)
            numbers_ok &= span.window == next_window++;
        if (turned) {
            c.have = 0;
            last_sample = ARGUS_NOPTS;
        }
        if (wanted) {
            c.bad += last_sample != ARGUS_NOPTS && r->p.cand <= last_sample;
            c.bad += c.have && r->p.cand < c.end && s.hop && s.hop == s.window;
            if (rnd(50)) {
                last_sample = r->p.cand;
                taken++;
                ag_sampler_take(&r->p);
            }
        }
        if (what == 5) {
            int64_t end = rnd(2) ? ARGUS_NOPTS : r->p.last + rnd(5) * unit - unit;
            ag_sampler_flush(&r->p, end, &span);
            check_span(&c, &span, end > r->p.last ? end : INT64_MAX, &s);
            if (span.n_frame)
                numbers_ok &= span.window == next_window++;
        }
    }
    AgSpan span;
    ag_sampler_flush(&r->p, ARGUS_NOPTS, &span);
    check_span(&c, &span, INT64_MAX, &s);
    if (!s.hop || s.hop == s.window)
        c.bad += c.n_frame != taken; /* every sample is in one cue */
    else
        c.bad += c.n_frame < taken;
    c.bad += s.max_frames && taken > s.max_frames;
    return c.bad + !numbers_ok;
}

static void random_streams(void)
{
    int bad = 0;

    for (uint64_t i = 1; i <= 20000 && bad < 5; i++) {
        seed = i * 0x9E3779B97F4A7C15u;
        if (random_stream()) {
            printf("\n    random stream %d breaks a rule", (int)i);
            bad++;
        }
    }
    CU_ASSERT_EQUAL(bad, 0);
}

/* Against the plainest possible rule, tick by tick. */
static void random_ticks(void)
{
    int bad = 0;

    for (uint64_t i = 1; i <= 2000; i++) {
        seed = i * 0xD1B54A32D192ED03u;
        ArgusTrackSettings s = settings(1, 1 + (int)rnd(2000), 1 + (int)rnd(50), 1 + (int)rnd(9), 8);
        Run *r = start(&s);
        int64_t first = rnd(1000) - 500, t = first, k = 0;
        for (int n = 0; n < 300; n++) {
            int expect = 0;
            /* (t - first) / den seconds >= k * fps.den / fps.num */
            while ((t - first) * s.fps.num >= k * s.fps.den * s.time_base.den) {
                expect = 1;
                k++;
            }
            bad += frame(r, t, 0) != expect;
            t += 1 + rnd(s.time_base.den / 4 + 1);
        }
    }
    CU_ASSERT_EQUAL(bad, 0);
}

/* Far ends of the number range: nothing overflows, cues keep their order. */
static void huge_times(void)
{
    static const int64_t at[] = {INT64_MIN + 1, INT64_MIN / 2, 0, INT64_MAX / 2, INT64_MAX - 1};

    for (int i = 0; i < 3; i++) {
        ArgusTrackSettings s = i == 0 ? settings(1, INT32_MAX, INT32_MAX, 1, 1)
                             : i == 1 ? settings(INT32_MAX, 1, 1, INT32_MAX, 2)
                                      : settings(1, 1000, 1, 1, 1);
        s.frame_rate = (ArgusRational){1, INT32_MAX};
        Run *r = start(&s);
        for (size_t k = 0; k < AG_COUNT(at); k++)
            frame(r, at[k], k % 2 ? INT64_MAX : 0);
        frame(r, ARGUS_NOPTS, 0);
        flush(r, INT64_MAX);
        for (int k = 0; k < r->n_span; k++) {
            CU_ASSERT(r->span[k].end > r->span[k].start);
            CU_ASSERT(k == 0 || r->span[k].start >= r->span[k - 1].end);
        }
        CU_ASSERT(r->n_sample >= 1);
    }
}

static void check_settings(void)
{
    static const struct {
        const char *word;
        int time_base, fps, fps_den, window, hop, max_frames, split, reuse;
    } t[] = {
        {"time_base", 0, 1, 1, 8, 0, 0, 0, 1}, {"fps", 1, -1, 1, 8, 0, 0, 0, 1},
        {"fps", 1, 1, 0, 8, 0, 0, 0, 1},       {"window", 1, 1, 1, 0, 0, 0, 0, 1},
        {"window", 1, 1, 1, AG_MAX_WINDOW + 1, 0, 0, 0, 1},
        {"hop", 1, 1, 1, 8, 9, 0, 0, 1},       {"hop", 1, 1, 1, 8, -1, 0, 0, 1},
        {"max_frames", 1, 1, 1, 8, 0, -1, 0, 1},
        {"split", 1, 1, 1, 8, 0, 0, 2, 1},     {"reuse", 1, 1, 1, 8, 0, 0, 0, -1},
    };
    ArgusTrackSettings s;

    argus_track_default_settings(&s);
    s.logger = *ag_test_log();
    CU_ASSERT_EQUAL(argus_track_check(&s), 0);
    CU_ASSERT_EQUAL(s.window, 8);
    CU_ASSERT_EQUAL(s.decoding.max_tokens, 64);
    for (size_t i = 0; i < AG_COUNT(t); i++) {
        s.time_base.num = t[i].time_base;
        s.fps = (ArgusRational){t[i].fps, t[i].fps_den};
        s.window = t[i].window;
        s.hop = t[i].hop;
        s.max_frames = t[i].max_frames;
        s.split = t[i].split;
        s.reuse = t[i].reuse;
        ag_messages_clear();
        CU_ASSERT(argus_track_check(&s) < 0);
        CU_ASSERT(ag_message_has(t[i].word));
    }
    argus_track_default_settings(&s);
    s.logger = *ag_test_log();
    s.decoding.temperature = 0.5; /* without a seed */
    CU_ASSERT(argus_track_check(&s) < 0);
    ag_messages_clear();
    ag_sampler_close(&run.p);
}

void ag_tests_track_sampler(void)
{
    static const AgTest tests[] = {
        {"milliseconds, rounded once", time_ms},
        {"48 frames at 30 fps", sampling_table},
        {"25 frames a second at fps=3", at_25},
        {"origin of ticks, fps=2/3", origin_and_fractions},
        {"times below zero", negative_times},
        {"V1 S12 variable frame rate", v1_variable_rate},
        {"V3 fps above the source's rate", v3_rate_above_source},
        {"V4 29.97 for an hour", v4_ntsc_for_an_hour},
        {"no moment twice at fps=0", never_twice},
        {"max_frames", max_frames},
        {"V8 frames without times", v8_no_times},
        {"V8 some frames without times", no_times_in_between},
        {"V8 no times, no rate", no_times_no_rate},
        {"V8 zero is a time", zero_is_a_time},
        {"S8 time runs backwards", s8_backwards},
        {"S8 ticks start again", backwards_restarts_ticks},
        {"V5 one frame", v5_one_frame},
        {"no frame", empty_stream},
        {"V7 last window", v7_last_window},
        {"a full window waits for its end", full_window_waits_for_its_end},
        {"gap rule", gap_rule},
        {"S12 next window a little late", near_miss_is_no_overlap},
        {"hop", hop},
        {"flush and going on", flush_and_on},
        {"a wanted frame that never came", wanted_but_not_given},
        {"20000 random streams", random_streams},
        {"2000 random streams, tick by tick", random_ticks},
        {"huge times", huge_times},
        {"settings out of range", check_settings},
        {NULL, NULL},
    };

    ag_suite("track_sampler", tests);
}
