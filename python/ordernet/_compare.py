"""The linear ranker (class Ranker, an estimator of the package), and comparisons with simple baselines.

compare() holds sets out, trains an OrderNet and measures it beside guessing, the best single column, the
ranker and boosted trees on pairs of items (made here, from xgboost or scikit-learn); report() compares a
trained model, for fit().
"""

from __future__ import annotations

import contextlib
import ctypes
import time
import warnings
from ctypes import byref, c_void_p
from typing import Any, Dict, List, Optional, Tuple, Union

import numpy as np

from . import _library
from ._arrays import _address
from ._engine import Answers, Engine
from ._library import (
    CompareOptions,
    ComparisonStruct,
    DataError,
    MissingPackageError,
    RankerOptions,
    Report,
    SetMeasure,
    SetsStruct,
    UsageError,
    WrongTypeError,
    call,
    lib,
)
from ._library import whole as _whole
from ._model import OrderNet, _check_orders, _triple
from ._sets import Sets, as_sets

_BEST = ("guessing", "column", "ranker", "model")


class Ranker(OrderNet):
    """The linear ranker: each item has a score, a weighted sum of its own features, and the highest goes first.

    It learns in about a second from a few thousand sets, is right where such a score decides the order, and has all
    methods of OrderNet. Its file is a model file like any other.

    Parameters
    ----------
    penalty
        on half the squares of the weights, beside the loss per step; 0: the one of 1e-7 to 0.1 that suits a fifth of
        the sets, held out for this, best.
    relative, scale, within, standardise, missing, beam, seed, threads, kernels, device
        as for OrderNet.

    Attributes, after ``fit``
    -------------------------
    coef_
        the weights of the standardised features; with relative=True then those of the relative ones.
    """

    def __init__(
        self,
        *,
        penalty: float = 0.0,
        relative: bool = False,
        scale: str = "auto",
        within: bool = False,
        standardise: bool = True,
        missing: str = "error",
        beam: int = 5,
        seed: int = 1,
        threads: int = 0,
        kernels: str = "auto",
        device: str = "auto",
        valid_limit: int = 2000,
    ) -> None:
        self.penalty = penalty
        self.relative = relative
        self.scale = scale
        self.within = within
        self.standardise = standardise
        self.missing = missing
        self.beam = beam
        self.seed = seed
        self.threads = threads
        self.kernels = kernels
        self.device = device
        self.valid_limit = valid_limit

    def fit(self, sets: Any, orders: Any = None, valid: Any = None) -> "Ranker":  # type: ignore[override]
        """Trains on sets and their right orders, as OrderNet.fit does; returns self."""
        train = as_sets(sets, orders, None, None, self.missing)
        _check_orders(train)
        valid_sets = None
        if valid is not None:
            by = train._struct.columns
            by = by if by and lib.onet_columns_missing(by) else None
            pair = valid if isinstance(valid, tuple) else (valid, None)
            by = None if isinstance(pair[0], Sets) else by
            valid_sets = as_sets(pair[0], pair[1], None, by, like=train._struct.columns)
        if isinstance(self.penalty, bool) or not isinstance(self.penalty, (int, float, np.number)):
            raise UsageError(f"penalty is {self.penalty!r}: it must be a number")
        options = RankerOptions(
            size=ctypes.sizeof(RankerOptions),
            penalty=float(self.penalty),
            relative=_library.flag(self.relative, "relative"),
            standardise=_library.flag(self.standardise, "standardise"),
            seed=_whole(self.seed, "seed", 0, 2**64 - 1),
            threads=_whole(self.threads, "threads", 0, 4096),
            scale=_library.text_bytes(self.scale, "scale"),
            within=_library.flag(self.within, "within"),
        )
        model = c_void_p()
        call("onet_ranker_train", byref(model), byref(train._struct), byref(options))
        self._take(Engine(model))
        self._report(train, valid_sets)
        return self

    def _take(self, engine: Engine) -> None:
        super()._take(engine)
        head = engine.tensors()["head.weight"][0]
        self.coef_ = head[: len(head) // 2].copy()


def report(model: OrderNet, train: Sets, valid: Sets, limit: int = 0) -> Dict[str, Any]:
    """Compares a model with simple rules, chosen on the sets that it was trained on, on sets that it has not seen."""
    shown = _first(valid, limit)
    each = model._each_of(shown)
    return _compared(model, train, shown, each, model.seed, model.threads)


def _first(sets: Sets, limit: int) -> Sets:
    """The first `limit` sets; all if limit is 0, or if there are constraints, which are stored for all sets together."""
    if not limit or len(sets) <= limit or sets._struct.constraint_count:
        return sets
    new = Sets.__new__(Sets)
    new.__dict__.update(sets.__dict__)
    new._struct = SetsStruct()
    ctypes.memmove(byref(new._struct), byref(sets._struct), ctypes.sizeof(SetsStruct))
    new._struct.count = limit
    new._start, new._held = sets._start[: limit + 1], sets
    return new


def _compared(
    model: Optional[OrderNet], train: Optional[Sets], test: Sets, each: Any, seed: int, threads: int
) -> Dict[str, Any]:
    options = CompareOptions(
        size=ctypes.sizeof(CompareOptions),
        seed=seed,
        threads=threads,
        is_ranker=int(model is not None and model._fitted().kind == "ranker"),
    )
    result = ComparisonStruct()
    call(
        "onet_compare",
        byref(result),
        None if train is None else byref(train._struct),
        byref(test._struct),
        each,
        byref(options),
    )
    return found_by(result, test.features, test if train is None else train)


def found_by(result: ComparisonStruct, names: Optional[List[str]], learned: Sets) -> Dict[str, Any]:
    """A comparison of the library's as a dict. names: of the features; learned: the sets that the model was trained on."""
    found: Dict[str, Any] = {"sets": result.guess.sets, "distinct_sets": result.distinct, "learned_sets": result.learned}
    for name, part in zip(_BEST, (result.guess, result.column, result.ranker, result.model)):
        if part.sets:
            found[name] = {"exact": _triple(part.exact), "tau": _triple(part.tau)}
    if result.feature >= 0:
        found["column"]["feature"] = result.feature if names is None else names[result.feature]
        found["column"]["falling"] = bool(result.falling)
    found["best"] = _BEST[result.conclusion]
    found["model_failed"] = bool(result.model_failed)
    found["conclusion"] = result.sentence.decode("utf-8", "replace")
    found["oddities"] = oddities(learned) if result.model_failed or result.model_beaten else []
    return found


def oddities(sets: Sets) -> List[str]:
    """What is odd about the training sets, a sentence each, most important first."""
    text = ctypes.create_string_buffer(4096)
    call("onet_sets_oddities", byref(sets._struct), text, len(text))
    return text.value.decode("utf-8", "replace").splitlines()


# ---- Rivals side by side ---------------------------------------------------------------------------------


class Comparison(Dict[str, Any]):
    """What ``compare`` found: a dict; ``print`` shows it as a table.

    rows: a dict per rival with name, exact and tau, each as (mean, low, high), and seconds of training and ordering
    (None where it takes no time to speak of); conclusion: which is enough, in a sentence; sets: those measured;
    learned_sets: those of them that the model was trained on, for which the figures say nothing about new data.
    """

    def __str__(self) -> str:
        learned = self["learned_sets"]
        which = "not used in training" if not learned else "used in training" if learned == self["sets"] else f"({learned} used in training)"
        lines = [f"{'on ' + str(self['sets']) + ' sets ' + which:<40} {'exact match, %':>24} {'tau':>26} {'seconds':>8}"]
        for row in self["rows"]:
            exact = "{:.2f} [{:.2f}, {:.2f}]".format(*(100 * x for x in row["exact"]))
            tau = "{:.4f} [{:.4f}, {:.4f}]".format(*row["tau"])
            seconds = "" if row["seconds"] is None else f"{row['seconds']:.1f}"
            lines.append(f"{row['name']:<40} {exact:>24} {tau:>26} {seconds:>8}")
        return "\n".join(lines + [self["conclusion"]])


def compare(
    sets: Any,
    orders: Any = None,
    *,
    test: Any = None,
    share: float = 0.2,
    model: Optional[OrderNet] = None,
    trees: Union[str, bool] = "auto",
    groups: Any = None,
    seed: int = 1,
    threads: int = 0,
) -> Comparison:
    """Compares guessing, the best single feature, the linear ranker, boosted trees and OrderNet on sets held out.

    sets, orders
        as for Sets; or a Sets that has orders.
    test
        the sets to measure with, (sets, orders) or a Sets; None: a `share` of the sets, drawn by the seed, which
        no method is trained on. Equal sets stay together, as do those of one group (groups, as for OrderNet.fit).
    model
        an OrderNet with the parameters to train with; it is left as it is. None: the defaults.
    trees
        "xgboost" or "sklearn": gradient boosting on pairs of items, whose probabilities are summed up; "auto": the
        first of them that is installed, none where neither is; False: none.
    seed, threads
        of all that is trained, the trees too; threads 0: one for each CPU. Where other programs keep the CPUs busy,
        scikit-learn's trees are faster with one.
    """
    if model is not None and not isinstance(model, OrderNet):
        raise WrongTypeError(f"model is {model!r}: it must be an OrderNet, or a Ranker, with the parameters to train with")
    given = as_sets(sets, orders, missing="error" if model is None else model.missing)
    if given._order is None:
        raise DataError("a comparison needs the right orders: give them as the second argument, or Sets that have them")
    if test is None:
        if isinstance(share, bool) or not isinstance(share, (int, float, np.number)) or not 0 < share < 1:
            raise UsageError(f"share is {share!r}: it must be a number between 0 and 1")
        if len(given) < 2:
            raise DataError(f"{len(given)} set is too few to hold some out")
        train, held = given._hold_out(float(share), groups, _whole(seed, "seed", 0, 2**64 - 1))[:2]
    elif groups is not None:
        raise UsageError("groups say how the sets are divided: leave out test")
    else:
        pair = test if isinstance(test, tuple) else (test, None)
        by = given._struct.columns
        by = by if by and lib.onet_columns_missing(by) and not isinstance(pair[0], Sets) else None
        train, held = given, as_sets(*pair, by=by, like=given._struct.columns)
    if held._order is None:
        raise DataError("the test sets have no orders to compare with: give (sets, orders)")
    boost = _booster(trees, _whole(threads, "threads", 0, 4096))
    net = OrderNet(seed=seed, threads=threads, progress=False) if model is None else type(model)(**model.get_params())
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of orders that look like ranks: the conclusion tells
        net.fit(train)
    each = net._each_of(held)
    seconds = time.perf_counter() - began
    began = time.perf_counter()
    found = _compared(net, train, held, each, seed, threads)
    simple = time.perf_counter() - began
    rows: List[Dict[str, Any]] = []

    def add(name: str, measures: Dict[str, Any], took: Optional[float]) -> None:
        rows.append({"name": name, "exact": measures["exact"], "tau": measures["tau"], "seconds": took})

    add("guessing", found["guessing"], None)
    if "column" in found:
        column = found["column"]
        name = column["feature"] if isinstance(column["feature"], str) else f"feature {column['feature'] + 1}"
        add(f"best column: {name}, {'falling' if column['falling'] else 'rising'}", column, None)
    if found["ranker"] and not isinstance(net, Ranker):
        add("linear ranker", found["ranker"], simple)
    conclusion = found["conclusion"]
    if boost is not None and held._items is not None and held.width:
        began = time.perf_counter()
        with _threads_of(boost[0], threads):
            answers = _trees(boost[1], train, held, seed)
        measured = _measured(held, answers)
        add(f"boosted trees on pairs ({boost[0]})", measured, time.perf_counter() - began)
        if measured["exact"][1] > found["model"]["exact"][2]:
            conclusion += " Boosted trees are better than the model."
    add(type(net).__name__, found["model"], seconds)
    return Comparison(sets=len(held), learned_sets=found["learned_sets"], rows=rows, best=found["best"], conclusion=conclusion)


def _measured(sets: Sets, orders: List[np.ndarray]) -> Dict[str, Any]:
    """Measures orders that something other than a model gave, such as boosted trees."""
    answers = Answers(sets, 1, False)
    answers.order[:] = np.concatenate(orders)
    each, report = (SetMeasure * len(sets))(), Report()
    call("onet_measure_each", each, byref(sets._struct), _address(answers.raw), None)
    lib.onet_measure_mean(byref(report), each, None, len(sets))
    return {"exact": _triple(report.exact), "tau": _triple(report.tau)}


# ---- Boosted trees ---------------------------------------------------------------------------------------

_MOST_PAIRS = 400_000  # to train on; more take minutes and add little


def _booster(which: Union[str, bool], threads: int) -> Optional[Tuple[str, Any]]:
    """The name of a package, and what makes its classifier of pairs."""
    if which not in ("auto", "xgboost", "sklearn", False):
        raise UsageError(f"trees is {which!r}: it must be 'auto', 'xgboost', 'sklearn' or False")
    if which in ("auto", "xgboost"):
        try:
            from xgboost import XGBClassifier

            return "xgboost", lambda seed: XGBClassifier(
                n_estimators=300, learning_rate=0.1, random_state=seed, n_jobs=threads
            )
        except ImportError:
            if which == "xgboost":
                raise MissingPackageError("trees='xgboost' needs the package xgboost") from None
    if which in ("auto", "sklearn"):
        try:
            from sklearn.ensemble import HistGradientBoostingClassifier

            return "scikit-learn", lambda seed: HistGradientBoostingClassifier(max_iter=300, random_state=seed)
        except ImportError:
            if which == "sklearn":
                raise MissingPackageError("trees='sklearn' needs the package scikit-learn") from None
    return None


def _threads_of(package: str, threads: int) -> Any:
    """Keeps scikit-learn's trees, which take all CPUs, to so many threads; xgboost's are told when they are made."""
    if package != "scikit-learn":
        return contextlib.nullcontext()
    from threadpoolctl import threadpool_limits  # scikit-learn needs it

    return threadpool_limits(threads or None)


def _pairs(items: np.ndarray) -> np.ndarray:
    """All pairs of a set, (n, n - 1 others): both items, their difference, and how both stand in the set."""
    n = len(items)
    rank = np.stack([np.searchsorted(np.sort(column), column) for column in items.T], 1) / max(n - 1, 1)
    mean, deviation = items.mean(0), items.std(0) + 1e-9
    own = np.concatenate([items, (items - mean) / deviation, rank], 1)
    first, second = np.nonzero(~np.eye(n, dtype=bool))
    return np.concatenate([own[first], own[second], items[first] - items[second], np.full((len(first), 1), n)], 1)


def _trees(make: Any, train: Sets, test: Sets, seed: int) -> List[np.ndarray]:
    """The orders that boosted trees give: they say of each pair which comes first, and an item's place is by the sum."""
    rows, labels, pairs = [], [], 0
    learned, asked_of = train._parts(train._array()), test._parts(test._array())
    right, count = train.orders, train._placed()
    for s in np.random.default_rng(seed).permutation(len(train)):
        items = np.asarray(learned[s], np.float64)
        n = len(items)
        if count[s] < 2:
            continue
        if pairs and pairs + n * (n - 1) > _MOST_PAIRS:
            break
        pairs += n * (n - 1)
        place = np.full(n, -1)
        place[right[s]] = np.arange(count[s])  # type: ignore[index]
        first, second = np.nonzero(~np.eye(n, dtype=bool))
        both = (place[first] >= 0) & (place[second] >= 0)  # those of context items say nothing
        rows.append(_pairs(items)[both])
        labels.append((place[first] < place[second])[both])
    if not rows:
        raise DataError("every set has one item: there is nothing to learn")
    classifier = make(seed).fit(np.concatenate(rows), np.concatenate(labels))
    sizes = test.sizes
    asked = [_pairs(np.asarray(items, np.float64)) for items in asked_of]
    first_is = classifier.predict_proba(np.concatenate(asked))[:, 1]
    orders, at, context = [], 0, test.context
    for s, n in enumerate(sizes):
        seen = np.zeros(n, bool) if context is None else context[s]
        against = np.broadcast_to(~seen, (n, n))[~np.eye(n, dtype=bool)].reshape(n, n - 1)  # the other item is placed
        sums = (first_is[at : at + n * (n - 1)].reshape(n, n - 1) * against).sum(1)
        at += n * (n - 1)
        orders.append(np.argsort(np.where(seen, np.inf, -sums), kind="stable").astype(np.int32))  # context items last
    return orders
