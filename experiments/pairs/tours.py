#!/usr/bin/env python3
"""Tests relations between items on asymmetric tours, given by the cost matrix alone.

    python3 experiments/pairs/tours.py OUT [SETS] [EPOCHS]

Costs are uniform in [0, 1) and then shortest paths, as travel times are. One relation, and one feature that marks the depot,
where every tour begins. The network is trained on exact tours of 5 to 9 cities (dynamic programming) and measured on others of
8, 10 and 12: how much longer its tours (beam 5) are than the shortest, beside nearest neighbour."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

ORDERNET = str(Path(__file__).resolve().parents[2] / "ordernet")


def costs(draw, count, n):
    c = draw.random((count, n, n))
    for k in range(n):
        c = np.minimum(c, c[:, :, k, None] + c[:, None, k, :])
    return c


def shortest(c):
    """[count, n, n] -> tours [count, n] that begin with city 0, by dynamic programming over sets of cities."""
    count, n, _ = c.shape
    best = np.full((count, 1 << (n - 1), n - 1), np.inf)  # of the paths from 0 through a set to its last city
    before = np.zeros(best.shape, np.int8)
    for j in range(n - 1):
        best[:, 1 << j, j] = c[:, 0, j + 1]
    for mask in range(1, 1 << (n - 1)):
        for j in (j for j in range(n - 1) if mask >> j & 1 and mask != 1 << j):
            through = best[:, mask ^ 1 << j, :] + c[:, 1:, j + 1]
            before[:, mask, j] = through.argmin(1)
            best[:, mask, j] = through.min(1)
    mask = np.full(count, (1 << (n - 1)) - 1)
    last = (best[:, -1, :] + c[:, 1:, 0]).argmin(1)
    tour = np.zeros((count, n), int)
    every = np.arange(count)
    for place in range(n - 1, 0, -1):
        tour[:, place] = last + 1
        last, mask = before[every, mask, last].astype(int), mask & ~(1 << last)
    return tour


def length(c, tour):
    return sum(c[tour[k - 1], tour[k]] for k in range(len(tour)))


def nearest(c):
    tour, left = [0], set(range(1, len(c)))
    while left:
        tour.append(min(left, key=lambda j: c[tour[-1], j]))
        left.remove(tour[-1])
    return tour


def write(path, c, tours, draw):
    with open(path, "w") as out:
        for k in draw.permutation(len(c)):
            n = len(c[k])
            pairs = [[None if i == j else round(x, 5) for j, x in enumerate(row)] for i, row in enumerate(c[k].tolist())]
            items = [[int(i == 0)] for i in range(n)]
            out.write(json.dumps({"items": items, "pairs": pairs, "order": [int(i) for i in tours[k]], "first": 0}) + "\n")


def main():
    folder, count, epochs = Path(sys.argv[1]), *(int(a) for a in (sys.argv[2:4] + ["40000", "20"][len(sys.argv) - 2 :]))
    folder.mkdir(parents=True, exist_ok=True)
    draw = np.random.default_rng(1)
    all_costs, all_tours = [], []
    for n in range(5, 10):
        c = costs(draw, count // 5, n)
        all_costs += list(c)
        all_tours += list(shortest(c))
    write(folder / "train.jsonl", all_costs, all_tours, draw)
    model = str(folder / "tours.safetensors")
    train = [ORDERNET, "train", "--data", str(folder / "train.jsonl"), "--model", model, "--quiet", "--force"]
    subprocess.run([*train, "--preset", "tsp", "--epochs", str(epochs)], check=True)
    for n in (8, 10, 12):
        c = costs(draw, 500, n)
        best, path = shortest(c), str(folder / f"test{n}.jsonl")
        with open(path, "w"):
            write(path, c, best, np.random.default_rng(0))
        order = np.random.default_rng(0).permutation(len(c))
        lines = subprocess.run([ORDERNET, "order", "--model", model, path], check=True, capture_output=True, text=True).stdout
        found = [json.loads(line)["order"] for line in lines.splitlines()]
        over = np.mean([length(c[k], t) / length(c[k], best[k]) - 1 for k, t in zip(order, found)])
        greedy = np.mean([length(m, nearest(m)) / length(m, t) - 1 for m, t in zip(c, best)])
        print(f"{n} cities: {over:.1%} above the optimum; nearest neighbour {greedy:.1%}", flush=True)


if __name__ == "__main__":
    main()
