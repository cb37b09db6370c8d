/*
 * Byte-level BPE as tokenizer.json describes it: added tokens split first
 * (when asked), digits alone, the GPT-2 pattern, merges by rank.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_MODEL_TOKENIZER_H
#define AG_MODEL_TOKENIZER_H

#include "libargus/base/buf.h"
#include "libargus/model/source.h"

typedef struct AgTokenizer AgTokenizer; /* immutable once open, any number of threads */

/* Growing list of ids. Failure is sticky, as AgBuf. */
typedef struct AgIds {
    int *id;
    int n, cap;
    int failed;
} AgIds;

void ag_ids_add(AgIds *ids, int id);
void ag_ids_free(AgIds *ids);

int ag_tokenizer_open(AgTokenizer **out, const AgSource *src, const ArgusLogger *log);
void ag_tokenizer_close(AgTokenizer **t);

int ag_tokenizer_size(const AgTokenizer *t); /* ids are 0..size-1 */
/* Most bytes that ag_tokenizer_bytes() can append for one id. */
int ag_tokenizer_longest(const AgTokenizer *t);
/* Append the ids of n bytes of text. Invalid UTF-8 becomes U+FFFD. special = 1: added tokens
 * written out in the text become their ids; 0: they are plain text. Bytes
 * without a vocabulary entry vanish, as in the reference. @return 0 or ENOMEM. */
int ag_tokenizer_encode(const AgTokenizer *t, const char *text, size_t n, int special, AgIds *out);
/* Id of an added token ("<image>"), -1 if there is none. */
int ag_tokenizer_special(const AgTokenizer *t, const char *token);
int ag_tokenizer_is_special(const AgTokenizer *t, int id);
/* Append the bytes of one id: raw bytes of a word, nothing or the written form
 * of a special token. Bytes may be part of a UTF-8 sequence. */
void ag_tokenizer_bytes(const AgTokenizer *t, int id, int skip_special, AgBuf *out);
/* Append text of n ids, valid UTF-8: broken sequences become U+FFFD. */
void ag_tokenizer_decode(const AgTokenizer *t, const int *ids, int n, int skip_special, AgBuf *out);

#endif /* AG_MODEL_TOKENIZER_H */
