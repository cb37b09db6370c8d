/*
 * int8 weights of a model and their cache file. See quant.h.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _DEFAULT_SOURCE
#include "libargus/quant.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libargus/base/buf.h"
#include "libargus/base/sha256.h"

enum { VERSION = 1, HEADER = 4096, SAMPLE = 64 };

/* At the beginning of HEADER bytes; the rest is 0. */
typedef struct Header {
    char magic[8];
    uint32_t version, n;  /* n matrices */
    uint64_t size;        /* of the file; shows byte order too */
    char weights[64];     /* names, shapes, places */
    char stamp[64];       /* sizes and times of the files, samples of the numbers */
    char shapes[64];      /* of the matrices here, and the packing */
} Header;

struct AgQuant {
    AgLinear **lin; /* [n] */
    AgQ8 *q8;       /* [n], once finished */
    int n, cap, failed;
    AgBlob file;    /* mapped, or the whole file's bytes in memory */
    size_t size;    /* of the file */
};

AgQuant *ag_quant_open(void)
{
    return ag_calloc(1, sizeof(AgQuant));
}

void ag_quant_close(AgQuant **qp)
{
    AgQuant *q = *qp;

    *qp = NULL;
    if (!q)
        return;
    ag_blob_free(&q->file);
    ag_free(q->lin);
    ag_free(q->q8);
    ag_free(q);
}

void ag_quant_add(AgQuant *q, AgLinear *lin)
{
    if (q->n == q->cap && !q->failed) {
        int cap = AG_MAX(64, 2 * q->cap);
        void *p = ag_realloc(q->lin, (size_t)q->cap * sizeof(*q->lin),
                             (size_t)cap * sizeof(*q->lin));
        if (p) {
            q->lin = p;
            q->cap = cap;
        }
        q->failed = !p;
    }
    if (!q->failed)
        q->lin[q->n++] = lin;
}

int64_t ag_quant_bytes(const AgQuant *q)
{
    return (int64_t)q->size - HEADER;
}

int ag_quant_mapped(const AgQuant *q)
{
    return q->file.kind == AG_BLOB_MAPPED;
}

/* ------------------------------------------------------------------------ */
/* Where                                                                     */

char *ag_quant_dir(void)
{
    const char *own = getenv("ARGUS_CACHE_DIR"), *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");

    if (own)
        return *own ? ag_strdup(own) : NULL;
    if (cache && *cache)
        return ag_path_join(cache, "argus");
    return home && *home ? ag_path_join(home, ".cache/argus") : NULL;
}

/* dir/NAME-q8-XXXXXXXXXXXXXXXX: one file for each place of a model. */
static char *file_path(const char *dir, const AgSource *src)
{
    AgSha256 sha;
    AgBuf b = {0};
    char hex[65], *path;

    ag_sha256_init(&sha);
    ag_sha256_add(&sha, src->path, strlen(src->path));
    ag_sha256_hex(&sha, hex);
    const char *name = strrchr(src->name, '/');
    for (name = name ? name + 1 : src->name; *name && b.size < 64; name++)
        ag_buf_char(&b, *name);
    ag_buf_printf(&b, "-q8-%.16s", hex);
    path = ag_buf_ok(&b) ? ag_path_join(dir, b.data) : NULL;
    ag_buf_free(&b);
    return path;
}

/* dir and what is above it. @return 0 or errno. */
static int make_dirs(const char *dir)
{
    char *p = ag_strdup(dir);
    int err = p ? 0 : ENOMEM;

    for (size_t i = 1; p && !err && i <= strlen(dir); i++) {
        if (dir[i] && dir[i] != '/')
            continue;
        p[i] = 0;
        if (mkdir(p, 0700) && errno != EEXIST && !ag_is_dir(p))
            err = errno;
        p[i] = dir[i];
    }
    ag_free(p);
    return err;
}

/* ------------------------------------------------------------------------ */
/* Header                                                                    */

static void hash_int(AgSha256 *sha, uint64_t v)
{
    ag_sha256_add(sha, &v, sizeof(v));
}

/* A few numbers of each matrix: files that were exchanged and kept their times. */
static void hash_samples(AgSha256 *sha, const AgQuant *q)
{
    for (int i = 0; i < q->n; i++) {
        const AgLinear *l = q->lin[i];
        size_t size = (size_t)l->n_out * (size_t)l->n_in * ag_dtype_size(l->dtype);
        size_t n = AG_MIN(size, (size_t)SAMPLE);
        ag_sha256_add(sha, (const char *)l->w + (size - n) / 2, n);
    }
}

static void make_header(const AgQuant *q, const AgWeights *w, unsigned char out[HEADER])
{
    Header h = {.magic = "argusQ8", .version = VERSION, .n = (uint32_t)q->n, .size = q->size};
    AgSha256 sha;
    char hex[65];

    memcpy(h.weights, ag_weights_fingerprint(w), sizeof(h.weights));
    ag_sha256_init(&sha);
    ag_sha256_add(&sha, ag_weights_stamp(w), 64);
    hash_samples(&sha, q);
    ag_sha256_hex(&sha, hex);
    memcpy(h.stamp, hex, sizeof(h.stamp));
    ag_sha256_init(&sha);
    hash_int(&sha, AG_Q8_BLOCK);
    hash_int(&sha, AG_Q8_NR);
    hash_int(&sha, AG_Q8_WEIGHT);
    for (int i = 0; i < q->n; i++) {
        hash_int(&sha, (uint64_t)q->lin[i]->n_out);
        hash_int(&sha, (uint64_t)q->lin[i]->n_in);
    }
    ag_sha256_hex(&sha, hex);
    memcpy(h.shapes, hex, sizeof(h.shapes));
    memset(out, 0, HEADER);
    memcpy(out, &h, sizeof(h));
}

/* 1 if the file is what would be written now. */
static int check_file(const AgBlob *b, const unsigned char *want, const char *path,
                      const ArgusLogger *log)
{
    Header found, h;

    memcpy(&h, want, sizeof(h));
    if (b->size < HEADER || memcmp(b->data, h.magic, sizeof(h.magic))) {
        ag_log(log, ARGUS_LOG_WARNING, "%s: expected int8 weights, found another file; it is "
               "written anew", path);
        return 0;
    }
    memcpy(&found, b->data, sizeof(found));
    if (found.version != h.version)
        ag_log(log, ARGUS_LOG_WARNING, "%s: expected version %" PRIu32 ", found %" PRIu32
               "; it is written anew", path, h.version, found.version);
    else if (memcmp(found.weights, h.weights, 64) || memcmp(found.stamp, h.stamp, 64))
        ag_log(log, ARGUS_LOG_WARNING, "%s: expected the weights of this model, found those of "
               "another or an earlier one; it is written anew", path);
    else if (b->size != h.size)
        ag_log(log, ARGUS_LOG_WARNING, "%s: expected %" PRIu64 " bytes, found %zu; it is written "
               "anew", path, h.size, b->size);
    else if (memcmp(b->data, want, HEADER))
        ag_log(log, ARGUS_LOG_WARNING, "%s: expected this model's shapes, found others; it is "
               "written anew", path);
    else
        return 1;
    return 0;
}

/* ------------------------------------------------------------------------ */
/* Packing                                                                   */

static size_t packed_size(const AgLinear *l)
{
    return ag_q8_size(l->n_out, l->n_in);
}

/* Room for the largest matrix, and for a row of the longest. */
static int open_work(const AgQuant *q, void **packed, void **tmp)
{
    size_t most = 0, row = 0;

    for (int i = 0; i < q->n; i++) {
        most = AG_MAX(most, packed_size(q->lin[i]));
        row = AG_MAX(row, ag_q8_tmp(q->lin[i]->n_in));
    }
    if (packed)
        *packed = ag_malloc(most);
    *tmp = ag_malloc(row);
    return (!packed || *packed) && *tmp;
}

static int write_all(int fd, const void *data, size_t n)
{
    const char *p = data;

    while (n) {
        ssize_t k = write(fd, p, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return errno;
        p += k;
        n -= (size_t)k;
    }
    return 0;
}

/* All matrices into fd, one after the other. @return 0 or errno. */
static int write_file(const AgQuant *q, const AgDsp *dsp, int fd, const unsigned char *header)
{
    void *packed = NULL, *tmp = NULL;
    int err = open_work(q, &packed, &tmp) ? write_all(fd, header, HEADER) : ENOMEM;

    for (int i = 0; i < q->n && !err; i++) {
        ag_q8_pack(packed, q->lin[i], &dsp->vec, tmp);
        err = write_all(fd, packed, packed_size(q->lin[i]));
    }
    if (!err && fsync(fd)) /* a name must not come before its contents */
        err = errno;
    ag_free(packed);
    ag_free(tmp);
    return err;
}

/* The file to write, empty and for this process alone. One that a killed process
 * left is taken over. @return descriptor, -1 with errno; EAGAIN: another process
 * is writing it. */
static int open_part(const char *part)
{
    struct stat mine, named;
    int fd = open(part, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644), err = 0;

    if (fd < 0)
        return -1;
    if (flock(fd, LOCK_EX | LOCK_NB) || fstat(fd, &mine) || stat(part, &named))
        err = errno;
    else if (mine.st_ino != named.st_ino || mine.st_dev != named.st_dev)
        err = EAGAIN; /* the other one was ready just now and has renamed it */
    else if (ftruncate(fd, 0))
        err = errno;
    if (!err)
        return fd;
    close(fd);
    errno = err == EWOULDBLOCK || err == ENOENT ? EAGAIN : err;
    return -1;
}

/* Writes beside path and renames. @return 0 or errno. */
static int make_file(const AgQuant *q, const AgDsp *dsp, const char *dir, const char *path,
                     const unsigned char *header)
{
    AgBuf name = {0};
    int err = make_dirs(dir);

    if (err)
        return err;
    ag_buf_printf(&name, "%s.part", path);
    if (!ag_buf_ok(&name)) {
        ag_buf_free(&name);
        return ENOMEM;
    }
    int fd = open_part(name.data);
    err = fd < 0 ? errno : write_file(q, dsp, fd, header);
    if (!err && rename(name.data, path))
        err = errno;
    if (err && fd >= 0)
        unlink(name.data);
    if (fd >= 0 && close(fd) && !err) /* the lock ends here, after the name is gone */
        err = errno;
    ag_buf_free(&name);
    return err;
}

static int map_file(AgQuant *q, const char *path, const unsigned char *header,
                    const ArgusLogger *log)
{
    if (ag_file_map(&q->file, path, log) < 0)
        return 0;
    if (check_file(&q->file, header, path, log))
        return 1;
    ag_blob_free(&q->file);
    return 0;
}

/* The cache file, old or new. 0: there is none. */
static int use_file(AgQuant *q, const AgSource *src, const AgWeights *w, const AgDsp *dsp,
                    const ArgusLogger *log)
{
    unsigned char header[HEADER];
    char *dir = src->embedded ? NULL : ag_quant_dir();
    char *path = dir ? file_path(dir, src) : NULL, buf[128];
    int done = 0;

    if (path) {
        make_header(q, w, header);
        done = ag_is_file(path) && map_file(q, path, header, log);
    }
    if (path && !done) {
        int err = make_file(q, dsp, dir, path, header);
        if (err)
            ag_log(log, ARGUS_LOG_INFO, "%s: can't write: %s; the int8 weights stay in memory",
                   path, argus_strerror(ARGUS_ERR(err), buf, sizeof(buf)));
        else
            done = map_file(q, path, header, log);
    }
    ag_free(path);
    ag_free(dir);
    return done;
}

/* The file's bytes without a file. */
static int use_memory(AgQuant *q, const AgDsp *dsp)
{
    unsigned char *data = ag_malloc(q->size);
    void *tmp = NULL;

    if (!data || !open_work(q, NULL, &tmp)) {
        ag_free(data);
        ag_free(tmp);
        return ARGUS_ERR(ENOMEM);
    }
    size_t at = HEADER;
    for (int i = 0; i < q->n; i++) {
        ag_q8_pack(data + at, q->lin[i], &dsp->vec, tmp);
        at += packed_size(q->lin[i]);
    }
    q->file = (AgBlob){data, q->size, AG_BLOB_HEAP};
    ag_free(tmp);
    return 0;
}

int ag_quant_finish(AgQuant *q, const AgSource *src, const AgWeights *w, const AgDsp *dsp,
                    const ArgusLogger *log)
{
    size_t at = HEADER;

    q->size = HEADER;
    for (int i = 0; i < q->n; i++)
        q->size = ag_add(q->size, packed_size(q->lin[i]));
    q->q8 = ag_malloc(ag_mul((size_t)q->n + 1, sizeof(*q->q8)));
    if (q->failed || !q->q8 || q->size == SIZE_MAX)
        return ARGUS_ERR(ENOMEM);
    if (!use_file(q, src, w, dsp, log) && use_memory(q, dsp) < 0)
        return ARGUS_ERR(ENOMEM);
    for (int i = 0; i < q->n; i++) {
        AgLinear *l = q->lin[i];
        ag_q8_view(&q->q8[i], q->file.data + at, l->n_out, l->n_in);
        at += packed_size(l);
        l->w = &q->q8[i];
        l->dtype = AG_Q8;
    }
    return 0;
}
