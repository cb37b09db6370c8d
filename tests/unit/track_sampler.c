/*
 * Unit tests of the sampler: which frames are taken, where windows end, what
 * time a cue gets. Only times go in, so no model is needed. Names that begin
 * with V or S are cases of public bug reports.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tests/unit/unit.h"

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
            CU_ASSERT_EQUAL(r->events, 0); /* V8: zero is a time */
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

static void distances_for_durations(void)
{
    /* neither durations nor a rate: frames last as long as the ones before a
     * gap or a pause did, not as long as that */
    ArgusTrackSettings s = settings(1, 1000, 2, 1, 8);
    Run *r = start(&s);

    for (int k = 0; k <= 10; k++)
        frame(r, 100 * k, 0);
    frame(r, 5000, 0);
    flush(r, ARGUS_NOPTS);
    frame(r, 9000, 0);
    flush(r, ARGUS_NOPTS);
    expect_spans(r, 3, (const int64_t[][3]){{0, 1500, 3}, {5000, 5100, 1}, {9000, 9100, 1}});
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

void ag_tests_track_sampler(void)
{
    static const AgTest tests[] = {
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
        {"S8 time runs backwards", s8_backwards},
        {"S8 ticks start again", backwards_restarts_ticks},
        {"V5 one frame", v5_one_frame},
        {"no frame", empty_stream},
        {"V7 last window", v7_last_window},
        {"a full window waits for its end", full_window_waits_for_its_end},
        {"gap rule", gap_rule},
        {"S12 next window a little late", near_miss_is_no_overlap},
        {"hop", hop},
        {"distances for durations", distances_for_durations},
        {"flush and going on", flush_and_on},
        {"a wanted frame that never came", wanted_but_not_given},
        {NULL, NULL},
    };

    ag_suite("track_sampler", tests);
}
