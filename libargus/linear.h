/*
 * Loading of weights for the stages: matrices stay in the map, vectors (norms,
 * biases) are widened once into one block of the model's lifetime.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_LINEAR_H
#define AG_LINEAR_H

#include <errno.h>

#include "libargus/dsp/dsp.h"
#include "libargus/model/weights.h"
#include "libargus/quant.h"

typedef struct AgParams {
    AgArena arena;
} AgParams;

typedef struct AgLoader {
    AgWeights *w;
    AgParams *params;
    const AgDsp *dsp;
    const char *prefix; /* of all names */
    AgQuant *quant;     /* takes the matrices if they become int8; NULL = exact */
} AgLoader;

/* Room for n floats in at most n_vector vectors. @return 0 or ENOMEM. */
int ag_params_open(AgParams *p, size_t n, int n_vector);
void ag_params_close(AgParams *p);
float *ag_params_take(AgParams *p, size_t n);

/* prefix + name as [n] float32; NULL if missing (noted in w). */
const float *ag_load_vector(const AgLoader *l, const char *name, int n);
/* prefix + name + ".weight" [n_out, n_in] and, if bias, ".bias" [n_out]. */
void ag_load_linear(const AgLoader *l, AgLinear *out, const char *name, int n_out, int n_in,
                    int bias);

#endif /* AG_LINEAR_H */
