#!/usr/bin/env python3
"""Tests whether distances help where the network has the coordinates already: tours of points in the plane.

    python3 experiments/pairs/plane.py OUT [SETS] [EPOCHS]

The same network is trained on the same exact tours of 5 to 20 cities, SETS of each size, with the coordinates alone and with the
distance beside them (`--relate distance`), with two seeds each. Measured on others of 20 and 50 cities, which are larger than all
that it learned from: how much longer the most probable tour of a beam of 5 is than the best tour known, exact at 20."""

import re
import subprocess
import sys
from pathlib import Path

ORDERNET = str(Path(__file__).resolve().parents[2] / "ordernet")
TESTS = {20: 500, 50: 200}  # cities: instances


def ordernet(*arguments):
    return subprocess.run([ORDERNET, *map(str, arguments)], check=True, stdout=subprocess.PIPE, text=True).stdout


def lengths(path, *options):
    return [float(text) for text in re.findall(r", length ([^, \n]+)", ordernet("tsp", "solve", "--quiet", *options, path))]


def main():
    folder = Path(sys.argv[1])
    count, epochs = [int(a) for a in sys.argv[2:4]] + [2000, 4][len(sys.argv) - 2 :]
    folder.mkdir(parents=True, exist_ok=True)
    train, best = folder / "train.safetensors", {}
    ordernet("tsp", "generate", "--n", "5-20", "--per-size", count, "--seed", 1, "--quiet", "--out", train)
    for n, instances in TESTS.items():
        ordernet("tsp", "generate", "--n", n, "--per-size", instances, "--seed", 2, "--quiet", "--out", folder / f"test{n}.jsonl")
        best[n] = lengths(folder / f"test{n}.jsonl", "--method", "exact" if n <= 20 else "2opt")
    print("| network sees |", " | ".join(f"{n} cities, seed {seed}" for n in TESTS for seed in (1, 2)), "|")
    print("| --- " * (1 + 2 * len(TESTS)) + "|")
    for name, options in (("coordinates", ()), ("and distances", ("--relate", "distance"))):
        row = {}
        for seed in (1, 2):
            model = folder / f"{name.replace(' ', '-')}{seed}.safetensors"
            net = ("--preset", "tsp", "--epochs", epochs, "--seed", seed)
            ordernet("train", "--data", train, "--model", model, *net, "--quiet", "--force", *options)
            for n in TESTS:
                found = lengths(folder / f"test{n}.jsonl", "--method", "ordernet", "--model", model)
                row[n, seed] = sum(a / b - 1 for a, b in zip(found, best[n], strict=True)) / len(found)
        print(f"| {name} |", " | ".join(f"{row[n, seed]:.2%}" for n in TESTS for seed in (1, 2)), "|", flush=True)


if __name__ == "__main__":
    main()
