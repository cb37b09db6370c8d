/*
 * Captions -> files. ArgusWriter makes the bytes; here they are written, each
 * cue in one piece and at once, so that a file is complete whatever happens to
 * the program afterwards.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _POSIX_C_SOURCE 200809L
#include "tools/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/output.h"
#include "tools/path.h"
#include "tools/say.h"

typedef struct Out {
    char *path;          /* NULL: standard output */
    int fd;              /* -1: standard output */
    const char *name;    /* before each line on standard output; NULL = none */
    ArgusWriter *writer;
    int failed;          /* told; nothing more is written */
} Out;

struct AgSink {
    Out *outs;
    int n;
};

int ag_sink_add(AgSinkOptions *o, const char *list)
{
    for (;;) {
        size_t len = strcspn(list, "|");
        char **more = realloc(o->outs, sizeof(*more) * ((size_t)o->n_out + 1));

        if (!more)
            return -1;
        o->outs = more;
        if (!(more[o->n_out] = strndup(list, len)))
            return -1;
        o->n_out++;
        if (!list[len])
            return 0;
        list += len + 1;
    }
}

void ag_sink_options_free(AgSinkOptions *o)
{
    for (int i = 0; i < o->n_out; i++)
        free(o->outs[i]);
    free(o->outs);
    *o = (AgSinkOptions){0};
}

/* --- names */

/* Pieces of the input's path: %n the name without directory and extension, %d
 * the directory, %% a percent sign. With to = NULL only counts.
 * @return length, or -1 for another %. */
static long expand_into(char *to, const char *pattern, const char *input)
{
    const char *slash = strrchr(input, '/'), *name = slash ? slash + 1 : input;
    const char *dot = strrchr(name, '.');
    size_t stem = dot && dot > name ? (size_t)(dot - name) : strlen(name), n = 0;

    for (; *pattern; pattern++) {
        const char *from = pattern;
        size_t len = 1;

        if (*pattern == '%') {
            switch (*++pattern) {
            case '%': from = "%"; break;
            case 'n': from = name, len = stem; break;
            case 'd':
                from = slash ? input : ".";
                len = !slash ? 1 : slash == input ? 1 : (size_t)(slash - input);
                break;
            default: return -1;
            }
        }
        if (to)
            memcpy(to + n, from, len);
        n += len;
    }
    if (to)
        to[n] = 0;
    return (long)n;
}

/* Name of an output for an input, malloc'ed. NULL after a message. */
static char *expand(const char *pattern, const char *input)
{
    long n = expand_into(NULL, pattern, input);
    char *path;

    if (n < 0) {
        ag_say(ARGUS_LOG_ERROR, "-o: expected %%n, %%d or %%%% in a name, found another %% in '%s'",
               pattern);
        return NULL;
    }
    path = malloc((size_t)n + 1);
    if (path)
        expand_into(path, pattern, input);
    else
        ag_say(ARGUS_LOG_ERROR, "out of memory");
    return path;
}

static int is_stdout(const char *path)
{
    return !strcmp(path, "-");
}

/* Standard output without -o: lines that a person or a pipe can read. */
static int format_of(const AgSinkOptions *o, const char *path)
{
    if (o->format != ARGUS_FORMAT_AUTO)
        return o->format;
    if (!path)
        return o->lines_json ? ARGUS_FORMAT_JSONL : ARGUS_FORMAT_TXT;
    return is_stdout(path) ? ARGUS_FORMAT_SRT : argus_format_find(path);
}

static int is_lines(int format)
{
    return format == ARGUS_FORMAT_TXT || format == ARGUS_FORMAT_JSONL;
}

/* Is a file there already, and is it one of the inputs? */
static int is_input(const char *path, const char *const *inputs, int n)
{
    struct stat a, b;

    if (stat(path, &a) < 0 || !S_ISREG(a.st_mode))
        return 0;
    for (int i = 0; i < n; i++) {
        if (!stat(inputs[i], &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino) {
            ag_say(ARGUS_LOG_ERROR, "-o: '%s' is an input and would be overwritten", path);
            return 1;
        }
    }
    return 0;
}

/* Two names in one list? Says which inputs they belong to. */
static int is_twice(char **paths, const AgPlace *places, int at, const char *const *inputs,
                    int n_out)
{
    for (int i = 0; i < at; i++) {
        int equal = !strcmp(paths[i], paths[at]);

        if (!equal && !ag_place_same(&places[i], &places[at]))
            continue;
        if (i / n_out == at / n_out && equal)
            ag_say(ARGUS_LOG_ERROR, "-o: '%s' is there twice", paths[at]);
        else if (i / n_out == at / n_out)
            ag_say(ARGUS_LOG_ERROR, "-o: '%s' and '%s' are the same file", paths[i], paths[at]);
        else
            ag_say(ARGUS_LOG_ERROR, "-o: %s and %s would both be written to '%s'; with %%n in it "
                   "the name follows the input's, with %%d/ its directory", inputs[i / n_out],
                   inputs[at / n_out], paths[at]);
        return 1;
    }
    return 0;
}

static int check_formats(const AgSinkOptions *o, int n)
{
    for (int i = 0; i < (o->n_out ? o->n_out : 1); i++) {
        const char *path = o->n_out ? o->outs[i] : NULL;
        int format = format_of(o, path);

        if (path && !*path) {
            ag_say(ARGUS_LOG_ERROR, "-o: expected the name of a file, found nothing");
            return -1;
        }
        if (format <= ARGUS_FORMAT_AUTO) {
            ag_say(ARGUS_LOG_ERROR, "-o: no format has the extension of '%s'; --format names one",
                   path);
            return -1;
        }
        if (n > 1 && (!path || is_stdout(path)) && !is_lines(format)) {
            ag_say(ARGUS_LOG_ERROR, "%s for %d videos can't be one stream on standard output; "
                   "-o %%n.%s makes a file of each", argus_format_name(format), n,
                   argus_format_name(format));
            return -1;
        }
    }
    return 0;
}

/* Pictures have no times: text lines or JSON. */
static int still_format(const AgSinkOptions *o, const char *path)
{
    if (o->format == ARGUS_FORMAT_AUTO && is_stdout(path))
        return ARGUS_FORMAT_TXT;
    return format_of(o, path);
}

static int check_still_formats(const AgSinkOptions *o)
{
    for (int i = 0; i < o->n_out; i++) {
        int format = still_format(o, o->outs[i]);

        if (format != ARGUS_FORMAT_TXT && format != ARGUS_FORMAT_JSON &&
            format != ARGUS_FORMAT_JSONL) {
            ag_say(ARGUS_LOG_ERROR, "-o: expected a .txt, .json or .jsonl file for a picture, or "
                   "one of these as --format, found '%s'", o->outs[i]);
            return -1;
        }
    }
    return 0;
}

/* Has every input files of its own, and is none of them an input? */
static int check_paths(const AgSinkOptions *o, const char *const *inputs, int n)
{
    int n_path = 0, bad = 0;
    size_t n_all = (size_t)n * (size_t)o->n_out + 1;
    char **paths = calloc(n_all, sizeof(*paths));
    AgPlace *places = calloc(n_all, sizeof(*places));

    if (!paths || !places) {
        ag_say(ARGUS_LOG_ERROR, "out of memory");
        free(paths);
        free(places);
        return -1;
    }
    for (int i = 0; !bad && i < n * o->n_out; i++) {
        const char *pattern = o->outs[i % o->n_out];

        paths[i] = expand(pattern, inputs[i / o->n_out]);
        if (!paths[i]) {
            bad = 1;
            break;
        }
        n_path++;
        /* several videos may share standard output, line by line */
        if (is_stdout(pattern) && i >= o->n_out)
            continue;
        if (!is_stdout(paths[i]))
            ag_place_find(&places[i], paths[i]);
        bad = is_input(paths[i], inputs, n) || is_twice(paths, places, i, inputs, o->n_out);
    }
    for (int i = 0; i < n_path; i++) {
        free(paths[i]);
        ag_place_free(&places[i]);
    }
    free(paths);
    free(places);
    return bad ? -1 : 0;
}

int ag_sink_check(const AgSinkOptions *o, const char *const *inputs, int n)
{
    return check_formats(o, n) < 0 ? -1 : check_paths(o, inputs, n);
}

int ag_sink_check_stills(const AgSinkOptions *o, const char *const *inputs, int n)
{
    return check_still_formats(o) < 0 ? -1 : check_paths(o, inputs, n);
}

/* --- bytes */

static int write_all(int fd, const char *p, size_t size)
{
    while (size) {
        ssize_t n = write(fd, p, size);
        if (n < 0 && errno != EINTR)
            return ARGUS_ERR(errno);
        if (n > 0) {
            p += n;
            size -= (size_t)n;
        }
    }
    return 0;
}

static int out_write(void *opaque, const void *data, size_t size)
{
    Out *o = opaque;

    if (o->fd >= 0)
        return write_all(o->fd, data, size);
    if (o->name) {
        ag_out(o->name, 1);
        ag_out(": ", 0);
    }
    ag_out_bytes(data, size);
    return 0;
}

static int out_flush(void *opaque)
{
    Out *o = opaque;

    return o->fd < 0 && ag_out_flush() < 0 ? ARGUS_ERR(EIO) : 0;
}

static int out_seek(void *opaque, int64_t offset)
{
    Out *o = opaque;

    return lseek(o->fd, (off_t)offset, SEEK_SET) < 0 ? ARGUS_ERR(errno) : 0;
}

/* Tells an error of a file, once; standard output tells its own. */
static int out_fail(Out *o, int err)
{
    char buf[128];

    if (!o->failed && o->path)
        ag_say(ARGUS_LOG_ERROR, "%s: %s", o->path, argus_strerror(err, buf, sizeof(buf)));
    o->failed = 1;
    return err;
}

static int out_open(Out *o, const AgSinkOptions *so, const char *pattern, const char *input,
                    const ArgusWriterSettings *ws)
{
    ArgusWriterSettings s = *ws;
    ArgusStream io = {out_write, out_flush, NULL, o};
    struct stat st;
    int err;

    s.format = format_of(so, pattern);
    if (pattern && !is_stdout(pattern)) {
        o->path = expand(pattern, input);
        if (!o->path)
            return ARGUS_ERR(EINVAL);
        o->name = NULL;
        o->fd = open(o->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (o->fd < 0)
            return out_fail(o, ARGUS_ERR(errno));
        if (!fstat(o->fd, &st) && S_ISREG(st.st_mode))
            io.seek = out_seek;
    } else if (s.format != ARGUS_FORMAT_TXT) {
        o->name = NULL;
    }
    err = argus_writer_open(&o->writer, &s, &io);
    return err < 0 ? out_fail(o, err) : 0;
}

int ag_sink_open(AgSink **out, const AgSinkOptions *o, const char *input,
                 const ArgusWriterSettings *ws, const char *name)
{
    int n = o->n_out ? o->n_out : 1, err = 0;
    AgSink *s = calloc(1, sizeof(*s));

    if (s)
        s->outs = calloc((size_t)n, sizeof(*s->outs));
    if (!s || !s->outs) {
        free(s);
        ag_say(ARGUS_LOG_ERROR, "%s: out of memory", input);
        return ARGUS_ERR(ENOMEM);
    }
    for (int i = 0; i < n && err >= 0; i++) {
        s->outs[s->n++] = (Out){.fd = -1, .name = name};
        err = out_open(&s->outs[i], o, o->n_out ? o->outs[i] : NULL, input, ws);
    }
    if (err < 0)
        ag_sink_close(&s);
    *out = s;
    return err;
}

int ag_sink_cue(AgSink *s, const ArgusCue *cue)
{
    int err = 0;

    for (int i = 0; i < s->n; i++) {
        Out *o = &s->outs[i];
        int e = o->failed ? 0 : argus_writer_cue(o->writer, cue);

        if (e < 0)
            e = out_fail(o, e);
        err = err < 0 ? err : e;
    }
    return err;
}

int ag_sink_close(AgSink **ps)
{
    AgSink *s = *ps;
    int err = 0;

    if (!s)
        return 0;
    for (int i = 0; i < s->n; i++) {
        Out *o = &s->outs[i];
        int e = o->writer && !o->failed ? argus_writer_finish(o->writer) : 0;

        argus_writer_close(&o->writer);
        if (o->fd >= 0 && close(o->fd) < 0 && e >= 0)
            e = ARGUS_ERR(errno);
        if (e < 0)
            e = out_fail(o, e);
        err = err < 0 ? err : e;
        free(o->path);
    }
    free(s->outs);
    free(s);
    *ps = NULL;
    return err;
}

/* --- pictures */

/* Pieces one after the other; a short write is an error. */
static int write_pieces(int fd, const char *const *pieces, int n)
{
    int err = 0;

    for (int i = 0; i < n && err == 0; i++)
        err = write_all(fd, pieces[i], strlen(pieces[i]));
    return err;
}

/* What is there and no plain file (a device, a pipe) is written to as it is. */
static int write_in_place(const char *path, const char *const *pieces, int n)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    int err = fd < 0 ? ARGUS_ERR(errno) : write_pieces(fd, pieces, n);

    if (fd >= 0 && close(fd) < 0 && err == 0)
        err = ARGUS_ERR(errno);
    return err;
}

/* Owner, group and mode of the file that is replaced, as far as that is
 * permitted; a group that can't be kept gets what others get. */
static int keep_access(int fd, const struct stat *old)
{
    mode_t mode = old->st_mode & 0777;

    if (fchown(fd, old->st_uid, old->st_gid) < 0 && fchown(fd, (uid_t)-1, old->st_gid) < 0)
        mode = (mode & ~(mode_t)070) | (mode & 7) << 3;
    return fchmod(fd, mode) < 0 ? ARGUS_ERR(errno) : 0;
}

static int new_access(int fd)
{
    mode_t mask = umask(0);

    umask(mask);
    return fchmod(fd, 0666 & ~mask) < 0 ? ARGUS_ERR(errno) : 0;
}

/* Under another name beside it, then in its place. */
static int write_beside(const char *path, const char *const *pieces, int n)
{
    size_t size = strlen(path) + 8;
    char *temporary = malloc(size);
    struct stat old;
    int err = 0;

    if (!temporary)
        return ARGUS_ERR(ENOMEM);
    snprintf(temporary, size, "%s.XXXXXX", path);
    int fd = mkstemp(temporary);
    if (fd < 0) {
        err = ARGUS_ERR(errno);
    } else {
        err = write_pieces(fd, pieces, n);
        if (err == 0)
            err = stat(path, &old) < 0 ? new_access(fd) : keep_access(fd, &old);
        if (close(fd) < 0 && err == 0)
            err = ARGUS_ERR(errno);
        if (err == 0 && rename(temporary, path) < 0)
            err = ARGUS_ERR(errno);
        if (err < 0)
            unlink(temporary);
    }
    free(temporary);
    return err;
}

/* A link stays one; what it leads to is written. */
static int write_whole(const char *path, const char *const *pieces, int n)
{
    char *target = ag_path_follow(path);
    int err = target ? write_beside(target, pieces, n) : ARGUS_ERR(errno);

    free(target);
    return err;
}

/* One object; several are a list (json) or lines (jsonl). */
static int json_pieces(const char **pieces, int format, const char *const *json, int n)
{
    int list = format == ARGUS_FORMAT_JSON && n > 1, at = 0;

    if (list)
        pieces[at++] = "[\n";
    for (int i = 0; i < n; i++) {
        pieces[at++] = json[i];
        pieces[at++] = list && i + 1 < n ? ",\n" : "\n";
    }
    if (list)
        pieces[at++] = "]\n";
    return at;
}

int ag_sink_stills(const AgSinkOptions *o, const char *input, const char *text,
                   const char *const *json, int n)
{
    const char **pieces = calloc((size_t)n * 2 + 2, sizeof(*pieces));
    int first = 0;

    if (!pieces) {
        ag_say(ARGUS_LOG_ERROR, "%s: out of memory", input);
        return ARGUS_ERR(ENOMEM);
    }
    for (int i = 0; i < o->n_out; i++) {
        int format = still_format(o, o->outs[i]), n_piece = 1, err = 0;
        char *path = NULL, buf[128];
        struct stat st;

        pieces[0] = text;
        if (format != ARGUS_FORMAT_TXT)
            n_piece = json_pieces(pieces, format, json, n);
        if (is_stdout(o->outs[i])) {
            for (int k = 0; k < n_piece; k++)
                ag_out(pieces[k], 0);
            err = ag_out_flush() < 0 ? ARGUS_ERR(EIO) : 0;
        } else if (!(path = expand(o->outs[i], input))) {
            err = ARGUS_ERR(EINVAL);
        } else {
            err = !stat(path, &st) && !S_ISREG(st.st_mode) ? write_in_place(path, pieces, n_piece)
                                                            : write_whole(path, pieces, n_piece);
            if (err < 0)
                ag_say(ARGUS_LOG_ERROR, "%s: %s", path, argus_strerror(err, buf, sizeof(buf)));
        }
        free(path);
        first = first < 0 ? first : err;
    }
    free(pieces);
    return first;
}
