#!/usr/bin/python3
"""Estimates the accuracy on a collection that no choice has seen (nested cross-validation): trains networks
without one and without two of the collections.

usage: nested.py FOLDER [--pairs NAME,...] [SEED ...]     FOLDER as split.py wrote it; trains what is not there yet, a
                                                          minute each on one core

For each collection, the preference of the usual way (src/tasks/layout/order/choose.c) and the size up to which it alone
counts are chosen on the seven others, by networks that have seen neither the one nor the other, and measured on it.
Then the reliability of the confidence in the orders that the program takes, fitted and measured the same way. That takes
36 networks, and 8 for each further seed, which measures the same choice. With --pairs only the collections that it names
(or "none") have such networks; the choice for the others is made by networks that have not seen the collection that
they judge, but the one that is measured. "As shipped" is the first seed with the program's constants, which were not chosen so."""
import argparse
import functools
import itertools
import json
import math
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("--pairs")
parser.add_argument("seeds", nargs="*", type=int)
given = parser.parse_intermixed_args()
folder, seeds = given.folder, given.seeds or [1, 2, 3]
program = os.environ.get("ORDERNET", "./ordernet")
out = os.path.join(folder, "nested")
os.makedirs(out, exist_ok=True)
NEWS = ("austrian", "hkb", "reichsanzeiger")
SHIPPED = (3, 16)  # PREFERENCE and PAGE_SMALL of src/tasks/layout/order
CHOICES = [(p, small) for p in (0, 1.5, 3, 4.5, 6, 10, 1e9) for small in (0, 5, 12, 16, 30)]  # preference, most regions

pages = {}  # by collection and kind: with separators, or plain
for name, kind in itertools.product(("train", "valid"), ("separators", "plain")):
    for line in open(os.path.join(folder, name + ("" if kind == "separators" else "-plain") + ".jsonl")):
        source = json.loads(line)["source"]
        if kind == "separators" or source in NEWS:
            pages.setdefault((source, kind), []).append(line)
names = sorted({source for source, _ in pages})
paired = names if given.pairs is None else given.pairs.split(",")


def judge(left, seed):
    """Trains without the collections `left`, and writes what the network says of their pages."""
    base = os.path.join(out, "+".join(left) + f"-{seed}")
    model, rest = base + ".safetensors", base + ".rest.jsonl"
    if not os.path.exists(model):
        with open(rest, "w") as file:
            file.writelines(line for (s, kind), lines in pages.items() if kind == "separators" and s not in left for line in lines)
        subprocess.run([program, "pages", "train", rest, "--holdout", "0", "--quiet", "--force", "--model", model, "--threads", "1",
                        "--seed", str(seed), "--plain", "30"], check=True)
        os.remove(rest)
    for source, kind in pages:
        alternatives = f"{base}.{source}.{kind}.alt"
        if source in left and not os.path.exists(alternatives):
            held = f"{base}.{source}.{kind}.jsonl"
            with open(held, "w") as file:
                file.writelines(pages[source, kind])
            subprocess.run([program, "pages", "eval", "--quiet", "--model", model, "--threads", "1", "--alternatives", alternatives,
                            held], check=True, stdout=subprocess.DEVNULL)
            os.remove(held)


def read(left, seed, source, kind):
    """Returns for each page: log-probabilities of its orders, which order is the usual one, the number of regions, and each
    order's share of right neighbours and whether it is exact."""
    found = []
    with open(os.path.join(out, "+".join(left) + f"-{seed}.{source}.{kind}.alt")) as file:
        for line, alternatives in zip(pages[source, kind], map(json.loads, file)):
            order = json.loads(line)["order"]
            orders = [a for a in alternatives["alternatives"] if not a["crosses"]]
            usual = alternatives["alternatives"][alternatives["usual"]]
            steps = set(zip(order, order[1:]))
            found.append(([a["logprob"] for a in orders], [a is usual for a in orders], len(order),
                          [sum(s in steps for s in zip(a["order"], a["order"][1:])) / (len(order) - 1) for a in orders],
                          [a["order"] == order for a in orders]))
    return found


def choose(judged, choice):
    """Returns for each page: right neighbours, exact match, and the inputs of the confidence."""
    preference, small = choice
    answers = []
    for logprob, usual, n, right, exact in judged:
        much = 1e9 if n <= small else preference
        k = max(range(len(usual)), key=lambda i: logprob[i] + much * usual[i])
        worth_of = [p + SHIPPED[0] * u for p, u in zip(logprob, usual)]
        share = 1 / sum(math.exp(min(w - worth_of[k], 700)) for w in worth_of)
        share = min(max(share, 1e-3), 1 - 1e-3)
        answers.append((right[k], exact[k], None if len(right) == 1 else (math.log(share / (1 - share)), math.log(n))))
    return answers


def average(values):
    values = list(values)
    return sum(values) / len(values)


def mean(answers):
    return 100 * average(a[0] for a in answers), 100 * average(a[1] for a in answers)


pairs = [p for p in itertools.combinations(names, 2) if set(p) & set(paired)]
with ThreadPoolExecutor(int(os.environ.get("JOBS", "1"))) as workers:
    tasks = [((n,), s) for s in seeds for n in names] + [(p, seeds[0]) for p in pairs]
    list(workers.map(lambda task: judge(*task), tasks))


def left_out(c, s):
    """Returns the collections left out of the network that judges the pages of s for the choice for c."""
    return tuple(sorted({c, s})) if c in paired else (s,)


@functools.lru_cache(maxsize=None)
def judged(left, s, kind):
    return read(left, seeds[0], s, kind)


@functools.lru_cache(maxsize=None)
def worth(choice, left, s):
    return average(sum(mean(choose(judged(left, s, kind), choice))) for kind in ("separators", "plain") if (s, kind) in pages)


print("| collection | | pages | preference, up to | " + " | ".join(f"seed {s}" for s in seeds) +
      " | as shipped |\n| --- | --- | --- | --- | --- |" + " --- |" * len(seeds))
pooled = {}
for c, kind in sorted(pages):
    best = max(CHOICES, key=lambda choice: average(worth(choice, left_out(c, s), s) for s in names if s != c))
    cells = []
    for seed in (*seeds, "shipped"):
        answers = choose(read((c,), seeds[0], c, kind), SHIPPED) if seed == "shipped" else choose(read((c,), seed, c, kind), best)
        pooled.setdefault((c in NEWS, kind), {}).setdefault(seed, []).extend(answers)
        cells.append("%.1f / %.1f" % mean(answers))
    print(f"| {c} | {kind} | {len(pages[c, kind])} | {best[0]:g}, {best[1]} | " + " | ".join(cells) + " |")
for (news, kind), by_seed in sorted(pooled.items()):
    print(f"| {'newspapers' if news else 'prints'}, pooled | {kind} | {len(by_seed[seeds[0]])} | | " +
          " | ".join("%.1f / %.1f" % mean(answers) for answers in by_seed.values()) + " |")
final = max(CHOICES, key=lambda choice: average(worth(choice, (c,), c) for c in names))
print("chosen on all:", final)


def logistic(weights, inputs):
    return 1 / (1 + math.exp(-weights[0] - sum(w * x for w, x in zip(weights[1:], inputs))))


def solve(matrix, right):
    """Solves a positive definite system by Gaussian elimination."""
    rows, n = [row + [r] for row, r in zip(matrix, right)], len(right)
    for i in range(n):
        for k in range(i + 1, n):
            rows[k] = [a - rows[k][i] / rows[i][i] * b for a, b in zip(rows[k], rows[i])]
    found = [0.0] * n
    for i in reversed(range(n)):
        found[i] = (rows[i][n] - sum(rows[i][k] * found[k] for k in range(i + 1, n))) / rows[i][i]
    return found


def calibrate(answers):
    """Returns the weights of a logistic regression (Newton's method, a little weight decay), and the share of exact pages
    among those without a choice."""
    some = [((1, *a[2]), a[1]) for a in answers if a[2]]
    weights = [0.0] * 3
    for _ in range(25):
        slope, curve = [-w for w in weights], [[float(i == k) for k in range(3)] for i in range(3)]
        for x, exact in some:
            p = logistic(weights, x[1:])
            for i in range(3):
                slope[i] += (exact - p) * x[i]
                for k in range(3):
                    curve[i][k] += p * (1 - p) * x[i] * x[k]
        weights = [w + step for w, step in zip(weights, solve(curve, slope))]
    return weights, average(a[1] for a in answers if not a[2])


said, true, by_name = [], [], []
for c in names:
    before = len(said)
    fit, same = calibrate([a for s, kind in pages if s != c for a in choose(judged(left_out(c, s), s, kind), SHIPPED)])
    for s, kind in pages:
        if s == c:
            answers = choose(judged((c,), c, kind), SHIPPED)
            said += [logistic(fit, a[2]) if a[2] else same for a in answers]
            true += [a[1] for a in answers]
    by_name.append(f"{c} {100 * average(said[before:]):.0f}% ({100 * average(true[before:]):.0f}% exact)")
error = 0
print("| confidence | pages | mean | exact |\n| --- | --- | --- | --- |")
for low, high in zip((0, 0.2, 0.4, 0.6, 0.8, 0.9), (0.2, 0.4, 0.6, 0.8, 0.9, 1.01)):
    these = [(p, exact) for p, exact in zip(said, true) if low <= p < high]
    if these:
        mean_said, mean_true = (average(column) for column in zip(*these))
        error += len(these) / len(said) * abs(mean_said - mean_true)
        print(f"| {low:g} to {min(high, 1):g} | {len(these)} | {100 * mean_said:.1f} | {100 * mean_true:.1f} |")
fit, same = calibrate([a for c, kind in pages for a in choose(judged((c,), c, kind), SHIPPED)])
print(f"expected calibration error {error:.3f}; constants {' '.join(f'{w:.3f}' for w in fit)}, {same:.3f}")
print("says of " + ", ".join(by_name))
