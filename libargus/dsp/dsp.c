/*
 * All kernels behind one table; the scratch of the threads that run them.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/dsp/dsp.h"

#include "libargus/argus.h"

void ag_dsp_init(AgDsp *dsp, unsigned cpu)
{
    dsp->cpu = cpu & argus_cpu_flags();
    ag_matmul_init(&dsp->matmul, dsp->cpu);
    ag_q8_init(&dsp->q8, dsp->cpu);
    ag_attn_init(&dsp->attn, dsp->cpu);
    ag_norm_init(&dsp->norm, dsp->cpu);
    ag_act_init(&dsp->act, dsp->cpu);
    ag_rope_init(&dsp->rope, dsp->cpu);
    ag_vec_init(&dsp->vec, dsp->cpu);
    ag_resample_init(&dsp->resample, dsp->cpu);
    ag_convert_init(&dsp->convert, dsp->cpu);
}

void ag_exec_carve(AgExec *x, AgArena *a, const AgDsp *dsp, AgPool *pool)
{
    size_t matmul = ag_matmul_scratch(&dsp->matmul), attn = ag_attn_scratch(&dsp->attn);
    size_t q8 = AG_MAX(ag_q8_scratch(&dsp->q8), ag_q8_attn_scratch(&dsp->q8));

    x->dsp = dsp;
    x->pool = pool;
    x->n_thread = ag_pool_threads(pool);
    x->scratch_size = AG_MAX(AG_MAX(matmul, attn), q8);
    x->q8 = (AgQ8Rows){0};
    x->flops = 0;
    x->shared = AG_TAKE(a, float, AG_EXEC_SHARED);
    for (int i = 0; i < x->n_thread; i++)
        x->scratch[i] = ag_arena_take(a, x->scratch_size, 1);
}
