/*
 * Test pictures made by integer arithmetic, so that no image file is needed.
 *
 * Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
 */
#ifndef AG_TOOLS_FORMULA_H
#define AG_TOOLS_FORMULA_H

#include <stdint.h>

/* RGB24 [height, width, 3] of a scene at a time. The formula stands, in words,
 * in tests/refs/preprocess.json ("image_formula"). */
void ag_formula_image(uint8_t *out, int width, int height, uint32_t scene, uint32_t time);

#endif /* AG_TOOLS_FORMULA_H */
