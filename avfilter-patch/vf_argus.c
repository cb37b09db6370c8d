/*
 * Copyright (c) 2026 the argus authors
 *
 * This file is part of FFmpeg.
 *
 * FFmpeg is free software; you can redistribute it and/or
 * modify it under the terms of the GNU Lesser General Public
 * License as published by the Free Software Foundation; either
 * version 2.1 of the License, or (at your option) any later version.
 *
 * FFmpeg is distributed in the hope that it will be useful,
 * but WITHOUT ANY WARRANTY; without even the implied warranty of
 * MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the GNU
 * Lesser General Public License for more details.
 *
 * You should have received a copy of the GNU Lesser General Public
 * License along with FFmpeg; if not, write to the Free Software
 * Foundation, Inc., 51 Franklin Street, Fifth Floor, Boston, MA 02110-1301 USA
 */

/**
 * @file
 * Caption video with a vision-language model through libargus.
 *
 * The filter carries, it does not compute: it tells an ArgusTrack the time of
 * every frame, hands over those it wants as RGB, and takes timed captions
 * (cues) back. Cues go to files by way of ArgusWriter and avio, and to the
 * metadata of the frames, which pass through untouched.
 *
 * Two habits of ffmpeg(1) shape the life cycle. A graph may be made only to
 * look at its inputs, so init() opens nothing. And a graph is freed without
 * EOF and built anew when the size or format changes in mid-stream, so files
 * under way are kept in a list of the process, where the next filter with the
 * same path finds them.
 */

#include <libargus/argus.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "libavformat/avio.h"
#include "libavutil/bprint.h"
#include "libavutil/common.h"
#include "libavutil/dict.h"
#include "libavutil/fifo.h"
#include "libavutil/frame.h"
#include "libavutil/internal.h"
#include "libavutil/mathematics.h"
#include "libavutil/mem.h"
#include "libavutil/opt.h"
#include "libavutil/pixdesc.h"
#include "libavutil/thread.h"
#include "libswscale/swscale.h"

#include "avfilter.h"
#include "filters.h"
#include "formats.h"
#include "version.h"
#include "video.h"

#if LIBAVFILTER_VERSION_INT < AV_VERSION_INT(10, 4, 100) /* before 7.1 */
#define ff_filter_link(link) (link)
#define frame_interlaced(frame) (frame)->interlaced_frame
#else
#define frame_interlaced(frame) ((frame)->flags & AV_FRAME_FLAG_INTERLACED)
#endif

#if LIBAVFILTER_VERSION_MAJOR < 11 /* before 8.0 */
#define FFFilter AVFilter
#define P(field) .field
#else
#define P(field) .p.field
#endif

#define MAX_THREADS 64

/** Side data of type SEI_UNREGISTERED with this UUID holds one JSON object. */
static const uint8_t sei_uuid[16] = {
    0x5a, 0x1c, 0x0f, 0x3e, 0x8b, 0x7d, 0x4e, 0x26,
    0x9f, 0x41, 0x61, 0x72, 0x67, 0x75, 0x73, 0x00,
};

enum Attach {
    ATTACH_AUTO,
    ATTACH_WINDOW,
    ATTACH_LATE,
    ATTACH_NONE,
};

/** A file that cues are written to. */
typedef struct Output {
    struct Output *next;
    char *path;
    AVIOContext *pb;
    ArgusWriter *writer;
    int format;             ///< enum ArgusFormat
    int failed;             ///< an error was reported, nothing more is written
    AVFilterContext *owner; ///< NULL while no filter writes to it
    ArgusTrackPosition position; ///< where the last filter stopped
    ArgusRational time_base; ///< of position
} Output;

/** A frame that waits for its cue. */
typedef struct HeldFrame {
    AVFrame *frame;
    int64_t pts;   ///< known even if the frame has none
    int64_t bytes;
    int disabled;  ///< by the timeline
} HeldFrame;

/** A caption that waits for the frame with which its loading begins. */
typedef struct Loading {
    char *text;
    int64_t start; ///< time of that frame
    int64_t end;   ///< when the caption leaves the screen
} Loading;

typedef struct ArgusFilterContext {
    const AVClass *class;

    /* options */
    char *model_name;
    char *prompt;
    AVRational fps;
    int window;
    char *out;
    int hop;
    char *format;
    int max_tokens;
    int64_t seed;
    double temperature;
    int top_k;
    double top_p;
    double repetition_penalty;
    char *stop;
    char *choices;
    char *prompt_file;
    int split;
    int max_frames;
    int64_t offset;
    int attach;
    int hold_limit;
    int sei;
    int cc;
    int merge;
    int wrap;
    int lines;
    int reuse;
    int live;
    int precision;
    int sar_square;
    int rotate;
    char *system;
    int stats;

    char **paths;           ///< out, split
    int nb_paths;
    char **stops;           ///< stop, split
    int nb_stops;
    char **answers;         ///< choices, split
    int nb_answers;
    ArgusTrackSettings settings;

    ArgusModel *model;
    ArgusContext *argus;
    ArgusTrack *track;
    Output **outputs;       ///< nb_paths, in the list of the process
    int nb_outputs;

    int open;               ///< the engine and all outputs are
    int finished;           ///< the stream ended, the outputs are complete
    int failed;             ///< an error was returned
    int enabled;            ///< frames were sampled since the last flush
    int64_t last_pts;       ///< of the last frame, AV_NOPTS_VALUE before the first
    int64_t frame_duration; ///< by the link's frame rate, 0 if unknown
    int64_t base_pts;       ///< last time that a frame had
    int64_t nb_nopts;       ///< frames without one since

    AVFifo *held;           ///< HeldFrame
    int64_t held_bytes;
    AVDictionary *tags;     ///< of the last cue, for its frames yet to come
    int64_t tags_start;     ///< span of tags
    int64_t tags_end;
    char *payload;          ///< of the last cue, for the first of its frames

    ArgusCaptioner *captioner;
    AVFifo *loading;        ///< Loading, by start
    int64_t cc_start;       ///< time of the frame with which loading began
    int64_t cc_end;         ///< when to clear the screen, AV_NOPTS_VALUE for never
    int64_t cc_origin;      ///< time of slot 0, AV_NOPTS_VALUE before the first frame
    int64_t cc_slot;        ///< last one with a pair, 30 to a second
    int64_t cc_delay;       ///< longest time from the first pair to the screen
    int64_t nb_untagged;    ///< captions that came when no frame was left
    int64_t nb_shown;
    int64_t nb_dropped;     ///< that were not loaded in time

    struct SwsContext *sws;
    int sws_key[6];         ///< what sws was made for
    uint8_t *rgb;
    unsigned rgb_size;
    uint8_t *turned;        ///< rgb by the display matrix
    unsigned turned_size;

    int warned_limit;
    int warned_interlaced;
    int warned_transfer;
    int warned_matrix;
    int warned_cc;
} ArgusFilterContext;

#define OFFSET(x) offsetof(ArgusFilterContext, x)
#define FLAGS (AV_OPT_FLAG_VIDEO_PARAM | AV_OPT_FLAG_FILTERING_PARAM)
#define RUNTIME (FLAGS | AV_OPT_FLAG_RUNTIME_PARAM)

static const AVOption argus_options[] = {
    { "model", "set the directory or the name of the model",
      OFFSET(model_name), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "prompt", "set the question",
      OFFSET(prompt), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, RUNTIME },
    { "fps", "set the samples per second, 0 for every frame",
      OFFSET(fps), AV_OPT_TYPE_RATIONAL, { .dbl = 1 }, 0, INT_MAX, FLAGS },
    { "window", "set the samples per caption",
      OFFSET(window), AV_OPT_TYPE_INT, { .i64 = 8 }, 1, INT_MAX, FLAGS },
    { "out", "set the files to write, separated by |",
      OFFSET(out), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "hop", "set the samples from one window to the next, 0 for window",
      OFFSET(hop), AV_OPT_TYPE_INT, { .i64 = 0 }, 0, INT_MAX, FLAGS },
    { "format", "set the format of all files",
      OFFSET(format), AV_OPT_TYPE_STRING, { .str = "auto" }, 0, 0, FLAGS },
    { "max_tokens", "set the longest answer in tokens",
      OFFSET(max_tokens), AV_OPT_TYPE_INT, { .i64 = 64 }, 1, INT_MAX, FLAGS },
    { "seed", "set the seed of sampling",
      OFFSET(seed), AV_OPT_TYPE_INT64, { .i64 = -1 }, -1, UINT32_MAX, FLAGS },
    { "temperature", "set the temperature of sampling, 0 for greedy decoding",
      OFFSET(temperature), AV_OPT_TYPE_DOUBLE, { .dbl = 0 }, 0, 100, FLAGS },
    { "top_k", "sample from the k likeliest tokens, 0 for all",
      OFFSET(top_k), AV_OPT_TYPE_INT, { .i64 = 0 }, 0, INT_MAX, FLAGS },
    { "top_p", "sample from the likeliest tokens of this total probability",
      OFFSET(top_p), AV_OPT_TYPE_DOUBLE, { .dbl = 1 }, 0, 1, FLAGS },
    { "repetition_penalty", "divide the scores of tokens already there",
      OFFSET(repetition_penalty), AV_OPT_TYPE_DOUBLE, { .dbl = 1 }, 0, 100, FLAGS },
    { "stop", "set strings that end an answer, separated by |",
      OFFSET(stop), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "choices", "set the answers to choose from, separated by |",
      OFFSET(choices), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "prompt_file", "set a file that holds the question",
      OFFSET(prompt_file), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "split", "split frames into tiles as stills",
      OFFSET(split), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, FLAGS },
    { "max_frames", "stop after this many samples, 0 for no limit",
      OFFSET(max_frames), AV_OPT_TYPE_INT, { .i64 = 0 }, 0, INT_MAX, FLAGS },
    { "offset", "add this to all times",
      OFFSET(offset), AV_OPT_TYPE_DURATION, { .i64 = 0 }, INT64_MIN, INT64_MAX, FLAGS },
    { "attach", "set the frames that carry the caption",
      OFFSET(attach), AV_OPT_TYPE_INT, { .i64 = ATTACH_AUTO }, 0, ATTACH_NONE, FLAGS,
      .unit = "attach" },
        { "auto", "late with live, window without out or with cc, else none",
          0, AV_OPT_TYPE_CONST, { .i64 = ATTACH_AUTO }, 0, 0, FLAGS, .unit = "attach" },
        { "window", "all frames of the window",
          0, AV_OPT_TYPE_CONST, { .i64 = ATTACH_WINDOW }, 0, 0, FLAGS, .unit = "attach" },
        { "late", "the frame that closes the window",
          0, AV_OPT_TYPE_CONST, { .i64 = ATTACH_LATE }, 0, 0, FLAGS, .unit = "attach" },
        { "none", "no frame",
          0, AV_OPT_TYPE_CONST, { .i64 = ATTACH_NONE }, 0, 0, FLAGS, .unit = "attach" },
    { "hold_limit", "set the most MiB of frames to hold",
      OFFSET(hold_limit), AV_OPT_TYPE_INT, { .i64 = 512 }, 0, INT_MAX, FLAGS },
    { "sei", "add the caption as SEI side data to the first frame that carries it",
      OFFSET(sei), AV_OPT_TYPE_BOOL, { .i64 = 1 }, 0, 1, FLAGS },
    { "cc", "add the captions as CEA-608 closed captions",
      OFFSET(cc), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, FLAGS },
    { "merge", "join neighbouring cues with the same text",
      OFFSET(merge), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, FLAGS },
    { "wrap", "set the columns per line, 0 for no line breaks",
      OFFSET(wrap), AV_OPT_TYPE_INT, { .i64 = 0 }, 0, 10000, FLAGS },
    { "lines", "set the lines per cue, 0 for no limit",
      OFFSET(lines), AV_OPT_TYPE_INT, { .i64 = 0 }, 0, 1000, FLAGS },
    { "reuse", "do not compute equal pictures and windows again",
      OFFSET(reuse), AV_OPT_TYPE_BOOL, { .i64 = 1 }, 0, 1, FLAGS },
    { "live", "never wait for the model, leave samples out",
      OFFSET(live), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, FLAGS },
    { "precision", "set how the model computes",
      OFFSET(precision), AV_OPT_TYPE_INT, { .i64 = ARGUS_PRECISION_EXACT },
      ARGUS_PRECISION_EXACT, ARGUS_PRECISION_Q8, FLAGS, .unit = "precision" },
        { "exact", "float32, the reference's words",
          0, AV_OPT_TYPE_CONST, { .i64 = ARGUS_PRECISION_EXACT }, 0, 0, FLAGS,
          .unit = "precision" },
        { "q8", "int8, faster, words may differ",
          0, AV_OPT_TYPE_CONST, { .i64 = ARGUS_PRECISION_Q8 }, 0, 0, FLAGS,
          .unit = "precision" },
    { "sar", "set what to do with pixels that are not square",
      OFFSET(sar_square), AV_OPT_TYPE_INT, { .i64 = 1 }, 0, 1, FLAGS, .unit = "sar" },
        { "square", "stretch the picture",
          0, AV_OPT_TYPE_CONST, { .i64 = 1 }, 0, 0, FLAGS, .unit = "sar" },
        { "ignore", "take it as it is",
          0, AV_OPT_TYPE_CONST, { .i64 = 0 }, 0, 0, FLAGS, .unit = "sar" },
    { "rotate", "turn the picture for the model by the display matrix of the frame",
      OFFSET(rotate), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, FLAGS },
    { "system", "set the system message",
      OFFSET(system), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "stats", "log times and totals at the end",
      OFFSET(stats), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, FLAGS },
    { NULL }
};

AVFILTER_DEFINE_CLASS(argus);

/* ------------------------------------------------------------------------ */
/* libargus and FFmpeg                                                       */

static void log_message(void *opaque, int level, const char *message)
{
    int av_level = level == ARGUS_LOG_ERROR   ? AV_LOG_ERROR :
                   level == ARGUS_LOG_WARNING ? AV_LOG_WARNING :
                   level == ARGUS_LOG_INFO    ? AV_LOG_INFO : AV_LOG_VERBOSE;

    av_log(opaque, av_level, "%s\n", message);
}

static ArgusLogger get_logger(AVFilterContext *ctx)
{
    return (ArgusLogger){ .callback = log_message, .opaque = ctx };
}

/** Error code of FFmpeg for one of libargus. */
static int to_averror(int err)
{
    switch (err) {
    case ARGUS_ERR_FORMAT:      return AVERROR_INVALIDDATA;
    case ARGUS_ERR_UNSUPPORTED: return AVERROR(ENOSYS);
    case ARGUS_ERR_BUDGET:      return AVERROR(EINVAL);
    case ARGUS_ERR_CANCELLED:   return AVERROR_EXIT;
    case ARGUS_ERR_NO_MODEL:    return AVERROR(ENOENT);
    }
    return err; /* an errno value, or what a stream callback returned */
}

static int64_t milliseconds(const ArgusCue *cue, int64_t pts)
{
    return argus_time_ms(pts, cue->time_base, cue->offset_us);
}

/* ------------------------------------------------------------------------ */
/* Outputs                                                                   */

static AVMutex list_lock = AV_MUTEX_INITIALIZER;
static Output *output_list;       ///< all that are open in this process
static ArgusModel *parked_model;  ///< of a graph that was freed without EOF
static int parked_lost;           ///< frames that it held

static int output_write(void *opaque, const void *data, size_t size)
{
    Output *o = opaque;
    const uint8_t *p = data;

    while (size) {
        int n = FFMIN(size, 1 << 20);

        avio_write(o->pb, p, n);
        p    += n;
        size -= n;
    }
    return o->pb->error;
}

static int output_flush(void *opaque)
{
    Output *o = opaque;

    avio_flush(o->pb);
    return o->pb->error;
}

static int output_seek(void *opaque, int64_t offset)
{
    Output *o = opaque;
    int64_t ret = avio_seek(o->pb, offset, SEEK_SET);

    return ret < 0 ? ret : 0;
}

static int output_seekable(const Output *o)
{
    return o->pb && o->pb->seekable & AVIO_SEEKABLE_NORMAL;
}

/** Report an error of an output, once. */
static int output_fail(AVFilterContext *ctx, Output *o, const char *what, int err)
{
    if (!o->failed)
        av_log(ctx, AV_LOG_ERROR, "out: %s '%s' failed: %s\n",
               what, o->path, av_err2str(err));
    o->failed = 1;
    return err;
}

/** Take it off the list and free it. */
static int output_close(Output **po)
{
    Output *o = *po, **p;
    int ret;

    ff_mutex_lock(&list_lock);
    for (p = &output_list; *p; p = &(*p)->next) {
        if (*p == o) {
            *p = o->next;
            break;
        }
    }
    ff_mutex_unlock(&list_lock);
    argus_writer_close(&o->writer);
    ret = avio_closep(&o->pb);
    av_freep(&o->path);
    av_freep(po);
    return ret;
}

static int find_format(AVFilterContext *ctx, const char *path)
{
    ArgusFilterContext *s = ctx->priv;
    int format;

    if (s->format && *s->format && strcmp(s->format, "auto"))
        return argus_format_find(s->format);
    format = strcmp(path, "-") ? argus_format_find(path) : ARGUS_FORMAT_SRT;
    if (format <= ARGUS_FORMAT_AUTO) {
        av_log(ctx, AV_LOG_ERROR, "out: no format has the extension of '%s'; "
               "set the option format\n", path);
        return AVERROR(EINVAL);
    }
    return format;
}

static int output_start(AVFilterContext *ctx, Output *o)
{
    ArgusFilterContext *s = ctx->priv;
    ArgusStream stream = { .write = output_write, .flush = output_flush, .opaque = o };
    ArgusWriterSettings ws;
    ArgusModelInfo info;
    int ret;

    ret = avio_open(&o->pb, strcmp(o->path, "-") ? o->path : "pipe:1", AVIO_FLAG_WRITE);
    if (ret < 0)
        return output_fail(ctx, o, "opening", ret);
    if (output_seekable(o))
        stream.seek = output_seek;

    argus_model_info(s->model, &info);
    argus_writer_default_settings(&ws);
    ws.format    = o->format;
    ws.wrap      = s->wrap;
    ws.lines     = s->lines;
    ws.merge     = s->merge;
    ws.model     = info.name;
    ws.sha256    = info.sha256;
    ws.prompt    = s->settings.prompt;
    ws.fps       = s->settings.fps;
    ws.window    = s->window;
    ws.decoding  = &s->settings.decoding;
    ws.precision = info.precision;
    ret = argus_writer_open(&o->writer, &ws, &stream);
    if (ret < 0)
        return output_fail(ctx, o, "writing", to_averror(ret));
    return 0;
}

/** Do two paths lead to the same file? Such as are no files differ by their names. */
static int same_file(const char *a, const char *b)
{
    struct stat s, t;

    if (!strcmp(a, b))
        return 1;
    return !stat(a, &s) && !stat(b, &t) && S_ISREG(s.st_mode) && s.st_ino &&
           s.st_ino == t.st_ino && s.st_dev == t.st_dev;
}

/** Open a path, or go on with it where a freed graph left it. */
static int output_open(AVFilterContext *ctx, const char *path, Output **out)
{
    Output *o;
    int ret = 0;

    ff_mutex_lock(&list_lock);
    for (o = output_list; o && !same_file(o->path, path); o = o->next)
        ;
    if (o && o->owner) {
        av_log(ctx, AV_LOG_ERROR, "out: '%s' is already written by %s\n", path,
               o->owner == ctx ? "this filter" : o->owner->name);
        ret = AVERROR(EBUSY);
    } else if (o) {
        o->owner = ctx;
        *out = o;
    } else if (!(o = av_mallocz(sizeof(*o))) || !(o->path = av_strdup(path))) {
        av_freep(&o);
        ret = AVERROR(ENOMEM);
    } else {
        o->owner    = ctx;
        o->next     = output_list;
        output_list = o;
    }
    ff_mutex_unlock(&list_lock);
    if (ret < 0 || *out)
        return ret;

    o->format = find_format(ctx, path);
    ret = output_start(ctx, o);
    if (ret < 0) {
        output_close(&o);
        return ret;
    }
    *out = o;
    return 0;
}

/** Go on with the ticks and windows of a freed graph that wrote to one of our files. */
static void find_position(ArgusFilterContext *s)
{
    ArgusRational tb = s->settings.time_base;

    ff_mutex_lock(&list_lock);
    for (const Output *o = output_list; o; o = o->next)
        for (int i = 0; i < s->nb_paths; i++)
            if (!o->owner && !strcmp(o->path, s->paths[i]) &&
                o->time_base.num == tb.num && o->time_base.den == tb.den)
                s->settings.from = o->position;
    ff_mutex_unlock(&list_lock);
}

/** Write a cue to all outputs. @return the first error */
static int write_cue(AVFilterContext *ctx, const ArgusCue *cue)
{
    ArgusFilterContext *s = ctx->priv;
    int err = 0;

    for (int i = 0; i < s->nb_outputs; i++) {
        Output *o = s->outputs[i];
        int ret = o->failed ? 0 : argus_writer_cue(o->writer, cue);

        if (ret < 0) {
            ret = output_fail(ctx, o, "writing", to_averror(ret));
            err = err ? err : ret;
        }
    }
    return err;
}

/**
 * Complete all outputs.
 * @param keep leave them to the next graph where that can go on
 */
static int finish_outputs(AVFilterContext *ctx, int keep)
{
    ArgusFilterContext *s = ctx->priv;
    int err = 0;

    for (int i = 0; i < s->nb_outputs; i++) {
        Output *o = s->outputs[i];
        int ret = o->failed ? 0 : argus_writer_finish(o->writer);

        if (ret < 0) {
            ret = output_fail(ctx, o, "writing", to_averror(ret));
            err = err ? err : ret;
        }
        /* a JSON document in a pipe has ended, nothing can follow */
        if (keep && !o->failed && (o->format != ARGUS_FORMAT_JSON || output_seekable(o))) {
            argus_track_position(s->track, &o->position);
            o->time_base = s->settings.time_base;
            ff_mutex_lock(&list_lock);
            o->owner = NULL;
            ff_mutex_unlock(&list_lock);
        } else {
            int failed = o->failed;

            ret = output_close(&s->outputs[i]);
            if (ret < 0 && !failed) {
                av_log(ctx, AV_LOG_ERROR, "out: closing '%s' failed: %s\n",
                       s->paths[i], av_err2str(ret));
                err = err ? err : ret;
            }
        }
    }
    s->nb_outputs = 0;
    return err;
}

/* ------------------------------------------------------------------------ */
/* Tags                                                                      */

/** Seconds with three decimals and a point, whatever the locale is. */
static int set_seconds(AVDictionary **tags, const char *key, int64_t ms)
{
    char buf[32];
    uint64_t abs = ms < 0 ? -(uint64_t)ms : ms;

    snprintf(buf, sizeof(buf), "%s%"PRIu64".%03d", ms < 0 ? "-" : "",
             abs / 1000, (int)(abs % 1000));
    return av_dict_set(tags, key, buf, 0);
}

/** A number with four decimals. */
static int set_fixed(AVDictionary **tags, const char *key, double value)
{
    char buf[32];
    int64_t n = llrint(value * 10000), abs = FFABS(n);

    snprintf(buf, sizeof(buf), "%s%"PRId64".%04d", n < 0 ? "-" : "",
             abs / 10000, (int)(abs % 10000));
    return av_dict_set(tags, key, buf, 0);
}

/** Make the metadata of a cue, each value on one line. */
static int make_tags(AVFilterContext *ctx, const ArgusCue *cue)
{
    ArgusFilterContext *s = ctx->priv;
    AVDictionary **tags = &s->tags;
    ArgusModelInfo info;
    char *text = av_strdup(cue->text);
    int ret;

    av_dict_free(tags);
    argus_free(s->payload);
    s->payload = s->sei ? argus_cue_json(cue, NULL) : NULL;
    if (!text || s->sei && !s->payload) {
        av_free(text);
        return AVERROR(ENOMEM);
    }
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            *p = ' ';
    argus_model_info(s->model, &info);
    if ((ret = av_dict_set(tags, "lavfi.argus.caption", text, AV_DICT_DONT_STRDUP_VAL)) < 0 ||
        (ret = set_seconds(tags, "lavfi.argus.start", milliseconds(cue, cue->start))) < 0 ||
        (ret = set_seconds(tags, "lavfi.argus.end", milliseconds(cue, cue->end))) < 0 ||
        (ret = av_dict_set_int(tags, "lavfi.argus.window", cue->window, 0)) < 0 ||
        (ret = av_dict_set_int(tags, "lavfi.argus.frames", cue->n_frame, 0)) < 0 ||
        (ret = av_dict_set_int(tags, "lavfi.argus.tokens", cue->n_token, 0)) < 0 ||
        (ret = set_fixed(tags, "lavfi.argus.logprob", cue->mean_logprob)) < 0 ||
        (ret = av_dict_set(tags, "lavfi.argus.finish", argus_finish_name(cue->finish), 0)) < 0 ||
        (ret = av_dict_set(tags, "lavfi.argus.model", info.name, 0)) < 0)
        return ret;
    if (cue->choice >= 0 &&
        ((ret = av_dict_set(tags, "lavfi.argus.answer", s->answers[cue->choice], 0)) < 0 ||
         (ret = set_fixed(tags, "lavfi.argus.prob", cue->choice_prob)) < 0))
        return ret;
    s->tags_start = cue->start;
    s->tags_end   = cue->end;
    return 0;
}

/** Put the tags of the last cue on a frame, and its side data on the first one. */
static int tag_frame(ArgusFilterContext *s, AVFrame *frame)
{
    size_t size = s->payload ? strlen(s->payload) : 0;
    AVFrameSideData *sd;

    if (s->payload) {
        sd = av_frame_new_side_data(frame, AV_FRAME_DATA_SEI_UNREGISTERED,
                                    sizeof(sei_uuid) + size);
        if (!sd)
            return AVERROR(ENOMEM);
        memcpy(sd->data, sei_uuid, sizeof(sei_uuid));
        memcpy(sd->data + sizeof(sei_uuid), s->payload, size);
        argus_free(s->payload);
        s->payload = NULL;
    }
    return av_dict_copy(&frame->metadata, s->tags, 0);
}

/** Tag a frame if the last cue spans it. */
static int tag_spanned(ArgusFilterContext *s, const HeldFrame *held)
{
    if (!s->tags || held->pts < s->tags_start || held->pts >= s->tags_end)
        return 0;
    return tag_frame(s, held->frame);
}

/* ------------------------------------------------------------------------ */
/* Closed captions                                                           */

/** Note what to load, from the window's first frame on if that is still here. */
static int plan_caption(ArgusFilterContext *s, const ArgusCue *cue)
{
    Loading l = { .text = av_strdup(cue->text), .start = cue->start, .end = cue->end };
    int ret;

    if (!l.text)
        return AVERROR(ENOMEM);
    if (s->attach != ATTACH_WINDOW) {
        l.start = s->last_pts;
        l.end   = s->last_pts + cue->end - cue->start;
    }
    ret = av_fifo_write(s->loading, &l, 1);
    if (ret < 0)
        av_free(l.text);
    return ret;
}

/** Give up what is being loaded. */
static void drop_loading(ArgusFilterContext *s)
{
    s->nb_dropped += argus_captioner_loading(s->captioner) > 0;
}

/** Begin what is due with the frame that leaves at this time. */
static void begin_caption(ArgusFilterContext *s, int64_t pts)
{
    Loading l;

    if (s->cc_end != AV_NOPTS_VALUE && pts >= s->cc_end) {
        drop_loading(s);
        argus_captioner_clear(s->captioner);
        s->cc_end = AV_NOPTS_VALUE;
    }
    while (av_fifo_peek(s->loading, &l, 1, 0) >= 0 && l.start <= pts) {
        drop_loading(s);
        argus_captioner_text(s->captioner, l.text);
        s->cc_start = pts;
        s->cc_end   = l.end;
        av_free(l.text);
        av_fifo_drain2(s->loading, 1);
    }
}

/** Is it the turn of a frame to carry a pair? There are at most 30 a second. */
static int has_slot(ArgusFilterContext *s, int64_t pts)
{
    AVRational tb = { s->settings.time_base.num, s->settings.time_base.den };
    int64_t slot;

    if (s->cc_origin == AV_NOPTS_VALUE || pts < s->cc_origin) {
        s->cc_origin = pts;
        s->cc_slot   = -1;
    }
    /* a quarter more, since time bases round */
    slot = av_rescale_q_rnd(pts - s->cc_origin, tb, (AVRational){ 1, 120 }, AV_ROUND_DOWN);
    slot = (slot + 1) / 4;
    if (slot <= s->cc_slot)
        return 0;
    s->cc_slot = slot;
    return 1;
}

/** Put the next pair on a frame that leaves. */
static int caption_frame(AVFilterContext *ctx, const HeldFrame *held)
{
    ArgusFilterContext *s = ctx->priv;
    AVFrameSideData *sd = av_frame_get_side_data(held->frame, AV_FRAME_DATA_A53_CC);
    int loading;

    if (sd && held->disabled)
        return 0; /* its own captions again */
    if (sd && !s->warned_cc) {
        av_log(ctx, AV_LOG_WARNING, "the video has closed captions; cc=1 replaces them\n");
        s->warned_cc = 1;
    }
    av_frame_remove_side_data(held->frame, AV_FRAME_DATA_A53_CC);
    begin_caption(s, held->pts);
    if (!has_slot(s, held->pts))
        return 0;
    sd = av_frame_new_side_data(held->frame, AV_FRAME_DATA_A53_CC, 3);
    if (!sd)
        return AVERROR(ENOMEM);
    loading = argus_captioner_loading(s->captioner);
    sd->data[0] = 0xfc; /* field 1, valid */
    argus_captioner_next(s->captioner, sd->data + 1);
    if (loading && !argus_captioner_loading(s->captioner)) {
        s->nb_shown++;
        s->cc_delay = FFMAX(s->cc_delay, held->pts - s->cc_start);
    }
    return 0;
}

/** Say at the end what became of the captions. */
static void log_captions(AVFilterContext *ctx)
{
    ArgusFilterContext *s = ctx->priv;
    Loading l;

    drop_loading(s);
    while (s->loading && av_fifo_read(s->loading, &l, 1) >= 0) {
        av_free(l.text);
        s->nb_dropped++;
    }
    av_log(ctx, s->nb_dropped ? AV_LOG_WARNING : AV_LOG_INFO,
           "closed captions: %"PRId64" shown, %"PRId64" not loaded in time; loading took at most "
           "%"PRId64" ms\n", s->nb_shown, s->nb_dropped,
           argus_time_ms(s->cc_delay, s->settings.time_base, 0));
}

/* ------------------------------------------------------------------------ */
/* Cues                                                                      */

/**
 * Take all finished cues: write them, tag their frames.
 * @param closing frame that closed the window, NULL at the end
 */
static int take_cues(AVFilterContext *ctx, AVFrame *closing)
{
    ArgusFilterContext *s = ctx->priv;
    int nb_held = av_fifo_can_read(s->held);
    HeldFrame held;
    ArgusCue cue;
    int ret, err = 0;

    while ((ret = argus_track_poll(s->track, &cue)) > 0) {
        ret = write_cue(ctx, &cue);
        err = err ? err : ret;
        if (s->cc && (ret = plan_caption(s, &cue)) < 0)
            return ret;
        if (s->attach == ATTACH_NONE)
            continue;
        ret = make_tags(ctx, &cue);
        if (ret < 0)
            return ret;
        if (s->attach == ATTACH_LATE) {
            if (!closing && nb_held) {
                av_fifo_peek(s->held, &held, 1, nb_held - 1);
                closing = held.frame;
            }
            s->nb_untagged += !closing;
            ret = closing ? tag_frame(s, closing) : 0;
            if (ret < 0)
                return ret;
            continue;
        }
        for (int i = 0; i < nb_held; i++) {
            av_fifo_peek(s->held, &held, 1, i);
            ret = tag_spanned(s, &held);
            if (ret < 0)
                return ret;
        }
    }
    return ret < 0 ? to_averror(ret) : err;
}

/* ------------------------------------------------------------------------ */
/* Pixels                                                                    */

/** Where chroma lies in units of 1/256 luma, -513 where there is no choice. */
static void chroma_position(const AVFrame *frame, int *x, int *y)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(frame->format);
    int loc = frame->chroma_location;

    if (loc == AVCHROMA_LOC_UNSPECIFIED || loc >= AVCHROMA_LOC_NB)
        loc = AVCHROMA_LOC_LEFT;
    *x = loc == AVCHROMA_LOC_LEFT || loc == AVCHROMA_LOC_TOPLEFT ||
         loc == AVCHROMA_LOC_BOTTOMLEFT ? 0 : 128;
    *y = loc == AVCHROMA_LOC_TOPLEFT || loc == AVCHROMA_LOC_TOP ? 0 :
         loc == AVCHROMA_LOC_LEFT || loc == AVCHROMA_LOC_CENTER ? 128 : 256;
    if (!desc->log2_chroma_w)
        *x = -513;
    if (!desc->log2_chroma_h)
        *y = -513;
}

/** Make a converter to RGB24 of the same size. */
static int open_converter(ArgusFilterContext *s, const AVFrame *frame)
{
    int flags = SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP |
                SWS_BITEXACT;
    int key[6] = { frame->width, frame->height, frame->format,
                   frame->colorspace, frame->color_range, frame->chroma_location };
    int x, y, range, out_range, brightness, contrast, saturation, ret;
    int *table, *out_table;

    if (s->sws && !memcmp(key, s->sws_key, sizeof(key)))
        return 0;
    sws_freeContext(s->sws);
    s->sws = sws_alloc_context();
    if (!s->sws)
        return AVERROR(ENOMEM);
    chroma_position(frame, &x, &y);
    av_opt_set_int(s->sws, "srcw", frame->width, 0);
    av_opt_set_int(s->sws, "srch", frame->height, 0);
    av_opt_set_int(s->sws, "src_format", frame->format, 0);
    av_opt_set_int(s->sws, "dstw", frame->width, 0);
    av_opt_set_int(s->sws, "dsth", frame->height, 0);
    av_opt_set_int(s->sws, "dst_format", AV_PIX_FMT_RGB24, 0);
    av_opt_set_int(s->sws, "sws_flags", flags, 0);
    av_opt_set_int(s->sws, "src_h_chr_pos", x, 0);
    av_opt_set_int(s->sws, "src_v_chr_pos", y, 0);
    ret = sws_init_context(s->sws, NULL, NULL);
    if (ret < 0) {
        sws_freeContext(s->sws);
        s->sws = NULL;
        return ret;
    }
    /* the range that swscale takes for this format, unless the frame knows it;
     * the call fails for formats without a matrix, which need none */
    if (sws_getColorspaceDetails(s->sws, &table, &range, &out_table, &out_range,
                                 &brightness, &contrast, &saturation) >= 0) {
        if (frame->color_range != AVCOL_RANGE_UNSPECIFIED)
            range = frame->color_range == AVCOL_RANGE_JPEG;
        sws_setColorspaceDetails(s->sws, sws_getCoefficients(frame->colorspace), range,
                                 out_table, out_range, brightness, contrast, saturation);
    }
    memcpy(s->sws_key, key, sizeof(key));
    return 0;
}

static void warn_about(AVFilterContext *ctx, const AVFrame *frame)
{
    ArgusFilterContext *s = ctx->priv;

    if (frame_interlaced(frame) && !s->warned_interlaced) {
        s->warned_interlaced = 1;
        av_log(ctx, AV_LOG_WARNING, "the video is interlaced, the model may see comb lines; "
               "put bwdif in front: -vf bwdif,argus=...\n");
    }
    if ((frame->color_trc == AVCOL_TRC_SMPTE2084 ||
         frame->color_trc == AVCOL_TRC_ARIB_STD_B67) && !s->warned_transfer) {
        s->warned_transfer = 1;
        av_log(ctx, AV_LOG_WARNING, "the video is HDR (%s), the model will see it flat and grey; "
               "put zscale=t=linear:npl=100,tonemap=hable,zscale=p=bt709:t=bt709:m=bt709:r=tv,"
               "format=yuv420p in front of argus\n", av_color_transfer_name(frame->color_trc));
    }
}

/** How a display matrix turns a picture. */
typedef struct Turn {
    int transpose; ///< columns become rows; before the flips
    int hflip;
    int vflip;
} Turn;

/** Find the turn of a frame, none if it is no multiple of 90 degrees. */
static Turn find_turn(AVFilterContext *ctx, const AVFrame *frame)
{
    ArgusFilterContext *s = ctx->priv;
    const AVFrameSideData *sd = av_frame_get_side_data(frame, AV_FRAME_DATA_DISPLAYMATRIX);
    const int32_t *m;
    int64_t straight, cross;

    if (!s->rotate || !sd || sd->size < 9 * sizeof(*m))
        return (Turn){ 0 };
    /* x of the display is m[0] * x + m[3] * y, its y is m[1] * x + m[4] * y */
    m = (const int32_t *)sd->data;
    straight = FFMIN(FFABS((int64_t)m[0]), FFABS((int64_t)m[4]));
    cross    = FFMIN(FFABS((int64_t)m[1]), FFABS((int64_t)m[3]));
    if (FFMAX(FFABS((int64_t)m[1]), FFABS((int64_t)m[3])) < straight / 64)
        return (Turn){ 0, m[0] < 0, m[4] < 0 };
    if (FFMAX(FFABS((int64_t)m[0]), FFABS((int64_t)m[4])) < cross / 64)
        return (Turn){ 1, m[3] < 0, m[1] < 0 };
    if (!s->warned_matrix)
        av_log(ctx, AV_LOG_WARNING, "the display matrix turns by no multiple of 90 degrees; "
               "the model sees the picture as it is\n");
    s->warned_matrix = 1;
    return (Turn){ 0 };
}

/** Turn the picture. */
static int turn_image(ArgusFilterContext *s, ArgusImage *image, ArgusRational *sar, Turn turn)
{
    ArgusImage to = *image;
    ptrdiff_t step = 3, stride = image->stride; /* in the source, for x and y of the turned one */
    const uint8_t *src = image->data;

    if (turn.transpose) {
        FFSWAP(int, to.width, to.height);
        FFSWAP(int, sar->num, sar->den);
        FFSWAP(ptrdiff_t, step, stride);
    }
    if (turn.hflip) {
        src += (to.width - 1) * step;
        step = -step;
    }
    if (turn.vflip) {
        src   += (to.height - 1) * stride;
        stride = -stride;
    }
    to.stride = to.width * 3;
    av_fast_malloc(&s->turned, &s->turned_size, to.stride * to.height);
    if (!s->turned)
        return AVERROR(ENOMEM);
    for (int y = 0; y < to.height; y++) {
        const uint8_t *p = src + y * stride;
        uint8_t *dst = s->turned + y * to.stride;

        for (int x = 0; x < to.width; x++, p += step, dst += 3)
            memcpy(dst, p, 3);
    }
    to.data = s->turned;
    *image  = to;
    return 0;
}

/** Give the track the pixels of a frame that it wants. */
static int push_frame(AVFilterContext *ctx, const AVFrame *frame)
{
    ArgusFilterContext *s = ctx->priv;
    ArgusRational sar = { 1, 1 };
    ArgusImage image = {
        .width  = frame->width,
        .height = frame->height,
        .stride = FFALIGN((int64_t)frame->width * 3, 64),
        .format = ARGUS_RGB24,
    };
    uint8_t *dst[4] = { NULL };
    int linesize[4] = { image.stride };
    Turn turn = find_turn(ctx, frame);
    int ret;

    warn_about(ctx, frame);
    ret = open_converter(s, frame);
    if (ret < 0) {
        av_log(ctx, AV_LOG_ERROR, "no conversion from %s %dx%d to rgb24: %s\n",
               av_get_pix_fmt_name(frame->format), frame->width, frame->height, av_err2str(ret));
        return ret;
    }
    /* swscale may write a few bytes past the end of a row */
    av_fast_malloc(&s->rgb, &s->rgb_size, image.stride * frame->height + 64);
    if (!s->rgb)
        return AVERROR(ENOMEM);
    dst[0] = s->rgb;
    ret = sws_scale(s->sws, (const uint8_t *const *)frame->data, frame->linesize, 0, frame->height,
                    dst, linesize);
    if (ret < 0)
        return ret;
    image.data = s->rgb;
    if (s->sar_square && frame->sample_aspect_ratio.num > 0 && frame->sample_aspect_ratio.den > 0)
        sar = (ArgusRational){ frame->sample_aspect_ratio.num, frame->sample_aspect_ratio.den };
    if (turn.transpose || turn.hflip || turn.vflip) {
        ret = turn_image(s, &image, &sar, turn);
        if (ret < 0)
            return ret;
    }
    return to_averror(argus_track_push(s->track, &image, sar));
}

/* ------------------------------------------------------------------------ */
/* Frames                                                                    */

/** Send the frame that has waited longest. */
static int send_frame(AVFilterContext *ctx)
{
    ArgusFilterContext *s = ctx->priv;
    HeldFrame held;
    int ret;

    av_fifo_read(s->held, &held, 1);
    s->held_bytes -= held.bytes;
    if (s->cc && (ret = caption_frame(ctx, &held)) < 0) {
        av_frame_free(&held.frame);
        return ret;
    }
    return ff_filter_frame(ctx->outputs[0], held.frame);
}

/**
 * Send the frames that wait for nothing any more.
 * @param  all 1 to send every one
 * @return number sent or an error
 */
static int send_frames(AVFilterContext *ctx, int all)
{
    ArgusFilterContext *s = ctx->priv;
    int64_t open_start = argus_track_open_start(s->track);
    int64_t limit = (int64_t)s->hold_limit << 20;
    HeldFrame held;
    int n = 0, ret;

    while (av_fifo_peek(s->held, &held, 1, 0) >= 0) {
        int wait = 0;

        if (!all && s->attach == ATTACH_WINDOW)
            wait = open_start != ARGUS_NOPTS && held.pts >= open_start;
        else if (!all && s->attach == ATTACH_LATE && !s->live)
            wait = av_fifo_can_read(s->held) == 1;
        if (wait && s->attach == ATTACH_WINDOW && s->held_bytes > limit) {
            if (!s->warned_limit)
                av_log(ctx, AV_LOG_WARNING, "the frames of a window take more than %d MiB: the "
                       "first ones get no caption; raise hold_limit, lower window or put scale "
                       "in front\n", s->hold_limit);
            s->warned_limit = 1;
            wait = 0;
        }
        if (wait)
            break;
        ret = send_frame(ctx);
        if (ret < 0)
            return ret;
        n++;
    }
    return n;
}

static int hold_frame(ArgusFilterContext *s, AVFrame *frame, int64_t pts, int disabled)
{
    HeldFrame held = { .frame = frame, .pts = pts, .disabled = disabled };
    int ret;

    for (int i = 0; i < AV_NUM_DATA_POINTERS && frame->buf[i]; i++)
        held.bytes += frame->buf[i]->size;
    if (s->attach == ATTACH_WINDOW && (ret = tag_spanned(s, &held)) < 0)
        return ret;
    ret = av_fifo_write(s->held, &held, 1);
    if (ret >= 0)
        s->held_bytes += held.bytes;
    return ret;
}

/** Time of a frame; the track counts in the same way when there is none. */
static int64_t frame_time(ArgusFilterContext *s, const AVFrame *frame)
{
    const ArgusTrackSettings *t = &s->settings;

    if (frame->pts != AV_NOPTS_VALUE || s->last_pts == AV_NOPTS_VALUE) {
        s->base_pts  = frame->pts != AV_NOPTS_VALUE ? frame->pts : 0;
        s->nb_nopts  = 0;
        return s->base_pts;
    }
    if (!t->frame_rate.num)
        return s->last_pts;
    return s->base_pts + av_rescale_q(++s->nb_nopts,
                                      (AVRational){ t->frame_rate.den, t->frame_rate.num },
                                      (AVRational){ t->time_base.num, t->time_base.den });
}

/** Take a frame in. @return number of frames sent or an error */
static int filter_frame(AVFilterContext *ctx, AVFrame *frame)
{
    ArgusFilterContext *s = ctx->priv;
    int64_t pts = frame_time(s, frame);
    int backwards = s->last_pts != AV_NOPTS_VALUE && pts < s->last_pts;
    int ret = 0, sent = 0;

    if (!ctx->is_disabled)
        ret = argus_track_wants(s->track, frame->pts, 0);
    else if (s->enabled)
        ret = argus_track_flush(s->track, pts);
    s->enabled  = !ctx->is_disabled;
    s->last_pts = pts;
    if (ret < 0) {
        ret = to_averror(ret);
        goto fail;
    }
    if (ret > 0 && !ctx->is_disabled) {
        ret = push_frame(ctx, frame);
        if (ret < 0)
            goto fail;
    }
    /* frames that are held leave as soon as they can: a graph that is built anew
     * loses them, and how many must not depend on the model's speed */
    if (s->attach == ATTACH_WINDOW && (!s->live || backwards) && argus_track_pending(s->track))
        argus_track_wait(s->track);
    ret = take_cues(ctx, frame);
    if (ret < 0)
        goto fail;
    if (backwards || ctx->is_disabled && !s->live) {
        /* no cue is open for what came before */
        ret = sent = send_frames(ctx, 1);
        if (ret < 0)
            goto fail;
    }
    ret = hold_frame(s, frame, pts, ctx->is_disabled);
    if (ret < 0)
        goto fail;
    ret = send_frames(ctx, 0);
    return ret < 0 ? ret : ret + sent;

fail:
    av_frame_free(&frame);
    return ret;
}

/** Time after the last frame, as far as it is known. */
static int64_t last_end(const ArgusFilterContext *s)
{
    if (s->last_pts == AV_NOPTS_VALUE || !s->frame_duration)
        return ARGUS_NOPTS;
    return s->last_pts + s->frame_duration;
}

static void log_stats(AVFilterContext *ctx)
{
    ArgusFilterContext *s = ctx->priv;
    ArgusStats st;

    argus_stats(s->argus, &st);
    av_log(ctx, AV_LOG_INFO, "samples %"PRId64", captions %"PRId64" (%"PRId64" reused), "
           "tiles %"PRId64" (%"PRId64" reused), prompt tokens %"PRId64", tokens %"PRId64"\n",
           argus_track_samples(s->track), st.n_caption, st.n_caption_reused,
           st.n_tile, st.n_tile_reused, st.n_prompt, st.n_token);
    av_log(ctx, AV_LOG_INFO, "ms: preprocess %"PRId64", vision %"PRId64", prefill %"PRId64", "
           "decode %"PRId64"; working memory %"PRId64" KiB\n",
           st.us_preprocess / 1000, st.us_vision / 1000, st.us_prefill / 1000,
           st.us_decode / 1000, st.anon_bytes / 1024);
}

/**
 * Close the open window and the outputs.
 * @param end  end of the stream or ARGUS_NOPTS
 * @param keep the outputs are for the next graph
 */
static int finish(AVFilterContext *ctx, int64_t end, int keep)
{
    ArgusFilterContext *s = ctx->priv;
    int ret, err;

    if (!s->open || s->finished)
        return 0;
    s->finished = 1;
    err = s->failed ? 0 : to_averror(argus_track_flush(s->track, end));
    if (!s->failed) {
        /* nobody waits for a live source that was stopped: what is not known yet is lost */
        if (!keep || !s->live)
            argus_track_wait(s->track);
        ret = take_cues(ctx, NULL);
        err = err < 0 ? err : ret;
    }
    if (s->nb_untagged)
        av_log(ctx, AV_LOG_WARNING, "%"PRId64" captions came after the last frame: "
               "no frame carries them\n", s->nb_untagged);
    if (argus_track_dropped(s->track))
        av_log(ctx, AV_LOG_WARNING, "live: %"PRId64" of %"PRId64" samples left out\n",
               argus_track_dropped(s->track),
               argus_track_dropped(s->track) + argus_track_samples(s->track));
    if (!keep && !s->failed && !argus_track_samples(s->track))
        av_log(ctx, AV_LOG_WARNING, "%s: there are no captions\n",
               s->last_pts == AV_NOPTS_VALUE ? "no frame came" : "no frame was sampled");
    ret = finish_outputs(ctx, keep && !s->failed);
    err = err < 0 ? err : ret;
    if (s->stats)
        log_stats(ctx);
    return err;
}

static int run(AVFilterContext *ctx)
{
    AVFilterLink *inlink  = ctx->inputs[0];
    AVFilterLink *outlink = ctx->outputs[0];
    ArgusFilterContext *s = ctx->priv;
    AVFrame *frame;
    int64_t pts;
    int ret, status;

    ret = ff_outlink_get_status(outlink);
    if (ret) {
        ff_inlink_set_status(inlink, ret);
        return finish(ctx, last_end(s), 0);
    }

    ret = ff_inlink_consume_frame(inlink, &frame);
    if (ret < 0)
        return ret;
    if (ret > 0) {
        ret = filter_frame(ctx, frame);
        if (ret)
            return FFMIN(ret, 0);
        /* nothing left the filter, so nobody will ask again */
        if (ff_inlink_check_available_frame(inlink)) {
            ff_filter_set_ready(ctx, 100);
            return 0;
        }
    }

    if (ff_inlink_acknowledge_status(inlink, &status, &pts)) {
        int err = finish(ctx, pts != AV_NOPTS_VALUE ? pts : last_end(s), 0);

        ret = send_frames(ctx, 1);
        if (ret < 0)
            return ret;
        ff_outlink_set_status(outlink, err < 0 ? err : status, pts);
        return err;
    }

    FF_FILTER_FORWARD_WANTED(outlink, inlink);
    return FFERROR_NOT_READY;
}

static int activate(AVFilterContext *ctx)
{
    ArgusFilterContext *s = ctx->priv;
    int ret = run(ctx);

    if (ret < 0 && ret != FFERROR_NOT_READY)
        s->failed = 1;
    return ret;
}

/* ------------------------------------------------------------------------ */
/* Life cycle                                                                */

/** Split at '|', leaving out what is empty. */
static int split_list(const char *list, char ***items, int *nb_items)
{
    while (list && *list) {
        size_t len = strcspn(list, "|");
        char *item = len ? av_strndup(list, len) : NULL;
        int ret;

        if (len && !item)
            return AVERROR(ENOMEM);
        if (item && (ret = av_dynarray_add_nofree(items, nb_items, item)) < 0) {
            av_free(item);
            return ret;
        }
        list += len + (list[len] == '|');
    }
    return 0;
}

static void free_list(char ***items, int *nb_items)
{
    for (int i = 0; i < *nb_items; i++)
        av_freep(&(*items)[i]);
    av_freep(items);
    *nb_items = 0;
}

/** NULL for an empty option. */
static const char *text_option(const char *text)
{
    return text && *text ? text : NULL;
}

static int check_outputs(AVFilterContext *ctx)
{
    ArgusFilterContext *s = ctx->priv;
    const char *name;

    if (s->format && *s->format && strcmp(s->format, "auto") &&
        argus_format_find(s->format) <= ARGUS_FORMAT_AUTO) {
        av_log(ctx, AV_LOG_ERROR, "format: found '%s', expected one of:", s->format);
        for (int i = 0; (name = argus_format_name(i)); i++)
            av_log(ctx, AV_LOG_ERROR, " %s", name);
        av_log(ctx, AV_LOG_ERROR, "\n");
        return AVERROR(EINVAL);
    }
    for (int i = 0; i < s->nb_paths; i++) {
        int ret = find_format(ctx, s->paths[i]);

        if (ret < 0)
            return ret;
        for (int j = 0; j < i; j++) {
            if (!strcmp(s->paths[i], s->paths[j])) {
                av_log(ctx, AV_LOG_ERROR, "out: '%s' is there twice\n", s->paths[i]);
                return AVERROR(EINVAL);
            }
        }
    }
    return 0;
}

/**
 * How many samples may wait for the model while frames go on. None where it
 * matters with which frame a caption comes: what leaves the filter must not
 * depend on the speed of the model.
 */
static int queue_size(const ArgusFilterContext *s)
{
    if (s->live)
        return 4; /* enough while an answer is decoded; more would only make captions later */
    if (s->attach == ATTACH_LATE || s->attach == ATTACH_NONE && s->cc)
        return 0;
    return 2;
}

/** Check all options. Nothing is opened: the graph may never run. */
static av_cold int init(AVFilterContext *ctx)
{
    ArgusFilterContext *s = ctx->priv;
    ArgusTrackSettings *t = &s->settings;
    int ret;

    s->last_pts = AV_NOPTS_VALUE;
    if (ctx->nb_threads > MAX_THREADS) {
        av_log(ctx, AV_LOG_ERROR, "threads: found %d, expected at most %d\n",
               ctx->nb_threads, MAX_THREADS);
        return AVERROR(EINVAL);
    }
    if ((ret = split_list(s->out, &s->paths, &s->nb_paths)) < 0 ||
        (ret = split_list(s->stop, &s->stops, &s->nb_stops)) < 0 ||
        (ret = split_list(s->choices, &s->answers, &s->nb_answers)) < 0)
        return ret;
    for (int i = 0; i < s->nb_answers; i++) {
        if (strpbrk(s->answers[i], "\r\n")) {
            av_log(ctx, AV_LOG_ERROR, "choices: expected answers of one line\n");
            return AVERROR(EINVAL);
        }
    }
    if (text_option(s->prompt) && text_option(s->prompt_file)) {
        av_log(ctx, AV_LOG_ERROR, "prompt and prompt_file: expected one of them, found both\n");
        return AVERROR(EINVAL);
    }
    if (s->attach == ATTACH_AUTO)
        s->attach = s->live ? ATTACH_LATE :
                    s->nb_paths && !s->cc ? ATTACH_NONE : ATTACH_WINDOW;

    argus_track_default_settings(t);
    t->logger     = get_logger(ctx);
    t->fps        = (ArgusRational){ s->fps.num, s->fps.den };
    t->window     = s->window;
    t->hop        = s->hop;
    t->max_frames = s->max_frames;
    t->offset_us  = s->offset;
    t->split      = s->split;
    t->reuse      = s->reuse;
    t->live       = s->live;
    t->queue      = queue_size(s);
    t->prompt     = text_option(s->prompt);
    t->system     = text_option(s->system);
    t->decoding.max_tokens  = s->max_tokens;
    t->decoding.seeded      = s->seed >= 0;
    t->decoding.seed        = s->seed >= 0 ? s->seed : 0;
    t->decoding.temperature = s->temperature;
    t->decoding.top_k       = s->top_k;
    t->decoding.top_p       = s->top_p;
    t->decoding.repetition_penalty = s->repetition_penalty;
    t->decoding.stop        = (const char *const *)s->stops;
    t->decoding.n_stop      = s->nb_stops;
    t->decoding.choices     = (const char *const *)s->answers;
    t->decoding.n_choice    = s->nb_answers;
    if ((ret = argus_track_check(t)) < 0)
        return to_averror(ret);
    return check_outputs(ctx);
}

/** Take the question from a file, without the line end it may have. */
static int read_prompt(AVFilterContext *ctx)
{
    ArgusFilterContext *s = ctx->priv;
    AVIOContext *pb = NULL;
    AVBPrint buf;
    int ret;

    if (!text_option(s->prompt_file))
        return 0;
    av_bprint_init(&buf, 0, 1 << 20);
    ret = avio_open(&pb, s->prompt_file, AVIO_FLAG_READ);
    if (ret >= 0)
        ret = avio_read_to_bprint(pb, &buf, 1 << 20);
    avio_closep(&pb);
    if (ret >= 0 && !av_bprint_is_complete(&buf))
        ret = AVERROR(ENOMEM);
    if (ret < 0) {
        av_log(ctx, AV_LOG_ERROR, "prompt_file: reading '%s' failed: %s\n",
               s->prompt_file, av_err2str(ret));
        av_bprint_finalize(&buf, NULL);
        return ret;
    }
    while (buf.len && (buf.str[buf.len - 1] == '\n' || buf.str[buf.len - 1] == '\r'))
        buf.str[--buf.len] = 0;
    av_freep(&s->prompt);
    ret = av_bprint_finalize(&buf, &s->prompt);
    s->settings.prompt = text_option(s->prompt);
    return ret;
}

static int open_engine(AVFilterContext *ctx)
{
    ArgusFilterContext *s = ctx->priv;
    ArgusModelSettings ms;
    ArgusSettings as;
    ArgusModel *parked;
    int lost, ret;

    argus_model_default_settings(&ms);
    ms.logger = get_logger(ctx);
    ms.model  = text_option(s->model_name);
    ms.precision = s->precision;
    ret = argus_model_open(&s->model, &ms);
    ff_mutex_lock(&list_lock);
    parked = parked_model;
    parked_model = NULL;
    lost = parked_lost;
    parked_lost = 0;
    ff_mutex_unlock(&list_lock);
    argus_model_close(&parked);
    if (lost)
        av_log(ctx, AV_LOG_WARNING, "%d frames that waited for their caption were lost with the "
               "graph before this one; attach=late holds one, attach=none holds none\n", lost);
    if (ret < 0)
        return to_averror(ret);

    argus_default_settings(&as);
    as.logger  = get_logger(ctx);
    as.threads = ctx->nb_threads;
    ret = argus_open(&s->argus, s->model, &as);
    if (ret >= 0)
        ret = argus_track_open(&s->track, s->argus, &s->settings);
    return to_averror(ret);
}

static int config_input(AVFilterLink *inlink)
{
    AVFilterContext *ctx = inlink->dst;
    ArgusFilterContext *s = ctx->priv;
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(inlink->format);
    AVRational rate = ff_filter_link(inlink)->frame_rate;
    int ret;

    if (desc->flags & AV_PIX_FMT_FLAG_HWACCEL) {
        av_log(ctx, AV_LOG_ERROR, "%s frames lie in the memory of a device; "
               "put hwdownload,format=nv12 in front of argus\n", desc->name);
        return AVERROR(ENOSYS);
    }
    if (!sws_isSupportedInput(inlink->format)) {
        av_log(ctx, AV_LOG_ERROR, "no conversion from %s to rgb24; "
               "put format=yuv444p in front of argus\n", desc->name);
        return AVERROR(ENOSYS);
    }
    if (s->open)
        return 0;

    s->settings.time_base = (ArgusRational){ inlink->time_base.num, inlink->time_base.den };
    if (rate.num > 0 && rate.den > 0) {
        s->settings.frame_rate = (ArgusRational){ rate.num, rate.den };
        s->frame_duration      = av_rescale_q(1, av_inv_q(rate), inlink->time_base);
    }
    s->held    = av_fifo_alloc2(16, sizeof(HeldFrame), AV_FIFO_FLAG_AUTO_GROW);
    s->outputs = av_calloc(FFMAX(s->nb_paths, 1), sizeof(*s->outputs));
    if (!s->held || !s->outputs)
        return AVERROR(ENOMEM);
    if (s->cc) {
        s->loading = av_fifo_alloc2(4, sizeof(Loading), AV_FIFO_FLAG_AUTO_GROW);
        if (!s->loading || argus_captioner_open(&s->captioner) < 0)
            return AVERROR(ENOMEM);
        s->cc_origin = s->cc_end = AV_NOPTS_VALUE;
    }
    av_fifo_auto_grow_limit(s->held, SIZE_MAX / sizeof(HeldFrame));
    find_position(s);
    ret = read_prompt(ctx);
    if (ret >= 0)
        ret = open_engine(ctx);
    for (int i = 0; i < s->nb_paths && ret >= 0; i++) {
        ret = output_open(ctx, s->paths[i], &s->outputs[i]);
        if (ret >= 0)
            s->nb_outputs++;
    }
    s->open = ret >= 0;
    return ret;
}

static int process_command(AVFilterContext *ctx, const char *cmd, const char *arg,
                           char *res, int res_len, int flags)
{
    ArgusFilterContext *s = ctx->priv;
    int ret = ff_filter_process_command(ctx, cmd, arg, res, res_len, flags);

    if (ret < 0 || strcmp(cmd, "prompt"))
        return ret;
    s->settings.prompt = text_option(s->prompt);
    return s->track ? to_averror(argus_track_set_prompt(s->track, s->settings.prompt)) : 0;
}

static av_cold void uninit(AVFilterContext *ctx)
{
    ArgusFilterContext *s = ctx->priv;
    HeldFrame held;
    int nb_lost = 0, park;

    /* no EOF: the user stopped, or the graph is about to be built again */
    park = s->open && !s->finished && !s->failed;
    finish(ctx, last_end(s), 1);
    finish_outputs(ctx, 0); /* of a filter that was not opened to the end */
    while (s->held && av_fifo_read(s->held, &held, 1) >= 0) {
        av_frame_free(&held.frame);
        nb_lost++;
    }
    av_fifo_freep2(&s->held);
    av_dict_free(&s->tags);
    argus_free(s->payload);
    if (s->open && s->cc)
        log_captions(ctx);
    av_fifo_freep2(&s->loading);
    argus_captioner_close(&s->captioner);

    argus_track_close(&s->track);
    argus_close(&s->argus);
    if (park) {
        ArgusModel *model = s->model;

        ff_mutex_lock(&list_lock);
        s->model     = parked_model;
        parked_model = model;
        parked_lost += nb_lost; /* those after ffmpeg's -t nobody misses */
        ff_mutex_unlock(&list_lock);
    }
    argus_model_close(&s->model);
    sws_freeContext(s->sws);
    av_freep(&s->rgb);
    av_freep(&s->turned);
    av_freep(&s->outputs);
    free_list(&s->paths, &s->nb_paths);
    free_list(&s->stops, &s->nb_stops);
    free_list(&s->answers, &s->nb_answers);
}

static const AVFilterPad argus_inputs[] = {
    {
        .name         = "default",
        .type         = AVMEDIA_TYPE_VIDEO,
        .config_props = config_input,
    },
};

static const AVFilterPad argus_outputs[] = {
    {
        .name = "default",
        .type = AVMEDIA_TYPE_VIDEO,
    },
};

extern const FFFilter ff_vf_argus;
const FFFilter ff_vf_argus = {
    P(name)          = "argus",
    P(description)   = NULL_IF_CONFIG_SMALL("Caption video with a vision-language model."),
    P(priv_class)    = &argus_class,
    P(flags)         = AVFILTER_FLAG_METADATA_ONLY | AVFILTER_FLAG_SUPPORT_TIMELINE_INTERNAL,
    .priv_size       = sizeof(ArgusFilterContext),
    .init            = init,
    .uninit          = uninit,
    .activate        = activate,
    .process_command = process_command,
    FILTER_INPUTS(argus_inputs),
    FILTER_OUTPUTS(argus_outputs),
};
