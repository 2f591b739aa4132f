#!/usr/bin/python3
"""Prints the tables of models/pages.md from the orders that run.sh left in FOLDER.

usage: table.py FOLDER

FOLDER/SPLIT-held.jsonl and -others.jsonl have the right orders, FOLDER/SEED/SPLIT-*.jsonl the predicted ones, and
FOLDER/rules/RULE-*.jsonl those of the rules. A cell is neighbours right / exact in percent: the mean over the pages, each
page's value being its mean over the seeds. Behind it, 95% intervals of both over the pages."""
import glob
import json
import math
import os
import sys

folder = sys.argv[1]
NEWSPAPERS, PRINTS = ["austrian", "reichsanzeiger", "hkb"], ["dta11", "dta12", "gttext", "ocr17", "vdsbb"]
seeds = sorted(name for name in os.listdir(folder) if name.isdigit())


def pages(path):
    with open(path) as lines:
        return [json.loads(line) for line in lines]


def compare(right, found):
    """Returns the share of right neighbours, and whether the whole order is right."""
    follows = set(zip(right, right[1:]))
    return sum(pair in follows for pair in zip(found, found[1:])) / max(1, len(right) - 1), float(right == found)


def add(results, given_path, found_paths):
    """results[page id] = its source and its measures in each of the found files."""
    found = [pages(path) for path in found_paths]
    for i, page in enumerate(pages(given_path)):
        if len(page["order"]) > 1:
            results.setdefault(page["id"], (page["source"], []))[1].extend(
                compare(page["order"], other[i]["order"]) for other in found)


def of_splits(splits, measured, suffix, tuned=""):
    results = {}
    for split in splits:
        given = f"{folder}/{split}-{measured}{suffix}.jsonl"
        add(results, given, [f"{folder}/{seed}/{split}{tuned}-{measured}{suffix}.jsonl" for seed in seeds])
    return results


def of_rule(rule, suffix):
    results = {}
    for name in ("train", "valid"):
        add(results, f"{folder}/{name}{suffix}.jsonl", [f"{folder}/rules/{rule}-{name}{suffix}.jsonl"])
    return results


def cell(results, sources, intervals):
    each = [[sum(v) / len(v) for v in zip(*values)] for source, values in results.values() if source in sources]
    if not each:
        return ""
    text = []
    for values in zip(*each):
        n, mean = len(values), sum(values) / len(values)
        half = 1.96 * math.sqrt(sum((v - mean) ** 2 for v in values) / max(1, n - 1) / n)
        text.append((f"{100 * mean:.1f}", f"±{100 * half:.1f}"))
    return " / ".join(mean + (" " + half if intervals else "") for mean, half in text)


def table(title, columns, rows):
    print(f"\n{title}\n\n| collection | pages | " + " | ".join(columns) + " |")
    print("| --- " * (len(columns) + 2) + "|")
    for name, sources in rows:
        count = sum(source in sources for source, _ in next(iter(columns.values())).values())
        pooled = len(sources) > 1
        print(f"| {name} | {count} | " + " | ".join(cell(c, sources, pooled) for c in columns.values()) + " |")


def seed_table():
    print("\neach seed, newspapers pooled and prints pooled\n")
    folds = [f"fold{k}" for k in range(4)]
    cases = [("known", folds, "held", "", NEWSPAPERS), ("never seen", NEWSPAPERS, "held", "", NEWSPAPERS),
             ("fine-tuned", NEWSPAPERS, "others", "-tuned", NEWSPAPERS), ("prints", folds, "held", "", PRINTS)]
    for seed in seeds:
        cells = []
        for name, splits, measured, tuned, sources in cases:
            for suffix in ("", "-plain"):
                results = {}
                for split in splits:
                    add(results, f"{folder}/{split}-{measured}{suffix}.jsonl",
                        [f"{folder}/{seed}/{split}{tuned}-{measured}{suffix}.jsonl"])
                cells.append(f"{name}{suffix} {cell(results, sources, False)}")
        print(f"seed {seed}: " + "; ".join(cells))


rows = [(name, [name]) for name in NEWSPAPERS] + [("newspapers, pooled", NEWSPAPERS)]
folds = [f"fold{k}" for k in range(4)]
for suffix, title in (("", "with separators"), ("-plain", "without separators")):
    columns = {"known titles": of_splits(folds, "held", suffix), "never seen": of_splits(NEWSPAPERS, "held", suffix),
               "fine-tuned": of_splits(NEWSPAPERS, "others", suffix, "-tuned")}
    for path in sorted(glob.glob(f"{folder}/rules/*-train{suffix}.jsonl")):
        rule = os.path.basename(path)[:-len(f"-train{suffix}.jsonl")]
        columns[rule] = of_rule(rule, suffix)
    table(title, columns, rows)
    if suffix:
        prints = {name: column for name, column in columns.items() if name not in ("never seen", "fine-tuned")}
        table("prints", prints, [(name, [name]) for name in PRINTS] + [("prints, pooled", PRINTS)])
seed_table()
