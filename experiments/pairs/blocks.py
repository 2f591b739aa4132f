#!/usr/bin/env python3
"""Measures where relations pay: in the first encoder block or in every one, and in the decoder or not.

    /usr/bin/python3 experiments/pairs/blocks.py OUT [STEPS]

The network is the PyTorch twin (reference/twin.py), small, with the relation zeroed where a row of the table leaves it out, which
is the same as a network without these weights. Three tasks, each with two seeds: asymmetric tours of 8 cities by their costs,
strips of a picture by their edges, five words by their vectors and counts of neighbours. Greedy orders of sets of the trained size
and, for tours and strips, of 12 items. A row is a network; the numbers are of sets that it was not trained on."""

import dataclasses
import json
import lzma
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "reference"), str(ROOT / "experiments" / "pairs")]
import strips  # noqa: E402
import twin  # noqa: E402
from generated import Settings  # noqa: E402

WORDS = ROOT / ".." / "shared" / "data" / "words"
NET = Settings(width=1, encoder_blocks=3, hidden=32, encoder_out=8, decoder_blocks=2, decoder_out=8, pool="max", relations=1)
ROWS = [(first, decoder) for first in (True, False) for decoder in (False, True)]
BATCH, TESTS = 32, 200


class Variant(twin.OrderNet):
    """A twin that sees relations in the first encoder block alone, or in every one; in the decoder, or not."""

    def __init__(self, s, first, decoder):
        super().__init__(s)
        unseen = lambda block, given: (*given[:-1], torch.zeros_like(given[-1]))  # noqa: E731
        for block in [*self.encoder][1:] if first else []:
            block.register_forward_pre_hook(unseen)
        if not decoder:
            self.decoder.register_forward_pre_hook(unseen)


def ordernet(*arguments):
    return subprocess.run([ROOT / "ordernet", *map(str, arguments)], check=True, stdout=subprocess.PIPE, text=True).stdout


def tours(folder, n, count, seed):
    said = ordernet("tsp", "generate", "--asymmetric", "--n", n, "--per-size", count, "--seed", seed, "--quiet")
    sets = [json.loads(line) for line in said.splitlines()]
    costs = np.array([[[0 if c is None else c for c in row] for row in one["pairs"]] for one in sets])
    return np.array([one["items"] for one in sets], float), costs, np.array([one["order"] for one in sets])


def pieces(folder, n, count, seed):
    sets = list(strips.sets_of("china.jpg" if seed == 1 else "flower.jpg", count, seed, n, n))
    return np.zeros((count, n, 1)), np.array([e * (1 - np.eye(n)) for _, e, _ in sets]), np.array([order for _, _, order in sets])


def words(folder, n, count, seed):
    train, valid, text = folder / "words.safetensors", folder / "valid.safetensors", folder / "words.txt"
    if not train.exists():
        with lzma.open(WORDS / "train.txt.xz", "rt", encoding="utf8") as lines:
            text.write_text("".join(line for k, line in zip(range(50000), lines)), encoding="utf8")
        vectors = ("--vectors", WORDS / "glove.6B.50d.subset.txt.xz")
        ordernet("words", "prepare", "--text", text, *vectors, "--first", n, "--bigrams", "--quiet", "--out", train)
        known = ("--text", WORDS / "valid.txt", "--vocabulary", train)
        ordernet("words", "prepare", *known, "--first", n, "--bigrams", "--quiet", "--out", valid)
    lines = ordernet("convert", train if seed == 1 else valid, "-", "--to", "jsonl").splitlines()
    sets = [json.loads(line) for line in lines[:count]]
    known = {word for one in sets for word in one["items"]}
    with lzma.open(WORDS / "glove.6B.50d.subset.txt.xz", "rt", encoding="utf8") as lines:
        vector = {word: np.array(rest.split(), float) for word, _, rest in (line.partition(" ") for line in lines) if word in known}
    items = np.array([[vector.get(word, np.zeros(50)) for word in one["items"]] for one in sets])
    counts = np.array([[[0 if e is None else e for e in row] for row in one["pairs"]] for one in sets])
    return items, counts, np.array([one["order"] for one in sets])


def length(e, order):
    return sum(e[a, b] for a, b in zip(order, np.roll(order, -1)))


def gap(test, found):
    return np.mean([length(e, y) / length(e, right) - 1 for (e, right), y in zip(zip(*test[1:]), found)])


def exact(test, found):
    return np.mean((found == test[2]).all(1))


TASKS = {  # what makes the sets, sizes to train on and to test on, sets to train on, the measure
    "tours": (tours, 8, (8, 12), 8000, gap, "longer than the optimum"),
    "strips": (pieces, 8, (8, 12), 4000, exact, "exact"),
    "words": (words, 5, (5,), 40000, exact, "exact"),
}


def fit(net, data, steps, seed):
    x, e, y = data
    draw = np.random.default_rng(seed)
    adam = torch.optim.Adam(net.parameters(), lr=5e-3)
    for step in range(steps):
        adam.param_groups[0]["lr"] = 5e-3 * min(1, (step + 1) / 50) * 0.5 * (1 + math.cos(math.pi * step / steps))
        some = draw.integers(len(x), size=BATCH)
        adam.zero_grad()
        net.loss(x[some], y[some], e[some]).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1)
        adam.step()
    net.eval()


def as_tensors(data, mean, deviation):
    x, e, y = data
    e = (e - mean) / deviation * (1 - np.eye(e.shape[1]))
    return torch.tensor(x, dtype=torch.float32), torch.tensor(e[..., None], dtype=torch.float32), torch.tensor(y)


def main():
    folder, steps = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1500
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    for task, (make, n, sizes, count, measure, what) in TASKS.items():
        train, tests = make(folder, n, count, 1), {size: make(folder, size, TESTS, 2) for size in sizes}
        off = train[1][:, ~np.eye(n, dtype=bool)]
        mean, deviation = off.mean(), off.std()
        data = as_tensors(train, mean, deviation)
        settings = dataclasses.replace(NET, width=train[0].shape[2])
        head = " | ".join(f"{size} items, seed {s}" for size in sizes for s in (1, 2))
        print(f"\n{task}, {what}\n\n| encoder | decoder | {head} |")
        print("| --- " * (2 + 2 * len(sizes)) + "|", flush=True)
        for first, decoder in ROWS:
            row = {}
            for seed in (1, 2):
                torch.manual_seed(seed)
                net = Variant(settings, first, decoder)
                fit(net, data, steps, seed)
                for size, test in tests.items():
                    x, e, _ = as_tensors(test, mean, deviation)
                    row[size, seed] = measure(test, net.greedy(x, e)[0].numpy())
            cells = " | ".join(f"{row[size, s]:.1%}" for size in sizes for s in (1, 2))
            print(f"| {'first block' if first else 'every block'} | {'yes' if decoder else 'no'} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
