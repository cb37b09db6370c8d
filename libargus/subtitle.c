/*
 * Writers: cues -> bytes of a subtitle, chapter or JSON file. Last stage; it
 * needs no model. doc/track.md has the formats by example.
 *
 * One write and one flush for each cue, so that what is on disk is always
 * whole. JSON has an end that must be there too: on a stream that can seek,
 * each write begins where the end of the last one began and is longer, so
 * nothing has to be cut off; on a pipe the end comes with finish.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "libargus/base/mem.h"
#include "libargus/subtitle_json.h"
#include "libargus/subtitle_text.h"
#include "libargus/track_sampler.h"

/* A cue for people: times in the units of the formats, clean text. */
typedef struct Line {
    int64_t start_ms, end_ms;
    int64_t start_cs, end_cs; /* hundredths, rounded from the exact time as well */
    char *text;               /* "" = nothing to show */
} Line;

struct ArgusWriter {
    ArgusWriterSettings s; /* strings are copies, decoding NULL */
    char *decode;          /* decode key or NULL */
    ArgusStream io;
    const struct Format *format;
    int err;               /* first error */
    int dead;              /* the stream failed: nothing is written any more */
    int64_t number;        /* cues written */
    Line held;             /* merge: waits for the next cue; text NULL = none */
    AgBuf buf;
    /* JSON */
    int can_seek, closed;
    int64_t end_at;        /* where the end begins */
};

typedef struct Format {
    const char *name;
    const char *ext[3];    /* other names */
    void (*head)(ArgusWriter *w, AgBuf *b);
    void (*line)(ArgusWriter *w, AgBuf *b, const Line *l);       /* for people, or */
    void (*cue)(ArgusWriter *w, AgBuf *b, const ArgusCue *cue);  /* for programs */
    int merges;
    int from_zero;         /* times below 0 can't be written */
} Format;

/* ------------------------------------------------------------------------ */
/* Formats                                                                   */

/* HH:MM:SS and milliseconds after `point`; ms >= 0 */
static void put_clock(AgBuf *b, int64_t ms, char point)
{
    ag_buf_printf(b, "%02" PRId64 ":%02d:%02d%c%03d", ms / 3600000, (int)(ms / 60000 % 60),
                  (int)(ms / 1000 % 60), point, (int)(ms % 1000));
}

static void put_clocks(AgBuf *b, const Line *l, char point)
{
    put_clock(b, l->start_ms, point);
    ag_buf_str(b, " --> ");
    put_clock(b, l->end_ms, point);
    ag_buf_char(b, '\n');
}

static void srt_line(ArgusWriter *w, AgBuf *b, const Line *l)
{
    ag_buf_printf(b, "%" PRId64 "\n", w->number + 1);
    put_clocks(b, l, ',');
    ag_subtitle_wrap(b, l->text, w->s.wrap, w->s.lines);
    ag_buf_str(b, "\n\n");
}

static void vtt_note(AgBuf *b, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    ag_buf_printf(b, "%s: ", name);
    ag_subtitle_clean(b, value);
    ag_buf_char(b, '\n');
}

static void vtt_head(ArgusWriter *w, AgBuf *b)
{
    ag_buf_str(b, "WEBVTT\n\n");
    if (!w->s.model)
        return;
    ag_buf_str(b, "NOTE\n");
    vtt_note(b, "argus", ARGUS_VERSION_STRING);
    vtt_note(b, "model", w->s.model);
    vtt_note(b, "sha256", w->s.sha256);
    vtt_note(b, "prompt", w->s.prompt);
    vtt_note(b, "decode", w->decode);
    ag_buf_str(b, "fps: ");
    ag_put_rational(b, w->s.fps);
    ag_buf_printf(b, "\nwindow: %d\n\n", w->s.window);
}

static void vtt_line(ArgusWriter *w, AgBuf *b, const Line *l)
{
    AgBuf t = {0};

    put_clocks(b, l, '.');
    ag_subtitle_wrap(&t, l->text, w->s.wrap, w->s.lines);
    for (size_t i = 0; i < t.size; i++) {
        if (t.data[i] == '&')
            ag_buf_str(b, "&amp;");
        else if (t.data[i] == '<')
            ag_buf_str(b, "&lt;");
        else if (t.data[i] == '>')
            ag_buf_str(b, "&gt;");
        else
            ag_buf_char(b, t.data[i]);
    }
    b->failed |= t.failed;
    ag_buf_free(&t);
    ag_buf_str(b, "\n\n");
}

/* Hundredths of a second, eight columns. */
static void put_hundredths(AgBuf *b, int64_t cs)
{
    uint64_t v = cs < 0 ? 0 - (uint64_t)cs : (uint64_t)cs;
    AgBuf t = {0};

    ag_buf_printf(&t, "%s%" PRIu64 ".%02" PRIu64, cs < 0 ? "-" : "", v / 100, v % 100);
    ag_buf_printf(b, "%8s", t.data ? t.data : "");
    b->failed |= t.failed;
    ag_buf_free(&t);
}

static void txt_line(ArgusWriter *w, AgBuf *b, const Line *l)
{
    (void)w;
    ag_buf_char(b, '[');
    put_hundredths(b, l->start_cs);
    ag_buf_str(b, " - ");
    put_hundredths(b, l->end_cs);
    ag_buf_printf(b, "] %s\n", l->text);
}

static void ffmeta_head(ArgusWriter *w, AgBuf *b)
{
    (void)w;
    ag_buf_str(b, ";FFMETADATA1\n");
}

static void ffmeta_line(ArgusWriter *w, AgBuf *b, const Line *l)
{
    (void)w;
    ag_buf_printf(b, "[CHAPTER]\nTIMEBASE=1/1000\nSTART=%" PRId64 "\nEND=%" PRId64 "\ntitle=",
                  l->start_ms, l->end_ms);
    for (const char *p = l->text; *p; p++) {
        if (strchr("=;#\\", *p))
            ag_buf_char(b, '\\');
        ag_buf_char(b, *p);
    }
    ag_buf_char(b, '\n');
}

static void jsonl_cue(ArgusWriter *w, AgBuf *b, const ArgusCue *cue)
{
    ag_buf_str(b, "{ ");
    ag_json_source(b, &w->s, ", ");
    ag_json_segment(b, cue);
    ag_buf_str(b, ", ");
    ag_json_origin(b, &w->s, ag_cue_prompt(cue, &w->s), w->decode, "window_size");
    ag_buf_str(b, " }\n");
}

static void json_head(ArgusWriter *w, AgBuf *b)
{
    ag_buf_str(b, "{\n  ");
    ag_json_source(b, &w->s, ",\n  ");
    ag_buf_str(b, "\"language\": null,\n  \"segments\": [");
}

static void json_cue(ArgusWriter *w, AgBuf *b, const ArgusCue *cue)
{
    const char *prompt = ag_cue_prompt(cue, &w->s), *usual = w->s.prompt;

    ag_buf_str(b, w->number ? ",\n    { " : "\n    { ");
    ag_json_segment(b, cue);
    if (prompt && usual ? strcmp(prompt, usual) : prompt != usual) { /* it was changed on the way */
        ag_buf_str(b, ", \"prompt\": ");
        ag_json_string(b, prompt);
    }
    ag_buf_str(b, " }");
}

/* The end of the file after n cues. */
static void json_end(ArgusWriter *w, AgBuf *b, int64_t n)
{
    ag_buf_str(b, n ? "\n  ]" : "]");
    ag_buf_str(b, ",\n  \"words\": null,\n  \"speakers\": null,\n  \"argus\": { ");
    ag_json_origin(b, &w->s, w->s.prompt, w->decode, "window");
    ag_buf_str(b, " }\n}\n");
}

/* In the order of enum ArgusFormat. */
static const Format formats[] = {
    {.name = "auto"},
    {.name = "srt", .ext = {"subrip"}, .line = srt_line, .merges = 1, .from_zero = 1},
    {.name = "vtt", .ext = {"webvtt"}, .head = vtt_head, .line = vtt_line, .merges = 1,
     .from_zero = 1},
    {.name = "json", .head = json_head, .cue = json_cue},
    {.name = "jsonl", .ext = {"ndjson"}, .cue = jsonl_cue},
    {.name = "txt", .ext = {"text"}, .line = txt_line, .merges = 1},
    {.name = "ffmeta", .ext = {"ffmetadata"}, .head = ffmeta_head, .line = ffmeta_line,
     .from_zero = 1},
};

const char *argus_format_name(int format)
{
    return format >= 0 && format < (int)AG_COUNT(formats) ? formats[format].name : NULL;
}

/* ASCII letters only, whatever the locale: "SRT" is "srt". */
static int same_name(const char *a, size_t n, const char *name)
{
    if (!name || strlen(name) != n)
        return 0;
    for (size_t i = 0; i < n; i++) {
        char c = a[i];
        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        if (c != name[i])
            return 0;
    }
    return 1;
}

int argus_format_find(const char *name)
{
    if (!name)
        return ARGUS_ERR(EINVAL);
    size_t n = strstr(name, "://") ? strcspn(name, "?#") : strlen(name);
    size_t at = n;

    while (at > 0 && name[at - 1] != '.' && name[at - 1] != '/')
        at--;
    if (at > 0 && name[at - 1] == '/')
        return ARGUS_ERR(EINVAL); /* the file itself has no extension */
    for (size_t i = 0; i < AG_COUNT(formats); i++) {
        const Format *f = &formats[i];
        if (i == ARGUS_FORMAT_AUTO && at > 0)
            continue;
        if (same_name(name + at, n - at, f->name))
            return (int)i;
        for (size_t k = 0; k < AG_COUNT(f->ext); k++)
            if (same_name(name + at, n - at, f->ext[k]))
                return (int)i;
    }
    return ARGUS_ERR(EINVAL);
}

/* ------------------------------------------------------------------------ */
/* The stream                                                                */

/* Remember the first error; give this one to the caller. */
static int fail(ArgusWriter *w, int err)
{
    if (!w->err)
        w->err = err;
    return err;
}

/* Write w->buf and flush. */
static int put(ArgusWriter *w)
{
    int err = 0;

    if (!ag_buf_ok(&w->buf))
        return fail(w, ARGUS_ERR(ENOMEM));
    if (w->buf.size)
        err = w->io.write(w->io.opaque, w->buf.data, w->buf.size);
    if (err >= 0 && w->io.flush)
        err = w->io.flush(w->io.opaque);
    if (err >= 0)
        return 0;
    w->dead = 1;
    return fail(w, err);
}

/* Write w->buf, and if the format has an end and it can be written over again,
 * the end after n cues. */
static int put_with_end(ArgusWriter *w, int64_t n)
{
    int64_t at = w->end_at + (int64_t)w->buf.size;
    int err;

    if (w->s.format != ARGUS_FORMAT_JSON || !w->can_seek)
        return put(w);
    json_end(w, &w->buf, n);
    if (!ag_buf_ok(&w->buf))
        return fail(w, ARGUS_ERR(ENOMEM));
    if ((err = w->io.seek(w->io.opaque, w->end_at)) < 0) {
        w->dead = 1;
        return fail(w, err);
    }
    if ((err = put(w)) == 0)
        w->end_at = at;
    return err;
}

/* ------------------------------------------------------------------------ */
/* The writer                                                                */

void argus_writer_default_settings(ArgusWriterSettings *s)
{
    *s = (ArgusWriterSettings){.format = ARGUS_FORMAT_SRT, .fps = {1, 1}, .window = 8};
}

static int settings_ok(const ArgusWriterSettings *s, const ArgusStream *io)
{
    return s->format > ARGUS_FORMAT_AUTO && s->format < (int)AG_COUNT(formats) && s->wrap >= 0 &&
           s->wrap <= 10000 && s->lines >= 0 && s->lines <= 1000 && (s->merge == 0 ||
                                                                     s->merge == 1) &&
           io->write;
}

static int copy_string(const char **s)
{
    char *copy = *s ? ag_strdup(*s) : NULL;
    int ok = copy || !*s;

    *s = copy;
    return ok;
}

int argus_writer_open(ArgusWriter **out, const ArgusWriterSettings *s, const ArgusStream *io)
{
    AgBuf key = {0};

    *out = NULL;
    if (!settings_ok(s, io))
        return ARGUS_ERR(EINVAL);
    ArgusWriter *w = ag_calloc(1, sizeof(*w));
    if (!w)
        return ARGUS_ERR(ENOMEM);
    w->s = *s;
    w->s.decoding = NULL;
    w->io = *io;
    w->format = &formats[s->format];
    int ok = copy_string(&w->s.model);
    ok &= copy_string(&w->s.sha256);
    ok &= copy_string(&w->s.prompt);
    ok &= copy_string(&w->s.source);
    if (s->decoding) {
        ag_decode_key(&key, s->decoding, s->precision);
        ok &= (w->decode = ag_buf_detach(&key)) != NULL;
    }
    int err = ok ? 0 : ARGUS_ERR(ENOMEM);
    if (err == 0 && w->format->head)
        w->format->head(w, &w->buf);
    if (err == 0 && s->format == ARGUS_FORMAT_JSON) /* a pipe may have a seek that fails */
        w->can_seek = io->seek && io->seek(io->opaque, 0) >= 0;
    if (err == 0)
        err = put_with_end(w, 0);
    if (err < 0)
        argus_writer_close(&w);
    *out = w;
    return err;
}

void argus_writer_close(ArgusWriter **wp)
{
    ArgusWriter *w = *wp;

    *wp = NULL;
    if (!w)
        return;
    ag_free((void *)w->s.model);
    ag_free((void *)w->s.sha256);
    ag_free((void *)w->s.prompt);
    ag_free((void *)w->s.source);
    ag_free(w->decode);
    ag_free(w->held.text);
    ag_buf_free(&w->buf);
    ag_free(w);
}

/* Write a line unless there is nothing to show. */
static int write_line(ArgusWriter *w, const Line *l)
{
    Line shown = *l;
    int err;

    if (!*l->text)
        return 0;
    if (w->format->from_zero) {
        shown.start_ms = AG_MAX(shown.start_ms, 0);
        if (shown.end_ms <= shown.start_ms) /* below zero, or shorter than a millisecond */
            return 0;
    }
    ag_buf_clear(&w->buf);
    w->format->line(w, &w->buf, &shown);
    if ((err = put(w)) == 0)
        w->number++;
    return err;
}

static int write_held(ArgusWriter *w)
{
    int err = w->held.text ? write_line(w, &w->held) : 0;

    ag_free(w->held.text);
    w->held.text = NULL;
    return err;
}

static int line_of(Line *l, const ArgusCue *cue)
{
    AgBuf text = {0};

    ag_subtitle_clean(&text, cue->text ? cue->text : "");
    l->start_ms = argus_time_ms(cue->start, cue->time_base, cue->offset_us);
    l->end_ms = argus_time_ms(cue->end, cue->time_base, cue->offset_us);
    l->start_cs = ag_time_round(cue->start, cue->time_base, cue->offset_us, 100);
    l->end_cs = ag_time_round(cue->end, cue->time_base, cue->offset_us, 100);
    l->text = ag_buf_detach(&text);
    return l->text ? 0 : ARGUS_ERR(ENOMEM);
}

/* With merge, a line waits for the next one: if that goes on where it ends
 * with the same words, they become one. */
static int take_line(ArgusWriter *w, Line *l)
{
    Line *h = &w->held;
    int err;

    if (!w->s.merge || !w->format->merges) {
        err = write_line(w, l);
        ag_free(l->text);
        return err;
    }
    if (h->text && h->end_ms == l->start_ms && h->end_cs == l->start_cs && !strcmp(h->text,
                                                                                   l->text)) {
        h->end_ms = l->end_ms;
        h->end_cs = l->end_cs;
        ag_free(l->text);
        return 0;
    }
    err = write_held(w);
    *h = *l;
    return err;
}

int argus_writer_cue(ArgusWriter *w, const ArgusCue *cue)
{
    Line l;
    int err;

    if (w->dead) /* told already */
        return 0;
    if (cue->start == ARGUS_NOPTS || cue->end <= cue->start || cue->time_base.num <= 0 ||
        cue->time_base.den <= 0 || w->closed)
        return ARGUS_ERR(EINVAL);
    if (w->format->line) {
        if ((err = line_of(&l, cue)) < 0)
            return fail(w, err);
        return take_line(w, &l);
    }
    ag_buf_clear(&w->buf);
    w->format->cue(w, &w->buf, cue);
    if ((err = put_with_end(w, w->number + 1)) == 0)
        w->number++;
    return err;
}

int argus_writer_finish(ArgusWriter *w)
{
    if (!w->dead)
        write_held(w);
    if (!w->dead && w->s.format == ARGUS_FORMAT_JSON && !w->can_seek && !w->closed) {
        ag_buf_clear(&w->buf);
        json_end(w, &w->buf, w->number);
        w->closed = put(w) == 0;
    }
    return w->err;
}
