/*
 * JSON of cues and captions: strict, one line for each object, the same bytes
 * in every locale.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_SUBTITLE_JSON_H
#define AG_SUBTITLE_JSON_H

#include "libargus/argus.h"
#include "libargus/base/buf.h"

/* Append a string in quotes, broken UTF-8 as U+FFFD; null for NULL. */
void ag_json_string(AgBuf *b, const char *s);
/* The question of a cue, as JSON has it: NULL = none. */
const char *ag_cue_prompt(const ArgusCue *cue, const ArgusWriterSettings *s);
/* Append the video's name and what separates it from the next field; nothing
 * when the writer was told none. */
void ag_json_source(AgBuf *b, const ArgusWriterSettings *s, const char *separator);
/* Append the fields of a cue, without braces. */
void ag_json_segment(AgBuf *b, const ArgusCue *cue);
/* Append the fields that say where cues come from, without braces. decode: key
 * or NULL; window: name of the field with the window's size. */
void ag_json_origin(AgBuf *b, const ArgusWriterSettings *s, const char *prompt, const char *decode,
                    const char *window);
/* Append the decode key, e.g. greedy-64, greedy-64-q8, sampled-64-t0.7-seed42-k40-p0.9. */
void ag_decode_key(AgBuf *b, const ArgusDecoding *d, int precision);
/* Append a fraction in lowest terms: 30000/1001. */
void ag_put_rational(AgBuf *b, ArgusRational r);

#endif /* AG_SUBTITLE_JSON_H */
