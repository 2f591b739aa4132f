#!/usr/bin/python3
"""Divides the shared pages for experiments/pages/run.sh, and adds the separators of the original files.

usage: split.py DATA FOLDER     reads DATA/train.jsonl, valid.jsonl and raw.tar.xz, writes FOLDER/*.jsonl

train and valid are the given files with separators, where the original file is in raw.tar.xz and has some.
fold0 to fold3 hold out a quarter of the documents of every collection: issues and books of titles that are in training.
hkb is a single document; there it is a quarter of the pages. austrian, reichsanzeiger and hkb hold out a whole
collection; NAME-few.jsonl has 20 of its pages (hkb: half of them) to fine-tune on, NAME-others.jsonl the rest of it.
NAME-rest.jsonl is trained on, NAME-held.jsonl measured; what is measured is also written without separators, to a file
whose name ends in -plain.jsonl."""
import json
import os
import random
import sys
import tarfile
import xml.etree.ElementTree as ElementTree

data, folder = sys.argv[1], sys.argv[2]
os.makedirs(folder, exist_ok=True)


def local(element):
    return element.tag.rsplit("}", 1)[-1]


def separators(file):
    """Yields the boxes of a PAGE XML file's separators, in units of the page height."""
    page = next(e for e in ElementTree.parse(file).getroot() if local(e) == "Page")
    height = float(page.get("imageHeight"))
    for region in page.iter():
        if local(region) != "SeparatorRegion":
            continue
        coords = next(e for e in region if local(e) == "Coords")
        points = [[float(v) / height for v in point.split(",")] for point in (coords.get("points") or "").split()]
        points = points or [[float(p.get("x")) / height, float(p.get("y")) / height] for p in coords]
        if points:
            xs, ys = zip(*points)
            yield [round(v, 5) for v in (min(xs), min(ys), max(xs), max(ys))]


found = {}
with tarfile.open(os.path.join(data, "raw.tar.xz")) as raw:
    for member in raw:
        if member.name.endswith(".xml"):
            name = os.path.basename(member.name)[:-4]
            found[name] = [{"bbox": box, "type": "separator"} for box in separators(raw.extractfile(member))]

plain, source_file = [], []
for name in ("train", "valid"):
    for line in open(os.path.join(data, name + ".jsonl")):
        plain.append(line)
        source_file.append(name)
pages = [json.loads(line) for line in plain]
lines = []
for line, page in zip(plain, pages):
    extra = found.get(page["id"])
    lines.append(json.dumps({**page, "items": page["items"] + extra}) + "\n" if extra else line)

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


def write(name, chosen, measured=False):
    """Writes the pages of these indices; what is measured also without separators."""
    with open(os.path.join(folder, name + ".jsonl"), "w") as out:
        out.writelines(lines[i] for i in chosen)
    if measured:
        with open(os.path.join(folder, name + "-plain.jsonl"), "w") as out:
            out.writelines(plain[i] for i in chosen)


every = range(len(pages))
for name in ("train", "valid"):
    write(name, [i for i in every if source_file[i] == name], True)
for k in range(4):
    write(f"fold{k}-rest", [i for i in every if number[i] != k])
    write(f"fold{k}-held", [i for i in every if number[i] == k], True)
for source in ("austrian", "reichsanzeiger", "hkb"):
    held = [i for i in every if pages[i]["source"] == source]
    write(source + "-rest", [i for i in every if pages[i]["source"] != source])
    write(source + "-held", held, True)
    step = max(2, len(held) // 20) if len(held) > 40 else 2
    few = held[::step][:20]
    write(source + "-few", few)
    write(source + "-others", [i for i in held if i not in few], True)
