/*
 * Unit tests: one file per module, each with one function that adds its suite.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TESTS_UNIT_H
#define AG_TESTS_UNIT_H

#include <CUnit/CUnit.h>

#include "libargus/argus.h"

/* Every suite: X(name) stands for ag_tests_name() in tests/unit/name.c. */
#define AG_SUITES(X) \
    X(base) X(caption) X(context) X(kvcache) X(prompt) X(numerics) X(quant) \
    X(sample) X(sha256) X(utf8) X(config) X(manifest) X(models) X(source) X(weights) \
    X(tokenizer) \
    X(tokenizer_load) \
    X(image) \
    X(preprocess) \
    X(track) X(track_fail) X(track_sampler) X(track_position) X(track_queue) X(draft) \
    X(track_random) \
    X(subtitle) X(subtitle_text) X(subtitle_stream) X(cea608) \
    X(picture)

#define AG_DECLARE_SUITE(name) void ag_tests_##name(void);
AG_SUITES(AG_DECLARE_SUITE)

typedef struct AgTest {
    const char *name;
    void (*fn)(void);
} AgTest;

/* Add a suite from a table that ends with {NULL, NULL}. */
void ag_suite(const char *name, const AgTest *tests);

/* Note that the running test could not be done here; counted and printed. */
void ag_skip(const char *what, const char *why);

/* Logger that keeps all messages of the running test, newest last, one a line;
 * and whether one of them has a text. ag_messages() gives them all. */
const ArgusLogger *ag_test_log(void);
const char *ag_messages(void);
int ag_message_has(const char *text);
void ag_messages_clear(void);

/* Directory with models/ of the published files, NULL if ARGUS_TEST_DATA is unset. */
const char *ag_test_data(void);
/* Path of a file in the source tree: tests/..., in one of 8 rotating buffers. */
const char *ag_source_path(const char *file);
/* A fresh directory of this run for files; removed at the end. */
const char *ag_test_dir(void);

#endif /* AG_TESTS_UNIT_H */
