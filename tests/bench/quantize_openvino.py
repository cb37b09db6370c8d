#!/usr/bin/env python3
# OpenVINO with int8 activations too: the fastest form of that peer on processors with int8 dot products.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
"""Quantise the vision tower of an export, weights and activations, with nncf.

    quantize_openvino.py MODEL_DIR F32_EXPORT INT8_EXPORT OUT

OUT is INT8_EXPORT with another vision tower: that of F32_EXPORT after nncf's post-training quantisation,
calibrated on the tiles of two formula pictures. The language model keeps int8 weights only.
"""
import logging
import os
import shutil
import sys

logging.disable(logging.WARNING)

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tools", "refs"))

import nncf
import numpy as np
import openvino as ov
from PIL import Image
from transformers import AutoImageProcessor

from formula_image import formula_image

TOWER = "openvino_vision_embeddings_model.xml"


def tiles(model_dir):
    """[1, 3, side, side] each, as the tower gets them"""
    processor = AutoImageProcessor.from_pretrained(model_dir, use_fast=False)
    for scene in (1, 9):
        picture = Image.fromarray(formula_image(512, 512, scene))
        pixels = processor(images=[picture], return_tensors="np")["pixel_values"][0]
        yield from (p[None] for p in pixels[::4])


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    model_dir, f32, int8, out = sys.argv[1:]
    tower = ov.Core().read_model(os.path.join(f32, TOWER))
    side = 512 // 16  # patches
    feed = [{"pixel_values": t, "patch_attention_mask": np.ones((1, side, side), bool),
             "patch_position_ids": np.arange(side * side)[None]} for t in tiles(model_dir)]
    quantised = nncf.quantize(tower, nncf.Dataset(feed), model_type=nncf.ModelType.TRANSFORMER,
                              subset_size=len(feed))
    shutil.copytree(int8, out)
    ov.save_model(quantised, os.path.join(out, TOWER), compress_to_fp16=False)


if __name__ == "__main__":
    main()
