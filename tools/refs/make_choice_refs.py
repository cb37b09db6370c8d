#!/usr/bin/env python3
# Reference scores of restricted answers: the log-probability of each choice after a prompt.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
"""Score choices with the real Hugging Face SmolVLM code by teacher forcing and record the sums.

    make_choice_refs.py MODEL_DIR OUT.json [--checkpoint TEXT] [--threads N]

Versions, setting and MODEL_DIR (argus-tiny): see hf.py. The answer of a choice is a blank, the
choice, and <end_of_utterance>; prompt and answer go through the model in one pass, and the logits
in front of each id of the answer give its log-probability.
"""
import argparse
import sys

import torch

import hf
from hf import Case
from prompt_cases import SENTENCE, assistant, pic, system, user

END = "<end_of_utterance>"
MIN_MARGIN = 0.01

CASES = [
    (Case("shape_split", [user(pic((320, 240), 0), "What shape is this?")]),
     ["A ring.", "A cross.", "A square."]),
    (Case("star", [user(pic((90, 160), 15), "Is there a star?")], split=False),
     ["Yes.", "No.", "Two."]),
    (Case("prefixes", [user("What color is the background? ", pic((96, 72), 9))], split=False),
     ["Striped", "Striped.", "Striped. Gray."]),
    (Case("window", [user(*[pic((96, 72), 5, t) for t in range(3)], "What happens in this video?")],
          split=False),
     ["A black cross moves to the left.", "A black cross moves to the right.",
      "A black cross moves up."]),
    (Case("turns", [system("Answer in one word."), user(pic((64, 64), 16), SENTENCE),
                    assistant("A small purple square at the top on a gradient background."),
                    user("How many shapes are there?")]),
     ["Three.", "One.", "Two."]),
    (Case("foreign", [user(pic((24, 20), 2), " then ", pic((96, 72), 7), " What color is it?")]),
     ["red", "na\u00efve 12\u00bd", "gr\u00fcn"]),
]

FIELDS = dict({k: hf.FIELDS[k] for k in ("images", "content", "prompt_text", "pixel_values")}, **{
    "choices": "text, ids of the answer with the end token, log-probability of each, their sum",
    "best": "index of the choice with the largest sum",
    "best_prob": "softmax over the sums at best",
    "margin": "best minus second-best sum",
})


@torch.no_grad()
def score(model, processor, inputs, choice):
    prompt = inputs["input_ids"]
    ids = processor.tokenizer(" " + choice + END, add_special_tokens=False,
                              return_tensors="pt")["input_ids"]
    full = torch.cat([prompt, ids], 1)
    rest = {k: v for k, v in inputs.items() if k.startswith("pixel")}
    logits = model(input_ids=full, attention_mask=torch.ones_like(full), **rest).logits[0].float()
    each = hf.logprobs(logits[prompt.shape[1] - 1:-1], ids[0])
    return {"text": choice, "ids": ids[0].tolist(), "logprobs": hf.nums(each),
            "sum": float(each.sum())}


def record(model, processor, case, choices):
    inputs, res = hf.prepare(processor, case)
    res["choices"] = [score(model, processor, inputs, c) for c in choices]
    sums = torch.tensor([c["sum"] for c in res["choices"]], dtype=torch.float64)
    top = sums.topk(2).values
    res.update(best=int(sums.argmax()), best_prob=float(sums.softmax(0).max()),
               margin=float(top[0] - top[1]))
    return res


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    ap.add_argument("model_dir")
    ap.add_argument("out")
    ap.add_argument("--checkpoint", default="", help="where it comes from, recorded as it is")
    ap.add_argument("--threads", type=int, default=2)
    args = ap.parse_args()
    processor, model = hf.load(args.model_dir, args.threads)
    cases = []
    for case, choices in CASES:
        res = record(model, processor, case, choices)
        cases.append(res)
        sums = [f"{c['text']!r} {c['sum']:.3f}" for c in res["choices"]]
        print(f"{case.name}: best {res['best']} {res['best_prob']:.4f}, {', '.join(sums)}",
              file=sys.stderr, flush=True)
        if res["margin"] < MIN_MARGIN:
            sys.exit(f"{case.name}: margin below {MIN_MARGIN}, take other choices")
    hf.write(args.out, args.model_dir, args.checkpoint, {"decoding": "choices"}, FIELDS, cases)


if __name__ == "__main__":
    main()
