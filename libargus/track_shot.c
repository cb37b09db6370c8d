/*
 * Shots: what the track keeps of a frame's pixels. See track_shot.h.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/track_shot.h"

#include <errno.h>

#include "libargus/base/log.h"
#include "libargus/base/mem.h"
#include "libargus/context.h"
#include "libargus/dsp/dsp.h"
#include "libargus/image.h"

/* Width or height times a / b, to the nearest pixel; 0 if it is out of range. */
static int64_t scaled(int64_t side, int64_t a, int64_t b)
{
    int64_t v = (side * a + b / 2) / b;

    return v > AG_MAX_PIXELS ? 0 : v;
}

/* Size on a display with square pixels: the longer way, so that no pixel is
 * lost. @return 1, 0 if the picture stays as it is, -1 if it would be too big. */
static int display_size(const ArgusImage *in, ArgusRational sar, int *w, int *h)
{
    int64_t dw = in->width, dh = in->height;

    if (sar.num <= 0 || sar.den <= 0 || sar.num == sar.den)
        return 0;
    if (sar.num > sar.den)
        dw = scaled(dw, sar.num, sar.den);
    else
        dh = scaled(dh, sar.den, sar.num);
    if (!dw || !dh || dw * dh > AG_MAX_PIXELS)
        return -1;
    *w = (int)dw;
    *h = (int)dh;
    return *w != in->width || *h != in->height;
}

/* Stretch to [h, w, 3] in *pixels, which is the caller's. */
static int stretch(AgExec *x, const ArgusImage *in, int w, int h, uint8_t **pixels)
{
    size_t row = (size_t)in->width * 3;
    uint8_t *rgb = ag_malloc(ag_mul(row, (size_t)in->height));
    int err = ARGUS_ERR(ENOMEM);

    *pixels = ag_malloc(ag_mul((size_t)w * 3, (size_t)h));
    if (rgb && *pixels) {
        ag_image_rgb(rgb, in, 0, in->height);
        err = ag_resample(x, *pixels, w, h, rgb, in->width, in->height,
                          (ptrdiff_t)row);
    }
    ag_free(rgb);
    return err;
}

int ag_shot_prepare(ArgusContext *ctx, AgExec *x, const ArgusLogger *log, const ArgusImage *in,
                    ArgusRational sar, int split, int *sar_told, AgPicture **pic)
{
    uint8_t *pixels = NULL;
    ArgusImage square;
    int w, h, err = ag_image_check(in, log);

    if (err < 0)
        return err;
    int change = display_size(in, sar, &w, &h);
    if (change < 0 && !*sar_told) {
        *sar_told = 1;
        ag_log(log, ARGUS_LOG_WARNING,
               "sample aspect ratio: expected at most %d pixels after stretching "
               "%dx%d by %d/%d; it is not applied", AG_MAX_PIXELS, in->width, in->height, sar.num,
               sar.den);
    }
    if (change > 0) {
        if (stretch(x, in, w, h, &pixels) < 0) {
            ag_free(pixels);
            return ag_nomem(log, "a stretched picture");
        }
        square = (ArgusImage){pixels, (ptrdiff_t)w * 3, w, h, ARGUS_RGB24};
        in = &square;
    }
    err = ag_caption_tiles(ctx, x, in, split, pic);
    ag_free(pixels);
    if (err == 0 && x->pool && atomic_load(&ctx->cancel)) { /* parts of the tiles were left out */
        ag_picture_free(pic);
        err = ARGUS_ERR_CANCELLED;
    }
    return err;
}

int ag_shot_open(const ArgusLogger *log, AgPicture *pic, AgShot **out)
{
    AgShot *s = ag_calloc(1, sizeof(*s));

    *out = s;
    if (!s) {
        ag_picture_free(&pic);
        return ag_nomem(log, "a picture");
    }
    s->pic = pic;
    atomic_init(&s->n_ref, 1);
    return 0;
}

void ag_shots_hold(AgShot **to, AgShot *const *from, int n)
{
    for (int i = 0; i < n; i++) {
        to[i] = from[i];
        atomic_fetch_add(&to[i]->n_ref, 1);
    }
}

void ag_shots_release(AgShot **shots, int n)
{
    for (int i = 0; i < n; i++) {
        if (atomic_fetch_sub(&shots[i]->n_ref, 1) == 1) {
            ag_picture_free(&shots[i]->pic);
            ag_free(shots[i]);
        }
        shots[i] = NULL;
    }
}
