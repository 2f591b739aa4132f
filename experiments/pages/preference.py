#!/usr/bin/python3
"""How much the usual way should be preferred, and what merging networks brings: tables of README.md, with the models that
run.sh left in FOLDER.

usage: preference.py FOLDER

Each model writes the orders that it chooses from with their log-probabilities (pages eval --alternatives). Then the choice
is made here, with other preferences than the program's, and with the mean over the seeds' networks. ORDERNET is the
program, ./ordernet if not set."""
import json
import os
import subprocess
import sys

folder = sys.argv[1]
program = os.environ.get("ORDERNET", "./ordernet")
NEWSPAPERS, FOLDS = ["austrian", "reichsanzeiger", "hkb"], [f"fold{k}" for k in range(4)]
SMALL = 12
seeds = sorted(name for name in os.listdir(folder) if name.isdigit())


def neighbours(right, found):
    follows = set(zip(right, right[1:]))
    return sum(pair in follows for pair in zip(found, found[1:])) / (len(right) - 1)


def read(path):
    with open(path) as lines:
        return [json.loads(line) for line in lines]


def judged(split):
    """Each page of a split: its source, its number of regions, and for each of its orders the log-probability by each seed's
    network, neighbours right and exact; the first order is that of prints."""
    pages = [page for page in read(f"{folder}/{split}-held.jsonl") if len(page["order"]) > 1]
    found = []
    for seed in seeds:
        path = f"{folder}/{seed}/{split}-alternatives.jsonl"
        subprocess.run([program, "pages", "eval", "--quiet", "--threads", "1", "--model", f"{folder}/{seed}/{split}.safetensors",
                        "--alternatives", path, f"{folder}/{split}-held.jsonl"], check=True, stdout=subprocess.DEVNULL)
        found.append(read(path))
    for page, *each in zip(pages, *found):
        assert all(other["usual"] == 0 for other in each)
        orders = [[[a["logprob"] for a in same], neighbours(page["order"], same[0]["order"]), page["order"] == same[0]["order"]]
                  for same in zip(*(other["alternatives"] for other in each))]
        yield page["source"], len(page["order"]), orders


def cell(pages, networks, small, large):
    """Neighbours right / exact with these networks and these preferences on small and on large pages."""
    chosen = []
    for n, orders in pages:
        preference = small if n <= SMALL else large
        chosen.append(max(range(len(orders)), key=lambda k: (sum(orders[k][0][s] for s in networks) / len(networks)
                                                             + (0 if k else preference), -k)))
    values = [orders[k][1:] for k, (_, orders) in zip(chosen, pages)]
    return " / ".join(f"{100 * sum(v) / len(v):.1f}" for v in zip(*values))


known = [page for split in FOLDS for page in judged(split)]
groups = [[(n, orders) for source, n, orders in known if source not in NEWSPAPERS],
          [(n, orders) for source, n, orders in known if source in NEWSPAPERS],
          [(n, orders) for split in NEWSPAPERS for _, n, orders in judged(split)]]
every = range(len(seeds))
print(f"seeds {', '.join(seeds)}; last the mean of their networks\n\n| preference | prints | known | never seen |\n| --- | --- | --- | --- |")
for small, large in [(c, c) for c in (0, 1, 2, 3, 4, 6)] + [(6, 3), (3, 0)]:
    name = f"{small}" if small == large else f"{small} up to {SMALL} regions, else {large}"
    rows = [[cell(group, networks, small, large) for networks in [[s] for s in every] + [list(every)]] for group in groups]
    print(f"| {name} | " + " | ".join("; ".join(row) for row in rows) + " |")
