#!/usr/bin/env python3
"""Compare the kernels of two builds on a machine that others use.

    make benches, in both builds
    pair.py OLD/tests/checkasm/stack NEW/tests/checkasm/stack [--seconds 60] [--cpu avx2]

Both stay loaded, pinned to the same processor, and take turns at single steps of a
vision layer of some ten milliseconds; registers are measured between any two. Prints,
for each step, the share of what registers gave right then (median, and 10 % to 90 %
of the turns), and the median of the times' ratios, which holds however busy the
machine is.

Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
"""
import argparse
import os
import statistics
import subprocess
import time

STEPS = ("qkv", "attention", "out", "fc1", "fc2", "causal")


class Stack:
    def __init__(self, path, args):
        command = ["taskset", "-c", str(args.processor), path, "--threads=1", "--steps"]
        if args.cpu:
            command.append("--cpu=" + args.cpu)
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, bufsize=1)

    def step(self, name):
        self.process.stdin.write(name + "\n")
        answer = self.process.stdout.readline()
        if not answer or float(answer) <= 0:
            raise SystemExit(f"pair.py: {self.process.args[3]}: no step '{name}'")
        return float(answer)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def spread(values):
    values = sorted(values)
    low, high = values[len(values) // 10], values[len(values) * 9 // 10]
    return f"{100 * statistics.median(values):.0f} ({100 * low:.0f} to {100 * high:.0f})"


def main():
    parser = argparse.ArgumentParser(description="Compare the kernels of two builds, in turn.")
    parser.add_argument("old", help="tests/checkasm/stack of one build")
    parser.add_argument("new", help="and of the other")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--cpu", help="tier, as argus --cpumask")
    parser.add_argument("--processor", type=int, default=max(os.sched_getaffinity(0)))
    args = parser.parse_args()
    both = [Stack(args.old, args), Stack(args.new, args)]
    shares = {s: ([], []) for s in STEPS}
    ratios = {s: [] for s in STEPS}
    turns = 0
    end = time.monotonic() + args.seconds
    before = both[0].step("registers")
    while time.monotonic() < end or turns < 2:
        for name in STEPS:
            rate = [0.0, 0.0]
            for i in (turns % 2, 1 - turns % 2):
                rate[i] = both[i].step(name)
                after = both[i].step("registers")
                shares[name][i].append(2 * rate[i] / (before + after))
                before = after
            ratios[name].append(rate[0] / rate[1])
        turns += 1
    for stack in both:
        stack.close()
    print(f"| {turns} turns | old, % of the registers | new | time, new / old |")
    print("|---|---|---|---|")
    for name in STEPS:
        old, new = shares[name]
        print(f"| {name} | {spread(old)} | {spread(new)} | {statistics.median(ratios[name]):.3f} |")


if __name__ == "__main__":
    main()
