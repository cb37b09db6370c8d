/*
 * int8 products, AVX-VNNI: sums of four products in one instruction.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/dsp/x86/q8_tile_avx2.h"
#include "libargus/dsp/x86/x86.h"

static void tile_avxvnni(const AgQ8Tile *t)
{
    tile(t);
}

static void gemv_avxvnni(const AgQ8Tile *t)
{
    gemv(t);
}

void ag_q8_init_avxvnni(AgQ8Dsp *dsp)
{
    dsp->mr = Q8_MR;
    dsp->tile = tile_avxvnni;
    dsp->gemv = gemv_avxvnni;
}
