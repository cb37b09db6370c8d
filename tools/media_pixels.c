/*
 * Frames of libav -> RGB pixels, and how they have to be turned.
 *
 * Same rules as the filter (avfilter-patch/vf_argus.c), so that the model sees
 * the same picture: swscale without scaling, exact flags, the frame's matrix,
 * range and chroma siting.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <libavutil/display.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <stdlib.h>
#include <string.h>

#include "tools/media_priv.h"

/* Where chroma lies in units of 1/256 luma, -513 where it is not subsampled. */
static void chroma_position(const AVFrame *frame, int *x, int *y)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(frame->format);

    switch (frame->chroma_location) {
    case AVCHROMA_LOC_CENTER: *x = 128, *y = 128; break;
    case AVCHROMA_LOC_TOPLEFT: *x = 0, *y = 0; break;
    case AVCHROMA_LOC_TOP: *x = 128, *y = 0; break;
    case AVCHROMA_LOC_BOTTOMLEFT: *x = 0, *y = 256; break;
    case AVCHROMA_LOC_BOTTOM: *x = 128, *y = 256; break;
    default: *x = 0, *y = 128; break; /* left, or not known */
    }
    if (!desc->log2_chroma_w)
        *x = -513;
    if (!desc->log2_chroma_h)
        *y = -513;
}

/* The matrix and range of the frame. Formats without a matrix need none: the
 * first call fails for them. A range that is not known stays what swscale
 * takes for the format. */
static void set_colours(struct SwsContext *sws, const AVFrame *frame)
{
    int in, out, brightness, contrast, saturation, *table, *out_table;

    if (sws_getColorspaceDetails(sws, &table, &in, &out_table, &out, &brightness, &contrast,
                                 &saturation) < 0)
        return;
    if (frame->color_range != AVCOL_RANGE_UNSPECIFIED)
        in = frame->color_range == AVCOL_RANGE_JPEG;
    sws_setColorspaceDetails(sws, sws_getCoefficients(frame->colorspace), in, out_table, out,
                             brightness, contrast, saturation);
}

static int open_sws(AgConverter *c, const AVFrame *frame, enum AVPixelFormat format)
{
    int key[7] = {frame->width, frame->height, frame->format, (int)frame->colorspace,
                  (int)frame->color_range, (int)frame->chroma_location, format};
    int x, y, err;

    if (c->sws && !memcmp(key, c->key, sizeof(key)))
        return 0;
    sws_freeContext(c->sws);
    c->sws = NULL;
    if (!sws_isSupportedInput(frame->format))
        return AVERROR(ENOSYS);
    c->sws = sws_alloc_context();
    if (!c->sws)
        return AVERROR(ENOMEM);
    chroma_position(frame, &x, &y);
    av_opt_set_int(c->sws, "srcw", frame->width, 0);
    av_opt_set_int(c->sws, "srch", frame->height, 0);
    av_opt_set_int(c->sws, "src_format", frame->format, 0);
    av_opt_set_int(c->sws, "dstw", frame->width, 0);
    av_opt_set_int(c->sws, "dsth", frame->height, 0);
    av_opt_set_int(c->sws, "dst_format", format, 0);
    av_opt_set_int(c->sws, "sws_flags", SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT |
                   SWS_FULL_CHR_H_INP | SWS_BITEXACT, 0);
    av_opt_set_int(c->sws, "src_h_chr_pos", x, 0);
    av_opt_set_int(c->sws, "src_v_chr_pos", y, 0);
    err = sws_init_context(c->sws, NULL, NULL);
    if (err < 0) {
        sws_freeContext(c->sws);
        c->sws = NULL;
        return err;
    }
    set_colours(c->sws, frame);
    memcpy(c->key, key, sizeof(key));
    return 0;
}

int ag_convert(AgConverter *c, const AVFrame *frame, enum AVPixelFormat format)
{
    int err = open_sws(c, frame, format);
    size_t size;

    if (err < 0)
        return err;
    /* swscale may write a few bytes past the end of a row */
    c->stride = ((ptrdiff_t)frame->width * (format == AV_PIX_FMT_RGBA ? 4 : 3) + 63) / 64 * 64;
    size = (size_t)c->stride * (size_t)frame->height + 64;
    if (size > c->size) {
        av_free(c->data);
        c->data = av_malloc(size);
        c->size = c->data ? size : 0;
    }
    if (!c->data)
        return AVERROR(ENOMEM);
    uint8_t *to[4] = {c->data};
    int strides[4] = {(int)c->stride};
    err = sws_scale(c->sws, (const uint8_t *const *)frame->data, frame->linesize, 0, frame->height,
                    to, strides);
    return err < 0 ? err : 0;
}

void ag_convert_free(AgConverter *c)
{
    sws_freeContext(c->sws);
    av_free(c->data);
    *c = (AgConverter){0};
}

int ag_matrix_orientation(const int32_t *m)
{
    int64_t a, b, c, d;

    if (!m)
        return 1;
    /* (x, y) goes to (ax + cy, bx + dy), y pointing down */
    a = m[0], b = m[1], c = m[3], d = m[4];
    if (llabs(b) * 50 < llabs(a) && llabs(c) * 50 < llabs(d))
        return a > 0 ? (d > 0 ? 1 : 4) : (d > 0 ? 2 : 3);
    if (llabs(a) * 50 < llabs(b) && llabs(d) * 50 < llabs(c))
        return b > 0 ? (c > 0 ? 5 : 6) : (c > 0 ? 8 : 7);
    return 0;
}

const int32_t *ag_display_matrix(const AVFrame *frame, const AVStream *st)
{
    const AVFrameSideData *of_frame = av_frame_get_side_data(frame, AV_FRAME_DATA_DISPLAYMATRIX);
    const uint8_t *data = NULL;
    size_t size = 0;

    if (of_frame) {
        data = of_frame->data;
        size = (size_t)of_frame->size;
    } else {
#if LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 16, 100) /* 6.1 */
        const AVPacketSideData *of_stream =
            av_packet_side_data_get(st->codecpar->coded_side_data,
                                    st->codecpar->nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
        if (of_stream) {
            data = of_stream->data;
            size = of_stream->size;
        }
#else
        data = av_stream_get_side_data(st, AV_PKT_DATA_DISPLAYMATRIX, &size);
#endif
    }
    return data && size >= 9 * sizeof(int32_t) ? (const int32_t *)(const void *)data : NULL;
}
