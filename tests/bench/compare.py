#!/usr/bin/env python3
# argus against other programs that run the same model, on one machine, in one interleaved run.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
"""Time argus and its peers on one machine, interleaved, and print Markdown tables for doc/speed.md.

    compare.py --argus BUILD/argus --model DIR --venv VENV [--peers LIST] [--ours LIST] [--budget SECONDS]
               [--rounds N] [--tokens N] [--threads N] [--formula WxH] [--frames N] [--append FILE]
    compare.py --argus BUILD/argus --model DIR --venv VENV --clip FILE|auto [--windows N] ...
    compare.py --argus BUILD/argus --model DIR --venv VENV --stages [--rounds N] [--tokens N] ...

--model is a complete model directory. Timing depends on shapes only, so the synthetic checkpoint of
tests/gen/synth_checkpoint.c with the published configuration and tokenizer beside it will do.
--venv is what setup.sh made from that directory. --peers: torch, torch-eager, llama-f32, llama-bf16, llama-q8,
openvino-f32, openvino-int8, openvino-int8-full, ffai. --ours: exact, q8, exact-1t (one thread).
--frames N asks about N one-tile pictures, as a video window does; only torch and openvino can.
--clip times a video end to end, decoding included, against torch: one question about every 8 frames taken.
--stages keeps argus and torch loaded and has them take turns at single stages (prefill, tokens, two tiles), a second
each, so that both see the same machine; memory has been touched before. Needs make benches.

In a round each peer runs right after the argus that it is compared with: exact, and q8 for peers of 8 bits.
Ratios are taken within a round against the nearest run of argus; figures are medians over the rounds. Loading is
excluded. A new round begins only if it fits into --budget. A peer that fails is reported and left out.
OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE are unset, so that numpy is not held back.
"""
import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
QUESTION = "Describe it in 5 words."
PEERS = {"torch": "PyTorch sdpa", "torch-eager": "PyTorch eager", "llama-f32": "llama.cpp F32",
         "llama-bf16": "llama.cpp BF16", "llama-q8": "llama.cpp Q8_0", "openvino-f32": "OpenVINO f32",
         "openvino-int8": "OpenVINO int8", "openvino-int8-full": "OpenVINO int8, activations too", "ffai": "ffai-argus"}
OURS = {"exact": "argus exact", "q8": "argus q8", "exact-1t": "argus exact, 1 thread"}
STAGES = (("whole", "total"), ("vision", "vision"), ("prefill", "prefill"), ("per token", "token"), ("peak RSS", "rss"))


class Failed(Exception):
    pass


def environment(**more):
    return {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")} | {k: str(v) for k, v in more.items()}


def run(command, args, **more):
    """JSON object on the last line of what the command prints."""
    env = environment(**more)
    try:
        p = subprocess.run(command, env=env, capture_output=True, text=True, timeout=args.timeout)
        return json.loads(p.stdout.strip().splitlines()[-1])
    except subprocess.TimeoutExpired:
        raise Failed(f"no answer within {args.timeout} s") from None
    except (OSError, ValueError, IndexError) as e:
        tail = p.stderr.strip().splitlines()[-3:] if "p" in locals() else [str(e)]
        raise Failed(" / ".join(tail) or "no output") from None


def ours(args, kind):
    threads = 1 if kind == "exact-1t" else args.threads
    command = [args.argus, "bench", "--json", "--runs", "1", "--model", args.model, "--tokens", str(args.tokens),
               "--threads", str(threads), "--formula", args.formula, "--frames", str(args.frames),
               "--prompt", QUESTION]
    if kind == "q8":
        command += ["--precision", "q8"]
    r = run(command, args)
    return {"total": r["all_s"][1], "vision": r["vision_s"][1], "prefill": r["prefill_s"][1],
            "token": r["decode_s"][1] / max(1, r["tokens"] - 1), "load": r["open_s"], "rss": r["peak_rss_mib"],
            "anonymous": r["anonymous_mib"], "peak": r["flops_vision"] / r["vision_s"][1] / r["peak_flops"],
            "bandwidth": r["bytes_decode"] / r["decode_s"][1] / r["read_bandwidth"] if r["decode_s"][1] else 0,
            "vision_share": r["vision_share"], "decode_share": r["decode_share"],
            "prompt": r["prompt_tokens"], "tiles": r["tiles"], "tier": r["tier"], "ids": r["ids"],
            "peak_flops": r["peak_flops"], "read_bandwidth": r["read_bandwidth"], "start": r.get("start_s", 0)}


def theirs(args, kind):
    python = args.python or os.path.join(args.venv, "bin", "python")
    files = os.path.join(args.venv or "", "peers")
    name, _, form = kind.partition("-")
    if name == "torch":
        command = [python, os.path.join(HERE, "bench_torch.py"), args.model, args.formula, QUESTION, args.tokens,
                   "float32", args.threads] + (["--sdpa"] if form != "eager" else [])
    elif name == "openvino":
        command = [python, os.path.join(HERE, "bench_openvino.py"), os.path.join(files, kind), args.formula, QUESTION,
                   args.tokens, "f32" if form == "f32" else "default", args.threads]
    elif name == "llama":
        form = "q8_0" if form == "q8" else form
        command = [python, os.path.join(HERE, "bench_llama.py"), os.path.join(files, f"text-{form}.gguf"),
                   os.path.join(files, f"mmproj-{form}.gguf"), args.formula, QUESTION, args.tokens, args.threads]
    else:
        command = [os.path.join(args.venv or "", "ffai", "release", "bench-ffai"), args.model, args.formula, QUESTION, args.tokens]
    if args.frames > 1:
        if name not in ("torch", "openvino"):
            raise Failed("has no pictures of one tile")
        command += ["--frames", args.frames, "--no-split"]
    r = run([str(c) for c in command], args, RAYON_NUM_THREADS=args.threads, HF_HUB_OFFLINE=1)
    return {"total": r["total_after_load_s"], "vision": r["vision_s"], "prefill": r["prefill_s"],
            "token": r["decode_ms_per_token"] / 1000, "load": r["load_s"] + r.get("import_s", 0),
            "rss": r["peak_rss_mib"], "prompt": r["prompt_tokens"], "tiles": r["frames"], "ids": r.get("ids")}


def processor():
    try:
        with open("/proc/cpuinfo") as f:
            for line in f:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def mate(kind):
    return "q8" if "q8" in kind or "int8" in kind else "exact"


def one_round(args, failed):
    """[(kind, result)] in the order of time."""
    done, plan = [], []
    for peer in args.peers:
        if mate(peer) in args.ours:
            plan.append(mate(peer))
        plan.append(peer)
    plan += [k for k in args.ours if k not in plan]
    for kind in plan:
        if kind in failed:
            continue
        begin = time.monotonic()
        try:
            done.append((kind, ours(args, kind) if kind in OURS else theirs(args, kind)))
        except Failed as e:
            failed[kind] = str(e)
            print(f"  {kind}: failed: {e}", file=sys.stderr, flush=True)
            continue
        print(f"  {kind}: {done[-1][1]['total']:.2f} s, {time.monotonic() - begin:.0f} s with loading", file=sys.stderr,
              flush=True)
    return done


def nearest(run_list, at, kind):
    places = [i for i, (k, _) in enumerate(run_list) if k == kind]
    return run_list[min(places, key=lambda i: abs(i - at))][1] if places else None


def ratios(rounds, kind, peer):
    """{stage: [ratio of each round]}"""
    out = {key: [] for _, key in STAGES}
    for run_list in rounds:
        for at, (k, theirs_) in enumerate(run_list):
            mine = nearest(run_list, at, kind) if k == peer else None
            for _, key in STAGES if mine else ():
                if theirs_[key] > 0:
                    out[key].append(mine[key] / theirs_[key])
    return out


def equal_ids(a, b):
    n = 0
    while n < min(len(a), len(b)) and a[n] == b[n]:
        n += 1
    return f"{n} of {len(a)}"


def span(values, scale=1, form=".2f"):
    """median (least to most)"""
    if not values:
        return "-"
    if len(values) == 1:
        return f"{values[0] * scale:{form}}"
    return (f"{statistics.median(values) * scale:{form}} ({min(values) * scale:{form}} to "
            f"{max(values) * scale:{form}})")


def report(args, rounds, failed):
    runs = {}
    for run_list in rounds:
        for kind, r in run_list:
            runs.setdefault(kind, []).append(r)
    mine = [r for k in runs if k in OURS and k != "exact-1t" for r in runs[k]]
    if not mine:
        sys.exit("compare: argus itself failed")
    exact = runs.get("exact", mine)

    def med(kind, key):
        return statistics.median(r[key] for r in runs[kind])

    lines = [f"{datetime.date.today()}, {processor()}, {mine[0]['tier']} kernels, {args.threads} threads; "
             f"{exact[0]['tiles']} tiles, {exact[0]['prompt']} ids, {args.tokens} tokens; {len(rounds)} rounds. In the same "
             f"runs: {span([r['peak_flops'] for r in mine], 1e-9, '.0f')} GFLOP/s in registers, "
             f"{span([r['read_bandwidth'] for r in mine], 1e-9, '.1f')} GB/s read.", "",
             "| | whole | vision, a tile | prefill | per token | loading | peak RSS | ids as exact |", "|" + "---|" * 8]
    for kind in [k for k in OURS if k in runs] + [p for p in args.peers if p in runs]:
        r = runs[kind][0]
        same = "-" if not r["ids"] else equal_ids(exact[0]["ids"], r["ids"])
        if (r["tiles"], r["prompt"]) != (exact[0]["tiles"], exact[0]["prompt"]):
            same += f"; {r['tiles']} tiles, {r['prompt']} ids"
        lines.append(f"| {OURS.get(kind) or PEERS[kind]} | {med(kind, 'total'):.2f} s | "
                     f"{med(kind, 'vision') / r['tiles']:.3f} s | {med(kind, 'prefill'):.2f} s | "
                     f"{med(kind, 'token') * 1e3:.1f} ms | {med(kind, 'load'):.2f} s | {med(kind, 'rss'):.0f} MiB | {same} |")
    lines += ["", "| ours / peer | whole | vision | prefill | per token | peak RSS |", "|" + "---|" * 6]
    for kind in ("exact", "q8"):
        for peer in [p for p in args.peers if p in runs] + (["exact"] if kind == "q8" else []):
            if kind in runs and peer in runs:
                q = ratios(rounds, kind, peer)
                cells = " | ".join(span(q[key]) for _, key in STAGES)
                lines.append(f"| {OURS[kind]} / {PEERS.get(peer) or OURS[peer]} | {cells} |")
    lines.append("")
    for kind in [k for k in OURS if k in runs]:
        share = {key: span([r[key] for r in runs[kind]], 100, ".0f")
                 for key in ("peak", "vision_share", "bandwidth", "decode_share")}
        lines.append(f"{OURS[kind]}: vision at {share['peak']} % of the registers' peak, {share['vision_share']} % of what they "
                     f"gave on average right after; decoding at {share['bandwidth']} % of the read bandwidth, "
                     f"{share['decode_share']} % of the average; "
                     f"{med(kind, 'anonymous'):.0f} MiB anonymous, first tile after "
                     f"{span([r['start'] for r in runs[kind]], 1e3, '.0f')} ms.")
    if "exact-1t" in runs and "exact" in runs:
        speed = med("exact-1t", "vision") / med("exact", "vision")
        peak = med("exact", "peak_flops") / med("exact-1t", "peak_flops")
        lines.append(f"From 1 to {args.threads} threads: vision {speed:.2f} times as fast, the registers' peak {peak:.2f} "
                     f"times: {speed / peak:.2f} of its scaling.")
    lines += [f"{PEERS.get(k) or OURS[k]}: failed: {why}" for k, why in failed.items()]
    return "\n".join(lines)


# ---- video

def make_clip(path, args):
    subprocess.run([args.ffmpeg, "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i",
                    "testsrc2=size=1280x720:rate=25:duration=60", "-vf", "noise=alls=6:allf=t", "-c:v", "libx264",
                    "-preset", "veryfast", "-crf", "23", "-pix_fmt", "yuv420p", path], check=True)


def clip_ours(args, clip, precision):
    command = [args.argus, "--model", args.model, "--fps", str(args.fps), "--window", str(args.window), "--threads",
               str(args.threads), "--max-tokens", str(args.tokens), "--max-frames", str(args.windows * args.window),
               "--prompt", QUESTION, "--precision", precision, "--format", "jsonl", "--output", "-", "--quiet", clip]
    begin = time.monotonic()
    p = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    text = p.stdout.read()
    _, status, usage = os.wait4(p.pid, 0)
    p.returncode = status
    if status:
        raise Failed(f"exit status {os.waitstatus_to_exitcode(status)}")
    cues = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    return {"total": time.monotonic() - begin, "rss": usage.ru_maxrss / 1024,
            "texts": [c["text"] for c in cues if "text" in c]}


def clip_torch(args, clip):
    python = args.python or os.path.join(args.venv, "bin", "python")
    r = run([str(c) for c in [python, os.path.join(HERE, "bench_clip.py"), args.model, clip, QUESTION, args.tokens,
                              args.threads, "--every", 25 // args.fps, "--window", args.window, "--windows",
                              args.windows, "--ffmpeg", args.ffmpeg]], args)
    return {"total": r["total_after_load_s"], "rss": r["peak_rss_mib"], "texts": r["texts"], "windows": r["windows"]}


def compare_clip(args, clip):
    rounds, begin, cost = [], time.monotonic(), 0
    for _ in range(args.rounds):
        if rounds and time.monotonic() - begin + cost > args.budget:
            break
        cost = time.monotonic()
        done = []
        for precision in [p for p in ("exact", "q8") if p in args.ours]:
            done.append((precision, clip_ours(args, clip, precision)))
            print(f"  {precision}: {done[-1][1]['total']:.2f} s", file=sys.stderr, flush=True)
        done.append(("torch", clip_torch(args, clip)))
        print(f"  torch: {done[-1][1]['total']:.2f} s", file=sys.stderr, flush=True)
        rounds.append(dict(done))
        cost = time.monotonic() - cost
    n = len(rounds[0]["torch"]["windows"])
    lines = [f"{datetime.date.today()}, {processor()}, {args.threads} threads; 1280x720 H.264, {args.fps} frames a second, "
             f"{n} windows of up to {args.window}, at most {args.tokens} tokens each; {len(rounds)} rounds. argus: the whole "
             "process, loading and decoding included; PyTorch: after loading, ffmpeg decodes beside it.", "",
             "| | whole | a window | ratio to PyTorch sdpa | peak RSS | answers as PyTorch's |", "|" + "---|" * 6]
    for kind in [k for k in ("exact", "q8", "torch") if k in rounds[0]]:
        total = [r[kind]["total"] for r in rounds]
        same = sum(a == b for a, b in zip(rounds[0][kind]["texts"], rounds[0]["torch"]["texts"]))
        lines.append(f"| {OURS.get(kind) or PEERS[kind]} | {statistics.median(total):.2f} s | "
                     f"{statistics.median(total) / n:.2f} s | "
                     f"{span([r[kind]['total'] / r['torch']['total'] for r in rounds])} | "
                     f"{statistics.median(r[kind]['rss'] for r in rounds):.0f} MiB | {same} of {n} |")
    return "\n".join(lines)


# ---- stages in turn

class Worker:
    """A process that has the model loaded and answers lines with JSON."""

    def __init__(self, name, command):
        self.name = name
        self.p = subprocess.Popen([str(c) for c in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                  env=environment(HF_HUB_OFFLINE=1))
        if self.line() != "ready":
            sys.exit(f"compare: {name} did not start")

    def line(self):
        return self.p.stdout.readline().strip()

    def do(self, what):
        self.p.stdin.write(what + "\n")
        self.p.stdin.flush()
        answer = self.line()
        if not answer:
            sys.exit(f"compare: {self.name} ended")
        time.sleep(0.2)  # threads that spin after their work go to sleep
        return json.loads(answer)

    def close(self):
        self.p.stdin.close()
        self.p.wait()


def compare_stages(args):
    python = args.python or os.path.join(args.venv, "bin", "python")
    ours_ = Worker("argus", [os.path.join(os.path.dirname(args.argus), "tests", "bench", "stages"), args.model,
                             args.formula, QUESTION, args.tokens, args.threads, args.ours[0]])
    torch = Worker("torch", [python, os.path.join(HERE, "bench_torch.py"), args.model, args.formula, QUESTION,
                             args.tokens, "float32", args.threads, "--sdpa", "--again"])
    pairs, begin = {"ask": [], "tiles": []}, time.monotonic()
    for i in range(args.rounds + 1):
        if i > 1 and time.monotonic() - begin > args.budget:
            break
        for what, done in pairs.items():
            order = (ours_, torch) if i % 2 else (torch, ours_)
            answer = {w: w.do(what) for w in order}
            if i:  # the first of all is not counted
                done.append((answer[ours_], answer[torch]))
    ours_.close()
    torch.close()
    ask = pairs["ask"]
    lines = [f"{datetime.date.today()}, {processor()}, {args.threads} threads; {len(ask)} turns each, both loaded; "
             f"{ask[0][0]['prompt']} ids and {ask[0][1]['prompt']} ids, {args.tokens} tokens.", "",
             f"| | argus {args.ours[0]} | PyTorch sdpa | ratio |", "|" + "---|" * 4]
    for name, what, key in (("prefill", "ask", "prefill_s"), ("a token", "ask", "token_s"),
                            ("vision, two tiles", "tiles", "vision_s")):
        mine, other = ([p[k][key] for p in pairs[what]] for k in (0, 1))
        lines.append(f"| {name} | {span(mine, 1e3, '.1f')} ms | {span(other, 1e3, '.1f')} ms | "
                     f"{span([a / b for a, b in zip(mine, other)])} |")
    return "\n".join(lines)


def parse():
    ap = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    ap.add_argument("--argus", required=True)
    ap.add_argument("--model", required=True)
    ap.add_argument("--venv", help="what setup.sh made")
    ap.add_argument("--python", help="instead of the venv's, for torch")
    ap.add_argument("--peers", default="torch,llama-f32,llama-bf16,llama-q8,openvino-f32,openvino-int8,"
                    "openvino-int8-full")
    ap.add_argument("--ours", default="exact,q8,exact-1t")
    ap.add_argument("--rounds", type=int, default=9)
    ap.add_argument("--budget", type=float, default=720, help="seconds")
    ap.add_argument("--timeout", type=float, default=300, help="seconds, of one run")
    ap.add_argument("--tokens", type=int, default=32)
    ap.add_argument("--threads", type=int, default=2)
    ap.add_argument("--formula", default="512x512")
    ap.add_argument("--frames", type=int, default=1)
    ap.add_argument("--clip", help="video of 25 frames a second, or auto: one is made, 60 s")
    ap.add_argument("--windows", type=int, default=0, help="of the clip; 0: all")
    ap.add_argument("--window", type=int, default=8)
    ap.add_argument("--fps", type=int, default=1, help="frames of the clip to look at a second: 1, 5 or 25")
    ap.add_argument("--ffmpeg", default="ffmpeg")
    ap.add_argument("--stages", action="store_true", help="single stages in turn, both loaded")
    ap.add_argument("--append", help="add what is printed to this file")
    args = ap.parse_args()
    args.peers = [p for p in args.peers.split(",") if p]
    args.ours = [k for k in args.ours.split(",") if k]
    for name in args.peers + args.ours:
        if name not in PEERS and name not in OURS:
            ap.error(f"{name}: expected one of {', '.join(list(PEERS) + list(OURS))}")
    if not args.venv and not args.python:
        ap.error("--venv or --python is needed")
    if args.python and set(args.peers) - {"torch", "torch-eager"} and not args.venv:
        args.peers = ["torch"]
    return args


def main():
    args = parse()
    if args.stages:
        text = compare_stages(args)
    elif args.clip:
        with tempfile.TemporaryDirectory() as tmp:
            clip = args.clip
            if clip == "auto":
                make_clip(clip := os.path.join(tmp, "clip.mp4"), args)
            text = compare_clip(args, clip)
    else:
        rounds, failed, begin, cost = [], {}, time.monotonic(), 0
        while len(rounds) < args.rounds and (not rounds or time.monotonic() - begin + cost <= args.budget):
            start = time.monotonic()
            print(f"round {len(rounds) + 1}", file=sys.stderr, flush=True)
            rounds.append(one_round(args, failed))
            cost = time.monotonic() - start
        text = report(args, rounds, failed)
    print(text)
    if args.append:
        with open(args.append, "a") as f:
            f.write("\n" + text + "\n")


if __name__ == "__main__":
    main()
