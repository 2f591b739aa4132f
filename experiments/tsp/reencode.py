#!/usr/bin/env python3
"""Orders large sets with a model of small ones by encoding again after every few placements.

The network encodes a set once and then places all items. Here it encodes, places K items, forgets the placed ones
except the first and the last few, encodes the rest again, and so on: what it sees becomes smaller with every round.
With --window only the M items nearest to the last placed one are seen, with --fit they are scaled to the unit square.

    ordernet tsp generate --n 200 --per-size 40 --seed 55 --out u200.jsonl
    experiments/tsp/reencode.py --every 5 --window 60 --fit u200.jsonl

Prints the mean gap to the file's own tours with its 95% interval; with --exact, for orders that are not tours, the
share of sets in exactly the right order and of items at their right place.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("files", nargs="+", help="sets with their right orders, JSON Lines")
    p.add_argument("--model", default=os.path.join(ROOT, "models", "tsp.safetensors"))
    p.add_argument("--beam", type=int, default=5)
    p.add_argument("--every", type=int, default=0, metavar="K", help="placements per encoding; 0: all, encoded once")
    p.add_argument("--shown", type=int, default=8, metavar="W", help="placed items that are shown again (8: all that "
                   "a decoder of 4 blocks looks back at)")
    p.add_argument("--window", type=int, default=0, metavar="M", help="see the M nearest items only; 0: all")
    p.add_argument("--fit", action="store_true", help="scale what is seen to the unit square")
    p.add_argument("--no-start", action="store_true", help="do not show the first item again")
    p.add_argument("--exact", action="store_true", help="measure exact match and places, not the gap of tours")
    p.add_argument("--limit", type=int, default=0, metavar="N", help="the first N sets of each file; 0: all")
    p.add_argument("--program", default=os.path.join(ROOT, "ordernet"))
    return p.parse_args()


def fitted(points):
    """As `tsp solve` places an instance in the unit square: docs of onet_tsp_net."""
    low = [min(c) for c in zip(*points)]
    high = [max(c) for c in zip(*points)]
    side = max(h - l for l, h in zip(low, high))
    scale = (1 - 2 / (len(points) + 1)) / side if side > 0 else 1
    return [[(x - (l + h) / 2) * scale + 0.5 for x, l, h in zip(p, low, high)] for p in points]


def seen(args, items, placed):
    """Indices of the items to encode, and how many of them, at the front, are placed already."""
    shown = placed[-args.shown:] if args.shown else []
    if placed and not args.no_start and len(placed) > args.shown:
        shown = [placed[0]] + shown
    gone = set(placed)
    rest = [i for i in range(len(items)) if i not in gone]
    if args.window and len(rest) > args.window:
        if placed:
            rest.sort(key=lambda i: math.dist(items[i], items[placed[-1]]))
        else:
            rest.sort(key=lambda i: sum(items[i]))  # a tour starts at the smallest x+y
        rest = rest[: args.window]
    return shown + rest, len(shown)


def order_all(args, sets):
    placed = [[] for _ in sets]
    while True:
        work = [s for s in range(len(sets)) if len(placed[s]) < len(sets[s]["items"])]
        if not work:
            return placed
        views = [seen(args, sets[s]["items"], placed[s]) for s in work]
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as f:
            for s, (index, fixed) in zip(work, views):
                points = [sets[s]["items"][i] for i in index]
                f.write(json.dumps({"items": fitted(points) if args.fit else points, "prefix": list(range(fixed))}))
                f.write("\n")
            f.flush()
            command = [args.program, "order", "--model", args.model, "--beam", str(args.beam), "--device", "cpu", f.name]
            lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
        for s, (index, fixed), line in zip(work, views, lines):
            new = json.loads(line)["order"][fixed:]
            if args.every:
                new = new[: args.every]
            placed[s] += [index[i] for i in new]


def length(items, tour):
    return sum(math.dist(items[a], items[b]) for a, b in zip(tour, tour[1:] + tour[:1]))


def interval(values):
    mean = sum(values) / len(values)
    spread = sum((v - mean) ** 2 for v in values) / max(len(values) - 1, 1)
    return mean, 1.96 * math.sqrt(spread / len(values))


def main():
    args = arguments()
    for path in args.files:
        with open(path) as f:
            sets = [json.loads(line) for line in f]
        if args.limit:
            sets = sets[: args.limit]
        began = time.time()
        found = order_all(args, sets)
        seconds = time.time() - began
        what = f"{path}: {len(sets)} sets, beam {args.beam}, every {args.every}, window {args.window}"
        what += (", fit" if args.fit else "") + (", no start" if args.no_start else "")
        if args.exact:
            exact = sum(a == s["order"] for a, s in zip(found, sets)) / len(sets)
            places = [sum(a == b for a, b in zip(o, s["order"])) / len(o) for o, s in zip(found, sets)]
            print(f"{what}: exact {100 * exact:.1f}%, places {100 * interval(places)[0]:.1f}%, {seconds:.1f} s")
        else:
            gaps = [length(s["items"], a) / length(s["items"], s["order"]) - 1 for a, s in zip(found, sets)]
            mean, half = interval(gaps)
            print(f"{what}: gap {100 * mean:.2f}% +- {100 * half:.2f}, {seconds:.1f} s")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
