/*
 * Small model folders for tests, whole or broken in one place.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TESTS_MODELGEN_H
#define AG_TESTS_MODELGEN_H

#include "libargus/base/buf.h"
#include "libargus/model/source.h"

/* All of these end the program with a message when the disk does not do its part. */

/* Directory below the test directory, made with its parents; in one of 8 rotating buffers. */
const char *ag_gen_dir(const char *name);
/* Write n bytes, or a string, to dir/file. */
void ag_gen_write(const char *dir, const char *file, const void *data, size_t n);
void ag_gen_text(const char *dir, const char *file, const char *text);
/* Copy a file of models/argus-tiny to dir; where `from` is not NULL, its only occurrence
 * is replaced by `to`. */
void ag_gen_tiny(const char *dir, const char *file, const char *from, const char *to);
/* model.safetensors of models/argus-tiny, without the tensor `drop` if that is not NULL,
 * its BF16 numbers as F32 if f32 is set: the same bits above 16 zero bits. */
void ag_gen_tiny_weights(const char *dir, const char *drop, int f32);
/* safetensors: length of the header, header, n_data bytes that count 0, 1, ... 250, 0, ...
 * length < 0 = the true one, after blanks up to a multiple of 8 as writers put them. */
void ag_gen_safetensors(const char *dir, const char *file, int64_t length, const char *header,
                        size_t n_data);
/* A source for dir, to be freed with ag_source_free(). */
AgSource ag_gen_source(const char *dir);

#endif /* AG_TESTS_MODELGEN_H */
