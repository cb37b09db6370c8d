/*
 * Stage: ordered parts -> ids with image slots, as the chat template and the
 * Idefics3 processor expand them (processing_idefics3.py, transformers 4.54.0).
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_PROMPT_H
#define AG_PROMPT_H

#include "libargus/model/config.h"
#include "libargus/model/tokenizer.h"

enum { AG_GRID = 6 }; /* row and column markers exist for 1..6 */

/* Ids of the markers, found once when a model is opened. */
typedef struct AgMarkers {
    int im_start, end_of_utterance, fake, global, image;
    int row_col[AG_GRID][AG_GRID]; /* -1 where the vocabulary has none */
} AgMarkers;

typedef struct AgPicture AgPicture;

typedef struct AgPromptPart {
    int kind;         /* enum ArgusPartKind */
    const char *text; /* TEXT, TURN */
    int rows, cols;   /* IMAGE: grid, 0 0 = one tile */
    AgPicture *pic;   /* IMAGE: not looked at here */
} AgPromptPart;

/* @return 0, ARGUS_ERR_FORMAT naming the missing token. */
int ag_markers_find(AgMarkers *m, const AgTokenizer *t, const AgConfig *c, const ArgusLogger *log);

/* Append the whole prompt, "Assistant:" included. n_img_tok ids of
 * m->image stand for each tile. @return 0, EINVAL for an unknown part or a
 * grid without markers, ENOMEM. */
int ag_prompt_build(AgIds *out, const AgMarkers *m, const AgTokenizer *t, int n_img_tok,
                    const AgPromptPart *parts, size_t n_part, const ArgusLogger *log);

#endif /* AG_PROMPT_H */
