/*
 * Helpers of the track's tests: a clip, the embedded model, cues collected.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TESTS_CLIP_H
#define AG_TESTS_CLIP_H

#include "tests/unit/unit.h"

enum { CLIP_W = 160, CLIP_H = 120, CLIP_MAX_CUE = 32 };
extern const ArgusRational clip_square; /* 1/1 */

/* Picture k of the clip: a red square on black that moves to the right. The
 * pixels are valid until the next call. */
ArgusImage clip_picture(int k);
extern const int clip_moving[10]; /* 0, 1, 2 ... */

/* A context on argus-tiny with two threads. */
ArgusContext *clip_open(void);
ArgusStats clip_stats(const ArgusContext *ctx);
/* Milliseconds, frames and samples every 500 ms. */
ArgusTrackSettings clip_settings(int window);

typedef struct Cues {
    ArgusCue cue[CLIP_MAX_CUE];
    char text[CLIP_MAX_CUE][128]; /* copies */
    int n, n_error, error;
} Cues;

/* Collect what is finished. */
void clip_poll(ArgusTrack *t, Cues *c);
/* Announce picture k, push it if it is wanted, collect. @return < 0 on error. */
int clip_frame(ArgusTrack *t, int64_t pts, int k, Cues *c);
/* A track over frames with these pictures, 500 ms apart, to the end. */
Cues clip_run(ArgusContext *ctx, const ArgusTrackSettings *s, const int *k, int n);
/* Assert that cue i is what argus_describe() says about these pictures. */
void clip_expect(ArgusContext *ctx, const Cues *c, int i, const int *k, const char *prompt);

#endif /* AG_TESTS_CLIP_H */
