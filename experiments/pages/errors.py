#!/usr/bin/python3
"""What goes wrong on prints: the tables of README.md, from the orders that run.sh left in FOLDER.

usage: errors.py FOLDER

A page that is not exactly right counts for the first place where the found order leaves the right one: for the region
that should be read there and the one that is. Then what knowing each book's own way would bring: running titles and page
numbers of one row in the order that is right on most of its pages. Last, the gain over top-down with its interval."""
import collections
import json
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
    """The kind of the first error."""
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
    """The order with furniture of one row sorted by `before`."""
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
seed = min(name for name in os.listdir(folder) if name.isdigit())
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

# Gain over top-down, by collection, and its interval over documents: these are drawn anew 10,000 times.
gains = collections.defaultdict(lambda: collections.defaultdict(list))
for page in pages:
    right, down = page["order"], found["top-down"][page["id"]]
    for method in ("prints", "OrderNet"):
        order = found[method][page["id"]]
        gain = (100 * (neighbours(right, order) - neighbours(right, down)), 100 * ((right == order) - (right == down)))
        gains[method][page["doc"]].append((page["source"], *gain))
print("\npoints more than top-down, neighbours right / exact\n\n| | all | 95% over documents | full point in both | "
      + " | ".join(PRINTS) + " |\n" + "| --- " * (4 + len(PRINTS)) + "|")
for method, documents in gains.items():
    rows = [row for document in documents.values() for row in document]
    sums = [(len(d), sum(r[1] for r in d), sum(r[2] for r in d)) for d in documents.values()]
    random.seed(1)
    means = []
    for _ in range(10000):
        n, a, b = map(sum, zip(*random.choices(sums, k=len(sums))))
        means.append((a / n, b / n))
    low, high = ([sorted(m[k] for m in means)[at] for k in (0, 1)] for at in (250, 9749))
    both = sum(a >= 1 and b >= 1 for a, b in means) / len(means)
    cells = [f"{sum(r[1] for r in rows) / len(rows):.2f} / {sum(r[2] for r in rows) / len(rows):.2f}",
             f"{low[0]:.1f} to {high[0]:.1f} / {low[1]:.1f} to {high[1]:.1f}", f"{100 * both:.0f}% of the draws"]
    for source in PRINTS:
        of = [r for r in rows if r[0] == source]
        cells.append(f"{sum(r[1] for r in of) / len(of):.1f} / {sum(r[2] for r in of) / len(of):.1f}")
    print(f"| {method} | " + " | ".join(cells) + " |")
