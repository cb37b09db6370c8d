/*
 * Media files -> frames with times, for the track.
 *
 * Times follow ffmpeg's: the container's start is subtracted (not with
 * copyts), a seek is made exact by leaving out what comes before.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _POSIX_C_SOURCE 200809L
#include "tools/media.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/media_priv.h"
#include "tools/say.h"
#include "tools/verbs.h"

#if LIBAVUTIL_VERSION_MAJOR < 58 /* before 6.0 */
#define frame_duration(f) (f)->pkt_duration
#define frame_interlaced(f) (f)->interlaced_frame
#else
#define frame_duration(f) (f)->duration
#define frame_interlaced(f) ((f)->flags & AV_FRAME_FLAG_INTERLACED)
#endif

enum { MAX_ERRORS = 1000 }; /* in a row, while the decoder gives out what it still holds */

struct AgMedia {
    const char *name;
    AgMediaOptions o;
    AVFormatContext *fmt;
    AVCodecContext *dec;
    AVStream *st;
    AVPacket *pkt;
    AVFrame *frame;      /* the one that next gave */
    AgConverter conv;
    AgPic turned;        /* pixels of a frame that is not upright */
    /* in units of the stream's time base: */
    int64_t shift;       /* subtracted from all times */
    int64_t begin, end;  /* frames to give, after the shift: begin <= time < end */
    int64_t declared;    /* end of the stream by its header, before the shift */
    int64_t last, last_duration; /* of the last frame decoded, after the shift */
    int pending;         /* the frame was decoded by a seek and not given yet */
    int draining, passed_end;
    int read_error;      /* an AVERROR */
    int64_t n_frame;     /* that next gave */
    int64_t n_bad;       /* packets that could not be decoded */
    int told_failure, told_interlaced, told_hdr, told_turn;
};

static int is_stopped(void *opaque)
{
    (void)opaque;
    return ag_stopped();
}

static int fail(const AgMedia *m, int err, const char *what)
{
    if (err == AVERROR_EXIT)
        return ARGUS_ERR_CANCELLED;
    ag_say(ARGUS_LOG_ERROR, "%s: %s%s", m->name, what, ag_media_error(err));
    return ag_media_code(err);
}

/* Time of a stream, in its units, of the end that its header or tag declares. */
static int64_t declared_end(const AVStream *st, int64_t duration)
{
    const AVDictionaryEntry *tag;
    int h, min;
    double s;

    if (duration != AV_NOPTS_VALUE && duration > 0)
        return duration + (st->start_time != AV_NOPTS_VALUE ? st->start_time : 0);
    tag = av_dict_get(st->metadata, "DURATION", NULL, AV_DICT_IGNORE_SUFFIX); /* Matroska */
    if (tag && sscanf(tag->value, "%d:%d:%lf", &h, &min, &s) == 3 && h >= 0 && h < 100000)
        return av_rescale_q((int64_t)((h * 3600. + min * 60. + s) * AV_TIME_BASE), AV_TIME_BASE_Q,
                            st->time_base);
    return AV_NOPTS_VALUE;
}

static int open_stream(AgMedia *m)
{
    int64_t *durations = NULL;
    unsigned n;
    int err, covers, best;

    m->fmt = avformat_alloc_context();
    m->pkt = av_packet_alloc();
    m->frame = av_frame_alloc();
    if (!m->fmt || !m->pkt || !m->frame)
        return fail(m, AVERROR(ENOMEM), "");
    m->fmt->interrupt_callback = (AVIOInterruptCB){is_stopped, NULL};
    if ((err = avformat_open_input(&m->fmt, m->name, NULL, NULL)) < 0)
        return fail(m, err, "");
    /* before libavformat fills in what it guesses */
    n = m->fmt->nb_streams;
    durations = calloc(n + 1, sizeof(*durations));
    for (unsigned i = 0; durations && i < n; i++)
        durations[i] = m->fmt->streams[i]->duration;
    if (!durations || (err = avformat_find_stream_info(m->fmt, NULL)) < 0) {
        free(durations);
        return fail(m, durations ? err : AVERROR(ENOMEM), "");
    }
    best = ag_best_video(m->fmt, &covers);
    if (best >= 0) {
        m->st = m->fmt->streams[best];
        m->declared = declared_end(m->st, (unsigned)best < n ? durations[best] : AV_NOPTS_VALUE);
    }
    free(durations);
    if (best < 0) {
        ag_say(ARGUS_LOG_ERROR, "%s: expected video, found %s", m->name,
               covers ? "no more than an attached picture" : "none in it");
        return ARGUS_ERR_UNSUPPORTED;
    }
    if ((err = ag_open_decoder(&m->dec, m->fmt, best, m->o.threads, 0)) < 0)
        return fail(m, err, "decoder: ");
    return 0;
}

/* Decode one frame, whatever its time. @return 1, or 0 at the end. */
static int decode(AgMedia *m)
{
    int n_error = 0;

    av_frame_unref(m->frame);
    for (;;) {
        int err = avcodec_receive_frame(m->dec, m->frame);
        if (err >= 0)
            return 1;
        if (err == AVERROR_EOF || (m->draining && n_error > MAX_ERRORS))
            return 0;
        if (err == AVERROR(EAGAIN)) {
            err = av_read_frame(m->fmt, m->pkt);
            if (err == AVERROR(EAGAIN)) { /* a live source has nothing yet */
                nanosleep(&(struct timespec){0, 10000000}, NULL);
                continue;
            }
            if (err < 0) {
                if (err == AVERROR_EOF && m->fmt->pb && m->fmt->pb->error < 0)
                    err = m->fmt->pb->error;
                if (err != AVERROR_EOF)
                    m->read_error = err;
                m->draining = 1;
                avcodec_send_packet(m->dec, NULL);
                continue;
            }
            if (m->pkt->stream_index == m->st->index)
                err = avcodec_send_packet(m->dec, m->pkt);
            av_packet_unref(m->pkt);
        }
        if (err < 0) {
            n_error++;
            if (!m->n_bad++)
                ag_say(ARGUS_LOG_WARNING, "%s: a part can't be decoded: %s", m->name,
                       ag_media_error(err));
        }
        if (ag_stopped())
            return 0;
    }
}

static int64_t time_of(const AgMedia *m)
{
    int64_t pts = m->frame->best_effort_timestamp;

    return pts == AV_NOPTS_VALUE ? ARGUS_NOPTS : pts - m->shift;
}

/* Go to where decoding has to begin so that the first frame at or after the
 * time (microseconds from the container's zero) is seen. Containers without
 * an index seek to somewhere near; then it is tried again from further off. */
static void seek(AgMedia *m, int64_t us)
{
    static const int back[] = {0, 2, 10, 60, 100000000};
    int64_t reorder = 0;

    if (!(m->fmt->iformat->flags & AVFMT_SEEK_TO_PTS) && m->st->codecpar->video_delay)
        reorder = 3 * AV_TIME_BASE / 23; /* the index counts decoding times */
    for (size_t i = 0; i < sizeof(back) / sizeof(back[0]); i++) {
        int64_t to = us - reorder - back[i] * (int64_t)AV_TIME_BASE;
        int64_t start = m->fmt->start_time != AV_NOPTS_VALUE ? m->fmt->start_time : 0;

        if (to < start)
            to = start;
        avcodec_flush_buffers(m->dec);
        m->draining = m->pending = 0;
        if (avformat_seek_file(m->fmt, -1, INT64_MIN, to, to, 0) < 0 && to > start)
            continue;
        if (decode(m) > 0) {
            m->pending = 1;
            if (time_of(m) == ARGUS_NOPTS || time_of(m) <= m->begin)
                return;
        }
        if (to == start || ag_stopped())
            return;
    }
}

static void set_part(AgMedia *m)
{
    int64_t start = m->fmt->start_time != AV_NOPTS_VALUE ? m->fmt->start_time : 0;
    int64_t from = m->o.from_us != AG_TIME_NONE ? m->o.from_us : 0;
    int64_t shift = m->o.copyts ? 0 : start + from;

    m->shift = av_rescale_q(shift, AV_TIME_BASE_Q, m->st->time_base);
    m->begin = INT64_MIN;
    m->end = INT64_MAX;
    if (m->o.from_us != AG_TIME_NONE)
        m->begin = av_rescale_q(start + from - shift, AV_TIME_BASE_Q, m->st->time_base);
    if (m->o.to_us != AG_TIME_NONE)
        m->end = av_rescale_q(start + m->o.to_us - shift, AV_TIME_BASE_Q, m->st->time_base);
    if (from > 0)
        seek(m, start + from);
}

int ag_media_open(AgMedia **out, const char *path, const AgMediaOptions *o)
{
    const char *why = ag_media_begin();
    AgMedia *m = why ? NULL : calloc(1, sizeof(*m));
    int err;

    if (why) {
        ag_say(ARGUS_LOG_ERROR, "%s: libav can't be loaded: %s", path, why);
        return ARGUS_ERR_UNSUPPORTED;
    }
    if (!m) {
        ag_say(ARGUS_LOG_ERROR, "%s: out of memory", path);
        return ARGUS_ERR(ENOMEM);
    }
    m->name = path;
    m->o = *o;
    m->declared = AV_NOPTS_VALUE;
    m->last = ARGUS_NOPTS;
    err = open_stream(m);
    if (err < 0) {
        ag_media_close(&m);
        return err;
    }
    set_part(m);
    *out = m;
    return 0;
}

void ag_media_close(AgMedia **pm)
{
    AgMedia *m = *pm;

    if (!m)
        return;
    ag_convert_free(&m->conv);
    ag_pic_free(&m->turned);
    av_frame_free(&m->frame);
    av_packet_free(&m->pkt);
    avcodec_free_context(&m->dec);
    avformat_close_input(&m->fmt);
    free(m);
    *pm = NULL;
}

void ag_media_info(const AgMedia *m, AgMediaInfo *info)
{
    AVRational rate = av_guess_frame_rate(m->fmt, m->st, NULL);
    int64_t from = m->o.from_us != AG_TIME_NONE ? m->o.from_us : 0;
    int64_t to = m->fmt->duration > 0 ? m->fmt->duration : 0;

    *info = (AgMediaInfo){.time_base = {m->st->time_base.num, m->st->time_base.den},
                          .frame_rate = {0, 1}};
    if (rate.num > 0 && rate.den > 0)
        info->frame_rate = (ArgusRational){rate.num, rate.den};
    if (m->o.to_us != AG_TIME_NONE && (!to || m->o.to_us < to))
        to = m->o.to_us;
    info->length_us = to > from ? to - from : 0;
}

int ag_media_next(AgMedia *m, AgMediaFrame *f)
{
    if (m->passed_end)
        return 0;
    while (m->pending || decode(m) > 0) {
        int64_t pts = time_of(m);

        m->pending = 0;
        *f = (AgMediaFrame){pts, frame_duration(m->frame) > 0 ? frame_duration(m->frame) : 0};
        if (pts == ARGUS_NOPTS || pts < m->end) {
            m->last = pts;
            m->last_duration = f->duration;
        }
        if (pts != ARGUS_NOPTS && pts < m->begin)
            continue;
        if (pts != ARGUS_NOPTS && pts >= m->end) {
            m->passed_end = 1;
            return 0;
        }
        m->n_frame++;
        return 1;
    }
    return 0;
}

static void warn_about(AgMedia *m)
{
    const AVFrame *f = m->frame;

    if (frame_interlaced(f) && !m->told_interlaced) {
        m->told_interlaced = 1;
        ag_say(ARGUS_LOG_WARNING, "%s: the video is interlaced, the model may see comb lines; "
               "ffmpeg's bwdif filter makes whole frames of it", m->name);
    }
    if ((f->color_trc == AVCOL_TRC_SMPTE2084 || f->color_trc == AVCOL_TRC_ARIB_STD_B67) &&
        !m->told_hdr) {
        m->told_hdr = 1;
        ag_say(ARGUS_LOG_WARNING, "%s: the video is HDR (%s), the model will see it flat and grey; "
               "ffmpeg's zscale and tonemap filters make SDR of it", m->name,
               av_color_transfer_name(f->color_trc));
    }
}

int ag_media_pixels(AgMedia *m, ArgusImage *image, ArgusRational *sar)
{
    const AVFrame *f = m->frame;
    int orientation = ag_matrix_orientation(ag_display_matrix(f, m->st)), err;
    AVRational ratio = av_guess_sample_aspect_ratio(m->fmt, m->st, m->frame);

    warn_about(m);
    if (!orientation && !m->told_turn) {
        m->told_turn = 1;
        ag_say(ARGUS_LOG_WARNING, "%s: expected a display matrix of quarter turns, found another; "
               "the pictures are taken as stored", m->name);
    }
    err = ag_convert(&m->conv, f, AV_PIX_FMT_RGB24);
    if (err < 0) {
        const char *format = av_get_pix_fmt_name(f->format);
        ag_say(ARGUS_LOG_ERROR, "%s: no conversion from %s %dx%d to RGB", m->name,
               format ? format : "?", f->width, f->height);
        return err == AVERROR(ENOMEM) ? ARGUS_ERR(ENOMEM) : ARGUS_ERR_UNSUPPORTED;
    }
    *image = (ArgusImage){m->conv.data, m->conv.stride, f->width, f->height, ARGUS_RGB24};
    *sar = (ArgusRational){1, 1};
    if (m->o.square && ratio.num > 0 && ratio.den > 0)
        *sar = orientation >= 5 ? (ArgusRational){ratio.den, ratio.num}
                                : (ArgusRational){ratio.num, ratio.den};
    if (orientation < 2)
        return 0;
    ag_pic_free(&m->turned);
    m->turned = (AgPic){malloc((size_t)f->width * (size_t)f->height * 3), f->width, f->height};
    if (m->turned.rgb) {
        for (int y = 0; y < f->height; y++)
            memcpy(m->turned.rgb + (size_t)y * (size_t)f->width * 3,
                   m->conv.data + y * m->conv.stride, (size_t)f->width * 3);
        if (ag_pic_orient(&m->turned, orientation) >= 0) {
            *image = (ArgusImage){m->turned.rgb, (ptrdiff_t)m->turned.width * 3, m->turned.width,
                                  m->turned.height, ARGUS_RGB24};
            return 0;
        }
    }
    ag_say(ARGUS_LOG_ERROR, "%s: out of memory", m->name);
    return ARGUS_ERR(ENOMEM);
}

int64_t ag_media_end(const AgMedia *m)
{
    return m->last == ARGUS_NOPTS || !m->last_duration ? ARGUS_NOPTS : m->last + m->last_duration;
}

/* What is missing at the end of the stream, in seconds: more than a second and
 * more than a fiftieth, since headers are not that exact. 0 if nothing is. */
static double missing(const AgMedia *m, double found)
{
    double all = m->declared == AV_NOPTS_VALUE ? 0 : (double)m->declared * av_q2d(m->st->time_base);

    if (!m->draining || m->passed_end || all - found <= 1 || all - found <= all / 50)
        return 0;
    return all - found;
}

int ag_media_failed(AgMedia *m)
{
    int64_t end = m->last == ARGUS_NOPTS ? 0 : m->last + m->last_duration + m->shift;
    double found = (double)end * av_q2d(m->st->time_base), more = missing(m, found);
    int nothing = m->last == ARGUS_NOPTS && !m->n_frame && m->n_bad;

    if (m->told_failure || m->read_error == AVERROR_EXIT)
        return m->told_failure || m->read_error;
    if (m->n_bad > 1)
        ag_say(ARGUS_LOG_WARNING, "%s: %lld packets could not be decoded", m->name,
               (long long)m->n_bad);
    if (m->read_error)
        ag_say(ARGUS_LOG_ERROR, "%s: reading failed after %.2f s of video: %s", m->name, found,
               ag_media_error(m->read_error));
    else if (nothing)
        ag_say(ARGUS_LOG_ERROR, "%s: expected video, found none that can be decoded", m->name);
    else if (more > 0)
        ag_say(ARGUS_LOG_ERROR, "%s: expected %.2f s of video, found %.2f s: the file is cut short "
               "or damaged", m->name, found + more, found);
    m->told_failure = m->read_error || nothing || more > 0;
    return m->told_failure;
}
