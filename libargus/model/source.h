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

/* Resolve a directory or a name. A directory that exists wins; a name is looked for in
 *
 *     $ARGUS_MODEL_PATH (colon list), ${XDG_DATA_HOME:-~/.local/share}/argus/models,
 *     the Hugging Face cache (snapshot that refs/main names; $HF_HUB_CACHE, $HF_HOME/hub,
 *     ${XDG_CACHE_HOME:-~/.cache}/huggingface/hub), $prefix/share/argus/models, what is
 *     linked in (argus-tiny), the source tree's models/ for a program run inside it
 *
 * as itself and, for the four published models, under its other name too:
 * smolvlm-256m = SmolVLM-256M-Instruct. ORG/REPO is looked for in the cache as well. A
 * folder counts when it has config.json; one with weights is preferred. NULL or "" =
 * $ARGUS_MODEL, else smolvlm-256m if it is complete somewhere, else argus-tiny with a
 * warning. @return 0, or ARGUS_ERR_NO_MODEL with a message that lists the places. */
int ag_source_find(AgSource *out, const char *model, const ArgusLogger *log);
void ag_source_free(AgSource *s);

/* Bytes of one file. optional: absent gives ARGUS_ERR(ENOENT) without a
 * message. Weights are mapped, others read. */
int ag_source_open(AgBlob *out, const AgSource *s, const char *file, int optional,
                   const ArgusLogger *log);

/* models/ of the source tree for a program that runs inside it or inside the
 * build tree, else NULL. */
const char *ag_source_tree(void);

/* share/argus/models beside the bin/ that the program lies in, which is not
 * configure's prefix where make install was given another. ag_malloc'ed; NULL
 * for a program that lies elsewhere. */
char *ag_source_prefix(void);

/* Path for messages: "dir/file" in buf. */
const char *ag_source_name(const AgSource *s, const char *file, char *buf, size_t size);

#endif /* AG_MODEL_SOURCE_H */
