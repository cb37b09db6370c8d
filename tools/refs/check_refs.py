#!/usr/bin/env python3
# Re-run recorded cases from nothing but their record and compare.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
"""Run cases of a file of references again, built from the record alone, and compare.

    check_refs.py MODEL_DIR REFS.json [--case NAME ...] [--random N] [--seed N] [--threads N]

Reads the files of make_refs.py, make_prompt_refs.py and make_choice_refs.py. Hashes, ids and text
must be equal, numbers within 1e-3 (their noise is below 1e-4 on every model). Exit status 1 if not.
"""
import argparse
import json
import random
import sys

import hf
import make_choice_refs
import make_prompt_refs

TOLERANCE = 1e-3


def rebuild(rec):
    """The Case of a record."""
    pictures = iter([tuple(i[k] for k in ("width", "height", "scene", "time"))
                     for i in rec["images"]])
    turns = rec.get("messages") or [{"role": "user", "content": rec["content"]}]
    messages = [(t["role"], [item["text"] if item["type"] == "text" else next(pictures)
                             for item in t["content"]]) for t in turns]
    return hf.Case(rec["name"], messages, rec["split"], rec.get("max_new_tokens", 32),
                   rec.get("repetition_penalty", 1.0))


def differences(old, new, where):
    if isinstance(old, dict) and isinstance(new, dict):
        for k in old:
            yield from differences(old[k], new.get(k), f"{where}.{k}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, (a, b) in enumerate(zip(old, new)):
            yield from differences(a, b, f"{where}[{i}]")
    elif isinstance(old, float) and isinstance(new, (int, float)):
        if abs(old - new) > TOLERANCE * max(1, abs(old)):
            yield f"{where}: expected {old}, found {new}"
    elif old != new:
        yield f"{where}: expected {old!r}, found {new!r}"


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    ap.add_argument("model_dir")
    ap.add_argument("refs")
    ap.add_argument("--case", nargs="*", default=[])
    ap.add_argument("--random", type=int, default=1, help="cases to pick when none is named")
    ap.add_argument("--seed", type=int, help="of the pick")
    ap.add_argument("--threads", type=int, default=1)
    args = ap.parse_args()
    with open(args.refs, encoding="ascii") as f:
        data = json.load(f)
    if hf.checkpoint_sha256(args.model_dir) != data["checkpoint_sha256"]:
        sys.exit(f"{args.model_dir}: not the checkpoint of {args.refs}")
    cases = [c for c in data["cases"] if c["name"] in args.case]
    if not args.case:
        cases = random.Random(args.seed).sample(data["cases"], min(args.random, len(data["cases"])))
    processor, model = hf.load(args.model_dir, args.threads)
    recorder = hf.Recorder(model)
    if data["setting"].get("vision_position_ids", "side*r + c") != "side*r + c":
        make_prompt_refs.shift_positions()
    bad = 0
    for rec in cases:
        case = rebuild(rec)
        if "choices" in rec:
            choices = [c["text"] for c in rec["choices"]]
            new = make_choice_refs.record(model, processor, case, choices)
        else:
            new = make_prompt_refs.record(model, processor, recorder, case)
        new = json.loads(json.dumps(new))
        found = list(differences(rec, new, rec["name"]))
        print(*found[:20], f"{rec['name']}: {len(found)} differences", sep="\n")
        bad += bool(found)
    sys.exit(bad > 0 or not cases)


if __name__ == "__main__":
    main()
