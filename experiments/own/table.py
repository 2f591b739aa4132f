#!/usr/bin/env python3
"""Makes a table in Markdown from what choose.py wrote: a row per setting, a column per task, means over the seeds.

usage: table.py RESULTS.csv [COLUMN ...]     default columns: exact_seen loglik_seen
"""
import csv
import sys


def main(path, columns):
    rows = list(csv.DictReader(open(path)))
    tasks = list(dict.fromkeys(r["task"] for r in rows))
    for column in columns:
        have = [t for t in tasks if any(r["task"] == t and r[column] for r in rows)]
        percent = "loglik" not in column and "seconds" not in column
        print(f"\n| {column} | {' | '.join(have)} |\n| --- |{' --- |' * len(have)}")
        for name in dict.fromkeys(r["settings"] for r in rows):
            cells = []
            for t in have:
                values = [float(r[column]) for r in rows if r["task"] == t and r["settings"] == name and r[column]]
                mean = sum(values) / len(values) if values else None
                cells.append("" if mean is None else f"{100 * mean:.1f}%" if percent else f"{mean:.3f}")
            print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:] or ["exact_seen", "loglik_seen"])
