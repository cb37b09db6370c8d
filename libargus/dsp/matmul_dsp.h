/*
 * Kernel table of the matrix products; the record holds tile shape, packing
 * and kernels together. Included by matmul.h only.
 *
 * A product is cut into blocks of columns. A block's weights are widened and
 * transposed, a depth of k at a time, into panels of nr columns that stay in
 * L2; then all rows sweep over them in tiles of at most mr rows, whose sums
 * live in the thread's scratch until k is done and the epilogue writes them
 * out. Every output is one chain of additions in rising k, whatever the blocks
 * are.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_MATMUL_DSP_H
#define AG_DSP_MATMUL_DSP_H

#include "libargus/dsp/lines.h"
#include "libargus/dsp/matmul.h" /* so that it compiles alone */

enum {
    AG_GEMM_KC = 192,   /* most values of k in a tile of the input, which stays in L1; of 16 */
    AG_GEMM_MR = 16,    /* most rows, */
    AG_GEMM_NR = 64,    /* most columns of any tile */
    AG_GEMM_TILE = 576, /* most numbers in a tile, mr * nr */
};

/* What becomes of a tile's sums: see AgMatmulDsp.finish. */
typedef struct AgGemmOut {
    float *data; /* [m, ld]; NULL: nothing yet */
    ptrdiff_t ld;
    const float *bias; /* [n], or NULL */
    float scale;
    AgEpilogue epi;
    int n; /* columns of all panels */
} AgGemmOut;

/* One tile of rows against some panels. */
typedef struct AgGemmTile {
    float *acc;         /* [n_panel, mr, nr]; aligned to 64, like b */
    const float *a;     /* [k / AG_LINE rounded up][mr][AG_LINE]: k values of each row; aligned */
    const float *b;     /* [n_panel] panels of [k, nr], */
    ptrdiff_t step;     /* floats from panel to panel */
    AgLines next;       /* the input of the next tile, which is copied meanwhile */
    int m, k, n_panel;  /* 1 <= m <= mr */
    int first;          /* 1: sums begin at 0, acc is only written */
    AgGemmOut out;      /* where they go after the last values of k */
} AgGemmTile;

struct AgMatmulDsp {
    int mr, nr;    /* tile: rows <= AG_GEMM_MR, columns <= AG_GEMM_NR; mr * nr <= AG_GEMM_TILE */
    int nc, depth; /* columns (of nr) and values of k (of 16) that are packed at a time */

    /* dst[i*nr + c] = float32 of w[c*ld + i] for i < k and c < n, 0 for
     * n <= c < nr. By AgDtype; ld counts numbers; w aligned to 2, dst to 64.
     * Exact. */
    void (*pack[3])(float *dst, const void *w, ptrdiff_t ld, int n, int k);

    /* acc[p][r][c] = (first ? 0 : acc[p][r][c]) + sum of a[r][i] * b[p][i][c]
     * over i = 0..k-1 in this order, for r < m and all nr columns. Bounded:
     * k * 2^-24 * sum |a b|; the same bits for any m, n_panel and any cut of
     * k into calls. Then finish() of all panels, if there is an out. All of next is
     * copied. */
    void (*tile)(const AgGemmTile *t);

    /* out[r*ld + c] = epilogue of (acc[r*nr + c] + bias[c]) * scale for r < m,
     * c < n <= nr; bias may be NULL. Store and add: exact; the others: the
     * bounds of gelu and silu. */
    void (*finish)(float *out, ptrdiff_t ld, const float *acc, int m, int n, const float *bias,
                   float scale, AgEpilogue epi);

    /* out[r] = sum of w[r*k + i] * x[i], for r < n. By AgDtype. A row's bits
     * do not depend on n. Bounded: k * 2^-24 * sum |w x|. */
    void (*gemv[3])(float *out, const void *w, const float *x, int n, int k);
};

void ag_matmul_init(AgMatmulDsp *dsp, unsigned cpu);
/* Bytes of scratch one thread needs. */
size_t ag_matmul_scratch(const AgMatmulDsp *dsp);

#endif /* AG_DSP_MATMUL_DSP_H */
