/*
 * Prompt: parts to ids. See prompt.h.
 *
 * Text between two special tokens is tokenised as one string, whatever parts
 * it came from: the line end of the last tile row and the one before the
 * global view are ONE token.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#include "libargus/prompt.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef struct Builder {
    AgIds *out;
    const AgMarkers *m;
    const AgTokenizer *t;
    AgBuf run; /* text since the last special token */
    int n_img_tok;
    int err;
} Builder;

static int find(const AgTokenizer *t, const char *token, int *id, const ArgusLogger *log)
{
    *id = ag_tokenizer_special(t, token);
    if (*id < 0)
        return ag_fail(log, ARGUS_ERR_FORMAT,
                       "tokenizer.json: expected the added token %s, found none", token);
    return 0;
}

int ag_markers_find(AgMarkers *m, const AgTokenizer *t, const AgConfig *c, const ArgusLogger *log)
{
    int err;

    if ((err = find(t, "<|im_start|>", &m->im_start, log)) < 0 ||
        (err = find(t, "<end_of_utterance>", &m->end_of_utterance, log)) < 0 ||
        (err = find(t, "<fake_token_around_image>", &m->fake, log)) < 0 ||
        (err = find(t, "<global-img>", &m->global, log)) < 0 ||
        (err = find(t, "<image>", &m->image, log)) < 0)
        return err;
    if (m->image != c->image_token_id)
        return ag_fail(
            log, ARGUS_ERR_FORMAT,
            "config.json: expected image_token_id %d (the id of <image> in tokenizer.json), "
            "found %d",
            m->image, c->image_token_id);
    for (int r = 0; r < AG_GRID; r++) {
        for (int k = 0; k < AG_GRID; k++) {
            char name[32];
            snprintf(name, sizeof(name), "<row_%d_col_%d>", r + 1, k + 1);
            m->row_col[r][k] = ag_tokenizer_special(t, name);
        }
    }
    return 0;
}

static void put_id(Builder *b, int id)
{
    if (b->run.size) {
        int err = ag_tokenizer_encode(b->t, b->run.data, b->run.size, 0, b->out);
        if (err < 0)
            b->err = err;
        ag_buf_clear(&b->run);
    }
    if (id >= 0)
        ag_ids_add(b->out, id);
}

static void put_tile(Builder *b, int marker)
{
    put_id(b, b->m->fake);
    put_id(b, marker);
    for (int i = 0; i < b->n_img_tok; i++)
        put_id(b, b->m->image);
}

static void put_image(Builder *b, int rows, int cols)
{
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < cols; c++)
            put_tile(b, b->m->row_col[r][c]);
        ag_buf_char(&b->run, '\n');
    }
    if (rows > 0)
        ag_buf_char(&b->run, '\n');
    put_tile(b, b->m->global);
    put_id(b, b->m->fake);
}

/* "user" -> "User:", a blank behind it unless a picture comes first. */
static void put_role(Builder *b, const char *role, int image_first)
{
    for (size_t i = 0; role[i]; i++) {
        int c = (unsigned char)role[i];
        ag_buf_char(&b->run, (char)(i ? tolower(c) : toupper(c)));
    }
    ag_buf_str(&b->run, image_first ? ":" : ": ");
}

static void end_turn(Builder *b)
{
    put_id(b, b->m->end_of_utterance);
    ag_buf_char(&b->run, '\n');
}

static int check_part(const AgMarkers *m, const AgPromptPart *p, const ArgusLogger *log)
{
    if (p->kind == ARGUS_PART_TEXT || p->kind == ARGUS_PART_TURN)
        return p->text ? 0 : ag_fail(log, ARGUS_ERR(EINVAL), "prompt: a text part without text");
    if (p->kind != ARGUS_PART_IMAGE)
        return ag_fail(log, ARGUS_ERR(EINVAL), "prompt: unknown kind of part: %d", p->kind);
    if (p->rows < 0 || p->rows > AG_GRID || p->cols < 0 || p->cols > AG_GRID)
        return ag_fail(log, ARGUS_ERR(EINVAL),
                       "prompt: expected a grid of at most %dx%d tiles, found %dx%d", AG_GRID,
                       AG_GRID, p->rows, p->cols);
    for (int i = 0; i < p->rows * p->cols; i++)
        if (m->row_col[i / p->cols][i % p->cols] < 0)
            return ag_fail(log, ARGUS_ERR(EINVAL), "prompt: the model has no marker for tile %d,%d",
                           i / p->cols + 1, i % p->cols + 1);
    return 0;
}

int ag_prompt_build(AgIds *out, const AgMarkers *m, const AgTokenizer *t, int n_img_tok,
                    const AgPromptPart *parts, size_t n_part, const ArgusLogger *log)
{
    Builder b = {out, m, t, {0}, n_img_tok, 0};
    int open = 0; /* a turn has begun */

    for (size_t i = 0; i < n_part; i++) {
        int err = check_part(m, &parts[i], log);
        if (err < 0)
            return err;
    }
    put_id(&b, m->im_start);
    for (size_t i = 0; i < n_part; i++) {
        const AgPromptPart *p = &parts[i];
        if (p->kind == ARGUS_PART_TURN) {
            if (open)
                end_turn(&b);
            put_role(&b, p->text, i + 1 < n_part && parts[i + 1].kind == ARGUS_PART_IMAGE);
        } else {
            if (!open)
                put_role(&b, "user", p->kind == ARGUS_PART_IMAGE);
            if (p->kind == ARGUS_PART_IMAGE)
                put_image(&b, p->rows, p->cols);
            else
                ag_buf_str(&b.run, p->text);
        }
        open = 1;
    }
    if (open)
        end_turn(&b);
    ag_buf_str(&b.run, "Assistant:");
    int failed = b.run.failed;
    put_id(&b, -1);
    failed |= b.run.failed | out->failed;
    ag_buf_free(&b.run);
    return b.err < 0 ? b.err : failed ? ag_nomem(log, "the prompt") : 0;
}
