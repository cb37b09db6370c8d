/*
 * Where captions go: files, standard output, or both.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TOOLS_SINK_H
#define AG_TOOLS_SINK_H

#include "libargus/argus.h"

typedef struct AgSinkOptions {
    char **outs;     /* [n_out] what -o asked for, "-" = standard output; malloc'ed */
    int n_out;
    int format;      /* enum ArgusFormat; AUTO = by the name */
    int lines_json;  /* without -o: jsonl instead of txt */
} AgSinkOptions;

/* Add what one -o names, parted by '|'. @return 0, or -1 when out of memory. */
int ag_sink_add(AgSinkOptions *o, const char *list);
void ag_sink_options_free(AgSinkOptions *o);

/* Can these inputs be written at all: is every format known, has every input
 * files of its own, is no input overwritten? Nothing is opened.
 * @return 0, or -1 after a message. */
int ag_sink_check(const AgSinkOptions *o, const char *const *inputs, int n);

/* The same for pictures. */
int ag_sink_check_stills(const AgSinkOptions *o, const char *const *inputs, int n);
/* Answers about one input: text, a line each, and the same as n JSON objects.
 * Every file is written under another name and put in its place when it is
 * whole. @return 0, or the first error; failures have been told. */
int ag_sink_stills(const AgSinkOptions *o, const char *input, const char *text,
                   const char *const *json, int n);

typedef struct AgSink AgSink;

/* Open all outputs of an input. ws is completed with the format. In lines on
 * standard output name, unless it is NULL, stands before each.
 * @return 0 or an error; failures have been told. */
int ag_sink_open(AgSink **s, const AgSinkOptions *o, const char *input,
                 const ArgusWriterSettings *ws, const char *name);
/* Write a cue to all of them, also when one fails. @return 0, or the first error. */
int ag_sink_cue(AgSink *s, const ArgusCue *cue);
/* Complete the files and close them. @return 0, or the first error. */
int ag_sink_close(AgSink **s);

#endif /* AG_TOOLS_SINK_H */
