#!/usr/bin/python3
"""Measures fine-tuning on pages of books, with the models of the four folds that run.sh left in FOLDER.
Prints the table of "Fine-tuning on books" in README.md: its columns "before" and "with the usual way" (here
"fine-tuned").

usage: fine_tune.py FOLDER

The pages are those that the fold's model has not seen. A book of at least 24 pages: learns from 20 pages
spread over the book (every second page if it has fewer than 40) and measures the rest. A collection: learns
from 20 pages of some of its books, at most four of each, and measures its other books. ORDERNET is the
program, ./ordernet if not set.
"""
import collections
import json
import os
import random
import subprocess
import sys

folder = sys.argv[1]
program = os.environ.get("ORDERNET", "./ordernet")
PRINTS = ["dta11", "dta12", "gttext", "ocr17", "vdsbb"]


def neighbours(right, found):
    follows = set(zip(right, right[1:]))
    return sum(pair in follows for pair in zip(found, found[1:])) / (len(right) - 1)


def write(path, pages):
    with open(path, "w") as out:
        out.writelines(json.dumps(page) + "\n" for page in pages)


def order(model, path):
    out = subprocess.run([program, "pages", "order", "--quiet", "--threads", "1", "--model", model, path], check=True,
                         capture_output=True, text=True).stdout
    return [json.loads(line)["order"] for line in out.splitlines()]


def tune(model, few, others):
    """The measures of each page of others before and after fine-tuning on few."""
    write(f"{folder}/tune/few.jsonl", few)
    write(f"{folder}/tune/others.jsonl", others)
    tuned = f"{folder}/tune/tuned.safetensors"
    subprocess.run([program, "pages", "train", f"{folder}/tune/few.jsonl", "--from", model, "--model", tuned,
                    "--holdout", "0", "--quiet", "--threads", "1"], check=True)
    found = [order(m, f"{folder}/tune/others.jsonl") for m in (model, tuned)]
    return [[(neighbours(page["order"], f), page["order"] == f) for f in both] for page, *both in zip(others, *found)]


def cell(values):
    return " / ".join(f"{100 * sum(v) / len(v):.1f}" for v in zip(*values))


os.makedirs(f"{folder}/tune", exist_ok=True)
results = collections.defaultdict(list)
names = collections.defaultdict(int)
for k in range(4):
    model = f"{folder}/1/fold{k}.safetensors"
    with open(f"{folder}/fold{k}-held-plain.jsonl") as lines:
        pages = [page for page in map(json.loads, lines) if len(page["order"]) > 1]
    for source in PRINTS:
        books = collections.defaultdict(list)
        for page in pages:
            if page["source"] == source:
                books[page["doc"]].append(page)
        for name, book in sorted(books.items()):
            if len(book) < 24:
                continue
            few = book[::max(2, len(book) // 20)][:20]
            measured = tune(model, few, [page for page in book if page not in few])
            for row in (("a book", source), ("a book", "all"), ("a book", "durrgeda") if "durrgeda" in name else None):
                if row:
                    results[row] += measured
                    names[row] += 1
        order_of_books = sorted(books)
        random.seed(k)
        random.shuffle(order_of_books)
        few = [page for name in order_of_books for page in books[name][:4]][:20]
        learned = {page["doc"] for page in few}
        others = [page for name in order_of_books if name not in learned for page in books[name]]
        if others:
            measured = tune(model, few, others)
            for row in (("a collection", source), ("a collection", "all")):
                results[row] += measured
                names[row] += 1
print("| learned from 20 pages of | | trainings | pages | before | fine-tuned |\n| --- | --- | --- | --- | --- | --- |")
for row in sorted(results):
    before, after = zip(*results[row])
    print(f"| {row[0]} | {row[1]} | {names[row]} | {len(before)} | {cell(before)} | {cell(after)} |")
