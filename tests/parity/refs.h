/*
 * Reference cases of Hugging Face transformers: one refs.json, with the
 * pictures it speaks of. Reads the two layouts of tests/refs (the synth and
 * prompt sets with stage numbers, argus-tiny with PNG pictures).
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TESTS_PARITY_REFS_H
#define AG_TESTS_PARITY_REFS_H

#include <jansson.h>

#include "libargus/argus.h"

typedef struct AgRefCase {
    const char *name;
    int split;
    ArgusPart *parts;         /* of the prompt, TURNs included */
    size_t n_part;
    const json_t *pictures;   /* what they are made of */
    ArgusImage *images;       /* RGB24, owned; there while the case is loaded */
    size_t n_image;
    const char *skip;         /* why the case can't run here, or NULL */
    int pictures_equal;       /* the formula gave the bytes that the reference saw */

    const json_t *prompt_ids, *generated_ids;
    const char *pixel_sha256; /* of float32 [frames, 3, S, S]; NULL without pictures */
    const char *text;         /* generated ids decoded */
    double margin;            /* smallest best minus second-best logit of any step */
    const json_t *stages;     /* object with the fields of the stages, or NULL */
    const json_t *top_ids, *top_logits; /* of the prefill, best first */
    int max_tokens;
    double repetition_penalty;
    const json_t *logprobs;   /* of the generated ids, or NULL */
    const char **choices;     /* [n_choice] answers to choose from, or NULL */
    int n_choice, best;       /* best: index of the likeliest */
    double best_prob;         /* its probability among them */
    float *logits;            /* [n_logit] of the prefill, owned; NULL if not stored */
    size_t n_logit;
} AgRefCase;

typedef struct AgRefs {
    json_t *json; /* the cases point into it */
    AgRefCase *cases;
    size_t n_case;
} AgRefs;

/* Read dir/refs.json, or dir itself if it is a .json file. Pictures are made by ag_ref_pictures(). @return 0, or -1
 * with a message on stderr. */
int ag_refs_open(AgRefs *r, const char *dir);
void ag_refs_close(AgRefs *r);
/* Make or read the pictures and stored logits of one case, and free them. */
int ag_ref_case_load(AgRefCase *c, const char *dir);
void ag_ref_case_unload(AgRefCase *c);

#endif /* AG_TESTS_PARITY_REFS_H */
