/*
 * int8 products, NEON with dot products: sums of four products in one
 * instruction.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/dsp/aarch64/aarch64.h"
#include "libargus/dsp/aarch64/q8_tile_neon.h"

static void tile_dotprod(const AgQ8Tile *t)
{
    tile(t);
}

static void gemv_dotprod(const AgQ8Tile *t)
{
    gemv(t);
}

void ag_q8_init_dotprod(AgQ8Dsp *dsp)
{
    dsp->mr = Q8_MR;
    dsp->tile = tile_dotprod;
    dsp->gemv = gemv_dotprod;
}
