/*
 * int8 products, AVX-512 VNNI: sums of four products in one instruction.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/dsp/x86/q8_tile_avx512.h"
#include "libargus/dsp/x86/x86.h"

static void tile_vnni(const AgQ8Tile *t)
{
    tile(t);
}

static void gemv_vnni(const AgQ8Tile *t)
{
    gemv(t);
}

void ag_q8_init_vnni(AgQ8Dsp *dsp)
{
    dsp->mr = Q8_MR;
    dsp->tile = tile_vnni;
    dsp->gemv = gemv_vnni;
}
