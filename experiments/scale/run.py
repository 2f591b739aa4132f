"""Measures exact match on new sets with --scale standard, quantile and auto: `python3
experiments/scale/run.py PROGRAM TASKS [OUT]`.

TASKS is a folder with NAME.train.jsonl and NAME.test.jsonl; `tails` (log-normal, twelve decades, two distractors) is
made here. Where auto gives the same model as standard, by its checksum, the numbers are the same and not measured twice.
"""

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

SEEDS = (1, 2, 3)
SCALES = (["--scale", "standard"], ["--scale", "quantile"], ["--scale", "quantile", "--within"], ["--scale", "auto"])


def tails(path, count, seed):
    """Sets of 5 to 9 items in the order of their first feature, whose range of six sigma is twelve decades."""
    rng = np.random.default_rng(seed)
    with open(path, "w") as file:
        for _ in range(count):
            n = rng.integers(5, 10)
            x = np.exp(rng.normal(0, 2 * np.log(10), n))
            items = np.column_stack([x, rng.normal(size=(n, 2))])
            file.write(json.dumps({"items": items.tolist(), "order": np.argsort(x).tolist()}) + "\n")


def measure(program, folder, train, test, options, seed):
    model = str(Path(folder) / "m.safetensors")
    run = [program, "train", "--data", train, "--model", model, "--force", "--quiet", "--seed", str(seed), *options]
    subprocess.run(run, check=True, stderr=subprocess.DEVNULL)
    found = json.loads(subprocess.run([program, "inspect", model, "--json"], check=True, capture_output=True).stdout)
    text = subprocess.run([program, "eval", "--model", model, test], check=True, capture_output=True, text=True).stdout
    exact = next(line.split()[2] for line in text.splitlines() if line.startswith("exact match"))
    return float(exact.rstrip("%")), found["checksum"]


def main():
    program, tasks = sys.argv[1], Path(sys.argv[2])
    out = csv.writer(open(sys.argv[3], "w") if len(sys.argv) > 3 else sys.stdout, lineterminator="\n")
    out.writerow(["task", "scale", "seed", "exact", "same_as_standard"])
    with tempfile.TemporaryDirectory() as folder:
        tails(f"{folder}/tails.train.jsonl", 1000, 1)
        tails(f"{folder}/tails.test.jsonl", 500, 2)
        names = ["tails"] + sorted(p.name.split(".")[0] for p in tasks.glob("*.train.jsonl"))
        for name in names:
            place = folder if name == "tails" else tasks
            for seed in SEEDS:
                plain = None
                for scale in SCALES:
                    exact, sum = measure(
                        program, folder, f"{place}/{name}.train.jsonl", f"{place}/{name}.test.jsonl", scale, seed
                    )
                    plain = plain or sum
                    out.writerow([name, " ".join(scale)[8:], seed, exact, int(sum == plain)])


main()
