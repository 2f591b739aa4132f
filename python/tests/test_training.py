"""Tests training options: progress, callbacks, interruption, validation, holdout, scaling, tuning, several models,
the GPU.
"""

import math
import os
import pickle
import re
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import numpy as np
import pytest

import ordernet
from conftest import ROOT, SMALL, make_sets


def test_history_and_validation(data):
    model = ordernet.OrderNet(**SMALL).fit(*data, valid=make_sets(50, 9))
    assert model.history_["epoch"] == [1, 2, 3, 4, 5, 6]
    assert all(len(values) == 6 and all(map(math.isfinite, values)) for values in model.history_.values())
    best = int(np.argmax(model.history_["valid_loglik"])) + 1
    assert model.best_epoch_ == best
    loglik = model.evaluate(*make_sets(50, 9))["loglik_all"][0]
    assert abs(loglik - model.history_["valid_loglik"][-1]) < 1e-5


def test_keep_best_and_patience(data):
    rng = np.random.default_rng(0)
    noise = make_sets(60, 5)[0]
    valid = (noise, [rng.permutation(len(s)) for s in noise])  # learning the rule makes these worse
    settings = dict(SMALL, epochs=30, learning_rate=0.02)
    model = ordernet.OrderNet(**settings, patience=3, keep="best").fit(*data, valid=valid)
    assert len(model.history_["epoch"]) == model.best_epoch_ + 3 < 30
    assert abs(model.evaluate(*valid)["loglik_all"][0] - max(model.history_["valid_loglik"])) < 1e-5
    with pytest.raises(ordernet.UsageError, match="keep='best' needs validation sets"):
        ordernet.OrderNet(**SMALL, keep="best").fit(*data)
    with pytest.raises(ordernet.UsageError, match="patience needs validation sets"):
        ordernet.OrderNet(**SMALL, patience=2).fit(*data)


def test_several_models_are_merged(data, tmp_path):
    valid = make_sets(50, 9)
    one = [ordernet.OrderNet(**dict(SMALL, seed=seed)).fit(*data) for seed in (3, 4)]
    several = ordernet.OrderNet(**dict(SMALL, seed=3), models=2).fit(*data, valid=valid)
    merged = ordernet.merge(one)
    assert several.checksum_ == merged.checksum_ != one[0].checksum_
    assert several.history_["model"] == [1] * 6 + [2] * 6
    assert several.history_["epoch"] == [1, 2, 3, 4, 5, 6] * 2
    assert abs(float(several.record_["valid.loglik"]) - merged.evaluate(*valid)["loglik_all"][0]) < 1e-5
    one[0].save(tmp_path / "a.safetensors")
    assert ordernet.merge([tmp_path / "a.safetensors", one[1]]).checksum_ == merged.checksum_
    seen = []
    stopped = ordernet.OrderNet(**dict(SMALL, threads=1), models=3)
    stopped.fit(*data, callbacks=lambda now: seen.append(now) or (now.model == 2 and now.ended == 2))
    assert "merged.2.sha256" in stopped.record_ and "merged.3.sha256" not in stopped.record_
    assert {now.models for now in seen} == {3} and max(now.model for now in seen) == 2


def test_steps_stray(data):
    plain = ordernet.OrderNet(**SMALL).fit(*data)
    strays = ordernet.OrderNet(**SMALL, stray=0.1).fit(*data)
    assert strays.checksum_ != plain.checksum_
    assert "stray=0.1" in strays.record_["run"]
    with pytest.raises(ordernet.UsageError, match="stray"):
        ordernet.OrderNet(**SMALL, stray=1).fit(*data)


def test_pooled_features_are_dropped(data):
    plain = ordernet.OrderNet(**SMALL).fit(*data)
    dropped = ordernet.OrderNet(**SMALL, dropout=0.2).fit(*data)
    assert dropped.checksum_ != plain.checksum_ and "dropout=0.2" in dropped.record_["run"]
    with pytest.raises(ordernet.UsageError, match="dropout"):
        ordernet.OrderNet(**SMALL, dropout=1).fit(*data)


def test_several_models_see_other_features(data):
    same = ordernet.OrderNet(**SMALL, models=2, within=True).fit(*data)
    varied = ordernet.OrderNet(**SMALL, models=2, within=True, vary="within").fit(*data)
    assert varied.checksum_ != same.checksum_
    one = ordernet.OrderNet(**SMALL, within=True).fit(*data)
    other = ordernet.OrderNet(**{**SMALL, "seed": SMALL.get("seed", 1) + 1}).fit(*data)
    assert ordernet.merge([one, other]).checksum_ == varied.checksum_
    with pytest.raises(ordernet.UsageError, match="vary is 'all'"):
        ordernet.OrderNet(**SMALL, vary="all").fit(*data)


def test_large_sets_are_cropped(data):
    plain = ordernet.OrderNet(**SMALL).fit(*data)
    cropped = ordernet.OrderNet(**SMALL, crop=3).fit(*data)
    assert cropped.checksum_ != plain.checksum_ and "crop=3" in cropped.record_["run"]
    assert ordernet.OrderNet(**SMALL, crop=1000).fit(*data).checksum_ == plain.checksum_
    with pytest.raises(ordernet.UsageError, match="crop"):
        ordernet.OrderNet(**SMALL, crop=1).fit(*data)


def test_what_cannot_be_merged_is_refused(data):
    one = ordernet.OrderNet(**SMALL).fit(*data)
    deeper = ordernet.OrderNet(**dict(SMALL, decoder_blocks=3)).fit(*data)
    with pytest.raises(ordernet.ModelError, match="decoder blocks"):
        ordernet.merge([one, deeper])
    for none in ([], one, "a.safetensors", 3):
        with pytest.raises(ordernet.UsageError):
            ordernet.merge(none)
    with pytest.raises(ordernet.NotFittedError):
        ordernet.merge([one, ordernet.OrderNet()])
    with pytest.raises(ordernet.MissingFileError):
        ordernet.merge([one, "nowhere.safetensors"])
    for models in (0, 65, 1.5, "2"):
        with pytest.raises(ordernet.UsageError, match="models"):
            ordernet.OrderNet(**SMALL, models=models).fit(*data)


def test_callbacks_watch_and_stop(data):
    seen, threads = [], set()
    model = ordernet.OrderNet(**SMALL)

    def stop_after_two(now):
        seen.append(now)
        threads.add(threading.current_thread())
        return now.ended == 2

    assert model.fit(*data, callbacks=stop_after_two) is model
    assert threads == {threading.current_thread()}  # where a user may draw, or ask
    assert [now.ended for now in seen if now.ended][:2] == [1, 2]
    assert int(model.record_["steps"]) == seen[-1].step == seen[-1].steps // 3  # at the end of epoch 2 of 6, not later
    assert len(model.predict(data[0])) == len(data[0])
    with pytest.raises(ZeroDivisionError):
        model.fit(*data, callbacks=[lambda now: 1 / 0])


INTERRUPTED = """
    import os, signal, sys, threading, time
    sys.path.insert(0, {folder!r})
    import ordernet
    from conftest import SMALL, make_sets
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    sets, orders = make_sets(2000, 1)
    model = ordernet.OrderNet(**dict(SMALL, epochs=100000))
    sent = []
    def interrupt():
        sent[:] = time.monotonic(), time.process_time()
        os.kill(os.getpid(), signal.SIGINT)
    timer = threading.Timer(0.3, interrupt)
    def begun(now=None):
        if not timer.is_alive() and not sent:
            timer.start()
    many = make_sets(20000, 2)
    def two(count, n):
        import numpy
        sets = numpy.random.default_rng(1).random((count, n, 2))
        return sets, numpy.argsort(sets[:, :, 0])
    try:
        {call}
    except KeyboardInterrupt:
        late, used = time.monotonic() - sent[0], time.process_time() - sent[1]
        if os.getloadavg()[0] > os.cpu_count():  # others use the machine: what this process itself needed counts
            late = used / os.cpu_count()
        print("late" if late > 0.5 else "in time", late)
        if "fit" in {call!r}:
            print(int(model.record_["steps"]) > 0, len(model.predict(sets)) == len(sets))
"""


@pytest.mark.parametrize(
    "call",
    [
        "model.fit(sets, orders, callbacks=begun)",
        "model.set_params(valid_limit=0).fit(sets, orders, valid=many, callbacks=begun)",
        "begun(), ordernet.load('tours').predict(__import__('numpy').random.default_rng(1).random((40000, 12, 2)))",
        "begun(), ordernet.load('tours').order(__import__('numpy').random.default_rng(1).random((6000, 2)))",
        "begun(), ordernet.load('tours').evaluate(*two(4000, 20))",
        "begun(), ordernet.unscramble(' '.join('the cat sat on a mat'.split() * 100), beam=300)",
        "begun(), ordernet.exact_tour(__import__('numpy').random.default_rng(1).random((300, 2)))",
    ],
)
def test_ctrl_c(call):
    code = textwrap.dedent(INTERRUPTED).format(folder=os.path.dirname(os.path.abspath(__file__)), call=call)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("in time"), ran.stdout
    assert "fit" not in call or "True True" in ran.stdout


def test_gil_is_released(data):
    count, running = [0], [True]

    def spin():
        while running[0]:
            count[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=spin)
    thread.start()
    began = time.monotonic()
    ordernet.OrderNet(**dict(SMALL, epochs=20)).fit(*data)
    took = time.monotonic() - began
    running[0] = False
    thread.join()
    assert count[0] > 10 * min(took, 1)  # held, it would have stood still


def test_bar(data, capsys):
    ordernet.OrderNet(**dict(SMALL, progress=True)).fit(*data)
    assert "6/6" in capsys.readouterr().err
    ordernet.OrderNet(**dict(SMALL, progress=False)).fit(*data)
    assert capsys.readouterr().err == ""


def test_bar_without_tqdm(data, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    ordernet.OrderNet(**dict(SMALL, progress=True)).fit(*data)
    err = capsys.readouterr().err
    assert "epoch 6/6" in err and "100%" in err and err.endswith("\n")


def test_fit_in_a_thread(data):
    found = []
    thread = threading.Thread(target=lambda: found.append(ordernet.OrderNet(**SMALL).fit(*data).checksum_))
    thread.start()
    thread.join()
    assert found == [ordernet.OrderNet(**SMALL).fit(*data).checksum_]


def test_gpu():
    """With the GPU kernels as `make check-emulated` builds them for the CPU."""
    library = ROOT / "build/emulated/libordernet-cuda.so"
    if not library.exists():
        pytest.skip("the emulated GPU library is not built (make check-emulated): device='cuda' was not tested")
    code = """
import numpy as np, ordernet
x = np.random.default_rng(1).random((32, 4, 2)).astype(np.float32)
model = ordernet.OrderNet(epochs=1, hidden=8, encoder_out=4, encoder_blocks=1, decoder_blocks=1, decoder_out=4, device="cuda", progress=False)
model.fit(x, np.argsort(x[:, :, 0]))
print(model.record_["kernels"], len(model.predict(x)))
"""
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "ORDERNET_CUDA": str(library)}
    )
    assert ran.stdout == "cuda 32\n", ran.stderr


def test_an_interrupted_model_goes_on_as_before(small, data):
    """An orderer that was stopped works again in the next call."""
    engine = small._fitted()
    expected = small.predict(data[0])
    orderer = small._orderer(engine)
    orderer.halt()
    with pytest.raises(ordernet.OrderNetError, match="the ordering was stopped"):
        orderer.ask("onet_orderer_run", orderer.handle, *answers_for(data[0], orderer))
    engine.give(orderer)
    assert orderer.flag.value == 0
    assert all(np.array_equal(a, b) for a, b in zip(small.predict(data[0]), expected))


def answers_for(sets, orderer):
    from ctypes import byref

    given = ordernet.Sets(sets)
    answers = ordernet._engine.Answers(given, orderer.top, False)
    answers_for.held = given, answers
    return byref(given._struct), answers.raw.__array_interface__["data"][0]


def test_ranks_given_as_orders_are_noticed(data):
    sets, orders = data
    ranks = [np.argsort(order) for order in orders]
    with pytest.warns(UserWarning, match=r"look like ranks.*np.argsort\(rank\)"):
        ordernet.OrderNet(**SMALL).fit(sets, ranks)
    with pytest.warns(UserWarning, match=r"look like ranks.*np.argsort\(rank\)"):
        ordernet.Ranker().fit(sets, ranks)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ordernet.Ranker().fit(sets, orders)
        ordernet.OrderNet(**SMALL).fit(sets, orders)
        rng = np.random.default_rng(1)
        ordernet.OrderNet(**dict(SMALL, epochs=1)).fit(sets, [rng.permutation(len(s)) for s in sets])


def test_files_of_a_training(data, tmp_path):
    """path, resume and force are --model, --resume and --force."""
    path = tmp_path / "m.safetensors"
    settings = dict(SMALL, epochs=60, checkpoint_seconds=0)
    whole = ordernet.OrderNet(**settings).fit(*data)
    ordernet.OrderNet(**settings).fit(*data, path=path, callbacks=lambda now: now.step > 20)
    assert not path.exists() and any(tmp_path.iterdir())
    resumed = ordernet.OrderNet(**settings).fit(*data, path=path, resume=True)
    assert resumed.checksum_ == whole.checksum_ == ordernet.load(path).checksum_
    with pytest.raises(ordernet.UsageError, match="there already"):
        ordernet.OrderNet(**SMALL).fit(*data, path=path)
    again = ordernet.OrderNet(**SMALL).fit(*data, path=path, force=True)
    assert again.checksum_ == ordernet.load(path).checksum_ != whole.checksum_
    for arguments in (dict(resume=True), dict(force=True)):
        with pytest.raises(ordernet.UsageError, match="give path too"):
            ordernet.OrderNet(**SMALL).fit(*data, **arguments)


def test_missing_values_of_arrays(data):
    holes = [s.copy() for s in data[0]]
    for s in holes[::3]:
        s[0, 1] = np.nan
    with pytest.raises(ordernet.DataError, match="finite"):
        ordernet.OrderNet(**SMALL).fit(holes, data[1])
    by_model = ordernet.OrderNet(**SMALL, missing="mean").fit(holes, data[1])
    by_sets = ordernet.OrderNet(**SMALL).fit(ordernet.Sets(holes, data[1], missing="mean"))
    assert by_model.checksum_ == by_sets.checksum_


def test_seconds_in_float64():
    """Times that float32 holds as one are learned, and the same in arrays, frames and files."""
    rng = np.random.default_rng(4)
    sets = [1.7e9 + np.sort(rng.permutation(300)[:5])[:, None][rng.permutation(5)].astype(np.float64) for _ in range(400)]
    orders = [np.argsort(s[:, 0]) for s in sets]
    assert sum(len(np.unique(s.astype(np.float32))) < 5 for s in sets) > 350
    model = ordernet.OrderNet(**{**SMALL, "epochs": 12}).fit(sets, orders)
    assert model.scales_ == {0: "standard, centred in double"}
    assert model.score(sets, orders) > 0.95
    whole = [s.astype(np.int64) for s in sets]
    assert all((a == b).all() for a, b in zip(model.predict(whole), model.predict(sets)))
    assert (model.order(sets[0]) == model.predict(sets[:1])[0]).all()
    again = pickle.loads(pickle.dumps(ordernet.Sets(sets, orders)))
    assert model.score(again) == model.score(sets, orders)


def test_scale_and_within():
    """Heavy tails become quantiles unless the user says otherwise; a pickled model keeps them."""
    rng = np.random.default_rng(5)
    sets = [np.column_stack([np.exp(4.6 * rng.normal(size=6)), rng.normal(size=6)]) for _ in range(300)]
    orders = [np.argsort(s[:, 0]) for s in sets]
    model = ordernet.OrderNet(**SMALL).fit(sets, orders)
    assert model.scales_ == {0: "quantile, rank within the set", 1: "standard"}
    assert model.n_features_in_ == 2
    assert model.score(sets, orders) > 0.9
    again = pickle.loads(pickle.dumps(model))
    assert again.scales_ == model.scales_ and again.checksum_ == model.checksum_
    other = ordernet.OrderNet(**{**SMALL, "epochs": 1}, scale="none:1,standard", within=True).fit(sets, orders)
    assert other.scales_ == {0: "none, rank within the set", 1: "standard, rank within the set"}
    for wrong in ("log", "quantile:3"):
        with pytest.raises(ordernet.UsageError):
            ordernet.OrderNet(scale=wrong).fit(sets, orders)


def test_holdout(data, program, tmp_path):
    """The validation sets are those of the command's --holdout, and so is the model."""
    sets, orders = data
    path = tmp_path / "s.jsonl"
    ordernet.Sets(sets, orders).write(path)
    settings = dict(SMALL, epochs=2)
    net = "--hidden 16 --encoder-out 8 --encoder-blocks 2 --decoder-blocks 2 --decoder-out 8".split()
    for share, wanted in (("10%", "10%"), (0.1, "10%"), (25, "25"), ("25", "25"), (np.int64(25), "25"), ("0.1%", "0.1%")):
        file = tmp_path / "m.safetensors"
        command = [program, "train", "--data", path, "--model", file, "--force", "--epochs", "2", "--seed", "3", "--threads", "1"]
        ran = subprocess.run([*command, *net, "--holdout", wanted, "--device", "cpu"], capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        model = ordernet.OrderNet(**settings, holdout=share, device="cpu").fit(ordernet.Sets.read(path))
        assert model.to_bytes() == file.read_bytes(), share
        assert len(model.history_["valid_exact"]) == 2 and all(map(math.isfinite, model.history_["valid_exact"]))
    assert ordernet.OrderNet(**settings, holdout=0.1, keep="best", patience=1).fit(sets, orders).best_epoch_
    for bad in (300, "100%", 1.0, 0, -1, "ten", "", True, [1], 2.5, float("nan"), "nan%", "-3", "1e9"):
        with pytest.raises(ordernet.UsageError, match="holdout"):
            ordernet.OrderNet(**settings, holdout=bad).fit(sets, orders)
    with pytest.raises(ordernet.UsageError, match="leave out valid"):
        ordernet.OrderNet(**settings, holdout=0.1).fit(sets, orders, valid=data)
    with pytest.raises(ordernet.UsageError, match="give one of them too"):
        ordernet.OrderNet(**settings).fit(sets, orders, groups=[0] * 300)
    with pytest.raises(ordernet.UsageError, match="2 groups for 300 sets"):
        ordernet.OrderNet(**settings, holdout=0.1).fit(sets, orders, groups=[0, 1])


def test_holdout_keeps_groups_and_equal_sets_together(data):
    sets, orders = data
    groups = [f"day {s // 30}" for s in range(300)]
    whole = ordernet.Sets(sets, orders)
    rest, valid = whole._hold_out(0.2, groups, 1)[:2]
    days = [{groups[s] for s in range(300) if any(np.array_equal(sets[s], one) for one in part)} for part in (rest, valid)]
    assert len(rest) + len(valid) == 300 and not days[0] & days[1] and days[1]
    twice = ordernet.Sets(sets[:50] * 6, orders[:50] * 6)
    rest, valid = twice._hold_out("10%", None, 1)[:2]
    assert not {one.tobytes() for one in rest} & {one.tobytes() for one in valid}
    for nothing in (None, float("nan"), np.datetime64("NaT")):  # sets without a group are not of one
        assert whole._hold_out(1, [nothing] * 300, 1)[2] == [None] * 299
    model = ordernet.OrderNet(**dict(SMALL, epochs=1), holdout=0.2).fit(sets, orders, groups=groups)
    assert len(model.history_["valid_exact"]) == 1


def test_parameters_are_those_of_the_command(program):
    """docs/python.md: every option of train is a parameter of OrderNet or has a place that the page names."""
    text = subprocess.run([program, "train", "--help", "all"], capture_output=True, text=True)
    options = set(re.findall(r"^ +(?:-\w, )?--([a-z0-9-]+)", text.stdout, re.M))
    assert len(options) > 40, text
    here = {name.replace("_", "-") for name in ordernet.OrderNet().get_params()}
    page = (ROOT / "docs/python.md").read_text()
    off = {"no-standardise": "standardise", "from": "pretrained"}
    missing = {name for name in options if off.get(name, name) not in here and f"`--{name}`" not in page}
    assert not missing - {"help", "tune"}, missing


def test_tune(tmp_path):
    """A search by trials gives the same model twice, and OrderNet(**params) gives it again."""
    random = np.random.default_rng(3)
    sets = [random.random((5, 2)).astype(np.float32) for _ in range(60)]
    orders = [np.argsort(np.abs(s[:, 0] - s[:, 0].mean()), kind="stable") for s in sets]
    small = dict(hidden=16, encoder_blocks=1, encoder_out=8, decoder_out=8, epochs=30, progress=False)
    model = ordernet.OrderNet(tune=8, **small).fit(sets, orders, path=tmp_path / "m.safetensors")
    found = model.tuned_
    assert found["trials"] == 8 and len((tmp_path / "m.trials.csv").read_text().splitlines()) == 10
    assert 0 <= found["exact"][1] <= found["exact"][0] <= found["exact"][2] <= 1
    assert found["guess"] == pytest.approx(1 / 120)
    assert not found["ranker"]
    again = ordernet.OrderNet(**{**small, **found["params"]}).fit(sets, orders)
    assert again.to_bytes() == model.to_bytes() == (tmp_path / "m.safetensors").read_bytes()
    last = pickle.loads(pickle.dumps(model)).set_params(tune=None, epochs=1).fit(sets, orders)
    assert not hasattr(last, "tuned_")  # it tells of the last fit
    assert model.fit(sets, orders, path=tmp_path / "m.safetensors", resume=True).to_bytes() == again.to_bytes()
    with pytest.raises(ordernet.UsageError, match="is there already"):
        model.fit(sets, orders, path=tmp_path / "m.safetensors")
    by_value = [np.argsort(s[:, 1], kind="stable") for s in sets]
    assert ordernet.OrderNet(tune=8, **small).fit(sets, by_value).tuned_["ranker"]
    report = model.report_  # on the test sets
    assert report["sets"] == 12 and report["model"]["exact"][0] == found["exact"][0] and report["conclusion"]
    assert report["guessing"]["exact"][0] == found["guess"] and isinstance(report["oddities"], list)
    for wrong in (3, "5x", 0.5, "0s", -4):
        with pytest.raises(ordernet.UsageError, match="tune is"):
            ordernet.OrderNet(tune=wrong, **small).fit(sets, orders)


def test_tune_keeps_groups_together(capsys):
    """Each document has its own rule of order, which a model learns from any of its sets. A search that divides the
    sets of a document finds a model; with groups it finds none. The progress is a line."""
    random = np.random.default_rng(4)
    sets, orders, documents = [], [], np.repeat(np.arange(10), 30).tolist()
    way = np.column_stack([np.cos(np.arange(10) * 0.2 * np.pi), np.sin(np.arange(10) * 0.2 * np.pi)])  # all around
    for document in documents:
        own = random.standard_normal((3, 2))
        sets.append(np.column_stack([np.tile(np.eye(10)[document], (3, 1)), own]).astype(np.float32))
        orders.append(np.argsort(own @ way[document]))
    small = dict(hidden=16, encoder_blocks=1, encoder_out=8, decoder_out=8, epochs=40)
    apart = ordernet.OrderNet(tune=4, progress=False, **small).fit(sets, orders).tuned_["exact"][0]
    assert not capsys.readouterr().err
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ordernet.OrderNet(tune=4, progress=True, **small).fit(sets, orders, groups=documents)
    assert apart > 0.7 and model.tuned_["exact"][0] < 0.5
    assert "trials" in capsys.readouterr().err
    with pytest.raises(ordernet.UsageError, match="groups for"):
        ordernet.OrderNet(tune=4, **small).fit(sets, orders, groups=documents[1:])
    with pytest.raises(ordernet.UsageError, match="holdout and tune"):
        ordernet.OrderNet(**small).fit(sets, orders, groups=documents)
    both = ordernet.OrderNet(tune=4, holdout=0.2, progress=False, **small)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert both.fit(sets, orders, groups=documents).report_["sets"] == 60
