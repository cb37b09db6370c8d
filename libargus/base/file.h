/*
 * Read-only files: mapped or read whole; paths.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_BASE_FILE_H
#define AG_BASE_FILE_H

#include "libargus/base/log.h"

/* Bytes of a file, mapped (mapped = 1), allocated, or of somebody else. */
typedef struct AgBlob {
    const unsigned char *data;
    size_t size;
    enum { AG_BLOB_STATIC, AG_BLOB_MAPPED, AG_BLOB_HEAP } kind;
} AgBlob;

/* Map a whole file. @return 0 or ARGUS_ERR(errno), with a message that names
 * the file. An empty file gives size 0. Directories are refused. */
int ag_file_map(AgBlob *out, const char *path, const ArgusLogger *log);
/* Read a whole file of at most max bytes, with a 0 after the end. */
int ag_file_read(AgBlob *out, const char *path, size_t max, const ArgusLogger *log);
void ag_blob_free(AgBlob *b);
/* 1 if there is a regular file (after links) or a directory at path. */
int ag_is_file(const char *path);
int ag_is_dir(const char *path);
/* "a/b", allocated; NULL if memory ran out. */
char *ag_path_join(const char *a, const char *b);

#endif /* AG_BASE_FILE_H */
