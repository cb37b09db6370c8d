/*
 * Exact time, and the sampler that turns the times of
 * a stream's frames into samples, windows and the spans of cues. The sampler
 * knows no pictures and no model, so tests drive it alone. doc/track.md states
 * its rules with examples.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TRACK_SAMPLER_H
#define AG_TRACK_SAMPLER_H

#include "libargus/argus.h"
#include "libargus/base/common.h"

enum { AG_MAX_WINDOW = 65536 }; /* samples; a context holds far fewer */

/* (pts * time_base + offset_us / 10^6) * per_second, rounded half away from
 * zero once. Saturates; ARGUS_NOPTS for ARGUS_NOPTS and for a time base that
 * is not positive. */
int64_t ag_time_round(int64_t pts, ArgusRational time_base, int64_t offset_us, int per_second);

/* A length of time in units of the track's time base: num / den, den > 0. */
typedef struct AgLength {
    int64_t num, den;
} AgLength;

/* A window whose end is known. */
typedef struct AgSpan {
    int64_t start, end; /* end > start */
    int64_t window;     /* 0-based number */
    int n_frame;        /* samples, 0 = no span */
    int full;           /* 1: ag_sampler_take() has announced it */
} AgSpan;

enum AgSamplerEvent {
    AG_EVENT_NOPTS = 1,    /* the frame came without a time: counted */
    AG_EVENT_SKIPPED = 2,  /* and there was nothing to count with: not sampled */
    AG_EVENT_BACKWARDS = 4 /* time ran backwards inside a stretch */
};

typedef struct AgSampler {
    ArgusRational tb;
    AgLength step;        /* 1/fps; num 0 = every frame */
    AgLength nominal;     /* frame duration of frame_rate; num 0 = unknown */
    int window, hop, max_frames;

    /* the stretch: since the start, or since time last ran backwards */
    int started;
    int64_t origin;       /* time of tick 0 */
    AgI128 tick;          /* number of the next tick */
    int have_last;        /* a frame was seen */
    int64_t last;         /* its time */
    AgLength last_length; /* its duration, num 0 = unknown */
    int ended;            /* flushed since that frame */
    int64_t floor;        /* no sample before: end of a cue that was flushed */

    /* frames without times */
    int have_base;
    int64_t base, n_after; /* last known time, frames since */

    /* samples */
    int64_t n_sample;     /* all so far */
    int have_sample;      /* one in this stretch since the last flush */
    int64_t sample;       /* its time */
    AgLength sample_length; /* its frame's duration */
    int wanted;           /* ag_sampler_frame() gave 1, not taken yet */
    int64_t cand;
    AgLength cand_length;

    /* windows */
    int64_t *times;       /* [window] of the samples in the open window */
    int n, n_new;         /* samples in it; those of them in no earlier window */
    int due;              /* a full window waits for its end */
    AgSpan full;          /* that window */
    int64_t n_window;     /* numbers given */
} AgSampler;

/* s has been checked. @return 0 or ENOMEM. */
int ag_sampler_open(AgSampler *p, const ArgusTrackSettings *s);
void ag_sampler_close(AgSampler *p);
/* Where a flushed sampler is; ag_sampler_open() with it in s->from goes on. */
void ag_sampler_position(const AgSampler *p, ArgusTrackPosition *pos);
/* Announce a frame. @return 1 if it is wanted, else 0. *span is the window
 * whose end became known with it; *events a mask of AgSamplerEvent. */
int ag_sampler_frame(AgSampler *p, int64_t pts, int64_t duration, AgSpan *span, int *events);
/* The wanted frame is in. @return 1 if it filled the window: p->full then has
 * its start and number, and the last hop samples have left the open window. */
int ag_sampler_take(AgSampler *p);
/* The wanted frame is left out, though the stream had it: the window that is open
 * covers it, and the distance to the next sample is no gap. */
void ag_sampler_leave(AgSampler *p);
/* End of a stretch at `end` or ARGUS_NOPTS; *span as above. */
void ag_sampler_flush(AgSampler *p, int64_t end, AgSpan *span);
/* First time that a later cue can have, ARGUS_NOPTS if nothing is open. */
int64_t ag_sampler_start(const AgSampler *p);

#endif /* AG_TRACK_SAMPLER_H */
