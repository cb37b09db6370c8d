#!/usr/bin/env python3
# What llama.cpp takes for the same question: one more side of the speed comparison.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
"""Time llama.cpp (libllama and libmtmd through llama-cpp-python) on the CPU and print one JSON object.

    bench_llama.py TEXT_GGUF MMPROJ_GGUF IMAGE QUESTION N_TOKENS THREADS

IMAGE is an image file or WIDTHxHEIGHT, which takes formula_image(WIDTH, HEIGHT, 1). Generates N_TOKENS
greedy tokens; an end token does not stop it. Everything that is not asked for is llama.cpp's default:
flash attention where it can, a float16 KV cache, batches of 2048 in parts of 512, the vision tower warmed
up while loading. It cuts the picture and writes the image's ids itself; a tile is a chunk of image tokens.

Stages are what llama.cpp's own multimodal program does one after the other: every image chunk is encoded
(vision) and then decoded into the KV cache (prefill), every text chunk is decoded (prefill).
"""
import argparse
import ctypes
import json
import os
import resource
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tools", "refs"))

import numpy as np

BASE_MIB = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

import llama_cpp
from llama_cpp import mtmd_cpp as mtmd
from formula_image import formula_image

N_BATCH = 2048


def pixels(spec):
    w, _, h = spec.partition("x")
    if w.isdigit() and h.isdigit():
        return formula_image(int(w), int(h), 1)
    from PIL import Image
    return np.asarray(Image.open(spec).convert("RGB"))


class Engine:
    """A text model, its context, and the vision tower beside it."""

    def __init__(self, text, mmproj, threads, n_ctx):
        llama_cpp.llama_backend_init()
        mp = llama_cpp.llama_model_default_params()
        mp.n_gpu_layers = 0
        self.model = llama_cpp.llama_model_load_from_file(text.encode(), mp)
        cp = llama_cpp.llama_context_default_params()
        cp.n_ctx, cp.n_batch = n_ctx, N_BATCH
        cp.n_threads = cp.n_threads_batch = threads
        self.lctx = self.model and llama_cpp.llama_init_from_model(self.model, cp)
        vp = mtmd.mtmd_context_params_default()
        vp.use_gpu, vp.n_threads, vp.print_timings = False, threads, False
        self.vctx = self.lctx and mtmd.mtmd_init_from_file(mmproj.encode(), self.model, vp)
        if not self.vctx:
            sys.exit(f"bench_llama: can't load {text} with {mmproj}")
        self.n_vocab = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(self.model))
        self.n_past = ctypes.c_int32(0)

    def chunks(self, image, question):
        """The prompt of the chat template, with one picture in front of the question."""
        text = (b"<|im_start|>User:" + mtmd.mtmd_default_marker() + question.encode()
                + b"<end_of_utterance>\nAssistant:")
        inp = mtmd.mtmd_input_text(text=text, text_len=len(text), add_special=False, parse_special=True)
        data = np.ascontiguousarray(image)
        bitmap = mtmd.mtmd_bitmap_init(image.shape[1], image.shape[0],
                                       data.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8)))
        out = mtmd.mtmd_input_chunks_init()
        bitmaps = (mtmd.mtmd_bitmap_p_ctypes * 1)(bitmap)
        if mtmd.mtmd_tokenize(self.vctx, out, ctypes.byref(inp), bitmaps, 1) != 0:
            sys.exit("bench_llama: can't cut the picture")
        mtmd.mtmd_bitmap_free(bitmap)
        return [mtmd.mtmd_input_chunks_get(out, i) for i in range(mtmd.mtmd_input_chunks_size(out))]

    def encode(self, chunk):
        if mtmd.mtmd_encode_chunk(self.vctx, chunk) != 0:
            sys.exit("bench_llama: vision failed")
        return mtmd.mtmd_get_output_embd(self.vctx)

    def prefill(self, chunk, rows, last):
        if rows is None:
            err = mtmd.mtmd_helper_eval_chunk_single(self.vctx, self.lctx, chunk, self.n_past.value, 0, N_BATCH,
                                                     last, ctypes.byref(self.n_past))
        else:
            err = mtmd.mtmd_helper_decode_image_chunk(
                self.vctx, self.lctx, chunk, rows, self.n_past.value, 0, N_BATCH, ctypes.byref(self.n_past),
                ctypes.cast(None, mtmd.mtmd_helper_post_decode_callback), None)
        if err:
            sys.exit("bench_llama: prefill failed")

    def best(self):
        logits = llama_cpp.llama_get_logits_ith(self.lctx, -1)
        return int(np.argmax(np.ctypeslib.as_array(logits, shape=(self.n_vocab,))))

    def step(self, token):
        one = (llama_cpp.llama_token * 1)(token)
        if llama_cpp.llama_decode(self.lctx, llama_cpp.llama_batch_get_one(one, 1)) != 0:
            sys.exit("bench_llama: decode failed")
        return self.best()


def quiet():
    """llama.cpp's messages go nowhere: only the JSON object is printed."""
    @llama_cpp.llama_log_callback
    def nothing(level, text, data):
        pass

    llama_cpp.llama_log_set(nothing, ctypes.c_void_p(0))
    mtmd.mtmd_log_set(nothing, ctypes.c_void_p(0))
    mtmd.mtmd_helper_log_set(nothing, ctypes.c_void_p(0))
    return nothing


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    for name in ("text", "mmproj", "image", "question"):
        ap.add_argument(name)
    ap.add_argument("tokens", type=int)
    ap.add_argument("threads", type=int)
    args = ap.parse_args()
    keep = quiet()
    now = time.perf_counter
    out = {"text": os.path.basename(args.text), "mmproj": os.path.basename(args.mmproj), "threads": args.threads,
           "vision_s": 0.0, "prefill_s": 0.0, "frames": 0, "prompt_tokens": 0}
    clock = now()
    engine = Engine(args.text, args.mmproj, args.threads, 2048)
    image = pixels(args.image)
    out["load_s"] = now() - clock
    begin = clock = now()
    chunks = engine.chunks(image, args.question)
    out["preprocess_s"] = now() - clock
    for i, chunk in enumerate(chunks):
        rows = None
        out["prompt_tokens"] += mtmd.mtmd_input_chunk_get_n_tokens(chunk)
        if mtmd.mtmd_input_chunk_get_type(chunk) == mtmd.MTMD_INPUT_CHUNK_TYPE_IMAGE:
            clock = now()
            rows = engine.encode(chunk)
            out["vision_s"] += now() - clock
            out["frames"] += 1
        clock = now()
        engine.prefill(chunk, rows, i == len(chunks) - 1)
        out["prefill_s"] += now() - clock
    clock = now()
    ids = [engine.best()]
    while len(ids) < args.tokens:
        ids.append(engine.step(ids[-1]))
    out["decode_s"] = now() - clock
    out["decode_ms_per_token"] = 1000 * out["decode_s"] / max(1, args.tokens - 1)
    out["total_after_load_s"] = now() - begin
    out["peak_rss_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    out["python_rss_mib"] = BASE_MIB
    out["ids"] = ids
    del keep
    print(json.dumps({k: round(v, 4) if isinstance(v, float) else v for k, v in out.items()}))


if __name__ == "__main__":
    main()
