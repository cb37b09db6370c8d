/*
 * From pictures and text to an answer: prepares and encodes pictures, builds
 * the prompt, prefills, decodes. Used by argus_describe() and by the track.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_CAPTION_H
#define AG_CAPTION_H

#include "libargus/argus.h"
#include "libargus/dsp/attn.h"
#include "libargus/preprocess.h"
#include "libargus/prompt.h"
#include "libargus/tap.h"

typedef struct AgDraft AgDraft; /* decode.h */

/* One picture prepared for prompts. */
struct AgPicture {
    AgPlan plan;          /* its grid and number of tiles */
    uint8_t *pixels;      /* of the tiles: ag_preprocess_tile() */
    size_t n_byte;        /* of pixels */
    float *features;      /* [n_tile * n_img_tok, d_txt]; NULL before encoding */
    int64_t serial;       /* unique number of the encoding, 0 before; the KV cache knows
                             pictures by it */
};

/* Resize only, on x: the context's own, or one without a pool. @return 0, EINVAL with a
 * message, ENOMEM, CANCELLED. */
int ag_caption_tiles(ArgusContext *ctx, AgExec *x, const ArgusImage *img, int split,
                     AgPicture **out);
enum { AG_ENCODE_MAX = 16 }; /* pictures of one call */
/* Vision tower and connector, for those of n pictures that have no features yet; counts
 * tiles. @return 0, ENOMEM, CANCELLED. */
int ag_caption_encode(ArgusContext *ctx, AgPicture *const *pics, int n);
/* 1 if the tiles of both are the same bytes. */
int ag_picture_equal(const AgPicture *a, const AgPicture *b);
void ag_picture_free(AgPicture **pic);

/* Tokens of a prompt (parts need rows and cols only) and whether prompt and
 * answer fit: the count, or ARGUS_ERR_BUDGET with a message that gives the
 * three numbers and names the options to change. */
int ag_caption_budget(ArgusContext *ctx, const AgPromptPart *parts, size_t n_part,
                      const ArgusDecoding *d);
/* Answer a prompt whose pictures are encoded. draft, which may be NULL: ids that the
 * answer may be; it saves time and changes nothing. */
int ag_caption_answer(ArgusContext *ctx, const AgPromptPart *parts, size_t n_part,
                      const ArgusDecoding *d, const AgDraft *draft,
                      int (*on_token)(void *, int, const char *), void *opaque, ArgusCaption *out);

/* argus_describe() after its arguments were checked. Pictures of the last call
 * are remembered: asking again about them costs no vision work, and the part
 * of the prompt that is the same is taken from the KV cache. */
int ag_caption_describe(ArgusContext *ctx, const ArgusRequest *r, ArgusCaption *out);
void ag_context_forget(ArgusContext *ctx);

/* Parity tests look at the stages through this; NULL fn = off. */
void ag_caption_set_tap(ArgusContext *ctx, AgTap tap);
/* Counters and config, for the track. */
ArgusStats *ag_caption_stats(ArgusContext *ctx);
AgExec *ag_caption_exec(ArgusContext *ctx);
int ag_caption_image_tokens(const ArgusContext *ctx); /* of one tile, markers included: 67 */

#endif /* AG_CAPTION_H */
