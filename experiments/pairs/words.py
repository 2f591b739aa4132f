#!/usr/bin/env python3
"""Tests whether counts of neighbours help the network that orders words.

    python3 experiments/pairs/words.py OUT [STEPS]

Five words of a line, the paper's network (`--preset words`), the same text, steps and seed, with and without the relation of
`words prepare --bigrams`: log(1 + how often the second word follows the first in the training text, the set itself left out).
Measured on the validation text, whose pairs are counted in the training text. Beside it the order whose neighbours are most
frequent by these counts alone. Text and vectors are those of ../shared/data/words."""

import itertools
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ORDERNET = str(ROOT / "ordernet")
WORDS = ROOT / ".." / "shared" / "data" / "words"


def ordernet(*arguments):
    return subprocess.run([ORDERNET, *map(str, arguments)], check=True, stdout=subprocess.PIPE, text=True).stdout


def chain(pairs):
    """The order with the largest sum over neighbours."""
    return max(itertools.permutations(range(len(pairs))), key=lambda order: sum(pairs[a][b] for a, b in zip(order, order[1:])))


def main():
    folder, steps = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 700
    folder.mkdir(parents=True, exist_ok=True)
    print("| | exact | neighbours |\n| --- | --- | --- |")
    for name, flag in (("without", []), ("with bigrams", ["--bigrams"])):
        train, valid, model = (folder / f"{name.replace(' ', '-')}.{part}.safetensors" for part in ("train", "valid", "model"))
        vectors = ("--vectors", WORDS / "glove.6B.50d.subset.txt.xz")
        if not valid.exists():
            ordernet("words", "prepare", "--text", WORDS / "train.txt.xz", *vectors, "--first", 5, "--out", train, "--quiet", *flag)
            known = ("--vocabulary", train)
            ordernet("words", "prepare", "--text", WORDS / "valid.txt", *known, "--first", 5, "--out", valid, "--quiet", *flag)
        net = ("--preset", "words", "--batch", 128, "--max-steps", steps, "--learning-rate", 2e-3, "--average", 0.99)
        ordernet("train", "--data", train, "--model", model, *net, "--quiet", "--force")
        found = json.loads(ordernet("eval", "--model", model, "--json", "--quiet", valid))
        print(f"| network {name} | {found['exact']['mean']:.1%} | {found['neighbours']['mean']:.1%} |", flush=True)
    lines = ordernet("convert", folder / "with-bigrams.valid.safetensors", "-", "--to", "jsonl").splitlines()
    sets = [json.loads(line) for line in lines]
    exact = neighbours = 0
    for one in sets:
        words, order = one["items"], chain([[e or 0 for e in row] for row in one["pairs"]])
        said, right = [words[i] for i in order], [words[i] for i in one["order"]]
        exact += said == right
        neighbours += len(set(zip(said, said[1:])) & set(zip(right, right[1:]))) / (len(words) - 1)
    print(f"| best chain of counts | {exact / len(sets):.1%} | {neighbours / len(sets):.1%} |")


if __name__ == "__main__":
    main()
