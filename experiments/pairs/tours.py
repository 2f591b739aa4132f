#!/usr/bin/env python3
"""Tests relations between items on asymmetric tours, given by the cost matrix alone.

    python3 experiments/pairs/tours.py OUT [SETS] [EPOCHS] [OPTION ...]

`tsp generate --asymmetric` makes the data: costs drawn at random and closed under shortest paths, one relation, and one feature
that marks the depot, where every tour begins. The network learns from exact tours of 5 to 14 cities, SETS of each size, and is
measured on others of 8, 12, 14 and 20: how much longer its tours are than the proven optimum (dynamic programming, also at 20),
the greedy tour, the most probable and the shortest tour of a beam of 5, and the shortest of 8 beams that begin at different cities, beside
nearest neighbour, farthest insertion and local search. Options are those of `ordernet train`."""

import re
import subprocess
import sys
from pathlib import Path

ORDERNET = str(Path(__file__).resolve().parents[2] / "ordernet")
TESTS = {8: 500, 12: 500, 14: 500, 20: 200}  # cities: instances
METHODS = {
    "greedy": ["ordernet", "--beam", "1"],
    "beam 5": ["ordernet", "--most-probable"],
    "shortest of 5": ["ordernet"],
    "8 beams": ["ordernet", "--symmetries", "8"],
    "nearest": ["nearest"],
    "farthest": ["farthest"],
    "local search": ["2opt"],
}


def ordernet(*arguments):
    return subprocess.run([ORDERNET, *map(str, arguments)], check=True, stdout=subprocess.PIPE, text=True).stdout


def lengths(path, model, method, *options):
    said = ordernet("tsp", "solve", "--quiet", "--model", model, "--method", method, *options, path)
    return [float(text) for text in re.findall(r", length ([^, \n]+)", said)]


def main():
    folder = Path(sys.argv[1])
    count, epochs = [int(a) for a in sys.argv[2:4]] + [4000, 20][len(sys.argv) - 2 :]
    options = sys.argv[4:]
    folder.mkdir(parents=True, exist_ok=True)
    train, model = folder / "train.safetensors", folder / "tours.safetensors"
    ordernet("tsp", "generate", "--asymmetric", "--n", "5-14", "--per-size", count, "--seed", 1, "--quiet", "--out", train)
    ordernet("train", "--data", train, "--model", model, "--preset", "tsp", "--epochs", epochs, *options, "--quiet", "--force")
    print("| cities |", " | ".join(METHODS), "|")
    print("| --- " * (1 + len(METHODS)) + "|")
    for n, instances in TESTS.items():
        test = folder / f"test{n}.jsonl"
        ordernet("tsp", "generate", "--asymmetric", "--n", n, "--per-size", instances, "--seed", 2, "--quiet", "--out", test)
        best, row = lengths(test, model, "exact"), []
        for method in METHODS.values():
            found = lengths(test, model, *method)
            row.append(f"{sum(a / b - 1 for a, b in zip(found, best, strict=True)) / instances:.2%}")
        print(f"| {n} |", " | ".join(row), "|", flush=True)


if __name__ == "__main__":
    main()
