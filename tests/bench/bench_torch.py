#!/usr/bin/env python3
# What the reference takes on this machine: the other side of the speed comparison.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
"""Time the Hugging Face SmolVLM on the CPU and print one JSON object.

    bench_torch.py MODEL_DIR IMAGE QUESTION N_TOKENS DTYPE THREADS
                   [--frames N] [--no-split] [--sdpa] [--again]

IMAGE is an image file or WIDTHxHEIGHT, which takes formula_image(WIDTH, HEIGHT, 1).
DTYPE is float32 or bfloat16. --frames N shows N images (formula_image scene 9, times 0..N-1, when
IMAGE is a size; else the same file N times); use it with --no-split for a window of video frames.
Always generates N_TOKENS tokens (an end token does not stop it).
--again: print "ready" instead, then one JSON line for each line on standard input: "ask" for prefill and
N_TOKENS tokens on the picture's features, "tiles" for the features of two tiles.

Pinned versions, as in tools/refs/hf.py:
    pip install torch==2.15.0 transformers==4.54.0 tokenizers==0.21.4 safetensors==0.8.0 \\
                numpy==2.4.6 pillow==13.0.0 num2words==0.5.14
"""
import argparse
import json
import os
import resource
import sys
import time

START = time.perf_counter()

import torch
from PIL import Image
from transformers import AutoProcessor, Idefics3ForConditionalGeneration

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tools", "refs"))
from formula_image import formula_image


class Laps:
    """Seconds between calls, by name."""

    def __init__(self, out):
        self.out, self.clock = out, time.perf_counter()

    def __call__(self, key):
        now = time.perf_counter()
        self.out[key], self.clock = now - self.clock, now
        return self.out[key]


def parse():
    ap = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    ap.add_argument("model_dir")
    ap.add_argument("image")
    ap.add_argument("question")
    ap.add_argument("tokens", type=int)
    ap.add_argument("dtype", choices=["float32", "bfloat16"])
    ap.add_argument("threads", type=int)
    ap.add_argument("--frames", type=int, default=1)
    ap.add_argument("--no-split", action="store_true")
    ap.add_argument("--sdpa", action="store_true")
    ap.add_argument("--again", action="store_true")
    return ap.parse_args()


def images(spec, n):
    w, _, h = spec.partition("x")
    if w.isdigit() and h.isdigit():
        if n == 1:
            return [Image.fromarray(formula_image(int(w), int(h), 1))]
        return [Image.fromarray(formula_image(int(w), int(h), 9, t)) for t in range(n)]
    return [Image.open(spec).convert("RGB")] * n


def preprocess(processor, args):
    processor.image_processor.do_image_splitting = not args.no_split
    content = [{"type": "image"}] * args.frames + [{"type": "text", "text": args.question}]
    text = processor.apply_chat_template([{"role": "user", "content": content}],
                                         add_generation_prompt=True)
    return processor(text=text, images=images(args.image, args.frames), return_tensors="pt")


def answer(model, ids, features, n, lap, out, stop=()):
    """n greedy ids after a prompt whose image rows are features; fewer after one of stop."""
    embeds = model.get_input_embeddings()(ids)
    mask = (ids == model.config.image_token_id).unsqueeze(-1).expand_as(embeds)
    embeds = embeds.masked_scatter(mask, features.to(embeds.dtype))
    step = model.model.text_model(inputs_embeds=embeds, use_cache=True)
    token = model.lm_head(step.last_hidden_state[:, -1:]).argmax(-1)
    out["prompt_tokens"] = ids.shape[1]
    out["prefill_tokens_per_s"] = ids.shape[1] / lap("prefill_s")
    produced = [int(token)]
    while len(produced) < n and produced[-1] not in stop:
        step = model.model.text_model(input_ids=token, past_key_values=step.past_key_values,
                                      use_cache=True)
        token = model.lm_head(step.last_hidden_state[:, -1:]).argmax(-1)
        produced.append(int(token))
    out["decode_ms_per_token"] = 1000 * lap("decode_s") / max(1, len(produced) - 1)
    return produced


def again(model, inputs, pixels, features, n):
    print("ready", flush=True)
    for line in sys.stdin:
        out = {}
        lap = Laps(out)
        if line.startswith("ask"):
            answer(model, inputs["input_ids"], features, n, lap, out)
            out = {"prompt": out["prompt_tokens"], "tiles": 0, "prefill_s": out["prefill_s"],
                   "token_s": out["decode_ms_per_token"] / 1000}
        else:
            model.model.get_image_features(pixels[:, :2], inputs["pixel_attention_mask"][:, :2])
            lap("vision_s")
            out["tiles"] = 2
        print(json.dumps(out), flush=True)


@torch.no_grad()
def main():
    args = parse()
    torch.set_num_threads(args.threads)
    out = {"dtype": args.dtype, "threads": args.threads,
           "attention": "sdpa" if args.sdpa else "eager", "import_s": time.perf_counter() - START}
    lap = Laps(out)
    processor = AutoProcessor.from_pretrained(args.model_dir, use_fast=False)
    model = Idefics3ForConditionalGeneration.from_pretrained(
        args.model_dir, torch_dtype=getattr(torch, args.dtype),
        attn_implementation=out["attention"]).eval()
    lap("load_s")
    inputs = preprocess(processor, args)
    lap("preprocess_s")
    pixels = inputs["pixel_values"].to(model.dtype)
    features = model.model.get_image_features(pixels, inputs["pixel_attention_mask"])
    out["frames"] = pixels.shape[1]
    out["vision_s_per_frame"] = lap("vision_s") / out["frames"]
    if args.again:
        again(model, inputs, pixels, features, args.tokens)
        return
    ids = answer(model, inputs["input_ids"], features, args.tokens, lap, out)
    out["total_after_load_s"] = sum(out[k] for k in ("preprocess_s", "vision_s", "prefill_s",
                                                     "decode_s"))
    out["total_s"] = time.perf_counter() - START
    out["peak_rss_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    out["ids"] = ids
    print(json.dumps({k: round(v, 4) if isinstance(v, float) else v for k, v in out.items()}))


if __name__ == "__main__":
    main()
