"""Tests invalid input of every kind: an exception with an error message, never a crash, and the model
unchanged.
"""

import warnings

import numpy as np
import pytest

import ordernet
from conftest import SMALL, make_sets
from ordernet import DataError, FileError, ModelError, NotFittedError, OrderNet, Sets, UsageError

ITEMS = np.zeros((4, 3), np.float32)
NAN = ITEMS.copy()
NAN[2, 1] = np.nan
FAR = np.full((4, 3), 1e300)

BAD_SETS = [
    ([], "there are no sets: the list is empty"),
    (np.zeros((0, 4, 3)), "there must be a set, an item and a feature"),
    (np.zeros((4, 0, 3)), "there must be a set, an item and a feature"),
    (np.zeros((4, 3)), r"the sets have shape \(4, 3\), where \(sets, items, features\) is expected"),
    (np.zeros(3), "the sets have shape"),
    (np.float32(1), "the sets have shape|of type"),
    (None, "the sets are of type NoneType"),
    (5, "the sets are of type int"),
    ("sets.jsonl", "Sets.read"),
    ([np.zeros(3)], r"set 1 has shape \(3,\).*items\[:, None\]"),
    ([ITEMS, np.zeros((0, 3))], r"set 2 has shape \(0, 3\)"),
    ([ITEMS, np.zeros((2, 2, 2))], r"set 2 has shape \(2, 2, 2\)"),
    ([ITEMS, np.zeros((4, 2))], "set 2 has items of 2 features where those of set 1 have 3"),
    ([ITEMS, NAN], r"set 2: items\[2\]\[1\] is not a finite number"),
    ([FAR], r"set 1: items\[0\]\[0\] is 1e\+300, which is not a finite float32"),
    ([ITEMS.astype(object)], "set 1 has values of type object"),
    ([[["a", "b"], ["c", "d"]]], "set 1 has values of type <U1"),
    ([[[1, 2], [3]]], "set 1 has values of type object"),
    ([ITEMS.astype(complex)], "set 1 has values of type complex128"),
    (np.zeros((2, 4, 3), dtype=object), r"set 1 has values of type object"),
    ([np.zeros((3, 70000), np.float32)], "an item has 70000 features; from 1 to 65536 are possible"),
]
BAD_ORDERS = [
    ([[0, 1, 2, 2]], r"set 1: order\[3\] is 2, which stands in the order already"),
    ([[0, 1, 2, 4]], r"set 1: order\[3\] is 4: it must be an index"),
    ([[0, 1, 2, -1]], r"set 1: order\[3\] is -1"),
    ([[0, 1, 2, 2**40]], r"set 1: order\[3\] is -1"),
    ([[0, 1, 2]], r"the order of set 1 has shape \(3,\) where \(4,\) is expected"),
    ([[0, 1, 2, 3]] * 2, "there are 2 orders for 1 sets"),
    ([[0.5, 1, 2, 3]], "the order of set 1 has values of type float64"),
    ([["a", "b", "c", "d"]], "the order of set 1 has values of type"),
    ([[[0, 1], [2, 3]]], r"the order of set 1 has shape \(2, 2\)"),
    (np.zeros((1, 3), int), "the order of set 1 has shape"),
    (7, "the orders are of type int"),
    ([np.array([0, 1, 2, 3], object)], "the order of set 1 has values of type object"),
]


@pytest.mark.parametrize("sets, sentence", BAD_SETS)
def test_bad_sets(sets, sentence, small):
    for use in (Sets, small.predict):
        with pytest.raises(DataError, match=sentence):
            use(sets)
    assert len(small.predict([ITEMS])) == 1


@pytest.mark.parametrize("orders, sentence", BAD_ORDERS)
def test_bad_orders(orders, sentence, small):
    with pytest.raises(DataError, match=sentence):
        Sets([ITEMS], orders)
    with pytest.raises(DataError, match=sentence):
        small.score([ITEMS], orders)
    with pytest.raises(DataError, match=sentence):
        OrderNet(**SMALL).fit([ITEMS], orders)


def test_flat_sets():
    with pytest.raises(DataError, match="the sizes must be 1 or more each, and 4 together"):
        Sets.flat(ITEMS, [2, 3])
    with pytest.raises(DataError, match="the sizes must be"):
        Sets.flat(ITEMS, [5, -1])
    with pytest.raises(DataError, match="the orders have shape"):
        Sets.flat(ITEMS, [2, 2], np.array([0, 1]))
    with pytest.raises(DataError, match="1 names for 3 features"):
        Sets([ITEMS], features=["a"])


def test_single_sets(small):
    for items, sentence in [
        (np.zeros((4, 2)), r"the set has shape \(4, 2\), where \(items, 3\) is expected"),
        (np.zeros(3), "the set has shape"),
        (np.zeros((0, 3)), "the set has shape"),
        (NAN, r"items\[2\]\[1\] is not a finite number"),
        (None, "has values of type object"),
        ([["a"] * 3], "has values of type"),
        (Sets([ITEMS]), "predict takes Sets"),
    ]:
        with pytest.raises(DataError, match=sentence):
            small.order(items)


def test_other_widths(small, data):
    with pytest.raises(DataError, match="items of 2 features, but the model was trained on 3"):
        small.predict([np.zeros((4, 2))])
    with pytest.raises(DataError, match="an item of the validation sets has"):
        OrderNet(**SMALL).fit(*data, valid=([np.zeros((2, 2))], [[0, 1]]))
    with pytest.raises(DataError, match="orders items of 3 features, but those of the sets have 2"):
        OrderNet(pretrained=small, progress=False).fit([np.zeros((2, 2))], [[0, 1]])


def test_no_orders(small):
    with pytest.raises(DataError, match="training needs the right orders"):
        OrderNet(**SMALL).fit([ITEMS])
    with pytest.raises(DataError, match="no right orders to compare with"):
        small.score([ITEMS])
    with pytest.raises(DataError, match="valid is a pair"):
        OrderNet(**SMALL).fit([ITEMS], [[0, 1, 2, 3]], valid=(1, 2, 3))


def test_no_gpu(data, small, monkeypatch):
    monkeypatch.setenv("ORDERNET_CUDA", "/nowhere/libordernet-cuda.so")
    with pytest.raises(ordernet.TrainingError, match="/nowhere/libordernet-cuda.so"):
        OrderNet(**SMALL, device="cuda").fit(*data)


def test_what_was_checked_stays(data):
    orders = np.array([[0, 1, 2, 3]], np.int32)
    sets = Sets([ITEMS], orders)
    orders[0, 0] = 1000
    assert sets.orders[0].tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError):
        sets.orders[0][0] = 1000


def test_random_input(small):
    """Whatever is given, there is an answer or an exception of ours."""
    rng = np.random.default_rng(1)
    kinds = [np.float32, np.float64, np.int8, np.uint64, np.bool_, object, "U3", complex, "M8[s]", np.float16]
    model = ordernet.OrderNet(**dict(SMALL, epochs=1))
    words = ordernet.load("words")
    answered = 0
    for _ in range(400):

        def thing(depth=0):
            choice = rng.integers(6)
            if choice < 3:
                shape = tuple(rng.integers(0, 4, rng.integers(0, 4)))
                value = np.zeros(shape) + rng.choice([0, 1, -1, np.nan, np.inf, 1e30])
                with np.errstate(invalid="ignore"), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    return value.astype(kinds[rng.integers(len(kinds))])
            if choice < 5 and depth < 3:
                return [thing(depth + 1) for _ in range(rng.integers(0, 4))]
            return [None, 3, "text", b"x", {}, 1.5, float("nan"), ITEMS, [ITEMS]][rng.integers(9)]

        given, order = thing(), thing()
        for call in (
            lambda: small.predict(given),
            lambda: small.order(given),
            lambda: small.score([ITEMS], order),
            lambda: Sets(given, order),
            lambda: model.fit(given, order),
            lambda: ordernet.tour(given),
            lambda: ordernet.tour_length(given, order),
            lambda: ordernet.unscramble(given),
            lambda: words.predict(given),
            lambda: words.order(given),
            lambda: Sets.flat(given, order),
            lambda: small.positions(given),
        ):
            try:
                call()
                answered += 1
            except ordernet.OrderNetError:
                pass
    assert answered > 10


@pytest.mark.parametrize(
    "parameters, sentence",
    [
        (dict(epochs=0), "0 epochs: at least 1 is needed"),
        (dict(epochs="ten"), "epochs is 'ten': it must be a whole number"),
        (dict(epochs=2.5), "epochs is 2.5"),
        (dict(batch=-1), "batch is -1"),
        (dict(learning_rate=-1), "the learning rate must be a positive number"),
        (dict(learning_rate="fast"), "learning_rate is 'fast': it must be a number"),
        (dict(learning_rate=float("nan")), "the learning rate must be a positive number"),
        (dict(schedule="linear"), "schedule is 'linear': it must be one of 'constant', 'cosine'"),
        (dict(pool="sum"), "pool is 'sum'"),
        (dict(preset="huge"), "huge"),
        (dict(keep="all"), "keep is 'all'"),
        (dict(hidden=10**6), "hidden|channels|1000000"),
        (dict(seed=-1), "seed is -1"),
        (dict(device="tpu"), "tpu"),
        (dict(kernels="sse"), "sse"),
        (dict(precision="tf32", device="cpu"), "tf32 needs a GPU"),
    ],
)
def test_bad_parameters(parameters, sentence, data):
    with pytest.raises(UsageError, match=sentence):
        OrderNet(**{**SMALL, **parameters}).fit(*data)


def test_bad_parameters_of_ordering(small):
    for name, value in (("beam", 0), ("beam", "wide"), ("threads", -1)):
        model = ordernet.OrderNet.from_pretrained(ordernet._library.MODELS / "tsp.safetensors").set_params(
            **{name: value}
        )
        with pytest.raises(UsageError, match=f"{name} is {value!r}"):
            model.predict([np.zeros((3, 2))])
    for call in (
        lambda: small.predict([ITEMS], top=0),
        lambda: small.order(ITEMS, top="all"),
        lambda: small.positions(ITEMS, samples=0),
    ):
        with pytest.raises(UsageError):
            call()


def test_not_fitted():
    model = OrderNet()
    for call in (
        lambda: model.predict([ITEMS]),
        lambda: model.order(ITEMS),
        lambda: model.save("x"),
        model.to_bytes,
        model.state_dict,
        lambda: model.score([ITEMS], [[0, 1, 2, 3]]),
    ):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            call()


def test_files(tmp_path, small):
    with pytest.raises(FileNotFoundError, match="nothing.safetensors: ") as caught:
        ordernet.load(tmp_path / "nothing.safetensors")
    assert isinstance(caught.value, FileError) and caught.value.filename.endswith("nothing.safetensors")
    with pytest.raises(FileNotFoundError):
        Sets.read(tmp_path / "nothing.csv")
    with pytest.raises(FileError):
        ordernet.load(tmp_path)
    with pytest.raises(FileError, match="no/place"):
        small.save(tmp_path / "no/place.safetensors")
    (tmp_path / "text.safetensors").write_text("this is not a model, but long enough to be looked at")
    with pytest.raises(ModelError, match="text.safetensors"):
        ordernet.load(tmp_path / "text.safetensors")
    data = bytearray(small.to_bytes())
    data[-5] ^= 1
    (tmp_path / "flipped.safetensors").write_bytes(data)
    with pytest.raises(ModelError, match="corrupt"):
        ordernet.load(tmp_path / "flipped.safetensors")
    (tmp_path / "short.safetensors").write_bytes(small.to_bytes()[:1000])
    with pytest.raises(ModelError):
        ordernet.load(tmp_path / "short.safetensors")
    with pytest.raises(UsageError, match="NUL"):
        ordernet.load("a\0b")
    with pytest.raises(UsageError, match="format is 'xml'"):
        Sets.read(tmp_path / "text.safetensors", format="xml")
    (tmp_path / "bad.jsonl").write_text('{"items": [[1, 2], [3]]}\n')
    with pytest.raises(DataError, match="bad.jsonl:1"):
        Sets.read(tmp_path / "bad.jsonl")


def test_broken_pickle(small):
    state = small.__getstate__()
    state["_bytes"] = state["_bytes"][:-9]
    with pytest.raises(ModelError):
        OrderNet().__setstate__(state)


def test_words():
    words = ordernet.load("words")
    for bags, sentence in (
        ([["a", 5]], "word 2 of a set is of type int"),
        (["a text"], "a list of str"),
        ([], "empty"),
        ([[]], "set 1"),
        ([["a", "\ud800"]], "not valid Unicode"),
    ):
        with pytest.raises(DataError, match=sentence):
            words.predict(bags)
    for given, sentence in (
        ("", "no words"),
        ([], "no words"),
        (["a", None], "word 2"),
        (["a"] * 1001, "1000 at most"),
        ("a\0b", "NUL"),
        ("\ud800", "UTF-8"),
    ):
        with pytest.raises(DataError, match=sentence):
            ordernet.unscramble(given)
    with pytest.raises(ModelError, match="numbers, not words"):
        ordernet.unscramble("a b", model=ordernet.load("tsp"))
    with pytest.raises(DataError, match="are words"):
        words._fitted().word_sets([["a"]])[0]


def test_every_exception_has_one_root():
    for name in (
        "DataError",
        "ModelError",
        "UsageError",
        "TrainingError",
        "FileError",
        "MissingFileError",
        "OutOfMemoryError",
        "NotFittedError",
    ):
        assert issubclass(getattr(ordernet, name), ordernet.OrderNetError)
    assert issubclass(DataError, ValueError) and issubclass(FileError, OSError)


def test_loss_that_is_no_number():
    sets, orders = make_sets(40, 3)
    with pytest.raises(ordernet.TrainingError, match="no longer a number"):
        OrderNet(**dict(SMALL, learning_rate=1e30, clip=0.0, warmup=0.0)).fit(sets, orders)


def test_every_argument_of_every_kind(small, tmp_path):
    """Whatever stands where something else is expected: an exception of ours, or an answer."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"s": [1, 1, 2, 2], "r": [0, 1, 0, 1], "a": [1.0, 2, 3, 4], "t": list("abcd")})
    (tmp_path / "s.csv").write_text("set,rank,a\n1,0,5\n1,1,6\n")
    path = tmp_path / "s.csv"
    strange = [None, 3, -1, 1.5, float("nan"), True, "text", "", "a\0b", "\ud800", b"x", [], {}, (), [None], object(), {1}]
    calls = [
        lambda x: Sets([ITEMS], None, x),
        lambda x: Sets([ITEMS], missing=x),
        lambda x: Sets.flat(x, [4]),
        lambda x: Sets.flat(ITEMS, x),
        lambda x: Sets.flat(ITEMS, [4], x),
        lambda x: Sets([ITEMS])[x],
        lambda x: Sets([ITEMS]).with_orders(x),
        lambda x: Sets([ITEMS]).write(tmp_path / "out.jsonl" if x == "" else x if x is None else tmp_path),
        lambda x: Sets.read(x),
        lambda x: Sets.read(path, format=x),
        lambda x: Sets.read(path, set=x),
        lambda x: Sets.read(path, rank=x),
        lambda x: Sets.read(path, features=x),
        lambda x: Sets.read(path, delimiter=x),
        lambda x: Sets.read(path, width=x),
        lambda x: Sets.read(path, missing=x),
        lambda x: Sets.read(path, model=x),
        lambda x: Sets.read(path, vectors=x),
        lambda x: Sets.from_frame(x, "s"),
        lambda x: Sets.from_frame(frame, x),
        lambda x: Sets.from_frame(frame, "s", x, ["a"]),
        lambda x: Sets.from_frame(frame, "s", "r", x),
        lambda x: Sets.from_frame(frame, "s", "r", ["a"], x),
        lambda x: small.predict(x),
        lambda x: small.predict([ITEMS], top=x),
        lambda x: small.predict([ITEMS], beam=x),
        lambda x: small.order(x),
        lambda x: small.order(ITEMS, top=x),
        lambda x: small.predict_log_proba([ITEMS], x),
        lambda x: small.positions(x),
        lambda x: small.positions(ITEMS, samples=x),
        lambda x: small.positions(ITEMS, seed=x),
        lambda x: small.importance([ITEMS], [[0, 1, 2, 3]], repeats=x if x != 3 else 1),
        lambda x: small.importance([ITEMS], [[0, 1, 2, 3]], repeats=1, seed=x),
        lambda x: small.predict_frame(x),
        lambda x: small.predict_frame(frame, set=x),
        lambda x: small.predict_frame(frame, set="s", features=x),
        lambda x: ordernet.load(x),
        lambda x: ordernet.merge(x),
        lambda x: ordernet.merge([small, x]),
        lambda x: OrderNet.from_pretrained(x),
        lambda x: OrderNet().set_params(**{"epochs" if x is None else str(x): x}),
        lambda x: ordernet.tour(x),
        lambda x: ordernet.tour(np.eye(2), symmetries=x),
        lambda x: ordernet.tour(np.eye(2), beam=x),
        lambda x: ordernet.tour(np.eye(2), model=x),
        lambda x: ordernet.exact_tour(x),
        lambda x: ordernet.exact_tour(np.eye(2), seconds=x),
        lambda x: ordernet.christofides(x),
        lambda x: ordernet.tour_length(np.eye(2), x),
        lambda x: ordernet.unscramble(x),
        lambda x: ordernet.unscramble("a b", top=x),
        lambda x: ordernet.unscramble("a b", beam=x),
        lambda x: ordernet.unscramble("a b", model=x),
        lambda x: ordernet.unscramble("a b", case=x),
        lambda x: OrderNet(**SMALL).fit([ITEMS], [[0, 1, 2, 3]], valid=x),
        lambda x: OrderNet(**SMALL).fit([ITEMS], [[0, 1, 2, 3]], callbacks=x),
        lambda x: OrderNet(**SMALL, holdout=1).fit([ITEMS] * 3, [[0, 1, 2, 3]] * 3, groups=x),
        lambda x: OrderNet(**SMALL).fit([ITEMS], [[0, 1, 2, 3]], path=x if not isinstance(x, (str, bytes)) else tmp_path),
    ]
    for name in OrderNet().get_params():
        if name != "progress":
            calls.append(lambda x, name=name: OrderNet(**{**SMALL, "epochs": 1, name: x}).fit([ITEMS], [[0, 1, 2, 3]]))
    calls.append(lambda x: __import__("ordernet.plot").plot.learning_curve(x))
    wrong = []
    for number, call in enumerate(calls):
        for x in strange:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    call(x)
            except ordernet.OrderNetError as error:
                said = str(error)
                if not said or "onet_" in said or "NULL" in said or "--" in said:  # what C or the program calls things
                    wrong.append(f"call {number} of {x!r}: {said}")
            except Exception as error:
                wrong.append(f"call {number} of {x!r}: {type(error).__name__}: {error}")
    assert not wrong, "\n".join(wrong)


def test_exceptions_are_also_pythons():
    assert issubclass(ordernet.WrongTypeError, TypeError) and issubclass(ordernet.UnknownSetError, IndexError)
    assert issubclass(ordernet.MissingPackageError, ImportError)
    assert len(list(Sets([ITEMS] * 3))) == 3  # IndexError ends a loop
    with pytest.raises(TypeError, match="an OrderNet is expected"):
        Sets.read("s.csv", model=3)


def test_errors_name_parameters(tmp_path, data):
    table = tmp_path / "a.csv"
    table.write_text("set,x\n1,2\n1,z\n1,3\n")
    with pytest.raises(DataError, match=r"or name the features \(features=\)$"):
        Sets.read(table)
    table.write_text("group,x,y\n1,2,3\n")
    with pytest.raises(DataError, match=r"name the column that does, or '' where the file is one set \(set=\)$"):
        Sets.read(table)
    with pytest.raises(UsageError, match=r"\(clip=\)$") as raised:
        OrderNet(**{**SMALL, "clip": -1}).fit(*data)
    assert "onet_" not in str(raised.value) and "--" not in str(raised.value)


def test_what_would_be_taken_for_something_else():
    """A text is true, a dict gives its keys, a set has no order, and Sets(sets) would drop all but the items."""
    sets, orders = make_sets(20, 1)
    for name in ("relative", "within"):
        for make in (ordernet.OrderNet, ordernet.Ranker):
            with pytest.raises(UsageError, match=f"{name} is 'false': it must be True or False"):
                make(**{name: "false"}).fit(sets, orders)
    assert ordernet.Ranker(relative=np.True_, within=1, standardise=np.int8(0)).fit(sets, orders).kind_ == "ranker"
    with pytest.raises(UsageError, match="force is 'no': it must be True or False"):
        ordernet.OrderNet().fit(sets, orders, path="m.safetensors", force="no")
    for arguments in ((dict(enumerate(sets)),), (sets, dict(enumerate(orders)))):
        with pytest.raises(DataError, match=r"is a dict, where a list is expected; list\(d.values\(\)\)"):
            Sets(*arguments)
    assert len(Sets(dict(enumerate(sets)).values(), dict(enumerate(orders)).values())) == 20
    with pytest.raises(UsageError, match="features is a set, where a list is expected"):
        Sets.flat(np.zeros((2, 2)), [2], features={"x", "y"})
    with pytest.raises(UsageError, match="groups is a dict, where a list is expected"):
        ordernet.OrderNet(holdout=0.2).fit(sets, orders, groups={s: s // 4 for s in range(20)})
    with pytest.raises(UsageError, match="the sets are a Sets already"):
        Sets(Sets(sets, orders))
