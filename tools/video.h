/*
 * A video -> captions with times: media reader, track and sinks put together.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TOOLS_VIDEO_H
#define AG_TOOLS_VIDEO_H

#include "tools/sink.h"

typedef struct AgVideoOptions {
    AgSinkOptions sink;
    ArgusRational fps;
    int window, hop, max_frames, split, reuse;
    int max_tokens;            /* 0 = the track's default */
    int merge, wrap, lines;
    int square, copyts;        /* see AgMediaOptions */
    int64_t from_us, to_us;    /* AG_TIME_NONE = not given */
    int64_t offset_us;
    const char *given;         /* one that is for videos only and was given, NULL = none */
} AgVideoOptions;

struct AgCli;

void ag_video_default(AgVideoOptions *v);

/* What the track is to do, but for the times of the stream. */
void ag_video_settings(ArgusTrackSettings *t, const struct AgCli *o);

/* Caption one video. Adds the time of reading to *us_read.
 * @return 0, or -1 if something failed, which has been told. */
int ag_video_run(ArgusContext *ctx, const ArgusModel *model, const struct AgCli *o,
                 const char *input, int64_t *us_read);

#endif /* AG_TOOLS_VIDEO_H */
