/*
 * Stage: the caller's picture, checked and read as RGB rows.
 *
 *     ArgusImage [height, stride] -> RGB24 [n, width, 3]
 *
 * Grey becomes three equal channels *before* any resampling, as the
 * reference's load_image does it with convert("RGB").
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/image.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* Bytes of a pixel, by enum ArgusPixelFormat. */
static const int pixel_size[] = {[ARGUS_RGB24] = 3, [ARGUS_RGBA] = 4, [ARGUS_GRAY8] = 1};

int ag_image_size_ok(int width, int height)
{
    return width >= 1 && height >= 1 && (int64_t)width * height <= AG_MAX_PIXELS;
}

int ag_image_check(const ArgusImage *im, const ArgusLogger *log)
{
    int err = ARGUS_ERR(EINVAL);

    if (!im || !im->data)
        return ag_fail(log, err, "picture: expected pixels, found none");
    if (!ag_image_size_ok(im->width, im->height))
        return ag_fail(log, err, "picture: expected sides from 1 and at most %d pixels, found "
                       "%dx%d", AG_MAX_PIXELS, im->width, im->height);
    if (im->format < 0 || (size_t)im->format >= AG_COUNT(pixel_size))
        return ag_fail(log, err, "picture: expected a pixel format from 0 to %d, found %d",
                       (int)AG_COUNT(pixel_size) - 1, im->format);

    ptrdiff_t row = (ptrdiff_t)im->width * pixel_size[im->format];
    if (im->height > 1 && im->stride < row && im->stride > -row)
        return ag_fail(log, err, "picture: expected a stride of at least %lld bytes, found %lld",
                       (long long)row, (long long)im->stride);
    return 0;
}

void ag_image_rgb(uint8_t *out, const ArgusImage *im, int y, int n)
{
    assert(y >= 0 && n >= 0 && n <= im->height - y);
    for (; n > 0; n--, y++) {
        const uint8_t *p = im->data + y * im->stride;

        if (im->format == ARGUS_RGB24) {
            memcpy(out, p, (size_t)im->width * 3);
            out += (size_t)im->width * 3;
            continue;
        }
        int grey = im->format == ARGUS_GRAY8;
        for (int x = 0; x < im->width; x++, out += 3, p += grey ? 1 : 4) {
            out[0] = p[0];
            out[1] = p[grey ? 0 : 1];
            out[2] = p[grey ? 0 : 2];
        }
    }
}
