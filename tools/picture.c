/*
 * Picture files -> RGB pixels: reading, telling the kind, turning upright.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _POSIX_C_SOURCE 200809L
#include "tools/picture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "tools/picture_priv.h"
#include "tools/say.h"

#define MAX_PIXELS 178956970          /* Pillow's limit */
#define MAX_FILE ((size_t)1 << 30)    /* bytes */

/* Of an open or a read. A signal is no failure of the file: nothing is told. */
static int failed(int err, const char *name, const ArgusLogger *log)
{
    if (err == EINTR)
        return ARGUS_ERR(EINTR);
    return ag_tell(log, ARGUS_LOG_ERROR, ARGUS_ERR(err), "%s: %s", name, strerror(err));
}

/* Whole contents of fd, malloc'ed. */
static int read_all(int fd, const char *name, uint8_t **data, size_t *size, const ArgusLogger *log)
{
    size_t cap = 1 << 16, n = 0;
    uint8_t *buf = malloc(cap);
    struct stat st;

    if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 &&
        (uint64_t)st.st_size < MAX_FILE) {
        free(buf);
        cap = (size_t)st.st_size + 1; /* one more, so that the end is seen without growing */
        buf = malloc(cap);
    }
    while (buf) {
        ssize_t got = read(fd, buf + n, cap - n);
        if (got == 0) {
            *data = buf;
            *size = n;
            return 0;
        }
        if (got < 0) {
            int err = errno;
            free(buf);
            return failed(err, name, log);
        }
        n += (size_t)got;
        if (n < cap)
            continue;
        if (cap >= MAX_FILE) {
            free(buf);
            return ag_tell(log, ARGUS_LOG_ERROR, ARGUS_ERR_FORMAT,
                           "%s: expected a picture of at most %zu bytes, found more", name,
                           MAX_FILE);
        }
        uint8_t *more = realloc(buf, cap * 2);
        if (!more)
            free(buf);
        buf = more;
        cap *= 2;
    }
    return ag_tell(log, ARGUS_LOG_ERROR, ARGUS_ERR(ENOMEM), "%s: out of memory", name);
}

int ag_pic_load(AgPic *out, const char *path, const AgPicOptions *o,
                    const ArgusLogger *log)
{
    int is_stdin = !strcmp(path, "-"), fd = STDIN_FILENO, err;
    const char *name = is_stdin ? "(stdin)" : path;
    uint8_t *data = NULL;
    size_t size = 0;

    if (!is_stdin && (fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
        return failed(errno, name, log);
    err = read_all(fd, name, &data, &size, log);
    if (!is_stdin)
        close(fd);
    if (err < 0)
        return err;
    if (o->stopped && o->stopped()) { /* whoever writes to a pipe may have been told so first */
        free(data);
        return ARGUS_ERR(EINTR);
    }
    err = ag_pic_decode(out, name, data, size, o, log);
    free(data);
    return err;
}

static void tell(const AgPicFile *f, int level, const char *fmt, va_list ap)
{
    char text[512];

    vsnprintf(text, sizeof(text), fmt, ap);
    ag_tell(f->log, level, 0, "%s: %s", f->name, text);
}

int ag_pic_fail(const AgPicFile *f, int err, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    tell(f, ARGUS_LOG_ERROR, fmt, ap);
    va_end(ap);
    return err;
}

void ag_pic_warn(const AgPicFile *f, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    tell(f, ARGUS_LOG_WARNING, fmt, ap);
    va_end(ap);
}

int ag_pic_alloc(AgPic *out, uint64_t width, uint64_t height, const AgPicFile *f)
{
    if (width < 1 || height < 1 || width > MAX_PIXELS || height > MAX_PIXELS ||
        width * height > MAX_PIXELS)
        return ag_pic_fail(f, ARGUS_ERR_FORMAT, "expected at most %d pixels, found %llux%llu",
                           MAX_PIXELS, (unsigned long long)width, (unsigned long long)height);
    out->width = (int)width;
    out->height = (int)height;
    out->rgb = calloc((size_t)width * (size_t)height, 3);
    if (!out->rgb)
        return ag_pic_fail(f, ARGUS_ERR(ENOMEM), "out of memory for %dx%d pixels", out->width,
                           out->height);
    return 0;
}

void ag_pic_free(AgPic *p)
{
    free(p->rgb);
    *p = (AgPic){0};
}

/* First bytes of files that people take for pictures, or that come instead of them. */
static const struct {
    int at;         /* offset */
    int n;          /* bytes */
    const char *magic;
    const char *what;
} kinds[] = {
    {0, 4, "GIF8", "GIF"},
    {8, 4, "WEBP", "WebP"},
    {0, 4, "II*\0", "TIFF"},
    {0, 4, "MM\0*", "TIFF"},
    {0, 2, "BM", "BMP"},
    {4, 8, "ftypheic", "HEIC"},
    {4, 8, "ftypheix", "HEIC"},
    {4, 8, "ftypmif1", "HEIF"},
    {4, 8, "ftypavif", "AVIF"},
    {4, 4, "ftyp", "MP4 video"},
    {0, 4, "\x1A\x45\xDF\xA3", "Matroska video"},
    {8, 4, "AVI ", "AVI video"},
    {0, 12, "\0\0\0\x0CjP  \r\n\x87\n", "JPEG 2000"},
    {0, 4, "\xFF\x4F\xFF\x51", "JPEG 2000"},
    {0, 12, "\0\0\0\x0CJXL \r\n\x87\n", "JPEG XL"},
    {0, 2, "\xFF\x0A", "JPEG XL"},
    {0, 4, "8BPS", "Photoshop"},
    {0, 4, "\0\0\1\0", "icon"},
    {0, 4, "%PDF", "PDF"},
    {0, 2, "\x1F\x8B", "gzip"},
    {0, 4, "PK\3\4", "zip"},
    {0, 14, "<!DOCTYPE html", "HTML"},
    {0, 5, "<html", "HTML"},
    {0, 5, "<?xml", "XML"},
    {0, 4, "<svg", "SVG"},
    {0, 23, "version https://git-lfs", "Git LFS pointer"},
};

static const char *kind_of(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (size >= (size_t)(kinds[i].at + kinds[i].n) &&
            !memcmp(data + kinds[i].at, kinds[i].magic, (size_t)kinds[i].n))
            return kinds[i].what;
    if (size >= 3 && data[0] == 'P' && data[1] >= '1' && data[1] <= '7' &&
        strchr(" \t\r\n", data[2]))
        return "PNM";
    return NULL;
}

/* Neither JPEG nor PNG. */
static int decode_other(AgPic *out, int *orientation, const AgPicFile *f)
{
    const char *what = kind_of(f->data, f->size);
    int err;

    if (!f->size)
        return ag_pic_fail(f, ARGUS_ERR_FORMAT,
                           "expected a picture or a video, found an empty file");
    err = f->o->other ? f->o->other(out, orientation, f) : 1;
    if (err <= 0)
        return err;
    return ag_pic_fail(f, ARGUS_ERR_UNSUPPORTED,
                       "unsupported: expected a %s, found %s%s%s",
                       f->o->other ? "picture or a video" : "JPEG or PNG picture",
                       what ? what : "something unknown", what ? " data" : "",
                       CONFIG_MEDIA ? "" : "; this program was built without libavformat");
}

#if !CONFIG_JPEG || !CONFIG_PNG
static int built_without(const AgPicFile *f, const char *what)
{
    return ag_pic_fail(f, ARGUS_ERR_UNSUPPORTED,
                       "unsupported: a %s picture, and this program was built without %s", what,
                       what);
}
#endif

#if !CONFIG_JPEG
int ag_pic_jpeg(AgPic *out, int *orientation, const AgPicFile *f)
{
    (void)out;
    (void)orientation;
    return built_without(f, "JPEG");
}
#endif

#if !CONFIG_PNG
int ag_pic_png(AgPic *out, int *orientation, const AgPicFile *f)
{
    (void)out;
    (void)orientation;
    return built_without(f, "PNG");
}
#endif

int ag_pic_decode(AgPic *out, const char *name, const uint8_t *data, size_t size,
                      const AgPicOptions *o, const ArgusLogger *log)
{
    AgPicFile f = {name, data, size, o, log};
    AgPic p = {0};
    int orientation = 0, err;

    if (size >= 3 && !memcmp(data, "\xFF\xD8\xFF", 3))
        err = ag_pic_jpeg(&p, &orientation, &f);
    else if (size >= 8 && !memcmp(data, "\x89PNG\r\n\x1A\n", 8))
        err = ag_pic_png(&p, &orientation, &f);
    else
        err = decode_other(&p, &orientation, &f);
    if (err >= 0 && (err = ag_pic_orient(&p, orientation)) < 0)
        ag_pic_fail(&f, err, "out of memory");
    if (err < 0) {
        ag_pic_free(&p);
        return err;
    }
    *out = p;
    return 0;
}
