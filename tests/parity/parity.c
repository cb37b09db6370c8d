/*
 * Parity with Hugging Face transformers 4.54.0: runs reference cases and
 * prints one line each. Exit status 1 if anything is off.
 *
 *     parity [--threads N] [--cpumask NAME] [--precision exact|q8] [--shifted] [--digest] REFS
 *            MODEL_DIR [CASE...]
 *     parity --tiers      names of the kernel tiers that this machine can run
 *
 * Columns: prompt ids equal · sha256 of the pixel values equal · worst
 * relative RMS error of the numbers that each stage hands on (stages.h says
 * of what; at most 1e-4) · largest difference to the stored logits of the
 * prefill (at most 2e-3) · generated ids and text equal · the reference's
 * smallest margin between best and second-best logit of any step · largest
 * difference to the stored log-probabilities of the ids, or to the probability
 * of the chosen answer (at most 2e-3) · seconds. "-": the reference has no
 * such number. REFS is a folder with refs.json, or such a file. --shifted:
 * patch positions as transformers 4.55.0 to 4.57.6 compute them.
 *
 * With --precision q8 texts and numbers may differ; the table says how far:
 * instead of "ids", how many of the first ids are the reference's and of how
 * many; relative RMS error of the stored logits; text equal or other. A case
 * fails if prompt or pixels differ, if that RMS error is above --q8-rms (0.1;
 * doc/kernels.md has what was seen), or if another choice is made.
 *
 * --digest adds a hash over the bits of every number the stages report and of
 * the log-probabilities, to compare runs with each other.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libargus/caption.h"
#include "libargus/context.h"
#include "libargus/preprocess.h"
#include "tests/parity/stages.h"

#define MAX_STAGE_ERROR 1e-4
#define MAX_LOGIT_ERROR 2e-3

typedef struct Options {
    int threads, digest, shifted, q8;
    double q8_rms; /* largest relative RMS error of logits */
    unsigned cpumask;
    const char *refs, *model;
    char **only; /* names of cases, NULL after the last */
} Options;

static void print_message(void *opaque, int level, const char *message)
{
    (void)opaque;
    if (level <= ARGUS_LOG_WARNING)
        fprintf(stderr, "%s\n", message);
}

static int equal_ids(const json_t *ref, const int *ids, int n)
{
    const json_t *v;
    size_t i;

    if (json_array_size(ref) != (size_t)n)
        return 0;
    json_array_foreach(ref, i, v)
        if (json_integer_value(v) != ids[i])
            return 0;
    return 1;
}

/* Captions come without the blanks in front. */
static int equal_text(const char *ref, const char *text)
{
    return !strcmp(ref + strspn(ref, " \n\t"), text + strspn(text, " \n\t"));
}

/* Hash the tiles as float32 [n_tile, 3, tile, tile], the reference's layout. */
static void hash_pixels(AgSha256 *sha, const AgConfig *c, const AgPicture *pic)
{
    size_t n = (size_t)c->tile * (size_t)c->tile;
    float lut[3][256], *plane = malloc(n * sizeof(*plane));

    if (!plane)
        exit(2);
    ag_preprocess_lut(lut, c);
    for (int t = 0; t < pic->plan.n_tile; t++) {
        AgTile tile = ag_preprocess_tile(c, &pic->plan, pic->pixels, t);
        for (int ch = 0; ch < 3; ch++) {
            for (int y = 0; y < c->tile; y++)
                for (int x = 0; x < c->tile; x++)
                    plane[y * c->tile + x] = lut[ch][tile.data[y * tile.stride + x * 3 + ch]];
            ag_sha256_add(sha, plane, n * sizeof(*plane));
        }
    }
    free(plane);
}

/* What goes into the prompt: pixel hash and ids. @return 0 or an error. */
static int check_inputs(ArgusContext *ctx, const AgRefCase *c, int *pixels, int *prompt)
{
    const ArgusModel *m = ctx->model;
    AgPromptPart *parts = calloc(c->n_part, sizeof(*parts));
    AgIds ids = {0};
    AgSha256 sha;
    char hex[65];
    int err = 0;

    if (!parts)
        exit(2);
    ag_sha256_init(&sha);
    for (size_t i = 0; i < c->n_part && err == 0; i++) {
        parts[i] = (AgPromptPart){.kind = c->parts[i].kind, .text = c->parts[i].text};
        if (parts[i].kind != ARGUS_PART_IMAGE)
            continue;
        AgPicture *pic = NULL;
        err = ag_caption_tiles(ctx, ag_caption_exec(ctx), c->parts[i].image, c->split, &pic);
        if (err < 0)
            break;
        parts[i].rows = pic->plan.rows;
        parts[i].cols = pic->plan.cols;
        hash_pixels(&sha, &m->config, pic);
        ag_picture_free(&pic);
    }
    if (err == 0)
        err = ag_prompt_build(&ids, &m->markers, m->tokenizer, m->config.n_img_tok, parts,
                              c->n_part, &ctx->log);
    ag_sha256_hex(&sha, hex);
    *pixels = !c->pixel_sha256 || (c->pictures_equal && !strcmp(hex, c->pixel_sha256));
    *prompt = err == 0 && equal_ids(c->prompt_ids, ids.id, ids.n);
    ag_ids_free(&ids);
    free(parts);
    return err;
}

static int column(double error, double most)
{
    if (isnan(error))
        printf(" %8s", "-");
    else if (error < 0)
        printf(" %8s", "missing");
    else
        printf(" %8.1e", error);
    return isnan(error) || (error >= 0 && error <= most);
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void print_digest(AgStages *s, const ArgusCaption *a)
{
    char hex[65];

    ag_sha256_add(&s->sha, a->ids, (size_t)a->n_id * sizeof(*a->ids));
    ag_sha256_add(&s->sha, a->logprobs, (size_t)a->n_id * sizeof(*a->logprobs));
    ag_sha256_hex(&s->sha, hex);
    printf("  %.16s", hex);
}

/* Log-probabilities of the ids, or the chosen answer's probability. */
static double probability_error(const AgRefCase *c, const ArgusCaption *a)
{
    double worst = 0;

    if (c->n_choice)
        return fabs(a->choice_prob - c->best_prob);
    if (!c->logprobs)
        return NAN;
    for (int i = 0; i < a->n_id; i++) {
        double v = json_number_value(json_array_get(c->logprobs, (size_t)i));
        worst = fmax(worst, fabs(v - a->logprobs[i]));
    }
    return worst;
}

/* What moved, of all cases of a set. */
typedef struct Moved {
    int n_case, n_text, n_id, n_leading; /* text equal; ids of the reference, the first equal ones */
    double logit, logit_rms, stage;      /* worst */
    double most;                         /* that logit_rms may be */
} Moved;

/* The rest of the line with int8 weights. @return 1 if the logits are near enough. */
static int print_moved(const AgRefCase *c, AgStages *s, const ArgusCaption *a, double sec,
                       Moved *moved)
{
    int n = (int)json_array_size(c->generated_ids), k = 0, text = equal_text(c->text, a->text);
    char ids[32];

    while (k < n && k < a->n_id
           && json_integer_value(json_array_get(c->generated_ids, (size_t)k)) == a->ids[k])
        k++;
    if (c->n_choice)
        n = k = 0, text = a->choice == c->best;
    column(s->logit, INFINITY);
    int good = column(s->logit_rms, moved->most) && (!c->n_choice || text);
    snprintf(ids, sizeof(ids), "%d/%d", k, n);
    printf(" %-7s %-5s %8.4f", c->n_choice ? "-" : ids, text ? "equal" : "other", c->margin);
    column(probability_error(c, a), INFINITY);
    printf(" %6.1f", sec);
    if (s->digest)
        print_digest(s, a);
    printf("\n");
    moved->n_case++;
    moved->n_text += text;
    moved->n_id += n;
    moved->n_leading += k;
    moved->logit = fmax(moved->logit, s->logit);
    moved->logit_rms = fmax(moved->logit_rms, s->logit_rms);
    for (int i = 0; i < AG_N_STAGE; i++)
        moved->stage = fmax(moved->stage, s->error[i]);
    return good;
}

/* One line of the table. @return 1 if all is equal. */
static int print_case(const AgRefCase *c, AgStages *s, const ArgusCaption *a, int prompt,
                      int pixels, double sec, Moved *moved)
{
    int good = prompt && pixels;

    printf("%-20s %-6s %-6s", c->name, prompt ? "equal" : "OFF",
           !c->pixel_sha256 ? "-" : pixels ? "equal" : "OFF");
    for (int i = 0; i < AG_N_STAGE; i++)
        good &= column(s->error[i], moved ? INFINITY : MAX_STAGE_ERROR);
    if (moved)
        return print_moved(c, s, a, sec, moved) && good;
    good &= column(s->logit, MAX_LOGIT_ERROR);
    int ids = c->n_choice ? a->choice == c->best : equal_ids(c->generated_ids, a->ids, a->n_id);
    int text = equal_text(c->text, a->text);
    printf(" %-6s %8.4f", ids && text ? "equal" : ids ? "TEXT" : "OFF", c->margin);
    good &= column(probability_error(c, a), MAX_LOGIT_ERROR);
    printf(" %6.1f", sec);
    if (s->digest)
        print_digest(s, a);
    printf("\n");
    if (ids && !text)
        printf("    expected \"%s\"\n    found    \"%s\"\n", c->text, a->text);
    for (int i = 0; !ids && i < a->n_id; i++)
        if (json_integer_value(json_array_get(c->generated_ids, (size_t)i)) != a->ids[i]) {
            printf("    first other id at step %d: found %d\n", i, a->ids[i]);
            break;
        }
    return good && ids && text && a->n_prompt == (int)json_array_size(c->prompt_ids);
}

/* A context of its own for each case: nothing is reused. @return 1 if all is equal. */
static int run_case(const Options *o, ArgusModel *model, AgRefCase *c, Moved *moved)
{
    ArgusSettings settings;
    ArgusContext *ctx = NULL;
    ArgusRequest r;
    ArgusCaption answer;
    AgStages stages;
    int prompt = 0, pixels = 0, good = 0;
    double start = seconds();

    argus_default_settings(&settings);
    settings.logger.callback = print_message;
    settings.threads = o->threads;
    int err = argus_open(&ctx, model, &settings);
    if (err == 0)
        err = check_inputs(ctx, c, &pixels, &prompt);
    if (err == 0) {
        ag_stages_init(&stages, c, o->digest);
        ag_caption_set_tap(ctx, ag_stages_tap(&stages));
        argus_request_default(&r);
        r.parts = c->parts;
        r.n_part = c->n_part;
        r.split = c->split;
        r.decoding.max_tokens = c->max_tokens;
        r.decoding.repetition_penalty = c->repetition_penalty;
        r.decoding.choices = c->choices;
        r.decoding.n_choice = c->n_choice;
        err = argus_describe(ctx, &r, &answer);
    }
    if (err == 0) {
        ag_stages_finish(&stages);
        good = print_case(c, &stages, &answer, prompt, pixels, seconds() - start,
                          o->q8 ? moved : NULL);
        argus_caption_free(&answer);
    } else {
        char buf[128];
        printf("%-20s FAILED: %s\n", c->name, argus_strerror(err, buf, sizeof(buf)));
    }
    argus_close(&ctx);
    fflush(stdout);
    return good;
}

static int wanted(const Options *o, const char *name)
{
    char **p = o->only;

    while (*p && strcmp(*p, name))
        p++;
    return *p || p == o->only;
}

static int run_set(const Options *o, AgRefs *refs, ArgusModel *model)
{
    int passed = 0, failed = 0, skipped = 0;
    Moved moved = {.most = o->q8_rms};

    printf("%-20s %-6s %-6s %8s %8s %8s %8s %8s %8s %8s", "case", "prompt", "pixels", "patch",
           "embed", "vision", "connect", "tok.emb", "text", "logits");
    if (o->q8)
        printf(" %8s %-7s %-5s", "rms", "ids", "text");
    else
        printf(" %-6s", "ids");
    printf(" %8s %8s %6s\n", "margin", "logprob", "s");
    for (size_t i = 0; i < refs->n_case; i++) {
        AgRefCase *c = &refs->cases[i];
        if (!wanted(o, c->name))
            continue;
        if (ag_ref_case_load(c, o->refs) < 0) {
            failed++;
        } else if (c->skip) {
            printf("SKIP parity %s: %s\n", c->name, c->skip);
            skipped++;
        } else if (run_case(o, model, c, &moved)) {
            passed++;
        } else {
            failed++;
        }
        ag_ref_case_unload(c);
    }
    if (!passed && !failed && !skipped) {
        fprintf(stderr, "no such case\n");
        failed = 1;
    }
    if (o->q8)
        printf("q8: %d of %d texts equal, %d of %d ids before the first other one; at most: "
               "logits %.2g off, %.2g relative RMS, stages %.2g\n", moved.n_text, moved.n_case,
               moved.n_leading, moved.n_id, moved.logit, moved.logit_rms, moved.stage);
    printf("parity: %d passed, %d failed, %d skipped\n", passed, failed, skipped);
    return failed != 0;
}

static int print_tiers(void)
{
    static const char *const names[] = {"c", "avx2", "avx512", "neon"};

    for (size_t i = 0; i < AG_COUNT(names); i++) {
        unsigned mask;
        if (argus_cpu_mask(names[i], &mask) == 0 && !strcmp(argus_cpu_tier(mask), names[i]))
            printf("%s\n", names[i]);
    }
    return 0;
}

static int usage(void)
{
    fprintf(stderr, "usage: parity [--threads N] [--cpumask NAME] [--precision exact|q8] [--q8-rms X] "
                    "[--shifted] [--digest] REFS MODEL_DIR [CASE...]\n");
    return 2;
}

int main(int argc, char **argv)
{
    Options o = {.cpumask = ARGUS_CPU_ALL, .q8_rms = 0.1};
    ArgusModelSettings settings;
    ArgusModel *model = NULL;
    AgRefs refs;
    int i = 1, status = 2;

    for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
        if (!strcmp(argv[i], "--tiers"))
            return print_tiers();
        else if (!strcmp(argv[i], "--digest"))
            o.digest = 1;
        else if (!strcmp(argv[i], "--shifted"))
            o.shifted = 1;
        else if (!strcmp(argv[i], "--precision") && i + 1 < argc
                 && (!strcmp(argv[i + 1], "exact") || !strcmp(argv[i + 1], "q8")))
            o.q8 = !strcmp(argv[++i], "q8");
        else if (!strcmp(argv[i], "--q8-rms") && i + 1 < argc)
            o.q8_rms = atof(argv[++i]);
        else if (!strcmp(argv[i], "--threads") && i + 1 < argc)
            o.threads = atoi(argv[++i]);
        else if (strcmp(argv[i], "--cpumask") || i + 1 >= argc ||
                 argus_cpu_mask(argv[++i], &o.cpumask) < 0)
            return usage();
    }
    if (argc - i < 2)
        return usage();
    o.refs = argv[i];
    o.model = argv[i + 1];
    o.only = argv + i + 2;

    argus_model_default_settings(&settings);
    settings.logger.callback = print_message;
    settings.model = o.model;
    settings.cpumask = o.cpumask;
    settings.shifted_positions = o.shifted;
    settings.precision = o.q8 ? ARGUS_PRECISION_Q8 : ARGUS_PRECISION_EXACT;
    if (ag_refs_open(&refs, o.refs) == 0 && argus_model_open(&model, &settings) == 0)
        status = run_set(&o, &refs, model);
    argus_model_close(&model);
    ag_refs_close(&refs);
    return status;
}
