/*
 * Names of files that are written: where a link leads, which two are one file.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TOOLS_PATH_H
#define AG_TOOLS_PATH_H

/* The name behind symbolic links, which need not lead to a file that is there
 * already. @return malloc'ed, NULL with errno set. */
char *ag_path_follow(const char *path);

/* Would both be written to one file? What is there is compared by device and
 * inode, what is not by its directory and its name in it. Devices and pipes
 * are never the same. */
int ag_path_same(const char *a, const char *b);

#endif /* AG_TOOLS_PATH_H */
