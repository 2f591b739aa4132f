#!/usr/bin/env python3
"""Compares methods on tasks of several kinds: guessing, one column, a linear ranker, boosted trees, OrderNet.

usage: suite.py [--data FOLDER] [--tune BUDGET] [--tasks A,B,...] [--threads N] [--program FILE] [--out results.csv]
       suite.py --table [--out results.csv]

The folder has tasks/NAME.train.jsonl and tasks/NAME.test.jsonl, and pages/train.jsonl and pages/valid.jsonl. Settings
are chosen on the training part alone; the test part is for the figures. Needs NumPy and scikit-learn (Debian:
python3-sklearn). Results stay in the CSV: a method that has its row there is not run again.
"""

import argparse
import csv
import json
import lzma
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TASKS = ["dates", "gap", "tardiness", "linear", "nonlinear", "digits", "noise", "company", "wordorder", "pages"]
METHODS = ["guessing", "best column", "linear ranker", "trees on pairs", "OrderNet", "OrderNet --tune"]
FIELDS = ["task", "method", "exact", "low", "high", "tau", "neighbours", "newspapers", "seconds", "settings"]
MOST_PAIRS = 200_000  # that the trees learn from; more take minutes and gigabytes


def paths(data, task):
    if task == "pages":
        return data / "pages/train.jsonl", data / "pages/valid.jsonl"
    found = [next(data.glob(f"tasks/{task}.{part}.jsonl*"), None) for part in ("train", "test")]
    if None in found:
        sys.exit(f"suite.py: {data}/tasks has no {task}.train.jsonl and {task}.test.jsonl; name the folder with --data")
    return found


def read(path):
    with (lzma.open(path, "rt") if path.suffix == ".xz" else open(path)) as file:
        sets = [json.loads(line) for line in file]
    return [(np.array(s["items"], float), np.array(s["order"])) for s in sets if len(s["order"]) == len(s["items"])]


# ---- Trees on pairs: predict which of two items comes first from their features, also relative to the set ----


def seen(items):
    """Returns the features of each item: as given, relative to the set (value minus mean, over deviation), and as ranks."""
    spread = items.std(0)
    relative = (items - items.mean(0)) / np.where(spread > 0, spread, 1)
    ranks = (items[:, None] > items[None]).sum(1) + 0.5 * ((items[:, None] == items[None]).sum(1) - 1)
    return np.hstack([items, relative, ranks / max(1, len(items) - 1)])


def pairs(items):
    own = seen(items)
    a, b = np.nonzero(~np.eye(len(items), dtype=bool))
    return a, b, np.hstack([own[a], own[b], own[a] - own[b]])


def trees(train, test):
    from sklearn.ensemble import HistGradientBoostingClassifier

    random = np.random.default_rng(1)
    share = min(1, MOST_PAIRS / sum(len(o) * (len(o) - 1) for _, o in train if len(o) > 1))
    xs, ys = [], []
    for items, order in train:
        if len(order) < 2:
            continue
        place = np.empty(len(order), int)
        place[order] = np.arange(len(order))
        a, b, x = pairs(items)
        keep = random.random(len(a)) < share
        xs.append(x[keep].astype(np.float32))
        ys.append(place[a[keep]] < place[b[keep]])
    model = HistGradientBoostingClassifier(max_iter=300, random_state=1).fit(np.concatenate(xs), np.concatenate(ys))
    answers = []
    for items, _ in test:
        n = len(items)
        score = np.zeros(n)
        if n > 1:
            a, _, x = pairs(items)
            np.add.at(score, a, model.predict_proba(x.astype(np.float32))[:, 1])
        answers.append(np.argsort(-score, kind="stable"))
    return answers


def measure(test, answers):
    """Returns exact match (items with equal features count as the same), Kendall's tau and right neighbours."""
    exact, tau, neighbours = [], [], []
    for (items, order), answer in zip(test, answers):
        n = len(order)
        exact.append(np.array_equal(items[order], items[answer]))
        if n < 2:
            continue
        place = np.empty(n, int)
        place[answer] = np.arange(n)
        p = place[order]
        tau.append(np.sign(p[None] - p[:, None])[np.triu_indices(n, 1)].mean())
        neighbours.append((np.diff(p) == 1).mean())
    return np.mean(exact), np.mean(tau), np.mean(neighbours)


# ---- The program ----


def run(command):
    begun = time.time()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"suite.py: {' '.join(map(str, command))} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout, time.time() - begun


def program_row(program, model, train, test, pages):
    """Returns the row and report of a model, with intervals as for the simple rules: equal sets are one observation."""
    report = json.loads(run([program, "eval", "--json", "--model", model, "--baselines", "--train", train, test])[0])
    own = report["baselines"]["model"]
    row = {"exact": own["exact"]["mean"], "low": own["exact"]["low"], "high": own["exact"]["high"],
           "tau": own["tau"]["mean"], "neighbours": report["neighbours"]["mean"]}
    if pages:
        groups = json.loads(run([program, "eval", "--json", "--group", "source", "--model", model, test])[0])["by_group"]
        row["newspapers"] = next(g for g in groups if g["group"] == "austrian")["neighbours"]["mean"]
    return row, report


def rows_of(task, args, done):
    """Yields a row per method that has none yet."""
    program, (train, test) = args.program, paths(args.data, task)
    pages = task == "pages"
    wanted = [m for m in METHODS if (task, m) not in done]
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "m.safetensors")
        if set(wanted) & {"OrderNet", "guessing", "best column", "linear ranker"}:
            _, seconds = run([program, "train", "--data", train, "--model", model, "--quiet", *args.machine])
            row, report = program_row(program, model, train, test, pages)
            yield {"method": "OrderNet", "seconds": seconds, **row}
            for ours, theirs in (("guessing", "guessing"), ("best column", "column"), ("linear ranker", "ranker")):
                found = report["baselines"].get(theirs)
                if found:
                    yield {"method": ours, "exact": found["exact"]["mean"], "low": found["exact"]["low"],
                           "high": found["exact"]["high"], "tau": found["tau"]["mean"],
                           "settings": str(found.get("name", "")), "seconds": found.get("seconds", "")}
        if "OrderNet --tune" in wanted:
            model = os.path.join(folder, "t.safetensors")
            group = ["--group-column", "doc"] if pages and args.groups else []
            out, seconds = run([program, "train", "--data", train, "--tune", args.tune, "--model", model, *group, *args.machine])
            command = next(line for line in out.splitlines() if line.startswith("ordernet train"))
            settings = command.split("--model ")[1].split(" ", 1)
            yield {"method": "OrderNet --tune", "seconds": seconds, **program_row(program, model, train, test, pages)[0],
                   "settings": f"--tune {args.tune}: {settings[1] if len(settings) > 1 else 'default'}"}
        if "trees on pairs" in wanted:
            begun = time.time()
            sets = read(test)
            exact, tau, neighbours = measure(sets, trees(read(train), sets))
            yield {"method": "trees on pairs", "exact": exact, "tau": tau, "neighbours": neighbours,
                   "seconds": time.time() - begun}


def load(path):
    if not path.exists():
        return []
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def save(path, rows):
    key = {(t, m): i for i, (t, m) in enumerate((t, m) for t in TASKS for m in METHODS)}
    rows.sort(key=lambda r: key.get((r["task"], r["method"]), len(key)))
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def shown(row, best):
    if not row:
        return ""
    text = f"{100 * float(row['exact']):.1f}"
    if row.get("newspapers"):
        text += f" / {100 * float(row['newspapers']):.1f}"
    return f"**{text}**" if float(row["exact"]) == best else text


def table(rows):
    print("| task | " + " | ".join(METHODS) + " | seconds: trees, OrderNet, tuned |\n" + "| --- " * (len(METHODS) + 2) + "|")
    for task in TASKS:
        found = {r["method"]: r for r in rows if r["task"] == task}
        if not found:
            continue
        best = max(float(r["exact"]) for r in found.values())
        if "guessing" in found and best <= float(found["guessing"]["high"]):
            best = None  # none can be told from guessing
        times = [f"{float(found[m]['seconds']):.0f}" if m in found else "-" for m in METHODS[3:]]
        print(f"| {task} | " + " | ".join(shown(found.get(m), best) for m in METHODS) + " | " + ", ".join(times) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("ORDERNET_SHARED", ROOT / "../shared")) / "data")
    parser.add_argument("--tune", default="5m")
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--program", default=str(ROOT / "ordernet"))
    parser.add_argument("--out", type=Path, default=HERE / "results.csv")
    parser.add_argument("--threads", help="of training; the models are the same for any number")
    parser.add_argument("--groups", action="store_true", help="keep the pages of a document in one part")
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    args.machine = ["--threads", args.threads] if args.threads else []
    rows = load(args.out)
    if not args.table:
        for task in args.tasks.split(","):
            done = {(r["task"], r["method"]) for r in rows}
            for row in rows_of(task, args, done):
                rows = [r for r in load(args.out) if (r["task"], r["method"]) != (task, row["method"])]
                rows.append({"task": task, **{k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()}})
                save(args.out, rows)
                print(task, row["method"], f"{100 * row['exact']:.2f}%", flush=True)
    table(load(args.out))


if __name__ == "__main__":
    main()
