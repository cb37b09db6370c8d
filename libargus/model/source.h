/*
 * Where a model's files come from: a directory, or read-only data linked in.
 * Finding a model by name is here too.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_MODEL_SOURCE_H
#define AG_MODEL_SOURCE_H

#include "libargus/base/file.h"

typedef struct AgSource {
    char *name; /* as asked for, or last part of the path */
    char *path; /* real path; "(embedded)" */
    int embedded;
} AgSource;

/* Resolve a directory or a name (NULL or "" = default) in the order of
 * product.md §1. @return 0, or ARGUS_ERR_NO_MODEL with a message that lists the
 * places looked at. */
int ag_source_find(AgSource *out, const char *model, const ArgusLogger *log);
void ag_source_free(AgSource *s);

/* Bytes of one file. optional: absent gives ARGUS_ERR(ENOENT) without a
 * message. Weights are mapped, others read. */
int ag_source_open(AgBlob *out, const AgSource *s, const char *file, int optional,
                   const ArgusLogger *log);

/* Path for messages: "dir/file" in buf. */
const char *ag_source_name(const AgSource *s, const char *file, char *buf, size_t size);

#endif /* AG_MODEL_SOURCE_H */
