/*
 * Media files -> frames, by way of the system's libavformat, libavcodec and
 * libswscale. Nothing here knows what a window or a caption is.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TOOLS_MEDIA_H
#define AG_TOOLS_MEDIA_H

#include "config.h"
#include "tools/picture_priv.h"

/* No time given. The value libav uses, too. */
#define AG_TIME_NONE ARGUS_NOPTS

enum AgMediaKind {
    AG_MEDIA_PICTURE, /* for ag_pic_load(), which also tells what is wrong with it */
    AG_MEDIA_VIDEO,   /* for ag_media_open() */
};

/* What the input is, by its content. JPEG and PNG are pictures, and so is
 * what libavformat finds to be one single picture; pipes are not looked into
 * and pass for pictures. Names with a protocol ("https:...") or a pattern
 * ("frame%03d.png") that are no files are videos. Built without libavformat
 * everything is a picture. */
int ag_media_kind(const char *path);

/* Why nothing but JPEG and PNG can be read; NULL when libav's libraries are there. */
const char *ag_media_missing(void);

/* One picture of a kind that libav knows, the AgPicOptions.other of the
 * program; NULL when built without it.
 * @return as ag_pic_decode(); 1 if libav doesn't know it either, nothing was told. */
#if CONFIG_MEDIA
int ag_media_still(AgPic *out, int *orientation, const AgPicFile *f);
#else
#define ag_media_still NULL
#endif

typedef struct AgMediaOptions {
    int64_t from_us, to_us; /* part to read, from the container's start; AG_TIME_NONE = all */
    int copyts;             /* 1: times as stored, 0: counted from the start, or from from_us */
    int square;             /* 1: tell the sample aspect ratio, 0: say 1/1 */
    int threads;            /* of the decoder; 0 = as many as libavcodec likes */
} AgMediaOptions;

typedef struct AgMediaInfo {
    ArgusRational time_base;
    ArgusRational frame_rate; /* nominal; 0/1 if unknown */
    int64_t length_us;        /* of the part to read, 0 if unknown */
} AgMediaInfo;

typedef struct AgMediaFrame {
    int64_t pts;      /* time_base units, ARGUS_NOPTS if it has none */
    int64_t duration; /* 0 if unknown */
} AgMediaFrame;

typedef struct AgMedia AgMedia;

/* Open the best video stream of a file or URL: not an attached picture; the
 * default one before others; then the largest. Failures have been told.
 * @return 0, ARGUS_ERR(errno), ARGUS_ERR_FORMAT, ARGUS_ERR_UNSUPPORTED,
 *         ARGUS_ERR_CANCELLED when the program was told to stop. */
int ag_media_open(AgMedia **m, const char *path, const AgMediaOptions *o);
void ag_media_close(AgMedia **m);
void ag_media_info(const AgMedia *m, AgMediaInfo *info);

/* Decode the next frame of the part. @return 1 and *f; 0 at its end, also if
 * that came too early: ag_media_failed() tells. */
int ag_media_next(AgMedia *m, AgMediaFrame *f);
/* Pixels of that frame, upright, until the next call. The conversion is that
 * of the filter: same size, the frame's matrix, range and chroma siting. */
int ag_media_pixels(AgMedia *m, ArgusImage *image, ArgusRational *sar);
/* End of the last frame, ARGUS_NOPTS if unknown. */
int64_t ag_media_end(const AgMedia *m);
/* 1 if the stream could not be read to its end. Told once. */
int ag_media_failed(AgMedia *m);

#endif /* AG_TOOLS_MEDIA_H */
