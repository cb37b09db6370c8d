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

void ag_place_find(AgPlace *p, const char *path)
{
    char *at = ag_path_follow(path), *dir = NULL;
    struct stat st;

    *p = (AgPlace){.known = 0};
    if (at && !stat(at, &st)) {
        p->known = S_ISREG(st.st_mode);
    } else if (at) {
        dir = join(at, directory(at), directory(at) ? "" : ".");
        p->name = join("", 0, at + directory(at));
        p->known = dir && p->name && !stat(dir, &st);
    }
    if (p->known) {
        p->device = st.st_dev;
        p->inode = st.st_ino;
    }
    free(dir);
    free(at);
}

int ag_place_same(const AgPlace *a, const AgPlace *b)
{
    return a->known && b->known && a->device == b->device && a->inode == b->inode &&
           (a->name ? b->name && !strcmp(a->name, b->name) : !b->name);
}

void ag_place_free(AgPlace *p)
{
    free(p->name);
    *p = (AgPlace){.known = 0};
}
