/*
 * PNG pictures through libspng. Samples come as stored and are brought to
 * 8 bits here, by Pillow's rules.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <spng.h>

#include "tools/picture_priv.h"

#define MAX_CHUNK ((size_t)64 << 20) /* bytes of one chunk and of all kept ones */

typedef struct Png {
    spng_ctx *ctx;
    struct spng_ihdr h;
    struct spng_plte palette;
    struct spng_trns trns;
    int has_trns;
    uint8_t *raw; /* rows as stored, big-endian, without filter bytes */
    size_t raw_size;
    uint8_t *mended; /* what is decoded instead of the file, or NULL */
    const AgPicFile *f;
} Png;

static int no_memory(const AgPicFile *f)
{
    return ag_pic_fail(f, ARGUS_ERR(ENOMEM), "out of memory");
}

static int is_truncation(int code)
{
    return code == SPNG_IO_EOF || code == SPNG_EOF || code == SPNG_EIDAT_TOO_SHORT;
}

static int fail(const Png *p, int code)
{
    const AgPicFile *f = p->f;

    if (code == SPNG_EMEM)
        return no_memory(f);
    if (is_truncation(code))
        return ag_pic_fail(f, ARGUS_ERR_FORMAT, "truncated PNG: the file ends after %zu bytes, "
                           "before the picture does (--lenient takes what is there)", f->size);
    return ag_pic_fail(f, ARGUS_ERR_FORMAT, "damaged PNG: %s", spng_strerror(code));
}

static uint32_t be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* A copy of a file whose last chunk is cut: the chunk ends where the file
 * does, with a checksum that nobody looks at. libspng would drop all of it.
 * *mended stays NULL if no chunk is cut. @return 0 or a told error. */
static int mend(const AgPicFile *f, uint8_t **mended, size_t *size)
{
    size_t at = 8, left = f->size > at ? f->size - at : 0;

    while (left >= 12 && be32(f->data + at) <= left - 12) {
        size_t n = (size_t)be32(f->data + at) + 12;
        at += n;
        left -= n;
    }
    if (left < 8 || at == 8) /* whole, or without a header to start from */
        return 0;
    *size = f->size + 4;
    if (!(*mended = calloc(1, *size)))
        return no_memory(f);
    memcpy(*mended, f->data, f->size);
    for (int i = 0; i < 4; i++)
        (*mended)[at + (size_t)i] = (uint8_t)((left - 8) >> (24 - 8 * i));
    return 0;
}

/* Sample number i of a row. */
static unsigned sample(const uint8_t *row, size_t i, unsigned depth)
{
    if (depth == 16)
        return (unsigned)row[i * 2] << 8 | row[i * 2 + 1];
    if (depth == 8)
        return row[i];
    size_t bit = i * depth;
    return row[bit / 8] >> (8 - depth - bit % 8) & ((1u << depth) - 1);
}

typedef struct Rgba {
    unsigned r, g, b, a; /* 0..255 */
} Rgba;

/* Grey of 16 bits is cut off at 255, as Pillow's convert("RGB") of mode I;16
 * does it; colour of 16 bits keeps its upper byte. */
static unsigned grey8(unsigned v, unsigned depth)
{
    return depth == 16 ? (v > 255 ? 255 : v) : v * 255 / ((1u << depth) - 1);
}

static Rgba pixel(const Png *p, const uint8_t *row, size_t x)
{
    unsigned depth = p->h.bit_depth, shift = depth == 16 ? 8 : 0, v, g, b;
    int clear;

    switch (p->h.color_type) {
    case SPNG_COLOR_TYPE_GRAYSCALE:
        v = sample(row, x, depth);
        g = grey8(v, depth);
        return (Rgba){g, g, g, p->has_trns && v == p->trns.gray ? 0 : 255};
    case SPNG_COLOR_TYPE_INDEXED:
        v = sample(row, x, depth);
        if (v >= p->palette.n_entries)
            return (Rgba){0, 0, 0, 255};
        return (Rgba){p->palette.entries[v].red, p->palette.entries[v].green,
                      p->palette.entries[v].blue,
                      p->has_trns && v < p->trns.n_type3_entries ? p->trns.type3_alpha[v] : 255};
    case SPNG_COLOR_TYPE_GRAYSCALE_ALPHA:
        v = sample(row, x * 2, depth) >> shift;
        return (Rgba){v, v, v, sample(row, x * 2 + 1, depth) >> shift};
    case SPNG_COLOR_TYPE_TRUECOLOR:
        v = sample(row, x * 3, depth);
        g = sample(row, x * 3 + 1, depth);
        b = sample(row, x * 3 + 2, depth);
        clear = p->has_trns && v == p->trns.red && g == p->trns.green && b == p->trns.blue;
        return (Rgba){v >> shift, g >> shift, b >> shift, clear ? 0 : 255};
    default: /* SPNG_COLOR_TYPE_TRUECOLOR_ALPHA */
        x *= 4;
        return (Rgba){sample(row, x, depth) >> shift, sample(row, x + 1, depth) >> shift,
                      sample(row, x + 2, depth) >> shift, sample(row, x + 3, depth) >> shift};
    }
}

static uint8_t over(unsigned v, unsigned alpha, unsigned ground)
{
    return (uint8_t)((v * alpha + ground * (255 - alpha) + 127) / 255);
}

static void to_rgb(const Png *p, AgPic *out)
{
    size_t w = (size_t)out->width, row_size = p->raw_size / (size_t)out->height;
    int alpha = p->f->o->alpha;
    unsigned ground = alpha == AG_PIC_ALPHA_WHITE ? 255 : 0;
    size_t n = row_size / w; /* bytes of a pixel, if it has whole ones */
    int plain = alpha == AG_PIC_ALPHA_DROP && p->h.bit_depth == 8 &&
                p->h.color_type != SPNG_COLOR_TYPE_INDEXED;
    uint8_t *to = out->rgb;

    for (int y = 0; y < out->height; y++) {
        const uint8_t *row = p->raw + (size_t)y * row_size;

        if (plain) {
            for (size_t x = 0; x < w; x++, to += 3, row += n) {
                to[0] = row[0];
                to[1] = row[n < 3 ? 0 : 1];
                to[2] = row[n < 3 ? 0 : 2];
            }
            continue;
        }
        for (size_t x = 0; x < w; x++, to += 3) {
            Rgba c = pixel(p, row, x);
            unsigned a = alpha == AG_PIC_ALPHA_DROP ? 255 : c.a;

            to[0] = over(c.r, a, ground);
            to[1] = over(c.g, a, ground);
            to[2] = over(c.b, a, ground);
        }
    }
}

/* ImageMagick's way to keep EXIF in a text chunk: name and length on lines of
 * their own, then hexadecimal digits. */
static int profile_orientation(const char *text, size_t size)
{
    uint8_t *data = malloc(size / 2 + 1);
    size_t i = 0, n = 0;
    int line = 0, orientation;

    if (!data)
        return 0;
    for (; i < size && line < 3; i++)
        line += text[i] == '\n';
    for (int high = -1; i < size; i++) {
        const char *digits = "0123456789abcdef0123456789ABCDEF";
        const char *d = text[i] ? strchr(digits, text[i]) : NULL;

        if (!d)
            continue;
        int v = (int)(d - digits) & 15;
        if (high < 0) {
            high = v;
        } else {
            data[n++] = (uint8_t)(high << 4 | v);
            high = -1;
        }
    }
    orientation = ag_exif_orientation(data, n);
    free(data);
    return orientation;
}

static int find_orientation(const Png *p)
{
    struct spng_exif exif;
    struct spng_text *text = NULL;
    uint32_t n = 0;
    int found = 0, xmp = 0, raw = 0;

    if (!spng_get_exif(p->ctx, &exif))
        found = ag_exif_orientation((const uint8_t *)exif.data, exif.length);
    if (spng_get_text(p->ctx, NULL, &n) || !n || !(text = calloc(n, sizeof(*text))))
        return found;
    if (!spng_get_text(p->ctx, text, &n)) {
        for (uint32_t i = 0; i < n; i++) {
            if (!strcmp(text[i].keyword, "XML:com.adobe.xmp"))
                xmp = ag_xmp_orientation((const uint8_t *)text[i].text, text[i].length);
            else if (!strcmp(text[i].keyword, "Raw profile type exif"))
                raw = profile_orientation(text[i].text, text[i].length);
        }
    }
    free(text);
    return found ? found : raw ? raw : xmp;
}

/* @return 0 or a told error. */
static int decode(Png *p, AgPic *out, int *orientation)
{
    const AgPicFile *f = p->f;
    size_t size = f->size;
    int code, err;

    if (f->o->lenient && (err = mend(f, &p->mended, &size)) < 0)
        return err;
    if ((code = spng_set_chunk_limits(p->ctx, MAX_CHUNK, MAX_CHUNK)) ||
        (p->mended && (code = spng_set_crc_action(p->ctx, SPNG_CRC_USE, SPNG_CRC_USE))) ||
        (code = spng_set_png_buffer(p->ctx, p->mended ? p->mended : f->data, size)) ||
        (code = spng_get_ihdr(p->ctx, &p->h)))
        return fail(p, code);
    if ((err = ag_pic_alloc(out, p->h.width, p->h.height, f)) < 0)
        return err;
    if ((code = spng_decoded_image_size(p->ctx, SPNG_FMT_RAW, &p->raw_size)))
        return fail(p, code);
    if (!(p->raw = calloc(1, p->raw_size)))
        return no_memory(f);
    code = spng_decode_image(p->ctx, p->raw, p->raw_size, SPNG_FMT_RAW, 0);
    if (code && (!is_truncation(code) || !f->o->lenient))
        return fail(p, code);
    if (code)
        ag_pic_warn(f, "truncated PNG: what is missing of the picture is black");
    else
        spng_decode_chunks(p->ctx); /* what follows the pixels is a plus: no error if it is cut */
    if (p->h.color_type == SPNG_COLOR_TYPE_INDEXED && (code = spng_get_plte(p->ctx, &p->palette)))
        return fail(p, code);
    p->has_trns = !spng_get_trns(p->ctx, &p->trns);
    to_rgb(p, out);
    *orientation = find_orientation(p);
    return 0;
}

int ag_pic_png(AgPic *out, int *orientation, const AgPicFile *f)
{
    Png p = {.f = f, .ctx = spng_ctx_new(0)};
    int err = p.ctx ? decode(&p, out, orientation) : no_memory(f);

    spng_ctx_free(p.ctx);
    free(p.mended);
    free(p.raw);
    return err;
}
