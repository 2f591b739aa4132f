"""Tests class Sets, made of files in every format, arrays and data frames: names, missing values, categories,
context items and relations.
"""

import io
import json
import pickle
import subprocess

import numpy as np
import pytest

import ordernet
from conftest import ROOT, SMALL, make_sets
from ordernet import DataError, Sets, UsageError


@pytest.mark.parametrize("ending", ["jsonl", "csv", "npz", "safetensors", "jsonl.gz"])
def test_formats(ending, tmp_path):
    sets, orders = make_sets(10, 1, sizes=(4,))
    path = tmp_path / f"sets.{ending}"
    Sets(sets, orders).write(path)
    read = Sets.read(path)
    assert len(read) == 10 and read.width == 3 and read.sizes.tolist() == [4] * 10
    assert all(np.array_equal(a, b) for a, b in zip(read, sets))
    assert all(np.array_equal(a, b) for a, b in zip(read.orders, orders))


@pytest.mark.parametrize("ending", ["jsonl", "safetensors"])
def test_files_that_say_how_they_were_made(ending, tmp_path):
    sets, orders = make_sets(3, 1)
    old, new = tmp_path / f"old.{ending}", tmp_path / f"new.{ending}"
    Sets(sets, orders).write(old)
    text = old.read_bytes()
    if ending == "jsonl":
        text = text.replace(b"}", b', "made": "ordernet tsp generate"}', 1)
    else:
        size = int.from_bytes(text[:8], "little")
        header = text[8 : 8 + size].replace(b'{"format"', b'{"made":"ordernet tsp generate","format"', 1)
        text = len(header).to_bytes(8, "little") + header + text[8 + size :]
    new.write_bytes(text)
    assert b"tsp generate" in text
    assert all(np.array_equal(a, b) for a, b in zip(Sets.read(new), sets))
    assert all(np.array_equal(a, b) for a, b in zip(Sets.read(new).orders, orders))


def test_examples_of_the_repository():
    sets = Sets.read(ROOT / "examples/data/sort.jsonl")
    assert sets.orders is not None and "with orders" in repr(sets)
    assert Sets.read(ROOT / "examples/data/tours.txt", width=2).width == 2
    people = Sets.read(ROOT / "examples/data/people.csv")
    assert len(people) > 1


def test_columns_of_csv(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("ticket,place,a,b\n1,2,10,20\n1,1,30,40\n")
    sets = Sets.read(path, set="ticket", rank="place", features=["b"])
    assert sets[0].tolist() == [[20], [40]] and sets.orders[0].tolist() == [1, 0]
    with pytest.raises(DataError, match="nothing"):
        Sets.read(path, set="nothing")
    path.write_text("set;rank;a\n1;2;10\n1;1;30\n")
    assert Sets.read(path, delimiter=";").orders[0].tolist() == [1, 0]
    for wrong in ("", ";;", "\0", "é", 3):
        with pytest.raises(UsageError, match="delimiter"):
            Sets.read(path, delimiter=wrong)


def test_views_outlive_their_sets(tmp_path):
    path = tmp_path / "s.safetensors"
    Sets(*make_sets(50, 1)).write(path)
    expected = [s.copy() for s in Sets.read(path)]
    parts = [Sets.read(path)[s] for s in range(50)]
    orders = [Sets.read(path).orders[s] for s in range(50)]
    assert all(np.array_equal(a, b) for a, b in zip(parts, expected))
    assert all(sorted(o) == list(range(len(o))) for o in orders)


def test_looking_at_sets():
    sets, orders = make_sets(5, 1)
    both = Sets(sets, orders, features=["a", "b", "c"])
    assert np.array_equal(both[-1], sets[-1]) and len(list(both)) == 5
    with pytest.raises(IndexError):
        both[5]
    again = pickle.loads(pickle.dumps(both))
    assert np.array_equal(again[3], both[3]) and again.features == ["a", "b", "c"]
    other = both.with_orders([np.arange(len(s)) for s in sets])
    assert np.shares_memory(other[0], both[0]) and other.orders[0].tolist() == list(range(len(sets[0])))
    assert both.orders[0].tolist() == orders[0].tolist()


def test_context_and_constraints_of_files(tmp_path, small):
    path = tmp_path / "s.jsonl"
    path.write_text('{"items": [[1, 0, 0], [2, 0, 0], [3, 0, 0]], "last": 0}\n')
    assert small.predict(Sets.read(path))[0][-1] == 0


@pytest.fixture(scope="module")
def seen():
    """Sets in which item 1 is context: its first feature says whether the others rise or fall. Orders, and flags."""
    rng = np.random.default_rng(4)
    sets = [rng.normal(size=(n, 2)).astype(np.float32) for n in rng.integers(4, 7, 400)]
    flags = [np.arange(len(one)) == 1 for one in sets]
    orders = [[i for i in np.argsort(one[:, 1] * np.sign(one[1, 0])) if i != 1] for one in sets]
    return sets, orders, flags


@pytest.fixture(scope="module")
def by_context(seen):
    sets, orders, flags = seen
    return ordernet.OrderNet(**{**SMALL, "epochs": 12}).fit(Sets(sets, orders, ["x", "y"], context=flags))


def test_context_items_of_arrays(seen, by_context, tmp_path):
    """Context items are seen, and take no place: answers and orders leave them out, whatever the sets were made of."""
    sets, orders, flags = seen
    both = Sets(sets, orders, ["x", "y"], context=flags)
    assert by_context.score(both) > 0.6  # the order cannot be known without them
    for name in ("s.npz", "s.safetensors", "s.jsonl", "s.csv"):
        both.write(tmp_path / name)
    flat = Sets.flat(np.concatenate(sets), both.sizes, orders, ["x", "y"], context=np.concatenate(flags))
    whole = Sets.flat(np.concatenate(sets), both.sizes, both._order, ["x", "y"], context=np.concatenate(flags).astype(int))
    held, left, _ = both._hold_out("50%", None, 1)
    read = [Sets.read(tmp_path / name) for name in ("s.npz", "s.safetensors", "s.jsonl", "s.csv")]
    expected = by_context.predict(both)
    for given in (both, flat, whole, pickle.loads(pickle.dumps(both)), both.with_orders(orders), *read):
        assert all(np.array_equal(a, b) for a, b in zip(given.orders, orders))
        assert all(np.array_equal(a, b) for a, b in zip(given.context, flags))
        assert all(np.array_equal(a, b) for a, b in zip(by_context.predict(given), expected))
    assert len(held) + len(left) == 400 and all(1 not in order for order in (*held.orders, *left.orders))
    assert all(sorted(a) == [i for i in range(len(s)) if i != 1] for a, s in zip(expected, sets))
    assert [a.shape for a in by_context.predict(both, top=3)] == [(3, len(s) - 1) for s in sets]
    assert by_context.score(Sets(sets, expected, ["x", "y"], context=flags)) == 1
    own = by_context.predict_log_proba(Sets(sets, context=flags))
    assert np.allclose(own, by_context.predict_log_proba(both, expected))
    assert Sets(sets, context=[None] * 400).context is None and Sets(sets, context=[0 * f for f in flags]).context is None
    assert [f.tolist() for f in Sets(sets[:2], context=[None, flags[1]]).context] == [[False] * len(sets[0]), flags[1].tolist()]
    hole = [one.copy() for one in sets]
    hole[0][0, 1] = np.nan
    assert Sets(hole, orders, missing="mean", context=flags).orders[0].tolist() == orders[0]
    for context, sentence in (
        (flags[:3], "there is context of 3 sets, but 400 sets"),
        ([[1]] * 400, "the context of set 1 has shape"),
        ([np.full(len(s), 2) for s in sets], "the context of set 1 has values that are neither 0 nor 1"),
        ([np.ones(len(s)) for s in sets], "set 1: all . items are context"),
        (1, "context is of type int"),
    ):
        with pytest.raises(DataError, match=sentence):
            Sets(sets, context=context)
    with pytest.raises(DataError, match="set 1: order.* is 1, a context item, which is never placed"):
        Sets(sets, [list(range(len(s))) for s in sets], context=flags)
    with pytest.raises(DataError, match=r"the order of set 1 has shape \(2,\) where .* for those that are placed"):
        Sets(sets, [[0, 2]] + orders[1:], context=flags)


@pytest.mark.parametrize("kind", ["int", "bool", "float", "text", "Int64", "truth"])
def test_context_items_of_frames(seen, by_context, tmp_path, program, kind):
    """A column `context` of a frame marks context items, and a column `logprob` is no feature, as in CSV."""
    pandas = pytest.importorskip("pandas")
    sets, orders, flags = seen
    sets, orders, flags = sets[:50], orders[:50], flags[:50]
    items, marked = np.concatenate(sets), np.concatenate(flags)
    frame = pandas.DataFrame({"set": np.repeat(np.arange(50), [len(s) for s in sets]), "x": items[:, 0], "y": items[:, 1]})
    frame["context"] = {
        "int": marked.astype(int),
        "bool": marked,
        "float": np.where(marked, 1, np.nan),
        "text": np.where(marked, "1", ""),
        "Int64": pandas.array(np.where(marked, 1, None), dtype="Int64"),
        "truth": np.where(marked, "True", "False"),
    }[kind]
    frame["logprob"] = -1.5
    given = Sets.from_frame(frame, "set")
    assert given.features == ["x", "y"] and np.concatenate(given.context).tolist() == marked.tolist()
    expected = by_context.predict(Sets(sets, context=flags))
    answer = by_context.predict_frame(frame, set="set")
    assert answer["rank"].isna().to_numpy().tolist() == answer["probability"].isna().to_numpy().tolist() == marked.tolist()
    for (_, part), order in zip(answer.groupby("set"), expected):
        assert part["rank"].to_numpy(dtype=float, na_value=np.nan)[order].tolist() == list(range(len(order)))
    assert by_context.predict_frame(frame.drop(columns="context"), set="set")["rank"].dtype == np.int64
    again = Sets.from_frame(answer, "set", "rank", features=["x", "y"])  # the answers as the right order
    assert by_context.score(again) == 1 and np.array_equal(again.orders[3], expected[3])
    parts = [part.drop(columns="set") for _, part in frame.groupby("set")]
    assert all(np.array_equal(a, b) for a, b in zip(by_context.predict(parts), expected))
    assert Sets(parts, orders).features == ["x", "y"] and by_context.score(Sets(parts, orders)) > 0.5
    matrix = by_context.positions(parts[0])
    assert matrix.shape == (len(sets[0]), len(sets[0]) - 1) and not matrix[1].any() and np.allclose(matrix.sum(axis=0), 1)
    assert np.array_equal(by_context.order(parts[0]), expected[0])
    with pytest.raises(UsageError, match="a column 'context' already"):
        Sets(parts, context=flags)
    if kind in ("int", "Int64"):
        by_context.save(tmp_path / "m.safetensors")
        frame.to_csv(tmp_path / "s.csv", index=False, float_format="%.9g")
        ran = [program, "order", "--model", tmp_path / "m.safetensors", "--kernels", "auto", tmp_path / "s.csv"]
        ranked = pandas.read_csv(io.StringIO(subprocess.run(ran, capture_output=True, text=True, check=True).stdout))
        assert ranked["rank"].fillna(-1).tolist() == answer["rank"].fillna(-1).tolist()
    named = Sets.from_frame(frame, "set", features=["x", "logprob"])
    assert named.features == ["x", "logprob"] and named.context is not None
    if kind in ("int", "bool"):
        named = Sets.from_frame(frame, "set", features=["x", "context"])
        assert named.features == ["x", "context"] and named.context is None and named[0][1, 1] == 1


def test_wrong_context_of_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"set": [1, 1, 1], "x": [3.0, 1.0, 2.0], "context": [0, 1, 0], "place": [1, np.nan, 0]})
    assert Sets.from_frame(frame, "set", "place").orders[0].tolist() == [2, 0]
    for changed, sentence in (
        (frame.assign(context=[0, 2, 0]), "column 'context': 2 in row 1 .* is neither 0 nor 1"),
        (frame.assign(place=[1, 2, 0]), "row 1 of the frame .* has a rank, but its 'context' is 1"),
        (frame.assign(context=0), "no number as its rank; a row that takes no place has 1 in a column 'context'"),
        (frame.assign(context=1, place=np.nan), "all 3 items are context"),
        (pandas.concat([frame, frame[["context"]]], axis=1), "more than one column 'context'"),
    ):
        with pytest.raises(DataError, match=sentence):
            Sets.from_frame(changed, "set", "place")
    with pytest.raises(DataError, match="set 1 has a column 'rank', which is the right order as a rule"):
        Sets([pandas.DataFrame({"x": [1, 2], "rank": [1, 0]})])
    assert Sets([pandas.DataFrame({"x": [1, 2], "rank": [1, 0]})], features=["x", "rank"]).width == 2


def test_padding_of_arrays(tmp_path):
    """Rows of NaN at the end of a set of a 3-D array are no items, as in .npz."""
    sets, orders = make_sets(200, 5)
    padded, order = np.full((200, 6, 3), np.nan, np.float32), np.full((200, 6), -1)
    for s, (one, right) in enumerate(zip(sets, orders)):
        padded[s, : len(one)], order[s, : len(one)] = one, right
    same = Sets(padded, order)
    assert same.sizes.tolist() == [len(one) for one in sets] and all(np.array_equal(a, b) for a, b in zip(same, sets))
    assert all(np.array_equal(a, b) for a, b in zip(same.orders, orders))
    assert Sets(padded, orders).orders[0].tolist() == orders[0].tolist()
    np.savez(tmp_path / "s.npz", items=padded)
    for missing in ("error", "mean"):
        model = ordernet.OrderNet(**SMALL, missing=missing).fit(padded, order)
        plain = ordernet.OrderNet(**SMALL, missing=missing).fit(sets, orders)
        assert np.array_equal(model.state_dict()["head.weight"], plain.state_dict()["head.weight"])
        expected = model.predict(sets)
        for given in (padded, padded.astype(np.float64), np.ma.masked_invalid(padded), Sets.read(tmp_path / "s.npz", model=model)):
            assert all(np.array_equal(a, b) for a, b in zip(model.predict(given), expected))
        assert model.score(padded, order) == model.score(sets, orders)
    model = ordernet.OrderNet(**SMALL, missing="mean").fit(padded, order)
    assert len(model.predict([padded[0]])[0]) == 6  # in a list, every row is an item
    hole = np.array([[[1, 2], [np.nan, np.nan], [3, 4]], [[1, np.nan], [2, 1], [np.nan, np.nan]]])
    assert Sets(hole, missing="mean").sizes.tolist() == [3, 2]
    pairs = np.arange(18.0).reshape(2, 3, 3)
    assert Sets(hole, missing="mean", pairs=pairs).pairs[1][:, :, 0].tolist() == [[0, 10], [12, 0]]
    assert Sets(hole, missing="mean", context=np.array([[0, 1, 0], [1, 0, -1]])).context[1].tolist() == [True, False]
    with pytest.raises(DataError, match="the order of set 2 names item 2, a row that is all NaN, which means padding"):
        Sets(hole, [[0, 1, 2], [1, 0, 2]], missing="mean")
    with pytest.raises(DataError, match="set 1 has no items: all of its rows are NaN"):
        Sets(np.full((1, 2, 2), np.nan), missing="mean")


def test_names_with_commas(tmp_path):
    """A list of names is a list of names: it is not divided at their commas."""
    path = tmp_path / "s.csv"
    path.write_text('set,"a,b",a,b,"""q",,rank\ns,1,5,6,3,4,0\ns,2,7,8,5,9,1\n')
    for names, rows in (
        (["a,b"], [[1], [2]]),
        (["b", "a,b", "a"], [[6, 1, 5], [8, 2, 7]]),
        (['"q', "a"], [[3, 5], [5, 7]]),
        ([""], [[4], [9]]),
        ("a,b", [[5, 6], [7, 8]]),
        ('"a,b",b', [[1, 6], [2, 8]]),
    ):
        read = Sets.read(path, features=names)
        assert read[0].tolist() == rows and read.features == (names if isinstance(names, list) else read.features)
    model = ordernet.Ranker().fit(Sets.read(path, features=["a,b", "b"]))
    assert model.feature_names_in_.tolist() == ["a,b", "b"]
    assert Sets.read(path, model=model)[0].tolist() == [[1, 6], [2, 8]]


def test_names_and_missing_values(tmp_path):
    sets, orders = make_sets(200, 1)
    holes = [s.copy() for s in sets]
    for s in holes[::3]:
        s[0, 1] = np.nan
    with pytest.raises(DataError, match="finite|missing"):
        Sets(holes, orders)
    with pytest.raises(UsageError, match="missing is 'zero'"):
        Sets(holes, orders, missing="zero")
    for how, width in (("mean", 3), ("indicator", 4)):
        filled = Sets(holes, orders, features=["a", "b", "c"], missing=how)
        assert filled.width == width and np.isfinite(filled[0]).all()
        model = ordernet.OrderNet(**SMALL).fit(filled, valid=(holes[:20], orders[:20]))
        assert model.n_features_in_ == 3 and model.feature_names_in_.tolist() == ["a", "b", "c"]
        assert model.score(holes, orders) > 0.5
        assert np.array_equal(model.order(holes[0]), model.predict(holes)[0])
        model.save(tmp_path / "m.safetensors")
        again = ordernet.load(tmp_path / "m.safetensors")
        assert again.feature_names_in_.tolist() == ["a", "b", "c"]
        assert np.array_equal(again.predict(holes)[3], model.predict(holes)[3])
        tuned = ordernet.OrderNet(pretrained=model, epochs=1, progress=False).fit(holes[:40], orders[:40])
        assert tuned.n_features_in_ == 3 and len(tuned.predict(holes)) == len(holes)
        with pytest.raises(DataError, match="features"):
            model.predict([np.zeros((3, 5))])
    with pytest.raises(DataError, match="finite|missing"):  # trained on whole data
        ordernet.OrderNet(**SMALL).fit(sets, orders).predict(holes)


def test_files_by_the_names_of_a_model(tmp_path):
    sets, orders = make_sets(100, 1)
    model = ordernet.OrderNet(**SMALL).fit(Sets(sets, orders, features=["a", "b", "c"]))
    path = tmp_path / "s.csv"
    path.write_text("set,c,other,b,a\n" + "".join(f"1,{r[2]},x,{r[1]},{r[0]}\n" for r in sets[0].tolist()))
    read = Sets.read(path, model=model)
    assert read.features == ["a", "b", "c"] and np.array_equal(read[0], sets[0])
    assert np.array_equal(model.predict(read)[0], model.order(sets[0]))


def test_words_with_vectors(tmp_path):
    (tmp_path / "v.txt").write_text("".join(f"w{i} {i} {i * i} 1\n" for i in range(30)))
    rng = np.random.default_rng(1)
    lines = []
    for _ in range(60):
        picked = rng.choice(30, 5, replace=False)
        lines.append(
            '{"items": ['
            + ", ".join(f'"w{i}"' for i in picked)
            + '], "order": '
            + str(np.argsort(picked).tolist())
            + "}\n"
        )
    (tmp_path / "s.jsonl").write_text("".join(lines))
    sets = Sets.read(tmp_path / "s.jsonl", vectors=tmp_path / "v.txt")
    assert "words" in repr(sets) and len(sets) == 60
    model = ordernet.OrderNet(**SMALL).fit(sets)
    assert sorted(model.order(["w3", "w1", "w2"])) == [0, 1, 2]
    read = Sets.read(tmp_path / "s.jsonl", model=model)
    assert model.score(read) == model.score(sets)
    with pytest.raises(FileNotFoundError):
        Sets.read(tmp_path / "s.jsonl", vectors=tmp_path / "nothing.txt")


def test_masked_values_are_missing():
    sets, orders = make_sets(30, 1, sizes=(4,))
    holes = [s.copy() for s in sets]
    masked = [np.ma.array(s) for s in sets]
    for hole, mask in zip(holes[::2], masked[::2]):
        hole[1, 2] = np.nan
        mask[1, 2] = np.ma.masked
    expected = Sets(holes, orders, missing="indicator")
    whole = [s.astype(int) * 10 for s in sets]
    for given in (
        masked,
        np.ma.array(masked),
        np.ma.array(masked).astype(np.float64),
        [[row for row in s] for s in masked],  # a list of masked rows
    ):
        with pytest.raises(DataError, match=r"set 1: items\[1\]\[2\] is not a finite number"):
            Sets(given, orders)
        filled = Sets(given, orders, missing="indicator")
        assert all(np.array_equal(a, b) for a, b in zip(filled, expected))
    flat = np.ma.concatenate(masked)
    with pytest.raises(DataError, match="not a finite number"):
        Sets.flat(flat, [4] * 30)
    with pytest.raises(DataError, match="not a finite number"):
        Sets([np.ma.array(whole[0], mask=masked[0].mask)])  # whole numbers have no NaN of their own
    assert np.array_equal(Sets([np.ma.array(whole[0])])[0], whole[0])  # nothing is masked


def test_masked_orders_are_refused(small):
    items = np.zeros((3, 3), np.float32)
    order = np.ma.array([0, 1, 2], mask=[0, 0, 1])
    for orders in ([order], np.ma.array([order])):
        with pytest.raises(DataError, match="has masked values"):
            Sets([items], orders)
    with pytest.raises(DataError, match="sizes has masked values"):
        Sets.flat(items, np.ma.array([3, 1], mask=[0, 1]))
    with pytest.raises(DataError, match="masked"):
        ordernet.tour(np.ma.array(np.zeros((4, 2)), mask=[[1, 0]] + [[0, 0]] * 3))
    with pytest.raises(DataError, match="masked"):
        ordernet.tour_length(np.zeros((3, 2)), order)
    with pytest.raises(DataError, match="not a finite number"):
        small.order(np.ma.array(items, mask=[[1, 0, 0]] + [[0, 0, 0]] * 2))


# ---- Data frames ----

pandas = pytest.importorskip("pandas", reason="pandas is not installed: data frames were not tested")


def frame(count=60, seed=1):
    sets, orders = make_sets(count, seed)
    rows = []
    for s, (items, order) in enumerate(zip(sets, orders)):
        rank = np.argsort(order)
        rows += [(f"t{s}", *items[i], 10 * rank[i] + 1, "some text") for i in range(len(items))]
    table = pandas.DataFrame(rows, columns=["ticket", "a", "b", "c", "place", "note"])
    return table.sample(frac=1, random_state=seed)  # rows of a set stand apart


def test_frames():
    table = frame()
    sets = Sets.from_frame(table, set="ticket", rank="place", features=["a", "b", "c"])
    assert len(sets) == 60 and sets.features == ["a", "b", "c"]
    first = table[table.ticket == table.ticket.iloc[0]]
    assert np.array_equal(sets[0], first[["a", "b", "c"]].to_numpy(np.float32))
    assert np.array_equal(sets.orders[0], np.argsort(first.place.to_numpy()))
    model = ordernet.OrderNet(**SMALL).fit(sets)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    answer = model.predict_frame(table)
    assert answer.index.equals(table.index) and list(answer.columns) == [*table.columns, "rank", "probability"]
    assert list(table.columns) == ["ticket", "a", "b", "c", "place", "note"]  # the user's own stays as it was
    expected = model.predict(sets)
    met = list(dict.fromkeys(table.ticket))
    for name, part in answer.groupby("ticket"):
        rank = part["rank"].to_numpy()
        assert np.array_equal(np.argsort(rank), expected[met.index(name)])
        assert ((part.probability > 0) & (part.probability <= 1)).all()
        one = sets[met.index(name)]
        logprob = model.predict_log_proba([one])[0]
        assert abs(np.log(part.probability).sum() - logprob) < 1e-3
    assert model.importance(sets, repeats=1)[0]["feature"] == "a"
    again = pickle.loads(pickle.dumps(model))  # the columns are in the model file
    assert again.predict_frame(table[["note", "c", "b", "a", "ticket"]])["rank"].equals(answer["rank"])
    assert model.predict_frame(answer)["rank"].equals(answer["rank"])


def test_wrong_frames(small):
    table = frame(5)
    table["time"] = pandas.Timedelta(seconds=1)
    long = frame(60)
    long["note"] = [f"note {i}" for i in range(len(long))]
    with pytest.raises(DataError, match="different texts in .* rows, too many for a category"):
        Sets.from_frame(long, set="ticket", rank="place", features=["a", "note"])
    with pytest.warns(UserWarning, match=r"columns \['note'\] are not used"):
        assert Sets.from_frame(long, set="ticket", rank="place").features == ["a", "b", "c"]
    with pytest.raises(DataError, match=r"there are no features: columns \['note'\] are not used"):
        Sets.from_frame(long[["ticket", "place", "note"]], set="ticket", rank="place")
    for arguments, sentence in (
        (dict(set="nothing"), "no column 'nothing'"),
        (dict(set="ticket", rank="nothing"), "no column 'nothing'"),
        (dict(set="ticket", features=["a", "nothing"]), "no column 'nothing'"),
        (dict(set="ticket", rank="place", features=["time"]), "column 'time' has values of type timedelta"),
        (dict(set="ticket", rank="note", features=["a"]), "no number as its rank"),
        (dict(set="ticket", rank="place", features=[]), "there are no features"),
    ):
        with pytest.raises(DataError, match=sentence):
            Sets.from_frame(table, **arguments)
    twice = table.assign(place=1)
    with pytest.raises(DataError, match="the same rank in one set"):
        Sets.from_frame(twice, set="ticket", rank="place", features=["a"])
    with pytest.raises(DataError, match="has no rows"):
        Sets.from_frame(table.iloc[:0], set="ticket")
    with pytest.raises(UsageError, match="is not valid Unicode text"):
        Sets.from_frame(table.assign(a="x\udcff"), set="ticket", rank="place", features=["a", "b"])
    hole = table.copy()
    hole.iloc[3, 1] = np.nan
    column = hole.columns[1]
    with pytest.raises(DataError, match=f"column '{column}' has no number in row 3 of the frame .from 0.; .* missing='mean'"):
        Sets.from_frame(hole, set="ticket", rank="place", features=["a", "b", "c"])
    hole.loc[5, ["a", "b", "c"]] = np.nan
    with pytest.raises(DataError, match="the first of 4 missing values in 3 columns; fill it in"):
        Sets.from_frame(hole, set="ticket", rank="place", features=["a", "b", "c"])
    hole = table.copy()
    hole.iloc[3, 0] = None
    with pytest.raises(DataError, match="row 3 of the frame"):
        Sets.from_frame(hole, set="ticket", features=["a"])
    with pytest.raises(DataError, match="Sets.from_frame"):
        small.predict(table)
    hole = table.copy()
    hole.iloc[3, 1] = np.nan
    filled = Sets.from_frame(hole, set="ticket", rank="place", features=["a", "b", "c"], missing="mean")
    assert ordernet.OrderNet(**SMALL).fit(filled).predict_frame(hole)["rank"].notna().all()
    with pytest.raises(UsageError, match="set=..."):
        small.predict_frame(table)
    with pytest.raises(DataError, match="trained on 3"):
        small.predict_frame(table, set="ticket", features=["a"])


def test_ranks_that_are_text_are_numbers():
    """As text, 10 comes before 9."""
    table = frame(20)
    numbers = Sets.from_frame(table, set="ticket", rank="place", features=["a"]).orders
    for place in (
        table.place.astype(str),
        table.place.astype("string"),
        table.place.map(lambda x: f" {x}.50 "),
        table.place.map(lambda x: str(x).encode()),
        table.place.map(lambda x: f"{x}" if x % 2 else float(x)),
        table.place.astype("category"),
        table.place.astype("Int64"),
        (table.place * 10**16 + 2**62).map(str),
        pandas.to_datetime(table.place, unit="s"),
        pandas.to_datetime(table.place, unit="s", utc=True),
    ):
        orders = Sets.from_frame(table.assign(place=place), set="ticket", rank="place", features=["a"]).orders
        assert all(np.array_equal(a, b) for a, b in zip(orders, numbers))
    for bad in ("first", "", "nan", None, "1 2", complex(1), [1]):
        wrong = table.place.astype(object)
        wrong.iloc[3] = bad
        with pytest.raises(DataError, match="no number as its rank"):
            Sets.from_frame(table.assign(place=wrong), set="ticket", rank="place", features=["a"])
    large = table.assign(place=table.place + 2**60)  # apart by 10, which doubles cannot tell
    orders = Sets.from_frame(large, set="ticket", rank="place", features=["a"]).orders
    assert all(np.array_equal(a, b) for a, b in zip(orders, numbers))


def test_the_rank_is_no_feature():
    table = frame(20)
    for features, which in ((["a", "place"], "'place' is the rank"), (["ticket", "a"], "'ticket' is the set")):
        with pytest.raises(DataError, match=which):
            Sets.from_frame(table, set="ticket", rank="place", features=features)
    twice = pandas.concat([table, table[["a"]]], axis=1)
    with pytest.raises(DataError, match="more than one column 'a'"):
        Sets.from_frame(twice, set="ticket", rank="place", features=["a"])


def test_frame_of_texts_and_times():
    """Texts are features by value, times seconds; a model finds them by name, and knows unseen values as none."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    colours = np.array(["black", "blue", "green", "red"])
    place = np.concatenate([rng.permutation(4) for _ in range(200)])
    frame = pd.DataFrame(
        {
            "set": np.repeat(np.arange(200), 4),
            "colour": pd.Categorical(colours[place]),
            "when": pd.Timestamp("2024-05-01", tz="Europe/Berlin") + pd.to_timedelta(rng.integers(0, 90, 800), "s"),
            "ok": rng.random(800) < 0.5,
            "rank": place,
        }
    )
    sets = ordernet.Sets.from_frame(frame, set="set", rank="rank")
    assert sets.features == ["when", "ok", "colour=black", "colour=blue", "colour=green", "colour=red"]
    model = ordernet.OrderNet(**{**SMALL, "epochs": 10}).fit(sets)
    assert model.scales_["when"] == "standard, centred in double"
    answer = model.predict_frame(frame.drop(columns="rank")[["when", "ok", "colour", "set"]])
    assert (answer["rank"] == frame["rank"]).mean() > 0.99
    other = frame.assign(colour=np.where(frame["colour"] == "red", "violet", frame["colour"].astype(str)))
    assert set(model.predict_frame(other)["rank"]) == {0, 1, 2, 3}
    with pytest.raises(ordernet.DataError, match="has no values"):
        ordernet.Sets.from_frame(frame.assign(ok=None), set="set", rank="rank")


def test_frame_as_the_csv_that_it_was_read_from(tmp_path):
    """Dates and booleans that pandas leaves as objects become the same numbers as with Sets.read."""
    pd = pytest.importorskip("pandas")
    path = tmp_path / "t.csv"
    path.write_text(
        "set,rank,day,when,ok,kind\n"
        "1,0,2024-05-31,2024-05-31T18:30:00.5+02:00,true,a\n1,1,1969-01-01,2024-05-31 00:00,,b\n1,2,2024-02-29,2024-06-01,FALSE,a\n"
        "2,0,2023-05-31,2024-05-31T18:30Z,true,b\n2,1,2024-12-31,2024-05-31,true,b\n"
    )
    frame = pd.read_csv(path)
    assert frame["day"].dtype == object and frame["ok"].dtype == object
    names = ["day", "when", "ok", "kind"]
    read = ordernet.Sets.read(path, features=names, missing="mean")
    made = ordernet.Sets.from_frame(frame, set="set", rank="rank", features=names, missing="mean")
    assert made.features == read.features == ["day", "when", "ok", "kind=a", "kind=b"]
    assert (made._array() == read._array()).all()
    text = frame.assign(day=frame["day"].replace("2024-02-29", "2023-02-29"))  # no date: the column is text
    assert "day=2023-02-29" in ordernet.Sets.from_frame(text, set="set", features=["day"]).features
    kept = frame.assign(ok=frame["ok"].astype("category"))  # who says category means it
    assert ordernet.Sets.from_frame(kept, set="set", features=["ok"]).features[0].startswith("ok=")


def test_texts_that_are_not_named(tmp_path):
    """Frames, lists of frames, CSV and JSON objects have the same features: categories, dates and truth values, but no ids,
    no texts of whole sets, no numbers in quotes, nothing spelt like a number and no date that is missing somewhere."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(4)
    rows = np.arange(160)
    columns = {
        "set": [f"s{i // 4}" for i in rows],
        "id": [f"n{i}" for i in rows],
        "colour": rng.choice(["red", "green", "blue", ""], 160),
        "when": [f"2024-05-{1 + i * 7 % 28:02d}" for i in rows],
        "ok": rng.choice(["true", "False"], 160),
        "day": [f"d{i // 8}" for i in rows],
        "price": [f"{i % 7},50" for i in rows],
        "paid": [None if i == 5 else f"2024-06-{1 + i % 9:02d}" for i in rows],
        "x": rng.random(160).round(3),
        "town": [f"t{i % 40}" for i in rows],
        "rank": [i % 4 for i in rows],
    }
    frame = pd.DataFrame(columns)
    frame.to_csv(tmp_path / "a.csv", index=False)
    own = ["id", "colour", "when", "ok", "day", "price", "paid", "x", "town"]
    with open(tmp_path / "a.jsonl", "w") as file:
        for _, part in frame.groupby("set", sort=False):
            items = [{k: v for k, v in one.items() if v is not None} for one in part[own].to_dict("records")]
            file.write(json.dumps({"items": items, "order": np.argsort(part["rank"]).tolist()}) + "\n")
    names = ["when", "ok", "x", "colour=blue", "colour=green", "colour=red", *sorted(f"town=t{i}" for i in range(32))]
    read = [Sets.read(tmp_path / "a.csv"), Sets.read(tmp_path / "a.jsonl")]
    with pytest.warns(UserWarning) as said:
        read.append(Sets.from_frame(frame, "set", "rank"))
    assert [str(one.message) for one in said] == [
        "column 'price': '0,50' in row 0 of the frame (from 0) is not a number, so that the column is not a feature; write the "
        "decimal point as a dot",
        "columns ['id', 'day', 'paid'] are not used (most texts differ: ['id']; the same for all items of a set: ['day']; some are "
        "missing: ['paid']); name them in features if they are to be used",
    ]
    with pytest.warns(UserWarning, match="are not used"):
        read.append(Sets([part[own] for _, part in frame.groupby("set", sort=False)], read[0].orders))
    for sets in read:
        assert sets.features == names
        assert np.array_equal(np.float32(sets._array()), np.float32(read[0]._array()))
    named = Sets.read(tmp_path / "a.csv", features=["x", "id"])
    assert len(named.features) == 33  # who names a column means it


def test_texts_that_are_spelt_otherwise(tmp_path):
    """Numbers, dates and times in other spellings are no categories, whether they are named or not, in frames, CSV and JSON;
    a category with a few such words is one."""
    pd = pytest.importorskip("pandas")
    spelt = {
        "blank": ["1 000", "2 000"],
        "apostrophe": ["1'000", "2'000"],
        "under": ["1_000", "2_000"],
        "minus": ["\u22125", "\u22126"],
        "nobreak": ["1\u00a0000", "2\u00a0000"],
        "unit": ["5 kg", "7 kg"],
        "hexadecimal": ["0x10", "0x11"],
        "local": ["31.12.2024", "1.2.2024"],
        "us": ["1/2/2024", "12/31/2024"],
        "slash": ["2024/01/01", "2024/01/02"],
        "time": ["10:30", "noon"],
        "month": ["2024-01", "2024-02"],
    }
    frame = pd.DataFrame({name: [texts[i % 3 % 2] for i in range(12)] for name, texts in spelt.items()})
    frame = frame.assign(set=[i // 4 for i in range(12)], rank=[i % 4 for i in range(12)], x=np.arange(12.0))
    frame["few"], frame["size"] = ["10:30", *["big", "small"] * 5, "big"], ["2XL", "3XL"] * 6
    names = ["x", "few=10:30", "few=big", "few=small", "size=2XL", "size=3XL"]
    own = [c for c in frame.columns if c not in ("set", "rank")]
    frame.to_csv(tmp_path / "a.csv", index=False)
    with open(tmp_path / "a.jsonl", "w") as file:
        for _, part in frame.groupby("set", sort=False):
            file.write(json.dumps({"items": part[own].to_dict("records"), "order": [0, 1, 2, 3]}) + "\n")
    frame["month"] = pd.PeriodIndex(frame["month"], freq="M")

    for read in (
        lambda **o: Sets.from_frame(frame, "set", "rank", **o),
        lambda **o: Sets.read(tmp_path / "a.csv", **o),
        lambda **o: Sets.read(tmp_path / "a.jsonl", **o),
    ):
        with pytest.warns(UserWarning) as said:
            assert read().features == names
        assert len(said) == len(spelt) and all(" is not a number, so that the " in str(one.message) for one in said)
        assert any("write dates as 2024-12-31" in str(one.message) for one in said)
        for name in spelt:
            with pytest.raises(DataError, match=f"{name}.* is not a number"):
                read(features=["x", name])
        assert read(features=["x", "few"]).features == names[:4]
    meant = frame.assign(unit=frame["unit"].astype("category"))  # who says category means it
    assert Sets.from_frame(meant, "set", "rank", features=["unit"]).features == ["unit=5 kg", "unit=7 kg"]
    with pytest.raises(DataError, match="there are no features: column 'unit': '5 kg' in row 0"):
        Sets.from_frame(frame[["set", "rank", "unit"]], "set", "rank")


def test_types_of_a_category(tmp_path):
    """Texts are the same values as dtype category, object and string, and in CSV: without blanks around them, and missing where
    files say so, unless a model knows the word as a value."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(2)
    order = {"NA": 0, "DE ": 1, " FR": 2, "None": 3, "?": 4, "PT": 5}
    frame = pd.DataFrame({"set": np.repeat(np.arange(30), 4), "country": [c for _ in range(30) for c in rng.permutation(list(order))[:4]]})
    frame["rank"] = frame["country"].map(order)
    types = [frame.assign(country=frame["country"].astype(kind)) for kind in ("object", "category", "string")]
    frame.to_csv(tmp_path / "a.csv", index=False)
    made = [*(Sets.from_frame(one, "set", "rank") for one in types), Sets.read(tmp_path / "a.csv")]
    for sets in made:
        assert sets.features == ["country=DE", "country=FR", "country=PT"]
        assert np.array_equal(sets._array(), made[0]._array())
    knows = Sets.flat(rng.random((4, 3)), [2, 2], [[0, 1], [0, 1]], features=["country=NA", "country=DE", "country=?"])
    model = ordernet.Ranker().fit(knows)
    asked = [Sets._of_frame(one, "set", None, knows.features, "error", like=knows._struct.columns) for one in types]
    asked.append(Sets.read(tmp_path / "a.csv", model=model))
    for sets in asked:
        assert np.array_equal(sets._array(), asked[0]._array())
        assert sets._array().sum(axis=0).tolist() == [(frame["country"] == c).sum() for c in ("NA", "DE ", "?")]


def test_categories_that_are_not_known(tmp_path):
    """Values that all are numbers are compared as numbers, since pandas makes floats of integers beside NaN; a category
    without a known value is warned of."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"set": np.repeat(np.arange(20), 3), "g": [3, 1, 2] * 20, "rank": [2, 0, 1] * 20})
    model = ordernet.Ranker().fit(Sets.from_frame(frame.assign(g=frame["g"].astype("category")), "set", "rank"))
    assert list(model.feature_names_in_) == ["g=1", "g=2", "g=3"]
    floats = frame.assign(g=frame["g"].astype(float))
    floats.loc[1, "g"] = np.nan
    floats.to_csv(tmp_path / "a.csv", index=False)
    for same in (frame, floats, floats.assign(g=floats["g"].astype("category")), frame.assign(g=frame["g"].astype(str))):
        answer = model.predict_frame(same[["set", "g"]])
        assert (answer["rank"] == frame["rank"])[3:].all()
    read = Sets.read(tmp_path / "a.csv", model=model)
    assert np.array_equal(read._array(), Sets._of_frame(floats, "set", None, read.features, "error")._array())
    wrong = frame.assign(g=[f"v{g}" for g in frame["g"]])
    wrong.to_csv(tmp_path / "b.csv", index=False)
    sentence = "column .g.: no value is one that the model knows: here are .*v3.*, it knows .*1.*"
    with pytest.warns(UserWarning, match=sentence):
        model.predict_frame(wrong)
    with pytest.warns(UserWarning, match=sentence):
        Sets.read(tmp_path / "b.csv", model=model)


def test_kinds_of_columns(tmp_path):
    """Values of another kind than the model's column has are refused, by row; 0 and 1 are truth values too."""
    pd = pytest.importorskip("pandas")
    days = ["2024-01-01", "2024-05-01", "2024-02-01", "2024-03-01"]
    frame = pd.DataFrame({"set": list("aabb"), "when": pd.to_datetime(days), "x": [1.0, 3, 2, 5], "ok": [True, False, False, True]})
    sets = Sets.from_frame(frame.assign(rank=[0, 1, 0, 1]), set="set", rank="rank")
    again = pickle.loads(pickle.dumps(sets))
    text = frame.assign(when=days, x=frame["x"].astype(str), ok=frame["ok"].astype(str))
    text.assign(rank=[0, 1, 0, 1]).to_csv(tmp_path / "a.csv", index=False)
    for one in (sets, again, Sets.read(tmp_path / "a.csv")):
        model = ordernet.Ranker().fit(one)
        answer = model.predict_frame(frame, set="set")["rank"].tolist()
        for same in (text, frame.assign(ok=[1, 0, 0, 1]), frame.assign(ok=frame["ok"].astype("boolean"))):
            assert model.predict_frame(same, set="set")["rank"].tolist() == answer
        for column, values, what, trained in (
            ("x", frame["when"], r"Timestamp\('2024-01-01 00:00:00'\) in row 0 of the frame \(from 0\) is a date", "numbers"),
            ("x", frame["ok"], "True in row 0 .* is a truth value", "numbers"),
            ("x", ["1", "2024-01-01", "3", "4"], "'2024-01-01' in row 1 .* is no", "numbers"),
            ("when", frame["x"], "1.0 in row 0 .* is a number", "dates"),
            ("when", frame["when"].astype("int64"), "1704067200000000000 in row 0 .* is a number", "dates"),
            ("when", frame["ok"], "True in row 0 .* is a truth value", "dates"),
            ("ok", frame["x"], "3.0 in row 1 .* is a number", "truth values"),
            ("ok", days, "'2024-01-01' in row 0 .* is a date", "truth values"),
        ):
            wrong = frame.assign(**{column: values})
            with pytest.raises(DataError, match=f"column '{column}': {what}.*the model was trained on {trained} there"):
                model.predict_frame(wrong, set="set")
            with pytest.raises(DataError, match=f"column '{column}': {what}"):
                model.predict([part.drop(columns="set") for _, part in wrong.groupby("set")])
    # One value of another kind among the right ones does not make all of them missing.
    model = ordernet.Ranker().fit(Sets.from_frame(frame.assign(rank=[0, 1, 0, 1]), set="set", rank="rank", missing="mean"))
    for column, values, what in (
        ("when", ["2024-01-01", "true", "2024-02-01", "2024-03-01"], "'true' in row 1 .* is not a date"),
        ("ok", ["true", "false", "2024-02-01", "true"], "'2024-02-01' in row 2 .* is not a truth value"),
    ):
        with pytest.raises(DataError, match=f"column '{column}': {what}, but the model was trained on"):
            model.predict_frame(frame.assign(**{column: values}), set="set")
    mixed = pd.DataFrame({"set": ["a"] * 4, "w": ["true", "2024-01-01"] * 2})
    assert Sets.from_frame(mixed, set="set", features=["w"]).features == ["w=2024-01-01", "w=true"]


def test_whole_numbers_that_double_rounds():
    whole = 2**53 + 1
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"s": [1, 1], "t": [1, whole], "id": ["a", "b"]})
    with pytest.raises(DataError, match=f"column 't' has {whole}, a whole number that double cannot hold exactly"):
        Sets.from_frame(frame, "s")
    frame["t"] = pandas.array([None, whole], dtype="Int64")
    with pytest.raises(DataError, match="a whole number that double cannot hold exactly"):
        Sets.from_frame(frame, "s", missing="mean")
    masked = np.ma.array([[[1], [whole]]], mask=[[[False], [True]]])
    assert len(Sets(masked, missing="mean")) == 1  # what is masked is not looked at
    assert len(Sets([[[2**60, 0.5], [12345678901234567000, 1]]])) == 1


def test_rounded_sets_are_not_changed():
    sets = Sets([np.array([[0.1], [0.2]])])
    with pytest.raises(ValueError, match="read-only"):
        sets[0][0, 0] = 5


@pytest.mark.parametrize("dtype", ["<f4", ">f4", "<f8", "<i8"])
def test_fortran_order(dtype, small):
    """Several arrays in Fortran's order, as pandas gives them, were once read as if they were in C's."""
    sets = [(100 * s).astype(dtype) for s in make_sets(20, 5)[0]]
    for turned in ([np.asfortranarray(s) for s in sets], [s[::-1][::-1] for s in sets]):
        assert all(np.array_equal(a, b) for a, b in zip(small.predict(turned), small.predict(sets)))
        assert np.array_equal(small.predict_log_proba(turned, small.predict(sets)), small.predict_log_proba(sets, small.predict(sets)))


def chains(count, seed):
    """Relations alone: small from an item to the next one."""
    draw = np.random.default_rng(seed)
    pairs, orders = [], []
    for _ in range(count):
        n = int(draw.integers(3, 7))
        order = draw.permutation(n)
        e = 3 + 7 * draw.random((n, n))
        e[order[:-1], order[1:]] = draw.random(n - 1)
        np.fill_diagonal(e, np.nan)
        pairs.append(e)
        orders.append(order)
    return pairs, orders


def test_relations(tmp_path):
    pairs, orders = chains(800, 1)
    sets = Sets(None, orders, pairs=pairs)
    assert sets.width == 0 and len(sets) == 800
    model = ordernet.OrderNet(**{**SMALL, "epochs": 8}).fit(sets)
    test, right = chains(100, 2)
    found = model.predict(Sets(None, pairs=test))
    assert np.mean([np.array_equal(a, b) for a, b in zip(found, right)]) > 0.7
    path = tmp_path / "pairs.safetensors"
    Sets(None, right, pairs=test).write(path)
    assert all(np.array_equal(a, b) for a, b in zip(model.predict(Sets.read(path)), found))
    with pytest.raises(DataError, match=r"the pairs of set 1 have shape \(2, 3\)"):
        Sets([np.zeros((2, 1))], pairs=[np.zeros((2, 3))])
    with pytest.raises(DataError, match="relation 1 from item 0 to item 1"):
        Sets([np.zeros((2, 1))], pairs=[[[0, np.nan], [0, 0]]])


def test_items_of_sets_are_as_they_were_given(tmp_path):
    """Sets once gave float32 of its own items: times in seconds fell together, in order(x) for x in sets."""
    draw = np.random.default_rng(3)
    times = [1.7e9 + draw.permutation(40)[: draw.integers(3, 7), None] for _ in range(300)]
    orders = [np.argsort(one[:, 0]) for one in times]
    held = Sets(times, orders)
    held.write(tmp_path / "far.csv")
    model = ordernet.OrderNet(**SMALL).fit(held)
    assert model.score(held) > 0.9
    for sets in (held, Sets.read(tmp_path / "far.csv"), held.with_orders(orders), held._pick(np.ones(300, bool))):
        assert all(np.array_equal(a, b) and a.dtype == np.float64 for a, b in zip(sets, times))
        assert not sets[0].flags.writeable
        assert np.mean([np.array_equal(model.order(x), y) for x, y in zip(sets, orders)]) == model.score(sets)
        assert model.score(list(sets), orders) == model.score(sets)
    assert pickle.loads(pickle.dumps(held))[5].tolist() == times[5].tolist()


def test_texts_without_a_feature_stay_apart(tmp_path, program):
    pandas = pytest.importorskip("pandas")
    train = pandas.DataFrame({"set": [*"aabbcc"], "x": [1, 2, 1, 2, 2, 1], "rank": [0, 1, 0, 1, 1, 0]})
    train["brand"] = ["red", "blue"] * 3
    held = Sets.from_frame(train, "set", "rank")
    model = ordernet.Ranker().fit(held)
    assert not held._struct.lost  # every text has a feature
    new = pandas.DataFrame({"set": [*"ppqq"], "x": 1, "brand": ["amber", "pink"] * 2, "rank": [0, 1, 1, 0]})
    names = list(model.feature_names_in_)
    frame = Sets.from_frame(new, "set", "rank", features=names)
    path = tmp_path / "new.csv"
    new.to_csv(path, index=False)
    each = [one[["brand", "x"]] for _, one in new.groupby("set")]
    for sets in (frame, Sets.read(path, model=model), pickle.loads(pickle.dumps(frame)), frame.with_orders([[0, 1], [1, 0]])):
        assert model.score(sets) == 0.5
    assert model.score(each, [[0, 1], [1, 0]]) == 0.5
    gone = Sets.from_frame(new.assign(brand=[None, "pink"] * 2), "set", "rank", features=names)
    assert model.score(gone) == 0.5 and gone._lost_columns()[0][2].tolist()[::2] == [1, 1]
    # Of 40 texts 32 become features; the others differ too.
    rare = pandas.DataFrame({"set": np.repeat(np.arange(40), 2), "rank": [0, 1] * 40})
    rare["brand"] = [f"b{(s + 20 * i) % 40}" for s in range(40) for i in range(2)]
    ((first, span, lost),) = Sets.from_frame(rare, "set", "rank")._lost_columns()
    assert (first, span) == (0, 32) and (lost > 1).sum() == 16
    # Times that differ by a nanosecond, as text and as times.
    when = ["2024-01-01T00:00:00.000000001", "2024-01-01T00:00:00.000000002"] * 2
    fine = pandas.DataFrame({"set": [*"aabb"], "when": when, "y": 0.0, "rank": [0, 1, 1, 0]})
    for values in (when, pandas.to_datetime(when), pandas.to_datetime(when).tz_localize("Europe/Paris")):
        sets = Sets.from_frame(fine.assign(when=values), "set", "rank")
        assert ordernet.Ranker().fit(sets).score(sets) == 0.5
    coarse = fine.assign(when=pandas.to_datetime(["2024-01-01T00:00:00.000001", None] * 2))
    assert not Sets.from_frame(coarse, "set", "rank", missing="mean")._struct.lost


def test_a_category_that_is_lacking_goes_by_its_column():
    pandas = pytest.importorskip("pandas")
    rows = [dict(set=s, rank=i, colour=["red", "blue"][(s + i) % 2], x=i + s) for s in range(20) for i in range(3)]
    frame = pandas.DataFrame(rows)
    model = ordernet.Ranker().fit(Sets.from_frame(frame, set="set", rank="rank"))
    with pytest.raises(DataError, match=r"the frame has no column 'colour' \(given as features\); it has \['set', 'x'\]"):
        model.predict_frame(frame[["set", "x"]], set="set")
    with pytest.raises(DataError, match=r"set 1 has no column 'colour'; it has \['x'\]"):
        model.predict([frame[["x"]]])


def test_lists_of_frames_go_by_name(small):
    pandas = pytest.importorskip("pandas")
    given, orders = make_sets(200, 7)
    frames = [pandas.DataFrame(one.astype(np.float64), columns=["x", "y", "z"]) for one in given]
    turned = [one[["z", "x", "y"]] if s % 2 else one for s, one in enumerate(frames)]
    model = ordernet.OrderNet(**SMALL).fit(turned, orders)
    assert list(model.feature_names_in_) == ["x", "y", "z"]
    assert model.to_bytes() == ordernet.OrderNet(**SMALL).fit(Sets(given, orders, ["x", "y", "z"])).to_bytes()
    more = [one.assign(more=1)[["more", "y", "z", "x"]] for one in frames]
    assert model.score(more, orders) == model.score(given, orders) > 0.8
    assert np.array_equal(model.order(more[3]), model.order(given[3]))
    assert np.array_equal(model.positions(more[3]), model.positions(given[3]))
    assert ordernet.Ranker().fit(turned, orders, valid=(more, orders)).score(more, orders) > 0.8
    with pytest.raises(DataError, match="set 2 has no column 'y'; it has"):
        model.predict([frames[0], frames[1][["x", "z"]]])
    with pytest.raises(DataError, match=r"set 2 has the columns \['x', 'z'\] where set 1 has"):
        Sets([frames[0], frames[1][["x", "z"]]])
    with pytest.raises(DataError, match="set 2 has more than one column 'y'"):
        model.predict([frames[0], pandas.concat([frames[1], frames[1][["y"]]], axis=1)])
    with pytest.raises(DataError, match="set 2 is of type ndarray, but others are data frames"):
        model.predict([frames[0], given[1]])
    with pytest.raises(DataError, match="column 'x' has 9007199254740993, a whole number that double cannot hold exactly"):
        Sets([pandas.DataFrame({"x": [2**53 + 1]}), pandas.DataFrame({"x": [0.5]})])
    plain = [pandas.DataFrame(one) for one in given]  # columns 0, 1, 2
    assert Sets(plain).features == ["0", "1", "2"] and np.array_equal(small.predict(plain)[4], small.predict(given)[4])
    ranker = ordernet.Ranker().fit(plain, orders)
    assert ranker.score(plain, orders) == ranker.score([one[[2, 0, 1]] for one in plain], orders) == 1
    assert ranker.score(given, orders) == 1
    texts = [one.assign(kind=["a", "b"] * (len(one) // 2) + ["a"] * (len(one) % 2)) for one in frames]
    assert Sets(texts).features == ["x", "y", "z", "kind=a", "kind=b"]
    assert ordernet.OrderNet(**SMALL).fit(texts, orders).order(texts[0][["kind", "z", "y", "x"]]).shape == (len(given[0]),)


def test_frames_are_as_their_csv(tmp_path):
    """What a frame holds as objects, and blanks around names, count as in the CSV file of the frame."""
    from decimal import Decimal

    pandas = pytest.importorskip("pandas")
    draw = np.random.default_rng(5)
    frame = pandas.DataFrame({"set": [f"s{i // 4}" + " " * (i % 2) for i in range(80)], "x": draw.integers(-99, 99, 80), "rank": [i % 4 for i in range(80)]})
    columns = {
        "objects": frame["x"].astype(object),
        "texts": frame["x"].astype(str),
        "decimals": frame["x"].map(lambda x: Decimal(int(x)) / 8).astype(object),
        "floats": pandas.Series([float(x) / 7 for x in frame["x"]], dtype=object),
        "missing": pandas.Series([None if i == 9 else int(x) for i, x in enumerate(frame["x"])], dtype=object),
    }
    for what, column in columns.items():
        one = frame.assign(x=column)
        one.to_csv(tmp_path / "frame.csv", index=False)
        missing = "mean" if what == "missing" else "error"
        sets, read = Sets.from_frame(one, "set", "rank", missing=missing), Sets.read(tmp_path / "frame.csv", missing=missing)
        assert len(sets) == len(read) == 20 and sets.features == read.features == ["x"], what
        assert all(np.array_equal(np.float32(a), np.float32(b)) for a, b in zip(sets, read)), what
    assert Sets.from_frame(frame.assign(x=(frame["x"] % 3).astype("category")), "set", "rank").features == ["x=0", "x=1", "x=2"]
    with pytest.raises(DataError, match="'n/m' in row 3 of the frame .* is not a number, but 79 other values are"):
        Sets.from_frame(frame.assign(x=[*frame["x"][:3], "n/m", *frame["x"][4:]]), "set", "rank")
    with pytest.raises(DataError, match="column 'x' has 9007199254740993, a whole number that double cannot hold exactly"):
        Sets.from_frame(frame.assign(x=[Decimal(2**53 + 1)] * 80), "set", "rank")
    with pytest.raises(DataError, match="row 0 of the frame .from 0. has an empty text in column 'set'"):
        Sets.from_frame(frame.assign(set=" "), "set", "rank")
    with pytest.raises(DataError, match="the frame has a column 'rank'.* give rank='rank'"):
        Sets.from_frame(frame, "set")


def test_what_float32_and_double_cannot_hold(small):
    with pytest.raises(DataError, match=r"set 2: items\[1\]\[0\] is 1e\+39, which is not a finite float32: .* at most 3.4e38"):
        Sets([[[1.0]], [[1.0], [1e39]]])
    with pytest.raises(DataError, match=r"items\[1\]\[0\] is 1e\+39"):
        small.order([[1, 2, 3], [1e39, 2, 3]])
    far = 2**60 + 1
    if np.longdouble(far) - np.longdouble(2**60) != 1:
        pytest.skip("long double is double here")
    for given in (np.array([[[1], [far]]], np.longdouble), [[[np.longdouble(1)], [np.longdouble(far)]]]):
        with pytest.raises(DataError, match=f"{far}, a whole number that double cannot hold exactly"):
            Sets(given)
    assert len(Sets(np.array([[[0.5], [2**60]]], np.longdouble))) == 1


def test_columns_that_look_like_numbers_are_warned_of(tmp_path):
    (tmp_path / "a.csv").write_text("set;x;y;rank\n" + "".join(f"s{i};1,5;{i};0\ns{i};2,25;{i + 1};1\n" for i in range(9)))
    with pytest.warns(UserWarning, match=r'a.csv:2: column `x`: "1,5" is not a number.* decimal point as a dot'):
        assert Sets.read(tmp_path / "a.csv", delimiter=";").features == ["y"]


def test_relations_in_and_out(tmp_path):
    """Relations and their names survive pickling, selecting, with_orders, flat and files; another order is refused."""
    pairs, orders = chains(60, 3)
    both = [np.stack([e, 2 * e], axis=2) for e in pairs]
    sets = Sets(None, orders, pairs=both, relations=["time", "toll"])
    assert sets.relations == ["time", "toll"] and "2 relations" in repr(sets) and Sets([[[1]]]).pairs is None
    for one in (sets, pickle.loads(pickle.dumps(sets)), sets.with_orders(orders), sets._pick(np.ones(60))):
        assert one.relations == ["time", "toll"]
        for a, b in zip(one.pairs, both):
            assert np.array_equal(a, np.where(np.eye(len(b), dtype=bool)[:, :, None], 0, b).astype(np.float32))
    flat = Sets.flat(None, sets.sizes, orders, pairs=np.concatenate([e.reshape(-1, 2) for e in both]), relations=["time", "toll"])
    assert all(np.array_equal(a, b) for a, b in zip(flat.pairs, sets.pairs))
    for name in ("a.npz", "a.safetensors", "a.jsonl"):
        sets.write(tmp_path / name)
        again = Sets.read(tmp_path / name)
        assert all(np.array_equal(a, b) for a, b in zip(again.pairs, sets.pairs))
    model = ordernet.OrderNet(**{**SMALL, "epochs": 1}).fit(sets)
    assert [one["feature"] for one in model.importance(sets, repeats=1)] == ["time", "toll"]
    found = ordernet.compare(sets, model=ordernet.OrderNet(**{**SMALL, "epochs": 1}))
    assert not any("column" in row["name"] for row in found["rows"])
    swapped = Sets(None, orders, pairs=both, relations=["toll", "time"])
    with pytest.raises(DataError, match="are toll, time, those of the model time, toll"):
        model.predict(swapped)


def test_relations_from_lists():
    one = Sets(None, pairs=[[[None, 1], [3, None]], [[0, 2], [4, 7]]])
    assert [e[:, :, 0].tolist() for e in one.pairs] == [[[0, 1], [3, 0]], [[0, 2], [4, 0]]]
    two = Sets(None, pairs=[[[None, [1, 2]], [[3, 4], [0, 0]]]])
    assert two.pairs[0].tolist() == [[[0, 0], [1, 2]], [[3, 4], [0, 0]]]
    with pytest.raises(DataError, match="where numbers are expected"):
        Sets(None, pairs=[[[0, None], [3, 0]]])


def test_relations_that_are_missing():
    pairs, orders = chains(30, 4)
    gap = [e.copy() for e in pairs]
    gap[0][0, 1] = np.nan
    with pytest.raises(DataError, match="relation 1 from item 0 to item 1"):
        Sets(None, orders, pairs=gap)
    mean = np.mean(np.concatenate([e[~np.isnan(e)] for e in gap]))
    sets = Sets(None, orders, pairs=gap, missing="mean")
    assert sets.pairs[0][0, 1, 0] == pytest.approx(mean, rel=1e-5)
    items = [np.arange(float(len(e)))[:, None] for e in gap]
    items[1][0] = np.nan
    with_items = Sets(items, orders, pairs=gap, missing="mean")
    assert with_items.pairs[0][0, 1, 0] == pytest.approx(mean, rel=1e-5) and with_items[1][0, 0] == with_items[1][0, 0]


def test_relations_from_frames(tmp_path):
    pd = pytest.importorskip("pandas")
    stops = pd.DataFrame({"day": ["mon", "mon", "tue", "mon", "tue"], "name": list("abcde"), "rank": [0, 2, 1, 1, 0]})
    rows = [("mon", "a", "b", 9.0), ("mon", "b", "a", 8.0), ("mon", "a", "d", 7.0), ("mon", "d", "a", 6.0)]
    rows += [("mon", "b", "d", 5.0), ("mon", "d", "b", 4.0), ("tue", "c", "e", 3.0), ("tue", "e", "c", 2.0)]
    times = pd.DataFrame(rows, columns=["day", "from", "to", "time"])
    sets = Sets.from_frame(stops, "day", "rank", pairs=times, name="name")
    assert sets.relations == ["time"] and sets.width == 0
    assert sets.pairs[0][:, :, 0].tolist() == [[0, 9, 7], [8, 0, 5], [6, 4, 0]]
    assert sets.pairs[1][:, :, 0].tolist() == [[0, 3], [2, 0]]
    stops.to_csv(tmp_path / "stops.csv", index=False)
    times.to_csv(tmp_path / "times.csv", index=False)
    read = Sets.read(tmp_path / "stops.csv", set="day", pairs=tmp_path / "times.csv")
    assert all(np.array_equal(a, b) for a, b in zip(read.pairs, sets.pairs)) and read.relations == ["time"]
    places = times.replace({"a": 0, "b": 1, "d": 2, "c": 0, "e": 1})
    counted = Sets.from_frame(stops[["day", "rank"]], "day", "rank", pairs=places)
    assert all(np.array_equal(a, b) for a, b in zip(counted.pairs, sets.pairs))
    for change, said in (
        (lambda t: t.iloc[1:], "no 'time' from 'a' to 'b' of set 'mon'; add it, or choose"),
        (lambda t: t.assign(time=[9, 8, 7, None, 5, 4, None, 2]), "no 'time' from 'd' to 'a' of set 'mon', the first of 2 "),
        (lambda t: pd.concat([t, t.iloc[:1]]), "row 8 of pairs .* twice"),
        (lambda t: t.assign(to="x"), "row 0 of pairs .*no item 'x'"),
        (lambda t: t.assign(day="wed"), "there is no set 'wed'"),
        (lambda t: t.assign(time="x"), "where numbers are expected"),
        (lambda t: t[["day", "from", "time"]], "no column 'to'"),
        (lambda t: t[["day", "from", "to"]], "0 relations"),
    ):
        with pytest.raises(DataError, match=said):
            Sets.from_frame(stops, "day", "rank", pairs=change(times), name="name")
    model = ordernet.OrderNet(**{**SMALL, "epochs": 1}).fit(sets)
    orders = model.predict(Sets.from_frame(stops.drop(columns="rank"), "day", pairs=times, name="name"))
    ranks = np.concatenate([np.argsort(order) for order in orders])
    new = stops.drop(columns="rank")
    more = times.assign(toll=1.0)[["toll", "to", "from", "time", "day"]]
    for given in (times, more):
        found = model.predict_frame(new, set="day", pairs=given, name="name")["rank"]
        assert found[found.index[new["day"] == "mon"].append(found.index[new["day"] == "tue"])].tolist() == ranks.tolist()
    with pytest.raises(DataError, match="pairs=..."):
        model.predict_frame(new, set="day")
    with pytest.raises(DataError, match="no column 'time'"):
        model.predict_frame(new, set="day", pairs=more.drop(columns="time"), name="name")
    with pytest.raises(DataError, match="no 'time' from 'a' to 'b' of set 'mon'; add it$"):
        model.predict_frame(new, set="day", pairs=times.iloc[1:], name="name")
    weights = stops.assign(weight=[1.0, 2, 3, 4, 5])
    known = ordernet.OrderNet(**{**SMALL, "epochs": 1}).fit(
        Sets.from_frame(weights, "day", "rank", features=["weight"], pairs=times, name="name")
    )
    answers = [known.predict_frame(weights, pairs=times, name="name", **given)["rank"] for given in ({"set": "day"}, {})]
    assert answers[0].equals(answers[1])  # the model knows the column of the set, which is not that of the names
    filled = Sets.from_frame(stops, "day", "rank", pairs=times.iloc[1:], name="name", missing="mean")
    assert filled.pairs[0][0, 1, 0] == 5


def test_importance_of_the_relations_of_words(tmp_path):
    (tmp_path / "v.txt").write_text("red 1 2\nblue 3 4\ngreen 5 6\n")
    line = '{"items": ["red", "blue", "green"], "pairs": [[null, 1, 5], [4, null, 2], [3, 6, null]], "order": [2, 0, 1]}\n'
    (tmp_path / "s.jsonl").write_text(4 * line)
    sets = Sets.read(tmp_path / "s.jsonl", vectors=tmp_path / "v.txt")
    model = ordernet.OrderNet(**{**SMALL, "epochs": 1}).fit(sets)
    assert [one["feature"] for one in model.importance(sets, repeats=1)] == ["relation 1"]


def test_wrong_relations():
    for pairs, said in (
        ([np.zeros((2, 2, 0))], "0 relations"),
        ([np.zeros((2, 2, 17))], "17 relations"),
        ([np.zeros((2, 2)), np.zeros((2, 2, 2))], r"pairs of 2 sets, but 1|the pairs of set 2 have shape"),
        ([], "pairs of 0 sets"),
        ([["a", "b"], ["c", "d"]], "pairs of set 1"),
        ([np.zeros((3, 4))], r"set 1 have shape \(3, 4\), where \(3, 3\) is expected"),
        ([np.zeros((2, 2)), np.zeros((3, 3, 2))], r"set 2 have shape \(3, 3, 2\), where \(3, 3\) is expected"),
        ([np.zeros((2, 2, 2)), np.zeros((3, 3, 1))], r"set 2 have shape \(3, 3, 1\), where \(3, 3, 2\) is expected"),
        ([np.zeros((2, 2)), np.zeros((0, 0))], "set 2 has no items"),
        ([np.array([[None, "x"], [2, None]], object)], "where numbers are expected"),
    ):
        with pytest.raises(DataError, match=said):
            Sets(None, pairs=pairs)
    for blank in (np.array([[None, 1], [2, None]], object), [[None, 1], [2, "x"]], [[float("inf"), 1], [2, float("nan")]]):
        assert Sets(None, pairs=[blank]).pairs[0][:, :, 0].tolist() == [[0, 1], [2, 0]]
    assert Sets(None, pairs=[[[[None, 7]]]]).pairs[0].tolist() == [[[0, 0]]]
    far = np.array([[2**31 - 1, 5, 7], [5, 2**31 - 1, 16777217], [7, 8, 2**31 - 1]])
    for pairs in ([far], [far.astype(float)], [far.tolist()], far[None, :, :, None]):
        with pytest.raises(DataError, match=r"set 1: pairs\[1, 2\] is 16777217, a whole number that float32 rounds"):
            Sets(None, pairs=pairs)
    with pytest.raises(DataError, match=r"set 2: pairs\[0, 1\] is 16777217"):
        Sets.flat(None, [1, 2], pairs=np.array([3, 0, 16777217, 1, 0]))
    assert Sets(None, pairs=[np.minimum(far, 16777216)]).pairs[0][1, 2, 0] == 16777216
    assert Sets(None, pairs=[far + 0.25]).pairs[0][1, 2, 0] == 16777218  # a fraction is rounded
    with pytest.raises(DataError, match="2 names for 1 relations"):
        Sets(None, pairs=[np.zeros((2, 2))], relations=["a", "b"])
    with pytest.raises(DataError, match="3 pairs, where the sets have 4"):
        Sets.flat(None, [2], pairs=np.zeros(3))
    with pytest.raises(UsageError, match="there are none"):
        Sets([[[1.0]]], relations=["a"])


def test_relations_made_from_features(tmp_path):
    """Relations made by the model (relate) and the same numbers given as pairs give the same answers; the rest is refused."""
    rng = np.random.default_rng(6)
    items = [rng.normal(size=(rng.integers(2, 7), 2)).astype(np.float32) for _ in range(60)]
    orders = [np.argsort(one[:, 0]) for one in items]
    wide = [one.astype(float) for one in items]
    pairs = [np.sqrt(((one[None] - one[:, None]) ** 2).sum(axis=2)) for one in wide]
    few = {**SMALL, "epochs": 2}
    given = ordernet.OrderNet(**few).fit(Sets(items, orders, pairs=pairs))
    made = ordernet.OrderNet(**few, relate="distance").fit(Sets(items, orders))
    made.save(tmp_path / "made.safetensors")
    for model in (made, ordernet.load(tmp_path / "made.safetensors"), pickle.loads(pickle.dumps(made))):
        assert np.array_equal(model.predict_log_proba(items, orders), given.predict_log_proba(Sets(items, orders, pairs=pairs)))
        assert len(model.order(items[0])) == len(items[0])
        assert [one["feature"] for one in model.importance(items, orders, repeats=1)] == ["0", "1"]
    with pytest.raises(DataError, match="1 relation"):
        made.predict(Sets(items, pairs=pairs))
    with pytest.raises(UsageError, match="there is no feature `3`"):
        ordernet.OrderNet(**few, relate="distance:3").fit(Sets(items, orders))
    with pytest.raises(UsageError, match="relate"):
        ordernet.OrderNet(**few, relate=3).fit(Sets(items, orders))
