/*
 * The program's command line: one table says what options there are, who
 * takes them, and what --help prints.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _POSIX_C_SOURCE 200809L
#include "tools/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/media.h"
#include "tools/output.h"
#include "tools/say.h"
#include "tools/values.h"
#include "tools/verbs.h"

enum Id {
    PROMPT, MODEL, MAX_TOKENS, SPLIT, MULTI, SYSTEM, JSON, STREAM, LENIENT, ALPHA, TEMPERATURE,
    TOP_K, TOP_P, SEED, PENALTY, STOP, CHOICES, THREADS, CPUMASK, PRECISION, STATS, FORMULA, FRAMES,
    TOKENS, RUNS, PEAK, FETCH, VERIFY, BASE_URL,
    QUIET, HELP, VERSION,
    OUT, FORMAT, FPS, WINDOW, HOP, MAX_FRAMES, FROM, TO, OFFSET, COPYTS, SAR, MERGE, WRAP, LINES,
    REUSE,
    N_ID,
    FIRST_VIDEO = OUT, /* these are for videos only */
};

#define CAPTION AG_VERB_CAPTION
#define BENCH AG_VERB_BENCH
#define MODELS AG_VERB_MODELS
#define RUNS_MODEL (AG_VERB_CAPTION | AG_VERB_INFO | AG_VERB_BENCH)
#define ALL (RUNS_MODEL | AG_VERB_MODELS)

static const struct {
    const char *name;
    char letter;        /* 0 = none */
    const char *value;  /* what --help calls the argument, NULL = it takes none */
    int verbs;
    const char *help;
} table[N_ID] = {
    [PROMPT] = {"prompt", 'p', "QUESTION", CAPTION | BENCH,
                "what to ask; several: one answer each"},
    [MODEL] = {"model", 'm', "DIR|NAME", RUNS_MODEL, "model directory or name"},
    [MAX_TOKENS] = {"max-tokens", 0, "N", CAPTION, "longest answer [256; videos: 64]"},
    [SPLIT] = {"split", 0, "on|off", CAPTION | BENCH,
               "tiles and a global view, or not [on; videos: off]"},
    [MULTI] = {"multi", 0, NULL, CAPTION, "one question about all pictures together"},
    [SYSTEM] = {"system", 0, "TEXT", CAPTION, "instruction before the question"},
    [JSON] = {"json", 0, NULL, CAPTION | BENCH | MODELS, "one JSON object a line"},
    [STREAM] = {"stream", 0, NULL, CAPTION, "print each word as soon as it is known"},
    [LENIENT] = {"lenient", 0, NULL, CAPTION, "take truncated pictures, with a warning"},
    [ALPHA] = {"alpha", 0, "HOW", CAPTION, "drop, or lay over white or black [drop]"},
    [TEMPERATURE] = {"temperature", 0, "T", CAPTION, "sample, 0 to 100; needs --seed [0]"},
    [TOP_K] = {"top-k", 0, "N", CAPTION, "sample from the N likeliest tokens; 0 = off [0]"},
    [TOP_P] = {"top-p", 0, "P", CAPTION, "sample from the likeliest with sum P; 1 = off [1]"},
    [SEED] = {"seed", 0, "N", CAPTION, "seed of the sampling; the same gives the same text"},
    [PENALTY] = {"repetition-penalty", 0, "R", CAPTION, "more than 0, at most 100; 1 = off [1]"},
    [STOP] = {"stop", 0, "TEXT", CAPTION, "end the answer before TEXT; may be given again"},
    [CHOICES] = {"choices", 0, "A|B|...", CAPTION, "answer with the likeliest of these"},
    [THREADS] = {"threads", 0, "N", RUNS_MODEL, "1 to 64; 0 = all usable cores [0]"},
    [CPUMASK] = {"cpumask", 0, "SET", RUNS_MODEL,
                 "instruction sets to use: c, avx2, avx512, neon, all"},
    [PRECISION] = {"precision", 0, "exact|q8", RUNS_MODEL,
                   "q8: int8 weights, faster, words may differ [exact]"},
    [STATS] = {"stats", 0, NULL, CAPTION, "times, counts and memory on stderr at the end"},
    [FORMULA] = {"formula", 0, "WxH", BENCH, "size of the computed picture [512x512]"},
    [FRAMES] = {"frames", 0, "N", BENCH, "pictures in the prompt, 1 to 64; above 1 unsplit [1]"},
    [TOKENS] = {"tokens", 0, "N", BENCH, "longest answer [32]"},
    [RUNS] = {"runs", 0, "N", BENCH, "runs, 1 to 100 [3]"},
    [PEAK] = {"peak", 0, NULL, BENCH, "only measure the machine"},
    [FETCH] = {"fetch", 0, "NAME", MODELS, "download a model into the data directory"},
    [VERIFY] = {"verify", 0, "NAME", MODELS, "compare a model's files with its manifest"},
    [BASE_URL] = {"base-url", 0, "URL", MODELS, "fetch from here [https://huggingface.co]"},
    [QUIET] = {"quiet", 'q', NULL, CAPTION | MODELS, "no warnings"},
    [HELP] = {"help", 'h', NULL, ALL, "print this text"},
    [VERSION] = {"version", 'V', NULL, ALL, "print the version"},
    [OUT] = {"output", 'o', "FILE", CAPTION, "write here, several with | or again; - is stdout"},
    [FORMAT] = {"format", 0, "NAME", CAPTION,
                "srt, vtt, json, jsonl, txt, ffmeta [by FILE's name]"},
    [FPS] = {"fps", 0, "N|N/D", CAPTION, "frames to look at a second; 0 = every one [1]"},
    [WINDOW] = {"window", 0, "N", CAPTION, "frames of one caption [8]"},
    [HOP] = {"hop", 0, "N", CAPTION, "frames from one window to the next; 0 = window [0]"},
    [MAX_FRAMES] = {"max-frames", 0, "N", CAPTION, "look at no more than N; 0 = no limit [0]"},
    [FROM] = {"ss", 0, "TIME", CAPTION, "begin here; times count from here"},
    [TO] = {"to", 0, "TIME", CAPTION, "end here"},
    [OFFSET] = {"offset", 0, "TIME", CAPTION, "add this to all times of the captions [0]"},
    [COPYTS] = {"copyts", 0, NULL, CAPTION, "keep the file's times, its start is not taken for 0"},
    [SAR] = {"sar", 0, "square|ignore", CAPTION, "what to do with oblong pixels [square]"},
    [MERGE] = {"merge", 0, NULL, CAPTION, "join captions that follow and are the same"},
    [WRAP] = {"wrap", 0, "COLS", CAPTION, "break lines of srt and vtt; 0 = never [0]"},
    [LINES] = {"lines", 0, "N", CAPTION, "lines a caption; 0 = as many as it takes [0]"},
    [REUSE] = {"reuse", 0, "on|off", CAPTION, "don't compute equal pictures again [on]"},
};

static int help(int verb)
{
    if (verb == AG_VERB_INFO)
        printf("Usage: argus info [OPTION]...\n"
               "Print the version, the processor's kernels, and what the model is.\n\n");
    else if (verb == AG_VERB_BENCH)
        printf("Usage: argus bench [OPTION]... [PICTURE]\n"
               "Time the stages of one prompt, and say what share of the machine that is.\n\n");
    else if (verb == AG_VERB_MODELS)
        printf("Usage: argus models [OPTION]...\n"
               "       argus models --verify=NAME [DIR]\n"
               "       argus models --fetch=NAME [--base-url=URL]\n"
               "List the known models, their licences, and where they are. Nothing is downloaded\n"
               "without --fetch.\n\n");
    else
        printf("Usage: argus [OPTION]... PICTURE|VIDEO...\n"
               "       argus info [OPTION]...\n"
               "       argus bench [OPTION]... [PICTURE]\n"
               "       argus models [OPTION]...\n"
               "Describe pictures, - reads one from stdin, and videos, with times.\n\n");
    for (int i = 0; i < N_ID; i++) {
        char left[48];
        if (!(table[i].verbs & verb))
            continue;
        if (i == FIRST_VIDEO)
            printf("\nVideos; TIME is [[HH:]MM:]SS[.FRACTION]:\n");
        if (table[i].letter)
            snprintf(left, sizeof(left), "-%c, ", table[i].letter);
        else
            snprintf(left, sizeof(left), "    ");
        size_t n = strlen(left);
        snprintf(left + n, sizeof(left) - n, "--%s%s%s", table[i].name,
                 table[i].value ? "=" : "", table[i].value ? table[i].value : "");
        printf("  %-28s %s\n", left, table[i].help);
    }
    if (verb == AG_VERB_CAPTION)
        printf("\nIn FILE %%n stands for the input's name without its extension, %%d for its\n"
               "directory. Answers go to stdout, everything else to stderr. Exit status: 0 all\n"
               "fine, 1 an input failed or an output could not be written, 2 wrong usage.\n");
    return ag_out_flush() < 0 ? AG_EXIT_FAILED : AG_EXIT_OK;
}

static int version(void)
{
    printf("argus %s\n", argus_version_string());
    return ag_out_flush() < 0 ? AG_EXIT_FAILED : AG_EXIT_OK;
}

static int refuse(enum Id id, const char *expected, const char *found)
{
    ag_say(ARGUS_LOG_ERROR, "--%s: expected %s, found '%s'", table[id].name, expected, found);
    return AG_EXIT_USAGE;
}

static int integer(enum Id id, const char *text, long lo, long hi, int *out)
{
    char *end, range[64];
    long v;

    errno = 0;
    v = strtol(text, &end, 10);
    if (end == text || *end || errno || v < lo || v > hi) {
        snprintf(range, sizeof(range), "a number from %ld to %ld", lo, hi);
        return refuse(id, range, text);
    }
    *out = (int)v;
    return -1;
}

static int seed(const char *text, uint64_t *out)
{
    char *end;

    errno = 0;
    *out = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno)
        return refuse(SEED, "a number from 0 to 18446744073709551615", text);
    return -1;
}

/* WIDTHxHEIGHT */
static int size(enum Id id, const char *text, int *w, int *h)
{
    int end = 0;

    if (sscanf(text, "%5dx%5d%n", w, h, &end) != 2 || text[end] || *w < 1 || *h < 1)
        return refuse(id, "WIDTHxHEIGHT, each from 1 to 99999", text);
    return -1;
}

/* NaN is in no range. */
static int real(enum Id id, const char *text, double lo, int lo_open, double hi, double *out)
{
    char *end, range[64];
    double v = strtod(text, &end);

    if (end == text || *end || !(lo_open ? v > lo : v >= lo) || !(v <= hi)) {
        snprintf(range, sizeof(range), lo_open ? "a number above %g, at most %g"
                 : "a number from %g to %g", lo, hi);
        return refuse(id, range, text);
    }
    *out = v;
    return -1;
}

/* Index of a word in a list that ends with NULL. */
static int word(enum Id id, const char *text, const char *const *words, const char *expected,
                int *out)
{
    for (int i = 0; words[i]; i++) {
        if (!strcmp(text, words[i])) {
            *out = i;
            return -1;
        }
    }
    return refuse(id, expected, text);
}

/* A|B|C into the list of choices. The last --choices counts. */
static int choices(AgCli *o, const char *text)
{
    int n = 1;

    for (const char *p = text; *p; p++)
        n += *p == '|';
    if (n > 64)
        return refuse(CHOICES, "at most 64 choices", text);
    free(o->choice_text);
    free(o->choices);
    o->choice_text = malloc(strlen(text) + 1);
    o->choices = calloc((size_t)n, sizeof(*o->choices));
    if (!o->choice_text || !o->choices) {
        ag_say(ARGUS_LOG_ERROR, "out of memory");
        return AG_EXIT_FAILED;
    }
    strcpy(o->choice_text, text);
    char *p = o->choice_text;
    for (int i = 0; i < n; i++) {
        size_t len = strcspn(p, "|");
        o->choices[i] = p;
        if (!len)
            return refuse(CHOICES, "no empty choice", text);
        p[len] = 0;
        p += len + 1;
    }
    o->decoding.choices = o->choices;
    o->decoding.n_choice = n;
    return -1;
}

static int stop(AgCli *o, const char *text)
{
    if (!*text)
        return refuse(STOP, "some text", text);
    o->stop[o->decoding.n_stop++] = text;
    o->decoding.stop = o->stop;
    return -1;
}

enum { MAX_WINDOW = 65536 }; /* argus_track_check()'s */

static const char *const on_off[] = {"off", "on", NULL};

static int point_in_time(enum Id id, const char *text, int64_t least, int64_t *out)
{
    if (ag_value_time(text, out) < 0 || *out < least)
        return refuse(id, "[[HH:]MM:]SS[.FRACTION]", text);
    return -1;
}

static int format(const char *text, int *out)
{
    for (int i = ARGUS_FORMAT_AUTO + 1; argus_format_name(i); i++) {
        if (!strcmp(text, argus_format_name(i))) {
            *out = i;
            return -1;
        }
    }
    return refuse(FORMAT, "srt, vtt, json, jsonl, txt or ffmeta", text);
}

static int set_video(AgVideoOptions *o, enum Id id, const char *v)
{
    static const char *const sars[] = {"ignore", "square", NULL};

    o->given = table[id].name;
    switch (id) {
    case OUT:
        if (ag_sink_add(&o->sink, v) >= 0)
            return -1;
        ag_say(ARGUS_LOG_ERROR, "out of memory");
        return AG_EXIT_FAILED;
    case FORMAT: return format(v, &o->sink.format);
    case FPS:
        return ag_value_rational(v, &o->fps) < 0 ? refuse(id, "a number, or two with / between", v)
                                                 : -1;
    case WINDOW: return integer(id, v, 1, MAX_WINDOW, &o->window);
    case HOP: return integer(id, v, 0, MAX_WINDOW, &o->hop);
    case MAX_FRAMES: return integer(id, v, 0, INT32_MAX, &o->max_frames);
    case FROM: return point_in_time(id, v, 0, &o->from_us);
    case TO: return point_in_time(id, v, 0, &o->to_us);
    case OFFSET: return point_in_time(id, v, INT64_MIN, &o->offset_us);
    case COPYTS: o->copyts = 1; return -1;
    case SAR: return word(id, v, sars, "square or ignore", &o->square);
    case MERGE: o->merge = 1; return -1;
    case WRAP: return integer(id, v, 0, 10000, &o->wrap);
    case LINES: return integer(id, v, 0, 1000, &o->lines);
    case REUSE: return word(id, v, on_off, "on or off", &o->reuse);
    default: return AG_EXIT_USAGE;
    }
}

static int set(AgCli *o, int verb, enum Id id, const char *v)
{
    static const char *const alphas[] = {"drop", "white", "black", NULL};
    static const char *const precisions[] = {"exact", "q8", NULL}; /* enum ArgusPrecision */
    ArgusDecoding *d = &o->decoding;

    switch (id) {
    case PROMPT: o->prompts[o->n_prompt++] = v; return -1;
    case MODEL: o->model = v; return -1;
    case SYSTEM: o->system = v; return -1;
    case MULTI: o->multi = 1; return -1;
    case JSON: o->json = o->video.sink.lines_json = 1; return -1;
    case STREAM: o->stream = 1; return -1;
    case STATS: o->stats = 1; return -1;
    case QUIET: o->quiet = 1; return -1;
    case LENIENT:
        o->picture_given = table[id].name;
        o->picture.lenient = 1;
        return -1;
    case SPLIT:
        if (word(id, v, on_off, "on or off", &o->split) >= 0)
            return AG_EXIT_USAGE;
        o->video.split = o->split;
        return -1;
    case ALPHA:
        o->picture_given = table[id].name;
        return word(id, v, alphas, "drop, white or black", &o->picture.alpha);
    case MAX_TOKENS:
        if (integer(id, v, 1, 1 << 20, &d->max_tokens) >= 0)
            return AG_EXIT_USAGE;
        o->video.max_tokens = d->max_tokens;
        return -1;
    case TOP_K: return integer(id, v, 0, INT32_MAX, &d->top_k);
    case THREADS: return integer(id, v, 0, 64, &o->threads);
    case TEMPERATURE: return real(id, v, 0, 0, 100, &d->temperature);
    case TOP_P: return real(id, v, 0, 1, 1, &d->top_p);
    case PENALTY: return real(id, v, 0, 1, 100, &d->repetition_penalty);
    case SEED: d->seeded = 1; return seed(v, &d->seed);
    case STOP: return stop(o, v);
    case CHOICES: return choices(o, v);
    case CPUMASK:
        return argus_cpu_mask(v, &o->cpumask) < 0
            ? refuse(id, "c, avx2, avx512, neon, all or a number", v) : -1;
    case PRECISION: return word(id, v, precisions, "exact or q8", &o->precision);
    case FORMULA: return size(id, v, &o->formula_w, &o->formula_h);
    case FRAMES: return integer(id, v, 1, 64, &o->frames);
    case TOKENS: return integer(id, v, 1, 1 << 20, &d->max_tokens);
    case RUNS: return integer(id, v, 1, 100, &o->runs);
    case PEAK: o->peak = 1; return -1;
    case FETCH: o->fetch = v; return -1;
    case VERIFY: o->verify = v; return -1;
    case BASE_URL: o->base_url = v; return -1;
    case HELP: return help(verb);
    case VERSION: return version();
    default: return set_video(&o->video, id, v);
    }
}

static int check_models(const AgCli *o)
{
    const char *wrong = NULL;

    if (o->fetch && o->verify)
        wrong = "--fetch can't go together with --verify";
    else if (o->json && (o->fetch || o->verify))
        wrong = "--json can't go together with --fetch or --verify";
    else if (o->base_url && !o->fetch)
        wrong = "--base-url: expected --fetch with it, found none";
    else if (o->n_input > (o->verify != NULL))
        wrong = "models: expected no argument but the directory of --verify";
    if (wrong)
        ag_say(ARGUS_LOG_ERROR, "%s", wrong);
    return wrong ? AG_EXIT_USAGE : -1;
}

/* What only several options together can get wrong. */
static int check(const AgCli *o, int verb)
{
    ArgusLogger log = ag_say_logger();
    ArgusTrackSettings track;
    int n_stdin = 0;

    if (verb == AG_VERB_INFO) {
        if (o->n_input)
            ag_say(ARGUS_LOG_ERROR, "info: expected no picture, found '%s'", o->inputs[0]);
        return o->n_input ? AG_EXIT_USAGE : -1;
    }
    if (verb == AG_VERB_MODELS)
        return check_models(o);
    if (verb == AG_VERB_BENCH) {
        if (o->n_input > 1)
            ag_say(ARGUS_LOG_ERROR, "bench: expected one picture at most, found %d", o->n_input);
        return o->n_input > 1 ? AG_EXIT_USAGE : -1;
    }
    if (!o->n_input) {
        ag_say(ARGUS_LOG_ERROR, "expected a picture or a video, found none");
        return AG_EXIT_USAGE;
    }
    for (int i = 0; i < o->n_input; i++)
        n_stdin += !strcmp(o->inputs[i], "-");
    if (n_stdin > 1) {
        ag_say(ARGUS_LOG_ERROR, "- (stdin) can be read only once");
        return AG_EXIT_USAGE;
    }
    if (o->stream && o->json) {
        ag_say(ARGUS_LOG_ERROR, "--stream can't go together with --json");
        return AG_EXIT_USAGE;
    }
    if (o->json && (o->video.sink.n_out || o->video.sink.format != ARGUS_FORMAT_AUTO)) {
        ag_say(ARGUS_LOG_ERROR, "--json is for standard output; a FILE named .json or --format "
               "says what -o writes");
        return AG_EXIT_USAGE;
    }
    if (o->video.to_us != AG_TIME_NONE && o->video.to_us <=
        (o->video.from_us != AG_TIME_NONE ? o->video.from_us : 0)) {
        ag_say(ARGUS_LOG_ERROR, "--to: expected a time after %s, found one that is not",
               o->video.from_us != AG_TIME_NONE ? "--ss" : "0");
        return AG_EXIT_USAGE;
    }
    ag_video_settings(&track, o);
    if (argus_track_check(&track) < 0)
        return AG_EXIT_USAGE;
    return argus_decoding_check(&o->decoding, &log) < 0 ? AG_EXIT_USAGE : -1;
}

/* getopt's tables for a verb. letters has room for two bytes an option and 2. */
static void tables(int verb, struct option *longs, char *letters)
{
    *letters++ = ':'; /* a missing argument is told apart */
    for (int i = 0; i < N_ID; i++) {
        if (!(table[i].verbs & verb))
            continue;
        *longs++ = (struct option){table[i].name, table[i].value ? required_argument : no_argument,
                                   NULL, 256 + i};
        if (table[i].letter) {
            *letters++ = table[i].letter;
            if (table[i].value)
                *letters++ = ':';
        }
    }
    *longs = (struct option){0};
    *letters = 0;
}

/* Id of what getopt_long gave for the argument arg, or N_ID after a message. */
static enum Id identify(int got, const char *arg)
{
    if (got >= 256)
        return (enum Id)(got - 256);
    for (int i = 0; i < N_ID; i++)
        if (got != '?' && got != ':' && table[i].letter == got)
            return (enum Id)i;
    if (got == ':')
        ag_say(ARGUS_LOG_ERROR, "%s: expected a value after it, found none", arg);
    else if (optopt > 255)
        ag_say(ARGUS_LOG_ERROR, "%s: expected no value with it", arg);
    else if (optopt)
        ag_say(ARGUS_LOG_ERROR, "-%c: no such option", optopt);
    else
        ag_say(ARGUS_LOG_ERROR, "%s: no such option, or more than one begins like that", arg);
    return N_ID;
}

int ag_cli_parse(AgCli *o, int verb, int argc, char **argv)
{
    struct option longs[N_ID + 1];
    char letters[2 * N_ID + 2];
    size_t n = (size_t)argc + 1;
    int got, code = -1;

    *o = (AgCli){.cpumask = ARGUS_CPU_ALL, .split = 1, .formula_w = 512, .formula_h = 512,
                 .frames = 1, .runs = 3};
    argus_decoding_default(&o->decoding);
    ag_video_default(&o->video);
    o->picture.other = ag_media_still;
    o->picture.stopped = ag_stopped;
    if (verb == AG_VERB_BENCH)
        o->decoding.max_tokens = 32;
    o->prompts = calloc(n, sizeof(*o->prompts));
    o->inputs = calloc(n, sizeof(*o->inputs));
    o->stop = calloc(n, sizeof(*o->stop));
    if (!o->prompts || !o->inputs || !o->stop) {
        ag_say(ARGUS_LOG_ERROR, "out of memory");
        return AG_EXIT_FAILED;
    }
    tables(verb, longs, letters);
    opterr = 0;
    while ((got = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
        enum Id id = identify(got, argv[optind - 1]);
        code = id == N_ID ? AG_EXIT_USAGE : set(o, verb, id, optarg);
        if (code >= 0)
            break;
    }
    for (int i = optind; code < 0 && i < argc; i++)
        o->inputs[o->n_input++] = argv[i];
    if (code < 0)
        code = check(o, verb);
    if (code == AG_EXIT_USAGE)
        fprintf(stderr, "Try 'argus %s--help'.\n", verb == AG_VERB_INFO ? "info " :
                verb == AG_VERB_BENCH ? "bench " : verb == AG_VERB_MODELS ? "models " : "");
    if (!o->n_prompt)
        o->prompts[o->n_prompt++] = "";
    if (o->frames > 1)
        o->split = 0;
    if (o->quiet)
        ag_say_level(ARGUS_LOG_ERROR);
    return code;
}

void ag_cli_free(AgCli *o)
{
    free(o->prompts);
    free(o->inputs);
    free(o->stop);
    free(o->choices);
    free(o->choice_text);
    ag_sink_options_free(&o->video.sink);
    *o = (AgCli){0};
}
