#!/usr/bin/env python3
# Reference outputs of Hugging Face for one checkpoint, with the numbers of every stage.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
"""Run the real Hugging Face SmolVLM code on a checkpoint and record reference outputs.

    make_refs.py MODEL_DIR OUT_DIR [--set 500m] [--checkpoint TEXT] [--threads N]
                 [--only CASE ...] [--logits [CASE ...]]

Versions, setting and MODEL_DIR: see hf.py. The questions and the seeds were picked so that
every step's best-two margin is at least 100 times the float32 noise of the logits (thread
count, eager against sdpa).

Writes OUT_DIR/refs.json and one OUT_DIR/CASE.logits.f32 per --logits case (prefill logits of the
last position, float32 little-endian). FIELDS of hf.py explains the records.
"""
import argparse
import os

import hf
from hf import Case


def still(name, parts, split=True):
    return Case(name, [("user", parts)], split)


BASE = [
    still("still_640x480", [(640, 480, 1, 0), "Tell me more."]),
    still("still_300x900", [(300, 900, 2, 0), "Explain this to me."]),
    still("still_100x80", ["Look at ", (100, 80, 3, 0), " Describe it in 5 words."]),
    still("still_1023x771", [(1023, 771, 4, 0),
                             "How many circles are there?\n\n1. few\n2. many"]),
    still("still_512x512", [(512, 512, 5, 0), "Describe it in 5 words."]),
    still("pano_2048x512", [(2048, 512, 6, 0), "Name the main object."]),
    still("unsplit_640x480", [(640, 480, 1, 0), "What is in this image?"], split=False),
    still("two_images", [(2048, 512, 7, 0), (256, 1024, 8, 0), "Describe it in 5 words."]),
    still("text_only", ["Why is the sky blue?"]),
    still("window_8", [(320, 240, 9, t) for t in range(8)] + ["Explain this to me."], split=False),
]

# the large shape: fewer cases, and its own questions where the common ones have a small margin
LARGE = [
    still("pano_2048x512", [(2048, 512, 6, 0), "Name the main object."]),
    still("text_only", ["What is the capital of France?"]),
    still("window_8", [(320, 240, 9, t) for t in range(8)] + ["Describe it."], split=False),
]

SETS = {"base": BASE, "500m": LARGE}


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    ap.add_argument("model_dir")
    ap.add_argument("out_dir")
    ap.add_argument("--set", choices=SETS, default="base")
    ap.add_argument("--checkpoint", default="", help="how it was made, recorded as it is")
    ap.add_argument("--threads", type=int, default=2)
    ap.add_argument("--only", nargs="*", help="run these cases only")
    ap.add_argument("--logits", nargs="*", default=["pano_2048x512", "text_only"])
    args = ap.parse_args()
    processor, model = hf.load(args.model_dir, args.threads)
    recorder = hf.Recorder(model)
    os.makedirs(args.out_dir, exist_ok=True)
    cases = []
    for case in SETS[args.set]:
        if args.only and case.name not in args.only:
            continue
        res, _, logits, _ = hf.run_case(model, processor, recorder, case)
        cases.append(res)
        if case.name in args.logits:
            path = os.path.join(args.out_dir, case.name + ".logits.f32")
            logits[0].numpy().astype("<f4").tofile(path)
        hf.progress(res)
    hf.write(os.path.join(args.out_dir, "refs.json"), args.model_dir, args.checkpoint,
             {"decoding": "greedy", "max_new_tokens": 32}, hf.FIELDS, cases)


if __name__ == "__main__":
    main()
