/*
 * PNG files by hand: any colour type and depth, interlaced or not, without
 * compression.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <string.h>

#include "tools/formula.h"
#include "tests/gen/pictures.h"

static void be32(AgBuf *b, uint32_t v)
{
    for (int i = 24; i >= 0; i -= 8)
        ag_buf_char(b, (char)(v >> i));
}

static uint32_t crc32_of(const void *data, size_t n)
{
    const unsigned char *p = data;
    uint32_t c = ~0u;

    for (; n > 0; n--) {
        c ^= *p++;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? c >> 1 ^ 0xEDB88320u : c >> 1;
    }
    return ~c;
}

static void chunk(AgBuf *out, const char *type_and_data, size_t n)
{
    be32(out, (uint32_t)n - 4);
    ag_buf_add(out, type_and_data, n);
    be32(out, crc32_of(type_and_data, n));
}

/* zlib stream of stored blocks. */
static void stored(AgBuf *out, const AgBuf *data)
{
    uint32_t a = 1, b = 0;

    ag_buf_add(out, "\x78\x01", 2);
    for (size_t at = 0, n; at < data->size; at += n) {
        n = data->size - at < 65535 ? data->size - at : 65535;
        ag_buf_char(out, at + n == data->size);
        ag_buf_char(out, (char)n);
        ag_buf_char(out, (char)(n >> 8));
        ag_buf_char(out, (char)~n);
        ag_buf_char(out, (char)(~n >> 8));
        ag_buf_add(out, data->data + at, n);
    }
    for (size_t i = 0; i < data->size; i++) {
        a = (a + (unsigned char)data->data[i]) % 65521;
        b = (b + a) % 65521;
    }
    be32(out, b << 16 | a);
}

static int channels(int type)
{
    return type == 2 ? 3 : type == 4 ? 2 : type == 6 ? 4 : 1;
}

/* Sample c of a pixel: its byte of the formula, cut or doubled to the depth.
 * Doubled ones differ in the lower byte, so that reading it would show. */
static unsigned sample_of(const AgGenPng *s, const uint8_t *rgb, const uint8_t *alpha, int c)
{
    unsigned v = (s->type == 4 && c == 1) || c == 3 ? *alpha : rgb[c];

    if (s->depth == 16)
        return v << 8 | (v ^ 0x5A);
    return v >> (8 - s->depth);
}

/* The pixels x0, x0 + dx ... of the rows y0, y0 + dy ..., each row after filter 0. */
static void rows(AgBuf *out, const AgGenPng *s, const uint8_t *rgb, const uint8_t *alpha, int x0,
                 int dx, int y0, int dy)
{
    for (int y = y0; y < s->height && x0 < s->width; y += dy) {
        unsigned bits = 0;
        int n_bit = 0;

        ag_buf_char(out, 0);
        for (int x = x0; x < s->width; x += dx) {
            size_t at = (size_t)y * (size_t)s->width + (size_t)x;
            for (int c = 0; c < channels(s->type); c++) {
                bits = bits << s->depth | sample_of(s, rgb + at * 3, alpha + at * 3, c);
                for (n_bit += s->depth; n_bit >= 8; n_bit -= 8)
                    ag_buf_char(out, (char)(bits >> (n_bit - 8)));
            }
        }
        if (n_bit)
            ag_buf_char(out, (char)(bits << (8 - n_bit)));
    }
}

static void palette(AgBuf *out, const AgGenPng *s)
{
    char plte[4 + 768] = "PLTE", trns[4 + 256] = "tRNS";
    int n = s->n_palette ? s->n_palette : 1 << s->depth;

    for (int i = 0; i < n; i++) {
        plte[4 + i * 3] = (char)(i * 37 + 11);
        plte[5 + i * 3] = (char)(i * 91 + 5);
        plte[6 + i * 3] = (char)(255 - i * 53);
        trns[4 + i] = (char)(i * 29);
    }
    chunk(out, plte, 4 + (size_t)n * 3);
    if (s->trns)
        chunk(out, trns, 4 + (size_t)n / 2 + 1);
}

void ag_gen_png(AgBuf *out, const AgGenPng *s)
{
    static const int adam7[7][4] = {{0, 8, 0, 8}, {4, 8, 0, 8}, {0, 4, 4, 8}, {2, 4, 0, 4},
                                    {0, 2, 2, 4}, {1, 2, 0, 2}, {0, 1, 1, 2}};
    AgBuf b = {0}, data = {0}, rgb = {0}, alpha = {0};
    size_t n = (size_t)s->width * (size_t)s->height * 3;

    for (size_t i = 0; i < n; i++) { /* room */
        ag_buf_char(&rgb, 0);
        ag_buf_char(&alpha, 0);
    }
    ag_formula_image((uint8_t *)rgb.data, s->width, s->height, s->scene, 0);
    ag_formula_image((uint8_t *)alpha.data, s->width, s->height, s->scene + 1, 0);

    ag_buf_add(out, "\x89PNG\r\n\x1A\n", 8);
    ag_buf_str(&b, "IHDR");
    be32(&b, (uint32_t)s->width);
    be32(&b, (uint32_t)s->height);
    ag_buf_char(&b, (char)s->depth);
    ag_buf_char(&b, (char)s->type);
    ag_buf_add(&b, "\0\0", 2);
    ag_buf_char(&b, (char)s->interlace);
    chunk(out, b.data, b.size);
    if (s->type == 3)
        palette(out, s);
    else if (s->trns)
        chunk(out, s->type == 0 ? "tRNS\0\x30" : "tRNS\0\x30\0\x40\0\x50", s->type == 0 ? 6 : 10);
    if (s->extra)
        chunk(out, s->extra, s->extra_size);

    for (int i = 0; i < 7; i++) {
        if (s->interlace)
            rows(&data, s, (uint8_t *)rgb.data, (uint8_t *)alpha.data, adam7[i][0], adam7[i][1],
                 adam7[i][2], adam7[i][3]);
        else if (!i)
            rows(&data, s, (uint8_t *)rgb.data, (uint8_t *)alpha.data, 0, 1, 0, 1);
    }
    ag_buf_clear(&b);
    ag_buf_str(&b, "IDAT");
    stored(&b, &data);
    chunk(out, b.data, b.size);
    chunk(out, "IEND", 4);
    ag_buf_free(&b);
    ag_buf_free(&data);
    ag_buf_free(&rgb);
    ag_buf_free(&alpha);
}
