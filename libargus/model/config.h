/*
 * What config.json, preprocessor_config.json and generation_config.json say,
 * checked: every number is in a range that later code may rely on.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_MODEL_CONFIG_H
#define AG_MODEL_CONFIG_H

#include "libargus/model/source.h"

#define AG_MAX_STOP 16

typedef struct AgConfig {
    /* vision tower */
    int d_vis, d_vis_ff, n_vis_layer, n_vis_head; /* head dim = d_vis / n_vis_head */
    int tile, patch;      /* pixels; tile % patch == 0 */
    int n_patch;          /* (tile / patch)^2 */
    float vis_eps;
    /* connector */
    int shuffle;          /* scale_factor: shuffle x shuffle patches become one token */
    int n_img_tok;        /* n_patch / shuffle^2, image tokens of a tile */
    /* text tower */
    int d_txt, d_ff, n_layer, n_head, n_kv, head_dim, vocab, n_pos;
    float txt_eps;
    double rope_theta;
    int tie_embeddings;   /* lm_head = embed_tokens */
    int image_token_id;
    int n_stop, stop_id[AG_MAX_STOP]; /* eos of generation_config.json, else of config.json, else
                                       * of its text_config */
    /* processor */
    int longest_edge;     /* first resize */
    int do_split;
    double rescale;
    float mean[3], std[3];
} AgConfig;

/* Read and check. @return 0, ARGUS_ERR_FORMAT, ARGUS_ERR_UNSUPPORTED (another
 * architecture or activation), ARGUS_ERR_NO_MODEL (no config.json), ENOMEM. */
int ag_config_load(AgConfig *c, const AgSource *src, const ArgusLogger *log);

/* Add an id to the stop ids, once; there is always room for one after a load. The
 * files do not name <end_of_utterance>, so who opens a model adds the id that its
 * tokenizer gives: ag_config_add_stop(&c, ag_tokenizer_special(t, "<end_of_utterance>")).
 * @return 0; ARGUS_ERR_UNSUPPORTED when AG_MAX_STOP are there. */
int ag_config_add_stop(AgConfig *c, int id);

#endif /* AG_MODEL_CONFIG_H */
