#!/usr/bin/python3
"""Classifies the errors on pages of books (prints), and prints the tables of README.md from the orders that
run.sh left in FOLDER.

usage: errors.py FOLDER [SEED]     SEED: which of the folder's; the first if not given

A page that is not exactly right counts for the first place where the predicted order leaves the right one: for the region
that should be read there and the one that is. Then what knowing each book's own way would bring: running titles and page
numbers of one row in the order that is right on most of its pages, and how each collection reads such rows. Last, the
gain over top-down with its interval, and the same for harder books: documents are weighted so that top-down has 88 / 76,
as little as possible otherwise (exponential tilting)."""
import collections
import json
import math
import os
import random
import sys

folder = sys.argv[1]
PRINTS = ["dta11", "dta12", "gttext", "ocr17", "vdsbb"]


def read(path):
    with open(path) as lines:
        return [json.loads(line) for line in lines]


def neighbours(right, found):
    follows = set(zip(right, right[1:]))
    return sum(pair in follows for pair in zip(found, found[1:])) / (len(right) - 1)


def kind(item):
    return "furniture" if item[5] else "note" if item[6] else "image" if item[7] else "text"


def side_by_side(a, b):
    shared = min(a[3], b[3]) - max(a[1], b[1])
    return shared > 0.5 * min(a[3] - a[1], b[3] - b[1])


def error(items, right, found):
    """Returns the kind of the first error."""
    place = next(i for i in range(len(right)) if right[i] != found[i])
    a, b = items[right[place]], items[found[place]]
    kinds = {kind(a), kind(b)}
    overlap = min(a[2], b[2]) - max(a[0], b[0]) > 0.2 * min(a[2] - a[0], b[2] - b[0])
    if kinds == {"furniture"} and side_by_side(a, b):
        return "running title and page number"
    if "note" in kinds:
        return "note or caption, and another region"
    if "furniture" in kinds:
        return "running title, signature or catch-word, and another region"
    if kinds == {"text"} and side_by_side(a, b):
        return "initial or frame, and the text around or in it" if overlap else "text beside text"
    return "other"


def title_rows(items, order, before):
    """Returns the order with furniture of one row (running titles, page numbers) sorted by `before`."""
    order = list(order)
    for i in range(1, len(order)):
        for j in range(i, 0, -1):
            a, b = items[order[j - 1]], items[order[j]]
            apart = a[2] <= b[0] or b[2] <= a[0]
            if kind(a) != "furniture" or kind(b) != "furniture" or not side_by_side(a, b) or not apart or not before(b, a):
                break
            order[j - 1], order[j] = order[j], order[j - 1]
    return order


pages, found = [], {"top-down": {}, "prints": {}, "OrderNet": {}}
for name in ("train", "valid"):
    given = read(f"{folder}/{name}-plain.jsonl")
    pages += [p for p in given if p["source"] in PRINTS and len(p["order"]) > 1]
    for rule in ("top-down", "prints"):
        for page, other in zip(given, read(f"{folder}/rules/{rule}-{name}-plain.jsonl")):
            found[rule][page["id"]] = other["order"]
seed = sys.argv[2] if len(sys.argv) > 2 else min(name for name in os.listdir(folder) if name.isdigit())
for k in range(4):
    for page, other in zip(read(f"{folder}/fold{k}-held-plain.jsonl"), read(f"{folder}/{seed}/fold{k}-held-plain.jsonl")):
        found["OrderNet"][page["id"]] = other["order"]

wrong = {method: collections.Counter() for method in found}
lost = {method: collections.Counter() for method in found}
sources = collections.defaultdict(collections.Counter)
for page in pages:
    for method, orders in found.items():
        order = orders[page["id"]]
        if order != page["order"]:
            what = error(page["items"], page["order"], order)
            wrong[method][what] += 1
            lost[method][what] += 1 - neighbours(page["order"], order)
            if method == "prints":
                sources[what][page["source"]] += 1
print(f"{len(pages)} pages; pages wrong, and points of neighbours right lost by them\n")
print("| first error | " + " | ".join(found) + " | with prints, by collection |\n" + "| --- " * (len(found) + 2) + "|")
for what, _ in wrong["top-down"].most_common():
    cells = [f"{wrong[m][what]}, {100 * lost[m][what] / len(pages):.1f}" for m in found]
    print(f"| {what} | " + " | ".join(cells) + " | " + ", ".join(f"{s} {n}" for s, n in sorted(sources[what].items())) + " |")
print("| all | " + " | ".join(f"{sum(wrong[m].values())}, {100 * sum(lost[m].values()) / len(pages):.1f}" for m in found) + " | |")

ways = {"highest first": lambda a, b: False, "widest first": lambda a, b: a[2] - a[0] > b[2] - b[0],
        "left first": lambda a, b: a[0] < b[0]}
books = collections.defaultdict(list)
for page in pages:
    orders = [title_rows(page["items"], found["prints"][page["id"]], before) for before in ways.values()]
    books[page["doc"]].append((page["order"], orders))


def best(book):
    return max(range(len(ways)), key=lambda k: (sum(orders[k] == right for right, orders in book), -k))


def score(chosen):
    return (f"{100 * sum(neighbours(r, f) for r, f in chosen) / len(chosen):.1f} / "
            f"{100 * sum(r == f for r, f in chosen) / len(chosen):.1f}")


print("\ntitles and page numbers of one row\n\n| read | neighbours right / exact |\n| --- | --- |")
for k, way in enumerate(ways):
    print(f"| {way} | {score([(right, orders[k]) for book in books.values() for right, orders in book])} |")
print(f"| the best of these for each book | "
      f"{score([(right, orders[best(book)]) for book in books.values() for right, orders in book])} |")
others = [(right, orders[best([p for p in book if p is not page])]) for book in books.values()
          for page in book for right, orders in [page]]
print(f"| the best on the book's other pages | {score(others)} |")
told = [[(r, o) for r, o in book if r in o and any(x != o[0] for x in o)] for book in books.values()]
told = [book for book in told if len(book) > 3]
against = [sum(orders[best(book)] != right for right, orders in book) for book in told]
print(f"\n{len(told)} books have at least four pages where these differ and one is right; in {sum(n > 0 for n in against)} of "
      f"them {sum(against)} of their pages are against the book's own way")

print("\ntwo of one row: pairs, and share of them that the collection reads so\n\n| collection | head: pairs | highest first | "
      "left first | foot: pairs | highest first | left first |\n" + "| --- " * 7 + "|")
pairs = collections.defaultdict(list)
for page in pages:
    items, place = page["items"], {item: k for k, item in enumerate(page["order"])}
    top, bottom = min(item[1] for item in items), max(item[3] for item in items)
    for i, a in enumerate(items):
        for j, b in enumerate(items):
            if a[2] <= b[0] and kind(a) == kind(b) == "furniture" and side_by_side(a, b):
                foot = a[1] > (top + bottom) / 2
                first = place[i] < place[j]
                pairs[page["source"], foot].append(((a[1] <= b[1]) == first, first))
for source in PRINTS:
    cells = []
    for foot in (False, True):
        of = pairs[source, foot]
        cells += [str(len(of))] + [f"{100 * sum(v) / len(of):.0f}%" for v in zip(*of)] if of else ["0", "", ""]
    print(f"| {source} | " + " | ".join(cells) + " |")

# Gain over top-down, by collection, and its interval over documents: these are drawn anew 10,000 times.
HARDER = (88, 76)
documents = collections.defaultdict(list)
for page in pages:
    right = page["order"]
    measures = {m: (100 * neighbours(right, orders[page["id"]]), 100 * (right == orders[page["id"]])) for m, orders in found.items()}
    documents[page["doc"]].append((page["source"], measures))


def weights():
    """Returns a weight per document, exp(a x + b y), with which top-down has HARDER over all, found by Newton's method."""
    points = [[(m["top-down"][0] - HARDER[0], m["top-down"][1] - HARDER[1]) for _, m in d] for d in documents.values()]
    points = [(len(d), sum(p[0] for p in d) / len(d), sum(p[1] for p in d) / len(d)) for d in points]
    a = b = 0.0
    for _ in range(100):
        w = [n * math.exp(a * x + b * y) for n, x, y in points]
        total = sum(w)
        mx, my = (sum(v * p[k] for v, p in zip(w, points)) / total for k in (1, 2))
        xx, xy, yy = (sum(v * (p[j] - mj) * (p[k] - mk) for v, p in zip(w, points)) / total
                      for j, k, mj, mk in ((1, 1, mx, mx), (1, 2, mx, my), (2, 2, my, my)))
        det = xx * yy - xy * xy
        a, b = a - (yy * mx - xy * my) / det, b - (xx * my - xy * mx) / det
    return [math.exp(a * x + b * y) for _, x, y in points]


def gains(method, weight):
    """Returns the mean gain, its interval and the share of draws that gain a full point in both measures."""
    sums = [(len(d), *(sum(m[method][k] - m["top-down"][k] for _, m in d) for k in (0, 1))) for d in documents.values()]
    n, a, b = (sum(w * s[k] for w, s in zip(weight, sums)) for k in range(3))
    random.seed(1)
    means = []
    for _ in range(10000):
        count, x, y = map(sum, zip(*random.choices(sums, weight, k=len(sums))))
        means.append((x / count, y / count))
    low, high = ([sorted(m[k] for m in means)[at] for k in (0, 1)] for at in (250, 9749))
    both = sum(x >= 1 and y >= 1 for x, y in means) / len(means)
    return [f"{a / n:.2f} / {b / n:.2f}", f"{low[0]:.1f} to {high[0]:.1f} / {low[1]:.1f} to {high[1]:.1f}",
            f"{100 * both:.0f}% of the draws"]


print("\npoints more than top-down, neighbours right / exact\n\n| | all | 95% over documents | full point in both | "
      + " | ".join(PRINTS) + " |\n" + "| --- " * (4 + len(PRINTS)) + "|")
for method in ("prints", "OrderNet"):
    cells = gains(method, [1] * len(documents))
    for source in PRINTS:
        of = [m for d in documents.values() for s, m in d if s == source]
        cells.append(" / ".join(f"{sum(m[method][k] - m['top-down'][k] for m in of) / len(of):.1f}" for k in (0, 1)))
    print(f"| {method} | " + " | ".join(cells) + " |")
print(f"\nwith documents weighted so that top-down has {HARDER[0]} / {HARDER[1]}\n\n| | all | 95% over documents | full point in both |\n"
      + "| --- " * 4 + "|")
harder = weights()
for method in ("prints", "OrderNet"):
    print(f"| {method} | " + " | ".join(gains(method, harder)) + " |")
