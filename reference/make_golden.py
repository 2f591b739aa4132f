#!/usr/bin/env python3
"""Writes tests/golden.safetensors: what the PyTorch reference (twin.py) computes in double, as expected
values for the tests of the C program.

    python3 reference/make_golden.py            write all cases (a few minutes)
    python3 reference/make_golden.py NAME ...   write some, and keep the others
    python3 reference/make_golden.py --check    compute again and compare with the file; status 1 if a case differs

What each entry holds is described in reference/README.md. With Debian 12's python3-torch and libblas3 the file is
reproduced byte for byte; with another torch the last bits may differ, and --check allows 1e-9 for it.
"""

import os
import sys

# The same kernels on every CPU, fixed before numpy and torch are loaded: the plain reference BLAS (Debian's
# libblas3, even if OpenBLAS is installed), and AVX2 for torch's own loops.
FIXED = {"LD_LIBRARY_PATH": "/usr/lib/x86_64-linux-gnu/blas", "ATEN_CPU_CAPABILITY": "avx2"}
if any(os.environ.get(name) != value for name, value in FIXED.items()):
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **FIXED})

import argparse
import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

import generated
import twin
from generated import TSP, WORDS, Settings

FULL = 1280  # tensors up to this many numbers are stored in full, of larger ones a record
SAMPLES, PROJECTIONS = 64, 4
STEPS = 10
FILE = Path(__file__).resolve().parent.parent / "tests" / "golden.safetensors"


@dataclass(frozen=True)
class Case:
    name: str
    settings: Settings
    n: int  # 0: sets of different sizes
    B: int
    seed: int  # chosen so that no ReLU or maximum stands within float32 rounding of a tie: see check_conditioning()
    sizes: tuple = ()  # of sets of different sizes: (items, placed items) of each

    @property
    def lr(self):
        """Adam's. At 1e-3 the two large nets leave their float64 trajectory within ten steps in float32: a channel that
        is clipped nowhere has a bias gradient of 0 (the norm takes it out), and Adam makes full steps of its noise."""
        return 1e-4 if self.settings.hidden > 100 else 1e-3


def cases():
    small = Settings(3, 2, 8, 4, 2, 4, "max")
    odd = Settings(3, 2, 20, 5, 3, 7, "max")
    nets = {"tsp": TSP, "tsp-mean": replace(TSP, pool="mean"), "words": WORDS, "words-max": replace(WORDS, pool="max")}
    for name, net in (("small", small), ("odd", odd)):
        nets[name + "-max"] = net
        nets[name + "-mean"] = replace(net, pool="mean")
        nets[name + "-relative"] = replace(net, relative=True)
        nets[name + "-pairs"] = replace(net, relations=2 if name == "odd" else 1)
    nets["only-pairs"] = Settings(0, 2, 20, 5, 3, 7, "mean", relations=3)
    table = [line.split() for line in TABLE.strip().splitlines()]
    out = [Case(f"{net}-n{n}-b{B}", nets[net], int(n), int(B), int(seed)) for net, n, B, seed in table]
    for name, net, seed, *sets in (line.split() for line in MIXED.strip().splitlines()):
        sizes = tuple(tuple(int(k) for k in s.split("/")) * (1 if "/" in s else 2) for s in sets)
        out.append(Case(f"mixed/{net}-{name}", nets[net], 0, len(sizes), int(seed), sizes))
    return out


# net, n, B, seed
TABLE = """
tsp        1 2 1
tsp        5 8 1
tsp       10 2 1
tsp       20 2 3
tsp-mean   5 2 1
words      2 8 1
words      5 2 1
words     10 1 1
words-max  4 8 1
small-max  1 1 1
small-max  1 8 1
small-max  2 1 1
small-max  2 8 1
small-max  3 2 2
small-max  5 8 1
small-max 10 2 1
small-max 20 1 1
small-mean 1 2 1
small-mean 2 2 2
small-mean 3 8 1
small-mean 5 1 1
small-mean 10 8 1
small-mean 20 2 1
odd-max    3 1 2
odd-max    5 2 1
odd-max   10 8 1
odd-max   20 8 4
odd-mean   2 1 7
odd-mean   5 8 1
odd-mean  10 1 1
odd-mean  20 2 1
small-relative 1 2 1
small-relative 5 8 1
odd-relative 10 2 1
small-pairs 1 2 1
small-pairs 5 8 1
odd-pairs  10 2 1
only-pairs  4 3 1
"""

# name, net, seed, sets: n, or n/m with m of the n items placed and the others context. Twenty sets are more than the CPU
# backend's groups of sets.
MIXED = """
sizes   small-max  1 2 3 5 8
sizes   small-mean 1 8 2 5 3
sizes   odd-max    1 5 8 3 2
context small-max  1 2/2 3/2 5/3 8/8
context small-mean 1 8/3 5/5 2/1 3/2
context odd-mean   1 3/3 8/5 5/1 2/2
context small-relative 1 3/3 8/5 5/1 2/2
context odd-pairs  1 3/3 8/5 5/1 2/2
twenty  small-max  1 2 3/1 5/4 8/3 3 2/2 4/2 6 2/1 3/2 5 2 7/6 3 4/4 2 5/2 3/3 6/5 2
twenty  small-mean 1 2 3/1 5/4 8/3 3 2/2 4/2 6 2/1 3/2 5 2 7/6 3 4/4 2 5/2 3/3 6/5 2
"""


def is_null(s, name, shape):
    """Returns which parameters have a gradient that is 0 by mathematics: what they add is the same for every item of a step, and the
    softmax over the items does not see it. In floating point they get rounding noise, which Adam blows up to steps of
    up to the learning rate where it is large against its eps (1e-8; float64 noise is not): compare them with care."""
    null = np.zeros(shape, dtype=bool)
    if name in ("head.bias", f"decoder.{s.decoder_blocks - 1}.norm.bias"):
        null[...] = True
    if name == "head.weight":  # channels y', and the pooled ones
        D, C = s.encoded, s.decoder_out
        null[0, D : 2 * D] = True
        for m in range(s.decoder_blocks):
            at = 2 * D + s.relations + 2 * C * m
            null[0, at + C : at + 2 * C] = True
    return null


def record(index, values):
    """Returns a tensor in full, or of a large one: samples, sum, projections on random signs, Euclidean norm."""
    values = values.reshape(-1)
    size = len(values)
    if size <= FULL:
        return values
    picks = generated.u64(0, index, SAMPLES) % np.uint64(size)
    bits = generated.u64(1, index, size)
    projections = [
        (values * np.where((bits >> np.uint64(k)) & np.uint64(1), -1.0, 1.0)).sum() for k in range(PROJECTIONS)
    ]
    return np.concatenate([values[picks.astype(np.int64)], [values.sum()], projections, [np.linalg.norm(values)]])


def numbers(tensor):
    return tensor.detach().numpy().astype(np.float64)


def gradients(net):
    """{name: array}; a parameter that the loss does not reach has gradient 0."""
    return {
        name: numbers(p.grad) if p.grad is not None else np.zeros(p.shape) for name, p in net.named_parameters()
    }


def state(net, s):
    values = net.state_dict()
    return {name: numbers(values[name]).copy() for name, _ in generated.tensors(s)}


def compute(case, dtype, theta, orders=False):
    """Returns what is stored, as {entry: {tensor: array} or array}; with `orders` also the orders that the net finds."""
    s, n, B = case.settings, case.n, case.B

    def batch(step):
        x, y = generated.batch(case.seed, step, B, n, s.width)
        e = generated.pairs(case.seed, step, B, n, s.relations)
        return torch.from_numpy(x).to(dtype), torch.from_numpy(y), torch.from_numpy(e).to(dtype)

    out = {}
    x, y, e = batch(0)
    net = twin.make(s, theta, dtype)

    net.eval()
    with torch.no_grad():
        out["eval_logits"] = numbers(net(x, y, e)[0])
        out["eval_loss"] = numbers(net.loss(x, y, e))
    if orders:
        order, log_p, lead = net.greedy(x, e)
        out["greedy_order"], out["greedy_log_prob"], out["greedy_lead"] = numbers(order), numbers(log_p), lead
    if orders and n <= (5 if s.hidden < 200 else 3):
        order, log_p = net.best(x, e)
        out["best_order"], out["best_log_prob"] = numbers(order), numbers(log_p)

    net.train()
    logits, free = net(x, y, e)
    log_p = logits.masked_fill(~free, -torch.inf).log_softmax(2)
    loss = -log_p.gather(2, y[:, :, None]).mean()
    loss.backward()
    out["logits"], out["log_probs"], out["loss"] = numbers(logits), numbers(log_p[free]), numbers(loss)
    out["gradients"] = gradients(net)
    after = state(net, s)
    out["running"] = {name: after[name] for name in after if ".running_" in name}

    trajectory(case, dtype, theta, lambda net, step: net.loss(*batch(step)), out)
    return out


def trajectory(case, dtype, theta, loss_of_step, out):
    """Adds ten steps of Adam."""
    s = case.settings
    net = twin.make(s, theta, dtype)
    before = state(net, s)
    adam = torch.optim.Adam(net.parameters(), lr=case.lr, betas=(0.9, 0.999), eps=1e-8)
    losses = []
    for step in range(STEPS):
        loss = loss_of_step(net, step)
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    after = state(net, s)
    out["adam_loss"] = np.array(losses)
    out["adam_change"] = {name: after[name] - before[name] for name in after}


def compute_mixed(case, dtype, theta):
    """As compute(), for sets of different sizes, their numbers set after set; also the log-probability of each right order."""
    s = case.settings

    def batch(step):
        sets = generated.sets(case.seed, step, case.sizes, s.width, s.relations)
        return [(torch.from_numpy(x).to(dtype), torch.from_numpy(y), torch.from_numpy(e).to(dtype)) for x, y, e in sets]

    def flat(parts):
        return np.concatenate([numbers(p).reshape(-1) for p in parts])

    out = {}
    net = twin.make(s, theta, dtype).eval()
    with torch.no_grad():
        out["eval_logits"] = flat([logits for logits, _ in net.logits_of_sets(batch(0))])
        steps = net.log_probs_of_sets(batch(0))[1]
        out["eval_loss"] = numbers(-steps.mean())
        out["eval_log_prob"] = np.array([p.sum() for p in steps.split([m for _, m in case.sizes])])

    net = twin.make(s, theta, dtype)
    out["logits"] = flat([logits for logits, _ in net.logits_of_sets(batch(0))])
    net = twin.make(s, theta, dtype)  # the running statistics after one batch, not two
    log_p, steps = net.log_probs_of_sets(batch(0))
    loss = -steps.mean()
    loss.backward()
    out["log_probs"], out["loss"] = flat([p[p > -torch.inf] for p in log_p]), numbers(loss)
    out["gradients"] = gradients(net)
    after = state(net, s)
    out["running"] = {name: after[name] for name in after if ".running_" in name}
    trajectory(case, dtype, theta, lambda net, step: net.loss_of_sets(batch(step)), out)
    return out


def check_one_size(s, seed):
    """Asserts that the functions for sets of different sizes agree with those for one size on sets of one size."""
    theta = generated.theta(s, seed)
    x, y = (torch.from_numpy(a) for a in generated.batch(seed, 0, 3, 4, s.width))
    e = torch.from_numpy(generated.pairs(seed, 0, 3, 4, s.relations)).double()
    together, one_by_one = twin.make(s, theta), twin.make(s, theta)
    loss = together.loss(x.double(), y, e)
    listed = one_by_one.loss_of_sets([(x[b].double(), y[b], e[b]) for b in range(3)])
    loss.backward()
    listed.backward()
    assert abs(loss.item() - listed.item()) < 1e-12
    for p, q in zip(together.parameters(), one_by_one.parameters()):
        assert p.grad is None or torch.allclose(p.grad, q.grad, 1e-9, 1e-12)
    for p, q in zip(together.buffers(), one_by_one.buffers()):
        assert torch.allclose(p.double(), q.double(), 1e-12, 1e-12)


def perturbed(case, theta, k):
    """Returns the parameters with each number off by up to a relative 1e-7, the rounding of float32."""
    out = {}
    for index, (name, value) in enumerate(theta.items()):
        u = generated.unit(generated.u64(case.seed + 1000 + k, index, value.size)).reshape(value.shape)
        out[name] = value.astype(np.float64) * (1 + 1e-7 * (2 * u - 1))
    return out


def error(s, entry, got, want):
    """Returns the error of an array: the largest difference. Of tensors: the largest of a tensor, relative to its largest number plus a
    hundredth of the largest of all. Of Adam's changes: the Euclidean norm of the difference of all trained tensors,
    without the null ones, relative to the norm of the change."""
    if not isinstance(want, dict):
        return np.abs(got - want).max()
    if entry == "adam_change":
        off = of = 0.0
        for name, w in want.items():
            if ".running_" not in name:
                live = ~is_null(s, name, w.shape)
                off += ((got[name] - w)[live] ** 2).sum()
                of += (w[live] ** 2).sum()
        return (off / of) ** 0.5 if of > 0 else off**0.5
    largest = max(np.abs(w).max() for w in want.values())
    if largest == 0:
        return max(np.abs(g).max() for g in got.values())
    return max(np.abs(got[name] - w).max() / (np.abs(w).max() + 0.01 * largest) for name, w in want.items())


NOISE = ("logits", "loss", "gradients", "running", "eval_logits", "eval_loss", "adam_loss", "adam_change")


def noise(case, theta, want):
    """Returns how far float32 can be expected to be off, per entry of NOISE: the twin itself in float32, and the twin with
    parameters off by float32's rounding, whichever is worse."""
    values = compute_mixed if case.sizes else compute
    others = [values(case, torch.float32, theta)]
    others += [values(case, torch.float64, perturbed(case, theta, k)) for k in range(2)]
    return np.array([max(error(case.settings, e, o[e], want[e]) for o in others) for e in NOISE])


def check_conditioning(case, want, off):
    """Asserts that no value is near a tie (a ReLU at 0, two equal maxima), where float32 may fall on the other side."""
    off = dict(zip(NOISE, off))
    assert off["logits"] < 2e-4 and off["eval_logits"] < 1e-4 and off["loss"] < 1e-5, (case.name, off)
    assert off["gradients"] < 2e-4, (case.name, off)
    assert off["adam_loss"] < 1e-3 and off["adam_change"] < 0.03, (case.name, off)
    assert case.sizes or want["greedy_lead"] > 1e-4, (case.name, want["greedy_lead"])


def entries(case):
    """Returns [(name, float64 array)] of a case, as they are in the file."""
    s = case.settings
    theta = generated.theta(s, case.seed)
    if case.sizes:
        check_one_size(s, case.seed)
        want = compute_mixed(case, torch.float64, theta)
    else:
        want = compute(case, torch.float64, theta, orders=True)
    off = noise(case, theta, want)
    check_conditioning(case, want, off)
    pool = {"max": 0, "mean": 1}[s.pool]
    facts = [s.width, s.encoder_blocks, s.hidden, s.encoder_out, s.decoder_blocks, s.decoder_out, pool]
    facts += [case.B, case.n, case.seed, case.lr]
    facts += [s.relative, s.relations] if s.relations else [1] * s.relative
    out = [("case", np.array(facts))]
    if case.sizes:
        out.append(("sizes", np.array(case.sizes, dtype=np.float64).reshape(-1)))
    names = [name for name, _ in generated.tensors(s)]
    for entry, value in want.items():
        if entry == "greedy_lead":
            continue
        if isinstance(value, dict):
            cut = (lambda index, v: v.reshape(-1)) if entry == "running" else record
            value = np.concatenate([cut(names.index(name), value[name]) for name in names if name in value])
        out.append((entry, np.asarray(value, dtype=np.float64).reshape(-1)))
    return out + [("noise", off)]


def write(golden):
    """Writes {case: {entry: array}} as tensors CASE/ENTRY, sorted, of doubles."""
    header, parts, at = {}, [], 0
    for case in sorted(golden):
        for entry, values in golden[case].items():
            parts.append(np.asarray(values, dtype="<f8").tobytes())
            header[f"{case}/{entry}"] = {
                "dtype": "F64", "shape": [len(values)], "data_offsets": [at, at + len(parts[-1])]
            }
            at += len(parts[-1])
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    FILE.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(parts))


def read():
    data, out = FILE.read_bytes(), {}
    start = 8 + int.from_bytes(data[:8], "little")
    for name, tensor in json.loads(data[8:start]).items():
        case, entry = name.rsplit("/", 1)
        begin, end = tensor["data_offsets"]
        out.setdefault(case, {})[entry] = np.frombuffer(data[start + begin : start + end], "<f8")
    return out


def same(old, new):
    if old is None or old.keys() != new.keys():
        return False
    return all(
        name == "noise" or (len(old[name]) == len(new[name]) and np.allclose(old[name], new[name], 1e-9, 1e-9))
        for name in old
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="cases (default: all)")
    parser.add_argument("--check", action="store_true", help="compare with the file instead of writing it")
    args = parser.parse_args()
    known = {case.name: case for case in cases()}
    unknown = [name for name in args.names if name not in known]
    if unknown:
        parser.error(f"no case {unknown[0]}; there are: {' '.join(known)}")
    torch.set_num_threads(1)
    golden, differ = read() if FILE.exists() else {}, 0
    for name in args.names or known:
        case = dict(entries(known[name]))
        if args.check:
            good = same(golden.get(name), case)
            differ += not good
            print(f"{name}: {'the same' if good else 'DIFFERS'}", flush=True)
        else:
            golden[name] = case
            off = " ".join(f"{e} {v:.0e}" for e, v in zip(NOISE, case["noise"]))
            print(f"{name}: expected of float32: {off}", flush=True)
    if not args.check:
        write({name: golden[name] for name in known if name in golden})
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
