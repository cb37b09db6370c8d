/*
 * Names of files that are written. See path.h.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _POSIX_C_SOURCE 200809L
#include "tools/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_LINKS = 40, TARGET_SIZE = 4096 };

/* Length of the directory of a name with its slash, 0 for none. */
static size_t directory(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* The first n bytes of one name and all of another, malloc'ed. */
static char *join(const char *dir, size_t n, const char *name)
{
    size_t size = strlen(name) + 1;
    char *path = malloc(n + size);

    if (path) {
        memcpy(path, dir, n);
        memcpy(path + n, name, size);
    }
    return path;
}

char *ag_path_follow(const char *path)
{
    char target[TARGET_SIZE], *at = join("", 0, path), *next;

    for (int i = 0; at && i < MAX_LINKS; i++) {
        ssize_t n = readlink(at, target, sizeof(target));

        if (n < 0)
            return at; /* no link; what else is wrong is seen when it is opened */
        if (n == sizeof(target)) {
            free(at);
            errno = ENAMETOOLONG;
            return NULL;
        }
        target[n] = 0;
        next = join(at, *target == '/' ? 0 : directory(at), target);
        free(at);
        at = next;
    }
    if (at)
        errno = ELOOP;
    free(at);
    return NULL;
}

/* What there is of a name: the file, or else its directory. */
typedef struct Place {
    struct stat st;
    int there;
    char *path; /* behind links */
} Place;

static int find(Place *p, const char *path)
{
    char *dir;
    int err = -1;

    p->path = ag_path_follow(path);
    if (!p->path)
        return -1;
    p->there = !stat(p->path, &p->st);
    if (p->there)
        return S_ISREG(p->st.st_mode) ? 0 : -1;
    dir = directory(p->path) ? join(p->path, directory(p->path), ".") : join("", 0, ".");
    if (dir)
        err = stat(dir, &p->st);
    free(dir);
    return err;
}

int ag_path_same(const char *a, const char *b)
{
    Place p = {.path = NULL}, q = {.path = NULL};
    int same = find(&p, a) >= 0 && find(&q, b) >= 0 && p.there == q.there &&
               p.st.st_dev == q.st.st_dev && p.st.st_ino == q.st.st_ino &&
               (p.there || !strcmp(p.path + directory(p.path), q.path + directory(q.path)));

    free(p.path);
    free(q.path);
    return same;
}
