"""Tests the examples of docs/python.md and the notebook of examples/ by running them."""

import contextlib
import io
import json
import re
import sys

import pytest

from conftest import ROOT

NEEDED = ("pandas", "sklearn", "matplotlib")


def test_examples_of_the_page(tmp_path, monkeypatch):
    for name in NEEDED:
        pytest.importorskip(name, reason=f"{name} is not installed: the examples of docs/python.md were not run")
    blocks = re.findall(r"```(python|text)\n(.*?)```", (ROOT / "docs/python.md").read_text(), re.DOTALL)
    assert len(blocks) > 10
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    space, printed = {}, ""
    for kind, text in blocks:
        if kind == "text":
            assert printed == text
            printed = ""
            continue
        assert printed == "", "a block prints, and the page does not show what"
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(text, "docs/python.md", "exec"), space)  # noqa: S102
        printed = out.getvalue()
    assert printed == ""


def test_notebook(tmp_path, monkeypatch):
    path = ROOT / "examples/ordernet.ipynb"
    notebook = json.loads(path.read_text())
    assert all(not cell.get("outputs") for cell in notebook["cells"])  # kept small: they are made when it is run
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed: the notebook was not run")
    execute = pytest.importorskip(
        "nbconvert.preprocessors", reason="nbconvert is not installed: the notebook was not run"
    )
    pytest.importorskip("ipykernel", reason="ipykernel is not installed: the notebook was not run")
    book = nbformat.read(path, as_version=4)
    kernel = tmp_path / "kernels/this"  # of this virtual environment, not Debian's
    kernel.mkdir(parents=True)
    launch = [sys.executable, "-Xfrozen_modules=off", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": launch, "display_name": "this", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    execute.ExecutePreprocessor(timeout=120, kernel_name="this").preprocess(book, {"metadata": {"path": str(tmp_path)}})
    assert any("image/png" in output.get("data", {}) for cell in book.cells for output in cell.get("outputs", []))
