#!/usr/bin/env python3
# What OpenVINO takes for the same question: one more side of the speed comparison.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
"""Time a model exported by optimum-intel, on the CPU, and print one JSON object.

    bench_openvino.py EXPORT_DIR IMAGE QUESTION N_TOKENS PRECISION THREADS [--frames N] [--no-split]

IMAGE is an image file or WIDTHxHEIGHT, as for bench_torch.py. PRECISION is f32, which keeps all arithmetic
and the KV cache in float32, or default, which leaves the choice to the plug-in (on processors with bfloat16
instructions it computes in bfloat16 what is not int8, and it keeps the KV cache in 8 bits). Always generates
N_TOKENS tokens.

generate() of optimum-intel runs; its two models are timed from outside: the vision tower (with the connector)
once, the language model for the prompt (prefill) and for every further token (decode). Compiling counts as
loading.
"""
import argparse
import json
import logging
import os
import resource
import sys
import time
import warnings

START = time.perf_counter()
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tools", "refs"))

import torch
from optimum.intel import OVModelForVisualCausalLM
from PIL import Image
from transformers import AutoProcessor

from formula_image import formula_image


def images(spec, n):
    w, _, h = spec.partition("x")
    if w.isdigit() and h.isdigit():
        if n == 1:
            return [Image.fromarray(formula_image(int(w), int(h), 1))]
        return [Image.fromarray(formula_image(int(w), int(h), 9, t)) for t in range(n)]
    return [Image.open(spec).convert("RGB")] * n


def timed(owner, name, into):
    """Every call of owner.name adds its seconds to the list."""
    inner = getattr(owner, name)

    def call(*args, **kwargs):
        begin = time.perf_counter()
        result = inner(*args, **kwargs)
        if result is not None:
            into.append(time.perf_counter() - begin)
        return result

    setattr(owner, name, call)


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    for name in ("model_dir", "image", "question"):
        ap.add_argument(name)
    ap.add_argument("tokens", type=int)
    ap.add_argument("precision", choices=["f32", "default"])
    ap.add_argument("threads", type=int)
    ap.add_argument("--frames", type=int, default=1)
    ap.add_argument("--no-split", action="store_true")
    args = ap.parse_args()
    torch.set_num_threads(args.threads)
    config = {"PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": "1", "INFERENCE_NUM_THREADS": str(args.threads)}
    if args.precision == "f32":
        config.update(INFERENCE_PRECISION_HINT="f32", KV_CACHE_PRECISION="f32", DYNAMIC_QUANTIZATION_GROUP_SIZE="0")
    out = {"model": os.path.basename(os.path.normpath(args.model_dir)), "threads": args.threads,
           "import_s": time.perf_counter() - START}
    clock = time.perf_counter()
    processor = AutoProcessor.from_pretrained(args.model_dir, use_fast=False)
    model = OVModelForVisualCausalLM.from_pretrained(args.model_dir, ov_config=config, device="CPU")
    out["load_s"] = time.perf_counter() - clock
    vision, language = [], []
    timed(model, "get_vision_embeddings", vision)
    timed(model.language_model, "forward", language)
    begin = time.perf_counter()
    processor.image_processor.do_image_splitting = not args.no_split
    content = [{"type": "image"}] * args.frames + [{"type": "text", "text": args.question}]
    text = processor.apply_chat_template([{"role": "user", "content": content}], add_generation_prompt=True)
    inputs = processor(text=text, images=images(args.image, args.frames), return_tensors="pt")
    out["preprocess_s"] = time.perf_counter() - begin
    ids = model.generate(**inputs, max_new_tokens=args.tokens, min_new_tokens=args.tokens, do_sample=False)
    out["total_after_load_s"] = time.perf_counter() - begin
    out["frames"] = inputs["pixel_values"].shape[1]
    out["prompt_tokens"] = inputs["input_ids"].shape[1]
    out["vision_s"] = sum(vision)
    out["prefill_s"] = language[0]
    out["decode_s"] = sum(language[1:])
    out["decode_ms_per_token"] = 1000 * out["decode_s"] / max(1, len(language) - 1)
    out["peak_rss_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    out["ids"] = ids[0, inputs["input_ids"].shape[1]:].tolist()
    print(json.dumps({k: round(v, 4) if isinstance(v, float) else v for k, v in out.items()}))


if __name__ == "__main__":
    main()
