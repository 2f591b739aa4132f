"""Tests tours (by the network, exact, by Christofides' heuristic) and words in order (ordernet.unscramble), also
against the program."""

import itertools
import json
import subprocess
import warnings

import numpy as np
import pytest

import ordernet
from ordernet import DataError, UsageError


def shortest(points):
    rest = range(1, len(points))
    return min(ordernet.tour_length(points, [0, *order]) for order in itertools.permutations(rest))


def test_exact_is_the_shortest():
    for seed in range(3):
        points = np.random.default_rng(seed).random((7, 2))
        tour, proof = ordernet.exact_tour(points, return_proof=True)
        assert proof.proven and abs(proof.length - shortest(points)) < 1e-12
        assert proof.length == ordernet.tour_length(points, tour)
        assert sorted(tour) == list(range(7))


def test_net_and_christofides():
    points = np.random.default_rng(1).random((15, 2))
    best = ordernet.tour_length(points, ordernet.exact_tour(points))
    plain = ordernet.tour_length(points, ordernet.tour(points, symmetries=1))
    all_eight = ordernet.tour_length(points, ordernet.tour(points))
    assert best <= all_eight * (1 + 1e-12) and all_eight <= plain * (1 + 1e-12) < 1.5 * best
    assert best <= ordernet.tour_length(points, ordernet.christofides(points)) * (1 + 1e-12) <= 1.5 * best


def test_any_scale_and_type():
    points = np.random.default_rng(2).random((12, 2))
    expected = ordernet.tour(points).tolist()
    assert ordernet.tour(points.tolist()).tolist() == expected
    assert ordernet.tour(4096 * points + 16384).tolist() == expected
    assert ordernet.tour(points * 2.0**-30).tolist() == expected
    assert ordernet.tour((1000 * points).astype(int)).shape == (12,)


def test_agrees_with_the_program(program, tmp_path):
    points = np.random.default_rng(3).random((2, 10, 2)).astype(np.float32)
    path, out = tmp_path / "p.jsonl", tmp_path / "t.jsonl"
    ordernet.Sets(points).write(path)
    for method, call in (
        ("ordernet", ordernet.tour),
        ("exact", ordernet.exact_tour),
        ("christofides", ordernet.christofides),
    ):
        subprocess.run(
            [program, "tsp", "solve", "--quiet", "--method", method, "--symmetries", "8", "--out", out, path],
            check=True,
            capture_output=True,
        )
        theirs = [json.loads(line)["order"] for line in out.read_text().splitlines()]
        assert [call(p).tolist() for p in points] == theirs


def test_odd_points():
    assert ordernet.tour([[1, 1]]).tolist() == [0]
    assert sorted(ordernet.tour([[0, 0], [0, 0], [1, 1], [0, 0]])) == [0, 1, 2, 3]
    assert ordernet.tour_length([[0, 0], [3, 4]], [0, 1]) == 10
    for call in (ordernet.tour, ordernet.exact_tour, ordernet.christofides):
        for points in ([], [[1, 2, 3]], [1, 2], None, [["a", "b"]], [[0, np.nan]], [[0, np.inf]], np.zeros((2, 2, 2))):
            with pytest.raises(DataError):
                call(points)
    for tour in ([0], [0, 0], [0, 2], [0, -1], [0.0, 1.0], None, [0, 2**33]):
        with pytest.raises(DataError):
            ordernet.tour_length([[0, 0], [1, 1]], tour)
    with pytest.raises(UsageError, match="symmetries is 3"):
        ordernet.tour([[0, 0], [1, 1]], symmetries=3)
    with pytest.raises(UsageError):
        ordernet.exact_tour([[0, 0], [1, 1]], seconds=-1)
    with pytest.raises(UsageError):
        ordernet.exact_tour([[0, 0], [1, 1]], seconds="long")
    with pytest.raises(UsageError, match="points of the plane"):
        ordernet.tour([[0, 0], [1, 1]], model=ordernet.load("words"))


def test_a_limit_warns():
    points = np.random.default_rng(1).random((250, 2))
    with pytest.warns(RuntimeWarning, match="not proven to be the shortest"):
        tour, proof = ordernet.exact_tour(points, seconds=0.2, return_proof=True)
    assert not proof.proven and proof.bound < proof.length and sorted(tour) == list(range(250))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ordernet.exact_tour(points[:9])


def test_unscramble(program):
    assert ordernet.unscramble("in , born he london was").split() != []
    assert sorted(ordernet.unscramble(["name", "my", "is"])) == ["is", "my", "name"]
    best = ordernet.unscramble("this an is example sentence", top=3)
    lines = subprocess.run(
        [program, "unscramble", "this", "an", "is", "example", "sentence"], capture_output=True, text=True, check=True
    ).stdout
    theirs = [line.split("%", 1) for line in lines.splitlines()]
    assert [text for text, _ in best] == [text.strip() for _, text in theirs]
    assert [f"{100 * p:.1f}" for _, p in best] == [p.strip() for p, _ in theirs]
    assert ordernet.unscramble("this an is example sentence") == best[0][0]
    repeated = ordernet.unscramble("the cat and the dog", top=5)
    assert len({text for text, _ in repeated}) == 5
    # The beam is as wide as the program's, for many words too.
    words = [f"{i}th" for i in range(50)]
    line = subprocess.run(
        [program, "unscramble", "--quiet", "--json", *words], capture_output=True, text=True, check=True
    ).stdout
    theirs = [(one["text"], one["probability"]) for one in json.loads(line)["orders"]]
    for found in (ordernet.unscramble(" ".join(words), top=3), ordernet.unscramble(words, top=3)):
        assert [p for _, p in found] == pytest.approx([p for _, p in theirs], rel=1e-6)
    # All orders that read the same count, those too that the beam has not kept.
    assert ordernet.unscramble("the " * 9, top=1)[0][1] == pytest.approx(1, abs=1e-5)
    assert ordernet.unscramble(["the"] * 9, top=1)[0][1] == pytest.approx(1, abs=1e-5)
    assert ordernet.unscramble("Word") == "Word"
    assert ordernet.unscramble("London was born in he .") == "He was born in London."
    assert ordernet.unscramble("London was born in He.", case="keep") == "He was born in London."
    assert ordernet.unscramble("London was born in he", case="lower") == "he was born in london"
    assert ordernet.unscramble("don't I him know").split()[:2] == ["I", "don't"]
    with pytest.raises(ordernet.UsageError, match="one of 'sentence', 'keep', 'lower'"):
        ordernet.unscramble("a b", case="upper")


def test_coordinates_that_double_rounds_are_refused():
    for points in ([[2**60, 0], [2**60 + 1, 0], [2**60 + 1, 1]], np.array([[2**60 + 1, 0]] * 3), [[2**60 + 1, 0.5]] * 3):
        with pytest.raises(DataError, match="1152921504606846977, a whole number that double cannot hold exactly"):
            ordernet.tour_length(points, [0, 1, 2])
