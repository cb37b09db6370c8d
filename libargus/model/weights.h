/*
 * safetensors, mapped in place: one file, or shards with an index.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_MODEL_WEIGHTS_H
#define AG_MODEL_WEIGHTS_H

#include "libargus/model/source.h"

typedef struct AgTensor {
    const char *name;
    const void *data; /* in the map */
    AgDtype dtype;
    int n_dim;
    int64_t dim[4];
} AgTensor;

typedef struct AgWeights AgWeights;

/* Map and check: header, every shape against its byte range, every range
 * against the file. @return 0, ARGUS_ERR_FORMAT with expected/found,
 * ARGUS_ERR_UNSUPPORTED for a dtype, ENOMEM, errno. */
int ag_weights_open(AgWeights **out, const AgSource *src, const ArgusLogger *log);
void ag_weights_close(AgWeights **w);

/* Tensor by name, checked to have exactly these dims (-1: end of list). A
 * missing or misshapen tensor is noted, not reported yet: NULL comes back and
 * the caller goes on. */
const AgTensor *ag_weights_get(AgWeights *w, const char *name, int64_t d0, int64_t d1, int64_t d2,
                               int64_t d3);
int ag_weights_has(const AgWeights *w, const char *name);
/* After all gets: 0, or ARGUS_ERR_FORMAT with one message that lists what was
 * missing and what had another shape. Tensors never asked for: one warning. */
int ag_weights_check(AgWeights *w, const ArgusLogger *log);

int64_t ag_weights_bytes(const AgWeights *w);
int64_t ag_weights_params(const AgWeights *w); /* elements of all tensors */
/* SHA-256 of the header(s), 64 hex digits: names, shapes and places. */
const char *ag_weights_fingerprint(const AgWeights *w);
/* SHA-256 of the files' sizes and times of last change, 64 hex digits. */
const char *ag_weights_stamp(const AgWeights *w);

#endif /* AG_MODEL_WEIGHTS_H */
