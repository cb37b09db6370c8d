/*
 * Unit tests of closed captions: byte sequences worked out by hand from the
 * standard's tables, and a decoder that is written the other way round, from
 * codes to characters, and keeps the two screens of pop-on captions.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "libargus/base/common.h"

/* ------------------------------------------------------------------------ */
/* A decoder                                                                 */

typedef struct Screen {
    char cell[16][33][4]; /* UTF-8 by row 1..15 and column; "" = nothing there */
} Screen;

typedef struct Decoder {
    Screen shown, hidden;
    int row, col;
    int last[2], repeated; /* control code before, and whether it came twice */
    int bad;               /* what the standard does not allow here */
} Decoder;

/* Basic set, 0x20 to 0x7e, and the three others, 16, 32 and 32 characters. */
static const char *const basic =
    " !\"#$%&\xe2\x80\x99()á+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[é]íóúabcdefghijklmnopqrstuvwxyzç÷Ññ";
static const char *const special = "®°½¿™¢£♪à èâêîôû";
static const char *const extended[2] = {
    "ÁÉÓÚÜü´¡*‘-©℠·“”ÀÂÇÈÊËëÎÏïÔÙùÛ«»",
    "ÃãÍÌìÒòÕõ{}\\^_|~ÄäÖöß¥¤¦ÅåØø┌┐└┘",
};

/* Character number n of a string. */
static void nth(const char *s, int n, char out[4])
{
    int len = 1;

    for (; *s && n; n--)
        for (s++; (*s & 0xc0) == 0x80; s++)
            ;
    while ((s[len] & 0xc0) == 0x80)
        len++;
    memset(out, 0, 4);
    memcpy(out, s, (size_t)AG_MIN(len, 3));
}

static void put(Decoder *d, const char *set, int n)
{
    if (d->row < 1 || d->col > 31) {
        d->bad++;
        return;
    }
    nth(set, n, d->hidden.cell[d->row][d->col++]);
}

static void control(Decoder *d, int a, int b)
{
    if (a == 0x14 && b == 0x20)
        return;
    if (a == 0x14 && b == 0x2e) {
        memset(&d->hidden, 0, sizeof(d->hidden));
    } else if (a == 0x14 && b == 0x2c) {
        memset(&d->shown, 0, sizeof(d->shown));
    } else if (a == 0x14 && b == 0x2f) {
        Screen s = d->shown;
        d->shown = d->hidden;
        d->hidden = s;
    } else if ((a == 0x13 || a == 0x14) && (b == 0x50 || b == 0x70)) {
        d->row = 12 + 2 * (a == 0x14) + (b == 0x70);
        d->col = 0;
    } else if (a == 0x11 && b >= 0x30 && b <= 0x3f) {
        put(d, special, b - 0x30);
    } else if ((a == 0x12 || a == 0x13) && b >= 0x20 && b <= 0x3f) {
        d->col -= d->col > 0;
        put(d, extended[a - 0x12], b - 0x20);
    } else {
        d->bad++;
    }
}

static int odd(uint8_t b)
{
    int n = 0;

    for (; b; b = (uint8_t)(b & (b - 1)))
        n++;
    return n % 2;
}

static void decode(Decoder *d, const uint8_t p[2])
{
    int a = p[0] & 0x7f, b = p[1] & 0x7f;

    if (!odd(p[0]) || !odd(p[1]))
        d->bad++;
    if (!a && !b)
        return;
    if (a >= 0x10 && a < 0x20) {
        if (a == d->last[0] && b == d->last[1] && !d->repeated) {
            d->repeated = 1;
            return;
        }
        /* each code comes twice in a row */
        if (d->last[0] && !d->repeated)
            d->bad++;
        control(d, a, b);
        d->last[0] = a;
        d->last[1] = b;
        d->repeated = 0;
        return;
    }
    if (d->last[0] && !d->repeated)
        d->bad++;
    d->last[0] = d->last[1] = 0;
    if (a < 0x20 || a == 0x7f || b == 0x7f || (b && b < 0x20))
        d->bad++;
    else
        put(d, basic, a - 0x20);
    if (b >= 0x20)
        put(d, basic, b - 0x20);
}

/* Rows that have something, one a line. */
static const char *screen(const Screen *s)
{
    static char out[16 * 33 * 4];
    size_t n = 0;

    for (int r = 1; r < 16; r++) {
        size_t begin = n;
        for (int c = 0; c < 32 && s->cell[r][c][0]; c++)
            n += (size_t)snprintf(out + n, sizeof(out) - n, "%s", s->cell[r][c]);
        if (n > begin)
            out[n++] = '\n';
    }
    out[n] = 0;
    return out;
}

/* ------------------------------------------------------------------------ */
/* Tests                                                                     */

static ArgusCaptioner *captioner(void)
{
    ArgusCaptioner *t = NULL;

    CU_ASSERT_FATAL(argus_captioner_open(&t) == 0);
    return t;
}

static void check_bytes(ArgusCaptioner *t, const char *expected)
{
    char got[2048];
    uint8_t p[2];
    size_t n = 0;

    got[0] = 0;
    while (argus_captioner_next(t, p) && n < sizeof(got) - 8)
        n += (size_t)snprintf(got + n, sizeof(got) - n, "%s%02x%02x", n ? " " : "", p[0], p[1]);
    CU_ASSERT_STRING_EQUAL(got, expected);
    CU_ASSERT(p[0] == 0x80 && p[1] == 0x80);
    CU_ASSERT_EQUAL(argus_captioner_loading(t), 0);
}

/* The same bytes as in caption files (SCC), which hold them with parity. */
static void bytes(void)
{
    ArgusCaptioner *t = captioner();

    check_bytes(t, "");
    argus_captioner_text(t, "A");
    check_bytes(t, "9420 9420 94ae 94ae 9470 9470 c180 942f 942f");
    argus_captioner_text(t, "It's red.");
    check_bytes(t, "9420 9420 94ae 94ae 9470 9470 49f4 a773 20f2 e564 ae80 942f 942f");
    argus_captioner_clear(t);
    check_bytes(t, "942c 942c");
    argus_captioner_text(t, " \t\n");
    check_bytes(t, "942c 942c");
    /* a plain letter, then the one that takes its place; special ones alone */
    argus_captioner_text(t, "xÄ♪");
    check_bytes(t, "9420 9420 94ae 94ae 9470 9470 f8c1 13b0 13b0 9137 9137 942f 942f");
    /* equal special characters are kept apart */
    argus_captioner_text(t, "♪♪");
    check_bytes(t, "9420 9420 94ae 94ae 9470 9470 9137 9137 9420 9420 9137 9137 942f 942f");
    /* two rows: 14 and 15 */
    argus_captioner_text(t, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b");
    check_bytes(t, "9420 9420 94ae 94ae 94d0 94d0 6161 6161 6161 6161 6161 6161 6161 6161 6161 6161 6161 6161 "
                   "6161 6161 6161 6161 9470 9470 6280 942f 942f");
    argus_captioner_close(&t);
    CU_ASSERT_PTR_NULL(t);
    argus_captioner_close(&t);
}

/* What a viewer reads. */
static void check_text(const char *text, const char *expected)
{
    ArgusCaptioner *t = captioner();
    Decoder d;
    uint8_t p[2];
    int left;

    memset(&d, 0, sizeof(d));
    argus_captioner_text(t, text);
    left = argus_captioner_loading(t);
    while (argus_captioner_next(t, p)) {
        left -= left > 0;
        CU_ASSERT_EQUAL(argus_captioner_loading(t), left);
        decode(&d, p);
    }
    CU_ASSERT_EQUAL(left, 0);
    CU_ASSERT_EQUAL(d.bad, 0);
    CU_ASSERT_STRING_EQUAL(screen(&d.shown), expected);
    argus_captioner_clear(t);
    while (argus_captioner_next(t, p))
        decode(&d, p);
    CU_ASSERT_STRING_EQUAL(screen(&d.shown), "");
    argus_captioner_close(&t);
}

static void characters(void)
{
    check_text("Az 09 !\"#$%&()+,-./:;<=>?@[]", "Az 09 !\"#$%&()+,-./:;<=>?@[]\n");
    check_text("it's `so` \xe2\x80\x99", "it’s ’so’ ’\n");
    check_text("áéíóúç÷Ññ ®°½¿™¢£♪àèâêîôû", "áéíóúç÷Ññ ®°½¿™¢£♪àèâêîôû\n");
    check_text("ÁÉÓÚÜü¡*‘©℠·“”ÀÂÇÈÊËëÎÏïÔÙùÛ«»", "ÁÉÓÚÜü¡*‘©℠·“”ÀÂÇÈÊËëÎÏïÔÙùÛ«»\n");
    check_text("ÃãÍÌìÒòÕõ{}\\^_|~ÄäÖöß¥¤¦ÅåØø", "ÃãÍÌìÒòÕõ{}\\^_|~ÄäÖöß¥¤¦ÅåØø\n");
    check_text("Łódź, Ľudovít Štúr, Œuvre", "Lódz, Ludovít Stúr, OEuvre\n");
    check_text("a… – € ♫ ﬁ 日本 \xf0\x9f\x90\xb1", "a... - EUR ♪ ? ?? ?\n");
    check_text("cafe\xcc\x81 a\xc2\xa0" "b \xff", "cafe a b ?\n");
    check_text("", "");
    check_text("\xe2\x80\x8b", "");
}

static void rows(void)
{
    char text[4096] = "";

    check_text("  one\n two  ", "one two\n");
    check_text("A test pattern with a moving counter.", "A test pattern with a moving\ncounter.\n");
    check_text("12345678901234567890123456789012 4", "12345678901234567890123456789012\n4\n");
    check_text("1234567890123456789012345678901234", "12345678901234567890123456789012\n34\n");
    /* the fifth row is left out, and so is a word that would be cut */
    check_text("A red ball rolls along the floor from left to right, a man in a blue shirt walks behind "
               "it, and two dogs watch them both from the sofa at the window.",
               "A red ball rolls along the floor\nfrom left to right, a man in a\n"
               "blue shirt walks behind it, and\ntwo dogs watch them both from\n");
    /* the most pairs there can be: four rows of characters of the longest form */
    for (int i = 0; i < 200; i++)
        strcat(text, "Ä");
    check_text(text, "ÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄ\nÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄ\n"
                     "ÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄ\nÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄÄ\n");
    text[0] = 0;
    for (int i = 0; i < 200; i++)
        strcat(text, "♪");
    check_text(text, "♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪\n♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪\n"
                     "♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪\n♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪♪\n");
}

/* A text that comes too early takes the place of the one before, which is
 * never shown; what is on the screen stays until the new one is loaded. */
static void dropped(void)
{
    ArgusCaptioner *t = captioner();
    Decoder d;
    uint8_t p[2];

    memset(&d, 0, sizeof(d));
    argus_captioner_text(t, "first");
    while (argus_captioner_next(t, p))
        decode(&d, p);
    argus_captioner_text(t, "second");
    for (int i = 0; i < 8; i++) {
        argus_captioner_next(t, p);
        decode(&d, p);
    }
    CU_ASSERT_EQUAL(argus_captioner_loading(t), 3);
    argus_captioner_text(t, "third");
    while (argus_captioner_loading(t) > 2) {
        argus_captioner_next(t, p);
        decode(&d, p);
        CU_ASSERT_STRING_EQUAL(screen(&d.shown), "first\n");
    }
    while (argus_captioner_next(t, p))
        decode(&d, p);
    CU_ASSERT_STRING_EQUAL(screen(&d.shown), "third\n");
    CU_ASSERT_EQUAL(d.bad, 0);
    argus_captioner_close(&t);
}

void ag_tests_cea608(void)
{
    static const AgTest tests[] = {
        {"bytes", bytes}, {"characters", characters}, {"rows", rows}, {"dropped", dropped}, {NULL, NULL},
    };

    ag_suite("cea608", tests);
}
