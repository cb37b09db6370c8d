#!/usr/bin/env python3
# Reference outputs of Hugging Face for the forms of a prompt and the ways of greedy decoding.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
"""Run the real Hugging Face SmolVLM code on conversations and record reference outputs.

    make_prompt_refs.py argus-tiny MODEL_DIR OUT.json [--checkpoint TEXT] [--threads N]
    make_prompt_refs.py synth-tiny ...
    make_prompt_refs.py shifted-argus-tiny ...

Versions, setting and MODEL_DIR: see hf.py. Records are those of make_refs.py and the fields below.
Wording and scenes were picked so that every step's best-two margin is at least MIN_MARGIN, which
is more than 100 times the float32 noise of the scores (1 against 2 threads, eager against sdpa);
a run that finds a smaller one fails.

The shifted set runs with the vision position ids of transformers 4.55.0 to 4.57.6, where the
grid 0, 1, 2, 3 ... of each axis is numbered 0, 0, 1, 2 ...
"""
import argparse
import sys

import torch
from transformers.models.idefics3.modeling_idefics3 import Idefics3VisionEmbeddings

import hf
import prompt_cases

MIN_MARGIN = 0.01

FIELDS = dict(hf.FIELDS, **{
    "max_new_tokens, repetition_penalty": "as given to generate(); the penalty covers the ids of "
                                          "the prompt too",
    "logprobs": "of each generated id: log_softmax of the logits, without the penalty",
    "penalized_logprobs": "the same after the repetition penalty, where there is one",
})

SETS = {"argus-tiny": prompt_cases.ARGUS_TINY, "synth-tiny": prompt_cases.SYNTH_TINY,
        "shifted-argus-tiny": prompt_cases.SHIFTED_ARGUS_TINY}


def shifted_position_ids(side):
    """[side * side] position id of each patch, as 4.55.0 to 4.57.6 computes it."""
    r = torch.arange(side)
    near = (r - 1).clamp(min=0)
    ids = (side * near[:, None] + near).flatten()
    # the expression of those versions, which the line above sums up
    edges = torch.arange(1 / side, 1.0, 1 / side)
    buckets = torch.bucketize(r.float() / side * (1 - 1e-6), edges, right=True)
    assert torch.equal(ids, (buckets[:, None] * side + buckets).flatten())
    return ids


def shift_positions():
    def forward(self, pixel_values, patch_attention_mask):
        assert patch_attention_mask.all() and pixel_values.shape[-1] == self.image_size
        patches = self.patch_embedding(pixel_values).flatten(2).transpose(1, 2)
        return patches + self.position_embedding(shifted_position_ids(self.num_patches_per_side))
    Idefics3VisionEmbeddings.forward = forward


def record(model, processor, recorder, case):
    res, new, logits, scores = hf.run_case(model, processor, recorder, case)
    res.update(max_new_tokens=case.max_new_tokens, repetition_penalty=case.repetition_penalty,
               logprobs=hf.nums(hf.logprobs(logits, new)))
    if case.repetition_penalty != 1:
        res["penalized_logprobs"] = hf.nums(hf.logprobs(scores, new))
    return res


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    ap.add_argument("set", choices=SETS)
    ap.add_argument("model_dir")
    ap.add_argument("out")
    ap.add_argument("--checkpoint", default="", help="where it comes from, recorded as it is")
    ap.add_argument("--threads", type=int, default=2)
    args = ap.parse_args()
    processor, model = hf.load(args.model_dir, args.threads)
    recorder = hf.Recorder(model)
    shifted = args.set.startswith("shifted")
    if shifted:
        shift_positions()
    cases = []
    for case in SETS[args.set]:
        cases.append(record(model, processor, recorder, case))
        hf.progress(cases[-1])
        if min(cases[-1]["margins"]) < MIN_MARGIN:
            sys.exit(f"{case.name}: margin below {MIN_MARGIN}, take another wording or scene")
    setting = {"decoding": "greedy",
               "vision_position_ids": "side*max(r-1,0) + max(c-1,0)" if shifted else "side*r + c"}
    hf.write(args.out, args.model_dir, args.checkpoint, setting, FIELDS, cases)


if __name__ == "__main__":
    main()
