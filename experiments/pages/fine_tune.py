#!/usr/bin/python3
"""Measures what 20 corrected pages of a title teach a network that has seen no page of its collection: the networks
that nested.py left in FOLDER/nested. Prints the tables of "Fine-tuning" in README.md.

usage: fine_tune.py FOLDER [SEED ...]     seeds 1, 2 and 3, if none is given

A title is a book or a newspaper with at least 16 pages. For each seed 20 of its pages are drawn (half of them if it has
fewer than 40), the network learns from them, and is measured on the others: newspapers with their separators and without.
"A collection" learns from 20 pages of some of its books, at most four of each, and is measured on its other books. "Best
of the ways" takes on each page the best of the orders that the network chooses from: no choice among them, however much it
learned from the title, is right more often. ORDERNET is the program, ./ordernet if not set; JOBS trainings run at a time."""
import collections
import json
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

folder = sys.argv[1]
seeds = [int(seed) for seed in sys.argv[2:]] or [1, 2, 3]
program = os.environ.get("ORDERNET", "./ordernet")
NEWS = ("austrian", "hkb", "reichsanzeiger")
os.makedirs(f"{folder}/tune", exist_ok=True)


def title_of(page):
    """Returns the title of a page: its newspaper, whatever the issue, or its book."""
    if page["source"] == "austrian":
        return "austrian, " + page["doc"].split("_")[1]
    return page["source"] if page["source"] in NEWS else page["doc"]


pages = collections.defaultdict(lambda: collections.defaultdict(list))  # by collection and title: (page, line, line without separators)
for name in ("train", "valid"):
    for line, plain in zip(open(f"{folder}/{name}.jsonl"), open(f"{folder}/{name}-plain.jsonl")):
        page = json.loads(plain)
        if len(page["order"]) > 1:
            pages[page["source"]][title_of(page)].append((page, line, plain))


def neighbours(right, found):
    follows = set(zip(right, right[1:]))
    return sum(pair in follows for pair in zip(found, found[1:])) / (len(right) - 1)


def run(*arguments):
    return subprocess.run([program, "pages", *arguments, "--quiet", "--threads", "1"], check=True, capture_output=True, text=True).stdout


def order(model, path):
    return [json.loads(line)["order"] for line in run("order", "--model", model, path).splitlines()]


def best(model, path, of):
    """Returns for each page, of the orders that the network chooses from, the one with the most right neighbours."""
    run("eval", "--model", model, "--alternatives", path + ".alt", path)
    with open(path + ".alt") as lines:
        return [max((a["order"] for a in json.loads(line)["alternatives"]), key=lambda found: neighbours(page["order"], found))
                for (page, *_), line in zip(of, lines)]


def measure(task):
    """Fine-tunes on the pages `few`; returns the measures before, after and of the best order on `others`, a list by kind."""
    rows, source, seed, few, others, number = task
    base, path = f"{folder}/nested/{source}-{seed}.safetensors", f"{folder}/tune/{number}"
    with open(path + ".few.jsonl", "w") as out:
        out.writelines(line for _, line, _ in few)
    run("train", path + ".few.jsonl", "--from", base, "--model", path + ".safetensors", "--holdout", "0", "--force", "--seed", str(seed))
    found = {}
    for kind in (1, 2) if source in NEWS else (1,):
        held = f"{path}.{kind}.jsonl"
        with open(held, "w") as out:
            out.writelines(page[kind] for page in others)
        answers = order(base, held), order(path + ".safetensors", held), best(base, held, others)
        found[kind] = [[(neighbours(page["order"], o), page["order"] == o) for o in three]
                       for (page, *_), *three in zip(others, *answers)]
    return rows, seed, found


tasks = []
for seed in seeds:
    for source, titles in sorted(pages.items()):
        news = source in NEWS
        for name, of in sorted(titles.items()):
            if len(of) < 16:
                continue
            few = set(random.Random(seed).sample(range(len(of)), min(20, len(of) // 2)))
            rows = (name, "newspapers") if news else (f"a book: {source}", "a book: all")
            tasks.append((rows, source, seed, [p for i, p in enumerate(of) if i in few], [p for i, p in enumerate(of) if i not in few],
                          len(tasks)))
        if news:
            continue
        names = sorted(titles)
        random.Random(seed).shuffle(names)
        few = [page for name in names for page in titles[name][:4]][:20]
        learned = {page["doc"] for page, *_ in few}
        others = [page for name in names if name not in learned for page in titles[name]]
        tasks.append(((f"a collection: {source}", "a collection: all"), source, seed, few, others, len(tasks)))
results = collections.defaultdict(list)
with ThreadPoolExecutor(int(os.environ.get("JOBS", "1"))) as workers:
    for rows, seed, found in workers.map(measure, tasks):
        for kind, measured in found.items():
            for row in rows:
                results[row, kind].append((seed, measured))


def cell(values):
    return " / ".join(f"{100 * sum(v) / len(v):.1f}" for v in zip(*values))


print("| learned from 20 pages of | | trainings | pages | before | after | gain | by seed | best of the ways |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
for (row, kind), measured in sorted(results.items(), key=lambda entry: (":" in entry[0][0], entry[0][1], entry[0][0])):
    news = ":" not in row
    before, after, most = zip(*(page for _, some in measured for page in some))
    gains = []
    for seed in seeds:
        some = [page for s, many in measured if s == seed for page in many]
        gains.append(f"{100 * sum(a[0] - b[0] for b, a, _ in some) / len(some):+.1f}")
    gain = 100 * sum(a[0] - b[0] for b, a in zip(before, after)) / len(before)
    print(f"| {row} | {('', 'separators', 'plain')[kind] if news else ''} | {len(measured)} | {len(before)} | {cell(before)} | "
          f"{cell(after)} | {gain:+.1f} | {' '.join(gains)} | {cell(most)} |")
