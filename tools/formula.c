/*
 * Test pictures made by integer arithmetic: ramps, rings, noise blocks and
 * inverted bars. All numbers are uint32 and wrap around.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tools/formula.h"

/* 0..255 and back. */
static uint32_t triangle(uint32_t v)
{
    uint32_t m = v & 511;
    return m < 256 ? m : 511 - m;
}

static uint32_t mix(uint32_t v)
{
    v = (v ^ v >> 15) * 0x2C1B3C6Du;
    v = (v ^ v >> 12) * 0x297A2D39u;
    return v ^ v >> 15;
}

static uint8_t value(uint32_t x, uint32_t y, uint32_t c, uint32_t s, uint32_t t)
{
    uint32_t ramp = triangle(x * (1 + c) + y * (2 + ((s + c) & 3)) + 61 * s + 9 * t);
    uint32_t squares = x * x + y * y * (1 + (s + c) % 3);
    uint32_t rings = triangle(squares / (64 + 16 * c) + 29 * c + 97 * s);
    uint32_t noise = mix(x / 8 * 0x9E3779B1u ^ y / 8 * 0x85EBCA77u ^ c * 0xC2B2AE3Du ^
                         s * 0x27D4EB2Fu) & 255;
    uint32_t v = (3 * ramp + 3 * rings + 2 * noise) / 8;

    if ((x / 32 + 2 * t) % 7 == s % 7 && y / 32 % 3 != 1)
        v = 255 - v;
    return (uint8_t)v;
}

void ag_formula_image(uint8_t *out, int width, int height, uint32_t scene, uint32_t time)
{
    for (uint32_t y = 0; y < (uint32_t)height; y++)
        for (uint32_t x = 0; x < (uint32_t)width; x++)
            for (uint32_t c = 0; c < 3; c++)
                *out++ = value(x, y, c, scene, time);
}
