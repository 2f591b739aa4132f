#!/usr/bin/env python3
"""The program's default (`ordernet train --data FILE`) against the best of all variants, size by size: trains it on the same
sets, on one thread, and prints a table of log-likelihoods per step at the sizes of training with 50 or more validation sets.

usage: default.py [--tasks sort,outward,pages] [--seeds 1,2,3] [--data study-data]      (ORDERNET: the program)
"""

import argparse
import csv
import json
import os
import pathlib
import shlex
import subprocess
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ORDERNET = shlex.split(os.environ.get("ORDERNET", str(ROOT / "ordernet")))


def write_jsonl(npz, path):
    data = np.load(npz)
    with open(path, "w") as f:
        at = 0
        for n in data["size"].tolist():
            f.write(json.dumps({"items": data["items"][at : at + n].tolist(), "order": list(range(n))}) + "\n")
            at += n
    return int(data["size"].max())


def default(task, data, seeds):
    """By size: sets, and the mean over seeds of the log-likelihood per step and of exact match."""
    found = {}
    with tempfile.TemporaryDirectory() as scratch:
        largest = write_jsonl(data / f"{task}-train.npz", f"{scratch}/train.jsonl")
        write_jsonl(data / f"{task}-valid.npz", f"{scratch}/valid.jsonl")
        for seed in seeds:
            model = f"{scratch}/{seed}.safetensors"
            subprocess.run(ORDERNET + ["train", "--data", f"{scratch}/train.jsonl", "--model", model, "--seed", str(seed),
                                       "--threads", "1", "--quiet", "--device", "cpu"], check=True)
            report = subprocess.run(ORDERNET + ["eval", "--json", "--by-size", "--decode", "greedy", "--threads", "1", "--model",
                                                model, f"{scratch}/valid.jsonl"], check=True, capture_output=True, text=True)
            for row in json.loads(report.stdout)["by_size"]:
                if row["n"] <= largest and row["sets"] >= 50:
                    found.setdefault(row["n"], []).append((row["sets"], row["loglik"]["mean"], row["exact"]["mean"]))
    return {n: tuple(np.mean(rows, axis=0)) for n, rows in found.items()}


def best_variant(task, size):
    """The variant with the highest log-likelihood per step at this size, mean over its seeds."""
    runs = {}
    for row in csv.DictReader(open(HERE / "results.csv")):
        if row["task"] == task and int(row["size"]) == size:
            runs.setdefault((row["variant"], row["seed"]), []).append((int(row["sets"]), float(row["loglik"])))
    means = {}
    for (variant, _), rows in runs.items():
        means.setdefault(variant, []).append(sum(s * x for s, x in rows) / sum(s for s, _ in rows))
    means = {variant: float(np.mean(x)) for variant, x in means.items()}
    variant = max(means, key=means.get)
    return variant, means[variant]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--tasks", default="sort,outward,pages")
    p.add_argument("--seeds", default="1,2,3")
    p.add_argument("--data", type=pathlib.Path, default=ROOT / "study-data")
    o = p.parse_args()
    print("| task, items | sets | default: exact | log-likelihood | best variant | its log-likelihood | difference |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for task in o.tasks.split(","):
        for n, (sets, loglik, exact) in sorted(default(task, o.data, o.seeds.split(",")).items()):
            variant, best = best_variant(task, n)
            print(f"| {task}, {n} | {sets:.0f} | {100 * exact:.1f}% | {loglik:.3f} | {variant} | {best:.3f} | {loglik - best:+.3f} |", flush=True)


if __name__ == "__main__":
    main()
