/*
 * Picture files for the tests, made on the spot: the kinds that cameras and
 * programs write, and damaged ones.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TESTS_PICTURES_H
#define AG_TESTS_PICTURES_H

#include "libargus/base/buf.h"

/* Names of all pictures, NULL after the last. JPEG files need libjpeg; a build
 * without it has none. */
const char *ag_gen_picture_name(size_t i);

/* Append the bytes of a picture. @return 0, -1 for a name that is not there. */
int ag_gen_picture(AgBuf *out, const char *name);

/* --- the makers behind them */

typedef struct AgGenJpeg {
    int width, height;
    int components;        /* 1 grey, 3 YCbCr, 4 CMYK as stored */
    int transform;         /* 0: colours as they are (RGB, CMYK), 1: YCbCr or YCCK */
    int h, v;              /* sampling factors of the first component */
    int progressive;       /* scans of the usual script, or more: that many (8x8 pictures) */
    int arithmetic;
    int restart;           /* MCU rows between markers */
    uint32_t scene;        /* of the formula; 0: left half red, right half blue */
    const char *app1;      /* contents of an APP1 marker, or NULL */
    size_t app1_size;
} AgGenJpeg;

void ag_gen_jpeg(AgBuf *out, const AgGenJpeg *s);

typedef struct AgGenPng {
    int width, height;
    int type, depth;       /* as in IHDR */
    int interlace;
    int trns;              /* 1: with a tRNS chunk */
    int n_palette;         /* 0: as many as the depth allows */
    uint32_t scene;
    const char *extra;     /* type and contents of a chunk before the pixels, or NULL */
    size_t extra_size;
} AgGenPng;

void ag_gen_png(AgBuf *out, const AgGenPng *s);

#endif /* AG_TESTS_PICTURES_H */
