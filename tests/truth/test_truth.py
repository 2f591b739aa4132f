"""Tests one data set through every format, number type and front end: the same values must give the same
model and the same answers, or an error that names what the format cannot represent.

usage: ORDERNET=PROGRAM PYTHONPATH=FOLDER python3 tests/truth/test_truth.py [WASM]
FOLDER has the package `ordernet`; WASM is the engine of the browser page, for Node.
"""
import base64
import gzip
import hashlib
import io
import itertools
import json
import lzma
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
import traceback
import warnings

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/serve"))
PROGRAM = os.path.abspath(os.environ.get("ORDERNET", os.path.join(ROOT, "ordernet")))
SCRATCH = tempfile.TemporaryDirectory(prefix="ordernet-truth-")
NET = {"encoder_blocks": 1, "hidden": 8, "encoder_out": 4, "decoder_blocks": 1, "decoder_out": 4}
NET_OPTIONS = [part for key, value in NET.items() for part in ("--" + key.replace("_", "-"), str(value))]
TRAINING = NET_OPTIONS + ["--epochs", "2", "--batch", "8", "--seed", "3", "--kernels", "plain", "--quiet"]


def path(name):
    return os.path.join(SCRATCH.name, name)


def run(*arguments, stdin=None, status=0):
    """Returns what the program prints; its error message when its status is not 0."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], input=stdin, capture_output=True, cwd=SCRATCH.name)
    if done.returncode != status:
        raise AssertionError(f"{' '.join(map(str, arguments))}: status {done.returncode}: {done.stderr.decode()}")
    return done.stdout if not status else done.stderr.decode()


def bits(values):
    """Returns numbers as their bytes, so that -0 is not 0; NaN as one value."""
    array = np.array(values, np.float64)
    array[np.isnan(array)] = np.nan
    return array.tobytes()


# ---- Data ------------------------------------------------------------------------------------------------


class Data:
    """Sets of items, each an array [n, width] with NaN where a value is missing, and their orders: all items, those that
    are context last. context: for each set the indices of the items that are seen and not placed."""

    def __init__(self, items, orders=None, context=None, names=None, more=None):
        self.items = [np.asarray(one, np.float64) for one in items]
        self.orders, self.names = orders, names
        self.context = context or [[] for _ in items]
        self.more = more or [{} for _ in items]  # further keys of JSON: constraints
        self.width = self.items[0].shape[1]

    def flags(self):
        """For each set a truth value per item: seen, and not placed."""
        return [np.isin(np.arange(len(one)), self.context[s]) for s, one in enumerate(self.items)]

    def placed(self, s):
        return None if self.orders is None else [i for i in self.orders[s] if i not in self.context[s]]

    def without_order(self):
        return Data(self.items, None, self.context, self.names, self.more)


def sorted_by(items, key, context=()):
    """An order that can be learned: by a feature, those that are context last."""
    placed = [i for i in range(len(items)) if i not in context]
    value = lambda i: (math.inf if math.isnan(items[i][key]) else items[i][key], i)
    return sorted(placed, key=value) + sorted(context)


def data_of(sizes, draw, width=2, **more):
    items = [[[draw(s, i, j) for j in range(width)] for i in range(n)] for s, n in enumerate(sizes)]
    return Data(items, [sorted_by(one, 0) for one in items], **more)


def datas():
    r = random.Random(29)
    sizes = [r.randrange(1, 7) for _ in range(24)]
    special = [0.0, -0.0, 1e-30, -1e30, 1e30, 5e-324, 1e-40, 1.5e-45, 3.4028234e38, 0.1, 1 / 3, 16777217.0]
    yield "integers", data_of(sizes, lambda s, i, j: r.choice([-5, -700, -(2**31), 2**31 - 1, 2**24 + 1, r.randrange(-1000, 1000)]))
    yield "scales", data_of(sizes, lambda s, i, j: r.choice(special) if j else r.uniform(-1, 1))
    yield "times", data_of(sizes, lambda s, i, j: 1.7e9 + r.randrange(100) if j else r.randrange(100))
    yield "equal", data_of(sizes, lambda s, i, j: r.randrange(2))
    yield "large", data_of([1, 500, 2, 77, 1, 3] + [2] * 6, lambda s, i, j: r.uniform(-1, 1))
    yield "names", data_of(sizes, lambda s, i, j: r.uniform(-1, 1), 3, names=["größe", "x y", '価格 "€", net'])
    context = [[r.randrange(n)] if n > 1 else [] for n in sizes]
    seen = data_of(sizes, lambda s, i, j: r.uniform(-1, 1), context=context)
    seen.orders = [sorted_by(one, 0, context[s]) for s, one in enumerate(seen.items)]
    yield "context", seen
    lacks = data_of(sizes, lambda s, i, j: r.choice([math.nan, 1.0, 2.5]) if j == 1 and i else r.uniform(-1, 1), 3, names=["a", "b", "c"])
    yield "missing", lacks
    rules = [[{"first": 1}, {"before": [[0, 2], [3, 1]], "last": 2}, {"prefix": [4, 2], "next": [[0, 1]]}][s % 3] for s in range(12)]
    yield "constraints", data_of([3, 4, 5] * 4, lambda s, i, j: r.uniform(-1, 1), more=rules)
    # Missing anywhere, in the first item too, and in all features of an item: of whole numbers, beside context, beside constraints.
    # The first set has each feature once: that of JSON objects says which keys are features.
    some = lambda values: lambda s, i, j: math.nan if ((s + i) % 5 == 0 or r.random() < 0.2) and (s, i) != (0, 1) else r.choice(values) + r.randrange(5)
    gaps = data_of(sizes, some([-5, 2**24 + 1, 1000]), 3, names=["a", "b", "c"], context=context)
    gaps.orders = [sorted_by(one, 1, context[s]) for s, one in enumerate(gaps.items)]
    yield "missing anywhere", gaps
    yield "missing, constraints", data_of([3, 4, 5] * 4, some([0.25, 1e-3]), more=rules)


# ---- Formats ---------------------------------------------------------------------------------------------
# Each makes the bytes of a file from data.


def number(x):
    return "null" if math.isnan(x) else repr(float(x))


def json_set(data, s, keys=None):
    row = lambda one: ", ".join(number(x) for x in one)
    if keys:
        items = [{name: float(one[j]) for j, name in keys} for one in data.items[s]]
        text = json.dumps(items, ensure_ascii=s % 2 == 0).replace("NaN", "null" if s % 3 else "NaN")
    else:
        text = "[" + ", ".join(f"[{row(one)}]" for one in data.items[s]) + "]"
    parts = [f'"items": {text}']
    if data.orders:
        parts.append(f'"order": {json.dumps(data.placed(s))}')
    if data.context[s]:
        parts.append(f'"context": {json.dumps(data.context[s])}')
    parts += [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in data.more[s].items()]
    return "{" + ", ".join(parts) + "}"


def jsonl(data):
    return "".join(json_set(data, s) + "\n" for s in range(len(data.items))).encode()


def json_array(data):
    return ("[\n" + ",\n".join(json_set(data, s) for s in range(len(data.items))) + "\n]\n").encode()


def named(data):
    return data.names or [f"x{j + 1}" for j in range(data.width)]


def turned(data, turn):
    keys = list(enumerate(named(data)))
    return keys[turn:] + keys[:turn]


def json_objects(data, turn=0):
    keys = turned(data, turn)
    return "".join(json_set(data, s, keys) + "\n" for s in range(len(data.items))).encode()


def csv(data, separator=",", turn=0):
    keys = turned(data, turn)
    quote = lambda text: '"' + text.replace('"', '""') + '"' if separator in text or '"' in text else text
    head = ["set"] + [quote(name) for _, name in keys] + (["rank"] if data.orders else ["context"])
    rows = [separator.join(head)]
    for s, items in enumerate(data.items):
        placed = data.placed(s)
        for i, one in enumerate(items):
            mark = str(placed.index(i)) if placed and i in placed else "" if placed else str(int(i in data.context[s]))
            rows.append(separator.join([f"s{s}"] + [repr(float(one[j])).replace("nan", "") for j, _ in keys] + [mark]))
    return ("\n".join(rows) + "\n").encode()


def tsv(data):
    return csv(data, "\t")


def npz(data, dtype="<f8", fortran=False, filled=False, whole="<i8"):
    sizes = [len(one) for one in data.items]
    flat, order = np.concatenate(data.items), np.concatenate(data.orders or [[0]])
    marks = np.concatenate([[i in data.context[s] for i in range(n)] for s, n in enumerate(sizes)])
    if filled:
        most = max(sizes)
        start = np.cumsum([0] + sizes)
        fill = lambda one, rest: np.stack([np.concatenate([one[start[s] : start[s + 1]], np.full((most - n, *one.shape[1:]), rest, one.dtype)]) for s, n in enumerate(sizes)])
        flat, order, marks = fill(flat, np.nan if dtype[1] == "f" else 0), fill(order, 7), fill(marks, False)
    arrays = {"items": flat.astype(dtype, order="F" if fortran else "C")}
    if data.orders:
        arrays["order"] = order.astype(whole, order="F" if fortran else "C")
    if any(data.context):
        arrays["context"] = marks.astype(whole if fortran else bool)
    if not filled or dtype[1] != "f":
        arrays["sizes"] = np.array(sizes, whole)
    file = io.BytesIO()
    (np.savez_compressed if filled else np.savez)(file, **arrays)
    return file.getvalue()


def safetensors(data, turn=0, more=None):
    names = named(data)
    names = names[turn:] + names[:turn]
    items = np.roll(np.concatenate(data.items), -turn, axis=1)
    single = items.astype("<f4")
    items = single if bits(single) == bits(items) else items.astype("<f8")
    tensors = {"sizes": np.array([len(one) for one in data.items], "<i4"), "items": items, **(more or {})}
    if data.orders:
        tensors["order"] = np.concatenate(data.orders).astype("<i4")
    if any(data.context):
        tensors["context"] = np.concatenate([[i in data.context[s] for i in range(len(one))] for s, one in enumerate(data.items)]).astype("u1")
    if data.names:
        tensors["columns.names"] = np.frombuffer("".join(name + "\0" for name in names).encode(), "u1")
    kinds = {"<f8": "F64", "<f4": "F32", "<i4": "I32", "|u1": "U8"}
    header, body = {"__metadata__": {"format": "ordernet-sets", "format_version": "2" if more else "1"}}, b""
    for name, tensor in sorted(tensors.items(), key=lambda pair: -pair[1].itemsize):
        header[name] = {"dtype": kinds[tensor.dtype.str], "shape": list(tensor.shape), "data_offsets": [len(body), len(body) + tensor.nbytes]}
        body += tensor.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + body


def pointer(data):
    lines = []
    for s, items in enumerate(data.items):
        line = " ".join(repr(float(x)) for x in items.reshape(-1))
        lines.append(line + (" output " + " ".join(str(i + 1) for i in data.orders[s]) if data.orders else ""))
    return ("\n".join(lines) + "\n").encode()


FORMATS = {
    "arrays.jsonl": jsonl,
    "array.json": json_array,
    "objects.jsonl": json_objects,
    "table.csv": csv,
    "table.tsv": tsv,
    "numpy.npz": npz,
    "binary.safetensors": safetensors,
    "pointer.txt": pointer,
}


def holds(name, data):
    """Returns whether the format can hold all of it."""
    if name == "pointer.txt":
        return not any(data.context) and not any(data.more) and not any(np.isnan(one).any() for one in data.items)
    return not any(data.more) or name in ("arrays.jsonl", "array.json", "objects.jsonl")


def lacks(data):
    return any(np.isnan(one).any() for one in data.items)


def reading(name, data):
    return ["--width", data.width] if name == "pointer.txt" else []


def write(name, content):
    with open(path(name), "wb") as file:
        file.write(content)
    return path(name)


# ---- What was read ---------------------------------------------------------------------------------------


def expect_read(data, text, what, single=False):
    """text: the JSON Lines that `convert` made of a file; single: of one that may hold float32."""
    lines = text.decode().splitlines()
    assert len(lines) == len(data.items), f"{what}: {len(lines)} sets, not {len(data.items)}"
    for s, line in enumerate(lines):
        one = json.loads(line, parse_int=float)  # -0 is not 0
        rows = one["items"]
        if rows and isinstance(rows[0], dict):
            rows = [[row.get(name) for name in named(data)] for row in rows]
        got = np.array([[math.nan if x is None else x for x in row] for row in rows], np.float64)
        meant = data.items[s]
        if single:
            got, meant = got.astype(np.float32), meant.astype(np.float32)
        assert bits(got) == bits(meant), f"{what}: set {s}: {got.tolist()} is not {meant.tolist()}"
        assert one.get("order") == data.placed(s), f"{what}: set {s}: order {one.get('order')}, not {data.placed(s)}"
        assert one.get("context", []) == data.context[s], f"{what}: set {s}: context {one.get('context')}"


def each_format():
    """Every format, as a file: the values as they are."""
    for what, data in datas():
        for name, make in FORMATS.items():
            if not holds(name, data):
                continue
            file = write(f"{what}-{name}", make(data))
            text = run("convert", "--to", "jsonl", *reading(name, data), file, "-")
            expect_read(data, text, f"{what} as {name}")
            back = run("convert", "--to", "jsonl", *reading(name, data), write(f"{what}-back-{name}", make(data.without_order())), "-")
            expect_read(data.without_order(), back, f"{what} as {name} without an order")


def holds_values(sets, data):
    """Whether Sets has the values of the data: in float64, or in float32 where that is enough."""
    got, meant = np.concatenate(list(sets)), np.concatenate(data.items)
    return bits(got) == bits(meant if got.dtype == np.float64 else meant.astype(np.float32))


def pipes_and_compression():
    """Compressed, and through a pipe, where the first bytes tell the format."""
    import ordernet

    for (what, data), (name, make) in itertools.product(datas(), FORMATS.items()):
        if not holds(name, data):
            continue
        content = make(data)
        kind = {"jsonl": "jsonl", "json": "jsonl", "csv": "csv", "tsv": "csv", "npz": "npz", "safetensors": "safetensors", "txt": "pointer"}[name.rsplit(".")[-1]]
        for ending, bytes_of in (("", content), (".gz", gzip.compress(content)), (".xz", lzma.compress(content))):
            if ending:  # each_format reads the others
                expect_read(data, run("convert", "--to", "jsonl", *reading(name, data), write(name + ending, bytes_of), "-"), f"{what}: {name}{ending}")
                sets = ordernet.Sets.read(path(name + ending), width=data.width if name == "pointer.txt" else 0, missing="mean" if lacks(data) else "error")
                assert lacks(data) or holds_values(sets, data), f"{what}: {name}{ending} in Python"
            # A header in which a name has a blank may be a sentence.
            told = [] if name != "table.tsv" or what != "names" else ["--format", kind]
            text = run("convert", "--to", "jsonl", *told, *reading(name, data), "-", "-", stdin=bytes_of)
            expect_read(data, text, f"{what}: {name}{ending} through a pipe")


def numpy_types():
    """Every type that NumPy writes, both byte orders, C and Fortran, one behind the other and filled up."""
    import ordernet

    r = random.Random(7)
    sizes = [r.randrange(1, 6) for _ in range(6)]
    for kind, size in [(k, s) for k in "iu" for s in (1, 2, 4, 8)] + [("f", 2), ("f", 4), ("f", 8), ("b", 1)]:
        low = 0 if kind in "ub" else -(2 ** (8 * size - 1)) if kind == "i" else -1000
        high = 1 if kind == "b" else 2 ** (8 * size - (kind == "i")) - (2048 if size == 8 else 1) if kind in "iu" else 1000
        some = [low, high, -5 if low < 0 else 1, 0, 1]
        draw = (lambda s, i, j: r.uniform(-1000, 1000)) if kind == "f" else lambda s, i, j: float(r.choice(some + [r.randint(low, high) >> r.randrange(8 * size)]))
        data = data_of(sizes, draw)
        for byte_order in "<>" if size > 1 else "|":
            dtype = f"{byte_order}{kind}{size}"
            data.items = [one.astype(dtype).astype(np.float64) for one in data.items] if kind == "f" else data.items
            data.orders = [sorted_by(one, 0) for one in data.items]
            for fortran in (False, True):
                for filled in (False, True):
                    whole = r.choice(["<i8", ">i8", "<i4", ">u2", "|i1", "<u8"])
                    content = npz(data, dtype, fortran, filled, whole)
                    sets = ordernet.Sets.read(write("typed.npz", content))
                    what = f"{dtype}, {'Fortran' if fortran else 'C'}, {'filled' if filled else 'flat'}, {whole}"
                    assert holds_values(sets, data), what
                    assert [list(map(int, one)) for one in sets.orders] == data.orders, what
                typed = [one.astype(dtype, order="F" if fortran else "C") for one in data.items]
                orders = [np.array(one, whole) for one in data.orders]
                for how, given in {"arrays": typed, "masked arrays": [np.ma.array(one) for one in typed], "sets": ordernet.Sets(typed, orders)}.items():
                    sets = given if how == "sets" else ordernet.Sets(given, orders)
                    assert holds_values(sets, data), f"{dtype} in Python: {how}"
                    assert [list(map(int, one)) for one in sets.orders] == data.orders, f"{dtype} in Python: {how}"
    for dtype in ("c8", "S3", "U3", "M8[s]", "g", "O"):
        np.savez(path("odd.npz"), items=np.ones((1, 2, 2)).astype(dtype))
        said = run("convert", "--to", "jsonl", path("odd.npz"), "-", status=3)
        assert "items" in said and "type" in said, said
    np.savez(path("odd.npz"), items=np.full((1, 2, 1), 1e300))
    assert "items[0][0][0] is 1e+300, which is not a finite float32" in run("convert", "--to", "jsonl", path("odd.npz"), "-", status=3)
    np.savez(path("odd.npz"), items=np.ones((1, 2, 1)), order=np.array([[-1, 0]]))
    assert "order[0] is -1" in run("convert", "--to", "jsonl", path("odd.npz"), "-", status=3)
    np.savez(path("odd.npz"), items=np.ones((1, 2, 1)), order=np.array([[2**40, 0]]))
    assert "order[0][0] is 1099511627776" in run("convert", "--to", "jsonl", path("odd.npz"), "-", status=3)
    for odd in (2, 0.5, -1, math.nan):
        np.savez(path("odd.npz"), items=np.ones((1, 3, 1)), context=np.array([[0, 1, odd]]))
        assert "the context of set 1: item 2 has neither 0 nor 1" in run("convert", "--to", "jsonl", path("odd.npz"), "-", status=3), odd
    # A row of NaN at the end is no item, unless sizes say so: an order that names it would be cut.
    items = np.array([[[1.0], [2.0], [math.nan]]])
    np.savez(path("odd.npz"), items=items, order=np.array([[1, 0, 2]]))
    assert "order[0][2] is 2, but items[0][2] is all NaN, which means padding; if it is an item, save the array `sizes`" in run("convert", "--to", "jsonl", path("odd.npz"), "-", status=3)
    np.savez(path("odd.npz"), items=items, order=np.array([[1, 0, -1]]), context=np.array([[0, 0, 7]]))
    assert json.loads(run("convert", "--to", "jsonl", path("odd.npz"), "-")) == {"items": [[1], [2]], "order": [1, 0]}
    np.savez(path("odd.npz"), items=items, order=np.array([[1, 0, 2]]), sizes=[3])
    assert json.loads(run("convert", "--to", "jsonl", path("odd.npz"), "-")) == {"items": [[1], [2], [None]], "order": [1, 0, 2]}
    for dtype in ("<f4", ">f8", "<i2"):
        single = data_of([4] * 5, lambda s, i, j: float(r.randrange(-99, 99)))
        np.save(path("single.npy"), np.stack(single.items).astype(dtype))
        expect_read(single.without_order(), run("convert", "--to", "jsonl", path("single.npy"), "-"), f"{dtype}.npy")
        expect_read(single.without_order(), run("convert", "--to", "jsonl", "-", "-", stdin=open(path("single.npy"), "rb").read()), f"{dtype}.npy, piped")
        assert holds_values(ordernet.Sets.read(path("single.npy")), single), f"{dtype}.npy in Python"


# ---- Models ----------------------------------------------------------------------------------------------


def facts_of(model):
    """What a model file says of its weights and of the values that it was trained on, whatever file they came from."""
    with open(model, "rb") if isinstance(model, str) else io.BytesIO(model) as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        body = file.read()
    run = [fact for fact in header.pop("__metadata__")["record.run"].split() if not fact.startswith(("names=", "relation_names="))]
    tensors = {name: body[slice(*one["data_offsets"])] for name, one in header.items() if name != "columns.names"}
    return hashlib.sha256(b"".join(name.encode() + tensors[name] for name in sorted(tensors))).hexdigest(), " ".join(run)


def train(file, *options, model="model.safetensors"):
    run("train", "--data", file, "--model", path(model), "--force", *TRAINING, *options)
    return facts_of(path(model))


def same(found, what):
    first = next(iter(found))
    for name, value in found.items():
        assert value == found[first], f"{what}: {name} differs from {first}:\n{value}\n{found[first]}"


def fitted(model, sets, orders=None):
    model.fit(sets, orders)
    model.save(path("python.safetensors"))
    return path("python.safetensors")


def one_model():
    """The same values give the same weights, from every format, from Python and from C."""
    import ctypes

    import ordernet

    for what, data in datas():
        found = {}
        for name, make in FORMATS.items():
            if holds(name, data):
                found[name] = train(write(name, make(data)), *reading(name, data), *(["--missing", "indicator"] if lacks(data) else []))
        model = ordernet.OrderNet(epochs=2, batch=8, seed=3, kernels="plain", **NET)
        how = {"missing": "indicator" if lacks(data) else "error"}
        masked = [np.ma.array(np.nan_to_num(one, nan=7), mask=np.isnan(one)) for one in data.items]
        given = {f"Sets.read, {name}": lambda name=name: ordernet.Sets.read(path(name), width=data.width if name == "pointer.txt" else 0, missing=how["missing"]) for name in found}
        how["context"] = data.flags() if any(data.context) else None
        given["Sets"] = lambda: ordernet.Sets(data.items, [data.placed(s) for s in range(len(data.items))], **how)
        given["masked arrays"] = lambda: ordernet.Sets(masked, data.orders, **how)
        given["flat"] = lambda: ordernet.Sets.flat(np.asfortranarray(np.concatenate(data.items)), [len(one) for one in data.items], data.orders, context=how["context"]) if not lacks(data) else ordernet.Sets(masked, data.orders, **how)
        for front, sets in given.items():
            found[f"Python, {front}"] = facts_of(fitted(model, sets()))
        if not any(data.context) and not lacks(data):
            found["Python, arrays"] = facts_of(fitted(model, data.items, data.orders))
            c, sets = c_sets(data)
            handle, err, options = ctypes.c_void_p(), ordernet._library.Error(), model._options()[0]
            assert not c.onet_train(ctypes.byref(handle), sets, None, ctypes.byref(options), ctypes.byref(err)), err.text
            assert not c.onet_model_save(handle, path("c.safetensors").encode(), ctypes.byref(err)), err.text
            found["C"] = facts_of(path("c.safetensors"))
            c.onet_model_free(handle)
            c.onet_sets_free(sets)
        same(found, what)


def scalings():
    """Scales and ranks within the set that are asked for are learned, kept and applied alike by the program, Python and the browser."""
    import ordernet

    data = dict(datas())["scales"]
    file = write("scales.jsonl", jsonl(data))
    for scale in ("standard", "quantile", "none:1,quantile:2", "standard:1"):
        for within in (False, True):
            options = ["--scale", scale, *(["--within"] if within else [])]
            model = ordernet.OrderNet(epochs=2, batch=8, seed=3, kernels="plain", scale=scale, within=within, **NET)
            what = " ".join(options)
            same({"command": train(file, *options), "Python": facts_of(fitted(model, data.items, data.orders))}, what)
            meant = answers_of(run("order", "--kernels", "plain", "--model", path("model.safetensors"), file))
            found = model.predict(data.items)
            assert [one.tolist() for one in found] == [order for order, _ in meant], what
            assert np.allclose([float(p) for _, p in meant], model.predict_log_proba(data.items), rtol=1e-6), what  # as written
            said = in_browser(path("model.safetensors"), [file])[file]
            for order, (right, p), logprob in zip(said["orders"], meant, said["logprobs"]):
                assert order == right and abs(logprob - float(p)) < 1e-4 * max(1, abs(float(p))), f"{what}: {order} is not {right}"


# ---- Answers ---------------------------------------------------------------------------------------------


def answers_of(text):
    """Orders and log-probabilities as they are written: equal texts are equal numbers."""
    return [(one["order"], str(one["logprob"])) for one in (json.loads(line, parse_float=str) for line in text.decode().splitlines())]


def conversions():
    """From every format to every format that has a place for all of it, and back: the same values. The others refuse."""
    kinds = {"jsonl": "a.jsonl", "csv": "a.csv", "npz": "a.npz", "safetensors": "a.safetensors", "pointer": "a.txt"}
    for what, data in datas():
        for name, make in FORMATS.items():
            if not holds(name, data) or name in ("array.json", "table.tsv"):
                continue
            for to, file in kinds.items():
                file = path(f"{what}-{to}-{file}")
                refused = [part for part, has in (("constraints", any(data.more)), ("missing values", lacks(data)), ("context items", any(data.context))) if has]
                good = to in ("jsonl", "safetensors") or not refused or (to in ("csv", "npz") and "constraints" not in refused)
                said = run("convert", "--to", to, *reading(name, data), write(name, make(data)), file, status=0 if good else 3)
                if not good:
                    assert f"{to} cannot hold" in said and any(part in said for part in refused), said
                    continue
                expect_read(data, run("convert", "--to", "jsonl", "--format", to, *reading("pointer.txt" if to == "pointer" else "", data), file, "-"), f"{what}: {name} to {to}", to in ("npz", "safetensors") and what != "times")


def names_in_another_order():
    """A model takes its features by name from every format that has names, in every command that reads data."""
    import ordernet

    data = dict(datas())["names"]
    reference = train(write("names.csv", csv(data)), model="named.safetensors")
    model = path("named.safetensors")
    meant = answers_of(run("order", "--model", model, "--to", "jsonl", path("names.csv")))
    measure = run("eval", "--model", model, "--json", path("names.csv"))
    python = ordernet.load(model)
    for name, content in {"turned.csv": csv(data, turn=1), "turned.tsv": csv(data, "\t", 2), "turned.jsonl": json_objects(data, 1), "turned.safetensors": safetensors(data, 1)}.items():
        file = write(name, content)
        assert answers_of(run("order", "--model", model, "--to", "jsonl", file)) == meant, name
        assert json.loads(run("eval", "--model", model, "--json", file))["exact"] == json.loads(measure)["exact"], name
        sets = ordernet.Sets.read(file, model=python)
        assert [list(map(int, one)) for one in python.predict(sets)] == [order for order, _ in meant], name
        said = [run("train", "--data", path("names.csv"), "--valid", valid, "--model", path("valid.safetensors"), "--force", *TRAINING).decode().split("sets/s")[0].rsplit(",", 1)[0] for valid in (file, path("names.csv"))]
        assert said[0] == said[1], f"--valid {name}: {said}"
        tuned = [(run("train", "--data", one, "--from", model, "--model", path("tuned.safetensors"), "--force", "--epochs", 1, "--kernels", "plain", "--quiet"), facts_of(path("tuned.safetensors")))[1] for one in (file, path("names.csv"))]
        assert tuned[0] == tuned[1], f"--from with {name}"
        features = ",".join(data.names[1::-1])
        chosen = [train(one, "--features", features, model="chosen.safetensors") for one in (file, path("names.csv"))]
        assert chosen[0] == chosen[1] != reference, f"--features with {name}"
        sets = ordernet.Sets.read(file, features=data.names[1::-1])
        assert sets.features == data.names[1::-1] and np.array_equal(np.float32(sets[3]), np.float32(data.items[3][:, 1::-1])), f"features= with {name}"
    assert reference == train(write("again.safetensors", safetensors(data)))
    fewer = Data([one[:, :2] for one in data.items], data.orders, names=data.names[:2])
    for name, content in {"fewer.csv": csv(fewer), "fewer.jsonl": json_objects(fewer), "fewer.safetensors": safetensors(fewer)}.items():
        assert data.names[2] in run("order", "--model", model, write(name, content), status=3), name
    for name in ("arrays.jsonl", "numpy.npz"):
        assert "no names to choose by" in run("train", "--features", "a,b", "--data", write(name, FORMATS[name](data)), "--model", path("no.safetensors"), status=3), name


def c_sets(data):
    """The library, and sets that its own function made of doubles."""
    import ctypes

    from ordernet import _library

    c = _library.lib
    for function, kinds in {"onet_sets_new": [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p], "onet_sets_append_doubles": [ctypes.c_void_p, ctypes.c_int, ctypes.c_int] + [ctypes.c_void_p] * 3}.items():
        getattr(c, function).argtypes = kinds
    sets = ctypes.POINTER(_library.SetsStruct)()
    assert not c.onet_sets_new(ctypes.byref(sets), data.width, None)
    for s, one in enumerate(data.items):
        values, order = np.ascontiguousarray(one), None if data.orders is None else np.array(data.orders[s], np.int32)
        assert not c.onet_sets_append_doubles(sets, len(one), data.width, values.ctypes.data, None if order is None else order.ctypes.data, None)
    return c, sets


def from_c(data, model):
    """Orders and log-probabilities by onet_orderer_run."""
    import ctypes

    from ordernet import _engine, _library

    c, sets = c_sets(data.without_order())
    handle, orderer, err = ctypes.c_void_p(), ctypes.c_void_p(), _library.Error()
    options = _library.OrderOptions(size=ctypes.sizeof(_library.OrderOptions))
    assert not c.onet_model_load(ctypes.byref(handle), model.encode(), ctypes.byref(err)), err.text
    assert not c.onet_orderer_new(ctypes.byref(orderer), handle, ctypes.byref(options), ctypes.byref(err)), err.text
    raw, found = np.zeros(len(data.items), _engine.ANSWER), [(np.zeros(len(one), np.int32), np.zeros(1)) for one in data.items]
    raw["order"], raw["logprob"] = [order.ctypes.data for order, _ in found], [p.ctypes.data for _, p in found]
    assert not c.onet_orderer_run(orderer, sets, raw.ctypes.data, ctypes.byref(err)), err.text
    for free, one in ((c.onet_orderer_free, orderer), (c.onet_model_free, handle), (c.onet_sets_free, sets)):
        free(one)
    return [(order.tolist(), float(f"{p[0]:.9g}") + 0.0) for order, p in found]


def answers():
    """The command, the C API, Python and HTTP give the same orders with the same probabilities, from every format."""
    import ctypes

    import ordernet
    from client import Server

    for what, data in datas():
        train(write("answers.jsonl", jsonl(data)), *(["--missing", "indicator"] if lacks(data) else []), model="answers.safetensors")
        model = path("answers.safetensors")
        found = {}
        for name, make in FORMATS.items():
            if holds(name, data):
                file = write(name, make(data.without_order()))
                found[name] = answers_of(run("order", "--model", model, "--to", "jsonl", *reading(name, data), file))
        server = Server("--model", f"m={model}")
        try:
            for name in ("arrays.jsonl", "objects.jsonl"):  # as text: -0 stays -0, and whole numbers whole
                sets = ", ".join(FORMATS[name](data.without_order()).decode().splitlines())
                status, said = server.post("/v1/order", f'{{"model": "m", "sets": [{sets}]}}'.encode())
                assert status == 200, said
                found[f"HTTP, {name}"] = [([int(i) for i in one["order"]], one["logprob"]) for one in said["answers"]]
            if data.names:  # the model has none: as the first set has them. The others by name
                sets = [json_set(data.without_order(), s, turned(data, s % data.width)) for s in range(len(data.items))]
                status, said = server.post("/v1/order", f'{{"model": "m", "sets": [{", ".join(sets)}]}}'.encode())
                assert status == 200, said
                found["HTTP, turned names"] = [([int(i) for i in one["order"]], one["logprob"]) for one in said["answers"]]
        finally:
            server.stop()
        same(found, what)
        read = ordernet.load(model)
        for name in FORMATS:
            if holds(name, data):
                sets = ordernet.Sets.read(path(name), model=read, width=data.width if name == "pointer.txt" else 0)
                orders = [list(map(int, one))[: len(order)] for one, (order, _) in zip(read.predict(sets), found[name])]  # context items follow
                assert orders == [order for order, _ in found[name]], f"{what}: Sets.read, {name}"
        if any(data.context) or any(data.more):
            continue
        meant = [order for order, _ in found["arrays.jsonl"]]
        python = ordernet.load(model)
        if not lacks(data):
            assert from_c(data, model) == [(order, float(p)) for order, p in found["arrays.jsonl"]], f"{what}: onet_orderer_run"
            own = ordernet.Sets.read(path("answers.jsonl"))  # what Sets gives is what it holds
            assert [list(map(int, python.order(one))) for one in own] == [list(map(int, python.order(own[s]))) for s in range(len(own))] == meant, f"{what}: order(sets[i])"
            scores = [python.score(own), python.score(list(own), own.orders), np.mean([np.array_equal(python.order(x), y) for x, y in zip(own, own.orders)])]
            assert scores[0] == scores[1] == scores[2], f"{what}: score and order: {scores}"
        assert [list(map(int, one)) for one in python.predict(data.items)] == meant, f"{what}: Python"
        masked = [np.ma.masked_array(np.nan_to_num(one, nan=7), np.isnan(one)) for one in data.items]
        assert [list(map(int, one)) for one in python.predict(masked)] == meant, f"{what}: masked arrays"
        handle, error = ctypes.c_void_p(), ctypes.create_string_buffer(1024)
        c = ctypes.CDLL(os.path.join(os.path.dirname(ordernet.__file__), "libordernet.so"))
        assert not c.onet_model_load(ctypes.byref(handle), model.encode(), error), error.value
        c.onet_order.argtypes = [ctypes.c_void_p] * 2 + [ctypes.c_int] + [ctypes.c_void_p] * 3
        for s, one in enumerate(data.items):
            items, order = np.ascontiguousarray(one, np.float32), np.zeros(len(one), np.int32)
            if what in ("times", "integers"):
                break  # onet_order takes float32
            assert not c.onet_order(handle, items.ctypes.data, len(one), order.ctypes.data, None, error), error.value
            assert order.tolist() == meant[s], f"{what}: onet_order"


def tours():
    """Cities far from 0 and near each other have the same tour in every format, over HTTP and in Python."""
    import ordernet
    from client import Server

    square = Data([[[500000.1, 4649776.2], [500000.3, 4649776.4], [500000.3, 4649776.2], [500000.1, 4649776.4]]], names=["x", "y"])
    for name, make in FORMATS.items():
        said = run("tsp", "solve", write(name, make(square))).decode()
        assert "length 0.800000, optimal" in said, f"{name}: {said}"
    server = Server("--model", f"m={os.path.join(ROOT, 'tests/cli/sort.safetensors')}")
    try:
        status, said = server.post("/v1/tour", {"items": square.items[0].tolist()})
    finally:
        server.stop()
    assert status == 200 and abs(float(said["answers"][0]["length"]) - 0.8) < 1e-6 and said["answers"][0]["optimal"] is True, said
    cities = Data([np.random.default_rng(s).random((7, 2)) for s in range(4)], names=["x", "y"])
    meant = run("tsp", "solve", write("cities.jsonl", jsonl(cities))).decode().splitlines()[1::2]
    server = Server("--model", f"m={os.path.join(ROOT, 'tests/cli/sort.safetensors')}")
    try:
        for keys in ([(0, "x"), (1, "y")], [(1, "y"), (0, "x")], [(1, "Y"), (0, "id"), (0, "X")], [(1, "lat"), (0, "lon")]):
            sets = [json_set(cities, s, keys) for s in range(4)]
            assert run("tsp", "solve", write("keys.jsonl", "\n".join(sets).encode())).decode().splitlines()[1::2] == meant, keys
            status, said = server.post("/v1/tour", f'{{"sets": [{", ".join(sets)}]}}'.encode())
            assert status == 200 and [" ".join(one["tour"]) for one in said["answers"]] == meant, f"{keys}: {said}"
            assert ("note" in said) == (keys[0][1] == "lat"), said
    finally:
        server.stop()
    tour = ordernet.exact_tour(square.items[0])
    assert abs(ordernet.tour_length(square.items[0], tour) - 0.8) < 1e-6, tour


def frames():
    """A data frame of pandas is a table."""
    try:
        import pandas
    except ImportError:
        raise Skip("no pandas here (make setup-python)") from None
    import ordernet

    for what, data in datas():
        file, how = write("frame.csv", csv(data)), "indicator" if lacks(data) else "error"
        columns = {"set": np.repeat([f"s{s}" for s in range(len(data.items))], [len(one) for one in data.items])}
        columns.update((name, np.concatenate(data.items)[:, j]) for j, name in enumerate(named(data)))
        columns["rank"] = np.concatenate([np.argsort(order) for order in data.orders])
        frame = pandas.DataFrame(columns)
        marks, own = np.concatenate(data.flags()), named(data)
        if any(data.context):
            frame["rank"] = frame["rank"].where(~marks)
            try:
                ordernet.Sets.from_frame(frame, set="set", rank="rank", missing=how)
                raise AssertionError(f"{what}: from_frame took items without a rank that are not marked as context")
            except ordernet.DataError as error:
                assert "no number as its rank" in str(error), error
            frame["context"], own = marks, [*own, "context"]
        fit = lambda sets, orders=None: facts_of(fitted(ordernet.OrderNet(epochs=2, batch=8, seed=3, kernels="plain", missing=how, **NET), sets, orders))
        turn = ["rank", *own[::-1], "set"]
        objects = frame[turn].astype(object)
        found = {"CSV": train(file, *(["--missing", how] if lacks(data) else []), model="frame.safetensors")}
        found["frame"] = fit(ordernet.Sets.from_frame(frame, set="set", rank="rank", missing=how))
        found["objects"] = fit(ordernet.Sets.from_frame(objects, set="set", rank="rank", features=named(data), missing=how))
        each = [one[own] for _, one in frame.groupby("set", sort=False)]
        orders = [data.placed(s) for s in range(len(data.items))]
        found["list of frames"] = fit([one if s % 2 == 0 else one[own[::-1]] for s, one in enumerate(each)], orders)
        same(found, f"{what}: data frames")
        model = ordernet.load(path("frame.safetensors"))
        answers = model.predict(ordernet.Sets.read(file, model=model))
        place = np.full(len(frame), -1)
        place[~marks] = np.concatenate([np.argsort(one) for one in answers])  # without context items
        for given in (frame, frame[turn], frame[turn].assign(set=frame["set"] + " ")):
            assert model.predict_frame(given)["rank"].fillna(-1).tolist() == place.tolist(), f"{what}: predict_frame"
        assert all(np.array_equal(a, b) for a, b in zip(model.predict([one[own[::-1]] for one in each]), answers)), f"{what}: list of frames"


def texts():
    """Text that no one has named as a feature: a table, JSON objects and a data frame have the same features."""
    import ordernet

    r = random.Random(31)
    columns = {
        "id": lambda s, i: f"n{s}-{i}",
        "colour": lambda s, i: r.choice(["rot", "grün", "blau", ""]),
        "when": lambda s, i: f"2024-0{r.randrange(1, 10)}-1{r.randrange(10)}T0{i}:00Z",
        "x": lambda s, i: r.uniform(-1, 1),
        "ok": lambda s, i: r.choice(["true", "False"]),
        "day": lambda s, i: f"day {s // 3}",
        "price": lambda s, i: f"{r.randrange(9)},50",
        "zip": lambda s, i: f"0{r.randrange(3)}",
        "paid": lambda s, i: "" if s == 5 else f"2024-01-{r.randrange(10, 30)}",
    }
    sets = [[{name: draw(s, i) for name, draw in columns.items()} for i in range(5)] for s in range(40)]
    orders = [sorted(range(5), key=lambda i: (one[i]["colour"], one[i]["x"])) for one in sets]
    quote = lambda value: str(value) if isinstance(value, float) else f'"{value}"' if value else ""
    rows = [["s%d" % s, *(quote(v) for v in one[i].values()), str(orders[s].index(i))] for s, one in enumerate(sets) for i in range(5)]
    table = write("texts.csv", "\n".join(",".join(row) for row in [["set", *columns, "rank"], *rows]).encode())
    lines = [json.dumps({"items": [{k: v for k, v in item.items() if v != ""} for item in one], "order": order}) for one, order in zip(sets, orders)]
    objects = write("texts.jsonl", "\n".join(lines).encode())
    found = {"CSV": train(table, model="texts.safetensors"), "JSON objects": train(objects, model="objects.safetensors")}
    expected = ["when", "x", "ok", "colour=blau", "colour=grün", "colour=rot"]
    assert ordernet.load(path("texts.safetensors")).feature_names_in_.tolist() == expected
    fit = lambda sets: facts_of(fitted(ordernet.OrderNet(epochs=2, batch=8, seed=3, kernels="plain", **NET), sets))
    found["CSV in Python"], found["JSON in Python"] = fit(ordernet.Sets.read(table)), fit(ordernet.Sets.read(objects))
    try:
        import pandas

        frame = pandas.read_csv(table, dtype={"zip": str, "price": str}, keep_default_na=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of what is not used
            found["frame"] = fit(ordernet.Sets.from_frame(frame.drop(columns="zip"), set="set", rank="rank"))
    except ImportError:
        pass
    same(found, "texts")


def in_browser(model, files):
    wasm = sys.argv[1] if len(sys.argv) > 1 else ""
    if not os.path.exists(wasm):
        raise Skip("no WebAssembly here (make setup-page)")
    done = subprocess.run(["node", "--no-warnings", os.path.join(ROOT, "tests/truth/browser.mjs"), wasm, model, *files], capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return dict(zip(files, json.loads(done.stdout)))


def browser():
    """The engine of the browser's page reads the same values, orders alike, and learns the same from every format."""
    for what, data in datas():
        train(write("browser.jsonl", jsonl(data)), *(["--missing", "indicator"] if lacks(data) else []), model="browser.safetensors")
        files = [write(name, make(data)) for name, make in FORMATS.items() if holds(name, data) and (data.width == 2 or name != "pointer.txt") and (what != "large" or name in ("table.csv", "numpy.npz"))]
        meant = answers_of(run("order", "--model", path("browser.safetensors"), path("browser.jsonl")))
        learnt = {}
        for file, one in in_browser(path("browser.safetensors"), files).items():
            assert "refused" not in one, f"{what}: {file}: {one}"
            assert not lacks(data) or "missing value" in one["learnt"], one["learnt"]  # the page cannot replace missing values
            if not lacks(data):
                learnt[file] = facts_of(base64.b64decode(one["learnt"]))
                assert bits(np.frombuffer(base64.b64decode(one["items"]), "<f4")) == bits(np.concatenate(data.items).astype(np.float32).reshape(-1)), f"{what}: {file}"
            for s, ((order, p), found, logprob) in enumerate(zip(meant, one["orders"], one["logprobs"])):
                rows = [[data.items[s][i].tolist() for i in which] for which in (order, found[: len(order)])]  # equal items are alike
                assert bits(rows[0]) == bits(rows[1]) and abs(logprob - float(p)) < 1e-4 * max(1, abs(float(p))), f"{what}: {file}: {found} is not {order}"
        if learnt:
            run("train", "--data", path("browser.jsonl"), "--holdout", len(data.items) // 10, "--model", path("command.safetensors"), "--force", "--epochs", 1, "--kernels", "plain", "--quiet")
            learnt["command"] = facts_of(path("command.safetensors"))
            scaled = run("inspect", path("command.safetensors"))
            assert what != "scales" or b"quantile, rank within the set" in scaled, scaled  # so that this is compared too
        same(learnt or {"": ""}, f"{what}: learnt in the browser")


def too_many_digits():
    """Whole numbers that double rounds are refused by every front and format, with where they stand: they would become equal."""
    import ordernet
    from client import Server

    for whole in (2**53 + 1, -(2**53) - 1, 1700000000000000001, 2**63 + 1):
        texts = {
            "a.jsonl": f'{{"items": [[1, 2], [3, {whole}]], "order": [0, 1]}}\n',
            "b.jsonl": f'{{"items": [{{"x": 1, "t": 2}}, {{"x": 3, "t": {whole}}}], "order": [0, 1]}}\n',
            "a.json": f'[{{"items": [[1, 2], [3, {whole}]], "order": [0, 1]}}]\n',
            "a.csv": f"set,x,t,rank\na,1,2,0\na,3,{whole},1\n",
            "a.tsv": f"set\tx\tt\trank\na\t1\t2\t0\na\t3\t{whole}\t1\n",
            "a.txt": f"1 2 3 {whole} output 1 2\n",
        }
        for k, spelt in enumerate((f"{whole}.0", f"{whole}e0", f"{whole}00.0E-2")):  # as whole as the others
            texts[f"c{k}.jsonl"], texts[f"c{k}.csv"] = texts["a.jsonl"].replace(str(whole), spelt), texts["a.csv"].replace(str(whole), spelt)
        where = {"a.jsonl": "`items`[1][1]", "b.jsonl": "`items`[1], `t`", "a.json": "`items`[1][1]", "a.csv": ":3: column `t`", "a.tsv": ":3: column `t`", "a.txt": "`items`[3]", "a.npz": "items[0][1][1]"}
        where.update((name, where["a." + name.split(".")[1]]) for name in texts if name[0] == "c")
        files = [write(name, text.encode()) for name, text in texts.items()]
        array = np.array([[[1, 2], [3, whole]]], np.uint64 if whole >= 2**63 else np.int64)
        np.savez(path("a.npz"), items=array)
        files.append(path("a.npz"))
        said = {file: run("convert", file, path("out.safetensors"), status=3) for file in files}
        said.update({f"{file}, piped": run("convert", "--format", "npz" if file.endswith("npz") else "auto", "-", path("out.jsonl"), stdin=open(file, "rb").read(), status=3) for file in files})
        for file in files:
            try:
                ordernet.Sets.read(file)
                raise AssertionError(f"Sets.read took {file}")
            except ordernet.DataError as error:
                said[f"{file}, Sets.read"] = str(error)
        for file, sentence in said.items():
            assert "a whole number that double cannot hold exactly" in sentence and where[os.path.basename(file.split(",")[0])] in sentence, f"{file}: {sentence}"
        for how, given in {"array": array, "list": [[[1, 2], [3.5, whole]]], "arrays": [array[0]], "masked": np.ma.array(array)}.items():
            try:
                ordernet.Sets(given)
                raise AssertionError(f"Sets took {whole}: {how}")
            except ordernet.DataError as error:
                assert f"{whole}, a whole number that double cannot hold exactly" in str(error), error
        server = Server("--model", f"m={os.path.join(ROOT, 'tests/cli/sort.safetensors')}")
        try:
            status, answer = server.post("/v1/order", f'{{"model": "m", "items": [1, {whole}]}}'.encode())
            assert status == 400 and "double cannot hold exactly" in answer["error"], answer
        finally:
            server.stop()
        assert b'"order"' in run("order", "--model", os.path.join(ROOT, "tests/cli/sort.safetensors"), "-", stdin=f'{{"items": [[0.5]], "id": {whole}}}\n'.encode())  # passed through
    run("convert", write("exact.jsonl", b'{"items": [[9007199254740992, 1152921504606846976, 123456789012345680000]]}\n'), path("out.csv"))
    for file, one in in_browser("", files).items():
        assert "double cannot hold exactly" in one["refused"], one


def related(data, pairs, order=True):
    """Sets with relations, pairs [n, n, 2] each, in every format that holds them: options and the file."""
    data = data if order else data.without_order()
    sizes, width = [len(one) for one in pairs], data.width
    row = lambda e, i: "[" + ", ".join("null" if i == j else json.dumps([float(x) for x in one]) for j, one in enumerate(e[i])) + "]"
    lines = []
    for s, e in enumerate(pairs):
        text = json_set(data, s)
        said = '"pairs": [' + ", ".join(row(e, i) for i in range(len(e))) + "]"
        lines.append("{" + said + ", " + text[1:] if width else "{" + said + (f', "order": {data.orders[s]}' if data.orders else "") + "}")
    yield "related.jsonl", [], ("\n".join(lines) + "\n").encode()
    flat = np.concatenate([e.reshape(-1, 2) for e in pairs])
    most = max(sizes)
    filled = np.stack([np.pad(e, ((0, most - len(e)), (0, most - len(e)), (0, 0)), constant_values=np.nan) for e in pairs])
    for name, value in (("flat.npz", flat), ("filled.npz", filled)):
        spread = lambda one: np.stack([np.concatenate([np.asarray(x, float), np.full((most - len(x), *np.shape(x)[1:]), 0.0)]) for x in one]) if name == "filled.npz" else np.concatenate(one)
        arrays = {"pairs": value.astype(">f8" if name == "filled.npz" else "<f4"), "sizes": sizes}
        if width:
            arrays["items"] = spread(data.items)
        if data.orders:
            arrays["order"] = spread([np.array(one) for one in data.orders]).astype("<i4")
        file = io.BytesIO()
        np.savez_compressed(file, **arrays)
        yield name, [], file.getvalue()
    yield "related.safetensors", [], safetensors(data, more={"pairs": flat.astype("<f4")})
    rows = [f"s{s},{i},{j},{e[i, j, 0]!r},{e[i, j, 1]!r}" for s, e in enumerate(pairs) for i in range(len(e)) for j in range(len(e)) if i != j]
    random.Random(3).shuffle(rows)
    yield "related.csv", ["--pairs", write("pairs.csv", ("\n".join(["set,from,to,time,toll", *rows]) + "\n").encode())], csv(data)


def relations():
    """Relations, with features and without, given and made of them, give the same model and answers from every format and front
    end."""
    import ordernet
    from client import Server

    r = np.random.default_rng(5)
    sizes = [int(n) for n in r.integers(2, 6, 24)]
    pairs = [r.normal(size=(n, n, 2)).astype(np.float32).astype(float) for n in sizes]
    for width, made in ((0, None), (2, None), (2, "distance,difference:2")):
        relate = ["--relate", made] if made else []
        items = [r.normal(size=(n, width)).astype(np.float32).astype(float) for n in sizes]
        data = Data(items, [[int(i) for i in np.argsort(e[0, :, 0])] for e in pairs])
        found, model, asked = {}, path("related.model.safetensors"), {}
        for name, options, content in related(data, pairs):
            found[name] = train(write(name, content), *options, *relate, model="related.model.safetensors")
        net = ordernet.OrderNet(epochs=2, batch=8, seed=3, kernels="plain", relate=made, **NET)
        given = items if width else None
        found["Sets"] = facts_of(fitted(net, ordernet.Sets(given, data.orders, pairs=pairs)))
        joined = np.concatenate([e.reshape(-1, 2) for e in pairs])
        found["flat"] = facts_of(fitted(net, ordernet.Sets.flat(np.concatenate(items) if width else None, sizes, data.orders, pairs=joined)))
        found["Sets.read"] = facts_of(fitted(net, ordernet.Sets.read(path("related.csv"), pairs=path("pairs.csv"))))
        same(found, f"relations, {width} features")
        for name, options, content in related(data, pairs, order=False):
            asked[name] = answers_of(run("order", "--model", model, "--to", "jsonl", *options, write(name, content)))
        server = Server("--model", f"m={model}")
        try:
            with open(path("related.jsonl")) as file:
                status, said = server.post("/v1/order", f'{{"sets": [{", ".join(file.read().splitlines())}]}}'.encode())
            assert status == 200, said
            asked["HTTP"] = [([int(i) for i in one["order"]], one["logprob"]) for one in said["answers"]]
        finally:
            server.stop()
        same(asked, f"relations, {width} features")
        orders = ordernet.load(model).predict(ordernet.Sets(given, pairs=pairs, relations=["time", "toll"]))
        assert [list(map(int, one)) for one in orders] == [order for order, _ in asked["HTTP"]]


TESTS = [relations, conversions, names_in_another_order, answers, tours, frames, texts, browser, scalings, too_many_digits, each_format, pipes_and_compression, numpy_types, one_model]


class Skip(Exception):
    pass


def main():
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for test in TESTS:
        if len(sys.argv) > 2 and test.__name__ not in sys.argv[2:]:
            continue
        try:
            test()
            counts["passed"] += 1
        except Skip as why:
            counts["skipped"] += 1
            print(f"skipped: {test.__name__}: {why}")
        except Exception:
            counts["failed"] += 1
            print(f"FAILED: {test.__name__}\n{traceback.format_exc()}")
    print(", ".join(f"{count} {name}" for name, count in counts.items()))
    return counts["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
