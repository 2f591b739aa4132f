#!/usr/bin/env python3
"""Draws the learning curves that curves.py wrote: a panel per task, exact match over the number of training sets.

usage: draw.py CURVES.csv OUT.svg
"""
import csv
import math
import sys

WIDTH, HEIGHT, LEFT, TOP, GAP = 210, 150, 46, 34, 40
COLOURS = {"before": "#b05a2c", "after": "#1f6fb2"}


def main(path, out):
    rows = list(csv.DictReader(open(path)))
    tasks = list(dict.fromkeys(r["task"] for r in rows))
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + len(tasks) * (WIDTH + GAP)}" height="{TOP + HEIGHT + 52}" '
             'font-family="sans-serif" font-size="11">', '<rect width="100%" height="100%" fill="white"/>']
    for k, task in enumerate(tasks):
        left = LEFT + k * (WIDTH + GAP)
        sizes = sorted({int(r["sets"]) for r in rows if r["task"] == task})
        low, high = math.log(sizes[0]), math.log(sizes[-1])
        x = lambda n: left + (math.log(n) - low) / (high - low) * WIDTH
        y = lambda share: TOP + (1 - share) * HEIGHT
        parts.append(f'<text x="{left}" y="{TOP - 12}" font-size="13">{task}</text>')
        for share in (0, 0.25, 0.5, 0.75, 1):
            parts.append(f'<line x1="{left}" x2="{left + WIDTH}" y1="{y(share):.1f}" y2="{y(share):.1f}" stroke="#ddd"/>')
            parts.append(f'<text x="{left - 6}" y="{y(share) + 4:.1f}" text-anchor="end">{share:.0%}</text>')
        for n in sizes:
            parts.append(f'<text x="{x(n):.1f}" y="{TOP + HEIGHT + 16}" text-anchor="middle">{n:,}</text>')
        for name, colour in COLOURS.items():
            points = []
            for n in sizes:
                values = [float(r["exact"]) for r in rows if (r["task"], r["settings"], int(r["sets"])) == (task, name, n)]
                if values:
                    points.append((x(n), y(sum(values) / len(values))))
            parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="' +
                         " ".join(f"{a:.1f},{b:.1f}" for a, b in points) + '"/>')
            parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in points]
    parts.append(f'<text x="{LEFT}" y="{TOP + HEIGHT + 40}">training sets; share of validation sets in exactly the right order: '
                 f'<tspan fill="{COLOURS["before"]}">defaults of 0.1.0</tspan>, '
                 f'<tspan fill="{COLOURS["after"]}">defaults now</tspan></text></svg>')
    with open(out, "w") as f:
        f.write("\n".join(parts) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
