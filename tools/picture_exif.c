/*
 * Which way up a picture is: the orientation tag of EXIF and XMP.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/picture_priv.h"

enum { TAG_ORIENTATION = 0x0112, TYPE_SHORT = 3, TYPE_LONG = 4, ENTRY_SIZE = 12 };

static uint32_t get(const uint8_t *p, int bytes, int big)
{
    uint32_t v = 0;

    for (int i = 0; i < bytes; i++)
        v |= (uint32_t)p[i] << 8 * (big ? bytes - 1 - i : i);
    return v;
}

int ag_exif_orientation(const uint8_t *data, size_t size)
{
    if (size >= 6 && !memcmp(data, "Exif\0", 6)) {
        data += 6;
        size -= 6;
    }
    if (size < 8)
        return 0;

    int big = data[0] == 'M';
    if (memcmp(data, big ? "MM\0*" : "II*\0", 4))
        return 0;
    size_t at = get(data + 4, 4, big);
    if (at > size || size - at < 2)
        return 0;
    size_t n = get(data + at, 2, big);
    for (at += 2; n > 0 && size - at >= ENTRY_SIZE; n--, at += ENTRY_SIZE) {
        const uint8_t *e = data + at;
        uint32_t type = get(e + 2, 2, big);

        if (get(e, 2, big) != TAG_ORIENTATION)
            continue;
        if (get(e + 4, 4, big) != 1 || (type != TYPE_SHORT && type != TYPE_LONG))
            return 1; /* there, but not a number */
        uint32_t v = get(e + 8, type == TYPE_SHORT ? 2 : 4, big);
        return v >= 1 && v <= 8 ? (int)v : 1;
    }
    return 0;
}

/* As an attribute, tiff:Orientation="6", or as an element. */
int ag_xmp_orientation(const uint8_t *data, size_t size)
{
    static const char key[] = "tiff:Orientation";
    size_t n = sizeof(key) - 1;

    for (size_t i = 0; size >= n && i <= size - n; i++) {
        if (memcmp(data + i, key, n))
            continue;
        const uint8_t *p = data + i + n;
        size_t left = size - i - n, skip = left >= 2 && p[0] == '=' && p[1] == '"' ? 2 : 1;
        if (left > skip && (skip == 2 || p[0] == '>') && p[skip] >= '0' && p[skip] <= '9')
            return p[skip] >= '1' && p[skip] <= '8' ? p[skip] - '0' : 1;
    }
    return 0;
}

enum { BLOCK = 32 }; /* pixels; keeps both sides of a turn in the cache */

static void turn_block(uint8_t *out, ptrdiff_t out_stride, const uint8_t *in, ptrdiff_t step_x,
                       ptrdiff_t step_y, int w, int h)
{
    for (int y = 0; y < h; y++, out += out_stride, in += step_y) {
        const uint8_t *p = in;
        for (int x = 0; x < w; x++, p += step_x)
            memcpy(out + x * 3, p, 3);
    }
}

int ag_pic_orient(AgPic *p, int orientation)
{
    /* Where the first output pixel comes from, and whether rows become columns. */
    static const struct { char right, bottom, swap; } how[] = {
        [2] = {1, 0, 0}, [3] = {1, 1, 0}, [4] = {0, 1, 0}, [5] = {0, 0, 1},
        [6] = {0, 1, 1}, [7] = {1, 1, 1}, [8] = {1, 0, 1},
    };

    if (orientation < 2 || orientation > 8)
        return 0;
    int right = how[orientation].right, bottom = how[orientation].bottom;
    int swap = how[orientation].swap;
    int w = swap ? p->height : p->width, h = swap ? p->width : p->height;
    ptrdiff_t stride = (ptrdiff_t)p->width * 3, out_stride = (ptrdiff_t)w * 3;
    ptrdiff_t along = right ? -3 : 3, down = bottom ? -stride : stride;
    ptrdiff_t step_x = swap ? down : along, step_y = swap ? along : down;
    const uint8_t *in = p->rgb + (right ? stride - 3 : 0) + (bottom ? (p->height - 1) * stride : 0);
    uint8_t *out = malloc((size_t)h * (size_t)out_stride);

    if (!out)
        return ARGUS_ERR(ENOMEM);
    for (int y = 0; y < h; y += BLOCK)
        for (int x = 0; x < w; x += BLOCK)
            turn_block(out + y * out_stride + (ptrdiff_t)x * 3, out_stride,
                       in + x * step_x + y * step_y, step_x, step_y,
                       w - x < BLOCK ? w - x : BLOCK, h - y < BLOCK ? h - y : BLOCK);
    free(p->rgb);
    *p = (AgPic){out, w, h};
    return 0;
}
