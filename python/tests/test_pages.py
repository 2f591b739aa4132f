"""Tests ordernet.reading_order, the reading order of pages, and examples/pdf.py, which orders PDFs and docling's
documents with it."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import ordernet
from conftest import PROGRAM
from ordernet import DataError, UsageError

COLUMNS = [[0, 0, 48, 40], [52, 0, 100, 40], [0, 44, 48, 100], [52, 44, 100, 100]]


def test_columns_are_read_one_after_the_other():
    assert ordernet.reading_order(COLUMNS).tolist() == [0, 2, 1, 3]
    assert ordernet.reading_order(COLUMNS, right_to_left=True).tolist() == [1, 3, 0, 2]
    assert ordernet.reading_order(np.array(COLUMNS) * 7.5 - 300).tolist() == [0, 2, 1, 3]
    assert ordernet.reading_order([]).tolist() == []


def test_types_and_separators():
    boxes = [*COLUMNS, [0, 41, 100, 43], [0, 103, 100, 106]]
    types = ["text", "text", "text", "text", "separator", "page_footer"]
    assert ordernet.reading_order(boxes, types).tolist() == [0, 1, 2, 3, 5]


def test_as_the_program_does():
    lines = subprocess.run(
        [PROGRAM, "pages", "generate", "--count", "3"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    for page in map(json.loads, lines):
        boxes, types = [item["bbox"] for item in page["items"]], [item["type"] for item in page["items"]]
        assert ordernet.reading_order(boxes, types).tolist() == page["order"], page["id"]


def test_confidence():
    order, confidence = ordernet.reading_order(COLUMNS, return_confidence=True)
    assert order.tolist() == [0, 2, 1, 3] and 0.5 < confidence < 1
    assert ordernet.reading_order([], return_confidence=True)[1] == 1


def test_errors():
    with pytest.raises(DataError, match="shape"):
        ordernet.reading_order([[1, 2, 3]])
    with pytest.raises(DataError, match="1 types for 4 boxes"):
        ordernet.reading_order(COLUMNS, ["text"])
    with pytest.raises(DataError, match="box 0"):
        ordernet.reading_order([[0, 0, float("nan"), 1], [0, 0, 1, 1]])
    with pytest.raises(UsageError, match="page_size"):
        ordernet.reading_order(COLUMNS, page_size=(1, 2, 3))
    for size in ((0, 0), (-1, 5), (float("nan"), 1), 3, ("a", "b"), (1, float("inf"))):
        with pytest.raises(UsageError, match="two positive numbers"):
            ordernet.reading_order(COLUMNS, page_size=size)


PAPER = [("right below", 320, 400), ("left above", 60, 100), ("right above", 320, 100), ("left below", 60, 400)]


def example(tool, path):
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/pdf.py")
    return subprocess.run([sys.executable, script, tool, str(path)], capture_output=True, text=True, check=True).stdout


def wanted():
    return "".join(f"{name}\n" * 12 for name in ("left above", "left below", "right above", "right below"))


@pytest.mark.parametrize("tool, needs", [("pymupdf", "fitz"), ("pdfminer", "pdfminer")])
def test_example_of_a_pdf(tmp_path, tool, needs):
    fitz = pytest.importorskip("fitz", reason="python3-fitz makes the PDF")
    pytest.importorskip(needs)
    document = fitz.open()
    page = document.new_page(width=595, height=842)
    for name, x, y in PAPER:
        for line in range(12):
            page.insert_text((x, y + 14 * line), name, fontsize=12)
    document.save(tmp_path / "paper.pdf")
    assert "".join(example(tool, tmp_path / "paper.pdf").split("\n\n")) == wanted()


def test_example_of_docling(tmp_path):
    texts = [
        {
            "label": "text",
            "text": "\n".join([name] * 12),
            "prov": [{"page_no": 1, "bbox": {"l": x, "t": 842 - y, "r": x + 200, "b": 842 - y - 168, "coord_origin": "BOTTOMLEFT"}}],
        }
        for name, x, y in PAPER
    ]
    texts[0]["prov"].append({"page_no": 2, "bbox": {"l": 60, "t": 782, "r": 260, "b": 770, "coord_origin": "BOTTOMLEFT"}})
    size = {"size": {"width": 595, "height": 842}}
    document = {"schema_name": "DoclingDocument", "pages": {"1": size, "2": size}, "texts": texts}
    (tmp_path / "paper.json").write_text(json.dumps(document))
    assert example("docling", tmp_path / "paper.json") == wanted()
