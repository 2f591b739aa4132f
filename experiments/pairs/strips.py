#!/usr/bin/env python3
"""Tests relations between items on strips of a picture: vertical pieces are shuffled, and put back by the
differences of their edges alone.

    python3 experiments/pairs/strips.py OUT [SETS] [EPOCHS]

Trains on pieces of scikit-learn's picture china.jpg and measures on pieces of flower.jpg, which the network never saw: sets of
8 to 16 strips. The relation from strip i to strip j is the mean absolute difference between the right edge of i and the left edge
of j; there are no features. Beside it, the chain that always goes on with the smallest difference, from the best start, and the
network without relations (features: mean and deviation of each strip). Writes the sets to the folder OUT, prints the table."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_sample_image

ORDERNET = str(Path(__file__).resolve().parents[2] / "ordernet")


def sets_of(name, count, seed):
    picture = load_sample_image(name).mean(axis=2) / 255
    draw = np.random.default_rng(seed)
    for _ in range(count):
        n, width, height = draw.integers(8, 17), draw.integers(8, 25), draw.integers(24, 129)
        y, x = draw.integers(picture.shape[0] - height + 1), draw.integers(picture.shape[1] - n * width + 1)
        piece = picture[y : y + height, x : x + n * width]
        strips = piece.reshape(height, n, width).transpose(1, 0, 2)
        shuffled = draw.permutation(n)
        strips = strips[shuffled]
        edges = np.abs(strips[:, None, :, -1] - strips[None, :, :, 0]).mean(axis=2)
        yield strips, edges, np.argsort(shuffled)


def chain(edges):
    """Greedy, from every start; the shortest chain."""
    n, best, length = len(edges), None, np.inf
    for start in range(n):
        order, left, total = [start], set(range(n)) - {start}, 0.0
        while left:
            nearest = min(left, key=lambda j: edges[order[-1], j])
            total += edges[order[-1], nearest]
            order.append(nearest)
            left.remove(nearest)
        if total < length:
            best, length = order, total
    return best


def write(path, data, pairs):
    with open(path, "w") as out:
        for strips, edges, order in data:
            one = {"order": order.tolist()}
            if pairs:
                one["pairs"] = [[None if i == j else round(e, 5) for j, e in enumerate(row)] for i, row in enumerate(edges.tolist())]
            else:
                one["items"] = np.stack([strips.mean((1, 2)), strips.std((1, 2))], axis=1).round(5).tolist()
            out.write(json.dumps(one) + "\n")


def exact(model, path):
    lines = subprocess.run([ORDERNET, "order", "--model", model, path], check=True, capture_output=True, text=True).stdout
    answers = [json.loads(line)["order"] for line in lines.splitlines()]
    right = [json.loads(line)["order"] for line in open(path)]
    return np.mean([a == b for a, b in zip(answers, right)])


def main():
    folder, count, epochs = Path(sys.argv[1]), *(int(a) for a in (sys.argv[2:4] + ["6000", "20"][len(sys.argv) - 2 :]))
    folder.mkdir(parents=True, exist_ok=True)
    train, test = list(sets_of("china.jpg", count, 1)), list(sets_of("flower.jpg", 1000, 2))
    print(f"greedy chain on the same differences: {np.mean([chain(e) == o.tolist() for _, e, o in test]):.1%} exact", flush=True)
    for pairs, name in ((True, "relations"), (False, "features alone")):
        paths = [str(folder / f"{part}-{'pairs' if pairs else 'items'}.jsonl") for part in ("train", "test")]
        for path, data in zip(paths, (train, test)):
            write(path, data, pairs)
        model = str(folder / f"{'pairs' if pairs else 'items'}.safetensors")
        subprocess.run(
            [ORDERNET, "train", "--data", paths[0], "--model", model, "--epochs", str(epochs), "--quiet", "--force"], check=True
        )
        print(f"{name}: {exact(model, paths[1]):.1%} exact on 1,000 sets of the other picture", flush=True)


if __name__ == "__main__":
    main()
