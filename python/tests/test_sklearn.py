"""Tests that scikit-learn's tools and joblib work on lists of sets, and that the package works with NumPy alone."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import ordernet
from conftest import SMALL, make_sets


def sklearn(name):
    return pytest.importorskip(
        f"sklearn.{name}", reason="scikit-learn is not installed: its conventions were not tested"
    )


def test_clone(small):
    base = sklearn("base")
    twin = base.clone(small)
    assert twin.get_params() == small.get_params() and not hasattr(twin, "history_")
    with pytest.raises(ordernet.NotFittedError):
        twin.predict(make_sets(3, 1)[0])
    tuned = base.clone(ordernet.OrderNet(pretrained="some.safetensors"))
    assert tuned.pretrained == "some.safetensors"


def test_clone_keeps_what_a_training_starts_with(small, data):
    """scikit-learn clones a fitted model that is a parameter without its fit."""
    base, selection = sklearn("base"), sklearn("model_selection")
    tuned = ordernet.OrderNet(**{**SMALL, "epochs": 1}, pretrained=small)
    assert tuned.get_params()["pretrained"] is small
    twin = base.clone(base.clone(tuned))
    assert twin.get_params(deep=False) == base.clone(tuned).get_params(deep=False)
    expected = tuned.fit(*data)
    assert expected.record_["from.sha256"] == small.checksum_
    assert twin.fit(*data).to_bytes() == pickle.loads(pickle.dumps(base.clone(tuned))).fit(*data).to_bytes() == expected.to_bytes()
    assert "pretrained=<the weights of a fitted model, " in repr(twin)
    scores = selection.cross_val_score(tuned, *data, cv=3, error_score="raise")
    assert scores.shape == (3,) and (scores > 0.5).all()
    grid = selection.GridSearchCV(ordernet.OrderNet(**SMALL), {"pretrained": [small]}, cv=2, error_score="raise")
    with pytest.raises(ordernet.NotFittedError, match="give the path of its file"):
        grid.fit(*data)


def test_cross_validation(data):
    selection = sklearn("model_selection")
    scores = selection.cross_val_score(ordernet.OrderNet(**SMALL), *data, cv=3)
    assert scores.shape == (3,) and (scores > 0.5).all()


def test_parts_of_sets_keep_all_that_belongs_to_them(tmp_path, data):
    """scikit-learn takes sets by index arrays: names, relations and context items must not be lost on the way."""
    selection = sklearn("model_selection")
    rng = np.random.default_rng(2)
    sets = [rng.normal(size=(n, 1)) + 1e9 for n in rng.integers(3, 6, 90)]
    pairs = [rng.normal(size=(len(s), len(s))) for s in sets]
    flags = [np.arange(len(s)) == 0 for s in sets]
    orders = [1 + np.argsort(p[0, 1:]) for p in pairs]  # the relation from the context item says it
    given = ordernet.Sets(sets, orders, ["x"], "mean", pairs, ["far"], context=flags)
    for key in ([4, 1, 1, 89], slice(3, 60, 2), np.array([5, 9]), np.arange(90) % 7 == 0, [-1, 0]):
        part, which = given[key], np.arange(90)[key]
        assert len(part) == len(which) and part.features == ["x"] and part.relations == ["far"]
        for s, of in enumerate(which):
            assert np.array_equal(part[s], sets[of]) and np.array_equal(part.orders[s], orders[of])
            assert np.array_equal(part.pairs[s], given.pairs[of]) and np.array_equal(part.context[s], flags[of])
    assert np.array_equal(given[[3, 2]][[1, 0]][1], sets[3])
    some = ordernet.Sets(sets[:3], context=[flags[0], None, None])
    assert some[1:].context is None and pickle.loads(pickle.dumps(some[[2, 1]])).context is None
    for y in (orders, None):
        for cv in (3, selection.ShuffleSplit(2, random_state=1)):
            net = ordernet.OrderNet(**{**SMALL, "epochs": 1})
            found = selection.cross_validate(net, given, y, cv=cv, return_estimator=True, error_score="raise")
            for one in found["estimator"]:
                assert [row["feature"] for row in one.importance(given, repeats=1)] == ["x", "far"]
    path = tmp_path / "s.jsonl"
    path.write_text('{"items": [[1], [2]], "first": 0}\n{"items": [[1], [2]]}\n')
    assert len(ordernet.Sets.read(path)[[0]]) == 1
    for key, error, sentence in (
        ([90], ordernet.UnknownSetError, "there is no set 90: there are 90"),
        ([True], ordernet.UnknownSetError, "a mask of 1 truth values for 90 sets"),
        ([], ordernet.WrongTypeError, "expected numbers of sets"),
        ([0.5], ordernet.WrongTypeError, "expected numbers of sets"),
        (slice(5, 5), ordernet.DataError, "none is taken"),
    ):
        with pytest.raises(error, match=sentence):
            given[key]
    with pytest.raises(ordernet.UsageError, match="sets with constraints"):
        ordernet.Sets.read(path)[[1, 0]]


def test_learning_curve():
    """More sets of one easy order help."""
    selection = sklearn("model_selection")
    data, net = make_sets(300, 3), ordernet.OrderNet(**SMALL)
    sizes, _, exact = selection.learning_curve(net, *data, train_sizes=[0.1, 1.0], cv=3)
    assert sizes.tolist() == [20, 200] and exact[1].mean() > exact[0].mean() + 0.1


def test_grid_search(data):
    selection = sklearn("model_selection")
    search = selection.GridSearchCV(ordernet.OrderNet(**SMALL), {"epochs": [1, 8]}, cv=2).fit(*data)
    assert search.best_params_ == {"epochs": 8}
    assert search.score(*make_sets(50, 8)) > 0.5
    array = np.random.default_rng(1).normal(size=(60, 4, 2)).astype(np.float32)
    assert selection.cross_val_score(ordernet.OrderNet(**SMALL), array, np.argsort(array[:, :, 0]), cv=2).shape == (2,)


def test_joblib_processes_and_threads(small, data):
    joblib = pytest.importorskip("joblib", reason="joblib is not installed: it was not tested")
    parts = [data[0][i::4] for i in range(4)]
    expected = [small.predict(part) for part in parts]
    for backend in ("loky", "threading"):
        found = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(small.predict)(part) for part in parts)
        assert all(np.array_equal(a, b) for x, y in zip(found, expected) for a, b in zip(x, y))


def test_works_after_a_fork(small, data):
    """The child has none of the threads that the parent's orderers hold."""
    expected = small.predict(data[0])
    child = os.fork()
    if child == 0:
        same = all(np.array_equal(a, b) for a, b in zip(small.predict(data[0]), expected))
        os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_needs_none_of_them():
    """The package imports, trains and orders where only NumPy is to be had."""
    code = """
import sys
for name in ("sklearn", "pandas", "matplotlib", "tqdm", "joblib", "scipy"):
    sys.modules[name] = None
import numpy as np, ordernet
x = np.random.default_rng(1).normal(size=(40, 4, 2)).astype(np.float32)
m = ordernet.OrderNet(epochs=1, hidden=8, progress=False).fit(x, np.argsort(x[:, :, 0]))
assert len(m.predict(x)) == 40
try:
    ordernet.plot
except AttributeError:
    import ordernet.plot
try:
    ordernet.plot.learning_curve(m)
except ImportError as error:
    assert "matplotlib" in str(error)
else:
    raise SystemExit("no matplotlib, and no word of it")
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
