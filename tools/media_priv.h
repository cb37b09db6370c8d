/*
 * Shared by the readers of video and of single pictures.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TOOLS_MEDIA_PRIV_H
#define AG_TOOLS_MEDIA_PRIV_H

#include "tools/media.h"
#include "tools/media_load.h"

/* Frames -> packed pixels of the same size. */
typedef struct AgConverter {
    struct SwsContext *sws;
    int key[7];         /* what sws was made for */
    uint8_t *data;      /* the last result */
    size_t size;
    ptrdiff_t stride;
} AgConverter;

/* format: AV_PIX_FMT_RGB24 or AV_PIX_FMT_RGBA.
 * @return 0 or an AVERROR; AVERROR(ENOSYS) if there is no conversion. */
int ag_convert(AgConverter *c, const AVFrame *frame, enum AVPixelFormat format);
void ag_convert_free(AgConverter *c);

/* EXIF orientation, 1..8, that a display matrix asks for; 0 if it asks for
 * something else, as half a turn and a bit. NULL asks for nothing. */
int ag_matrix_orientation(const int32_t *matrix);
/* The display matrix of a frame, else of its stream; NULL if there is none. */
const int32_t *ag_display_matrix(const AVFrame *frame, const AVStream *st);

/* Best video stream, -1 if there is none. *covers: attached pictures seen. */
int ag_best_video(const AVFormatContext *fmt, int *covers);
/* Decoder of a stream, open; all other streams are discarded.
 * @return 0 or an AVERROR. */
int ag_open_decoder(AVCodecContext **dec, AVFormatContext *fmt, int stream, int threads,
                    int strict);
/* 1 if what is open is one single picture. May read on. */
int ag_is_still(AVFormatContext *fmt);

/* Loads libav; from here on it prints nothing itself. To be called before all else.
 * @return NULL, or why it can't be loaded. */
const char *ag_media_begin(void);
/* What libav said last in the way of an error, else the text of err. Lives
 * until the next call. */
const char *ag_media_error(int err);
/* Code of libargus for an AVERROR. */
int ag_media_code(int err);

#endif /* AG_TOOLS_MEDIA_PRIV_H */
