/*
 * What tokenizer_load.c makes and tokenizer.c uses.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_MODEL_TOKENIZER_PRIV_H
#define AG_MODEL_TOKENIZER_PRIV_H

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "libargus/model/tokenizer.h"

#define AG_MAX_ID 1000000

/* Bytes of a string inside a pool. */
typedef struct AgSpan {
    uint32_t at, n;
} AgSpan;

typedef struct AgAdded {
    char *text; /* as written in a prompt */
    uint32_t n;
    int id;
    int special, single_word, lstrip, rstrip, normalized;
} AgAdded;

/* Merge number r, which is its rank too, joins left and right to id. */
typedef struct AgMerge {
    int left, right, id;
} AgMerge;

struct AgTokenizer {
    int n_id;            /* ids are 0..n_id-1 */
    AgSpan *word;        /* [n_id] raw bytes in pool; n = 0 for unused ids */
    char *pool;
    unsigned char *special; /* [n_id] */
    int byte_id[256];    /* id of a single byte, -1 = none */
    AgMerge *merge;      /* [n_merge] */
    uint32_t *slot;      /* hash table of n_slot merges by (left, right); 0 = free, else rank + 1 */
    uint32_t n_merge, n_slot; /* n_slot is a power of two above n_merge */
    AgAdded *added;      /* [n_added], longest first */
    int n_added;
    unsigned char added_first[256]; /* 1 for bytes that some added token begins with */
    int any_normalized;  /* added tokens that are searched after the others */
    pcre2_general_context *mem;
    pcre2_code *split;   /* pre-tokenizer: one match, one word */
    pcre2_code *word_char; /* one character of a word; NULL if no added token asks */
};

/* ---- the file while it is loaded (tokenizer_json.c) */

typedef struct AgView {
    const char *s;
    uint32_t n;
} AgView;

typedef struct AgTokenWord {
    AgView text;
    int id;
} AgTokenWord;

typedef struct AgTokenFile {
    const char *file; /* for messages */
    const ArgusLogger *log;
    AgTokenWord *word;    /* [n_word] model.vocab in file order */
    AgView (*pair)[2];    /* [n_pair] model.merges */
    size_t n_word, cap_word, n_pair, cap_pair;
    int seen_vocab, seen_merges;
    AgBuf rest;           /* the file without those two */
    /* the scanner */
    const char *begin, *p, *end;
    const char *copied;   /* up to here it is in rest */
    char *arena;          /* strings with escapes, written plain; as large as the file */
    size_t n_arena;
    int err;
} AgTokenFile;

/* Fill a zeroed f (file and log set). Texts are views of `text` and of the
 * arena. @return 0, ARGUS_ERR_FORMAT, ENOMEM. */
int ag_token_file_scan(AgTokenFile *f, const char *text, size_t size);
void ag_token_file_free(AgTokenFile *f);

/* Place in the table of merges where (left, right) is, or would be. */
static inline uint32_t ag_merge_slot(const AgTokenizer *t, int left, int right)
{
    uint64_t h = ((uint64_t)(uint32_t)left << 32 | (uint32_t)right) * 0x9E3779B97F4A7C15u;
    uint32_t i = (uint32_t)(h >> 32) & (t->n_slot - 1);

    while (t->slot[i]) {
        const AgMerge *m = &t->merge[t->slot[i] - 1];
        if (m->left == left && m->right == right)
            break;
        i = (i + 1) & (t->n_slot - 1);
    }
    return i;
}

#endif /* AG_MODEL_TOKENIZER_PRIV_H */
