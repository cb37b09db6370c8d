/*
 * Downloads of models. Only in programs built with libcurl.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TOOLS_FETCH_H
#define AG_TOOLS_FETCH_H

#include "libargus/argus.h"

#define AG_HUB "https://huggingface.co"

/* Fetch every file of m that is not in dir (which exists) as it should be, from
 * BASE/REPO/resolve/REVISION/FILE. A file has its name only once its size and sha256
 * are right; until then it is FILE.part, which a later run goes on with. config.json
 * comes last, so that no half a model is found by name. m has a repo.
 * @return 0, or -1 after a message; ag_stopped() tells whether a signal ended it. */
int ag_fetch(const ArgusManifest *m, const char *base, const char *dir);

#endif /* AG_TOOLS_FETCH_H */
