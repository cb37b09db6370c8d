/*
 * What libav says an input is; single pictures of the kinds it knows (WebP,
 * AVIF, BMP, GIF, TIFF ...).
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <libavutil/mem.h>
#include <libavutil/pixdesc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/media_priv.h"

enum { MAX_PIXELS = 178956970, IO_SIZE = 1 << 15 };

/* --- messages */

static pthread_mutex_t error_lock = PTHREAD_MUTEX_INITIALIZER;
static char last_error[256];

/* Any thread of libav. */
static void keep_error(void *object, int level, const char *fmt, va_list ap)
{
    char text[sizeof(last_error)];
    size_t n;

    (void)object;
    if (level > AV_LOG_ERROR)
        return;
    vsnprintf(text, sizeof(text), fmt, ap);
    n = strcspn(text, "\r\n");
    while (n && (text[n - 1] == ' ' || text[n - 1] == '.'))
        n--;
    text[n] = 0;
    if (!n)
        return;
    pthread_mutex_lock(&error_lock);
    memcpy(last_error, text, sizeof(text));
    pthread_mutex_unlock(&error_lock);
}

const char *ag_media_begin(void)
{
    const char *why = ag_av_load();

    if (why)
        return why;
    av_log_set_callback(keep_error);
    pthread_mutex_lock(&error_lock);
    last_error[0] = 0;
    pthread_mutex_unlock(&error_lock);
    return NULL;
}

const char *ag_media_error(int err)
{
    static char text[sizeof(last_error) + AV_ERROR_MAX_STRING_SIZE + 3];
    char what[AV_ERROR_MAX_STRING_SIZE] = "";

    av_strerror(err, what, sizeof(what));
    pthread_mutex_lock(&error_lock);
    snprintf(text, sizeof(text), last_error[0] ? "%s (%s)" : "%s%s", what, last_error);
    last_error[0] = 0;
    pthread_mutex_unlock(&error_lock);
    return text;
}

int ag_media_code(int err)
{
    switch (err) {
    case AVERROR_EXIT: return ARGUS_ERR_CANCELLED;
    case AVERROR_DECODER_NOT_FOUND:
    case AVERROR_PROTOCOL_NOT_FOUND:
    case AVERROR_PATCHWELCOME:
    case AVERROR(ENOSYS): return ARGUS_ERR_UNSUPPORTED;
    default: break;
    }
    return err > -4096 ? err : ARGUS_ERR_FORMAT; /* an errno, or one of libav's four letters */
}

/* --- streams */

int ag_best_video(const AVFormatContext *fmt, int *covers)
{
    int64_t best_score = -1;
    int best = -1;

    *covers = 0;
    for (unsigned i = 0; i < fmt->nb_streams; i++) {
        const AVStream *st = fmt->streams[i];
        int64_t score = (int64_t)st->codecpar->width * st->codecpar->height;

        if (st->codecpar->codec_type != AVMEDIA_TYPE_VIDEO)
            continue;
        if (st->disposition & (AV_DISPOSITION_ATTACHED_PIC | AV_DISPOSITION_TIMED_THUMBNAILS)) {
            ++*covers;
            continue;
        }
        /* what ffmpeg(1) prefers: streams with data, then default ones, then large ones */
        if (st->event_flags & AVSTREAM_EVENT_FLAG_NEW_PACKETS)
            score += 100000000;
        if (st->disposition & AV_DISPOSITION_DEFAULT)
            score += 5000000;
        if (score > best_score) {
            best_score = score;
            best = (int)i;
        }
    }
    return best;
}

int ag_open_decoder(AVCodecContext **dec, AVFormatContext *fmt, int stream, int threads,
                    int strict)
{
    AVStream *st = fmt->streams[stream];
    const AVCodec *codec = avcodec_find_decoder(st->codecpar->codec_id);
    AVCodecContext *d;
    int err;

    if (!codec)
        return AVERROR_DECODER_NOT_FOUND;
    *dec = d = avcodec_alloc_context3(codec);
    if (!d)
        return AVERROR(ENOMEM);
    err = avcodec_parameters_to_context(d, st->codecpar);
    if (err < 0)
        return err;
    d->pkt_timebase = st->time_base;
    d->thread_count = threads;
    d->max_pixels = MAX_PIXELS;
    if (strict)
        d->err_recognition = AV_EF_CRCCHECK | AV_EF_BITSTREAM | AV_EF_BUFFER | AV_EF_EXPLODE;
    for (unsigned i = 0; i < fmt->nb_streams; i++)
        if ((int)i != stream)
            fmt->streams[i]->discard = AVDISCARD_ALL;
    return avcodec_open2(d, codec, NULL);
}

static int ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), k = strlen(end);

    return n >= k && !strcmp(text + n - k, end);
}

/* A container for one or several pictures? Counts them. */
int ag_is_still(AVFormatContext *fmt)
{
    static const char *const brands[] = {"avif", "mif1", "heic", "heix", "miaf", NULL};
    static const char *const kinds[] = {"gif", "apng", "ico", "webp", "webp_anim",
                                        "jpegxl_anim", NULL};
    const char *name = fmt->iformat->name;
    const AVDictionaryEntry *brand = av_dict_get(fmt->metadata, "major_brand", NULL, 0);
    int may = 0, n = 0;
    AVPacket *pkt;

    if (ends_with(name, "_pipe") || !strcmp(name, "image2"))
        return 1;
    for (int i = 0; kinds[i]; i++)
        may |= !strcmp(name, kinds[i]);
    for (int i = 0; brand && brands[i]; i++)
        may |= !strcmp(brand->value, brands[i]);
    if (!may)
        return 0;
    pkt = av_packet_alloc();
    while (pkt && n < 2 && av_read_frame(fmt, pkt) >= 0) {
        n += fmt->streams[pkt->stream_index]->codecpar->codec_type == AVMEDIA_TYPE_VIDEO;
        av_packet_unref(pkt);
    }
    av_packet_free(&pkt);
    return n < 2 || !strcmp(name, "ico"); /* an icon has several sizes of one picture */
}

/* --- what an input is */

static int has_protocol(const char *path)
{
    size_t n = strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");

    return n > 1 && path[n] == ':';
}

/* JPEG or PNG? Those have decoders of their own. */
static int is_own_kind(const char *path)
{
    unsigned char head[8] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n;

    if (fd < 0)
        return 1; /* whoever reads it says why that can't be done */
    n = read(fd, head, sizeof(head));
    close(fd);
    return n < 3 || !memcmp(head, "\xFF\xD8\xFF", 3) ||
           (n == 8 && !memcmp(head, "\x89PNG\r\n\x1A\n", 8));
}

static int is_picture_reader(const AVInputFormat *f)
{
    /* any text passes for tty */
    return ends_with(f->name, "_pipe") || !strcmp(f->name, "image2") || !strcmp(f->name, "tty");
}

/* Video for sure by its first bytes, though it can't be opened? */
static int is_damaged_video(const char *path)
{
    const AVInputFormat *f = NULL;
    AVIOContext *pb = NULL;
    int score = avio_open(&pb, path, AVIO_FLAG_READ);

    if (score >= 0)
        score = av_probe_input_buffer2(pb, &f, "", NULL, 0, 0);
    avio_closep(&pb);
    return score > AVPROBE_SCORE_RETRY && f && !is_picture_reader(f);
}

const char *ag_media_missing(void)
{
    return ag_av_load();
}

int ag_media_kind(const char *path)
{
    AVFormatContext *fmt = NULL;
    struct stat st;
    int still;

    if (!strcmp(path, "-"))
        return AG_MEDIA_PICTURE;
    if (stat(path, &st) < 0)
        return has_protocol(path) || strchr(path, '%') ? AG_MEDIA_VIDEO : AG_MEDIA_PICTURE;
    if (!S_ISREG(st.st_mode) || is_own_kind(path))
        return AG_MEDIA_PICTURE;
    if (ag_media_begin())
        return AG_MEDIA_VIDEO; /* whoever opens it says why that can't be done */
    if (avformat_open_input(&fmt, path, NULL, NULL) < 0)
        return is_damaged_video(path) ? AG_MEDIA_VIDEO : AG_MEDIA_PICTURE;
    still = is_picture_reader(fmt->iformat) || ag_is_still(fmt);
    avformat_close_input(&fmt);
    return still ? AG_MEDIA_PICTURE : AG_MEDIA_VIDEO;
}

/* --- a picture in memory */

typedef struct Memory {
    const uint8_t *data;
    int64_t size, at;
} Memory;

static int memory_read(void *opaque, uint8_t *to, int size)
{
    Memory *mem = opaque;
    int64_t left = mem->size - mem->at;

    if (left <= 0)
        return AVERROR_EOF;
    if (size > left)
        size = (int)left;
    memcpy(to, mem->data + mem->at, (size_t)size);
    mem->at += size;
    return size;
}

static int64_t memory_seek(void *opaque, int64_t to, int whence)
{
    Memory *mem = opaque;

    whence &= ~AVSEEK_FORCE;
    if (whence == AVSEEK_SIZE)
        return mem->size;
    to += whence == SEEK_CUR ? mem->at : whence == SEEK_END ? mem->size : 0;
    if (to < 0 || to > mem->size)
        return AVERROR(EINVAL);
    return mem->at = to;
}

/* Opens what is in memory, and nothing that it points to.
 * @return 0, 1 if libav does not know it, or an AVERROR. */
static int open_memory(AVFormatContext **fmt, Memory *mem)
{
    uint8_t *buffer = av_malloc(IO_SIZE);
    AVIOContext *pb = buffer ? avio_alloc_context(buffer, IO_SIZE, 0, mem, memory_read, NULL,
                                                  memory_seek) : NULL;
    int err;

    *fmt = pb ? avformat_alloc_context() : NULL;
    if (!*fmt) {
        if (pb)
            av_freep(&pb->buffer);
        else
            av_free(buffer);
        avio_context_free(&pb);
        return AVERROR(ENOMEM);
    }
    (*fmt)->pb = pb;
    (*fmt)->flags |= AVFMT_FLAG_CUSTOM_IO;
    (*fmt)->protocol_whitelist = av_strdup("none");
    err = avformat_open_input(fmt, NULL, NULL, NULL);
    if (err < 0) {
        av_freep(&pb->buffer);
        avio_context_free(&pb);
        return err == AVERROR(ENOMEM) ? err : 1;
    }
    return 0;
}

static void close_memory(AVFormatContext **fmt)
{
    AVIOContext *pb = *fmt ? (*fmt)->pb : NULL;

    avformat_close_input(fmt);
    if (pb)
        av_freep(&pb->buffer);
    avio_context_free(&pb);
}

/* The first picture of the stream. @return 0 or an AVERROR. */
static int first_frame(AVFormatContext *fmt, AVCodecContext *dec, int stream, AVFrame *frame)
{
    AVPacket *pkt = av_packet_alloc();
    int err = pkt ? AVERROR(EAGAIN) : AVERROR(ENOMEM), ended = 0;

    while (err == AVERROR(EAGAIN)) {
        err = avcodec_receive_frame(dec, frame);
        if (err != AVERROR(EAGAIN) || ended)
            break;
        while ((err = av_read_frame(fmt, pkt)) >= 0 && pkt->stream_index != stream)
            av_packet_unref(pkt);
        ended = err < 0;
        err = avcodec_send_packet(dec, ended ? NULL : pkt);
        av_packet_unref(pkt);
        if (err >= 0)
            err = AVERROR(EAGAIN);
    }
    av_packet_free(&pkt);
    return err == AVERROR_EOF ? AVERROR_INVALIDDATA : err;
}

static int to_rgb(AgPic *out, const AVFrame *frame, const AgPicFile *f)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(frame->format);
    int alpha = f->o->alpha != AG_PIC_ALPHA_DROP && desc && desc->flags & AV_PIX_FMT_FLAG_ALPHA;
    unsigned ground = f->o->alpha == AG_PIC_ALPHA_WHITE ? 255 : 0;
    size_t step = alpha ? 4 : 3;
    AgConverter conv = {0};
    int err;

    if ((err = ag_pic_alloc(out, (uint64_t)frame->width, (uint64_t)frame->height, f)) < 0)
        return err;
    err = ag_convert(&conv, frame, alpha ? AV_PIX_FMT_RGBA : AV_PIX_FMT_RGB24);
    if (err < 0) {
        ag_convert_free(&conv);
        return ag_pic_fail(f, ag_media_code(err), "no conversion from %s to RGB",
                           desc ? desc->name : "an unknown format");
    }
    for (int y = 0; y < out->height; y++) {
        const uint8_t *in = conv.data + y * conv.stride;
        uint8_t *to = out->rgb + (size_t)y * (size_t)out->width * 3;

        for (int x = 0; x < out->width; x++, in += step, to += 3)
            for (int c = 0; c < 3; c++)
                to[c] = !alpha ? in[c] : (uint8_t)((in[c] * (unsigned)in[3] +
                                                    ground * (255u - in[3]) + 127) / 255);
    }
    ag_convert_free(&conv);
    return 0;
}

static int frame_orientation(const AVFrame *frame, const AVStream *st)
{
    const AVDictionaryEntry *tag = av_dict_get(frame->metadata, "Orientation", NULL, 0);
    int n = tag ? atoi(tag->value) : 0;

    return n >= 1 && n <= 8 ? n : ag_matrix_orientation(ag_display_matrix(frame, st));
}

#if LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 20, 100)
#define is_grid(fmt) ((fmt)->nb_stream_groups > 0)
#else
#define is_grid(fmt) 0 /* 6.1 and before don't open them */
#endif

static int decode_still(AgPic *out, int *orientation, AVFormatContext *fmt, AVFrame *frame,
                        const AgPicFile *f)
{
    AVCodecContext *dec = NULL;
    int err, covers, stream;

    if ((err = avformat_find_stream_info(fmt, NULL)) < 0)
        return ag_pic_fail(f, ag_media_code(err), "damaged: %s", ag_media_error(err));
    stream = ag_best_video(fmt, &covers);
    if (stream < 0)
        return ag_pic_fail(f, ARGUS_ERR_UNSUPPORTED, "unsupported: expected a picture, found %s "
                           "without one", fmt->iformat->long_name);
    if (is_grid(fmt))
        return ag_pic_fail(f, ARGUS_ERR_UNSUPPORTED, "unsupported: a picture made of several "
                           "pictures (HEIF grid)");
    err = ag_open_decoder(&dec, fmt, stream, 1, !f->o->lenient);
    if (err >= 0)
        err = first_frame(fmt, dec, stream, frame);
    if (err < 0) {
        int unknown = ag_media_code(err) == ARGUS_ERR_UNSUPPORTED;
        err = ag_pic_fail(f, ag_media_code(err), "%s %s picture: %s",
                          unknown ? "unsupported" : "damaged",
                          avcodec_get_name(fmt->streams[stream]->codecpar->codec_id),
                          ag_media_error(err));
    } else {
        *orientation = frame_orientation(frame, fmt->streams[stream]);
        err = to_rgb(out, frame, f);
    }
    avcodec_free_context(&dec);
    return err;
}

int ag_media_still(AgPic *out, int *orientation, const AgPicFile *f)
{
    Memory mem = {f->data, (int64_t)f->size, 0};
    AVFormatContext *fmt = NULL;
    AVFrame *frame;
    int err, still;
    const char *why = ag_media_begin();

    if (why)
        return ag_pic_fail(f, ARGUS_ERR_UNSUPPORTED, "unsupported: neither JPEG nor PNG, and libav "
                           "can't be loaded: %s", why);
    err = open_memory(&fmt, &mem);
    if (err > 0)
        return 1;
    if (err < 0)
        return ag_pic_fail(f, ARGUS_ERR(ENOMEM), "out of memory");
    still = !strcmp(fmt->iformat->name, "tty") ? -1 : ag_is_still(fmt);
    if (still <= 0) {
        const char *what = fmt->iformat->long_name;
        if (!still)
            ag_pic_fail(f, ARGUS_ERR_UNSUPPORTED, "unsupported: expected one picture, found %s; "
                        "media are read from files and URLs (pipe:0 is standard input)", what);
        close_memory(&fmt);
        return still ? 1 : ARGUS_ERR_UNSUPPORTED;
    }
    if (!ends_with(fmt->iformat->name, "_pipe")) { /* packets were read to count them */
        close_memory(&fmt);
        mem.at = 0;
        if ((err = open_memory(&fmt, &mem)) != 0)
            return err > 0 ? 1 : ag_pic_fail(f, ARGUS_ERR(ENOMEM), "out of memory");
    }
    frame = av_frame_alloc();
    err = frame ? decode_still(out, orientation, fmt, frame, f)
                : ag_pic_fail(f, ARGUS_ERR(ENOMEM), "out of memory");
    av_frame_free(&frame);
    close_memory(&fmt);
    return err;
}
