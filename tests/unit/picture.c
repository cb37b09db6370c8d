/*
 * Unit tests of tools/picture*.c on the files of tests/gen/pictures.c, against
 * Pillow's pixels (tests/refs/pictures.txt, made by tests/gen/pictures.py).
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "libargus/base/sha256.h"
#include "tools/formula.h"
#include "tests/gen/pictures.h"
#include "tools/picture.h"
#include "tools/picture_priv.h"

static AgPicOptions plain;

static int decode(AgPic *p, const char *name, const AgPicOptions *o)
{
    AgBuf b = {0};
    int err;

    ag_messages_clear();
    *p = (AgPic){0};
    CU_ASSERT_EQUAL_FATAL(ag_gen_picture(&b, name), 0);
    CU_ASSERT_FATAL(ag_buf_ok(&b));
    err = ag_pic_decode(p, name, (const uint8_t *)b.data, b.size, o, ag_test_log());
    ag_buf_free(&b);
    return err;
}

static void hash(const void *data, size_t n, char hex[65])
{
    AgSha256 s;

    ag_sha256_init(&s);
    ag_sha256_add(&s, data, n);
    ag_sha256_hex(&s, hex);
}

/* One line of the reference. @return 1 same, 0 not, -1 the file has other bytes. */
static int compare(const char *name, const char *file_hash, const char *size, const char *pixels)
{
    char hex[65], wh[32] = "error";
    AgBuf b = {0};
    AgPic p = {0};
    int err, same;

    if (ag_gen_picture(&b, name) < 0)
        return -1;
    hash(b.data, b.size, hex);
    same = strcmp(hex, file_hash) ? -1 : 1;
    err = ag_pic_decode(&p, name, (const uint8_t *)b.data, b.size, &plain, ag_test_log());
    ag_buf_free(&b);
    if (err >= 0) {
        hash(p.rgb, (size_t)p.width * (size_t)p.height * 3, hex);
        snprintf(wh, sizeof(wh), "%dx%d", p.width, p.height);
    }
    if (same > 0)
        same = !strcmp(wh, size) && (err < 0 || !strcmp(hex, pixels));
    if (!same)
        printf("\n    %s: expected %s %s, found %s %s", name, size, pixels, wh, err < 0 ? "" : hex);
    ag_pic_free(&p);
    return same;
}

/* I1 I2 I4 I8: every picture, with what Pillow takes and refuses. */
static void as_pillow(void)
{
    char line[512], name[64], file_hash[65], size[32], pixels[65];
    FILE *f = fopen(ag_source_path("tests/refs/pictures.txt"), "r");
    int n = 0, n_other = 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    while (fgets(line, sizeof(line), f)) {
        pixels[0] = 0;
        int n_word = sscanf(line, "%63s %64s %31s %64s", name, file_hash, size, pixels);
        if (line[0] == '#' || n_word < 3)
            continue;
        if ((!CONFIG_JPEG && strstr(name, ".jpg")) || (!CONFIG_PNG && strstr(name, ".png")))
            continue;
        if (!strcmp(name, "501-scans.jpg")) /* Pillow has no limit */
            continue;
        ag_messages_clear();
        int same = compare(name, file_hash, size, pixels);
        CU_ASSERT(same != 0);
        n_other += same < 0;
        n++;
    }
    fclose(f);
    CU_ASSERT(n > 30);
    if (n_other)
        ag_skip("pictures", "this libjpeg writes other bytes than the reference's");
}

typedef struct Failure {
    const char *name;
    int code;
    const char *text;
} Failure;

static void fails(const Failure *t, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        AgPic p;

        CU_ASSERT_EQUAL(decode(&p, t[i].name, &plain), t[i].code);
        CU_ASSERT_PTR_NULL(p.rgb);
        CU_ASSERT(ag_message_has(t[i].text));
        CU_ASSERT(ag_message_has(t[i].name));
    }
}

/* I4 I5 I7 X1: one line that says what, and the next good picture decodes. */
static void jpeg_failures(void)
{
    static const Failure t[] = {
        {"cut-60.jpg", ARGUS_ERR_FORMAT, "truncated"},
        {"cut-60-progressive.jpg", ARGUS_ERR_FORMAT, "truncated"},
        {"cut-header.jpg", ARGUS_ERR_FORMAT, "truncated"},
        {"no-eoi.jpg", ARGUS_ERR_FORMAT, "truncated"},
        {"height-0.jpg", ARGUS_ERR_FORMAT, "damaged JPEG"},
        {"12-bit.jpg", ARGUS_ERR_UNSUPPORTED, "unsupported"},
        {"lossless.jpg", ARGUS_ERR_UNSUPPORTED, "unsupported"},
        {"huge.jpg", ARGUS_ERR_FORMAT, "at most 178956970 pixels, found 65500x65500"},
        {"501-scans.jpg", ARGUS_ERR_FORMAT, "at most 500 scans"},
        {"bmp.jpg", ARGUS_ERR_UNSUPPORTED, "found BMP data"},
    };
    AgPic p;

    if (!CONFIG_JPEG) {
        ag_skip("JPEG failures", "built without JPEG");
        return;
    }
    fails(t, AG_COUNT(t));
    CU_ASSERT_EQUAL(decode(&p, "420.jpg", &plain), 0);
    CU_ASSERT_STRING_EQUAL(ag_messages(), "");
    ag_pic_free(&p);
    CU_ASSERT_EQUAL(decode(&p, "scratched.jpg", &plain), 0); /* as Pillow: taken, but said */
    CU_ASSERT(ag_message_has("Corrupt JPEG data"));
    ag_pic_free(&p);
}

static void png_failures(void)
{
    static const Failure t[] = {
        {"cut-60.png", ARGUS_ERR_FORMAT, "truncated PNG"},
        {"cut-60-adam7.png", ARGUS_ERR_FORMAT, "truncated PNG"},
        {"cut-header.png", ARGUS_ERR_FORMAT, "truncated PNG"},
        {"bad-crc.png", ARGUS_ERR_FORMAT, "damaged PNG"},
        {"huge.png", ARGUS_ERR_FORMAT, "at most 178956970 pixels, found 65500x65500"},
    };

    if (CONFIG_PNG)
        fails(t, AG_COUNT(t));
    else
        ag_skip("PNG failures", "built without PNG");
}

static void strangers(void)
{
    static const Failure t[] = {
        {"empty.jpg", ARGUS_ERR_FORMAT, "found an empty file"},
        {"text.jpg", ARGUS_ERR_UNSUPPORTED, "found something unknown"},
        {"webp.jpg", ARGUS_ERR_UNSUPPORTED, "found WebP data"},
        {"html.png", ARGUS_ERR_UNSUPPORTED, "found HTML data"},
    };
    fails(t, AG_COUNT(t));
}

static int is_stopped;
static int stopped(void)
{
    return is_stopped;
}

/* The end of a pipe after a signal says nothing about the picture. */
static void interrupted(void)
{
    AgPicOptions o = {.stopped = stopped};
    AgPic p = {0};

    for (is_stopped = 0; is_stopped < 2; is_stopped++) {
        ag_messages_clear();
        CU_ASSERT_EQUAL(ag_pic_load(&p, "/dev/null", &o, ag_test_log()),
                        is_stopped ? ARGUS_ERR(EINTR) : ARGUS_ERR_FORMAT);
        CU_ASSERT_EQUAL(ag_message_has("found an empty file"), !is_stopped);
        CU_ASSERT_EQUAL(!*ag_messages(), is_stopped);
    }
}

#if !CONFIG_JPEG || !CONFIG_PNG
static void built_without(void)
{
    static const char png[] = "\x89PNG\r\n\x1A\n", jpeg[] = "\xFF\xD8\xFF\xE0\0\0\0\0";
    const uint8_t *head = (const uint8_t *)(CONFIG_JPEG ? png : jpeg);
    AgPic p = {0};

    ag_messages_clear();
    CU_ASSERT_EQUAL(ag_pic_decode(&p, "x", head, 8, &plain, ag_test_log()), ARGUS_ERR_UNSUPPORTED);
    CU_ASSERT(ag_message_has("built without"));
}
#endif

/* A cut file gives what is there, with one warning. */
static void lenient(void)
{
    static const char *const names[] = {"cut-60.jpg", "cut-60.png", "no-eoi.jpg",
                                        "cut-60-adam7.png"};
    static const char *const whole[] = {"420.jpg", "rgb8.png", "420.jpg", "rgb8.png"};
    AgPicOptions o = {.lenient = 1};

    for (size_t i = 0; i < AG_COUNT(names); i++) {
        AgPic p, q;

        if ((!CONFIG_JPEG && strstr(names[i], ".jpg")) || (!CONFIG_PNG && strstr(names[i], ".png")))
            continue;
        CU_ASSERT_EQUAL(decode(&p, names[i], &o), 0);
        CU_ASSERT(ag_message_has("truncated"));
        CU_ASSERT_EQUAL(decode(&q, whole[i], &o), 0);
        CU_ASSERT_STRING_EQUAL(ag_messages(), "");
        size_t n = (size_t)q.width * (size_t)q.height * 3;
        CU_ASSERT(p.width == q.width && p.height == q.height);
        if (!strstr(names[i], "adam7")) /* the first rows are there */
            CU_ASSERT(!memcmp(p.rgb, q.rgb, n / 8));
        CU_ASSERT(!memcmp(p.rgb, q.rgb, n) == !strcmp(names[i], "no-eoi.jpg"));
        ag_pic_free(&p);
        ag_pic_free(&q);
    }
}

/* I1: red comes to the top. */
static void orientation_6(void)
{
    AgPic p;

    if (!CONFIG_JPEG) {
        ag_skip("orientation", "built without JPEG");
        return;
    }
    CU_ASSERT_EQUAL(decode(&p, "turn-6.jpg", &plain), 0);
    CU_ASSERT(p.width == 64 && p.height == 96);
    CU_ASSERT(p.rgb[0] > 250 && p.rgb[2] < 5);
    CU_ASSERT(p.rgb[(95 * 64 + 63) * 3] < 5 && p.rgb[(95 * 64 + 63) * 3 + 2] > 250);
    ag_pic_free(&p);
}

/* All eight, on a picture that is not a multiple of a block. */
static void orient(void)
{
    enum { W = 41, H = 35 };
    uint8_t in[W * H * 3];

    ag_formula_image(in, W, H, 3, 0);
    for (int o = 0; o <= 9; o++) {
        AgPic p = {malloc(sizeof(in)), W, H};
        int bad = 0, swap = o >= 5 && o <= 8;

        memcpy(p.rgb, in, sizeof(in));
        CU_ASSERT_EQUAL(ag_pic_orient(&p, o), 0);
        CU_ASSERT(p.width == (swap ? H : W) && p.height == (swap ? W : H));
        for (int y = 0; y < p.height; y++) {
            for (int x = 0; x < p.width; x++) {
                int sx = swap ? y : x, sy = swap ? x : y; /* the tag's rows and columns */
                if (o == 2 || o == 3 || o == 7 || o == 8)
                    sx = W - 1 - sx;
                if (o == 3 || o == 4 || o == 6 || o == 7)
                    sy = H - 1 - sy;
                bad |= memcmp(p.rgb + (y * p.width + x) * 3, in + (sy * W + sx) * 3, 3);
            }
        }
        CU_ASSERT_EQUAL(bad, 0);
        ag_pic_free(&p);
    }
}

/* Every prefix of an EXIF block, in a buffer of just that size (under ASan). */
static void exif_prefixes(void)
{
    static const char exif[] = "Exif\0\0MM\0*\0\0\0\10\0\1\1\x12\0\3\0\0\0\1\0\6\0\0\0\0\0";
    static const char xmp[] = "<a tiff:Orientation=\"8\"/>";

    for (size_t n = 0; n < sizeof(exif); n++) {
        uint8_t *p = malloc(n + 1);
        memcpy(p, exif, n);
        p = realloc(p, n ? n : 1);
        CU_ASSERT_EQUAL(ag_exif_orientation(p, n), n < 28 ? 0 : 6);
        free(p);
    }
    for (size_t n = 0; n < sizeof(xmp); n++) {
        uint8_t *p = malloc(n + 1);
        memcpy(p, xmp, n);
        p = realloc(p, n ? n : 1);
        CU_ASSERT_EQUAL(ag_xmp_orientation(p, n), n < 22 ? 0 : 8);
        free(p);
    }
    static const char nine[] = "<tiff:Orientation>9</";
    static const char second[] = "tiff:Orientation tiff:Orientation>5";
    CU_ASSERT_EQUAL(ag_xmp_orientation((const uint8_t *)nine, sizeof(nine) - 1), 1);
    CU_ASSERT_EQUAL(ag_xmp_orientation((const uint8_t *)second, sizeof(second) - 1), 5);
}

/* P10: dropped, over white, over black. */
static void alpha(void)
{
    enum { W = 37, H = 23 };
    AgPicOptions white = {.alpha = AG_PIC_ALPHA_WHITE}, black = {.alpha = AG_PIC_ALPHA_BLACK};
    AgPic d, w, b, twin;
    uint8_t a[W * H * 3];
    AgBuf png = {0};
    int bad = 0;

    if (!CONFIG_PNG) {
        ag_skip("alpha", "built without PNG");
        return;
    }
    ag_formula_image(a, W, H, 94, 0); /* the next scene's red is the alpha of rgba8.png */
    CU_ASSERT_EQUAL(decode(&d, "rgba8.png", &plain), 0);
    CU_ASSERT_EQUAL(decode(&w, "rgba8.png", &white), 0);
    CU_ASSERT_EQUAL(decode(&b, "rgba8.png", &black), 0);
    for (int i = 0; i < W * H * 3; i++) {
        int v = d.rgb[i], o = a[i / 3 * 3];
        bad |= w.rgb[i] != (v * o + 255 * (255 - o) + 127) / 255 || b.rgb[i] != (v * o + 127) / 255;
    }
    CU_ASSERT_EQUAL(bad, 0);
    ag_pic_free(&w);
    ag_pic_free(&b);

    /* opaque: whatever the option, the RGB twin */
    ag_gen_png(&png, &(AgGenPng){.width = W, .height = H, .type = 2, .depth = 8, .scene = 93});
    CU_ASSERT_EQUAL(ag_pic_decode(&twin, "twin", (uint8_t *)png.data, png.size, &white,
                                  ag_test_log()), 0);
    CU_ASSERT(!memcmp(twin.rgb, d.rgb, W * H * 3));
    ag_pic_free(&twin);
    ag_pic_free(&d);
    ag_buf_free(&png);

    /* tRNS counts as alpha: entry 0 of the palette is clear, number 9 has 5 (9 * 29 & 255) */
    CU_ASSERT_EQUAL(decode(&w, "p8-trns.png", &white), 0);
    CU_ASSERT_EQUAL(decode(&d, "p8-trns.png", &plain), 0);
    bad = 0;
    ag_formula_image(a, W, H, 90, 0);
    for (int i = 0; i < W * H * 3; i++) {
        int n = a[i / 3 * 3], o = n <= 128 ? n * 29 & 255 : 255;
        bad |= w.rgb[i] != (d.rgb[i] * o + 255 * (255 - o) + 127) / 255;
    }
    CU_ASSERT_EQUAL(bad, 0);
    ag_pic_free(&w);
    ag_pic_free(&d);
}

/* From a file, a directory, nothing. */
static void files(void)
{
    char path[256];
    AgPic p = {0};
    AgBuf b = {0};
    FILE *f;

    snprintf(path, sizeof(path), "%s/p.png", ag_test_dir());
    CU_ASSERT_EQUAL(ag_gen_picture(&b, CONFIG_PNG ? "rgb8.png" : "444.jpg"), 0);
    f = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT_EQUAL(fwrite(b.data, 1, b.size, f), b.size);
    fclose(f);
    CU_ASSERT_EQUAL(ag_pic_load(&p, path, &plain, ag_test_log()), 0);
    CU_ASSERT_EQUAL(p.width, CONFIG_PNG ? 37 : 97);
    ag_pic_free(&p);
    ag_buf_free(&b);
    ag_messages_clear();
    CU_ASSERT_EQUAL(ag_pic_load(&p, ag_test_dir(), &plain, ag_test_log()), ARGUS_ERR(EISDIR));
    CU_ASSERT(ag_message_has("Is a directory"));
    CU_ASSERT_EQUAL(ag_pic_load(&p, "/no/such", &plain, ag_test_log()), ARGUS_ERR(ENOENT));
    CU_ASSERT(ag_message_has("/no/such: No such file"));
}

void ag_tests_picture(void)
{
    static const AgTest tests[] = {
        {"I1 I2 I4 I8 as Pillow", as_pillow},
        {"I4 I5 I7 X1 JPEG failures", jpeg_failures},
        {"PNG failures", png_failures},
        {"strangers", strangers},
        {"interrupted", interrupted},
#if !CONFIG_JPEG || !CONFIG_PNG
        {"built without", built_without},
#endif
        {"lenient", lenient},
        {"I1 orientation 6", orientation_6},
        {"orient", orient},
        {"EXIF and XMP prefixes", exif_prefixes},
        {"P10 alpha", alpha},
        {"files", files},
        {NULL, NULL},
    };
    ag_suite("picture", tests);
}
