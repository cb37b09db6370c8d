/*
 * What the two suites about the tokenizer share.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TESTS_TOKENIZER_H
#define AG_TESTS_TOKENIZER_H

#include "libargus/model/tokenizer.h"

/* Open the tokenizer of a directory, with messages kept. */
int ag_tok_open(AgTokenizer **t, const char *dir);
/* The ids of a text as "1 2 3", until the next call. */
const char *ag_tok_ids(const AgTokenizer *t, const char *text, size_t n, int special);
/* Assert the ids of a text. */
void ag_tok_expect(const AgTokenizer *t, const char *text, int special, const char *ids);

#endif /* AG_TESTS_TOKENIZER_H */
