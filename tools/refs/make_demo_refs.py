#!/usr/bin/env python3
"""Caption the demo's clip with the real Hugging Face SmolVLM code.

    make_demo_refs.py MODEL_DIR FFMPEG CLIP OUT.json [--threads N]

CLIP is what tools/demo-clip.sh makes. Its frames are decoded by FFMPEG and converted to RGB as vf_argus
converts them, sampled at 2 a second (first frame at or after k/2 s), and captioned 8 at a time without a
question: what `ffmpeg -i clip.mp4 -vf argus=fps=2:window=8:out=c.srt -f null -` must write. Setting as
in make_refs.py: transformers 4.54.0, float32, eager attention, slow PIL image processor, greedy.

Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
"""
import argparse
import hashlib
import json
import re
import subprocess
import sys

import numpy as np
import PIL
import tokenizers
import torch
import transformers
from PIL import Image
from transformers import AutoProcessor, Idefics3ForConditionalGeneration

WIDTH, HEIGHT, RATE, FPS, WINDOW = 320, 240, 25, 2, 8
MAX_NEW_TOKENS = 64
# matrix and range of the frame, MPEG-2 chroma siting (left), everything exact
SCALE = ("scale=in_h_chr_pos=0:in_v_chr_pos=128:"
         "flags=bicubic+accurate_rnd+full_chroma_int+full_chroma_inp+bitexact,format=rgb24")


def decode(ffmpeg, clip):
    """All frames, uint8 [n, HEIGHT, WIDTH, 3]."""
    raw = subprocess.run([ffmpeg, "-v", "error", "-i", clip, "-vf", SCALE, "-f", "rawvideo", "-"],
                         check=True, stdout=subprocess.PIPE).stdout
    return np.frombuffer(raw, np.uint8).reshape(-1, HEIGHT, WIDTH, 3)


def sha256(data):
    return hashlib.sha256(np.ascontiguousarray(data).tobytes()).hexdigest()


@torch.no_grad()
def caption(model, processor, frames):
    items = [{"type": "image"}] * len(frames)
    text = processor.apply_chat_template([{"role": "user", "content": items}], add_generation_prompt=True)
    inputs = processor(text=text, images=[Image.fromarray(f) for f in frames], return_tensors="pt")
    out = model.generate(**inputs, do_sample=False, max_new_tokens=MAX_NEW_TOKENS,
                         return_dict_in_generate=True, output_logits=True)
    logits = torch.stack(out.logits)[:, 0].float()
    top2 = logits.topk(2, dim=-1).values
    ids = out.sequences[0, inputs["input_ids"].shape[1]:].tolist()
    return {
        "prompt_ids": inputs["input_ids"].shape[1],
        "pixel_values": sha256(inputs["pixel_values"][0].numpy().astype("<f4")),
        "ids": ids,
        "least_margin": round(float((top2[:, 0] - top2[:, 1]).min()), 4),
        "text": processor.tokenizer.decode(ids, skip_special_tokens=True),
    }


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    for name in ("model_dir", "ffmpeg", "clip", "out"):
        ap.add_argument(name)
    ap.add_argument("--threads", type=int, default=2)
    args = ap.parse_args()
    torch.set_num_threads(args.threads)
    processor = AutoProcessor.from_pretrained(args.model_dir, use_fast=False)
    processor.image_processor.do_image_splitting = False
    model = Idefics3ForConditionalGeneration.from_pretrained(
        args.model_dir, torch_dtype=torch.float32, attn_implementation="eager").eval()
    frames = decode(args.ffmpeg, args.clip)
    # frame number of tick k: ceil(k * RATE / FPS)
    picks = [-(-k * RATE // FPS) for k in range(len(frames) * FPS // RATE)]
    windows = []
    for i in range(0, len(picks), WINDOW):
        window = picks[i:i + WINDOW]
        end = picks[i + WINDOW] if i + WINDOW < len(picks) else len(frames)
        got = caption(model, processor, frames[window])
        windows.append({"start": window[0] / RATE, "end": end / RATE, "frames": window,
                        "rgb": sha256(frames[window]), **got})
        print(windows[-1]["text"], windows[-1]["least_margin"], file=sys.stderr)
    version = subprocess.run([args.ffmpeg, "-version"], check=True, stdout=subprocess.PIPE, text=True).stdout
    data = {
        "clip": "tools/demo-clip.sh with FFmpeg " + version.split()[2],
        "model": "argus-tiny",
        "command": "tools/refs/make_demo_refs.py",
        "versions": {"transformers": transformers.__version__, "torch": torch.__version__.split("+")[0],
                     "tokenizers": tokenizers.__version__, "numpy": np.__version__, "pillow": PIL.__version__},
        "setting": {"dtype": "float32", "attention": "eager", "decoding": "greedy", "fps": FPS, "window": WINDOW,
                    "max_new_tokens": MAX_NEW_TOKENS, "prompt": None, "split": False},
        "windows": windows,
    }
    # lists of numbers on one line
    text = re.sub(r"\[[\s\d,]*\]", lambda m: " ".join(m[0].split()), json.dumps(data, indent=1))
    with open(args.out, "w", encoding="utf-8") as f:
        f.write(text + "\n")


if __name__ == "__main__":
    main()
