/*
 * Read-only files: mapped or read whole; paths.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _POSIX_C_SOURCE 200809L
#include "libargus/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libargus/base/mem.h"

static int fail_errno(const ArgusLogger *log, const char *path, const char *doing)
{
    int err = ARGUS_ERR(errno);
    char buf[128];

    return ag_fail(log, err, "%s: can't %s: %s", path, doing,
                   argus_strerror(err, buf, sizeof(buf)));
}

/* Opens a regular file and gives its size. */
static int open_regular(const char *path, size_t *size, const ArgusLogger *log)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return fail_errno(log, path, "open");
    if (fstat(fd, &st) < 0 || S_ISDIR(st.st_mode)) {
        if (S_ISDIR(st.st_mode))
            errno = EISDIR;
        int err = fail_errno(log, path, "read");
        close(fd);
        return err;
    }
    *size = (size_t)st.st_size;
    return fd;
}

int ag_file_map(AgBlob *out, const char *path, const ArgusLogger *log)
{
    size_t size;
    int fd = open_regular(path, &size, log), err = 0;

    if (fd < 0)
        return fd;
    *out = (AgBlob){.kind = AG_BLOB_STATIC};
    if (size) {
        void *p = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p == MAP_FAILED)
            err = fail_errno(log, path, "map");
        else
            *out = (AgBlob){p, size, AG_BLOB_MAPPED};
    }
    close(fd);
    return err;
}

int ag_file_read(AgBlob *out, const char *path, size_t max, const ArgusLogger *log)
{
    size_t size, got = 0;
    int fd = open_regular(path, &size, log), err = 0;

    if (fd < 0)
        return fd;
    if (size > max) {
        close(fd);
        return ag_fail(log, ARGUS_ERR_FORMAT, "%s: expected at most %zu bytes, found %zu", path,
                       max, size);
    }
    unsigned char *p = ag_malloc(size + 1);
    if (!p) {
        close(fd);
        return ag_nomem(log, path);
    }
    while (got < size) {
        ssize_t n = read(fd, p + got, size - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            err = fail_errno(log, path, "read");
        if (n <= 0)
            break;
        got += (size_t)n;
    }
    close(fd);
    if (err < 0) {
        ag_free(p);
        return err;
    }
    p[got] = 0;
    *out = (AgBlob){p, got, AG_BLOB_HEAP};
    return 0;
}

void ag_blob_free(AgBlob *b)
{
    if (b->kind == AG_BLOB_MAPPED)
        munmap((void *)(uintptr_t)b->data, b->size);
    else if (b->kind == AG_BLOB_HEAP)
        ag_free((void *)(uintptr_t)b->data);
    *b = (AgBlob){0};
}

int ag_is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

int ag_is_dir(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

char *ag_path_join(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    int slash = n && a[n - 1] != '/';
    char *p = ag_malloc(n + m + 2);

    if (!p)
        return NULL;
    memcpy(p, a, n);
    if (slash)
        p[n] = '/';
    memcpy(p + n + slash, b, m + 1);
    return p;
}
