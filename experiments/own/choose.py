#!/usr/bin/env python3
"""Trains with many settings on many tasks and seeds, and writes one CSV row per run: what the defaults of
`ordernet train` are chosen by. Log-likelihood is the sum over all steps of the validation sets divided by the number of
steps; `seen` leaves out sizes beyond those of training, `smallest` is the smallest size.

usage: choose.py TASKS OUT.csv [--jobs N] [--seconds S] [--seeds 1,2,3] [--tasks a,b] [--settings REGEX]
TASKS is the folder that tasks.py made; ORDERNET names the program.
"""
import argparse
import csv
import json
import os
import re
import shlex
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
ORDERNET = shlex.split(os.environ.get("ORDERNET", os.path.join(ROOT, "ordernet")))

# name: options. First batches and statistics; then augmentation; then everything else, one change at a time: from mixed
# batches with max pool and both augmentations, and from mixed batches with mean pool.
MIXED = "--batches mixed --statistics "
AUGMENTED = MIXED + "measured --drop 0.3 --jitter 0.05 --pool max "
MEAN = MIXED + "running --pool mean "
RELATIVE = "--relative --encoder-blocks 4 --decoder-blocks 6 --encoder-out 24 --drop 0.4 --epochs 60 "
SETTINGS = {
    "one-size, running": "--batches one-size --statistics running --pool max",
    "one-size, measured": "--batches one-size --statistics measured --pool max",
    "mixed, measured": MIXED + "measured --pool max",
    "mixed, running": MIXED + "running --pool max",
    "drop 0.3": MIXED + "measured --drop 0.3 --pool max",
    "jitter 0.05": MIXED + "measured --jitter 0.05 --pool max",
    "drop 0.3, jitter 0.05": AUGMENTED,
    "drop 0.5, jitter 0.05": MIXED + "measured --drop 0.5 --jitter 0.05 --pool max",
    "drop 0.15, jitter 0.02": MIXED + "measured --drop 0.15 --jitter 0.02 --pool max",
    "40 epochs": AUGMENTED + "--epochs 40",
    "40 epochs, no augmentation": MIXED + "measured --pool max --epochs 40",
    "80 epochs": AUGMENTED + "--epochs 80",
    "batch 16": AUGMENTED + "--batch 16",
    "batch 64, 40 epochs": AUGMENTED + "--batch 64 --epochs 40",
    "rate 2e-3": AUGMENTED + "--learning-rate 2e-3",
    "rate 1e-2": AUGMENTED + "--learning-rate 1e-2",
    "decay 0.3": AUGMENTED + "--weight-decay 0.3",
    "decay 0.01": AUGMENTED + "--weight-decay 0.01",
    "wide (H 128, O 32, C 32)": AUGMENTED + "--hidden 128 --encoder-out 32 --decoder-out 32",
    "deep (4, 4 blocks)": AUGMENTED + "--encoder-blocks 4 --decoder-blocks 4",
    "wide, 40 epochs": AUGMENTED + "--hidden 128 --encoder-out 32 --decoder-out 32 --epochs 40",
    "mean pool": AUGMENTED.replace("max", "mean"),
    "mean": MEAN,
    "mean, drop 0.3": MEAN + "--drop 0.3",
    "mean, 40 epochs": MEAN + "--epochs 40",
    "mean, drop 0.3, 40 epochs": MEAN + "--drop 0.3 --epochs 40",
    "mean, rate 1e-2": MEAN + "--learning-rate 1e-2",
    "mean, wide, 40 epochs": MEAN + "--epochs 40 --hidden 128 --encoder-out 32 --decoder-out 32",
    "mean, wide, drop 0.3, 40 epochs": MEAN + "--epochs 40 --hidden 128 --encoder-out 32 --decoder-out 32 --drop 0.3",
    "mean, deep, 40 epochs": MEAN + "--epochs 40 --encoder-blocks 4 --decoder-blocks 4",
    "mean, drop 0.3, jitter 0.05, 80 epochs": MEAN + "--drop 0.3 --epochs 80 --jitter 0.05",
    "relative": RELATIVE,
    "relative, decay 0.3": RELATIVE + "--weight-decay 0.3",
    "relative, 8 decoder blocks": RELATIVE + "--decoder-blocks 8",
    "relative, rate 1e-2": RELATIVE + "--learning-rate 1e-2",
    "relative, 120 epochs": RELATIVE + "--epochs 120",
    "relative, drop 0.2": RELATIVE + "--drop 0.2",
    "relative, drop 0.6": RELATIVE + "--drop 0.6",
    "relative, max": RELATIVE + "--pool max",
    "relative, jitter 0.02": RELATIVE + "--jitter 0.02",
    "relative, C 32": RELATIVE + "--decoder-out 32",
}
NEWSPAPERS = {"austrian", "reichsanzeiger", "hkb"}  # sources of the pages


def sizes(path):
    return [len(json.loads(line)["items"]) for line in open(path)]


def neighbours(folder, task, model):
    """Share of adjacent pairs of the right order that the answer has: of all sets, and of newspapers."""
    answers = subprocess.run(ORDERNET + ["order", "--model", model, "--threads", "1", f"{folder}/{task}-valid.jsonl"],
                             check=True, capture_output=True, text=True).stdout.splitlines()
    found = {}
    for line, answer in zip(open(f"{folder}/{task}-valid.jsonl"), answers):
        right, got = json.loads(line), json.loads(answer)["order"]
        n = len(right["order"])
        if n < 2:
            continue
        after = dict(zip(got, got[1:]))
        share = sum(after.get(a) == b for a, b in zip(right["order"], right["order"][1:])) / (n - 1)
        for key in {"all", "newspapers" if right.get("source") in NEWSPAPERS else "all"}:
            found.setdefault(key, []).append((share, got == right["order"]))
    return {key: tuple(sum(v) / len(v) for v in zip(*rows)) for key, rows in found.items()}


def one(folder, task, name, options, seed):
    largest = max(sizes(f"{folder}/{task}-train.jsonl"))
    with tempfile.TemporaryDirectory() as scratch:
        model = f"{scratch}/m.safetensors"
        start = time.time()
        subprocess.run(ORDERNET + ["train", "--data", f"{folder}/{task}-train.jsonl", "--model", model, "--threads", "1",
                                   "--quiet", "--device", "cpu", "--seed", str(seed)] + shlex.split(options), check=True)
        seconds = time.time() - start
        report = json.loads(subprocess.run(
            ORDERNET + ["eval", "--json", "--by-size", "--threads", "1", "--model", model,
                        f"{folder}/{task}-valid.jsonl"], check=True, capture_output=True, text=True).stdout)
        near = neighbours(folder, task, model)
    rows = report["by_size"]
    mean = lambda m: m["mean"]

    def total(part):
        steps = sum(r["sets"] * r["n"] for r in part)
        sets = sum(r["sets"] for r in part)
        return (sum(mean(r["loglik"]) * r["sets"] * r["n"] for r in part) / steps,
                sum(mean(r["exact"]) * r["sets"] for r in part) / sets)

    seen, beyond = [r for r in rows if r["n"] <= largest], [r for r in rows if r["n"] > largest]
    first = rows[:1]
    loglik, exact = total(rows)
    out = {"loglik": loglik, "exact": exact, "task": task, "settings": name, "seed": seed, "seconds": round(seconds, 1)}
    for label, part in (("seen", seen), ("beyond", beyond), ("smallest", first)):
        loglik, exact = total(part) if part else ("", "")
        out[f"loglik_{label}"], out[f"exact_{label}"] = loglik, exact
    out["neighbours"] = near["all"][0]
    if "newspapers" in near:
        out["newspapers_neighbours"], out["newspapers_exact"] = near["newspapers"]
    return out


FIELDS = ["task", "settings", "seed", "seconds", "loglik_seen", "exact_seen", "loglik_beyond", "exact_beyond",
          "loglik_smallest", "exact_smallest", "neighbours", "newspapers_neighbours", "newspapers_exact"]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder")
    p.add_argument("out")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--seconds", type=float, default=1e9)
    p.add_argument("--seeds", default="1,2,3")
    p.add_argument("--tasks", default="")
    p.add_argument("--settings", default="")
    a = p.parse_args()
    there = sorted(f[:-12] for f in os.listdir(a.folder) if f.endswith("-train.jsonl"))
    tasks = a.tasks.split(",") if a.tasks else there
    jobs = [(t, name, o, int(seed)) for seed in a.seeds.split(",") for name, o in SETTINGS.items()
            if re.search(a.settings, name) for t in tasks]
    end = time.time() + a.seconds
    with open(a.out, "w", newline="") as f, ThreadPoolExecutor(a.jobs) as pool:
        w = csv.DictWriter(f, FIELDS, extrasaction="ignore")
        w.writeheader()

        def run(job):
            if time.time() > end:
                return
            try:
                w.writerow(one(a.folder, *job))
            except Exception as e:  # a run that fails is named, the others go on
                print(job[0], job[1], job[3], repr(e)[:300], flush=True)
            f.flush()

        list(pool.map(run, jobs))


if __name__ == "__main__":
    main()
