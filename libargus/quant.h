/*
 * int8 weights of a model (precision=q8): packed for the kernels when the model
 * is opened, or mapped from a cache file that an earlier opening wrote.
 *
 *     ag_load_linear: AgLinear in the checkpoint's type --ag_quant_add--> list
 *     ag_quant_finish: list -> cache file or memory -> AgLinear of AG_Q8
 *
 * The file is a header of 4096 bytes and the matrices in the list's order, each
 * as dsp/q8.h has them. It is used only if its header says exactly what it would
 * be written with now: version, weights (names and places, sizes and times of
 * the files, samples of the numbers), shapes.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_QUANT_H
#define AG_QUANT_H

#include "libargus/dsp/dsp.h"
#include "libargus/model/weights.h"

typedef struct AgQuant AgQuant;

/* NULL if memory ran out. */
AgQuant *ag_quant_open(void);
void ag_quant_close(AgQuant **q);

/* lin is quantised by ag_quant_finish; it must stay where it is until then, and
 * its new weights live as long as q. */
void ag_quant_add(AgQuant *q, AgLinear *lin);

/* Trouble with the cache costs time or memory, nothing else: it is logged.
 * @return 0 or ENOMEM. */
int ag_quant_finish(AgQuant *q, const AgSource *src, const AgWeights *w, const AgDsp *dsp,
                    const ArgusLogger *log);

int64_t ag_quant_bytes(const AgQuant *q); /* of the int8 weights */
int ag_quant_mapped(const AgQuant *q);    /* 1: in a file, shared between processes */

/* Directory of the cache files, allocated: $ARGUS_CACHE_DIR, else
 * $XDG_CACHE_HOME/argus, else ~/.cache/argus. NULL if there is none (the first
 * is set and empty, no HOME) or memory ran out. */
char *ag_quant_dir(void);

#endif /* AG_QUANT_H */
