/*
 * Helpers of the writers' tests: a stream in memory, cues, comparisons.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TESTS_MEMIO_H
#define AG_TESTS_MEMIO_H

#include <jansson.h>

#include "tests/unit/unit.h"

typedef struct Mem {
    char data[1 << 16]; /* what was written, and a 0 */
    size_t size, at;
    int n_write, n_flush, n_seek;
    int fail_write;     /* from the n-th write on, counted from 1; 0 = never */
    int fail_seek;
} Mem;

extern Mem mem;                       /* the one that both streams write to */
extern const ArgusStream mem_file;    /* can seek */
extern const ArgusStream mem_pipe;    /* can't */

/* Default settings of a format. */
ArgusWriterSettings mem_settings(int format);
/* Settings with a model, fps 2 and greedy-64. */
ArgusWriterSettings mem_json_settings(int format, ArgusDecoding *d);
/* A writer on an empty stream. */
ArgusWriter *mem_open(const ArgusWriterSettings *s, const ArgusStream *io);
/* All cues through one writer, and finish. */
void mem_write_all(const ArgusWriterSettings *s, const ArgusStream *io, const ArgusCue *c,
                   size_t n);
/* A cue in milliseconds. */
ArgusCue mem_cue(int64_t start_ms, int64_t end_ms, const char *text);
/* Three cues of all kinds. */
extern const ArgusCue mem_three[3];

/* Assert that mem holds this text. */
void mem_expect(const char *text);
/* Parse strictly; asserts that it can be done. Free with json_decref(). */
json_t *mem_parse(const char *data, size_t size);
/* Assert that mem holds a whole document with n segments, the last with this
 * text; NULL: any. */
void mem_expect_segments(size_t n, const char *text);

#endif /* AG_TESTS_MEMIO_H */
