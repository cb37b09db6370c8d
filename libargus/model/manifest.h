/*
 * Manifests: one JSON file for each known model, with its licence, where the hub has
 * it, and size and sha256 of every file. The public part is in argus.h.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_MODEL_MANIFEST_H
#define AG_MODEL_MANIFEST_H

#include "libargus/base/log.h"

enum {
    AG_MAX_MANIFEST = 256,  /* manifests */
    AG_MAX_MANIFEST_FILE = 256, /* files of one */
};

/* Read the manifests of one directory (NAME.json) into an open list; a name that is
 * in the list already is passed over. A directory that does not exist has none.
 * @return 0 or the error of the first bad file, with a message. */
int ag_manifests_add(ArgusManifests *list, const char *dir, const ArgusLogger *log);

#endif /* AG_MODEL_MANIFEST_H */
