"""Tests the comparison with baselines: compare(), the report after fit, the linear ranker, boosted trees."""

import pickle
import subprocess
import warnings

import numpy as np
import pytest

import ordernet
from conftest import SMALL, make_sets


def sum_sets(count, seed, sizes=(4, 5, 6)):
    """Sets in the order of a weighted sum, the largest first."""
    rng = np.random.default_rng(seed)
    sets = [rng.normal(size=(rng.choice(sizes), 3)).astype(np.float32) for _ in range(count)]
    return sets, [np.argsort(-(s @ [1, -2, 0.5])) for s in sets]


def noise_sets(count, seed):
    rng = np.random.default_rng(seed)
    sets = make_sets(count, seed)[0]
    return sets, [rng.permutation(len(s)) for s in sets]


def test_report_names_the_column(data):
    model = ordernet.OrderNet(**SMALL).fit(*data, valid=make_sets(100, 9))
    report = model.report_
    assert report["sets"] == 100 and report["best"] == "column" and not report["model_failed"]
    assert report["column"]["feature"] == 0 and not report["column"]["falling"]
    assert report["column"]["exact"][0] == 1
    assert 0 < report["guessing"]["exact"][0] < 0.1 and report["guessing"]["exact"][1] < report["guessing"]["exact"][2]
    assert report["model"]["exact"] == model.evaluate(*make_sets(100, 9))["exact"]
    assert "feature 1 alone, smallest value first" in report["conclusion"]
    assert not hasattr(ordernet.OrderNet(**SMALL).fit(*data), "report_")
    with pytest.raises(AttributeError):
        model.fit(*data).report_


def test_noise_is_no_better_than_guessing():
    with pytest.warns(UserWarning, match="No better than guessing"):
        model = ordernet.OrderNet(**SMALL).fit(*noise_sets(200, 1), valid=noise_sets(200, 2))
    assert model.report_["model_failed"] and model.report_["best"] == "guessing"


def test_valid_limit_holds_for_the_report(data):
    valid = make_sets(100, 9)
    model = ordernet.OrderNet(**SMALL, valid_limit=30).fit(*data, valid=valid)
    assert model.report_["sets"] == 30
    assert model.report_["model"]["exact"] == model.evaluate(valid[0][:30], valid[1][:30])["exact"]


def test_ranker(tmp_path, program):
    train, test = sum_sets(300, 1), sum_sets(100, 2)
    ranker = ordernet.Ranker().fit(*train, valid=test)
    assert ranker.kind_ == "ranker" and ranker.score(*test) > 0.95
    assert ranker.coef_[0] > 0 > ranker.coef_[1] and abs(ranker.coef_[1] / ranker.coef_[0] + 2) < 0.1
    assert ranker.report_["best"] == "ranker"
    path = tmp_path / "r.safetensors"
    ranker.save(path)
    again = ordernet.load(path)
    assert again.kind_ == "ranker" and again.checksum_ == ranker.checksum_
    assert all((a == b).all() for a, b in zip(again.predict(test[0]), ranker.predict(test[0])))
    assert pickle.loads(pickle.dumps(ranker)).checksum_ == ranker.checksum_
    # The program trains the same one.
    ordernet.Sets(*train).write(tmp_path / "train.safetensors")
    subprocess.run(
        [program, "train", "--ranker", "--quiet", "--data", tmp_path / "train.safetensors", "--model", tmp_path / "p.safetensors"],
        check=True,
    )
    assert ordernet.load(tmp_path / "p.safetensors").checksum_ == ranker.checksum_
    wide = np.random.default_rng(3)
    heavy = [np.exp(5 * wide.standard_normal((6, 2))) for _ in range(200)]
    by_first = [np.argsort(items[:, 0]) for items in heavy]
    ranked = ordernet.Ranker(scale="quantile", within=True).fit(heavy[:150], by_first[:150])
    assert ranked.scales_ and "rank within the set" in list(ranked.scales_.values())[0]
    assert ranked.evaluate(heavy[150:], by_first[150:])["exact"][0] > 0.9
    with pytest.raises(ordernet.UsageError, match="scale"):
        ordernet.Ranker(scale=3).fit(*train)
    assert ordernet.Ranker(threads=2, penalty=0.1).get_params()["penalty"] == 0.1
    with pytest.raises(ordernet.UsageError, match="penalty"):
        ordernet.Ranker(penalty="much").fit(*train)
    with pytest.raises(ordernet.DataError, match="right orders"):
        ordernet.Ranker().fit(train[0])


def test_sets_learned_from_are_called_so():
    sets, orders = sum_sets(60, 4)
    more, right = sum_sets(20, 5)
    with pytest.warns(UserWarning, match="the model was trained on these sets: the figures say nothing about new data"):
        model = ordernet.Ranker().fit(sets, orders, valid=(sets, orders))
    assert model.report_["learned_sets"] == 60
    with pytest.warns(UserWarning, match="the model was trained on 5 of the 25 validation sets"):
        ordernet.Ranker().fit(sets, orders, valid=(more + sets[:5], right + orders[:5]))
    assert ordernet.Ranker().fit(sets, orders, valid=(more, right)).report_["learned_sets"] == 0
    found = ordernet.compare(sets, orders, test=(sets[:20], orders[:20]), model=ordernet.OrderNet(**SMALL), trees=False)
    assert found["learned_sets"] == 20 and "on 20 sets used in training" in str(found)


def test_a_ranker_needs_an_order():
    with pytest.raises(ordernet.DataError, match="no set has two items or more: there is no order to learn"):
        ordernet.Ranker().fit([[[1.0]], [[2.0]]], [[0], [0]])


def test_compare():
    train, test = sum_sets(150, 1, sizes=(3, 4)), sum_sets(80, 2, sizes=(3, 4))
    net = ordernet.OrderNet(**SMALL)
    found = ordernet.compare(*train, test=test, model=net, trees=False)
    assert [row["name"] for row in found["rows"]] == ["guessing", "best column: feature 2, rising", "linear ranker", "OrderNet"]
    assert found["sets"] == 80 and found["best"] == "ranker" and not hasattr(net, "checksum_")
    text = str(found)
    assert "on 80 sets not used in training" in text and text.endswith(found["conclusion"])
    held = ordernet.compare(*train, model=ordernet.Ranker(), trees=False, share=0.3)
    assert held["sets"] == 45 and held["rows"][-1]["name"] == "Ranker"
    for wrong in (dict(share=0), dict(share="20%"), dict(share=True), dict(trees="forest")):
        with pytest.raises(ordernet.UsageError, match=next(iter(wrong))):
            ordernet.compare(*train, **wrong)
    with pytest.raises(ordernet.DataError, match="right orders"):
        ordernet.compare(train[0])
    for wrong in (3, "net", ordernet.OrderNet):
        with pytest.raises(ordernet.OrderNetError, match="must be an OrderNet"):
            ordernet.compare(*train, model=wrong)


def test_compare_keeps_doubles():
    """Seconds of 2023, which float32 blurs: by time, 100% of the sets are right."""
    rng = np.random.default_rng(1)
    sets = [1.7e9 + rng.permutation(400)[:4, None].astype(np.float64) for _ in range(200)]
    orders = [np.argsort(items[:, 0]) for items in sets]
    for how in ({}, {"test": (sets[150:], orders[150:])}):
        found = ordernet.compare(sets[:150], orders[:150], trees=False, model=ordernet.Ranker(), **how)
        column = next(row for row in found["rows"] if row["name"].startswith("best column"))
        assert column["exact"][0] == 1 and found["rows"][-1]["exact"][0] == 1
        assert found["rows"][0]["exact"][0] == pytest.approx(1 / 24)  # guessing: no two items became equal


def test_compare_keeps_equal_sets_together():
    """Random orders that stand there six times each: what is measured was not used in training."""
    sets, orders = noise_sets(30, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ordernet.compare(sets * 6, orders * 6, trees=False, model=ordernet.OrderNet(epochs=60, drop=0.0))
        assert found["rows"][-1]["exact"][0] < 0.3
        day = [s // 10 for s in range(30)]
        by_day = ordernet.compare(sets, orders, trees=False, model=ordernet.Ranker(), groups=[f"day {d}" for d in day])
    assert by_day["sets"] == 10
    with pytest.raises(ordernet.UsageError, match="groups"):
        ordernet.compare(sets, orders, test=(sets, orders), groups=day)


def test_boosted_trees(monkeypatch):
    pytest.importorskip("sklearn", reason="scikit-learn is not installed: boosted trees were not compared")
    from threadpoolctl import threadpool_info  # scikit-learn needs it

    from ordernet import _compare

    train, test = make_sets(120, 1, sizes=(3, 4)), make_sets(60, 2, sizes=(3, 4))
    threads, trained = [], _compare._trees

    def watched(*given):
        threads.extend(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "openmp")
        return trained(*given)

    monkeypatch.setattr(_compare, "_trees", watched)
    # Several threads wait for each other in every small step; beside other tests that is most of the time.
    found = ordernet.compare(*train, test=test, model=ordernet.OrderNet(**SMALL), trees="sklearn", threads=1)
    trees = [row for row in found["rows"] if row["name"].startswith("boosted trees")]
    assert len(trees) == 1 and trees[0]["exact"][0] > 0.8 and trees[0]["seconds"] > 0
    assert threads and set(threads) == {1}
    with pytest.raises(ordernet.UsageError, match="threads"):
        ordernet.compare(*train, trees=False, threads=-1)


def test_trees_place_no_context_items():
    from ordernet import Sets
    from ordernet._compare import _measured, _trees

    class Smaller:
        """Says of a pair that the item with the smaller first feature comes first."""

        def fit(self, rows, labels):
            assert np.array_equal(labels, rows[:, 0] < rows[:, 6])
            return self

        def predict_proba(self, rows):
            return np.stack([rows[:, 0] > rows[:, 6], rows[:, 0] < rows[:, 6]], 1)

    sets, _ = make_sets(40, 3, width=2)
    flags = [one[:, 0] == one[:, 0].min() for one in sets]  # the item that would come first
    orders = [[i for i in np.argsort(one[:, 0]) if not flag[i]] for one, flag in zip(sets, flags)]
    given = Sets(sets, orders, context=flags)
    answers = _trees(lambda seed: Smaller(), given, given, 1)
    assert _measured(given, answers)["exact"][0] == 1
