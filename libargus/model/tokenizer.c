/*
 * Text to ids and back: added tokens are cut out first (when asked), the rest
 * is split into words by the pre-tokenizer's pattern, and the bytes of a word
 * are merged pair by pair, lowest rank first, then leftmost.
 *
 * Follows the tokenizers package 0.21: AddedVocabulary, pre_tokenizers::Digits and
 * ByteLevel, models::bpe::Word. Checked against it by tests/unit/tokenizer.c.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/model/tokenizer.h"

#include <errno.h>
#include <string.h>

#include "libargus/base/mem.h"
#include "libargus/base/utf8.h"
#include "libargus/model/charclass.h"
#include "libargus/model/tokenizer_priv.h"

/* A piece of a word while it is merged: a list in an array. */
typedef struct Symbol {
    int id, prev, next; /* prev, next: index or -1 */
    int dead;           /* swallowed by its left neighbour */
} Symbol;

/* A pair that may be merged. It is not removed when one of its sides changes:
 * who takes it from the heap checks whether it still holds. */
typedef struct Pair {
    uint32_t rank;
    int at, id; /* left symbol; id of the product */
} Pair;

/* Working memory of one call. */
typedef struct Work {
    const AgTokenizer *t;
    const char *text;  /* valid UTF-8 */
    const char *shape; /* what the pattern sees, byte for byte as long; see make_shape() */
    AgIds *out;
    pcre2_match_data *match;
    Symbol *symbol;
    Pair *heap; /* room for 3 pairs a symbol: n - 1 at first, at most 2 more a merge */
    size_t n_heap, cap;
    int err;
} Work;

void ag_ids_add(AgIds *ids, int id)
{
    if (ids->failed)
        return;
    if (ids->n == ids->cap) {
        int cap = AG_MAX(64, ids->cap * 2);
        int *p = ids->cap > INT32_MAX / 2 ? NULL
                                          : ag_realloc(ids->id, (size_t)ids->n * sizeof(*p),
                                                       (size_t)cap * sizeof(*p));
        if (!p) {
            ids->failed = 1;
            return;
        }
        ids->id = p;
        ids->cap = cap;
    }
    ids->id[ids->n++] = id;
}

void ag_ids_free(AgIds *ids)
{
    ag_free(ids->id);
    *ids = (AgIds){0};
}

/* ---- merging */

static int before(const Pair *a, const Pair *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->at < b->at;
}

/* Adds the pair that begins at symbol `at`, if there is such a merge. */
static void push(Work *w, int at)
{
    const Symbol *s = &w->symbol[at];
    uint32_t r = w->t->slot[ag_merge_slot(w->t, s->id, w->symbol[s->next].id)];
    size_t i = w->n_heap;

    if (!r)
        return;
    Pair p = {r - 1, at, w->t->merge[r - 1].id};
    w->n_heap++;
    while (i && before(&p, &w->heap[(i - 1) / 2])) {
        w->heap[i] = w->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    w->heap[i] = p;
}

static Pair pop(Work *w)
{
    Pair top = w->heap[0], last = w->heap[--w->n_heap];
    size_t i = 0;

    for (;;) {
        size_t k = 2 * i + 1;
        if (k >= w->n_heap)
            break;
        if (k + 1 < w->n_heap && before(&w->heap[k + 1], &w->heap[k]))
            k++;
        if (!before(&w->heap[k], &last))
            break;
        w->heap[i] = w->heap[k];
        i = k;
    }
    w->heap[i] = last;
    return top;
}

static int reserve(Work *w, size_t n)
{
    size_t cap = AG_MAX(n, AG_MAX(w->cap * 2, (size_t)64));

    if (n <= w->cap)
        return 1;
    ag_free(w->symbol);
    ag_free(w->heap);
    w->symbol = ag_malloc(ag_mul(cap, sizeof(*w->symbol)));
    w->heap = ag_malloc(ag_mul(cap, 3 * sizeof(*w->heap)));
    w->cap = w->symbol && w->heap ? cap : 0;
    return w->cap != 0;
}

/* Ids of one word of n bytes. */
static void merge_word(Work *w, const char *s, size_t n)
{
    const AgTokenizer *t = w->t;
    int n_sym = 0;

    if (n >= INT32_MAX || !reserve(w, n)) {
        w->err = ARGUS_ERR(ENOMEM);
        return;
    }
    for (size_t i = 0; i < n; i++) { /* a byte without an entry vanishes, its neighbours meet */
        int id = t->byte_id[(unsigned char)s[i]];
        if (id >= 0) {
            w->symbol[n_sym] = (Symbol){id, n_sym - 1, n_sym + 1, 0};
            n_sym++;
        }
    }
    if (!n_sym)
        return;
    w->symbol[n_sym - 1].next = -1;
    w->n_heap = 0;
    for (int i = 0; i + 1 < n_sym; i++)
        push(w, i);
    while (w->n_heap) {
        Pair p = pop(w);
        Symbol *a = &w->symbol[p.at];
        if (a->dead || a->next < 0)
            continue;
        Symbol *b = &w->symbol[a->next];
        uint32_t r = t->slot[ag_merge_slot(t, a->id, b->id)];
        if (!r || t->merge[r - 1].id != p.id)
            continue;
        a->id = p.id;
        a->next = b->next;
        b->dead = 1;
        if (b->next >= 0)
            w->symbol[b->next].prev = p.at;
        if (a->prev >= 0)
            push(w, a->prev);
        if (a->next >= 0)
            push(w, p.at);
    }
    for (int i = 0; i >= 0; i = w->symbol[i].next)
        ag_ids_add(w->out, w->symbol[i].id);
}

/* ---- splitting */

static int is_space(uint32_t c)
{
    return (c >= 9 && c <= 13) || c == 32 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
           c == 0x205F || c == 0x3000;
}

/* PCRE2's tables are of another Unicode version on each machine, and ids must not
 * depend on the machine. So the pattern is run on a copy of the text in which
 * each letter, numeral and other character beyond ASCII is replaced by one of its
 * kind and length that every version agrees about. Blanks stay: the pattern
 * names them one by one. */
static void make_shape(AgBuf *out, const char *s, size_t n)
{
    static const char *const stand_in[3][3] = {
        {"\u00E9", "\u4E00", "\U00020000"}, /* letters of 2, 3, 4 bytes */
        {"\u00B2", "\u2460", "\U00010107"}, /* numerals */
        {"\u00A7", "\u2022", "\U0001F600"}, /* others */
    };

    for (size_t i = 0, len; i < n; i += len) {
        uint32_t c;
        len = (size_t)ag_utf8_next(s + i, n - i, &c);
        int kind = c < 0x80 || is_space(c) ? 0 : ag_char_class(c);
        ag_buf_add(out, kind ? stand_in[kind == 'L' ? 0 : kind == 'N' ? 1 : 2][len - 2] : s + i,
                   len);
    }
}

/* Text [at, end) without added tokens: words by the pattern. */
static void encode_plain(Work *w, size_t at, size_t end)
{
    PCRE2_SPTR s = (PCRE2_SPTR)w->shape + at;
    size_t n = end - at, done = 0;

    while (done < n && w->err >= 0) {
        int rc = pcre2_match(w->t->split, s, n, done, PCRE2_NO_UTF_CHECK, w->match, NULL);
        const PCRE2_SIZE *o = pcre2_get_ovector_pointer(w->match);
        if (rc < 0 || o[0] != done || o[1] <= done) { /* the pattern takes every character */
            w->err = ARGUS_ERR(ENOMEM);
            return;
        }
        merge_word(w, w->text + at + done, o[1] - done);
        done = o[1];
    }
}

/* Code point that ends at s[at], at > 0; *begin = where it begins. s is valid. */
static uint32_t char_before(const char *s, size_t at, size_t *begin)
{
    size_t i = at;
    uint32_t c;

    do
        i--;
    while (i && ((unsigned char)s[i] & 0xC0) == 0x80);
    *begin = i;
    ag_utf8_next(s + i, at - i, &c);
    return c;
}

/* Does the text [at, end) begin with a character of a word, as Rust's \w has it? */
static int is_word_char(Work *w, size_t at, size_t end)
{
    return at < end && pcre2_match(w->t->word_char, (PCRE2_SPTR)w->text + at, end - at, 0,
                                   PCRE2_NO_UTF_CHECK | PCRE2_ANCHORED, w->match, NULL) > 0;
}

/* No character of a word on either side of [begin, end), in the piece [lo, hi). */
static int stands_alone(Work *w, size_t lo, size_t begin, size_t end, size_t hi)
{
    size_t i = begin;

    if (begin > lo)
        char_before(w->text, begin, &i);
    return !is_word_char(w, i, begin) && !is_word_char(w, end, hi);
}

/* Longest added token that s begins with. */
static const AgAdded *added_at(const AgTokenizer *t, const char *s, size_t n, int normalized)
{
    if (!t->added_first[(unsigned char)*s])
        return NULL;
    for (int i = 0; i < t->n_added; i++) {
        const AgAdded *a = &t->added[i];
        if (a->normalized == normalized && a->n <= n && !memcmp(a->text, s, a->n))
            return a;
    }
    return NULL;
}

/* Cuts added tokens out of the text [lo, hi), leftmost and longest first. Those with
 * normalized set are searched in what the others leave. What lies between goes on
 * to the next stage. */
static void encode_added(Work *w, size_t lo, size_t hi, int normalized)
{
    int again = !normalized && w->t->any_normalized;
    const char *s = w->text;
    size_t done = lo, k;

    for (size_t i = lo; i <= hi && w->err >= 0;) {
        const AgAdded *a = i < hi ? added_at(w->t, s + i, hi - i, normalized) : NULL;
        size_t begin = i, end = i + (a ? a->n : 0);
        if (i < hi && !a) {
            i++;
            continue;
        }
        i = a ? end : hi + 1; /* the search goes on here, whatever comes of this match */
        if (a && a->single_word && !stands_alone(w, lo, begin, end, hi))
            continue;
        while (a && a->lstrip && begin > done && is_space(char_before(s, begin, &k)))
            begin = k;
        for (uint32_t c; a && a->rstrip && end < hi; end += k) {
            k = (size_t)ag_utf8_next(s + end, hi - end, &c);
            if (!is_space(c))
                break;
        }
        if (begin > done && again)
            encode_added(w, done, begin, 1);
        else if (begin > done)
            encode_plain(w, done, begin);
        if (a)
            ag_ids_add(w->out, a->id);
        done = end;
    }
}

int ag_tokenizer_encode(const AgTokenizer *t, const char *text, size_t n, int special, AgIds *out)
{
    Work w = {.t = t, .out = out};
    AgBuf clean = {0}, shape = {0};
    size_t ascii = 0;

    if (ag_utf8_valid(text, n) < n) {
        ag_utf8_lossy(&clean, text, n);
        text = clean.data;
        n = clean.size;
    }
    while (ascii < n && (unsigned char)text[ascii] < 0x80)
        ascii++;
    if (ascii < n && ag_buf_ok(&clean))
        make_shape(&shape, text, n);
    w.text = text;
    w.shape = shape.data ? shape.data : text;
    w.match = pcre2_match_data_create(1, t->mem);
    if (!w.match || !ag_buf_ok(&clean) || !ag_buf_ok(&shape))
        w.err = ARGUS_ERR(ENOMEM);
    else if (special)
        encode_added(&w, 0, n, 0);
    else
        encode_plain(&w, 0, n);
    pcre2_match_data_free(w.match);
    ag_free(w.symbol);
    ag_free(w.heap);
    ag_buf_free(&clean);
    ag_buf_free(&shape);
    return out->failed ? ARGUS_ERR(ENOMEM) : w.err;
}

/* ---- back to text */

int ag_tokenizer_size(const AgTokenizer *t)
{
    return t->n_id;
}

int ag_tokenizer_special(const AgTokenizer *t, const char *token)
{
    size_t n = strlen(token);

    for (int i = 0; i < t->n_added; i++)
        if (t->added[i].n == n && !memcmp(t->added[i].text, token, n))
            return t->added[i].id;
    return -1;
}

int ag_tokenizer_is_special(const AgTokenizer *t, int id)
{
    return id >= 0 && id < t->n_id && t->special[id];
}

void ag_tokenizer_bytes(const AgTokenizer *t, int id, int skip_special, AgBuf *out)
{
    if (id < 0 || id >= t->n_id || (skip_special && t->special[id]))
        return;
    ag_buf_add(out, t->pool + t->word[id].at, t->word[id].n);
}

void ag_tokenizer_decode(const AgTokenizer *t, const int *ids, int n, int skip_special, AgBuf *out)
{
    AgBuf raw = {0};

    for (int i = 0; i < n; i++)
        ag_tokenizer_bytes(t, ids[i], skip_special, &raw);
    if (raw.size)
        ag_utf8_lossy(out, raw.data, raw.size);
    out->failed |= raw.failed;
    ag_buf_free(&raw);
}

int ag_tokenizer_longest(const AgTokenizer *t)
{
    uint32_t n = 0;

    for (int i = 0; i < t->n_id; i++)
        n = AG_MAX(n, t->word[i].n);
    return (int)n;
}
