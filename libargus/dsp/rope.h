/*
 * Rotary position embedding, split halves (x1, x2) -> (x1 c - x2 s, x2 c + x1 s).
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_DSP_ROPE_H
#define AG_DSP_ROPE_H

typedef struct AgExec AgExec;

typedef struct AgRopeDsp {
    /* One head of one row, in place: x[0..dim/2) with x[dim/2..dim), angles'
     * cos and sin [dim/2]. dim even, 16..128. Products rounded before they
     * are added, as the reference does: exact against C. */
    void (*rotate)(float *x, const float *cos, const float *sin, int dim);
} AgRopeDsp;

void ag_rope_init(AgRopeDsp *dsp, unsigned cpu);

/* cos/sin tables for positions 0..n_pos-1: inv_freq[i] = 1 / theta^(2i/dim)
 * in float32 as torch computes it; angle = pos * inv_freq in float32.
 * table [n_pos, dim]: dim/2 cosines, then dim/2 sines. */
void ag_rope_table(float *table, int first, int n_pos, int dim, double theta);

/* Rotate n_head heads of m rows; row i has position pos + i.
 * x [m, ld]; table as above from position 0. */
void ag_rope(AgExec *x, float *data, int ld, int n_head, int dim, int m, const float *table,
             int pos);

#endif /* AG_DSP_ROPE_H */
