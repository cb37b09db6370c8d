/*
 * Unit tests of the sampler over random streams: what holds for every stream,
 * whatever its times are.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tests/unit/unit.h"

#include <stdio.h>

#include "libargus/base/common.h"
#include "libargus/track_sampler.h"

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
    ArgusTrackSettings s;

    argus_track_default_settings(&s);
    s.time_base = (ArgusRational){1 + (int)rnd(3) / 2, dens[rnd(AG_COUNT(dens))]};
    s.fps = (ArgusRational){(int)rnd(4), 1};
    s.window = 1 + (int)rnd(5);
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
    AgSampler p;
    int64_t unit = 1 + s.time_base.den / (10 + rnd(40)), t = rnd(3) * unit - unit;
    int64_t last_sample = ARGUS_NOPTS, taken = 0;
    Check c = {0};
    int n = (int)rnd(120), kind = (int)rnd(4), numbers_ok = 1;
    int64_t next_window = 0;

    CU_ASSERT_EQUAL_FATAL(ag_sampler_open(&p, &s), 0);
    for (int i = 0; i < n; i++) {
        AgSpan span;
        int events, what = kind ? (int)rnd(40) : 9;
        int64_t d = rnd(3) ? 0 : rnd(2) ? unit : rnd(3 * unit + 1);
        int backwards = what == 0, missing = what == 1;

        t += what == 2 ? rnd(200) * unit : what == 3 ? 0 : kind == 1 ? rnd(2 * unit) : unit;
        if (backwards)
            t -= rnd(100) * unit;
        int64_t before = p.last;
        int seen = p.have_last;
        int wanted = ag_sampler_frame(&p, missing ? ARGUS_NOPTS : t, d, &span, &events);
        t = p.last; /* a counted time may have run ahead */
        if (t > INT64_MAX / 4 || t < INT64_MIN / 4)
            t = 0;
        int turned = seen && p.last < before;
        check_span(&c, &span, turned ? INT64_MAX : p.last, &s);
        if (span.n_frame)
            numbers_ok &= span.window == next_window++;
        if (turned) {
            c.have = 0;
            last_sample = ARGUS_NOPTS;
        }
        if (wanted) {
            c.bad += last_sample != ARGUS_NOPTS && p.cand <= last_sample;
            c.bad += c.have && p.cand < c.end && s.hop && s.hop == s.window;
            if (rnd(50)) {
                last_sample = p.cand;
                taken++;
                ag_sampler_take(&p);
            }
        }
        if (what == 5) {
            int64_t end = rnd(2) ? ARGUS_NOPTS : p.last + rnd(5) * unit - unit;
            ag_sampler_flush(&p, end, &span);
            check_span(&c, &span, end > p.last ? end : INT64_MAX, &s);
            if (span.n_frame)
                numbers_ok &= span.window == next_window++;
        }
    }
    AgSpan span;
    ag_sampler_flush(&p, ARGUS_NOPTS, &span);
    check_span(&c, &span, INT64_MAX, &s);
    if (!s.hop || s.hop == s.window)
        c.bad += c.n_frame != taken; /* every sample is in one cue */
    else
        c.bad += c.n_frame < taken;
    c.bad += s.max_frames && taken > s.max_frames;
    ag_sampler_close(&p);
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
        AgSampler p;
        ArgusTrackSettings s;
        argus_track_default_settings(&s);
        s.time_base = (ArgusRational){1, 1 + (int)rnd(2000)};
        s.fps = (ArgusRational){1 + (int)rnd(50), 1 + (int)rnd(9)};
        CU_ASSERT_EQUAL_FATAL(ag_sampler_open(&p, &s), 0);
        int64_t first = rnd(1000) - 500, t = first, k = 0;
        for (int n = 0; n < 300; n++) {
            int expect = 0;
            /* (t - first) / den seconds >= k * fps.den / fps.num */
            while ((t - first) * s.fps.num >= k * s.fps.den * s.time_base.den) {
                expect = 1;
                k++;
            }
            AgSpan span;
            int events, wanted = ag_sampler_frame(&p, t, 0, &span, &events);
            bad += wanted != expect;
            if (wanted)
                ag_sampler_take(&p);
            t += 1 + rnd(s.time_base.den / 4 + 1);
        }
        ag_sampler_close(&p);
    }
    CU_ASSERT_EQUAL(bad, 0);
}

/* Far ends of the number range: nothing overflows, cues keep their order. */
static void huge_times(void)
{
    static const int64_t at[] = {INT64_MIN + 1, INT64_MIN / 2, 0, INT64_MAX / 2, INT64_MAX - 1};

    for (int i = 0; i < 3; i++) {
        static const ArgusRational tb[] = {{1, INT32_MAX}, {INT32_MAX, 1}, {1, 1000}};
        static const ArgusRational fps[] = {{INT32_MAX, 1}, {1, INT32_MAX}, {1, 1}};
        ArgusTrackSettings s;
        AgSampler p;
        Check c = {0};
        argus_track_default_settings(&s);
        s.time_base = tb[i];
        s.fps = fps[i];
        s.window = 1 + i % 2;
        s.frame_rate = (ArgusRational){1, INT32_MAX};
        CU_ASSERT_EQUAL_FATAL(ag_sampler_open(&p, &s), 0);
        for (size_t k = 0; k <= AG_COUNT(at); k++) {
            AgSpan span;
            int events;
            int64_t t = k < AG_COUNT(at) ? at[k] : ARGUS_NOPTS;
            if (ag_sampler_frame(&p, t, k % 2 ? INT64_MAX : 0, &span, &events))
                ag_sampler_take(&p);
            check_span(&c, &span, INT64_MAX, &s);
        }
        AgSpan span;
        ag_sampler_flush(&p, INT64_MAX, &span);
        check_span(&c, &span, INT64_MAX, &s);
        CU_ASSERT_EQUAL(c.bad, 0);
        CU_ASSERT(c.n_frame >= 1);
        CU_ASSERT_EQUAL(c.n_frame, p.n_sample);
        ag_sampler_close(&p);
    }
}

void ag_tests_track_random(void)
{
    static const AgTest tests[] = {
        {"S8 20000 random streams", random_streams},
        {"2000 random streams, tick by tick", random_ticks},
        {"huge times", huge_times},
        {NULL, NULL},
    };

    ag_suite("track_random", tests);
}
