#!/usr/bin/python3
"""Checks that two folders of PAGE XML, ALTO or hOCR hold the same files except for the reading order.

usage: same_but_order.py BEFORE AFTER     (files below both folders, by their relative names)

Both files become trees of elements, attributes and texts, the content of canonical XML, without the order: the members of
reading order groups, the lines of a region and the blocks of a page are sorted by id, and the numbers of places become "N"
after a check that both files have the same numbers. Also checked: within an ordered group @index rises, and the reading
order of AFTER breaks the schema of PAGE in no way in which that of BEFORE does not: see breaches()."""
import collections
import os
import re
import sys
import xml.etree.ElementTree as ET

INDEX = re.compile(r"(readingOrder\s*\{[^}]*index:\s*)(\d+)")
MEMBERS = ("RegionRefIndexed", "RegionRef", "OrderedGroupIndexed", "UnorderedGroupIndexed", "OrderedGroup",
           "UnorderedGroup", "ElementRef")
MOVED = MEMBERS + ("TextLine", "TextBlock", "ComposedBlock")


def local(e):
    return e.tag.rsplit("}", 1)[-1] if isinstance(e.tag, str) else ""


# The children of elements, in the order in which the schema of PAGE (2010 to 2019) has them.
PAGE = ("AlternativeImage", "Border", "PrintSpace", "ReadingOrder", "Layers", "Relations", "TextStyle", "UserDefined",
        "Labels", "Region")
GROUPS = {
    "OrderedGroup": ("RegionRefIndexed", "OrderedGroupIndexed", "UnorderedGroupIndexed"),
    "OrderedGroupIndexed": ("RegionRefIndexed", "OrderedGroupIndexed", "UnorderedGroupIndexed"),
    "UnorderedGroup": ("RegionRef", "OrderedGroup", "UnorderedGroup"),
    "UnorderedGroupIndexed": ("RegionRef", "OrderedGroup", "UnorderedGroup"),
    "ReadingOrder": ("OrderedGroup", "UnorderedGroup"),
}
BESIDE = ("UserDefined", "Labels")


def breaches(root):
    """Returns what in the reading order of a PAGE file breaks the schema, as a set of texts."""
    found = set()
    ids = collections.Counter(e.attrib["id"] for e in root.iter() if "id" in e.attrib)
    found.update(f"id {i} twice" for i, count in ids.items() if count > 1)
    for e in root.iter():
        name = local(e)
        if name == "Page":
            kinds = ["Region" if local(c).endswith("Region") else local(c) for c in e if local(c)]
            found.update(f"Page has a {k}" for k in kinds if k not in PAGE)
            places = [PAGE.index(k) for k in kinds if k in PAGE]
            if places != sorted(places) or kinds.count("ReadingOrder") > 1:
                found.add("the children of Page are not in the order of the schema")
        if name in GROUPS:
            members = [c for c in e if local(c) and local(c) not in BESIDE]
            found.update(f"{name} has a {local(c)}" for c in members if local(c) not in GROUPS[name])
            if not members or (name == "ReadingOrder" and len(members) > 1):
                found.add(f"{name} has {len(members)} members")
            if name != "ReadingOrder" and "id" not in e.attrib:
                found.add(f"a {name} without id")
            if name.startswith("OrderedGroup"):
                index = [c.attrib.get("index", "") for c in members]
                if not all(i.isdigit() for i in index) or len(set(index)) < len(index):
                    found.add(f"{name}: @index is missing or given twice")
        if name.startswith("RegionRef") and e.attrib.get("regionRef") not in ids:
            found.add(f"regionRef {e.attrib.get('regionRef')} names no element")
    return found


def strip(e, numbers):
    """Takes the order out of an element, and gathers the numbers that it had."""
    for child in e:
        strip(child, numbers)
    if local(e) in MEMBERS and "index" in e.attrib:
        numbers.append(("index", e.attrib["index"]))
        e.attrib["index"] = "N"
    if "custom" in e.attrib and INDEX.search(e.attrib["custom"]):
        numbers.append(("custom", INDEX.search(e.attrib["custom"]).group(2)))
        e.attrib["custom"] = INDEX.sub(r"\1N", e.attrib["custom"])
    moved = [c for c in e if local(c) in MOVED or "class" in c.attrib]
    tails = [c.tail for c in moved]
    for c in moved:
        c.tail = None
    known = {id(c) for c in moved}
    places = [i for i, c in enumerate(e) if id(c) in known]
    moved.sort(key=lambda c: sorted(c.attrib.items()))
    for i, c, tail in zip(places, moved, tails):
        c.tail = tail
        e[i] = c


def canonical(path):
    parser = ET.XMLParser(target=ET.TreeBuilder(insert_comments=True, insert_pis=True))
    root = ET.parse(path, parser).getroot()
    for group in root.iter():
        if local(group).startswith("OrderedGroup"):
            index = [int(c.attrib["index"]) for c in group if "index" in c.attrib]
            if path.startswith(sys.argv[2]) and index != sorted(index):
                sys.exit(f"{path}: @index does not rise")
    against = breaches(root)
    numbers = []
    strip(root, numbers)
    content = [(e.tag, e.attrib, e.text, e.tail, len(e)) for e in root.iter()]
    return (content, sorted(numbers)), against


count = 0
for folder, _, names in sorted(os.walk(sys.argv[1])):
    for name in sorted(names):
        before = os.path.join(folder, name)
        after = os.path.join(sys.argv[2], os.path.relpath(before, sys.argv[1]))
        content, was = canonical(before)
        changed, now = canonical(after)
        if content != changed:
            sys.exit(f"{after} differs from {before} in more than the order")
        if now - was:
            sys.exit(f"{after} breaks the schema: {'; '.join(sorted(now - was))}")
        count += 1
print(f"{count} files are the same but for the order")
