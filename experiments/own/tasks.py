#!/usr/bin/env python3
"""Makes the tasks on which the defaults of `ordernet train` are chosen, small data sets with mixed sizes as users bring
them: sorting, outward from the mean, hue, a hidden score, tours, and pages in several folds. Each task is
NAME-train.jsonl and NAME-valid.jsonl in the given folder.

usage: tasks.py FOLDER      (ORDERNET: the program, ORDERNET_SHARED: the folder with the pages)
"""
import colorsys
import hashlib
import json
import os
import random
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
ORDERNET = os.environ.get("ORDERNET", os.path.join(ROOT, "ordernet"))
SHARED = os.environ.get("ORDERNET_SHARED", os.path.join(ROOT, "..", "shared"))


def write(path, rows):
    with open(path, "w") as f:
        for row in rows:
            f.write(json.dumps(row, separators=(",", ":")) + "\n")


def example(items, key):
    order = sorted(range(len(items)), key=lambda i: key(items[i]))
    return {"items": [[round(v, 5) for v in item] for item in items], "order": order}


def sort_numbers(rng, n):
    return example([[rng.random()] for _ in range(n)], lambda x: x[0])


def outward(rng, n):
    items = [[rng.random()] for _ in range(n)]
    mean = sum(x[0] for x in items) / n
    return example(items, lambda x: abs(x[0] - mean))


def hue(rng, n):
    return example([[rng.random() for _ in range(3)] for _ in range(n)], lambda x: colorsys.rgb_to_hsv(*x)[0])


def by_score(rng, n):
    """A hidden score of four features that is neither linear nor monotone in any of them."""
    items = [[rng.gauss(0, 1) for _ in range(4)] for _ in range(n)]
    return example(items, lambda x: x[0] * x[1] + abs(x[2]) - 0.5 * x[3])


MADE = {
    # name: generator, training sizes, training sets, validation sizes
    "sort": (sort_numbers, (2, 64), 2000, (2, 3, 4, 5, 8, 12, 16, 24, 32, 48, 64, 96, 128)),
    "outward": (outward, (3, 30), 2000, (3, 4, 5, 8, 12, 16, 20, 25, 30, 45, 60)),
    "hue": (hue, (2, 15), 600, (2, 3, 5, 8, 12, 15, 20)),
    "score": (by_score, (2, 12), 400, (2, 3, 5, 8, 12, 16)),
}


def made_tasks(folder):
    for name, (make, (low, high), count, sizes) in MADE.items():
        rng = random.Random(name)
        write(f"{folder}/{name}-train.jsonl", [make(rng, rng.randint(low, high)) for _ in range(count)])
        write(f"{folder}/{name}-valid.jsonl", [make(rng, n) for n in sizes for _ in range(50)])


def tours(folder):
    for part, sizes, each, seed in (("train", "5-20", 250, 11), ("valid", "5-20,30,50", 25, 12)):
        subprocess.run([ORDERNET, "tsp", "generate", "--n", sizes, "--per-size", str(each), "--seed", str(seed), "--out",
                        f"{folder}/tours-{part}.jsonl"], check=True, stderr=subprocess.DEVNULL)


NEWSPAPERS_HELD_OUT = {
    "austrian:ONB_ibn_19110701": "a", "austrian:ONB_krz_19330701": "a",
    "austrian:ONB_nfp_18950706": "b", "austrian:ONB_aze_18950706": "b", "hkb:hkb_1931-01-03": "b",
    "austrian:ONB_nfp_19110701": "c",
}


def held_out(page):
    """Returns the fold a, b or c that holds out the page's document for validation; d: none does."""
    number = int(hashlib.md5(page["doc"].encode()).hexdigest(), 16)
    any_fold = "abc"[number % 3] if page["source"] == "reichsanzeiger" else "abcd"[number % 4]
    return NEWSPAPERS_HELD_OUT.get(page["doc"], any_fold)


def fifths(pages):
    """Returns the documents of each of five parts with about as many pages, drawn at random, as --tune divides them."""
    documents = sorted({page["doc"] for page in pages})
    random.Random(7).shuffle(documents)
    parts, count = [set() for _ in range(5)], [0] * 5
    for document in documents:
        least = count.index(min(count))
        parts[least].add(document)
        count[least] += sum(page["doc"] == document for page in pages)
    return parts


def pages(folder):
    """Writes all pages, and 300 of them in whole documents; and three folds of the training pages and five random ones, to
    choose settings by held-out documents."""
    if not os.path.exists(f"{SHARED}/data/pages/train.jsonl"):
        print(f"skipped: no pages in {SHARED}/data/pages")
        return
    parts = {p: [json.loads(line) for line in open(f"{SHARED}/data/pages/{p}.jsonl")] for p in ("train", "valid")}
    keep = lambda rows: [{k: row[k] for k in ("items", "order", "source")} for row in rows]
    for fold in "abc":
        write(f"{folder}/pages-{fold}-train.jsonl", keep(row for row in parts["train"] if held_out(row) != fold))
        write(f"{folder}/pages-{fold}-valid.jsonl", keep(row for row in parts["train"] if held_out(row) == fold))
    for fold, held in enumerate(fifths(parts["train"])):
        write(f"{folder}/pages-{fold}-train.jsonl", keep(row for row in parts["train"] if row["doc"] not in held))
        write(f"{folder}/pages-{fold}-valid.jsonl", keep(row for row in parts["train"] if row["doc"] in held))
    write(f"{folder}/pages-train.jsonl", keep(parts["train"]))
    write(f"{folder}/pages-valid.jsonl", keep(parts["valid"]))
    documents = sorted({row["doc"] for row in parts["train"]})
    random.Random("pages").shuffle(documents)
    few = []
    for d in documents:
        here = [row for row in parts["train"] if row["doc"] == d]
        if len(few) + len(here) <= 310:
            few += here
    write(f"{folder}/pages300-train.jsonl", keep(few))
    write(f"{folder}/pages300-valid.jsonl", keep(parts["valid"]))


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    os.makedirs(sys.argv[1], exist_ok=True)
    made_tasks(sys.argv[1])
    tours(sys.argv[1])
    pages(sys.argv[1])
