#!/usr/bin/python3
"""Tests whether box positions alone tell the reading order of two pieces of page furniture side by side
(running title and page number at the head, signature mark and catch-word at the foot): boosted trees, trained
on three folds and tested on the fourth, each in turn, beside the rule "highest first". Newspapers are left
out. Prints a table of experiments/pages/README.md.

usage: furniture.py FOLDER     FOLDER: with the folds that run.sh left there; needs scikit-learn"""
import json
import sys

import numpy
from sklearn.ensemble import HistGradientBoostingClassifier

folder = sys.argv[1]
NEWSPAPERS = ["austrian", "reichsanzeiger", "hkb"]


def side_by_side(a, b):
    return min(a[3], b[3]) - max(a[1], b[1]) > 0.5 * min(a[3] - a[1], b[3] - b[1])


def pairs(page):
    """The pairs of furniture side by side: whether at the foot, what the boxes tell, whether the left one is higher, whether it
    is read first."""
    items, place = page["items"], {item: k for k, item in enumerate(page["order"])}
    left, top = (min(item[k] for item in items) for k in (0, 1))
    right, bottom = (max(item[k] for item in items) for k in (2, 3))
    width, height = right - left, bottom - top
    text = [item for item in items if not any(item[5:8])] or items
    body = [min(item[0] for item in text), min(item[1] for item in text), max(item[2] for item in text), max(item[3] for item in text)]
    kinds = [sum(item[k] for item in items) for k in range(4, 8)]
    for i, a in enumerate(items):
        for j, b in enumerate(items):
            if not (a[5] and b[5] and a[2] <= b[0] and side_by_side(a, b)):
                continue
            foot = a[1] > (top + bottom) / 2
            both = [[(c[0] - body[0]) / width, (body[2] - c[2]) / width, (c[2] - c[0]) / width, (c[3] - c[1]) / height,
                     (c[2] - c[0]) / (c[3] - c[1]), ((c[1] - body[3]) if foot else (body[1] - c[3])) / height] for c in (a, b)]
            told = [foot, (a[1] - b[1]) / height, (a[3] - b[3]) / height, (b[0] - a[2]) / width, (a[3] - a[1]) / (b[3] - b[1]),
                    width / height, height, top, left, (body[0] - left) / width, (right - body[2]) / width, len(items), *kinds,
                    *both[0], *both[1]]
            yield foot, told, a[1] <= b[1], place[i] < place[j]


rows = []
for fold in range(4):
    with open(f"{folder}/fold{fold}-held-plain.jsonl") as lines:
        for page in map(json.loads, lines):
            if page["source"] not in NEWSPAPERS:
                rows += [(fold, page["source"], *pair) for pair in pairs(page)]
fold, foot, higher, first = (numpy.array([row[k] for row in rows]) for k in (0, 2, 4, 5))
source, told = numpy.array([row[1] for row in rows]), numpy.array([row[3] for row in rows], dtype=float)
found = numpy.zeros(len(rows), dtype=bool)
for k in range(4):
    trees = HistGradientBoostingClassifier(max_iter=150, learning_rate=0.06, max_depth=4, l2_regularization=2, min_samples_leaf=10,
                                           random_state=1)
    found[fold == k] = trees.fit(told[fold != k], first[fold != k]).predict(told[fold == k])


def share(of, answer):
    return f"{100 * numpy.mean(answer[of] == first[of]):.1f}%"


print("| pairs | | highest first | trees |\n| --- | --- | --- | --- |")
for name in sorted(set(source)):
    for place, at in (("head", ~foot), ("foot", foot)):
        of = (source == name) & at
        if of.any():
            print(f"| {name}, {place} | {of.sum()} | {share(of, higher)} | {share(of, found)} |")
every = numpy.ones(len(rows), dtype=bool)
print(f"| all | {len(rows)} | {share(every, higher)} | {share(every, found)} |")
