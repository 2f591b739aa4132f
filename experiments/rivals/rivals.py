#!/usr/bin/env python3
"""Trains a rival network (nets.py) on tours that `ordernet tsp generate` made, and measures it.

    rivals.py train NET --data train.safetensors --valid valid.safetensors --out NET.pt
    rivals.py evaluate NET NET.pt --out NET.csv test.safetensors ...
    rivals.py rates                                   ordering, on one CPU thread
    rivals.py table results.csv ...                   prints Markdown; results.csv as `ordernet tsp eval --out` writes it

NET is pointer, attention-small or attention-large. `train` uses AdamW with a cosine schedule, TF32 products and, on a GPU, one
CUDA graph per size; what it did goes to NET.json. `evaluate` measures the greedy search and the most probable tour
of beam 5 for every size in the files, on one CPU thread. With the reference BLAS, PyTorch's products are 15 times slower than with
OpenBLAS.
"""

import argparse
import contextlib
import csv
import json
import math
import struct
import time
from pathlib import Path

import numpy as np
import torch

from nets import NETS

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
BEAM = 5
NAMES = {"pointer": "pointer network", "attention-small": "attention model 76K", "attention-large": "attention model 728K"}


def read_sets(path):
    """Returns {n: (cities [N, n, 2], tours [N, n])} of a safetensors file of sets (docs/formats.md)."""
    raw = np.memmap(path, dtype=np.uint8, mode="r")
    (length,) = struct.unpack("<Q", raw[:8].tobytes())
    header = json.loads(raw[8 : 8 + length].tobytes())

    def tensor(name, kind):
        a, b = header[name]["data_offsets"]
        return np.frombuffer(raw[8 + length + a : 8 + length + b].tobytes(), kind).reshape(header[name]["shape"])

    sizes, items, order = tensor("sizes", "<i4"), tensor("items", "<f4"), tensor("order", "<i4")
    start = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    sets = {}
    for n in np.unique(sizes):
        at = start[sizes == n][:, None] + np.arange(n)
        sets[int(n)] = torch.from_numpy(items[at].copy()), torch.from_numpy(order[at].astype(np.int64))
    return sets


def loss_of(net, xy, order):
    return torch.nn.functional.cross_entropy(net(xy, order).flatten(0, 1), order.flatten())


# ---- Training ----


class Trainer:
    def __init__(self, net, args):
        self.net, self.args = net, args
        self.weights = list(net.parameters())
        self.average = [w.detach().clone() for w in self.weights]
        on_gpu = {"fused": True, "capturable": True} if DEVICE == "cuda" else {}
        rate = torch.tensor(0.0, device=DEVICE) if DEVICE == "cuda" else 0.0
        self.adam = torch.optim.AdamW(self.weights, lr=rate, weight_decay=args.weight_decay, **on_gpu)
        self.graphs = {}

    def set_rate(self, rate):
        group = self.adam.param_groups[0]
        if DEVICE == "cuda":
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate

    def update(self, xy, order):
        self.adam.zero_grad(set_to_none=True)
        loss = loss_of(self.net, xy, order)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.weights, self.args.clip)
        self.adam.step()
        return loss.detach()

    def capture(self, sizes):
        """Captures one graph per size. The steps that warm it up change nothing: weights and moments are restored."""
        before = [w.detach().clone() for w in self.weights]
        pool = None
        for n in sizes:
            xy = torch.rand(self.args.batch, n, 2, device=DEVICE)
            order = torch.argsort(torch.rand(self.args.batch, n, device=DEVICE), 1)
            side = torch.cuda.Stream(priority=-1)
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                for _ in range(3):
                    self.update(xy, order)
            torch.cuda.current_stream().wait_stream(side)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=pool, stream=side):
                loss = self.update(xy, order)
            pool = graph.pool()
            self.graphs[n] = graph, xy, order, loss
        with torch.no_grad():
            for w, old in zip(self.weights, before):
                w.copy_(old)
                for moment in self.adam.state[w].values():
                    moment.zero_()

    def step(self, n, xy, order, weight):
        if n in self.graphs:
            graph, its_xy, its_order, loss = self.graphs[n]
            its_xy.copy_(xy)
            its_order.copy_(order)
            graph.replay()
        else:
            loss = self.update(xy, order)
        with torch.no_grad():
            torch._foreach_mul_(self.average, 1 - weight)
            torch._foreach_add_(self.average, self.weights, alpha=weight)
        return loss

    def use_average(self):
        with torch.no_grad():
            for w, mean in zip(self.weights, self.average):
                w.copy_(mean)


def batches(sets, batch, generator):
    """Returns one epoch: full batches of one size, in random order."""
    list_ = []
    for n, (xy, _) in sets.items():
        order = torch.randperm(len(xy), generator=generator).to(DEVICE)
        list_ += [(n, order[i : i + batch]) for i in range(0, len(xy) - batch + 1, batch)]
    return [list_[i] for i in torch.randperm(len(list_), generator=generator)]


@torch.no_grad()
def validate(net, sets):
    """Returns the mean loss per step, every size with the same weight."""
    return float(np.mean([loss_of(net, xy, order).item() for xy, order in sets.values()]))


def save(trainer, path):
    """Saves the EMA of the weights."""
    names = [name for name, _ in trainer.net.named_parameters()]
    torch.save(dict(zip(names, (mean.clone() for mean in trainer.average))), path)


def train(args):
    # Where others use the GPU too, small kernels need not wait behind large ones.
    with torch.cuda.stream(torch.cuda.Stream(priority=-1)) if DEVICE == "cuda" else contextlib.nullcontext():
        train_on_stream(args)


def train_on_stream(args):
    torch.manual_seed(args.seed)
    torch.set_float32_matmul_precision("high")
    began = time.time()
    sets = {n: (xy.to(DEVICE), order.to(DEVICE)) for n, (xy, order) in read_sets(args.data).items()}
    valid = {n: (xy.to(DEVICE), order.to(DEVICE)) for n, (xy, order) in read_sets(args.valid).items()}
    net = NETS[args.net]().to(DEVICE)
    generator = torch.Generator().manual_seed(args.seed)
    steps = args.epochs * sum(len(xy) // args.batch for xy, _ in sets.values())
    trainer = Trainer(net, args)
    if DEVICE == "cuda" and not args.no_graphs:
        trainer.capture(sets)
    parameters = sum(w.numel() for w in trainer.weights)
    print(f"{args.net}: {parameters} parameters, {steps} steps, ready after {time.time() - began:.1f} s", flush=True)

    began, step, done, reported, losses, log = time.time(), 0, 0.0, 0.0, [], []
    while done < 1:
        for n, chosen in batches(sets, args.batch, generator):
            # The schedule follows the steps, or the clock where that is ahead, so that it always ends.
            done = max(step / steps, (time.time() - began) / args.seconds)
            if done >= 1:
                break
            warm = min(1, done / 0.02)
            trainer.set_rate(args.learning_rate * warm * (0.5 + 0.5 * math.cos(math.pi * done)))
            xy, order = sets[n]
            losses.append(trainer.step(n, xy[chosen], order[chosen], max(1 - args.average, 10 / (step + 10))).clone())
            step += 1
            if step % 20 == 0:
                torch.stack(losses[-1:]).item()  # waits, so that the clock is the GPU's
                seconds = time.time() - began
                if seconds < reported + 5:
                    continue
                reported = seconds
                mean = torch.stack(losses[-1000:]).mean().item()
                losses = []
                log.append({"step": step, "seconds": round(seconds, 2), "loss": mean})
                print(f"{args.net}: step {step}, loss {mean:.4f}, {step / seconds:.0f} steps/s", flush=True)
                save(trainer, args.out)  # something is left where the training is killed
    if DEVICE == "cuda":
        torch.cuda.synchronize()
    seconds = time.time() - began
    save(trainer, args.out)
    trainer.use_average()
    record = {
        "net": args.net, "parameters": parameters, "batch": args.batch, "learning_rate": args.learning_rate,
        "weight_decay": args.weight_decay, "clip": args.clip, "average": args.average, "seed": args.seed,
        "epochs": round(args.epochs * step / steps, 3), "steps": step, "stopped_by_clock": step < steps,
        "seconds": round(seconds, 1), "valid_loss": validate(net, valid),
        "device": torch.cuda.get_device_name() if DEVICE == "cuda" else "cpu", "torch": torch.__version__, "log": log,
    }  # fmt: skip
    Path(args.out).with_suffix(".json").write_text(json.dumps(record, indent=1) + "\n")
    print(f"{args.net}: {step} steps in {seconds:.1f} s, validation loss {record['valid_loss']:.4f}", flush=True)


# ---- Search ----


@torch.no_grad()
def search(net, xy, beam):
    """Returns the most probable of the tours that a beam search ends with, [B, n]; beam 1 is greedy."""
    B, n = xy.shape[:2]
    fixed, moving = ([part.repeat_interleave(beam, 0) for part in parts] for parts in net.start(xy))
    visited = torch.zeros(B * beam, n, dtype=torch.bool, device=xy.device)
    tours = torch.zeros(B * beam, n, dtype=torch.long, device=xy.device)
    # At the start all beams of a set are the same: only the first counts.
    score = torch.full((B, beam), float("-inf"), device=xy.device)
    score[:, 0] = 0
    base = torch.arange(B, device=xy.device)[:, None] * beam
    for t in range(n):
        logits, moving = net.step(fixed, moving, visited)
        total = score[:, :, None] + torch.log_softmax(logits, -1).view(B, beam, n)
        score, best = total.view(B, beam * n).topk(beam)
        parent, city = (base + best // n).flatten(), (best % n).flatten()
        if beam > 1:
            moving = [part[parent] for part in moving]
            visited, tours = visited[parent], tours[parent]
        visited = visited.scatter(1, city[:, None], True)
        tours[:, t] = city
        moving = net.choose(fixed, moving, city)
    return tours.view(B, beam, n)[:, 0]


def lengths(xy, tours):
    at = torch.gather(xy.double(), 1, tours[..., None].expand(-1, -1, 2))
    return (at - at.roll(-1, 1)).norm(dim=-1).sum(1)


def mean(values):
    m, half = values.mean().item(), 1.96 * values.std(unbiased=False).item() / math.sqrt(len(values) - 1)
    return m, m - half, m + half


def timed(net, xy, beam):
    """Returns the tours of all sets, 50 at a time, and sets per second of CPU time."""
    search(net, xy[:8], beam)  # the first call allocates
    began = time.process_time()
    tours = torch.cat([search(net, part, beam) for part in xy.split(50)])
    return tours, len(xy) / (time.process_time() - began)


def write(rows, path):
    with open(path, "w") as out:
        out.write(
            "n,method,instances,length,length_low,length_high,gap_percent,gap_low,gap_high,optimum,parameters,train_seconds,"
            "sets_per_second\n"
        )
        for row in sorted(rows):
            head, means, gaps, tail = row[:3], row[3:6], row[6:9], row[9:]
            fields = [str(v) for v in head] + [f"{v:.6f}" for v in means] + [f"{v:.4f}" for v in gaps]
            out.write(",".join(fields + [f"{tail[0]:.6f}", str(tail[1]), f"{tail[2]:.1f}", f"{tail[3]:.0f}"]) + "\n")


def evaluate(args):
    torch.set_num_threads(1)
    net = NETS[args.net]().eval()
    net.load_state_dict(torch.load(args.weights, map_location="cpu"), strict=True)
    path = Path(args.weights).with_suffix(".json")
    record = json.loads(path.read_text()) if path.exists() else {"parameters": sum(w.numel() for w in net.parameters()), "seconds": math.nan}
    rows = []
    for path in args.test:
        for n, (xy, order) in read_sets(path).items():
            if args.sizes and n not in args.sizes:
                continue
            best = lengths(xy, order)
            for beam in 1, BEAM:
                tours, rate = timed(net, xy, beam)
                assert (tours.sort(1).values == torch.arange(n)).all()
                length = lengths(xy, tours)
                # The optimum's lengths say on which instances this was measured.
                rows.append(
                    [n, NAMES[args.net] + ("" if beam > 1 else " greedy"), len(xy), *mean(length)]
                    + [100 * value for value in mean(length / best - 1)]
                    + [best.mean().item(), record["parameters"], record["seconds"], rate]
                )
                print(f"{args.net} n {n} beam {beam}: gap {rows[-1][6]:.3f}%, {rate:.0f} sets/s", flush=True)
            write(rows, args.out)


def rates(args):
    """Prints sets per second of CPU time on one thread, with untrained weights: the work is the same."""
    torch.set_num_threads(1)
    for n, count in (20, 200), (100, 20):
        xy = torch.rand(count, n, 2, generator=torch.Generator().manual_seed(1))
        for name, make in NETS.items():
            for beam in 1, BEAM:
                _, rate = timed(make().eval(), xy, beam)
                print(f"{NAMES[name]}, {n} cities, beam {beam}: {rate:.0f} sets/s", flush=True)


# ---- Table ----


def table(args):
    rows = [row for path in args.results for row in csv.DictReader(open(path)) if row["gap_low"]]  # without the published ones
    gaps = {(int(row["n"]), row["method"]): [float(row[key]) for key in ("gap_percent", "gap_low", "gap_high")] for row in rows}
    methods = ["ordernet", *NAMES.values()]
    sizes = sorted({n for n, method in gaps if method.removesuffix(" greedy") in NAMES.values()})
    for search_name in "", " greedy":
        print(f"| cities{search_name and ',' + search_name} | " + " | ".join(methods) + " |")
        print("| --- |" + " --- |" * len(methods))
        for n in args.sizes or sizes:
            of_size = (gaps.get((n, method + search_name)) for method in methods)
            print(f"| {n} | " + " | ".join("{:.2f}% [{:.2f}, {:.2f}]".format(*gap) if gap else "" for gap in of_size) + " |")
        print()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    t = verbs.add_parser("train")
    t.add_argument("net", choices=NETS)
    t.add_argument("--data", required=True)
    t.add_argument("--valid", required=True)
    t.add_argument("--out", required=True)
    t.add_argument("--epochs", type=float, default=10)
    t.add_argument("--seconds", type=float, default=math.inf, help="the schedule ends by then, whatever the epochs")
    t.add_argument("--batch", type=int, default=512)
    t.add_argument("--learning-rate", type=float, default=1e-3)
    t.add_argument("--weight-decay", type=float, default=0.01)
    t.add_argument("--clip", type=float, default=1.0)
    t.add_argument("--average", type=float, default=0.999, help="EMA of the weights")
    t.add_argument("--seed", type=int, default=1)
    t.add_argument("--no-graphs", action="store_true")
    e = verbs.add_parser("evaluate")
    e.add_argument("net", choices=NETS)
    e.add_argument("weights")
    e.add_argument("test", nargs="+")
    e.add_argument("--out", required=True)
    m = verbs.add_parser("table")
    m.add_argument("results", nargs="+")
    for verb in e, m:
        verb.add_argument("--sizes", type=lambda text: [int(n) for n in text.split(",")], help="leave out the others")
    verbs.add_parser("rates")
    args = parser.parse_args()
    {"train": train, "evaluate": evaluate, "table": table, "rates": rates}[args.verb](args)


if __name__ == "__main__":
    main()
