#!/usr/bin/env python3
"""Learning curves: exact match and log-likelihood over the number of training sets, for two programs or settings.

usage: curves.py TASKS OUT.csv [--jobs N] [--seeds 1,2]      (ORDERNET: the program; TASKS: the folder that tasks.py made)
"before" is the default of version 0.1.0 (one size per batch, statistics by size, max pool), "after" the default.
"""
import argparse
import csv
import json
import os
import random
import tempfile
from concurrent.futures import ThreadPoolExecutor

import choose
import tasks

SETTINGS = {"before": "--batches one-size --statistics measured --pool max", "after": ""}
SIZES = (100, 300, 1000, 3000)
MADE = {"sort": tasks.sort_numbers, "hue": tasks.hue, "score": tasks.by_score}  # sets of 2 to 15 items
VALIDATION = 300


def prepare(folder, scratch, task):
    """Training lines of a task, at most the largest of SIZES, in a fixed random order; the validation file."""
    rng = random.Random("curves " + task)
    valid = f"{scratch}/{task}-valid.jsonl"
    if task in MADE:
        tasks.write(valid, [MADE[task](rng, rng.randint(2, 15)) for _ in range(VALIDATION)])
        return [MADE[task](rng, rng.randint(2, 15)) for _ in range(SIZES[-1])]
    os.symlink(os.path.abspath(f"{folder}/{task}-valid.jsonl"), valid)
    rows = [json.loads(line) for line in open(f"{folder}/{task}-train.jsonl")]
    rng.shuffle(rows)
    return rows


def part(scratch, task, rows, count):
    here = f"{scratch}/{task}-{count}"
    os.makedirs(here)
    tasks.write(f"{here}/{task}-train.jsonl", rows[:count])
    os.symlink(f"{scratch}/{task}-valid.jsonl", f"{here}/{task}-valid.jsonl")
    return here


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder")
    p.add_argument("out")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--seeds", default="1,2,3")
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as scratch, open(a.out, "w", newline="") as f:
        names = list(MADE) + (["pages"] if os.path.exists(f"{a.folder}/pages-train.jsonl") else [])
        rows = {t: prepare(a.folder, scratch, t) for t in names}
        folders = {(t, n): part(scratch, t, rows[t], n) for t in names for n in SIZES}
        jobs = [(folders[t, n], t, name, o, min(n, len(rows[t])), int(s)) for s in a.seeds.split(",") for n in SIZES
                for t in names for name, o in SETTINGS.items()]
        w = csv.DictWriter(f, ["task", "sets", "settings", "seed", "exact", "loglik"])
        w.writeheader()

        def run(job):
            folder, task, name, options, count, seed = job
            row = choose.one(folder, task, name, options, seed)
            w.writerow({"task": task, "sets": count, "settings": name, "seed": seed, "exact": f"{row['exact']:.5g}",
                        "loglik": f"{row['loglik']:.5g}"})
            f.flush()

        with ThreadPoolExecutor(a.jobs) as pool:
            list(pool.map(run, jobs))


if __name__ == "__main__":
    main()
