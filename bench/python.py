#!/usr/bin/env python3
"""Measures the overhead of the Python package over the C library, each figure beside that of the command or
the C call.

    make bench-python        (builds the wheel and installs it into build/python/venv first)

Prints a table. Times are of the CPU, of all threads and of the command's process, so that other work on the machine counts
little; the best of several rounds is shown. The command's time includes the start of a process and its files, the C
call's does not.
"""

import gc
import os
import subprocess
import tempfile
import threading
from pathlib import Path

import numpy as np

import ordernet
from ordernet import _library

PROGRAM = os.environ.get("ORDERNET", str(Path(__file__).resolve().parents[1] / "ordernet"))
ROUNDS = 3


def cpu():
    return sum(os.times()[:4])  # of this process and of those that ended


def seconds(work):
    began = cpu()
    work()
    return cpu() - began


def show(what, python, other, unit, wanted):
    print(f"{what:<46} {python:>12,.1f} {other:>12,.1f} {unit:<8} {wanted}", flush=True)


def many_sets(model):
    """Orders 100,000 sets of 10 from NumPy; the command reads them from a binary file and writes one."""
    array = np.random.default_rng(1).random((100_000, 10, model.n_features_in_)).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        model.save(f"{folder}/m.safetensors")
        ordernet.Sets(array).write(f"{folder}/sets.safetensors")
        command = [
            PROGRAM,
            "order",
            "--model",
            f"{folder}/m.safetensors",
            "--device",
            "cpu",
            "--out",
            f"{folder}/out.safetensors",
            f"{folder}/sets.safetensors",
        ]
        subprocess.run(command, check=True)
        ours, theirs, call = [], [], []
        orderer, sets = model._orderer(model._fitted()), ordernet.Sets(array)
        for _ in range(ROUNDS):  # in turns, so that other work on the machine slows all of them alike
            ours.append(seconds(lambda: model.predict(array)))
            theirs.append(seconds(lambda: subprocess.run(command, check=True)))
            call.append(seconds(lambda: model._fitted().order_all(orderer, sets)))
    show(
        "100,000 sets of 10, from NumPy | the command",
        1e5 / min(ours),
        1e5 / min(theirs),
        "sets/s",
        f"{min(theirs) / min(ours):.1%} of it",
    )
    show(
        "                               | the C call",
        1e5 / min(ours),
        1e5 / min(call),
        "sets/s",
        f"{min(call) / min(ours):.1%} of it",
    )


def one_set(model):
    items = np.random.default_rng(1).random((5, model.n_features_in_)).astype(np.float32)
    engine = model._fitted()
    orderer = model._orderer(engine, 1, None, 1)
    order, _ = engine.order_one(orderer, items)  # and fills in the structs for the C call below, which writes to order
    run, arguments = _library.lib.onet_orderer_run, (orderer.handle, orderer.by_sets, orderer.by_answer, orderer.by_err)
    rounds = 20000
    ours, call = [], []
    for _ in range(ROUNDS):
        ours.append(seconds(lambda: [model.order(items) for _ in range(rounds)]))
        call.append(seconds(lambda: [run(*arguments) for _ in range(rounds)]))
    assert np.array_equal(order[0], model.order(items))
    ours, call = min(ours) / rounds * 1e6, min(call) / rounds * 1e6
    show("one set of 5 | the C call", ours, call, "us", f"{ours - call:.1f} us above")


def training():
    rng = np.random.default_rng(1)
    sets = rng.random((4000, 10, 2)).astype(np.float32)
    data = ordernet.Sets(sets, np.argsort(sets[:, :, 0]))
    with tempfile.TemporaryDirectory() as folder:
        data.write(f"{folder}/sets.safetensors")
        command = [
            PROGRAM,
            "train",
            "--data",
            f"{folder}/sets.safetensors",
            "--model",
            f"{folder}/m.safetensors",
            "--epochs",
            "4",
            "--device",
            "cpu",
            "--force",
        ]
        ours, theirs = [], []
        for _ in range(ROUNDS):
            ours.append(seconds(lambda: ordernet.OrderNet(epochs=4, device="cpu", progress=False).fit(data)))
            theirs.append(seconds(lambda: subprocess.run(command, check=True, capture_output=True)))
    show(
        "training, 4 epochs of 4,000 sets | the command",
        16000 / min(ours),
        16000 / min(theirs),
        "sets/s",
        f"{min(theirs) / min(ours):.1%} of it",
    )


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def memory():
    sets = np.random.default_rng(1).random((8, 5, 2)).astype(np.float32)
    orders = np.argsort(sets[:, :, 0])

    def rounds(count):
        for _ in range(count):
            model = ordernet.OrderNet(epochs=1, batch=8, hidden=8, threads=1, progress=False).fit(sets, orders)
            model.predict(sets)
            model.order(sets[0])

    rounds(100)
    gc.collect()
    before = resident()
    rounds(1000)
    gc.collect()
    show("1,000 fits and orders: memory after | before", resident(), before, "MB", "the same")


def threads(model):
    array = np.random.default_rng(1).random((2000, 10, model.n_features_in_)).astype(np.float32)
    model.set_params(threads=1)
    expected = np.array(model.predict(array))
    wrong = []

    def work():
        if not np.array_equal(np.array(model.predict(array)), expected):
            wrong.append(1)

    def eight():
        all_threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in all_threads:
            thread.start()
        for thread in all_threads:
            thread.join()

    eight()
    one, together = min(seconds(work) for _ in range(3)), min(seconds(eight) for _ in range(3))
    show(
        "8 Python threads with one model | 1 thread",
        8 * 2000 / together,
        2000 / one,
        "sets/s",
        "wrong answers" if wrong else "same answers",
    )


if __name__ == "__main__":
    made = np.random.default_rng(1).random((500, 10, 2)).astype(np.float32)
    plain = ordernet.OrderNet(epochs=1, device="cpu", progress=False).fit(
        made, np.argsort(made[:, :, 0])
    )  # the default net
    print(f"{'':<46} {'Python':>12} {'other':>12}")
    one_set(plain)
    many_sets(plain)
    training()
    threads(plain)
    memory()
