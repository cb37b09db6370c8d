#!/usr/bin/env python3
# What the reference takes for a video in windows: the other side of compare.py --clip.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
"""Time the Hugging Face SmolVLM over a video, on the CPU, and print one JSON object.

    bench_clip.py MODEL_DIR VIDEO QUESTION N_TOKENS THREADS --every N --window N [--windows N] [--ffmpeg FILE]

Every N-th frame, from the first on, is decoded by the ffmpeg program while the model works; a window of frames,
each one tile, is one question. An end token ends an answer, as in argus. float32, sdpa attention.
"""
import argparse
import json
import re
import resource
import subprocess
import sys
import time

import bench_torch as bench
import torch
from PIL import Image
from transformers import AutoProcessor, Idefics3ForConditionalGeneration


def frames(args):
    """Pictures as ffmpeg decodes them, beside the model. The options of scale are what argus converts with, so that
    the pixels and with them the answers are the same."""
    probe = subprocess.run([args.ffmpeg, "-hide_banner", "-i", args.video], stderr=subprocess.PIPE, text=True)
    width, height = map(int, re.search(r"Video:.* (\d+)x(\d+)", probe.stderr).groups())
    command = [args.ffmpeg, "-v", "error", "-nostdin", "-i", args.video, "-vf",
               f"select=not(mod(n\\,{args.every})),scale=flags=bicubic+accurate_rnd+full_chroma_int+full_chroma_inp"
               "+bitexact:in_h_chr_pos=0:in_v_chr_pos=128", "-fps_mode", "passthrough", "-pix_fmt", "rgb24", "-f", "rawvideo", "-"]
    if args.windows:
        command[-1:-1] = ["-frames:v", str(args.windows * args.window)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as p:
        while len(data := p.stdout.read(width * height * 3)) == width * height * 3:
            yield Image.frombytes("RGB", (width, height), data)
    if p.returncode:
        sys.exit(f"bench_clip: {args.ffmpeg} failed")


def windows(args):
    held = []
    for picture in frames(args):
        held.append(picture)
        if len(held) == args.window:
            yield held
            held = []
    if held:
        yield held


def ask(model, processor, pictures, args, lap, out):
    content = [{"type": "image"}] * len(pictures) + [{"type": "text", "text": args.question}]
    text = processor.apply_chat_template([{"role": "user", "content": content}], add_generation_prompt=True)
    inputs = processor(text=text, images=pictures, return_tensors="pt")
    lap("preprocess_s")
    features = model.model.get_image_features(inputs["pixel_values"], inputs["pixel_attention_mask"])
    lap("vision_s")
    eos = model.generation_config.eos_token_id
    return bench.answer(model, inputs["input_ids"], features, args.tokens, lap, out,
                        eos if isinstance(eos, list) else [eos])


@torch.no_grad()
def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    for name in ("model_dir", "video", "question"):
        ap.add_argument(name)
    ap.add_argument("tokens", type=int)
    ap.add_argument("threads", type=int)
    ap.add_argument("--every", type=int, required=True)
    ap.add_argument("--window", type=int, required=True)
    ap.add_argument("--windows", type=int, default=0)
    ap.add_argument("--ffmpeg", default="ffmpeg")
    args = ap.parse_args()
    torch.set_num_threads(args.threads)
    processor = AutoProcessor.from_pretrained(args.model_dir, use_fast=False)
    processor.image_processor.do_image_splitting = False
    model = Idefics3ForConditionalGeneration.from_pretrained(args.model_dir, torch_dtype=torch.float32,
                                                             attn_implementation="sdpa").eval()
    begin = time.perf_counter()
    each, texts = [], []
    for pictures in windows(args):
        out = {}
        ids = ask(model, processor, pictures, args, bench.Laps(out), out)
        texts.append(processor.tokenizer.decode(ids, skip_special_tokens=True).strip())
        each.append({k: round(v, 4) for k, v in out.items() if k.endswith("_s")})
    print(json.dumps({"total_after_load_s": round(time.perf_counter() - begin, 4), "windows": each, "texts": texts,
                      "peak_rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


if __name__ == "__main__":
    sys.exit(main())
