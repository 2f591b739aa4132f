"""Tests fit, predict, save, load, fine-tuning, calibration, feature importance and evaluation of an OrderNet;
training, orders, calibration and measures are compared with the program's."""

import copy
import inspect
import itertools
import json
import math
import pickle
import subprocess

import numpy as np
import pytest

import ordernet
from conftest import ROOT, SMALL, make_sets
from ordernet import _library


def same(a, b):
    return len(a) == len(b) and all(np.array_equal(x, y) for x, y in zip(a, b))


def test_learns_and_orders(small, data):
    sets, orders = make_sets(100, 2)
    answers = small.predict(sets)
    assert all(sorted(a) == list(range(len(s))) for a, s in zip(answers, sets))
    assert small.score(sets, orders) > 0.8
    assert small.score(*data) > 0.8
    shuffled = [np.roll(o, 1) for o in orders]
    assert small.score(sets, shuffled) < 0.2


def test_three_dimensions_and_lists_agree(small):
    array = np.random.default_rng(4).normal(size=(20, 5, 3)).astype(np.float32)
    assert same(small.predict(array), small.predict(list(array)))
    assert same(small.predict(array), small.predict(array.tolist()))
    assert same(small.predict(array), small.predict(array.astype(np.float64)))
    assert same(small.predict(array), small.predict(ordernet.Sets(array)))
    assert same(small.predict(array), [small.order(items) for items in array])


def test_float32_is_not_copied():
    array = np.zeros((7, 5, 3), np.float32)
    assert np.shares_memory(ordernet.Sets(array)[2], array)
    flat = np.zeros((9, 3), np.float32)
    sets = ordernet.Sets.flat(flat, [4, 5], [[0, 1, 2, 3], [4, 3, 2, 1, 0]])
    assert np.shares_memory(sets[1], flat)
    assert sets.sizes.tolist() == [4, 5]
    assert sets.orders[1].tolist() == [4, 3, 2, 1, 0]


def test_top_is_best_first(small, data):
    sets = data[0][:20]
    orders = small.predict(sets, top=3)
    assert [o.shape for o in orders] == [(3, len(s)) for s in sets]
    assert same([o[0] for o in orders], small.predict(sets))
    scores = [small.predict_log_proba([s] * 3, list(o)) for s, o in zip(sets, orders)]
    assert all(np.all(np.diff(p) <= 1e-9) for p in scores)
    assert small.predict([np.zeros((2, 3))], top=5)[0].shape == (2, 2)
    assert small.order(sets[0], top=2).shape == (2, len(sets[0]))


def test_log_proba_adds_up_to_one(small):
    items = np.random.default_rng(5).normal(size=(4, 3))
    every = [np.array(p) for p in itertools.permutations(range(4))]
    p = np.exp(small.predict_log_proba([items] * 24, every))
    assert abs(p.sum() - 1) < 1e-4
    best = small.predict_log_proba([items])[0]
    assert abs(np.exp(best) - p.max()) < 1e-5
    matrix = small.positions(items)
    exact = np.zeros((4, 4))
    for order, probability in zip(every, p):
        exact[order, np.arange(4)] += probability
    assert np.allclose(matrix, exact, atol=1e-4)
    drawn = small.positions(items, samples=23)  # fewer than the orders that there are
    assert np.allclose(drawn.sum(axis=0), 1) and np.allclose(drawn.sum(axis=1), 1)
    assert (
        np.abs(
            small.positions(np.vstack([items] * 2)[:7], samples=3000)
            - small.positions(np.vstack([items] * 2)[:7], samples=6000)
        ).max()
        < 0.06
    )
    assert np.array_equal(small.positions(items, samples=23), drawn)


def test_calibrate_agrees_with_the_program(tmp_path, program, data):
    model = ordernet.OrderNet(**SMALL).fit(*data)
    before, path, sets = model.to_bytes(), tmp_path / "m.safetensors", tmp_path / "s.jsonl"
    model.save(path)
    ordernet.Sets(*data).write(sets)
    old = model.evaluate(*data)
    with pytest.raises(ordernet.DataError, match="no sets"):
        model.calibrate([], [])
    with pytest.raises(ordernet.DataError):
        model.calibrate([np.zeros((2, 9))], [[0, 1]])
    assert model.to_bytes() == before
    found = model.calibrate(*data)
    command = [program, "calibrate", "--model", path, "--out", tmp_path / "c.safetensors", sets]
    subprocess.run(command, capture_output=True, check=True)
    assert model.to_bytes() == (tmp_path / "c.safetensors").read_bytes()
    assert float(model.record_["temperature"]) == pytest.approx(found["temperature"], abs=1e-4) != 1
    for now, when in ((old, "before"), (model.evaluate(*data), "after")):
        assert found[when] == {name: value for name, value in now.items() if not name.startswith("loglik")}
    assert model.checksum_ != ordernet.load(path).checksum_


def test_importance_finds_the_feature(small, data):
    rows = small.importance(*data, repeats=2)
    assert [row["feature"] for row in rows] == ["0", "1", "2"]
    assert rows[0]["exact"][0] > 0.5 > abs(rows[1]["exact"][0]) + abs(rows[2]["exact"][0])
    assert rows[0]["exact"][1] <= rows[0]["exact"][0] <= rows[0]["exact"][2]


def test_evaluate_agrees_with_the_program(small, tmp_path, program, data):
    model, sets = tmp_path / "m.safetensors", tmp_path / "s.jsonl"
    small.save(model)
    ordernet.Sets(*data).write(sets)
    ran = subprocess.run([program, "eval", "--json", "--model", model, sets], capture_output=True, check=True)
    theirs = json.loads(ran.stdout)
    ours = small.evaluate(*data)
    assert {"exact", "position", "tau", "loglik", "neighbours", "loglik_all", "calibration"} < set(ours)
    for name, values in ours.items():
        assert np.allclose(values, [theirs[name][end] for end in ("mean", "low", "high")], atol=1e-8), name
    lines = subprocess.run(
        [program, "order", "--model", model, sets], capture_output=True, check=True
    ).stdout.splitlines()
    assert same([json.loads(line)["order"] for line in lines], small.predict(data[0]))


def test_half_precision(tmp_path, program, data):
    small, whole = tmp_path / "half.safetensors", tmp_path / "whole.safetensors"
    model = ordernet.OrderNet(epochs=2, half=True, progress=False).fit(*data)
    model.save(small)
    subprocess.run([program, "convert", "--float", small, whole], check=True)
    assert small.stat().st_size < 0.7 * whole.stat().st_size
    for path in (small, whole):
        again = ordernet.load(path)
        assert again.checksum_ == model.checksum_ and again.record_["weights"] == "rounded to half precision"
        assert np.array_equal(again.predict_log_proba(data[0]), model.predict_log_proba(data[0]))


def test_save_load_pickle_deepcopy(small, tmp_path, data):
    expected = small.predict(data[0])
    path = tmp_path / "m.safetensors"
    small.save(path)
    assert path.read_bytes() == small.to_bytes()
    for other in (
        ordernet.load(path),
        ordernet.load(str(path)),
        pickle.loads(pickle.dumps(small)),
        copy.deepcopy(small),
    ):
        assert same(other.predict(data[0]), expected)
        assert other.checksum_ == small.checksum_ and other.n_features_in_ == 3
    again = pickle.loads(pickle.dumps(small))
    assert again.get_params() == small.get_params() and again.history_["loss"] == small.history_["loss"]
    unfitted = pickle.loads(pickle.dumps(ordernet.OrderNet(epochs=7)))
    assert unfitted.epochs == 7
    with pytest.raises(ordernet.NotFittedError):
        unfitted.predict(data[0])


def test_shipped_models():
    assert ordernet.load("tsp").n_features_in_ == ordernet.load("tours").n_features_in_ == 2
    words = ordernet.load("words")
    assert words.order(["name", "my", "is"]).tolist() in ([1, 0, 2], [0, 2, 1], [2, 1, 0])
    assert words.n_parameters_ > 1000 and words.record_["seed"]


def test_defaults_are_the_librarys():
    options = _library.TrainOptions()
    _library.lib.onet_train_defaults(_library.byref(options), _library.ctypes.sizeof(options))
    plain, _ = ordernet.OrderNet()._options()
    names = {"size", "settings", "progress", "context", "from_", "world", "model_path", "best", "kernels", "device"}
    for name, _ in options._fields_:
        if name not in names:
            assert getattr(plain, name) == getattr(options, name), name
    for name, _ in options.settings._fields_:
        if name not in ("width", "reserved"):
            assert getattr(plain.settings, name) == getattr(options.settings, name), name


def test_parameters_by_name():
    model = ordernet.OrderNet(epochs=3)
    assert model.get_params()["epochs"] == 3
    assert list(model.get_params()) == list(inspect.signature(ordernet.OrderNet).parameters)
    assert model.set_params(epochs=4, seed=9) is model and model.epochs == 4 and model.seed == 9
    assert repr(model) == "OrderNet(epochs=4, seed=9)"
    assert repr(ordernet.Ranker()) == "Ranker()" and repr(ordernet.Ranker(seed=2)) == "Ranker(seed=2)"
    with pytest.raises(ordernet.UsageError, match="there is no parameter 'epoch'"):
        model.set_params(epoch=1)


def test_state_dict_is_that_of_the_file(small):
    state = small.state_dict()
    assert state["input.mean"].shape == (3,) and state["input.mean"].dtype == np.float32
    total = sum(math.prod(v.shape) for k, v in state.items() if not k.startswith("input."))
    assert total >= small.n_parameters_
    state["input.mean"][:] = 0  # a copy: the model stays as it is
    assert small.state_dict()["input.mean"].any()


def test_fine_tuning(small, data, tmp_path):
    path = tmp_path / "m.safetensors"
    small.save(path)
    model = ordernet.OrderNet.from_pretrained(path, epochs=2, learning_rate=1e-3, progress=False, threads=1)
    assert same(model.predict(data[0]), small.predict(data[0]))
    few = (data[0][:40], [np.argsort(-s[:, 0]) for s in data[0][:40]])  # now falling
    before = model.predict_log_proba(*few).mean()
    model.fit(*few)
    assert model.record_["from.sha256"] == small.checksum_
    assert model.predict_log_proba(*few).mean() > before
    assert (
        ordernet.OrderNet(pretrained=small, epochs=1, progress=False).fit(*few).record_["from.sha256"]
        == small.checksum_
    )


def test_words_are_ordered_and_fine_tuned():
    words = ordernet.load("words")
    bags = [["is", "this", "fine"], ["are", "you", "how", "?"]]
    assert [sorted(o) for o in words.predict(bags)] == [[0, 1, 2], [0, 1, 2, 3]]
    tuned = ordernet.OrderNet(pretrained=words, epochs=1, progress=False, threads=1)
    tuned.fit(bags * 4, [[1, 0, 2], [2, 0, 1, 3]] * 4)
    assert tuned.predict_log_proba(bags, [[1, 0, 2], [2, 0, 1, 3]]).shape == (2,)


def test_version_is_the_headers():
    header = (ROOT / "include/ordernet.h").read_text()
    assert f"#define ONET_VERSION_MINOR {ordernet.__version__.split('.')[1]}" in header


def test_same_bytes_as_the_command(tmp_path, program, data):
    sets = tmp_path / "s.jsonl"
    ordernet.Sets(*data).write(sets)
    command = [
        program,
        "train",
        "--quiet",
        "--data",
        sets,
        "--model",
        tmp_path / "theirs.safetensors",
        "--device",
        "cpu",
    ]
    for name, value in SMALL.items():
        if name not in ("progress",):
            command += ["--" + name.replace("_", "-"), str(value)]
    subprocess.run(command, check=True)
    theirs = (tmp_path / "theirs.safetensors").read_bytes()
    read = ordernet.OrderNet(**SMALL, device="cpu").fit(ordernet.Sets.read(sets))
    assert read.to_bytes() == theirs
    # Arrays have no file whose checksum the record could hold; all that decides an answer is the same.
    arrays = ordernet.OrderNet(**SMALL, device="cpu").fit(*data)
    assert arrays.checksum_ == read.checksum_
    assert arrays.record_["data.sha256"] == "" != read.record_["data.sha256"]
