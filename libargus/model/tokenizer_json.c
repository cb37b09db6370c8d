/*
 * The scanner of tokenizer.json. The file is 3.5 MB for the published models, nearly
 * all of it model.vocab (49152 words) and model.merges (48900 pairs). A JSON tree
 * of those takes longer to build than the whole program may take to start, so the
 * two are read straight into flat arrays; the rest of the file, with {} and [] in
 * their places, is left for jansson.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <string.h>

#include "libargus/base/mem.h"
#include "libargus/base/utf8.h"
#include "libargus/model/tokenizer_priv.h"

/* ---- scanner */

static int syntax(AgTokenFile *l, const char *expected)
{
    if (l->err >= 0)
        l->err = ag_fail(l->log, ARGUS_ERR_FORMAT, "%s: byte %zu: expected %s%s", l->file,
                         (size_t)(l->p - l->begin), expected, l->p == l->end ? ", found the end" :
                         "");
    return 0;
}

static int nomem(AgTokenFile *l)
{
    if (l->err >= 0)
        l->err = ag_nomem(l->log, l->file);
    return 0;
}

/* Half of the file is indentation, so four blanks are taken at once. */
static void skip_blanks(AgTokenFile *l)
{
    const char *p = l->p, *end = l->end;

    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        for (p++; end - p >= 4 && !memcmp(p, "    ", 4);)
            p += 4;
    l->p = p;
}

/* Next character that is not blank, -1 at the end. */
AG_INLINE int peek(AgTokenFile *l)
{
    if (l->p < l->end && (unsigned char)*l->p <= ' ')
        skip_blanks(l);
    return l->p < l->end ? (unsigned char)*l->p : -1;
}

static int take(AgTokenFile *l, char c)
{
    if (peek(l) != (unsigned char)c)
        return 0;
    l->p++;
    return 1;
}

static int hex4(const char *p, const char *end, uint32_t *v)
{
    *v = 0;
    if (end - p < 4)
        return 0;
    for (int i = 0; i < 4; i++) {
        unsigned c = (unsigned char)p[i], d = c - '0';
        if (d > 9)
            d = (c | 32) - 'a' < 6 ? (c | 32) - 'a' + 10 : 99;
        if (d > 15)
            return 0;
        *v = *v << 4 | d;
    }
    return 1;
}

/* Writes the character of the escape at p (after the backslash) to the arena.
 * @return bytes of the escape, 0 if it is none. */
static int unescape(AgTokenFile *l, const char *p)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *k = p < l->end && *p ? strchr(from, *p) : NULL;
    uint32_t c, low;
    int n = 5;

    if (k) {
        l->arena[l->n_arena++] = to[k - from];
        return 1;
    }
    if (p >= l->end || *p != 'u' || !hex4(p + 1, l->end, &c) || (c >= 0xDC00 && c < 0xE000))
        return 0;
    if (c >= 0xD800 && c < 0xDC00) {
        if (l->end - p < 7 || p[5] != '\\' || p[6] != 'u' || !hex4(p + 7, l->end, &low) ||
            low < 0xDC00 || low >= 0xE000)
            return 0;
        c = 0x10000 + ((c - 0xD800) << 10 | (low - 0xDC00));
        n = 11;
    }
    int m = ag_utf8_write(c, l->arena + l->n_arena);
    l->n_arena += (size_t)m;
    return n;
}

/* A string: a view of the file, or of the arena when it has escapes. */
static int string(AgTokenFile *l, AgView *v)
{
    const char *s, *p;

    if (!take(l, '"'))
        return syntax(l, "a string");
    for (s = p = l->p; p < l->end && *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20; p++)
        ;
    if (p < l->end && *p == '"') {
        *v = (AgView){s, (uint32_t)(p - s)};
        l->p = p + 1;
        return 1;
    }
    char *at = l->arena + l->n_arena;
    for (p = s; p < l->end && *p != '"' && (unsigned char)*p >= 0x20;) {
        int n = *p == '\\' ? unescape(l, p + 1) : -1;
        if (!n)
            break;
        if (n < 0)
            l->arena[l->n_arena++] = *p++;
        else
            p += n + 1;
    }
    l->p = p;
    if (p == l->end || *p != '"')
        return syntax(l, "a string that ends");
    l->p++;
    *v = (AgView){at, (uint32_t)(l->arena + l->n_arena - at)};
    return 1;
}

/* Over any value; jansson looks at it later. */
static int skip_value(AgTokenFile *l)
{
    int depth = 0, c;

    do {
        if ((c = peek(l)) < 0)
            return syntax(l, "a value");
        if (c == '"') {
            for (l->p++; l->p < l->end && *l->p != '"'; l->p++)
                l->p += *l->p == '\\' && l->p + 1 < l->end;
            if (l->p == l->end)
                return syntax(l, "a string that ends");
            l->p++;
        } else if (c == '{' || c == '[') {
            depth++;
            l->p++;
        } else if (c == '}' || c == ']' || c == ',' || c == ':') {
            if (!depth)
                return syntax(l, "a value");
            depth -= c == '}' || c == ']';
            l->p++;
        } else {
            do
                l->p++;
            while (l->p < l->end && (unsigned char)*l->p > ' ' && !strchr("{}[],:\"", *l->p));
        }
    } while (depth);
    return 1;
}

/* ---- the two big values */

static int grow(AgTokenFile *l, void *list, size_t n, size_t *cap, size_t size)
{
    void *old = *(void **)list;
    size_t more = AG_MAX(*cap * 2, (size_t)65536);

    if (n < *cap)
        return 1;
    void *p = ag_realloc(old, n * size, ag_mul(more, size));
    if (!p)
        return nomem(l);
    *(void **)list = p;
    *cap = more;
    return 1;
}

static int id_number(AgTokenFile *l, int *id)
{
    const char *s;
    int v = 0;

    peek(l);
    for (s = l->p; l->p < l->end && *l->p >= '0' && *l->p <= '9' && v <= AG_MAX_ID; l->p++)
        v = v * 10 + (*l->p - '0');
    if (l->p == s || v > AG_MAX_ID)
        return syntax(l, "an id from 0 to 1000000");
    *id = v;
    return 1;
}

/* {"word": id, ...} */
static int read_vocab(AgTokenFile *l)
{
    if (l->seen_vocab++)
        return syntax(l, "model.vocab once");
    l->p++;
    if (take(l, '}'))
        return 1;
    do {
        if (!grow(l, &l->word, l->n_word, &l->cap_word, sizeof(*l->word)))
            return 0;
        AgTokenWord *w = &l->word[l->n_word++];
        peek(l);
        if (!string(l, &w->text))
            return 0;
        if (!take(l, ':'))
            return syntax(l, "a colon");
        if (!id_number(l, &w->id))
            return 0;
    } while (take(l, ','));
    return take(l, '}') || syntax(l, "a comma or }");
}

/* "left right", the older form */
static int read_joined(AgTokenFile *l, AgView pair[2])
{
    AgView v;

    if (!string(l, &v))
        return 0;
    const char *blank = memchr(v.s, ' ', v.n);
    if (!blank || memchr(blank + 1, ' ', (size_t)(v.s + v.n - blank - 1)))
        return syntax(l, "a merge of two words with one blank between");
    pair[0] = (AgView){v.s, (uint32_t)(blank - v.s)};
    pair[1] = (AgView){blank + 1, v.n - pair[0].n - 1};
    return 1;
}

/* ["left", "right"] */
static int read_pair(AgTokenFile *l, AgView pair[2])
{
    l->p++;
    peek(l);
    if (!string(l, &pair[0]))
        return 0;
    if (!take(l, ','))
        return syntax(l, "a merge of two words");
    peek(l);
    if (!string(l, &pair[1]))
        return 0;
    return take(l, ']') || syntax(l, "a merge of two words");
}

static int read_merges(AgTokenFile *l)
{
    if (l->seen_merges++)
        return syntax(l, "model.merges once");
    l->p++;
    if (take(l, ']'))
        return 1;
    do {
        if (!grow(l, &l->pair, l->n_pair, &l->cap_pair, sizeof(*l->pair)))
            return 0;
        AgView *pair = l->pair[l->n_pair++];
        if (peek(l) == '[' ? !read_pair(l, pair) : !read_joined(l, pair))
            return 0;
    } while (take(l, ','));
    return take(l, ']') || syntax(l, "a comma or ]");
}

/* Reads a big value and leaves an empty one for jansson. */
static int big_value(AgTokenFile *l, int (*read)(AgTokenFile *), const char *empty)
{
    ag_buf_add(&l->rest, l->copied, (size_t)(l->p - l->copied));
    ag_buf_str(&l->rest, empty);
    if (!read(l))
        return 0;
    l->copied = l->p;
    return 1;
}

/* Over an object; inside the value of "model", the big values are read. */
static int walk(AgTokenFile *l, int in_model)
{
    AgView key;
    int c, ok;

    if (!take(l, '{'))
        return syntax(l, "an object");
    if (take(l, '}'))
        return 1;
    do {
        peek(l);
        if (!string(l, &key))
            return 0;
        if (!take(l, ':'))
            return syntax(l, "a colon");
        c = peek(l);
        if (in_model && c == '{' && key.n == 5 && !memcmp(key.s, "vocab", 5))
            ok = big_value(l, read_vocab, "{}");
        else if (in_model && c == '[' && key.n == 6 && !memcmp(key.s, "merges", 6))
            ok = big_value(l, read_merges, "[]");
        else if (!in_model && c == '{' && key.n == 5 && !memcmp(key.s, "model", 5))
            ok = walk(l, 1);
        else
            ok = skip_value(l);
        if (!ok)
            return 0;
    } while (take(l, ','));
    return take(l, '}') || syntax(l, "a comma or }");
}

int ag_token_file_scan(AgTokenFile *l, const char *text, size_t size)
{
    l->begin = l->p = l->copied = text;
    l->end = text + size;
    if (size >= UINT32_MAX)
        return ag_fail(l->log, ARGUS_ERR_FORMAT, "%s: expected less than 4 GB", l->file);
    l->arena = ag_malloc(size);
    if (!l->arena)
        nomem(l);
    else if (walk(l, 0) && peek(l) >= 0)
        syntax(l, "the end");
    ag_buf_add(&l->rest, l->copied, (size_t)(l->p - l->copied));
    if (!ag_buf_ok(&l->rest))
        nomem(l);
    return l->err;
}

void ag_token_file_free(AgTokenFile *l)
{
    ag_free(l->arena);
    ag_free(l->word);
    ag_free(l->pair);
    ag_buf_free(&l->rest);
}
