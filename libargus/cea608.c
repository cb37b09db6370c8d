/*
 * Closed captions as CEA-608 bytes: field 1, channel 1, pop-on. Place in the
 * flow: after the cues, beside the writers; the caller puts a pair of bytes on
 * each frame. It follows ANSI/CTA-608-E (the rules of 47 CFR 79.101).
 *
 * A text becomes cells, each a character of the basic, special or extended
 * set; cells are wrapped to at most 4 rows of 32, at the bottom of the screen;
 * rows become pairs: RCL ENM, PAC and cells for each row, EOC. Control codes,
 * special and extended characters among them, go out twice, as the standard
 * asks, so that one lost pair does no harm.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <errno.h>
#include <string.h>

#include "libargus/argus.h"
#include "libargus/base/mem.h"
#include "libargus/base/utf8.h"

enum {
    COLS = 32,
    ROWS = 4,
    /* any two words and all blanks more than 4 rows can hold */
    MAX_CELLS = ROWS * (COLS + 1) + 2 * COLS,
    /* RCL ENM EOC doubled; a row: PAC doubled, a cell: RCL, letter, code */
    MAX_PAIRS = 6 + ROWS * (2 + COLS * 5),
};

/* Control codes of channel 1. */
enum { CONTROL = 0x14, RCL = 0x20, EDM = 0x2c, ENM = 0x2e, EOC = 0x2f };

struct ArgusCaptioner {
    uint8_t pairs[MAX_PAIRS][2]; /* [n], without parity; sent: up to next */
    int n, next;
    int loading;                 /* they are those of a text */
};

/* A character. set 0: basic, code 0x20..0x7e. 0x11: special, 0x12, 0x13:
 * extended, which take the place of the basic one that goes before them, for
 * decoders that do not know them. */
typedef struct Cell {
    uint8_t set, code;
    uint8_t basic; /* 0 for special characters: all decoders know those */
} Cell;

typedef struct Letter {
    uint16_t c;
    Cell cell;
} Letter;

/* Characters that are not where ASCII has them, by code point. */
static const Letter letters[] = {
    {'*', {0x12, 0x28, '+'}}, {'\\', {0x13, 0x2b, '/'}}, {'^', {0x13, 0x2c, ' '}},
    {'_', {0x13, 0x2d, '-'}}, {'{', {0x13, 0x29, '('}}, {'|', {0x13, 0x2e, '/'}},
    {'}', {0x13, 0x2a, ')'}}, {'~', {0x13, 0x2f, '-'}}, {0xa1, {0x12, 0x27, '!'}},
    {0xa2, {0x11, 0x35, 0}}, {0xa3, {0x11, 0x36, 0}}, {0xa4, {0x13, 0x36, '$'}},
    {0xa5, {0x13, 0x35, 'Y'}}, {0xa6, {0x13, 0x37, '/'}}, {0xa9, {0x12, 0x2b, 'C'}},
    {0xab, {0x12, 0x3e, '"'}}, {0xae, {0x11, 0x30, 0}}, {0xb0, {0x11, 0x31, 0}},
    {0xb7, {0x12, 0x2d, '.'}}, {0xbb, {0x12, 0x3f, '"'}}, {0xbd, {0x11, 0x32, 0}},
    {0xbf, {0x11, 0x33, 0}}, {0xc0, {0x12, 0x30, 'A'}}, {0xc1, {0x12, 0x20, 'A'}},
    {0xc2, {0x12, 0x31, 'A'}}, {0xc3, {0x13, 0x20, 'A'}}, {0xc4, {0x13, 0x30, 'A'}},
    {0xc5, {0x13, 0x38, 'A'}}, {0xc7, {0x12, 0x32, 'C'}}, {0xc8, {0x12, 0x33, 'E'}},
    {0xc9, {0x12, 0x21, 'E'}}, {0xca, {0x12, 0x34, 'E'}}, {0xcb, {0x12, 0x35, 'E'}},
    {0xcc, {0x13, 0x23, 'I'}}, {0xcd, {0x13, 0x22, 'I'}}, {0xce, {0x12, 0x37, 'I'}},
    {0xcf, {0x12, 0x38, 'I'}}, {0xd1, {0, 0x7d, 0}}, {0xd2, {0x13, 0x25, 'O'}},
    {0xd3, {0x12, 0x22, 'O'}}, {0xd4, {0x12, 0x3a, 'O'}}, {0xd5, {0x13, 0x27, 'O'}},
    {0xd6, {0x13, 0x32, 'O'}}, {0xd8, {0x13, 0x3a, 'O'}}, {0xd9, {0x12, 0x3b, 'U'}},
    {0xda, {0x12, 0x23, 'U'}}, {0xdb, {0x12, 0x3d, 'U'}}, {0xdc, {0x12, 0x24, 'U'}},
    {0xdf, {0x13, 0x34, 's'}}, {0xe0, {0x11, 0x38, 0}}, {0xe1, {0, 0x2a, 0}},
    {0xe2, {0x11, 0x3b, 0}}, {0xe3, {0x13, 0x21, 'a'}}, {0xe4, {0x13, 0x31, 'a'}},
    {0xe5, {0x13, 0x39, 'a'}}, {0xe7, {0, 0x7b, 0}}, {0xe8, {0x11, 0x3a, 0}},
    {0xe9, {0, 0x5c, 0}}, {0xea, {0x11, 0x3c, 0}}, {0xeb, {0x12, 0x36, 'e'}},
    {0xec, {0x13, 0x24, 'i'}}, {0xed, {0, 0x5e, 0}}, {0xee, {0x11, 0x3d, 0}},
    {0xef, {0x12, 0x39, 'i'}}, {0xf1, {0, 0x7e, 0}}, {0xf2, {0x13, 0x26, 'o'}},
    {0xf3, {0, 0x5f, 0}}, {0xf4, {0x11, 0x3e, 0}}, {0xf5, {0x13, 0x28, 'o'}},
    {0xf6, {0x13, 0x33, 'o'}}, {0xf7, {0, 0x7c, 0}}, {0xf8, {0x13, 0x3b, 'o'}},
    {0xf9, {0x12, 0x3c, 'u'}}, {0xfa, {0, 0x60, 0}}, {0xfb, {0x11, 0x3f, 0}},
    {0xfc, {0x12, 0x25, 'u'}}, {0x2018, {0x12, 0x29, '\''}}, {0x2019, {0, 0x27, 0}},
    {0x201c, {0x12, 0x2e, '"'}}, {0x201d, {0x12, 0x2f, '"'}}, {0x2022, {0x12, 0x2d, '.'}},
    {0x2120, {0x12, 0x2c, 'S'}}, {0x2122, {0x11, 0x34, 0}}, {0x266a, {0x11, 0x37, 0}},
};

/* What is written in other characters, by code point. */
static const struct {
    uint16_t c;
    const char *text;
} spelled[] = {
    {'`', "'"}, {0xac, "-"}, {0xad, ""}, {0xb1, "+/-"}, {0xb2, "2"}, {0xb3, "3"}, {0xb4, "'"},
    {0xb5, "u"}, {0xb9, "1"}, {0xbc, "1/4"}, {0xbe, "3/4"}, {0xc6, "AE"}, {0xd0, "D"}, {0xd7, "x"},
    {0xdd, "Y"}, {0xde, "Th"}, {0xe6, "ae"}, {0xf0, "d"}, {0xfd, "y"}, {0xfe, "th"}, {0xff, "y"},
    {0x132, "IJ"}, {0x133, "ij"}, {0x152, "OE"}, {0x153, "oe"}, {0x1e9e, "SS"}, {0x2010, "-"},
    {0x2011, "-"}, {0x2012, "-"}, {0x2013, "-"}, {0x2014, "-"}, {0x2015, "-"}, {0x201a, ","},
    {0x201e, "\""}, {0x2026, "..."}, {0x2032, "'"}, {0x2033, "\""}, {0x2039, "<"}, {0x203a, ">"},
    {0x20ac, "EUR"}, {0x2212, "-"}, {0x266b, "\xe2\x99\xaa"},
};

/* U+0100 to U+017F without their marks. */
static const char latin_a[] =
    "AaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGgGgGgHhHhIiIiIiIiIi??JjKkkLlLlLlL"
    "lLlNnNnNnnNnOoOoOo??RrRrRrSsSsSsSsTtTtTtUuUuUuUuUuUuWwYyYZzZzZzs";

/* ------------------------------------------------------------------------ */
/* Text -> cells                                                             */

typedef struct Line {
    Cell cells[MAX_CELLS];
    int n;
} Line;

static void put_cell(Line *l, Cell cell)
{
    int blank = !cell.set && cell.code == ' ';

    /* blanks in a row are one, and none at the start */
    if (blank && (!l->n || (!l->cells[l->n - 1].set && l->cells[l->n - 1].code == ' ')))
        return;
    if (l->n < MAX_CELLS)
        l->cells[l->n++] = cell;
}

static int is_blank(uint32_t c)
{
    return c <= ' ' || c == 0x7f || c == 0x85 || c == 0xa0 || (c >= 0x2000 && c <= 0x200a) ||
           c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x3000;
}

/* Marks on the letter before, and what is not seen at all. */
static int is_silent(uint32_t c)
{
    return (c >= 0x80 && c < 0xa0) || (c >= 0x300 && c <= 0x36f) || (c >= 0x200b && c <= 0x200f) ||
           (c >= 0xfe00 && c <= 0xfe0f) || c == 0xfeff;
}

static void put_char(Line *l, uint32_t c)
{
    if (is_blank(c)) {
        put_cell(l, (Cell){0, ' ', 0});
        return;
    }
    if (is_silent(c))
        return;
    for (size_t i = 0; i < AG_COUNT(letters); i++) {
        if (letters[i].c == c) {
            put_cell(l, letters[i].cell);
            return;
        }
    }
    for (size_t i = 0; i < AG_COUNT(spelled); i++) {
        if (spelled[i].c != c)
            continue;
        size_t n = strlen(spelled[i].text), used = 0;
        while (used < n) {
            used += (size_t)ag_utf8_next(spelled[i].text + used, n - used, &c);
            put_char(l, c);
        }
        return;
    }
    if (c >= 0x100 && c <= 0x17f)
        c = (uint8_t)latin_a[c - 0x100];
    put_cell(l, (Cell){0, c < 0x7f ? (uint8_t)c : '?', 0});
}

static void put_text(Line *l, const char *text)
{
    size_t n = strlen(text), used = 0;
    uint32_t c;

    while (used < n && l->n < MAX_CELLS) {
        used += (size_t)ag_utf8_next(text + used, n - used, &c);
        put_char(l, c);
    }
    while (l->n && !l->cells[l->n - 1].set && l->cells[l->n - 1].code == ' ')
        l->n--;
}

/* Cells of the next row: whole words, or a piece of a word of more than a row. */
static int row_length(const Cell *cells, int n)
{
    int k = COLS;

    if (n <= COLS)
        return n;
    while (k > 0 && (cells[k].set || cells[k].code != ' '))
        k--;
    return k ? k : COLS;
}

/* ------------------------------------------------------------------------ */
/* Cells -> pairs                                                            */

static void put_pair(ArgusCaptioner *t, int a, int b)
{
    t->pairs[t->n][0] = (uint8_t)a;
    t->pairs[t->n++][1] = (uint8_t)b;
}

static void put_control(ArgusCaptioner *t, int a, int b)
{
    put_pair(t, a, b);
    put_pair(t, a, b);
}

/* *half: a pair of basic characters lacks its second one */
static void put_basic(ArgusCaptioner *t, int code, int *half)
{
    if (*half)
        t->pairs[t->n - 1][1] = (uint8_t)code;
    else
        put_pair(t, code, 0);
    *half = !*half;
}

static void put_row(ArgusCaptioner *t, int row, const Cell *cells, int n)
{
    int half = 0;

    /* rows 12 to 15, no indent */
    put_control(t, row < 14 ? 0x13 : 0x14, row % 2 ? 0x70 : 0x50);
    for (int i = 0; i < n; i++) {
        const Cell *c = &cells[i];
        if (!c->set || c->basic)
            put_basic(t, c->set ? c->basic : c->code, &half);
        if (!c->set)
            continue;
        half = 0;
        /* some decoders take any number of equal codes in a row for one */
        if (t->pairs[t->n - 1][0] == c->set && t->pairs[t->n - 1][1] == c->code)
            put_control(t, CONTROL, RCL);
        put_control(t, c->set, c->code);
    }
}

/* ------------------------------------------------------------------------ */
/* The public face                                                           */

int argus_captioner_open(ArgusCaptioner **out)
{
    *out = ag_calloc(1, sizeof(**out));
    return *out ? 0 : ARGUS_ERR(ENOMEM);
}

void argus_captioner_close(ArgusCaptioner **t)
{
    ag_free(*t);
    *t = NULL;
}

void argus_captioner_text(ArgusCaptioner *t, const char *text)
{
    Line line = {.n = 0};
    int start[ROWS], n[ROWS], rows = 0;

    put_text(&line, text);
    if (!line.n) {
        argus_captioner_clear(t);
        return;
    }
    for (int at = 0; at < line.n && rows < ROWS; rows++) {
        start[rows] = at;
        n[rows] = row_length(line.cells + at, line.n - at);
        at += n[rows];
        if (at < line.n && !line.cells[at].set && line.cells[at].code == ' ')
            at++;
    }
    t->n = t->next = 0;
    t->loading = 1;
    put_control(t, CONTROL, RCL);
    put_control(t, CONTROL, ENM);
    for (int i = 0; i < rows; i++)
        put_row(t, 16 - rows + i, line.cells + start[i], n[i]);
    put_control(t, CONTROL, EOC);
}

void argus_captioner_clear(ArgusCaptioner *t)
{
    t->n = t->next = t->loading = 0;
    put_control(t, CONTROL, EDM);
}

int argus_captioner_loading(const ArgusCaptioner *t)
{
    return t->loading ? t->n - t->next : 0;
}

/* Seven bits and a bit that makes the number of ones odd. */
static uint8_t with_parity(uint8_t b)
{
    int ones = 0;

    for (int i = 0; i < 7; i++)
        ones += b >> i & 1;
    return (uint8_t)(ones % 2 ? b : b | 0x80);
}

int argus_captioner_next(ArgusCaptioner *t, uint8_t pair[2])
{
    int busy = t->next < t->n;

    pair[0] = with_parity(busy ? t->pairs[t->next][0] : 0);
    pair[1] = with_parity(busy ? t->pairs[t->next][1] : 0);
    t->next += busy;
    return busy;
}
