/*
 * The input of a tile of a matrix product: lines of 16 values of k, those of the
 * tile's rows side by side, [k / 16 rounded up][mr][16]. One pointer reaches them
 * all with short distances, and the copy is made while the tile before is
 * computed. doc/kernels.md has the why.
 *
 * Only static functions: compiled with a tier's instruction-set flags.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_LINES_H
#define AG_DSP_LINES_H

#include <string.h>

#include "libargus/base/common.h"

enum { AG_LINE = 16 };

/* Rows of which lines are still to be copied; m = 0: none. */
typedef struct AgLines {
    const float *src; /* the next line, in rows that are ld apart */
    ptrdiff_t ld;
    float *dst;       /* its place, aligned to 64 */
    int m, k;         /* rows, with this one; values of each */
    int left;         /* of this row: k at first */
} AgLines;

AG_INLINE int ag_lines_count(int m, int k)
{
    return m * ((k + AG_LINE - 1) / AG_LINE);
}

/* The next n lines, or all there are. What is behind a row's last value stays as it
 * is. mr is a constant. */
AG_INLINE void ag_lines_copy(AgLines *l, int n, const int mr)
{
    for (; n > 0 && l->m > 0; n--) {
        AG_PREFETCH(l->src + l->ld); /* of the next row */
        if (AG_LIKELY(l->left >= AG_LINE)) {
            memcpy(l->dst, l->src, AG_LINE * sizeof(float));
        } else {
            for (int i = 0; i < l->left; i++)
                l->dst[i] = l->src[i];
        }
        l->src += AG_LINE;
        l->dst += mr * AG_LINE;
        l->left -= AG_LINE;
        if (l->left <= 0) {
            int row = ag_lines_count(1, l->k);
            l->src += l->ld - row * AG_LINE;
            l->dst -= (row * mr - 1) * AG_LINE;
            l->left = l->k;
            l->m--;
        }
    }
}

/* What is done beside the sums, a bit every 16 steps of k. */
typedef struct AgBeside {
    AgLines lines;    /* copied, */
    int n_lines;      /* so many at a time */
    const float *out; /* rows brought near the core, one at a time; NULL: none */
    ptrdiff_t ld_out;
} AgBeside;

/* nr: columns of out */
AG_INLINE void ag_beside(AgBeside *b, const int mr, const int nr)
{
    ag_lines_copy(&b->lines, b->n_lines, mr);
    if (b->out) {
        AG_UNROLL
        for (int c = 0; c < nr; c += AG_LINE)
            AG_PREFETCH(b->out + c);
        b->out += b->ld_out;
    }
}

#endif /* AG_DSP_LINES_H */
