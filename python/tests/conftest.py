"""Shared pytest fixtures, and closing lines that mk/check.sh counts."""

import os
from pathlib import Path

import numpy as np
import pytest

import ordernet

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("ORDERNET", str(ROOT / "ordernet"))


def make_sets(count, seed, sizes=(4, 5, 6), width=3):
    """Sets that are in order when the first feature rises."""
    rng = np.random.default_rng(seed)
    sets = [rng.normal(size=(rng.choice(sizes), width)).astype(np.float32) for _ in range(count)]
    return sets, [np.argsort(s[:, 0]) for s in sets]


SMALL = dict(
    epochs=6,
    seed=3,
    hidden=16,
    encoder_out=8,
    encoder_blocks=2,
    decoder_blocks=2,
    decoder_out=8,
    threads=1,
    progress=False,
)


@pytest.fixture(scope="session")
def data():
    return make_sets(300, 1)


@pytest.fixture(scope="session")
def small(data):
    """A small model, trained once for all tests; not to be changed."""
    return ordernet.OrderNet(**SMALL).fit(*data)


@pytest.fixture(scope="session")
def program():
    if not os.access(PROGRAM, os.X_OK):
        pytest.skip(f"the program {PROGRAM} is not built")
    return PROGRAM


def pytest_terminal_summary(terminalreporter):
    stats = terminalreporter.stats
    for report in stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        terminalreporter.write_line("skipped: " + reason.replace("Skipped: ", "").replace("\n", " "))
    bad = len(stats.get("failed", [])) + len(stats.get("error", []))
    terminalreporter.write_line(
        f"{len(stats.get('passed', []))} passed, {bad} failed, {len(stats.get('skipped', []))} skipped"
    )
