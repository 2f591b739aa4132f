#!/usr/bin/env python3
"""What `ordernet merge` gains: trains models of several seeds on each task, merges them by threes, and prints a table of exact
match and log-likelihood per step over the sizes of training; for pages also right neighbours on newspapers.

usage: merge.py TASKS [--tasks a,b] [--seeds 1,2,3] [--options '...']      (ORDERNET: the program)
TASKS is the folder that tasks.py made; --options are those of `ordernet train`.
"""
import argparse
import json
import shlex
import subprocess
import tempfile

from choose import ORDERNET, neighbours, sizes


def measure(folder, task, model, largest):
    report = json.loads(subprocess.run(
        ORDERNET + ["eval", "--json", "--by-size", "--threads", "1", "--model", model, f"{folder}/{task}-valid.jsonl"],
        check=True, capture_output=True, text=True).stdout)
    seen = [r for r in report["by_size"] if r["n"] <= largest]
    sets, steps = sum(r["sets"] for r in seen), sum(r["sets"] * r["n"] for r in seen)
    found = neighbours(folder, task, model)
    return (sum(r["sets"] * r["exact"]["mean"] for r in seen) / sets,
            sum(r["sets"] * r["n"] * r["loglik"]["mean"] for r in seen) / steps,
            found["newspapers"][0] if "newspapers" in found else None)


def shown(measures):
    exact, loglik, newspapers = measures
    return f"{100 * exact:.1f}% / {loglik:.3f}" + (f" / {100 * newspapers:.1f}%" if newspapers else "")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder")
    p.add_argument("--tasks", default="score,hue,outward,pages300,tours,pages")
    p.add_argument("--seeds", default="1,2,3")
    p.add_argument("--options", default="")
    a = p.parse_args()
    print("| task | single models | their mean | merged |\n| --- | --- | --- | --- |")
    for task in a.tasks.split(","):
        largest = max(sizes(f"{a.folder}/{task}-train.jsonl"))
        with tempfile.TemporaryDirectory() as scratch:
            models, single = [], []
            for seed in a.seeds.split(","):
                models.append(f"{scratch}/{seed}.safetensors")
                subprocess.run(ORDERNET + ["train", "--data", f"{a.folder}/{task}-train.jsonl", "--model", models[-1], "--seed",
                                           seed, "--threads", "1", "--quiet", "--device", "cpu"] + shlex.split(a.options),
                               check=True)
                single.append(measure(a.folder, task, models[-1], largest))
            merged = []
            for at in range(0, len(models) - 2, 3):
                subprocess.run(ORDERNET + ["merge", "--out", f"{scratch}/merged.safetensors"] + models[at:at + 3], check=True)
                merged.append(measure(a.folder, task, f"{scratch}/merged.safetensors", largest))
        mean = [None if s[0] is None else sum(s) / len(s) for s in zip(*single)]
        print(f"| {task} | {', '.join(shown(s) for s in single)} | {shown(mean)} | {', '.join(shown(m) for m in merged)} |",
              flush=True)


if __name__ == "__main__":
    main()
