/*
 * Stage: the caller's picture, checked and read as RGB rows.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_IMAGE_H
#define AG_IMAGE_H

#include "libargus/base/log.h"

#define AG_MAX_PIXELS 178956970 /* Pillow's limit */

/* 1 if a picture of this size is accepted: sides from 1, AG_MAX_PIXELS at most. */
int ag_image_size_ok(int width, int height);

/* Check what a caller handed over. @return 0, or ARGUS_ERR(EINVAL) with a
 * message that names the field, what was expected and what was found. */
int ag_image_check(const ArgusImage *im, const ArgusLogger *log);

/* Rows y .. y+n-1 as dense RGB24 [n, width, 3]. Alpha is dropped, grey goes to
 * all three channels. */
void ag_image_rgb(uint8_t *out, const ArgusImage *im, int y, int n);

#endif /* AG_IMAGE_H */
