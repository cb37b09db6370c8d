#!/usr/bin/env python3
"""Time argus against PyTorch on one machine, in one interleaved run, and print the ratios.

    compare.py --argus BUILD/argus --model DIR [--python VENV/bin/python] [--rounds N] [--tokens N]
               [--threads N] [--formula WxH] [--frames N] [--eager] [--append doc/speed.md]

--model is a complete model directory. Timing depends on shapes only, so the synthetic checkpoint of
tests/gen/synth_checkpoint.c with the published configuration and tokenizer beside it will do.
--python is a Python with the packages that bench_torch.py names; without it, this one.
--frames N asks about N one-tile pictures, as a video window does.

Runs A B A B ...: loading is excluded, every figure is the median over the rounds, ratios are taken
round by round. OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE are unset, so that numpy is not held back.
"""
import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
QUESTION = "Describe it in 5 words."


def run(command):
    env = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
    out = subprocess.run(command, env=env, stdout=subprocess.PIPE, check=True, text=True).stdout
    return json.loads(out.strip().splitlines()[-1])


def ours(args):
    command = [args.argus, "bench", "--json", "--runs", "1", "--model", args.model, "--tokens", str(args.tokens),
               "--threads", str(args.threads), "--formula", args.formula, "--frames", str(args.frames),
               "--prompt", QUESTION]
    r = run(command)
    return {"total": r["all_s"][1], "vision": r["vision_s"][1], "prefill": r["prefill_s"][1],
            "token": r["decode_s"][1] / max(1, r["tokens"] - 1), "rss": r["peak_rss_mib"],
            "anonymous": r["anonymous_mib"], "peak": r["flops_vision"] / r["vision_s"][1] / r["peak_flops"],
            "bandwidth": r["bytes_decode"] / r["decode_s"][1] / r["read_bandwidth"],
            "prompt": r["prompt_tokens"], "tiles": r["tiles"], "tier": r["tier"], "ids": r["ids"],
            "peak_flops": r["peak_flops"], "read_bandwidth": r["read_bandwidth"]}


def torch(args):
    command = [args.python, os.path.join(HERE, "bench_torch.py"), args.model, args.formula, QUESTION, str(args.tokens),
               "float32", str(args.threads)]
    if args.frames > 1:
        command += ["--frames", str(args.frames), "--no-split"]
    if not args.eager:
        command += ["--sdpa"]
    r = run(command)
    return {"total": r["total_after_load_s"], "vision": r["vision_s"], "prefill": r["prefill_s"],
            "token": r["decode_ms_per_token"] / 1000, "rss": r["peak_rss_mib"], "prompt": r["prompt_tokens"],
            "tiles": r["frames"], "ids": r["ids"]}


def row(name, a, b, scale, unit):
    ratio = statistics.median(x / y for x, y in zip(a, b))
    return (f"{name:12} {statistics.median(a) * scale:10.2f} {statistics.median(b) * scale:10.2f} {unit:4} "
            f"{ratio:6.2f}   ({min(x / y for x, y in zip(a, b)):.2f} to {max(x / y for x, y in zip(a, b)):.2f})")


def processor():
    try:
        with open("/proc/cpuinfo") as f:
            for line in f:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    ap.add_argument("--argus", required=True)
    ap.add_argument("--model", required=True)
    ap.add_argument("--python", default=sys.executable)
    ap.add_argument("--rounds", type=int, default=3)
    ap.add_argument("--tokens", type=int, default=32)
    ap.add_argument("--threads", type=int, default=2)
    ap.add_argument("--formula", default="512x512")
    ap.add_argument("--frames", type=int, default=1)
    ap.add_argument("--eager", action="store_true", help="the peer with eager attention instead of sdpa")
    ap.add_argument("--append", help="add a dated line to this file")
    args = ap.parse_args()

    a, b = [], []
    for i in range(args.rounds):
        a.append(ours(args))
        b.append(torch(args))
        print(f"round {i + 1}: {a[-1]['total']:.2f} s and {b[-1]['total']:.2f} s", file=sys.stderr, flush=True)
    for key in ("prompt", "tiles"):
        if a[0][key] != b[0][key]:
            sys.exit(f"the two did not do the same work: {key} {a[0][key]} and {b[0][key]}")

    def column(runs, key):
        return [r[key] for r in runs]

    peer = "PyTorch " + ("eager" if args.eager else "sdpa")
    same = a[0]["ids"] == b[0]["ids"]
    print(f"{processor()}, {a[0]['tier']} kernels, {args.threads} threads, {args.rounds} rounds; {a[0]['tiles']} tiles, "
          f"{a[0]['prompt']} prompt tokens, {args.tokens} tokens; ids {'equal' if same else 'DIFFER'}")
    print(f"{'':12} {'argus':>10} {peer:>10}      {'ratio':>6}")
    for name, key, scale, unit in (("whole", "total", 1, "s"), ("vision", "vision", 1, "s"), ("prefill", "prefill", 1, "s"),
                                   ("per token", "token", 1000, "ms"), ("peak RSS", "rss", 1, "MiB")):
        print(row(name, column(a, key), column(b, key), scale, unit))
    med = {k: statistics.median(column(a, k)) for k in ("anonymous", "peak", "bandwidth", "peak_flops", "read_bandwidth")}
    print(f"argus: {med['anonymous']:.0f} MiB anonymous; vision at {100 * med['peak']:.0f} % of {med['peak_flops'] / 1e9:.0f} "
          f"GFLOP/s, decode at {100 * med['bandwidth']:.0f} % of {med['read_bandwidth'] / 1e9:.1f} GB/s (same run)")
    if args.append:
        def ratio(key):
            return statistics.median(x[key] / y[key] for x, y in zip(a, b))
        with open(args.append, "a") as f:
            f.write(f"| {datetime.date.today()} | {processor()}, {a[0]['tier']}, {args.threads} threads | {a[0]['tiles']} tiles, "
                    f"{a[0]['prompt']} ids, {args.tokens} tokens | {peer} | {statistics.median(column(a, 'total')):.2f} s | "
                    f"{ratio('total'):.2f} | {ratio('vision'):.2f} | {ratio('prefill'):.2f} | {ratio('token'):.2f} | "
                    f"{ratio('rss'):.2f} |\n")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
