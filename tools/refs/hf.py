# The reference: Hugging Face SmolVLM on one prompt, what it computed, and the file it goes to.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
"""Shared by make_refs.py, make_prompt_refs.py, make_choice_refs.py and check_refs.py.

Setting: float32, eager attention, slow (Pillow) image processor, greedy. The CPU build of torch
is enough; torchvision must NOT be installed (it would bring another image processor):

    pip install torch==2.15.0 transformers==4.54.0 tokenizers==0.21.4 safetensors==0.8.0 \\
                numpy==2.4.6 pillow==13.0.0 num2words==0.5.14

A model directory holds model.safetensors and the configuration, processor and tokenizer files.
Those of SmolVLM-256M-Instruct serve the synthetic checkpoints of tests/gen/synth_checkpoint.c:

    256m: synth_checkpoint 256m DIR/model.safetensors --seed 1
    500m: synth_checkpoint 500m DIR/model.safetensors --seed 1, config.json of SmolVLM-500M-Instruct
    tiny: synth_checkpoint tiny DIR/model.safetensors --seed 2, tests/refs/synth-tiny/*config.json
"""
import dataclasses
import hashlib
import json
import os
import sys

import numpy as np
import PIL
import tokenizers
import torch
import transformers
from PIL import Image
from transformers import AutoProcessor, AutoTokenizer, Idefics3ForConditionalGeneration

from formula_image import FORMULA, formula_image, sha256

PINNED = {"transformers": "4.54.0", "torch": "2.15.0", "numpy": "2.4.6", "pillow": "13.0.0",
          "tokenizers": "0.21.4"}

FIELDS = {
    "images": "width, height, scene, time of formula_image, and the sha256 of the RGB bytes",
    "content": "items of a single user turn; longer conversations have messages (role, content)",
    "prompt_text": "chat template output; <image> is one placeholder, not yet expanded",
    "pixel_values": "float32 [frames,3,S,S], frames of all images in order; sha256 of the "
                    "little-endian bytes",
    "patch_embedding": "frame 0, patch 0, first 8 channels, convolution output with bias, "
                       "without position",
    "embeddings": "the same with the position embedding added",
    "vision_layers": "frame 0, output of each layer: mean and std over all patches and channels, "
                     "first 4 values of the first and the last patch",
    "connector_first, connector_last": "frame 0, first 8 values of its first and last image token",
    "text_embedding": "input of text layer 0 at the last prompt position (as text_layers)",
    "text_layers": "output of each layer at the last prompt position: mean, std, first 4 values",
    "top5": "prefill logits of the last position, [id, logit], best first",
    "generated_ids": "greedy, includes the end token when it was produced",
    "margins": "best minus second-best score of each step; the score is the logit, after the "
               "repetition penalty if there is one",
    "text": "generated ids decoded with skip_special_tokens",
    "std": "population standard deviation",
}


@dataclasses.dataclass
class Case:
    """messages: (role, content) pairs; in content a str is text, and a tuple (width, height,
    scene, time) is a formula picture."""
    name: str
    messages: list
    split: bool = True
    max_new_tokens: int = 32
    repetition_penalty: float = 1.0

    def pictures(self):
        return [part for _, content in self.messages for part in content
                if not isinstance(part, str)]

    def turns(self):
        """The messages as the chat template wants them."""
        def item(part):
            return {"type": "text", "text": part} if isinstance(part, str) else {"type": "image"}
        return [{"role": role, "content": [item(part) for part in content]}
                for role, content in self.messages]


def load(model_dir, threads, attention="eager"):
    """processor, model"""
    found = versions()
    wrong = {k: found[k] for k, v in PINNED.items() if found[k].split("+")[0] != v}
    if wrong:
        sys.exit(f"expected {PINNED}, found {wrong}")
    torch.set_num_threads(threads)
    processor = AutoProcessor.from_pretrained(model_dir, use_fast=False)
    # use_fast=False is meant for the image processor. The slow tokenizer that comes along takes
    # only a few of the added tokens for special and would write the others into the text.
    processor.tokenizer = AutoTokenizer.from_pretrained(model_dir)
    model = Idefics3ForConditionalGeneration.from_pretrained(
        model_dir, torch_dtype=torch.float32, attn_implementation=attention).eval()
    return processor, model


def versions():
    return {"transformers": transformers.__version__, "torch": torch.__version__,
            "numpy": np.__version__, "pillow": PIL.__version__,
            "tokenizers": tokenizers.__version__}


def num(x):
    """Shortest decimal that still gives the same float32."""
    return float(np.format_float_scientific(np.float32(x), unique=True))


def nums(t):
    return [num(x) for x in t.flatten().tolist()]


def stats(t):
    t = t.double()
    return {"mean": num(t.mean()), "std": num(t.std(unbiased=False))}


def first_output(o):
    return o[0] if isinstance(o, tuple) else o


class Recorder:
    """Forward hooks that keep what the first (prefill) call of each module produced."""

    def __init__(self, model):
        self.rec = {}
        vision, text = model.model.vision_model, model.model.text_model
        self.n_vision, self.n_text = len(vision.encoder.layers), len(text.layers)
        self.hook(vision.embeddings.patch_embedding, "patch", lambda o: o[0].flatten(1).T)
        self.hook(vision.embeddings, "embeddings", lambda o: o[0])
        for i, layer in enumerate(vision.encoder.layers):
            self.hook(layer, f"v{i}", lambda o: first_output(o)[0])
        self.hook(model.model.connector, "connector", lambda o: o[0])
        for i, layer in enumerate(text.layers):
            self.hook(layer, f"t{i}", lambda o: first_output(o).flatten(0, -2)[-1])
        text.layers[0].register_forward_pre_hook(self.keep_embedding, with_kwargs=True)

    def keep(self, key, value):
        self.rec.setdefault(key, value.detach().clone())

    def keep_embedding(self, module, args, kwargs):
        self.keep("embed", (args[0] if args else kwargs["hidden_states"])[0, -1])

    def hook(self, module, key, pick):
        module.register_forward_hook(lambda m, a, o: self.keep(key, pick(o)))

    def report(self):
        r, out = self.rec, {}
        if "patch" in r:
            layers = [r[f"v{i}"] for i in range(self.n_vision)]
            out["patch_embedding"] = nums(r["patch"][0, :8])
            out["embeddings"] = nums(r["embeddings"][0, :8])
            out["vision_layers"] = [dict(stats(h), first=nums(h[0, :4]), last=nums(h[-1, :4]))
                                    for h in layers]
            out["connector_first"] = nums(r["connector"][0, :8])
            out["connector_last"] = nums(r["connector"][-1, :8])

        def line(h):
            return dict(stats(h), first=nums(h[:4]))
        out["text_embedding"] = line(r["embed"])
        out["text_layers"] = [line(r[f"t{i}"]) for i in range(self.n_text)]
        self.rec.clear()
        return out


def prepare(processor, case):
    """Processor output, and the head of the case's record."""
    arrays = [formula_image(*p) for p in case.pictures()]
    turns = case.turns()
    text = processor.apply_chat_template(turns, add_generation_prompt=True)
    processor.image_processor.do_image_splitting = case.split
    inputs = processor(text=text, images=[Image.fromarray(a) for a in arrays] or None,
                       return_tensors="pt")
    single = len(turns) == 1 and turns[0]["role"] == "user"
    res = {"name": case.name, "split": case.split,
           "images": [dict(zip(("width", "height", "scene", "time"), p), sha256=sha256(a))
                      for p, a in zip(case.pictures(), arrays)],
           "content" if single else "messages": turns[0]["content"] if single else turns,
           "prompt_text": text, "prompt_ids": inputs["input_ids"][0].tolist(), "frames": 0}
    if "pixel_values" in inputs:
        px = inputs["pixel_values"][0].numpy().astype("<f4")
        res["frames"] = px.shape[0]
        res["pixel_values"] = {"shape": list(px.shape), "sha256": sha256(px),
                               "mean": float(px.mean(dtype=np.float64))}
    return inputs, res


@torch.no_grad()
def generate(model, inputs, case):
    """New ids, and of each step the logits and the scores (logits after the penalty)."""
    out = model.generate(**inputs, do_sample=False, max_new_tokens=case.max_new_tokens,
                         repetition_penalty=case.repetition_penalty, output_logits=True,
                         output_scores=True, return_dict_in_generate=True)
    new = out.sequences[0, inputs["input_ids"].shape[1]:]
    return new, torch.stack(out.logits)[:, 0].float(), torch.stack(out.scores)[:, 0].float()


def logprobs(logits, ids):
    """Log-probability of each step's id, softmax in double of the float32 logits."""
    return torch.log_softmax(logits.double(), -1).gather(-1, ids[:, None])[:, 0]


def run_case(model, processor, recorder, case):
    """The case's record, and per step logits and scores [n_step, vocab]."""
    inputs, res = prepare(processor, case)
    new, logits, scores = generate(model, inputs, case)
    top2 = scores.topk(2, dim=-1).values
    top5 = logits[0].topk(5)
    res.update(recorder.report())
    res.update(top5=[[int(i), num(v)] for v, i in zip(top5.values, top5.indices)],
               generated_ids=new.tolist(), margins=nums(top2[:, 0] - top2[:, 1]),
               text=processor.tokenizer.decode(new, skip_special_tokens=True))
    return res, new, logits, scores


def dump(data, path):
    """JSON, one line per leaf list or small object, so that it stays readable and small."""
    def is_leaf(v, flat):
        numbers = isinstance(v, list) and all(isinstance(x, (int, float)) for x in v)
        return not isinstance(v, (dict, list)) or len(flat) <= 110 or numbers

    def fmt(v, pad):
        flat = json.dumps(v, ensure_ascii=True)
        if is_leaf(v, flat):
            return flat
        inner = pad + " "
        if isinstance(v, dict):
            body = (f"{json.dumps(k)}: {fmt(x, inner)}" for k, x in v.items())
        else:
            body = (fmt(x, inner) for x in v)
        o, c = "{}" if isinstance(v, dict) else "[]"
        return f"{o}\n{inner}" + f",\n{inner}".join(body) + f"\n{pad}{c}"

    with open(path, "w", encoding="ascii") as f:
        f.write(fmt(data, "") + "\n")


def checkpoint_sha256(model_dir):
    with open(os.path.join(model_dir, "model.safetensors"), "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def write(path, model_dir, checkpoint, setting, fields, cases):
    """The whole file: how it was made, then the cases."""
    dump({
        "checkpoint": checkpoint,
        "checkpoint_sha256": checkpoint_sha256(model_dir),
        "versions": versions(),
        "setting": dict({"dtype": "float32", "attention": "eager",
                         "image_processor": "Idefics3ImageProcessor"}, **setting),
        "image_formula": FORMULA.splitlines(),
        "fields": fields,
        "cases": cases,
    }, path)


def progress(res):
    ids = res["generated_ids"]
    print(f"{res['name']}: {res['frames']} frames, {len(res['prompt_ids'])} ids, "
          f"{len(set(ids))} distinct of {len(ids)}, least margin {min(res['margins']):.5f}, "
          f"{res['text']!r}", file=sys.stderr, flush=True)
