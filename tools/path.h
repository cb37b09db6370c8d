/*
 * Names of files that are written: where a link leads, which two are one file.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TOOLS_PATH_H
#define AG_TOOLS_PATH_H

#include <sys/types.h>

/* The name behind symbolic links, which need not lead to a file that is there
 * already. @return malloc'ed, NULL with errno set. */
char *ag_path_follow(const char *path);

/* Which file a name would be written to: what is there by device and inode,
 * what is not by those of its directory and its name in it. */
typedef struct AgPlace {
    dev_t device;
    ino_t inode;
    int known;   /* 0: a device, a pipe, or nowhere; never the same as another */
    char *name;  /* in the directory; NULL: the file is there */
} AgPlace;

void ag_place_find(AgPlace *p, const char *path);
int ag_place_same(const AgPlace *a, const AgPlace *b);
void ag_place_free(AgPlace *p);

#endif /* AG_TOOLS_PATH_H */
