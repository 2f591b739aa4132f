#!/usr/bin/env python3
"""When is OrderNet worth it? Five tasks, six ways to learn an order, the same examples for each.

    build/python/venv/bin/python experiments/rankers/compare.py     (after `make check-python`, which makes it)

Writes results.csv beside this file and prints the table of README.md; some minutes. Every method runs on one thread, and
its time is that of the CPU, so that other work on the machine does not count. Needs python3-sklearn and python3-xgboost,
and for the pages the data that $ORDERNET_SHARED names.
"""

import csv
import json
import os
import sys
import time
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # before they are loaded: of scikit-learn and XGBoost

import numpy as np
import xgboost
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge

import ordernet

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGES = Path(os.environ.get("ORDERNET_SHARED", ROOT.parent / "shared")) / "data/pages"
TRAIN, TEST = 2000, 500
LARGEST_PAGE = 40  # regions: all pairs of a page are rows of the pairwise classifier
SEED = 1


# ---- Tasks: (sets, orders) for training and for the test ----


def by(key, sizes=(5, 10), width=5):
    def make(rng, count):
        sets = [rng.normal(size=(rng.integers(sizes[0], sizes[1] + 1), width)).astype(np.float32) for _ in range(count)]
        return sets, [np.argsort(key(s), kind="stable") for s in sets]

    return lambda: (make(np.random.default_rng(SEED), TRAIN), make(np.random.default_rng(SEED + 1), TEST))


WEIGHTS = np.random.default_rng(7).normal(size=5)


def nonlinear(s):
    return s[:, 0] * s[:, 1] + np.abs(s[:, 2]) - 0.5 * s[:, 3] + np.sin(2 * s[:, 4])


def tours():
    def make(rng, count):
        sets = [rng.random((10, 2)).astype(np.float32) for _ in range(count)]
        return sets, [ordernet.exact_tour(s) for s in sets]

    return make(np.random.default_rng(SEED), TRAIN), make(np.random.default_rng(SEED + 1), TEST)


def pages():
    def read(name, most):
        rows = [json.loads(line) for line in open(PAGES / f"{name}.jsonl")]
        rows = [row for row in rows if 2 <= len(row["items"]) <= LARGEST_PAGE][:most]
        return [np.array(row["items"], np.float32) for row in rows], [np.array(row["order"]) for row in rows]

    return read("train", TRAIN), read("valid", TEST)


TASKS = {
    "linear score": by(lambda s: s @ WEIGHTS),
    "nonlinear score": by(nonlinear),
    "outward from the mean": by(lambda s: np.linalg.norm(s - s.mean(axis=0), axis=1), width=2),
    "tours of 10": tours,
    "reading order of pages": pages,
}


# Where an item stands among the others decides: OrderNet gets each feature relative to its set too (relative=True).
RELATIVE = ("outward from the mean", "tours of 10", "reading order of pages")


# ---- Methods: fit(sets, orders) gives a function from sets to orders ----


def places(order):
    place = np.empty(len(order), int)
    place[order] = np.arange(len(order))
    return place


def sorted_by(score):
    """Orders by the score of each item, lowest first; all items are scored in one call."""

    def order(sets):
        ends = np.cumsum([len(s) for s in sets])[:-1]
        return [np.argsort(part, kind="stable") for part in np.split(score(np.concatenate(sets)), ends)]

    return order


def with_ordernet(sets, orders, relative):
    return (
        ordernet.OrderNet(epochs=40, relative=relative, progress=False, seed=SEED, threads=1, device="cpu")
        .fit(sets, orders)
        .predict
    )


def with_ranker(sets, orders):
    model = xgboost.XGBRanker(
        objective="rank:pairwise", n_estimators=300, max_depth=6, learning_rate=0.1, n_jobs=1, random_state=SEED
    )
    relevance = np.concatenate([len(o) - 1 - places(o) for o in orders])
    model.fit(np.concatenate(sets), relevance, group=[len(s) for s in sets])
    return sorted_by(lambda items: -model.predict(items))


def with_regression(sets, orders, model):
    """Pointwise: the place of an item, as a share, from its own features."""
    model.fit(np.concatenate(sets), np.concatenate([places(o) / max(len(o) - 1, 1) for o in orders]))
    return sorted_by(model.predict)


def with_pairs(sets, orders, model, features):
    """Pairwise: which of two items comes first, from the features of both; a set is ordered by the wins of its items."""

    def pairs(s):
        i, j = (index.ravel() for index in np.mgrid[: len(s), : len(s)])
        i, j = i[i != j], j[i != j]
        return features(s[i], s[j]), i, j

    rows = [pairs(s) for s in sets]
    model.fit(
        np.concatenate([x for x, _, _ in rows]),
        np.concatenate([places(o)[i] < places(o)[j] for (_, i, j), o in zip(rows, orders)]),
    )

    def order(new):
        asked = [pairs(s) for s in new]
        first = model.predict_proba(np.concatenate([x for x, _, _ in asked]))[:, 1]
        found = []
        for s, (x, i, _) in zip(new, asked):
            found.append(np.argsort(-np.bincount(i, first[: len(x)], len(s)), kind="stable"))
            first = first[len(x) :]
        return found

    return order


def linear_regression(sets, orders):
    return with_regression(sets, orders, Ridge())


def boosted_regression(sets, orders):
    return with_regression(sets, orders, HistGradientBoostingRegressor(max_iter=300, random_state=SEED))


def linear_pairs(sets, orders):
    return with_pairs(sets, orders, LogisticRegression(C=100, max_iter=1000, fit_intercept=False), lambda a, b: a - b)


def boosted_pairs(sets, orders):
    model = HistGradientBoostingClassifier(max_iter=300, random_state=SEED)
    return with_pairs(sets, orders, model, lambda a, b: np.hstack([a, b, a - b]))


METHODS = {
    "OrderNet": with_ordernet,
    "XGBoost ranker": with_ranker,
    "pointwise, linear": linear_regression,
    "pointwise, boosted trees": boosted_regression,
    "pairwise, linear": linear_pairs,
    "pairwise, boosted trees": boosted_pairs,
}


# ---- Measures ----


def tau(a, b):
    p, q = places(a), places(b)
    n = len(p)
    if n < 2:
        return np.nan
    same = np.sign(p[:, None] - p) * np.sign(q[:, None] - q)
    return same.sum() / (n * (n - 1))


def main():
    rows = []
    for task, make in TASKS.items():
        if task.startswith("reading") and not PAGES.exists():
            print(f"skipped: no pages in {PAGES}", file=sys.stderr)
            continue
        train, test = make()
        for name, fit in METHODS.items():
            began = time.process_time()
            order = fit(*train, relative=task in RELATIVE) if fit is with_ordernet else fit(*train)
            fitted = time.process_time()
            answers = order(test[0])
            ordered = time.process_time()
            row = {
                "task": task,
                "method": name,
                "train": len(train[0]),
                "test": len(test[0]),
                "exact": round(float(np.mean([np.array_equal(a, o) for a, o in zip(answers, test[1])])), 4),
                "tau": round(float(np.nanmean([tau(a, o) for a, o in zip(answers, test[1])])), 4),
                "fit_seconds": round(fitted - began, 1),
                "order_microseconds": round((ordered - fitted) / len(test[0]) * 1e6),
            }
            rows.append(row)
            print(row, file=sys.stderr, flush=True)
    with open(HERE / "results.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    print(table(rows))


def table(rows):
    lines = [
        "| task | method | exact match | Kendall's tau | fit, s | order, µs per set |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        best = max(float(r["exact"]) for r in rows if r["task"] == row["task"]) == float(row["exact"])
        exact = f"{100 * float(row['exact']):.1f}%"
        lines.append(
            f"| {row['task']} | {row['method']} | {f'**{exact}**' if best else exact} | {float(row['tau']):.3f} | {row['fit_seconds']} | {row['order_microseconds']} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    if sys.argv[1:] == ["--table"]:
        print(table(list(csv.DictReader(open(HERE / "results.csv")))))
    else:
        main()
