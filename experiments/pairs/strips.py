#!/usr/bin/env python3
"""Tests relations between items on strips of a picture: vertical pieces are shuffled, and put back by the
differences of their edges alone.

    python3 experiments/pairs/strips.py OUT [SETS] [EPOCHS] [PICTURE]

Trains on pieces of scikit-learn's picture china.jpg and measures on pieces of flower.jpg, which the network never saw: sets of
8 to 16 strips. The relation from strip i to strip j is the mean absolute difference between the right edge of i and the left edge
of j; there are no features. Beside it, the chain that always goes on with the smallest difference, from the best start, and the
network without relations (features: mean and deviation of each strip). Writes the sets to the folder OUT, prints the table and,
if PICTURE is given, draws four pieces of a landscape that it makes itself: shuffled, and as the network orders them."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_sample_image

ORDERNET = str(Path(__file__).resolve().parents[2] / "ordernet")


def photograph(name):
    return load_sample_image(name).mean(axis=2) / 255


def landscape(height=427, width=640, seed=1):
    """Returns a picture of ridges behind each other, waves of many lengths, darker in front, with noise for texture."""
    draw, y, x = np.random.default_rng(seed), np.linspace(0, 1, height)[:, None], np.linspace(0, 1, width)[None]

    def waves(octaves, low):
        return sum(draw.normal() * np.sin(2 * np.pi * (low * 2**k * x + draw.random())) / 1.7**k for k in range(octaves))

    noise = draw.normal(size=(height, width))
    for axis in (0, 1, 0, 1):
        noise = sum(np.roll(noise, k, axis) for k in range(-2, 3)) / 2.5
    picture = 0.95 - 0.4 * y + 0.008 * noise
    for depth in range(7):
        ridge = 0.2 + 0.11 * depth + 0.035 * waves(6, 2 + depth)
        ground = 0.8 - 0.1 * depth + 0.5 * (y - ridge) + (0.004 + 0.003 * depth) * np.roll(noise, 40 * depth, 1)
        picture = np.where(y > ridge, ground, picture)
    return picture.clip(0, 1)


def sets_of(picture, count, seed, smallest=8, largest=16):
    draw = np.random.default_rng(seed)
    for _ in range(count):
        n, width, height = draw.integers(smallest, largest + 1), draw.integers(8, 25), draw.integers(24, 129)
        y, x = draw.integers(picture.shape[0] - height + 1), draw.integers(picture.shape[1] - n * width + 1)
        piece = picture[y : y + height, x : x + n * width]
        strips = piece.reshape(height, n, width).transpose(1, 0, 2)
        shuffled = draw.permutation(n)
        strips = strips[shuffled]
        edges = np.abs(strips[:, None, :, -1] - strips[None, :, :, 0]).mean(axis=2)
        yield strips, edges, np.argsort(shuffled)


def chain(edges):
    """Returns the shortest of the greedy chains from every start."""
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


def answers(model, path):
    lines = subprocess.run([ORDERNET, "order", "--model", model, path], check=True, capture_output=True, text=True).stdout
    return [json.loads(line)["order"] for line in lines.splitlines()]


def draw(path, pieces):
    """Draws a row for each piece: its strips as given and in the order found, with white between them."""
    rows, gap = [], 3
    for strips, order in pieces:
        white = np.ones((strips.shape[1], gap))
        sides = [np.concatenate([part for k in side for part in (strips[k], white)], axis=1) for side in (range(len(strips)), order)]
        rows.append(np.concatenate([sides[0], np.ones((strips.shape[1], 8 * gap)), sides[1]], axis=1))
    height, width = sum(len(row) for row in rows) + 4 * gap * (len(rows) - 1), max(row.shape[1] for row in rows)
    sheet, y = np.ones((height, width)), 0
    for row in rows:
        sheet[y : y + len(row), : row.shape[1]] = row
        y += len(row) + 4 * gap
    Image.fromarray((255 * sheet).astype(np.uint8)).quantize(32).save(path, optimize=True)


def main():
    folder, count, epochs = Path(sys.argv[1]), *(int(a) for a in (sys.argv[2:4] + ["6000", "20"][len(sys.argv) - 2 :]))
    picture = sys.argv[4] if len(sys.argv) > 4 else None
    folder.mkdir(parents=True, exist_ok=True)
    train, test = list(sets_of(photograph("china.jpg"), count, 1)), list(sets_of(photograph("flower.jpg"), 1000, 2))
    print(f"greedy chain on the same differences: {np.mean([chain(e) == o.tolist() for _, e, o in test]):.1%} exact", flush=True)
    for pairs, name in ((True, "relations"), (False, "features alone")):
        paths = [str(folder / f"{part}-{'pairs' if pairs else 'items'}.jsonl") for part in ("train", "test")]
        for path, data in zip(paths, (train, test)):
            write(path, data, pairs)
        model = str(folder / f"{'pairs' if pairs else 'items'}.safetensors")
        subprocess.run(
            [ORDERNET, "train", "--data", paths[0], "--model", model, "--epochs", str(epochs), "--quiet", "--force"], check=True
        )
        found = answers(model, paths[1])
        exact = np.mean([one == order.tolist() for one, (_, _, order) in zip(found, test)])
        print(f"{name}: {exact:.1%} exact on 1,000 sets of the other picture", flush=True)
        if picture and pairs:
            pieces = [one for one in sets_of(landscape(), 200, 3, 12) if one[0].shape[1] >= 80 and one[0].std() > 0.1 and one[0].shape[2] > 15][:4]
            path = str(folder / "landscape.jsonl")
            write(path, pieces, True)
            draw(picture, [(strips, one) for one, (strips, _, _) in zip(answers(model, path), pieces)])


if __name__ == "__main__":
    main()
