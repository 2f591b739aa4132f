"""The reading order of pages."""

import json
import subprocess

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


def test_errors():
    with pytest.raises(DataError, match="shape"):
        ordernet.reading_order([[1, 2, 3]])
    with pytest.raises(DataError, match="1 types for 4 boxes"):
        ordernet.reading_order(COLUMNS, ["text"])
    with pytest.raises(DataError, match="box 0"):
        ordernet.reading_order([[0, 0, float("nan"), 1], [0, 0, 1, 1]])
    with pytest.raises(UsageError, match="page_size"):
        ordernet.reading_order(COLUMNS, page_size=(1, 2, 3))
