"""Tests ordernet.torch: a network trained by reference/train.py is saved and run by the program, and a model
of the library is loaded into PyTorch.
"""
import json
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT

import ordernet


@pytest.fixture
def reference(monkeypatch):
    """PyTorch, reference/train.py and ordernet.torch; not imported before, since other tests measure memory."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: the twin was not trained")
    monkeypatch.syspath_prepend(str(ROOT / "reference"))
    import train

    import ordernet.torch

    return torch, train


@pytest.mark.parametrize("pool, relative", [("max", False), ("mean", True)])
def test_there_and_back(tmp_path, program, reference, pool, relative):
    torch, train = reference
    draw = np.random.default_rng(5)
    sets = [draw.random((int(n), 2)) * [1, 100] for n in draw.integers(3, 6, 300)]
    orders = [np.argsort(s[:, 1]) for s in sets]
    settings = train.Settings(2, 2, 16, 4, 2, 4, pool, relative)
    net, state = train.train(sets, orders, settings, epochs=8)
    path = tmp_path / "twin.safetensors"
    ordernet.torch.save(state, path, pool=pool, relative=relative)

    again, found = ordernet.torch.load(path)
    assert found == {**vars(settings)}
    assert all(torch.equal(again[name], state[name].float()) for name in again)

    # The program gives an order the probability that the twin gives it.
    new = draw.random((20, 5, 2)) * [1, 100]
    (tmp_path / "new.jsonl").write_text("".join(json.dumps({"items": s.tolist()}) + "\n" for s in new))
    said = subprocess.run([program, "order", "--model", path, tmp_path / "new.jsonl"], capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in said.stdout.splitlines()]
    x = torch.from_numpy((new - state["input.mean"].numpy()) * state["input.scale"].numpy()).float()
    theirs = net.order_log_prob(x, torch.tensor([a["order"] for a in answers])).detach().numpy()
    assert np.abs(theirs - [a["logprob"] for a in answers]).max() < 1e-3
    assert np.mean([(a["order"] == np.argsort(s[:, 1])).all() for a, s in zip(answers, new)]) > 0.5  # it has learned


def test_what_the_program_cannot_run(tmp_path, reference):
    train = reference[1]
    state = train.twin.make(train.Settings(2, 1, 8, 4, 1, 4, "max")).state_dict()
    for name, change in {"more.weight": np.zeros(3), "encoder.0.conv1.weight": np.zeros((8, 6)), "head.bias": np.full(1, np.nan)}.items():
        with pytest.raises(ordernet.OrderNetError):
            ordernet.torch.save(dict(state, **{name: change}), tmp_path / "wrong.safetensors", pool="max")
    with pytest.raises(ordernet.OrderNetError):
        ordernet.torch.save({"weight": np.zeros(3)}, tmp_path / "wrong.safetensors", pool="max")
    with pytest.raises(ordernet.OrderNetError):
        ordernet.torch.save(state, tmp_path / "wrong.safetensors", pool="median")
    with pytest.raises(TypeError, match="pool"):  # nothing in the tensors tells max from mean
        ordernet.torch.save(state, tmp_path / "wrong.safetensors")
    assert not (tmp_path / "wrong.safetensors").exists()


def test_relations_there_and_back(tmp_path, program, reference):
    torch, train = reference
    settings = train.Settings(2, 2, 8, 4, 2, 4, "mean", False, 1)
    net = train.twin.make(settings, dtype=torch.float32).eval()
    path = tmp_path / "twin.safetensors"
    ordernet.torch.save(net.state_dict(), path, pool="mean", relations=1)
    again, found = ordernet.torch.load(path)
    assert found == vars(settings)
    assert all(torch.equal(tensor, net.state_dict()[name]) for name, tensor in again.items() if not name.startswith("input."))

    draw = np.random.default_rng(3)
    items, relations = draw.random((6, 4, 2)), draw.random((6, 4, 4, 1))
    relations[:, range(4), range(4)] = 0  # of an item to itself there is none
    lines = [json.dumps({"items": x.tolist(), "pairs": e.tolist()}) + "\n" for x, e in zip(items, relations)]
    (tmp_path / "new.jsonl").write_text("".join(lines))
    said = subprocess.run([program, "order", "--model", path, tmp_path / "new.jsonl"], capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in said.stdout.splitlines()]
    orders = torch.tensor([a["order"] for a in answers])
    theirs = net.order_log_prob(torch.from_numpy(items).float(), orders, torch.from_numpy(relations).float()).detach().numpy()
    assert np.abs(theirs - [a["logprob"] for a in answers]).max() < 1e-3


@pytest.mark.parametrize("name", ["words", "pages", "tours"])
def test_shipped_models_there_and_back(tmp_path, reference, name):
    """What the library has beside the twin's tensors is kept: words, their half-precision vectors, statistics of sizes."""
    model = ordernet.load(ROOT / f"models/{name}.safetensors")
    state, settings = ordernet.torch.load(ROOT / f"models/{name}.safetensors")
    ordernet.torch.save(state, tmp_path / "again.safetensors", pool=settings["pool"], relative=settings["relative"])
    again = ordernet.load(tmp_path / "again.safetensors")
    before, after = model.state_dict(), again.state_dict()
    assert set(before) == set(after)
    assert all(np.array_equal(before[key], after[key]) for key in before)
    assert all(before[key].dtype == after[key].dtype for key in before if key.startswith("words."))


def test_train_as_a_user_calls_it(tmp_path, program, reference, monkeypatch, capsys):
    train = reference[1]
    (tmp_path / "sets.jsonl").write_text("".join((ROOT / "examples/data/sort.jsonl").read_text().splitlines(True)[:200]))
    model = tmp_path / "twin.safetensors"
    given = [tmp_path / "sets.jsonl", model, "--epochs", "2", "--hidden", "8", "--out", "4", "--pool", "mean"]
    monkeypatch.setattr("sys.argv", ["train.py", *map(str, given)])
    train.main()
    assert capsys.readouterr().out.count("loss") == 2
    assert ordernet.torch.load(model)[1]["pool"] == "mean"
    subprocess.run([program, "eval", "--model", model, ROOT / "examples/data/sort-valid.jsonl"], check=True, capture_output=True)
    (tmp_path / "unordered.jsonl").write_text('{"items": [[1], [2]]}\n')
    monkeypatch.setattr("sys.argv", ["train.py", str(tmp_path / "unordered.jsonl"), str(tmp_path / "none.safetensors")])
    with pytest.raises(SystemExit, match="no order to learn from"):
        train.main()


def test_train_without_packages():
    """A researcher who has a clone alone is told what to install."""
    said = subprocess.run([sys.executable, "-S", ROOT / "reference" / "train.py"], capture_output=True, text=True)
    assert said.returncode == 1 and said.stderr.startswith("train.py: ") and "pip install" in said.stderr
    assert "Traceback" not in said.stderr
