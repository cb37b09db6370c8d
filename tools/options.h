/*
 * The program's command line.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TOOLS_OPTIONS_H
#define AG_TOOLS_OPTIONS_H

#include "tools/picture.h"
#include "tools/video.h"

/* What can be asked of the program; each option says which of them take it. */
enum AgVerb {
    AG_VERB_CAPTION = 1 << 0, /* no word: describe the inputs */
    AG_VERB_INFO = 1 << 1,    /* argus info */
    AG_VERB_BENCH = 1 << 2,   /* argus bench */
    AG_VERB_MODELS = 1 << 3,  /* argus models */
};

/* Exit codes. */
enum { AG_EXIT_OK, AG_EXIT_FAILED, AG_EXIT_USAGE };

/* The command line, checked as far as it can be without a model. Strings are
 * of argv, or live as long as the object. */
typedef struct AgCli {
    const char **prompts;  /* [n_prompt], at least one; "" asks for a plain caption */
    int n_prompt;
    const char **inputs;   /* [n_input] */
    int n_input;
    const char *model;     /* NULL = the library's default */
    const char *system;    /* NULL = none */
    unsigned cpumask;
    int precision;         /* enum ArgusPrecision */
    int threads;           /* 0 = all usable cores */
    int split;
    int multi, json, stream, stats, quiet;
    int formula_w, formula_h, frames, runs, peak; /* bench */
    const char *fetch, *verify, *base_url; /* models; NULL = not given */
    AgPicOptions picture;
    const char *picture_given; /* an option of pictures only that was given, NULL = none */
    AgVideoOptions video;
    ArgusDecoding decoding;
    const char **stop;     /* what decoding points to */
    const char **choices;
    char *choice_text;     /* the strings of choices */
} AgCli;

/* @return -1 to go on; else the exit code, after help or a message. */
int ag_cli_parse(AgCli *o, int verb, int argc, char **argv);
void ag_cli_free(AgCli *o);

#endif /* AG_TOOLS_OPTIONS_H */
