#!/usr/bin/env python3
"""Packs the study's data into one folder, as compare.py reads it: NAME-train.npz and NAME-valid.npz for each task.

A file holds its sets one after another, the items of each set IN THE RIGHT ORDER (the net cannot see in which order
items are given): items [total, d], size [sets], and where it has them source [sets], words (items are then rows of
vectors [words, d]) and optimum [sets], the length of the best tour.
"""

import argparse
import json
import lzma
import pathlib
import subprocess

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]


def save(out, name, sets, **more):
    sizes = np.array([len(s) for s in sets], dtype=np.int32)
    np.savez_compressed(out / f"{name}.npz", items=np.concatenate(sets), size=sizes, **more)
    print(f"{name}: {len(sets)} sets of {sizes.min()} to {sizes.max()} items, {(out / (name + '.npz')).stat().st_size} bytes")


def read_jsonl(path, largest=None):
    """Sets in the right order, and the objects that they are from."""
    objects = [json.loads(line) for line in open(path)]
    objects = [o for o in objects if 2 <= len(o["items"]) <= (largest or len(o["items"]))]
    return [np.array(o["items"], dtype=np.float32)[o["order"]] for o in objects], objects


def pages(out, data):
    for name, largest in (("train", 60), ("valid", 120)):
        sets, objects = read_jsonl(data / "pages" / f"{name}.jsonl", largest)
        save(out, f"pages-{name}", sets, source=np.array([o["source"] for o in objects]))


def numbers(out, name, key, train, sizes, seed):
    """Sets of numbers in [0, 1], ordered by key(set). train: (sets, smallest, largest); 50 sets of each validation size."""
    rng = np.random.default_rng(seed)

    def make(n):
        x = rng.random(n).astype(np.float32)
        return x[np.argsort(key(x.astype(np.float64)), kind="stable")][:, None]

    count, low, high = train
    save(out, f"{name}-train", [make(low + i % (high - low + 1)) for i in range(count)])
    save(out, f"{name}-valid", [make(n) for n in sizes for _ in range(50)])


def tour_length(cities):
    return np.linalg.norm(cities - np.roll(cities, -1, axis=0), axis=1).sum()


def generate(out, sizes, per_size, seed, method="exact"):
    path = out / "tours.jsonl"
    subprocess.run(
        [ROOT / "ordernet", "tsp", "generate", "--n", sizes, "--per-size", str(per_size), "--seed", str(seed)]
        + ["--method", method, "--out", path, "--quiet"],
        check=True,
    )
    sets, _ = read_jsonl(path)
    path.unlink()
    return sets


def tours(out):
    save(out, "tours-train", generate(out, "5-20", 1250, 1))
    # Beyond 50 cities the optimum is that of a long local search, not proven.
    sets = generate(out, "5-20", 100, 2) + generate(out, "30,50", 50, 3)
    sets += generate(out, "100", 30, 4, "local") + generate(out, "1000", 6, 5, "local")
    save(out, "tours-valid", sets, optimum=np.array([tour_length(s.astype(np.float64)) for s in sets]))


def words(out, data):
    """Openings of 2 to 8 words: of paragraphs of featured and good articles, and of WikiText-103's validation split.
    words/train.txt.xz has five words a line and no more."""
    with lzma.open(data / "sentences" / "featured_good.txt.xz", "rt") as f:
        openings = [line.split()[1:] for line in f if line.startswith("^ ")]
    openings = [o for o in openings if len(o) >= 8]
    rng = np.random.default_rng(3)
    picked = [openings[i] for i in rng.permutation(len(openings))[:40000]]
    train = [o[: 2 + i % 7] for i, o in enumerate(picked)]
    text = (line.lower().split() for line in open(data / "wikitext" / "wikitext103.valid.tokens"))
    paragraphs = [p for p in text if len(p) >= 8 and p[0] != "="][::3]
    valid = [p[:n] for n in range(2, 9) for p in paragraphs]
    known = {}
    with lzma.open(data / "words" / "glove.6B.50d.subset.txt.xz", "rt") as f:
        needed = {w for s in train + valid for w in s}
        for line in f:
            word, *numbers = line.split()
            if word in needed:
                known[word] = np.array(numbers, dtype=np.float32)
    # Row 0 is the unknown word: the mean of the known ones.
    index = {w: i + 1 for i, w in enumerate(known)}
    vectors = np.stack([np.mean(list(known.values()), axis=0), *known.values()]).astype(np.float16)
    for name, sets in (("train", train), ("valid", valid)):
        rows = [np.array([index.get(w, 0) for w in s], dtype=np.uint16) for s in sets]
        save(out, f"words-{name}", rows, vectors=vectors)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--out", type=pathlib.Path, default=ROOT / "study-data")
    p.add_argument("--data", type=pathlib.Path, help="default: the data folder of ORDERNET_SHARED")
    p.add_argument("--tasks", default="pages,sort,outward,words,tours")
    o = p.parse_args()
    if not o.data:
        shared = subprocess.run(["make", "-s", "print-shared"], cwd=ROOT, check=True, capture_output=True, text=True)
        o.data = ROOT / shared.stdout.strip() / "data"
    o.out.mkdir(exist_ok=True)
    for task in o.tasks.split(","):
        if task == "pages":
            pages(o.out, o.data)
        elif task == "sort":
            sizes = (2, 3, 4, 5, 8, 12, 16, 24, 32, 48, 64, 96, 128)
            numbers(o.out, "sort", lambda x: x, (2000, 2, 64), sizes, 1)
        elif task == "outward":
            sizes = (3, 4, 5, 8, 12, 16, 20, 25, 30, 45, 60)  # of two numbers neither is nearer to their mean
            numbers(o.out, "outward", lambda x: abs(x - x.mean()), (2000, 3, 30), sizes, 2)
        elif task == "words":
            words(o.out, o.data)
        elif task == "tours":
            tours(o.out)
        else:
            p.error(f"there is no task {task}: pages, sort, outward, words, tours")


if __name__ == "__main__":
    main()
