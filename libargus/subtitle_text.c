/*
 * Text of a cue: clean-up and line breaks. See subtitle_text.h.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/subtitle_text.h"

#include <string.h>

#include "libargus/base/mem.h"
#include "libargus/base/utf8.h"

typedef struct Range {
    uint32_t first, last;
} Range;

static int in_range(const Range *r, size_t n, uint32_t c)
{
    for (size_t i = 0; i < n; i++)
        if (c >= r[i].first && c <= r[i].last)
            return 1;
    return 0;
}

/* Breaks a line or shows as a box: C0 with tab and newline, DEL, C1, the
 * separators of lines and paragraphs. */
static int is_control(uint32_t c)
{
    return c <= 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0x2028 || c == 0x2029;
}

/* Blanks of all widths, and what has no width at all. */
static int is_invisible(uint32_t c)
{
    static const Range r[] = {
        {0xA0, 0xA0}, {0xAD, 0xAD}, {0x1680, 0x1680}, {0x180E, 0x180E}, {0x2000, 0x200F},
        {0x202A, 0x202F}, {0x205F, 0x206F}, {0x3000, 0x3000}, {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF},
    };
    return is_control(c) || in_range(r, AG_COUNT(r), c);
}

/* The arrow ends a cue's time line in SRT and VTT: "-->" and longer ones
 * become "->". */
static void shorten_arrow(AgBuf *out, size_t from)
{
    while (out->size >= from + 2 && !memcmp(out->data + out->size - 2, "--", 2))
        out->data[--out->size] = 0;
}

void ag_subtitle_clean(AgBuf *out, const char *text)
{
    size_t from = out->size, n = strlen(text);
    int blank = 0, seen = 0;

    while (n) {
        uint32_t c;
        int len = ag_utf8_next(text, n, &c);
        if (is_control(c)) {
            blank = out->size > from;
        } else {
            if (blank)
                ag_buf_char(out, ' ');
            blank = 0;
            if (c == '>')
                shorten_arrow(out, from);
            if (c == AG_UTF8_BAD)
                ag_buf_str(out, "\xEF\xBF\xBD"); /* U+FFFD */
            else
                ag_buf_add(out, text, (size_t)len);
            seen |= !is_invisible(c);
        }
        text += len;
        n -= (size_t)len;
    }
    if (!seen && out->size > from) {
        out->size = from;
        out->data[from] = 0;
    }
}

/* Columns of a character on a fixed-width screen: 0, 1 or 2. */
static int char_cols(uint32_t c)
{
    static const Range none[] = {
        {0x300, 0x36F}, {0x200B, 0x200F}, {0x202A, 0x202E}, {0x2060, 0x2064}, {0x20D0, 0x20FF},
        {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF},
    };
    static const Range wide[] = {
        {0x1100, 0x115F}, {0x2E80, 0x303E}, {0x3041, 0xA4CF}, {0xAC00, 0xD7A3}, {0xF900, 0xFAFF},
        {0xFE30, 0xFE6F}, {0xFF00, 0xFF60}, {0xFFE0, 0xFFE6}, {0x1F300, 0x1F64F},
        {0x1F680, 0x1FAFF}, {0x20000, 0x3FFFD},
    };
    if (in_range(none, AG_COUNT(none), c))
        return 0;
    return in_range(wide, AG_COUNT(wide), c) ? 2 : 1;
}

/* What stays together: a word, a part of one that is wider than a line, or an
 * ideograph. */
typedef struct Piece {
    size_t at, len;
    int cols;
    int blank; /* a blank goes before it, unless it begins a line */
} Piece;

/* Cut a line into pieces of at most `cols` columns. @return how many. */
static size_t cut(Piece *p, const char *line, int cols)
{
    size_t n = 0, size = strlen(line), at = 0;
    int blank = 1, last = 0; /* last: columns of the character before */

    while (at < size) {
        uint32_t c;
        int len = ag_utf8_next(line + at, size - at, &c);
        if (c == ' ') {
            blank = 1;
        } else {
            int w = char_cols(c);
            if (!n || blank || (w && (w == 2 || last == 2 || p[n - 1].cols + w > cols)))
                p[n++] = (Piece){at, 0, 0, blank};
            p[n - 1].len += (size_t)len;
            p[n - 1].cols += w;
            blank = 0;
            last = w ? w : last;
        }
        at += (size_t)len;
    }
    return n;
}

/* Lines of at most `cols` columns that the pieces need, filled in order; also
 * where they begin: starts[i] = 1. starts may be NULL. */
static int fill(const Piece *p, size_t n, int cols, char *starts)
{
    int lines = 0, used = 0;

    for (size_t i = 0; i < n; i++) {
        int first = i == 0 || used + p[i].blank + p[i].cols > cols;
        used = first ? p[i].cols : used + p[i].blank + p[i].cols;
        lines += first;
        if (starts)
            starts[i] = (char)first;
    }
    return lines;
}

void ag_subtitle_wrap(AgBuf *out, const char *line, int cols, int n_line)
{
    size_t size = strlen(line);

    if (cols <= 0 || !size) {
        ag_buf_str(out, line);
        return;
    }
    Piece *p = ag_malloc(ag_mul(size, sizeof(*p)));
    char *starts = ag_malloc(size);
    if (!p || !starts) {
        out->failed = 1;
        ag_free(p);
        ag_free(starts);
        return;
    }
    size_t n = cut(p, line, cols);
    int lines = fill(p, n, cols, NULL), lo = 1, hi = (int)AG_MIN(2 * size, (size_t)INT32_MAX);
    if (n_line > 0)
        lines = AG_MIN(lines, n_line);
    while (lo < hi) { /* the narrowest columns that need no more lines */
        int mid = lo + (hi - lo) / 2;
        if (fill(p, n, mid, NULL) <= lines)
            hi = mid;
        else
            lo = mid + 1;
    }
    fill(p, n, lo, starts);
    for (size_t i = 0; i < n; i++) {
        if (i && starts[i])
            ag_buf_char(out, '\n');
        else if (i && p[i].blank)
            ag_buf_char(out, ' ');
        ag_buf_add(out, line + p[i].at, p[i].len);
    }
    ag_free(p);
    ag_free(starts);
}
