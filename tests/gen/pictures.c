/*
 * Picture files for the tests, by name.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tests/gen/pictures.h"

#include <stdlib.h>
#include <string.h>

#include "config.h"

#define BLOCK(s) s, sizeof(s) - 1

/* An EXIF block with one tag. II: little-endian. */
#define EXIF_II(value) "Exif\0\0II*\0\10\0\0\0\1\0\x12\1\3\0\1\0\0\0" value "\0\0\0\0\0\0\0"
#define EXIF_MM(value) "Exif\0\0MM\0*\0\0\0\10\0\1\1\x12\0\3\0\0\0\1\0" value "\0\0\0\0\0\0"
#define XMP "http://ns.adobe.com/xap/1.0/\0" \
    "<x:xmpmeta><rdf:Description tiff:Orientation=\"6\"/></x:xmpmeta>"
/* 65535 tags promised, one there, then nothing */
#define EXIF_MANY "Exif\0\0MM\0*\0\0\0\10\377\377\1\0\0\3\0\0\0\1\0\6\0\0"
#define EXIF_PNG "eXIfII*\0\10\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0\0\0\0\0"
#define XMP_PNG "iTXtXML:com.adobe.xmp\0\0\0\0\0<tiff:Orientation>3</tiff:Orientation>"
/* As ImageMagick keeps it: the block of EXIF_II("\5") in hexadecimal. */
#define RAW_PROFILE "tEXtRaw profile type exif\0\nexif\n      32\n" \
    "45786966000049492a00080000000100120103000100\n00000500000000000000\n"

typedef struct Jpeg {
    const char *name;
    AgGenJpeg s;
} Jpeg;

#define HALVES .width = 96, .height = 64, .components = 3, .transform = 1, .h = 1, .v = 1
#define SCENE(n) .width = 97, .height = 61, .components = 3, .transform = 1, .scene = n
#define SMALL(n, size) .width = size, .height = size, .components = 3, .scene = n
#define CMYK(n) .width = 50, .height = 40, .components = 4, .scene = n

static const Jpeg jpegs[] = {
    {"halves.jpg", {HALVES}},
    {"turn-1.jpg", {HALVES, .app1 = EXIF_II("\1"), .app1_size = 34}},
    {"turn-2.jpg", {HALVES, .app1 = EXIF_II("\2"), .app1_size = 34}},
    {"turn-3.jpg", {HALVES, .app1 = EXIF_II("\3"), .app1_size = 34}},
    {"turn-4.jpg", {HALVES, .app1 = EXIF_II("\4"), .app1_size = 34}},
    {"turn-5.jpg", {HALVES, .app1 = EXIF_II("\5"), .app1_size = 34}},
    {"turn-6.jpg", {HALVES, .app1 = EXIF_II("\6"), .app1_size = 34}},
    {"turn-7.jpg", {HALVES, .app1 = EXIF_II("\7"), .app1_size = 34}},
    {"turn-8.jpg", {HALVES, .app1 = EXIF_II("\x08"), .app1_size = 34}},
    {"turn-mm-2.jpg", {HALVES, .app1 = EXIF_MM("\2"), .app1_size = 34}},
    {"turn-mm-3.jpg", {HALVES, .app1 = EXIF_MM("\3"), .app1_size = 34}},
    {"turn-mm-4.jpg", {HALVES, .app1 = EXIF_MM("\4"), .app1_size = 34}},
    {"turn-mm-5.jpg", {HALVES, .app1 = EXIF_MM("\5"), .app1_size = 34}},
    {"turn-mm-6.jpg", {HALVES, .app1 = EXIF_MM("\6"), .app1_size = 34}},
    {"turn-mm-7.jpg", {HALVES, .app1 = EXIF_MM("\7"), .app1_size = 34}},
    {"turn-mm-8.jpg", {HALVES, .app1 = EXIF_MM("\x08"), .app1_size = 34}},
    {"turn-0.jpg", {HALVES, .app1 = EXIF_II("\0"), .app1_size = 34}},
    {"turn-9.jpg", {HALVES, .app1 = EXIF_MM("\x09"), .app1_size = 34}},
    {"turn-xmp.jpg", {HALVES, .app1 = BLOCK(XMP)}},
    {"exif-cut.jpg", {HALVES, .app1 = EXIF_II("\6"), .app1_size = 24}},
    {"exif-no-ifd.jpg", {HALVES, .app1 = BLOCK("Exif\0\0II*\0\377\377\377\177")}},
    {"exif-not-tiff.jpg", {HALVES, .app1 = BLOCK("Exif\0\0nothing of the kind")}},
    {"exif-many.jpg", {HALVES, .app1 = BLOCK(EXIF_MANY)}},
    {"444.jpg", {SCENE(60), .h = 1, .v = 1}},
    {"422.jpg", {SCENE(61), .h = 2, .v = 1}},
    {"420.jpg", {SCENE(62), .h = 2, .v = 2}},
    {"440.jpg", {SCENE(63), .h = 1, .v = 2}},
    {"411.jpg", {SCENE(64), .h = 4, .v = 1}},
    {"progressive.jpg", {SCENE(65), .h = 2, .v = 2, .progressive = 1}},
    {"arithmetic.jpg", {SCENE(66), .h = 2, .v = 1, .arithmetic = 1}},
    {"restart.jpg", {SCENE(67), .h = 2, .v = 2, .restart = 1}},
    {"grey.jpg", {.width = 64, .height = 64, .components = 1, .h = 1, .v = 1, .scene = 68}},
    {"rgb.jpg", {.width = 50, .height = 40, .components = 3, .h = 1, .v = 1, .scene = 69}},
    {"cmyk.jpg", {CMYK(70), .h = 1, .v = 1}},
    {"ycck.jpg", {CMYK(71), .transform = 1, .h = 2, .v = 2}},
    {"1x1.jpg", {SMALL(72, 1), .transform = 1, .h = 2, .v = 2}},
    {"500-scans.jpg", {SMALL(73, 8), .h = 1, .v = 1, .progressive = 500}},
    {"501-scans.jpg", {SMALL(73, 8), .h = 1, .v = 1, .progressive = 501}},
};

typedef struct Png {
    const char *name;
    AgGenPng s;
} Png;

#define PNG(n, t, d) .width = 37, .height = 23, .type = t, .depth = d, .scene = n

static const Png pngs[] = {
    {"g1.png", {PNG(80, 0, 1)}},
    {"g2.png", {PNG(81, 0, 2)}},
    {"g4.png", {PNG(82, 0, 4)}},
    {"g8.png", {PNG(83, 0, 8)}},
    {"g16.png", {PNG(84, 0, 16)}},
    {"rgb8.png", {PNG(85, 2, 8)}},
    {"rgb16.png", {PNG(86, 2, 16)}},
    {"p1.png", {PNG(87, 3, 1)}},
    {"p2.png", {PNG(88, 3, 2)}},
    {"p4.png", {PNG(89, 3, 4)}},
    {"p8.png", {PNG(90, 3, 8)}},
    {"ga8.png", {PNG(91, 4, 8)}},
    {"ga16.png", {PNG(92, 4, 16)}},
    {"rgba8.png", {PNG(93, 6, 8)}},
    {"rgba16.png", {PNG(94, 6, 16)}},
    {"g1-adam7.png", {PNG(80, 0, 1), .interlace = 1}},
    {"g16-adam7.png", {PNG(84, 0, 16), .interlace = 1}},
    {"rgb8-adam7.png", {PNG(85, 2, 8), .interlace = 1}},
    {"p4-adam7.png", {PNG(89, 3, 4), .interlace = 1}},
    {"rgba16-adam7.png", {PNG(94, 6, 16), .interlace = 1}},
    {"1x1-adam7.png", {.width = 1, .height = 1, .type = 2, .depth = 8, .interlace = 1}},
    {"g4-trns.png", {PNG(82, 0, 4), .trns = 1}},
    {"g8-trns.png", {PNG(83, 0, 8), .trns = 1}},
    {"rgb8-trns.png", {PNG(85, 2, 8), .trns = 1}},
    {"p8-trns.png", {PNG(90, 3, 8), .trns = 1}},
    {"p1-trns.png", {PNG(87, 3, 1), .trns = 1}},
    {"turn-6.png", {PNG(85, 2, 8), .extra = EXIF_PNG, .extra_size = 30}},
    {"turn-xmp.png", {PNG(85, 2, 8), .extra = BLOCK(XMP_PNG)}},
    {"turn-raw.png", {PNG(85, 2, 8), .extra = BLOCK(RAW_PROFILE)}},
    {"p4-short.png", {PNG(89, 3, 4), .n_palette = 9}},
};

/* Damaged ones and strangers: an edit of another picture. */
static unsigned char *sof_of(AgBuf *b)
{
    unsigned char *p = (unsigned char *)b->data;
    size_t i = 2;

    while (i + 9 < b->size && !(p[i + 1] >= 0xC0 && p[i + 1] <= 0xCF && p[i + 1] != 0xC4))
        i += 2 + ((size_t)p[i + 2] << 8 | p[i + 3]);
    return p + i;
}

static void cut_to(AgBuf *b, size_t size)
{
    b->size = size;
}

static void cut_60(AgBuf *b) { cut_to(b, b->size * 6 / 10); }
static void cut_2(AgBuf *b) { cut_to(b, b->size - 2); }
static void cut_12(AgBuf *b) { cut_to(b, b->size - 12); }
static void cut_header(AgBuf *b) { cut_to(b, 20); }
static void empty(AgBuf *b) { cut_to(b, 0); }
static void height_0(AgBuf *b) { memset(sof_of(b) + 5, 0, 2); }
static void bits_12(AgBuf *b) { sof_of(b)[4] = 12; }
static void lossless(AgBuf *b) { sof_of(b)[1] = 0xC3; }
static void huge(AgBuf *b) { memcpy(sof_of(b) + 5, "\xFF\xDC\xFF\xDC", 4); }
static void scratch(AgBuf *b) { memset(b->data + b->size * 8 / 10, 0x55, 20); }
static void stuff(AgBuf *b) /* bytes between the tables, as some phones write them */
{
    AgBuf n = {0};

    ag_buf_add(&n, b->data, 20);
    ag_buf_add(&n, "\0\0\0\0\0", 5);
    ag_buf_add(&n, b->data + 20, b->size - 20);
    ag_buf_free(b);
    *b = n;
}
static void bmp(AgBuf *b) { memcpy(b->data, "BM\x9A\0\0\0\0\0\0\0", 10); }
static void text(AgBuf *b) { ag_buf_clear(b); ag_buf_str(b, "Hello, this is text.\n"); }
static void webp(AgBuf *b) { ag_buf_clear(b); ag_buf_add(b, "RIFF\x24\0\0\0WEBPVP8 ", 16); }
static void html(AgBuf *b) { ag_buf_clear(b); ag_buf_str(b, "<!DOCTYPE html>\n"); }
static void no_crc(AgBuf *b) { b->data[29] ^= 1; }
/* Width and height of IHDR and its checksum: 65500x65500, 8-bit grey. */
static void huge_png(AgBuf *b)
{
    memcpy(b->data + 16, "\0\0\xFF\xDC\0\0\xFF\xDC\x08\0\0\0\0\xB6\x3C\x49\xC7", 17);
}

static const struct {
    const char *name, *of;
    void (*edit)(AgBuf *b);
} edits[] = {
    {"cut-60.jpg", "420.jpg", cut_60},
    {"cut-60-progressive.jpg", "progressive.jpg", cut_60},
    {"no-eoi.jpg", "420.jpg", cut_2},
    {"cut-header.jpg", "420.jpg", cut_header},
    {"height-0.jpg", "420.jpg", height_0},
    {"12-bit.jpg", "420.jpg", bits_12},
    {"lossless.jpg", "420.jpg", lossless},
    {"huge.jpg", "420.jpg", huge},
    {"scratched.jpg", "444.jpg", scratch},
    {"stuffed.jpg", "444.jpg", stuff},
    {"bmp.jpg", "420.jpg", bmp},
    {"empty.jpg", "g1.png", empty},
    {"text.jpg", "g1.png", text},
    {"webp.jpg", "g1.png", webp},
    {"html.png", "g1.png", html},
    {"cut-60.png", "rgb8.png", cut_60},
    {"cut-60-adam7.png", "rgb8-adam7.png", cut_60},
    {"cut-header.png", "rgb8.png", cut_header},
    {"no-iend.png", "rgb8.png", cut_12},
    {"bad-crc.png", "rgb8.png", no_crc},
    {"huge.png", "g8.png", huge_png},
};

enum {
    N_JPEG = AG_COUNT(jpegs),
    N_PNG = AG_COUNT(pngs),
    N_EDIT = AG_COUNT(edits),
};

const char *ag_gen_picture_name(size_t i)
{
#if CONFIG_JPEG
    if (i < N_JPEG)
        return jpegs[i].name;
    i -= N_JPEG;
#endif
    if (i < N_PNG)
        return pngs[i].name;
    i -= N_PNG;
    while (i < N_EDIT && !CONFIG_JPEG && strstr(edits[i].of, ".jpg"))
        i++;
    return i < N_EDIT ? edits[i].name : NULL;
}

int ag_gen_picture(AgBuf *out, const char *name)
{
    for (size_t i = 0; i < N_EDIT; i++) {
        AgBuf b = {0};

        if (strcmp(edits[i].name, name))
            continue;
        if (ag_gen_picture(&b, edits[i].of) < 0)
            return -1;
        edits[i].edit(&b);
        ag_buf_add(out, b.data, b.size);
        ag_buf_free(&b);
        return 0;
    }
    for (size_t i = 0; i < N_PNG; i++) {
        if (!strcmp(pngs[i].name, name)) {
            ag_gen_png(out, &pngs[i].s);
            return 0;
        }
    }
#if CONFIG_JPEG
    for (size_t i = 0; i < N_JPEG; i++) {
        if (!strcmp(jpegs[i].name, name)) {
            ag_gen_jpeg(out, &jpegs[i].s);
            return 0;
        }
    }
#endif
    return -1;
}
