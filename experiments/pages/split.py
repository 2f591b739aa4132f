#!/usr/bin/python3
"""Divides the shared pages for experiments/pages/run.sh.

usage: split.py DATA FOLDER     reads DATA/train.jsonl and valid.jsonl, writes FOLDER/NAME-{rest,held}.jsonl

fold0 to fold3 hold out a quarter of the documents of every collection: issues and books of titles that are in training.
hkb is a single document; there it is a quarter of the pages. austrian, reichsanzeiger and hkb hold out a whole
collection; NAME-few.jsonl has 20 of its pages (hkb: half of them) to fine-tune on, NAME-others.jsonl the rest of it."""
import json
import os
import random
import sys

data, folder = sys.argv[1], sys.argv[2]
lines = [line for name in ("train", "valid") for line in open(os.path.join(data, name + ".jsonl"))]
pages = [json.loads(line) for line in lines]

# The issues of the Austrian newspapers are few and of unequal size: each fold gets about as many pages.
fold = {"austrian:ONB_ibn_19110701": 0, "austrian:ONB_aze_18950706": 0, "austrian:ONB_nfp_19110701": 1,
        "austrian:ONB_nfp_18950706": 2, "austrian:ONB_krz_19330701": 2, "austrian:ONB_krz_19110701": 3,
        "austrian:ONB_ibn_18640702": 3}
random.seed(5)
documents = sorted({page["doc"] for page in pages})
random.shuffle(documents)
count = {}
for document in documents:
    if document not in fold:
        source = document.split(":")[0]
        fold[document] = count.get(source, 0) % 4
        count[source] = count.get(source, 0) + 1
number = [fold[page["doc"]] for page in pages]
for k, i in enumerate(i for i, page in enumerate(pages) if page["source"] == "hkb"):
    number[i] = k % 4


def write(name, chosen):
    with open(os.path.join(folder, name + ".jsonl"), "w") as out:
        out.writelines(chosen)


for k in range(4):
    write(f"fold{k}-rest", [line for line, n in zip(lines, number) if n != k])
    write(f"fold{k}-held", [line for line, n in zip(lines, number) if n == k])
for source in ("austrian", "reichsanzeiger", "hkb"):
    held = [line for line, page in zip(lines, pages) if page["source"] == source]
    write(source + "-rest", [line for line, page in zip(lines, pages) if page["source"] != source])
    write(source + "-held", held)
    step = max(2, len(held) // 20) if len(held) > 40 else 2
    few = [line for i, line in enumerate(held) if i % step == 0][:20]
    write(source + "-few", few)
    write(source + "-others", [line for line in held if line not in few])
