#!/usr/bin/env python3
# What vf_argus costs for frames that it does not sample.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
"""Measure user time of a patched ffmpeg with and without the filter, in pairs.

    passthrough.py --ffmpeg BUILD/ffmpeg/ffmpeg [--clip FILE] [--pairs N] [--loop N] [--model DIR]
    passthrough.py --ffmpeg BUILD/ffmpeg/ffmpeg --instructions [--frames N] ...

Both sides decode the clip, --loop times over, and throw the frames away: one with -vf null, one with -vf argus
that samples the first frame only. What opening the model and describing that one frame takes is measured on a
clip cut to one frame, in the same pair, and is subtracted: what is left is the filter's cost for all the other
frames. Without --clip one is made (1280x720, 25 fps, 60 s, H.264) beside the script's temporary files, by the
ffmpeg of PATH. Prints medians over the pairs.

--instructions counts what is executed (valgrind's callgrind, one pair, N frames, the model on one thread) instead of
timing it: the same on a busy machine, and 50 times as slow. Take an FFmpeg before 7.0: later ones decode ahead on a
thread, a few frames more or less.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile


def user_seconds(command):
    """User time of one process, threads included."""
    p = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(p.pid, 0)
    p.returncode = os.waitstatus_to_exitcode(status)
    if p.returncode:
        sys.exit(f"passthrough: {' '.join(command)}: exit status {p.returncode}")
    return usage.ru_utime


def instructions(command):
    """Instructions that one process executes, threads included."""
    p = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command],
                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    found = re.search(r"Collected : (\d+)", p.stderr)
    if p.returncode or not found:
        sys.exit(f"passthrough: {' '.join(command)}: exit status {p.returncode}\n{p.stderr}")
    return int(found[1])


def make_clip(path):
    subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i",
                    "testsrc2=size=1280x720:rate=25:duration=60", "-vf", "noise=alls=6:allf=t", "-c:v", "libx264",
                    "-preset", "veryfast", "-crf", "23", "-pix_fmt", "yuv420p", path], check=True)


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    ap.add_argument("--ffmpeg", required=True)
    ap.add_argument("--clip")
    ap.add_argument("--pairs", type=int, default=11)
    ap.add_argument("--loop", type=int, default=1)
    ap.add_argument("--threads", type=int, default=1, help="of the decoder")
    ap.add_argument("--model", help="default: the one in the library")
    ap.add_argument("--instructions", action="store_true")
    ap.add_argument("--frames", type=int, default=250, help="of --instructions")
    args = ap.parse_args()
    with tempfile.TemporaryDirectory() as tmp:
        clip = args.clip or os.path.join(tmp, "clip.mp4")
        if not args.clip:
            make_clip(clip)
        model = f"model={args.model}:" if args.model else ""
        argus = f"argus={model}fps=1/100000:window=1:max_tokens=1:out={os.path.join(tmp, 'out.txt')}"
        if args.instructions:  # threads that wait would count
            argus += ":threads=1"

        def run(graph, *more):
            measure = instructions if args.instructions else user_seconds
            return measure([args.ffmpeg, "-v", "error", "-nostdin", "-threads", str(args.threads), "-stream_loop",
                            str(args.loop - 1), "-i", clip, "-an", "-vf", graph, *more, "-f", "null", "-"])

        length = ["-frames:v", str(args.frames)] if args.instructions else []
        if not args.instructions:
            run("null")
        rows = []
        for i in range(1 if args.instructions else args.pairs):
            # who is first changes from pair to pair
            graphs = ["null", argus] if i % 2 else [argus, "null"]
            full = {g: run(g, *length) for g in graphs}
            one = {g: run(g, "-frames:v", "1") for g in graphs}
            fixed = one[argus] - one["null"]
            rows.append((full["null"], full[argus], fixed, (full[argus] - fixed) / full["null"] - 1))
    null, with_filter, fixed, cost = (statistics.median(c) for c in zip(*rows))
    if args.instructions:
        print(f"decoding {args.frames} frames {null * 1e-6:.2f} million instructions, with the filter "
              f"{with_filter * 1e-6:.2f} million, of which its one sample {fixed * 1e-6:.2f}\n"
              f"frames that are not sampled: {100 * cost:+.3f} %")
        return
    print(f"decoding {null:.3f} s of user time, with the filter {with_filter:.3f} s, of which its one sample "
          f"{fixed:.3f} s")
    print(f"frames that are not sampled: {100 * cost:+.2f} % (median of {args.pairs} pairs, from "
          f"{100 * min(r[3] for r in rows):+.2f} to {100 * max(r[3] for r in rows):+.2f} %)")


if __name__ == "__main__":
    main()
