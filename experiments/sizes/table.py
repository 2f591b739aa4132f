#!/usr/bin/env python3
"""Markdown tables of compare.py's results: for each task, variants by size; mean over the seeds, and the least of them.

    experiments/sizes/table.py [RESULTS.csv]
"""

import collections
import csv
import pathlib
import sys

NAMES = {
    "1": "1 one size, running",
    "2": "2 one size, sized",
    "3": "3 one size, interpolated",
    "4": "4 mixed, running",
    "5": "5 mixed, precise",
    "6": "6 mixed, sets weigh the same, running",
    "6p": "6p the same, precise",
    "7": "7 mixed, layer norm",
    "8": "8 mixed, norm per set and step",
    "9": "9 mixed, drop and jitter, running",
    "9p": "9p the same, precise",
    "10": "10 mixed, drop, running",
    "10p": "10p the same, precise",
    "11": "11 mixed, loss per set, running",
    "11p": "11p the same, precise",
}
# Columns: (first size, last size). The last ones of a task are beyond the sizes of training.
COLUMNS = {
    "pages": ([(2, 2), (3, 3), (4, 5), (6, 10), (11, 20), (21, 40)], [(41, 120)]),
    "sort": ([(n, n) for n in (2, 3, 4, 5, 8, 12, 16, 24, 32, 48, 64)], [(96, 96), (128, 128)]),
    "outward": ([(n, n) for n in (3, 4, 5, 8, 12, 16, 20, 25, 30)], [(45, 45), (60, 60)]),
    "tours": ([(5, 5), (6, 8), (9, 12), (13, 16), (17, 20)], [(30, 30), (50, 50), (100, 100), (1000, 1000)]),
    "words": ([(n, n) for n in range(2, 9)], []),
}


def mean(rows, what):
    sets = sum(int(r["sets"]) for r in rows)
    return sum(int(r["sets"]) * float(r[what]) for r in rows) / sets


def cell(rows, task):
    """Mean over seeds of exact match and log-likelihood per step (tours: gap of the greedy tour); in brackets the worst
    seed's exact match where it is a point lower."""
    if not rows:
        return ""
    seeds = collections.defaultdict(list)
    for r in rows:
        seeds[r["seed"]].append(r)
    shown = "gap" if task == "tours" else "exact"
    of_seed = [mean(r, shown) for r in seeds.values()]
    middle, worst = sum(of_seed) / len(of_seed), (max if shown == "gap" else min)(of_seed)
    text = f"{100 * middle:.1f}"
    if abs(middle - worst) > 0.01:
        text += f" ({100 * worst:.0f})"
    return f"{text} / {sum(mean(r, 'loglik') for r in seeds.values()) / len(seeds):.3f}"


def write(title, columns, names, rows_of, task):
    print(f"\n### {title}\n")
    print("| variant | " + " | ".join(names) + " |")
    print("| --- |" + " --- |" * len(names))
    for variant, name in NAMES.items():
        rows = rows_of.get(variant)
        if rows:
            print(f"| {name} | " + " | ".join(cell([r for r in rows if c(r)], task) for c in columns) + " |")


def main():
    path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "out" / "results.csv"
    tasks = collections.defaultdict(lambda: collections.defaultdict(list))
    for r in csv.DictReader(open(path)):
        tasks[r["task"]][r["variant"]].append(r)
    for task, (inside, beyond) in COLUMNS.items():
        if task not in tasks:
            continue
        spans = [(a, b, "") for a, b in inside] + [(a, b, ", beyond training") for a, b in beyond]
        names = [(f"{a}" if a == b else f"{a}-{b}") + note for a, b, note in spans]
        columns = [lambda r, a=a, b=b: a <= int(r["size"]) <= b for a, b, _ in spans] + [lambda r: True]
        what = "gap of the greedy tour in %" if task == "tours" else "exact match in %"
        write(f"{task}, by size: {what} (worst seed) / log-likelihood per step", columns, names + ["all"], tasks[task], task)
        sources = sorted({r["source"] for rows in tasks[task].values() for r in rows} - {""})
        if sources:
            columns = [lambda r, s=s: r["source"] == s for s in sources]
            write(f"{task}, by source: the same", columns, sources, tasks[task], task)


if __name__ == "__main__":
    main()
