"""Tests the layer below the estimator: structs as in the headers, what the wheel holds and needs (tag,
libraries, licences), threads, memory use, agreement with the PyTorch reference; and the plots.
"""

import ctypes
import gc
import os
import platform
import re
import shutil
import subprocess
import sys
import threading
import zipfile

import numpy as np
import pytest

import ordernet
from conftest import ROOT, SMALL, make_sets
from ordernet import _library

STRUCTS = {
    "onet_error": "Error",
    "onet_choice": "Choice",
    "onet_sets": "SetsStruct",
    "onet_read_options": "ReadOptions",
    "onet_answer": "Answer",
    "onet_settings": "Settings",
    "onet_order_options": "OrderOptions",
    "onet_progress": "ProgressStruct",
    "onet_train_options": "TrainOptions",
    "onet_measure": "Measure",
    "onet_report": "Report",
    "onet_calibration": "Calibration",
    "onet_set_measure": "SetMeasure",
    "onet_importance": "ImportanceStruct",
    "onet_ranker_options": "RankerOptions",
    "onet_comparison": "ComparisonStruct",
    "onet_compare_options": "CompareOptions",
    "onet_tried": "Tried",
    "onet_tune_progress": "TuneProgress",
    "onet_tune_options": "TuneOptions",
    "onet_tuned": "Tuned",
    "onet_tsp": "Tsp",
    "onet_tsp_options": "TspOptions",
    "onet_tsp_proof": "TspProof",
}


def test_structs_are_the_headers(tmp_path):
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if not compiler:
        pytest.skip("there is no C compiler to compare the structs with those of the headers")
    headers = sorted(path.name for path in (ROOT / "include").glob("*.h"))
    lines = [*(f'#include "{name}"' for name in headers), "#include <stdio.h>", "int main(void) {"]
    expected = []
    for name, python in STRUCTS.items():
        struct = getattr(_library, python)
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        expected.append(f"{name} {ctypes.sizeof(struct)}")
        for field, _ in struct._fields_:
            lines.append(f'printf("{name}.{field} %zu\\n", offsetof({name}, {field.rstrip("_")}));')
            expected.append(f"{name}.{field} {getattr(struct, field).offset}")
    (tmp_path / "s.c").write_text("\n".join([*lines, "return 0; }"]))
    subprocess.run([compiler, "-I", ROOT / "include", tmp_path / "s.c", "-o", tmp_path / "s"], check=True)
    assert subprocess.run([tmp_path / "s"], capture_output=True, text=True, check=True).stdout.splitlines() == expected


def test_statuses_are_the_headers():
    header = (ROOT / "include/ordernet.h").read_text()
    found = dict(re.findall(r"ONET_(\w+) = (\d+),? +/\*", header))
    for name in ("FAILED", "USAGE", "BAD", "IO", "MEMORY", "INTERRUPTED"):
        assert int(found[name]) == getattr(_library, name)


def test_wheel_needs_libc_alone():
    if not shutil.which("readelf"):
        pytest.skip("there is no readelf to look into the library with")
    text = subprocess.run(["readelf", "-d", _library._PATH], capture_output=True, text=True, check=True).stdout
    needed = set(re.findall(r"NEEDED.*\[(.+?)\]", text))
    assert needed <= {
        "libc.so.6",
        "libm.so.6",
        "libdl.so.2",
        "libpthread.so.0",
        "ld-linux-x86-64.so.2",
        "ld-linux-aarch64.so.1",
    }
    exported = subprocess.run(
        ["nm", "-D", "--defined-only", _library._PATH], capture_output=True, text=True, check=True
    ).stdout
    assert all(line.split()[-1].startswith("onet_") for line in exported.splitlines())
    assert (_library.FOLDER / "py.typed").exists()


def wheels():
    """Those for this CPU; python/tests/aarch64.sh has the other."""
    return sorted((ROOT / "dist").glob(f"*_{platform.machine()}.whl"))


def test_tag_of_a_wheel_is_what_its_library_needs(tmp_path):
    """By the symbols themselves, where setup.py reads the list of versions."""
    if not shutil.which("readelf"):
        pytest.skip("there is no readelf to look into the library with")
    assert wheels(), "make wheel has built none"
    for path in wheels():
        with zipfile.ZipFile(path) as wheel:
            library = wheel.extract("ordernet/libordernet.so", tmp_path)
            said = next(wheel.read(name) for name in wheel.namelist() if name.endswith(".dist-info/WHEEL")).decode()
        text = subprocess.run(["readelf", "-hW", "--dyn-syms", library], capture_output=True, text=True, check=True).stdout
        newest = max(int(minor) for minor in re.findall(r"@GLIBC_2\.(\d+)", text))
        tag = f"py3-none-manylinux_2_{newest}_{'aarch64' if 'AArch64' in text else 'x86_64'}"
        assert path.stem.endswith(tag) and f"Tag: {tag}\n" in said
        assert " hypot@" not in text  # alone it would ask for glibc 2.35 (src/tasks/tours/solve/instance.c)


def test_a_wheel_carries_its_licences():
    for path in wheels():
        with zipfile.ZipFile(path) as wheel:
            names = wheel.namelist()
            said = next(wheel.read(name) for name in names if name.endswith(".dist-info/METADATA")).decode()
        for model in (name for name in names if name.endswith(".safetensors")):
            assert model.replace(".safetensors", ".md") in names, f"{model} has no card, where its licence is"
        # Newer setuptools put them one folder deeper.
        kept = {name.rsplit("/", 1)[-1] for name in names if ".dist-info/" in name}
        assert {"LICENSE", "copyright"} <= kept
        assert "License: MIT AND CC-BY-SA-3.0 AND CC-BY-SA-4.0" in said
        if os.path.exists("/usr/share/doc/libutf8proc-dev/copyright"):
            assert {f"ordernet/licences/{name}.txt" for name in ("zlib", "liblzma", "utf8proc")} <= set(names)


def test_eight_threads_order_with_one_model(small):
    sets, _ = make_sets(200, 7)
    expected = small.predict(sets)
    wrong = []

    def work(which):
        for _ in range(5):
            answers = small.predict(sets)
            single = small.order(sets[which])
            if not all(np.array_equal(a, b) for a, b in zip(answers, expected)) or not np.array_equal(
                single, expected[which]
            ):
                wrong.append(which)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_memory_stays():
    sets, orders = make_sets(8, 1)
    settings = dict(SMALL, epochs=1, hidden=8, batch=8)

    def round_trip():
        model = ordernet.OrderNet(**settings).fit(sets, orders, valid=(sets, orders))
        model.predict(sets, top=2)
        model.order(sets[0])
        ordernet.tour(sets[0][:, :2])

    for _ in range(50):
        round_trip()
    gc.collect()
    before = resident()
    for _ in range(250):  # bench/python.py goes 1,000 rounds
        round_trip()
    gc.collect()
    assert resident() - before < 1 << 20


def test_twin_agrees(small):
    """reference/twin.py, the same network in PyTorch, gives the orders of state_dict() the same probabilities."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: the twin was not compared")
    sys.path.insert(0, str(ROOT / "reference"))
    try:
        import twin
        from generated import Settings
    finally:
        sys.path.pop(0)

    state, settings = small.state_dict(), small._fitted().settings
    pool = {value: name for name, value in _library.choices("pools").items()}[settings.pool]
    net = twin.make(
        Settings(
            settings.width,
            settings.encoder_blocks,
            settings.hidden,
            settings.encoder_out,
            settings.decoder_blocks,
            settings.decoder_out,
            pool,
        ),
        state,
    ).eval()
    sets, orders = make_sets(20, 11, sizes=(5,))
    x = (np.stack(sets).astype(np.float64) - state["input.mean"]) * state["input.scale"]
    theirs = net.order_log_prob(torch.from_numpy(x), torch.from_numpy(np.stack(orders))).numpy()
    assert np.abs(theirs - small.predict_log_proba(sets, orders)).max() < 1e-4


def test_pictures(small, tmp_path):
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed: pictures were not tested")
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot

    import ordernet.plot

    sets, orders = make_sets(30, 2)
    model = ordernet.OrderNet(**SMALL).fit(sets, orders, valid=(sets, orders))
    figure, axes = pyplot.subplots(1, 3)
    points = np.random.default_rng(1).random((8, 2))
    assert ordernet.plot.learning_curve(model, ax=axes[0]) is axes[0]
    ordernet.plot.tour(points, ordernet.tour(points), ax=axes[1])
    ordernet.plot.positions(model.positions(sets[0]), labels=list("abcdef")[: len(sets[0])], ax=axes[2])
    assert len(axes[0].lines[0].get_xdata()) == 6 and "length" in axes[1].get_title()
    assert axes[2].images[0].get_array().shape == (len(sets[0]),) * 2
    figure.savefig(tmp_path / "p.png")
    pyplot.close(figure)
    with pytest.raises(ordernet.DataError, match="has no history"):
        ordernet.plot.learning_curve(ordernet.load("tsp"))
    with pytest.raises(ordernet.DataError, match="where"):
        ordernet.plot.positions(np.zeros((2, 3)))
