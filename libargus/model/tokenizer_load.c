/*
 * tokenizer.json -> tables: checks that the file describes a byte-level BPE of
 * the kind that tokenizer.c does, and refuses what it does not.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "libargus/base/mem.h"
#include "libargus/base/utf8.h"
#include "libargus/model/tokenizer_priv.h"

#define MAX_ADDED 65536

/* GPT-2's pattern: contractions, letters, numerals, others, each with one blank
 * before; runs of blanks leave their last one to the word that follows. SPACE
 * is Unicode's White_Space: \s of PCRE2 also takes U+180E. */
#define SPACE                                                                            \
    "\\t-\\r \\x85\\xa0\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}"
#define SPLIT(numeral, end)                                                              \
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+|" numeral "| ?[^" SPACE "\\p{L}\\p{N}]+|[" SPACE  \
    "]+(?![^" SPACE end "])|[" SPACE "]+"

/* With a Digits stage before it, the pattern sees the text between numerals only:
 * each numeral (or run of them) is a word, and blanks before one end their piece.
 * One pattern does both stages. */
static const char split_plain[] = SPLIT(" ?\\p{N}+", "");
static const char split_each_digit[] = SPLIT("\\p{N}", "\\p{N}");
static const char split_digit_runs[] = SPLIT("\\p{N}+", "\\p{N}");

/* Rust's \w: Alphabetic, marks, decimal digits, connectors, join controls. The
 * ranges are the circled letters, alphabetic without being letters. */
static const char word_char[] =
    "[\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\x{200c}\\x{200d}\\x{24b6}-\\x{24e9}"
    "\\x{1f130}-\\x{1f149}\\x{1f150}-\\x{1f169}\\x{1f170}-\\x{1f189}]";

/* A text of up to 8 bytes is told from others by key and n alone, and most are that
 * short: then neither the list of words nor the file is touched. */
typedef struct Slot {
    uint64_t key;
    uint32_t n, word; /* word index + 1; 0 = free */
} Slot;

typedef struct Load {
    AgTokenFile f;
    AgTokenizer *t;
    Slot *slot;             /* [n_slot] hash of texts */
    uint32_t n_slot;
    int *by_id;             /* [n_id] word index, -1 = none */
    AgBuf pool;
} Load;

/* Of up to 8 bytes: their first and last four, two or one, which with n say all.
 * Of more: a hash. */
static uint64_t key_of(const char *s, uint32_t n)
{
    uint32_t first = 0, last = 0;
    uint64_t h = n, v = 0;

    if (n <= 8) {
        uint32_t k = n >= 4 ? 4 : n >= 2 ? 2 : n;
        if (k == 4) {
            memcpy(&first, s, 4);
            memcpy(&last, s + n - 4, 4);
        } else if (k == 2) {
            memcpy(&first, s, 2);
            memcpy(&last, s + n - 2, 2);
        } else if (k == 1) {
            first = (unsigned char)*s;
        }
        return (uint64_t)last << 32 | first;
    }
    for (; n >= 8; s += 8, n -= 8) {
        memcpy(&v, s, 8);
        h = (h ^ v) * 0x9E3779B97F4A7C15u;
        h ^= h >> 32;
    }
    v = 0;
    memcpy(&v, s, n);
    h = (h ^ v) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 32;
}

/* Slot of a text: where it is, or where it would go. */
static Slot *find_slot(const Load *l, const char *s, uint32_t n, uint64_t key)
{
    uint64_t h = (key ^ n) * 0x9E3779B97F4A7C15u;
    uint32_t i = (uint32_t)(h >> 40) & (l->n_slot - 1);

    for (; l->slot[i].word; i = (i + 1) & (l->n_slot - 1))
        if (l->slot[i].key == key && l->slot[i].n == n &&
            (n <= 8 || !memcmp(l->f.word[l->slot[i].word - 1].text.s, s, n)))
            break;
    return &l->slot[i];
}

static int find_id(const Load *l, const char *s, uint32_t n)
{
    uint32_t k = find_slot(l, s, n, key_of(s, n))->word;
    return k ? l->f.word[k - 1].id : -1;
}

static uint32_t table_size(size_t n)
{
    uint32_t size = 16;
    while (size < n + n / 3)
        size *= 2;
    return size;
}

/* byte -> character of GPT-2's alphabet: printable Latin-1 stands for itself, the
 * other 68 bytes are U+0100... in rising order. */
static void byte_alphabet(int to_char[256], int to_byte[512])
{
    int n = 0;

    for (int i = 0; i < 512; i++)
        to_byte[i] = -1;
    for (int b = 0; b < 256; b++) {
        int plain = (b >= 33 && b <= 126) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
        to_char[b] = plain ? b : 256 + n++;
        to_byte[to_char[b]] = b;
    }
}

/* Appends the bytes that a word stands for; a word with a character outside
 * the alphabet stands for itself. @return its characters, 0 if not UTF-8. */
static int word_bytes(Load *l, const AgView *v, const int to_byte[512], AgSpan *out)
{
    AgBuf *pool = &l->pool;
    size_t at = pool->size, n = 0;
    int n_char = 0, plain = 0;

    ag_buf_add(pool, v->s, v->n); /* as long as it can get; written over below */
    if (!ag_buf_ok(pool))
        return 1; /* reported when all words are done */
    for (size_t i = 0; i < v->n; n_char++) {
        uint32_t c = (unsigned char)v->s[i];
        i += (size_t)(c < 0x80 ? 1 : ag_utf8_next(v->s + i, v->n - i, &c));
        if (c == AG_UTF8_BAD)
            return 0;
        plain |= c >= 512 || to_byte[c] < 0;
        if (!plain)
            pool->data[at + n++] = (char)to_byte[c];
    }
    if (plain)
        memcpy(pool->data + at, v->s, n = v->n);
    pool->size = at + n;
    *out = (AgSpan){(uint32_t)at, (uint32_t)n};
    return n_char ? n_char : 1;
}

/* Hash of the vocabulary and the size of the id space. */
static int index_words(Load *l, const json_t *added)
{
    AgTokenizer *t = l->t;
    size_t i;
    json_t *v;

    for (i = 0; i < l->f.n_word; i++)
        t->n_id = AG_MAX(t->n_id, l->f.word[i].id + 1);
    json_array_foreach((json_t *)(uintptr_t)added, i, v) {
        const json_t *id = json_object_get(v, "id");
        if (!json_is_integer(id) || json_integer_value(id) < 0 ||
            json_integer_value(id) > AG_MAX_ID)
            return ag_fail(l->f.log, ARGUS_ERR_FORMAT,
                           "%s: added_tokens[%zu]: expected an id from 0 to %d", l->f.file, i,
                           AG_MAX_ID);
        t->n_id = AG_MAX(t->n_id, (int)json_integer_value(id) + 1);
    }
    l->n_slot = table_size(l->f.n_word);
    l->slot = ag_calloc(l->n_slot, sizeof(*l->slot));
    l->by_id = ag_malloc((size_t)t->n_id * sizeof(*l->by_id));
    t->word = ag_calloc((size_t)t->n_id, sizeof(*t->word));
    t->special = ag_calloc((size_t)t->n_id, 1);
    if (!l->slot || !l->by_id || !t->word || !t->special)
        return ag_nomem(l->f.log, l->f.file);
    for (int k = 0; k < t->n_id; k++)
        l->by_id[k] = -1;
    for (i = 0; i < l->f.n_word; i++) {
        AgTokenWord *w = &l->f.word[i];
        uint64_t key = key_of(w->text.s, w->text.n);
        Slot *slot = find_slot(l, w->text.s, w->text.n, key);
        if (slot->word || l->by_id[w->id] >= 0)
            return ag_fail(l->f.log, ARGUS_ERR_FORMAT,
                           "%s: model.vocab: expected each word and id once, "
                           "found %.*s: %d again", l->f.file, (int)AG_MIN(w->text.n, 64u),
                           w->text.s, w->id);
        *slot = (Slot){key, w->text.n, (uint32_t)i + 1};
        l->by_id[w->id] = (int)i;
    }
    return 0;
}

/* Is every word of more than one byte made by a merge? A reader that lost merges
 * would still give text, of the wrong tokens. */
static int check_products(Load *l, const unsigned char *made, const unsigned char *long_word)
{
    const AgTokenizer *t = l->t;
    size_t n_long = 0, n_made = 0;
    int lost = -1;

    for (int id = 0; id < t->n_id; id++) {
        n_long += long_word[id];
        n_made += long_word[id] && made[id];
        if (long_word[id] && !made[id] && lost < 0)
            lost = id;
    }
    if (lost < 0)
        return 0;
    const AgView *v = &l->f.word[l->by_id[lost]].text;
    return ag_fail(l->f.log, ARGUS_ERR_FORMAT,
                   "%s: model.merges: expected merges that make the %zu words "
                   "of model.vocab, found %zu merges that make %zu of them; none makes %.*s",
                   l->f.file, n_long, l->f.n_pair, n_made, (int)AG_MIN(v->n, 64u), v->s);
}

/* Id of left + right. Merges are mostly in the order of the ids they make, so
 * the one after the last is tried before the hash. */
static int product(Load *l, const AgView pair[2], int guess, AgBuf *joined)
{
    uint32_t n = pair[0].n, m = pair[1].n;

    if (guess < l->t->n_id && l->by_id[guess] >= 0) {
        const AgView *v = &l->f.word[l->by_id[guess]].text;
        if (v->n == n + m && !memcmp(v->s, pair[0].s, n) && !memcmp(v->s + n, pair[1].s, m))
            return guess;
    }
    ag_buf_clear(joined);
    ag_buf_add(joined, pair[0].s, n);
    ag_buf_add(joined, pair[1].s, m);
    return ag_buf_ok(joined) ? find_id(l, joined->data, (uint32_t)joined->size) : -1;
}

static int build_merges(Load *l, unsigned char *made)
{
    AgTokenizer *t = l->t;
    AgBuf joined = {0};
    int last = 0, err = 0;

    t->n_merge = (uint32_t)l->f.n_pair;
    t->n_slot = table_size(2 * l->f.n_pair); /* more than half free: one probe is mostly enough */
    t->merge = ag_malloc(ag_mul(l->f.n_pair, sizeof(*t->merge)));
    t->slot = ag_calloc(t->n_slot, sizeof(*t->slot));
    if (!t->merge || !t->slot)
        return ag_nomem(l->f.log, l->f.file);
    for (uint32_t r = 0; r < t->n_merge && err >= 0; r++) {
        const AgView *p = l->f.pair[r];
        AgMerge *m = &t->merge[r];
        m->left = find_id(l, p[0].s, p[0].n);
        m->right = find_id(l, p[1].s, p[1].n);
        m->id = last = product(l, p, last + 1, &joined);
        if (!ag_buf_ok(&joined)) {
            err = ag_nomem(l->f.log, l->f.file);
        } else if (m->left < 0 || m->right < 0 || m->id < 0) {
            err = ag_fail(l->f.log, ARGUS_ERR_FORMAT,
                          "%s: model.merges[%u]: expected two words of "
                          "model.vocab that join to a third, found \"%.*s\" and \"%.*s\"",
                          l->f.file, r, (int)AG_MIN(p[0].n, 64u), p[0].s, (int)AG_MIN(p[1].n, 64u),
                          p[1].s);
        } else {
            made[m->id] = 1;
            t->slot[ag_merge_slot(t, m->left, m->right)] = r + 1; /* a later one replaces */
        }
    }
    ag_buf_free(&joined);
    return err;
}

/* Bytes of all words, ids of single bytes, the merges. */
static int build_words(Load *l)
{
    AgTokenizer *t = l->t;
    int to_char[256], to_byte[512], err = 0;
    char text[4];
    unsigned char *long_word = ag_calloc((size_t)t->n_id, 1), *made = ag_calloc((size_t)t->n_id, 1);

    if (!long_word || !made)
        err = ag_nomem(l->f.log, l->f.file);
    byte_alphabet(to_char, to_byte);
    for (int b = 0; b < 256; b++)
        t->byte_id[b] = find_id(l, text, (uint32_t)ag_utf8_write((uint32_t)to_char[b], text));
    for (size_t i = 0; i < l->f.n_word && err >= 0; i++) {
        const AgTokenWord *w = &l->f.word[i];
        int n_char = word_bytes(l, &w->text, to_byte, &t->word[w->id]);
        if (!n_char)
            err = ag_fail(l->f.log, ARGUS_ERR_FORMAT,
                          "%s: model.vocab: expected UTF-8, found other bytes "
                          "in the word of id %d", l->f.file, w->id);
        else
            long_word[w->id] = n_char > 1;
    }
    for (int i = 0; i < t->n_added && err >= 0; i++) {
        const AgView v = {t->added[i].text, t->added[i].n};
        int id = t->added[i].id;
        if (!t->word[id].n)
            word_bytes(l, &v, to_byte, &t->word[id]);
        long_word[id] = 0;
    }
    if (err >= 0)
        err = build_merges(l, made);
    if (err >= 0)
        err = check_products(l, made, long_word);
    ag_free(long_word);
    ag_free(made);
    if (err >= 0 && !ag_buf_ok(&l->pool))
        err = ag_nomem(l->f.log, l->f.file);
    t->pool = l->pool.data;
    l->pool = (AgBuf){0};
    return err;
}

/* ---- added tokens */

static int longer_first(const void *a, const void *b)
{
    const AgAdded *x = a, *y = b;

    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    return memcmp(x->text, y->text, x->n);
}

static int flag(const json_t *v, const char *key)
{
    return json_is_true(json_object_get(v, key));
}

/* Ids were checked by index_words(). */
static int read_added(Load *l, const json_t *list)
{
    AgTokenizer *t = l->t;
    size_t i, n = json_array_size(list);
    json_t *v;

    if (n > MAX_ADDED)
        return ag_fail(l->f.log, ARGUS_ERR_FORMAT,
                       "%s: added_tokens: expected at most %d, found %zu", l->f.file, MAX_ADDED,
                       n);
    t->added = ag_calloc(n + 1, sizeof(*t->added));
    if (!t->added)
        return ag_nomem(l->f.log, l->f.file);
    json_array_foreach((json_t *)(uintptr_t)list, i, v) {
        const json_t *content = json_object_get(v, "content");
        int id = (int)json_integer_value(json_object_get(v, "id"));
        if (!json_is_string(content))
            return ag_fail(l->f.log, ARGUS_ERR_FORMAT, "%s: added_tokens[%zu]: expected a content",
                           l->f.file, i);
        const char *s = json_string_value(content);
        uint32_t m = (uint32_t)json_string_length(content);
        int known = find_id(l, s, m);
        if (!m)
            continue;
        if (known >= 0 ? known != id : l->by_id[id] >= 0)
            return ag_fail(l->f.log, ARGUS_ERR_FORMAT,
                           "%s: added_tokens[%zu]: expected the id that "
                           "model.vocab has, found %s with id %d", l->f.file, i, s, id);
        AgAdded *a = &t->added[t->n_added];
        *a = (AgAdded){ag_strndup(s, m), m, id, flag(v, "special"), flag(v, "single_word"),
                       flag(v, "lstrip"), flag(v, "rstrip"), flag(v, "normalized")};
        if (!a->text)
            return ag_nomem(l->f.log, l->f.file);
        t->n_added++;
        t->special[id] |= (unsigned char)a->special;
        t->added_first[(unsigned char)*s] = 1;
        t->any_normalized |= a->normalized;
    }
    qsort(t->added, (size_t)t->n_added, sizeof(*t->added), longer_first);
    for (int k = 1; k < t->n_added; k++)
        if (!longer_first(&t->added[k - 1], &t->added[k]))
            return ag_fail(l->f.log, ARGUS_ERR_FORMAT,
                           "%s: added_tokens: expected each token once, found %s twice",
                           l->f.file, t->added[k].text);
    return 0;
}

/* ---- what the file asks for */

static int unsupported(Load *l, const char *what, const char *expected, const json_t *found)
{
    char *text = json_dumps(found, JSON_ENCODE_ANY | JSON_COMPACT);

    ag_fail(l->f.log, ARGUS_ERR_UNSUPPORTED, "%s: %s: expected %s, found %.200s", l->f.file, what,
            expected, text ? text : "nothing");
    free(text);
    return ARGUS_ERR_UNSUPPORTED;
}

static int is_type(const json_t *v, const char *type)
{
    const char *s = json_string_value(json_object_get(v, "type"));
    return s && !strcmp(s, type);
}

/* Absent, null, false or "". */
static int is_off(const json_t *v)
{
    return !v || json_is_null(v) || json_is_false(v) ||
        (json_is_string(v) && !json_string_length(v));
}

/* ByteLevel with its pattern and without a blank put in front. */
static int is_byte_level(const json_t *v)
{
    const json_t *regex = json_object_get(v, "use_regex");
    return is_type(v, "ByteLevel") && is_off(json_object_get(v, "add_prefix_space")) &&
           (!regex || json_is_true(regex));
}

/* The pattern that does the work of the pre-tokenizer, NULL for one that none does. */
static const char *choose_split(const json_t *pre)
{
    const json_t *list = json_object_get(pre, "pretokenizers"), *digits = json_array_get(list, 0);

    if (is_byte_level(pre))
        return split_plain;
    if (!is_type(pre, "Sequence"))
        return NULL;
    if (json_array_size(list) == 1 && is_byte_level(digits))
        return split_plain;
    if (json_array_size(list) != 2 || !is_type(digits, "Digits") ||
        !is_byte_level(json_array_get(list, 1)))
        return NULL;
    return flag(digits, "individual_digits") ? split_each_digit : split_digit_runs;
}

static int check_kind(Load *l, const json_t *root)
{
    static const char *const off[] = {"dropout", "unk_token", "continuing_subword_prefix",
                                      "end_of_word_suffix", "fuse_unk", "byte_fallback",
                                      "ignore_merges"};
    const json_t *model = json_object_get(root, "model"), *type = json_object_get(model, "type");
    const json_t *post = json_object_get(root, "post_processor");
    const json_t *decoder = json_object_get(root, "decoder");

    if (type && !is_type(model, "BPE"))
        return unsupported(l, "model.type", "BPE", type);
    for (size_t i = 0; i < AG_COUNT(off); i++)
        if (!is_off(json_object_get(model, off[i])))
            return unsupported(l, off[i], "null, false or \"\"", json_object_get(model, off[i]));
    if (!is_off(json_object_get(root, "normalizer")))
        return unsupported(l, "normalizer", "null", json_object_get(root, "normalizer"));
    if (!is_off(post) && !is_type(post, "ByteLevel"))
        return unsupported(l, "post_processor", "null or ByteLevel", post);
    if (!is_type(decoder, "ByteLevel"))
        return unsupported(l, "decoder", "ByteLevel", decoder);
    if (!choose_split(json_object_get(root, "pre_tokenizer")))
        return unsupported(l, "pre_tokenizer", "ByteLevel, or Digits and ByteLevel",
                           json_object_get(root, "pre_tokenizer"));
    if (!l->f.n_word || !l->f.n_pair)
        return ag_fail(l->f.log, ARGUS_ERR_FORMAT, "%s: expected words in model.vocab and pairs in "
                       "model.merges, found %zu and %zu", l->f.file, l->f.n_word, l->f.n_pair);
    return 0;
}

/* ---- patterns */

static void *pcre_malloc(size_t n, void *opaque)
{
    (void)opaque;
    return ag_malloc(n);
}

static void pcre_free(void *p, void *opaque)
{
    (void)opaque;
    ag_free(p);
}

static int compile(Load *l, pcre2_code **out, const char *pattern)
{
    pcre2_compile_context *cc = pcre2_compile_context_create(l->t->mem);
    int code = 0;
    PCRE2_SIZE at = 0;
    char why[128] = "";

    if (!cc)
        return ag_nomem(l->f.log, l->f.file);
    *out = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_UTF | PCRE2_UCP, &code,
                         &at, cc);
    pcre2_compile_context_free(cc);
    if (!*out && code == PCRE2_ERROR_HEAP_FAILED)
        return ag_nomem(l->f.log, l->f.file);
    if (!*out) { /* PCRE2 built without Unicode */
        pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof(why));
        return ag_fail(l->f.log, ARGUS_ERR_UNSUPPORTED,
                       "expected a PCRE2 library with Unicode, found: %s", why);
    }
    pcre2_jit_compile(*out, PCRE2_JIT_COMPLETE); /* where there is none, the interpreter runs */
    return 0;
}

static int build_patterns(Load *l, const json_t *root)
{
    AgTokenizer *t = l->t;
    int single = 0, err;

    t->mem = pcre2_general_context_create(pcre_malloc, pcre_free, NULL);
    if (!t->mem)
        return ag_nomem(l->f.log, l->f.file);
    err = compile(l, &t->split, choose_split(json_object_get(root, "pre_tokenizer")));
    for (int i = 0; i < t->n_added; i++)
        single |= t->added[i].single_word;
    if (err >= 0 && single)
        err = compile(l, &t->word_char, word_char);
    return err;
}

static int build(Load *l)
{
    json_error_t e;
    json_t *root = json_loadb(l->f.rest.data, l->f.rest.size, 0, &e);
    const json_t *added = json_object_get(root, "added_tokens");
    int err;

    if (!root && json_error_code(&e) == json_error_out_of_memory)
        return ag_nomem(l->f.log, l->f.file);
    if (!root)
        return ag_fail(l->f.log, ARGUS_ERR_FORMAT, "%s: expected JSON, found: %s", l->f.file,
                       e.text);
    if ((err = check_kind(l, root)) >= 0 && (err = index_words(l, added)) >= 0 &&
        (err = read_added(l, added)) >= 0 && (err = build_words(l)) >= 0)
        err = build_patterns(l, root);
    json_decref(root);
    return err;
}

int ag_tokenizer_open(AgTokenizer **out, const AgSource *src, const ArgusLogger *log)
{
    char name[1024];
    Load l = {.f = {.log = log}};
    AgBlob blob;
    int err;

    *out = NULL;
    l.f.file = ag_source_name(src, "tokenizer.json", name, sizeof(name));
    if ((err = ag_source_open(&blob, src, "tokenizer.json", 0, log)) < 0)
        return err;
    l.t = ag_calloc(1, sizeof(*l.t));
    if (!l.t)
        err = ag_nomem(log, name);
    else if ((err = ag_token_file_scan(&l.f, (const char *)blob.data, blob.size)) >= 0)
        err = build(&l);
    ag_token_file_free(&l.f);
    ag_blob_free(&blob);
    ag_free(l.slot);
    ag_free(l.by_id);
    ag_buf_free(&l.pool);
    if (err < 0)
        ag_tokenizer_close(&l.t);
    *out = l.t;
    return err;
}

void ag_tokenizer_close(AgTokenizer **tp)
{
    AgTokenizer *t = *tp;

    if (!t)
        return;
    for (int i = 0; i < t->n_added; i++)
        ag_free(t->added[i].text);
    pcre2_code_free(t->split);
    pcre2_code_free(t->word_char);
    pcre2_general_context_free(t->mem);
    ag_free(t->added);
    ag_free(t->word);
    ag_free(t->pool);
    ag_free(t->special);
    ag_free(t->merge);
    ag_free(t->slot);
    ag_free(t);
    *tp = NULL;
}
