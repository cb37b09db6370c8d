/*
 * Shots: what the track keeps of a frame's pixels. Frame -> square pixels ->
 * tiles -> embeddings, shared by all samples that look the same.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TRACK_SHOT_H
#define AG_TRACK_SHOT_H

#include <stdatomic.h>

#include "libargus/caption.h"
#include "libargus/dsp/attn.h"

/* A picture, encoded sooner or later; several samples may hold it. */
typedef struct AgShot {
    AgPicture *pic;
    atomic_int n_ref;
} AgShot;

/* Tiles of a frame, stretched to square pixels first, computed on x. *sar_told: one
 * warning for an aspect ratio that can't be applied. @return 0, EINVAL, ENOMEM, or
 * CANCELLED if x has the context's pool. */
int ag_shot_prepare(ArgusContext *ctx, AgExec *x, const ArgusLogger *log, const ArgusImage *in,
                    ArgusRational sar, int split, int *sar_told, AgPicture **pic);
/* Wrap a picture, which is the shot's, or freed on failure. The caller holds the
 * shot. @return 0 or ENOMEM. */
int ag_shot_open(const ArgusLogger *log, AgPicture *pic, AgShot **out);
/* Copy n pointers and count them. */
void ag_shots_hold(AgShot **to, AgShot *const *from, int n);
/* Give n pointers back and set them to NULL; the last holder frees. */
void ag_shots_release(AgShot **shots, int n);

#endif /* AG_TRACK_SHOT_H */
