#!/usr/bin/env python3
"""Which training makes OrderNet right at every size of a wide mix of sizes? See README.md; table.py shows the results.

A job is one training on one task, all seeds side by side; what differs in the norms' statistics alone shares it. Each
(variant, task, seed, size, source) is a row of the CSV, written when its job is done.
"""

import argparse
import csv
import dataclasses
import math
import pathlib
import queue
import sys
import time
import traceback

import numpy as np
import torch

import net

ROOT = pathlib.Path(__file__).resolve().parents[2]
COLUMNS = "task variant seed size source sets exact loglik gap seconds".split()
# src/engine/train/options.c and train.c
BATCH, RATE, WARMUP, DECAY, CLIP, AVERAGE, AVERAGE_EVERY = 32, 5e-3, 0.02, 0.1, 1.0, 0.999, 16
BETA1, BETA2, ADAM_EPSILON, MOMENTUM = 0.9, 0.999, 1e-8, 0.1
MEASURED, MEASURED_BATCHES, LEAST_SPREAD = 4096, 16, 0.05
EPOCHS = {"pages": 20, "sort": 20, "outward": 20, "tours": 20, "words": 10}


@dataclasses.dataclass(frozen=True)
class Training:
    statistics: dict  # variant: how it gets the norms' statistics
    mixed: bool = True
    norm: str = "batch"
    weigh: str = "cell"
    drop: float = 0  # at most this share of a set's items
    jitter: float = 0  # of the features' spread
    loss: str = "step"  # what weighs the same in the loss of a mixed batch: each "step" or each "set"


TRAININGS = {
    "one-size": Training({"1": "running", "2": "sized", "3": "knots"}, mixed=False),
    "mixed": Training({"4": "running", "5": "precise"}),
    "augment": Training({"9": "running", "9p": "precise"}, drop=0.3, jitter=0.05),
    "weigh-sets": Training({"6": "running", "6p": "precise"}, weigh="set"),
    "layer": Training({"7": "none"}, norm="layer"),
    "per-set": Training({"8": "none"}, norm="set"),
    "drop": Training({"10": "running", "10p": "precise"}, drop=0.3),
    "loss-sets": Training({"11": "running", "11p": "precise"}, loss="set"),
}
# The most telling first; within one rank the longest first, so that none is left over at the end.
RANKS = [
    (("one-size", "mixed"), ("tours", "pages", "sort")),
    (("augment",), ("tours", "pages", "sort")),
    (("layer", "per-set", "weigh-sets"), ("pages", "sort")),
    (("one-size", "mixed", "augment", "layer", "per-set"), ("outward",)),
    (("layer", "per-set"), ("tours",)),
    (("loss-sets", "drop"), ("pages", "sort")),
    (("one-size", "mixed", "augment"), ("words",)),
    (("weigh-sets",), ("tours", "outward")),
    (("layer", "per-set"), ("words",)),
    (("loss-sets", "drop"), ("tours", "outward")),
    (("weigh-sets", "loss-sets", "drop"), ("words",)),
]
JOBS = [(training, task) for trainings, tasks in RANKS for task in tasks for training in trainings]


class Sets:
    """One file of prepare.py, padded, on the device; items of a set in the right order."""

    def __init__(self, path, scale, device, smallest=2, largest=None, most=None):
        with np.load(path) as f:
            items, size = f["items"], f["size"]
            items = f["vectors"][items].astype(np.float32) if "vectors" in f else items.astype(np.float32)
            source = f["source"] if "source" in f else np.full(len(size), "")
            optimum = f["optimum"] if "optimum" in f else None
        self.scale = scale or (items.mean(0, dtype=np.float64), items.std(0, dtype=np.float64))
        first = np.cumsum(size) - size
        keep = np.flatnonzero((size >= smallest) & (size <= (largest or size.max())))[:most]
        self.size, self.source = size[keep], source[keep]
        self.optimum = None if optimum is None else optimum[keep]
        self.raw = np.zeros((len(keep), self.size.max(), items.shape[1]), np.float32)
        for s, k in enumerate(keep):
            self.raw[s, : size[k]] = items[first[k] : first[k] + size[k]]
        mean, deviation = self.scale
        x = (self.raw - mean) / np.where(deviation > 1e-12, deviation, 1)
        self.x = torch.from_numpy(x.astype(np.float32)).to(device)
        self.sizes = torch.from_numpy(self.size.astype(np.int64)).to(device)

    def of_size(self):
        return {int(n): np.flatnonzero(self.size == n) for n in np.unique(self.size)}


def plan(sets, mixed, rngs):
    """An epoch's batches: [(index [S, B], padded size)]. Seeds take other sets in another order, in batches of the same
    shape."""
    groups = [np.arange(len(sets.size))] if mixed else list(sets.of_size().values())
    batches = []
    for members in groups:
        shuffled = np.stack([r.permutation(members) for r in rngs])
        for part in np.array_split(shuffled, -(-len(members) // BATCH), axis=1):
            n = int(sets.size[part].max())
            if mixed:  # few shapes, so that few graphs are captured
                n = min(-(-n // 8) * 8, int(sets.size.max()))
            batches.append((part, n))
    return [batches[i] for i in rngs[0].permutation(len(batches))]


def on_device(batches, device):
    """The batches with their indices on the device, moved there at once."""
    counts = [index.shape[1] for index, _ in batches]
    moved = torch.from_numpy(np.concatenate([index for index, _ in batches], axis=1)).to(device).split(counts, dim=1)
    return [(index, n) for index, (_, n) in zip(moved, batches)]


def augment(x, size, drop, jitter):
    """Leaves out items of each set, at least two stay, and moves the others a little. Order and padding are kept."""
    S, B, n, _ = x.shape
    inside = torch.arange(n, device=x.device) < size[..., None]
    draw = torch.rand(S, B, n, device=x.device)
    share = torch.rand(S, B, 1, device=x.device) * drop
    draw = draw.masked_fill(~inside, -1.0)
    second = draw.topk(2, dim=2).values[..., 1:]
    stay = inside & (draw >= torch.minimum(share, second))
    to = (stay.cumsum(2) - 1).masked_fill(~stay, n)  # those left out go to one more place, behind
    room = torch.zeros(S, B, n + 1, x.shape[3], device=x.device)
    x = room.scatter(2, to[..., None].expand_as(x), x)[:, :, :n]
    if jitter:
        x = x + jitter * torch.randn_like(x)
    return x, stay.sum(2)


def rate_at(step, steps):
    done = step / steps
    if done < WARMUP:
        return RATE * (step + 1) / (WARMUP * steps + 1)
    return RATE * 0.5 * (1 + math.cos(math.pi * (done - WARMUP) / (1 - WARMUP)))


def adam_numbers(step, steps):
    """Adam's rate with the correction of m, the correction of v, and what the weight decay leaves."""
    rate = rate_at(step, steps)
    return rate / (1 - BETA1 ** (step + 1)), 1 / (1 - BETA2 ** (step + 1)), 1 - rate * DECAY


class Trainer:
    def __init__(self, training, sets, seeds, device, graphs=True):
        self.t, self.sets, self.device = training, sets, device
        torch.manual_seed(seeds[0])
        self.rngs = [np.random.default_rng(seed) for seed in seeds]
        self.d = sets.x.shape[2]
        self.theta = net.first_parameters(self.d, seeds).to(device).requires_grad_()
        self.norm = net.Norm(training.norm, training.weigh)
        self.net = net.OrderNet(self.theta, self.d, self.norm)
        shape = (len(seeds), sum(net.WIDTHS))
        self.running = torch.zeros(shape, device=device), torch.ones(shape, device=device)
        self.m, self.v = torch.zeros_like(self.theta), torch.zeros_like(self.theta)
        self.now = torch.zeros(3, device=device)  # of this step: Adam's rate, correction of v, decay
        self.graphs = {} if graphs and device.type == "cuda" else None

    def batch(self, index, n, augmented):
        x, size = self.sets.x[:, :n][index], self.sets.sizes[index]
        if not self.t.mixed:
            return x, None, size
        if augmented:
            x, size = augment(x, size, self.t.drop, self.t.jitter)
        return x, net.Padding(size, n), size

    def saw(self, pad, index, n):
        """Mean, unbiased variance and cells [S, 1] of the batch just seen."""
        mean, variance = self.norm.statistics()
        if pad is None:
            cells = torch.full((len(mean), 1), index.shape[1] * n * n, dtype=mean.dtype, device=self.device)
        else:
            cells = pad.size.square().sum(1, keepdim=True)
        return mean, variance * cells / (cells - 1), cells

    def loss(self, index, n):
        x, pad, size = self.batch(index, n, self.t.drop > 0)
        steps, _ = self.net.losses(x, pad)
        if self.t.loss == "set":
            return (steps.sum(2) / size).mean(1).sum(), pad
        return (steps.sum((1, 2)) / size.sum(1)).sum(), pad

    @torch.no_grad()
    def move(self, g):
        rate, correction, keep = self.now
        g = g * (CLIP / g.norm(dim=1, keepdim=True).clamp(min=CLIP))
        self.m.lerp_(g, 1 - BETA1)
        self.v.mul_(BETA2).addcmul_(g, g, value=1 - BETA2)
        root = (self.v * correction).sqrt_().add_(ADAM_EPSILON)
        self.theta.mul_(keep).sub_(self.m.div(root).mul_(rate))

    def one_step(self, index, n):
        loss, pad = self.loss(index, n)
        self.move(torch.autograd.grad(loss, self.theta)[0])
        if self.t.norm == "batch":
            mean, variance, _ = self.saw(pad, index, n)
            self.running[0].lerp_(mean, MOMENTUM)
            self.running[1].lerp_(variance, MOMENTUM)

    def step(self, index, n):
        """One step, as a CUDA graph where its shape has come before: launching the kernels one by one takes longer than
        running them. A shape's first step goes without, which also starts the libraries."""
        shape = (index.shape[1], n)
        if self.graphs is None or shape not in self.graphs:
            if self.graphs is not None:
                self.graphs[shape] = None
            return self.one_step(index, n)
        if self.graphs[shape] is None:
            graph, fixed = torch.cuda.CUDAGraph(), index.clone()
            torch.cuda.synchronize()
            graph.capture_begin(pool=self.pool)
            try:
                self.one_step(fixed, n)
            finally:
                graph.capture_end()
            self.graphs[shape] = graph, fixed
        graph, fixed = self.graphs[shape]
        fixed.copy_(index)
        graph.replay()

    @torch.no_grad()
    def look(self, looks):
        """The EMA of the weights and of the running statistics, as train.c has it."""
        now = [self.theta.detach(), *self.running]
        decay = 0 if looks <= 1 else min(AVERAGE**AVERAGE_EVERY, looks / (looks + 9))
        if decay == 0:
            self.average = [a.clone() for a in now]
        for a, b in zip(self.average, now):
            a.lerp_(b, 1 - decay)

    def train(self, epochs):
        if self.graphs is None:
            return self.all_steps(epochs)
        self.pool = torch.cuda.graph_pool_handle()
        with torch.cuda.stream(torch.cuda.Stream()):  # none is captured on the default stream
            steps = self.all_steps(epochs)
        torch.cuda.synchronize()
        self.graphs = None
        return steps

    def all_steps(self, epochs):
        steps, step = epochs * len(plan(self.sets, self.t.mixed, [np.random.default_rng(0)])), 0
        schedule = torch.tensor([adam_numbers(s, steps) for s in range(steps)], device=self.device)
        self.average = [self.theta.detach(), *self.running]
        for _ in range(epochs):
            for index, n in on_device(plan(self.sets, self.t.mixed, self.rngs), self.device):
                self.now.copy_(schedule[step])
                self.step(index, n)
                step += 1
                if step % AVERAGE_EVERY == 0:
                    self.look(step // AVERAGE_EVERY)
        if not bool(torch.isfinite(self.average[0]).all()):
            print("a parameter is not finite", file=sys.stderr)
        self.theta = self.average[0]
        self.net = net.OrderNet(self.theta, self.d, self.norm)
        return step

    # ---- the norms' statistics at ordering time: a function of the size ----

    @torch.no_grad()
    def measure(self):
        """(n, mean, unbiased variance, cells) of batches of training sets, seen with the weights of the model."""
        self.norm.fixed = None
        batches = plan(self.sets, self.t.mixed, self.rngs)[: max(MEASURED // BATCH, MEASURED_BATCHES)]
        found = []
        for index, n in on_device(batches, self.device):
            x, pad, _ = self.batch(index, n, False)
            self.net.losses(x, pad)
            mean, variance, cells = self.saw(pad, index, n)
            found.append((n, mean.double(), variance.double(), cells.double()))
        return found

    def statistics(self, how):
        """A function of the size that gives (mean, variance) [S, channels], or None where norms need none."""
        if how == "none":
            return lambda n: None
        if how == "running":
            mean, variance = self.average[1:]
            return lambda n: (mean, variance)
        return {"precise": precise, "sized": sized, "knots": knots}[how](self.measure(), self.t.weigh)


def precise(found, weigh):
    """The moments of all measured batches together."""
    weight = [torch.ones_like(cells) if weigh == "set" else cells for *_, cells in found]
    total = sum(weight)
    mean = sum(w * m for w, (_, m, _, _) in zip(weight, found)) / total
    variance = sum(w * (v + (m - mean).square()) for w, (_, m, v, _) in zip(weight, found)) / total
    return lambda n: (mean.float(), variance.float())


def line(x, weight, y, least):
    """Least squares: value at the mean of x, and slope; no slope where x spreads by less than `least` of its mean."""
    total = weight.sum()
    middle = (weight * x).sum() / total
    away = x - middle
    spread = (weight * away.square()).sum()
    value = torch.tensordot(weight, y, 1) / total
    if spread <= (least * middle) ** 2 * total:
        return middle, value, torch.zeros_like(value)
    return middle, value, torch.tensordot(weight * away, y, 1) / spread


def table(found):
    """Of the measured batches: 1/n [K], cells [K], and [K, 2, S, channels]: means and logarithms of variances."""
    y = torch.stack([torch.stack([m, (v + net.EPSILON).log()]) for _, m, v, _ in found])
    x = torch.tensor([1 / n for n, *_ in found], dtype=y.dtype, device=y.device)
    cells = torch.stack([c[0, 0] for *_, c in found])  # batches of one size: the same for all seeds
    return x, cells, y


def back(y):
    return y[0].float(), (y[1].exp() - net.EPSILON).clamp(min=0).float()


def sized(found, weigh):
    """src/engine/train/sizes.c: a straight line in 1/n through each mean and logarithm of a variance."""
    x, cells, y = table(found)
    smallest, largest = min(f[0] for f in found), max(f[0] for f in found)
    middle, value, slope = line(x, cells, y, LEAST_SPREAD)
    if largest < 2 * smallest:
        slope = torch.zeros_like(slope)
    return lambda n: back(value + slope * (1 / max(n, smallest) - middle))


NEAR = 0.15  # sizes within about this share of n take part in a knot


def knots(found, weigh):
    """A knot for each measured size, piecewise linear in 1/n between them. A knot is the value of a straight line in 1/n
    through the sizes near it, each batch weighing as many cells as it has. The last line goes on beyond the largest
    size; below the smallest its knot holds."""
    x, cells, y = table(found)
    sizes = sorted({f[0] for f in found})
    lines = []
    for n in sizes:
        near = cells * torch.exp(-0.5 * ((x.log() + math.log(n)) / NEAR).square())
        lines.append(line(x, near, y, LEAST_SPREAD))
    values = [value + slope * (1 / n - middle) for n, (middle, value, slope) in zip(sizes, lines)]

    def at(n):
        if n <= sizes[0]:
            return back(values[0])
        if n >= sizes[-1]:
            return back(values[-1] + lines[-1][2] * (1 / n - 1 / sizes[-1]))
        k = int(np.searchsorted(sizes, n))
        low, high = 1 / sizes[k], 1 / sizes[k - 1]
        share = (1 / n - low) / (high - low)
        return back(values[k] + share * (values[k - 1] - values[k]))

    return at


# ---- validation ----


def classes(raw):
    """Items of a set with equal features have equal numbers: [B, n]"""
    out = np.zeros(raw.shape[:2], np.int64)
    for b, items in enumerate(raw):
        out[b] = np.unique(items, axis=0, return_inverse=True)[1].reshape(-1)
    return out


@torch.no_grad()
def evaluate(trainer, valid, at, chunk=1500000):
    """Exact match and log-likelihood per step [S, sets]; the gap of greedy tours where optima are known, else None."""
    S = trainer.theta.shape[0]
    exact, loglik = np.zeros((S, len(valid.size))), np.zeros((S, len(valid.size)))
    gap = None if valid.optimum is None else np.zeros((S, len(valid.size)))
    for n, members in valid.of_size().items():
        trainer.norm.fixed = at(n)
        parts = -(-len(members) * S * n * n // chunk)
        for part in np.array_split(members, min(parts, len(members))):
            x = valid.x[torch.from_numpy(part).to(valid.x.device), :n].expand(S, -1, -1, -1)
            losses, logits = trainer.net.losses(x)
            # Equal items are interchangeable. A tie with another item is no answer.
            kind = torch.from_numpy(classes(valid.raw[part, :n])).to(x.device)
            others = logits.masked_fill((kind[:, :, None] == kind[:, None]), -torch.inf)
            right = logits.diagonal(dim1=2, dim2=3) > others.max(2).values
            exact[:, part] = right.all(2).double().cpu().numpy()
            loglik[:, part] = -losses.double().mean(2).cpu().numpy()
        if gap is not None:
            x = valid.x[torch.from_numpy(members).to(valid.x.device), :n].expand(S, -1, -1, -1)
            cities = torch.from_numpy(valid.raw[members, :n]).to(x.device).double().expand(S, -1, -1, -1)
            tour = cities.gather(2, trainer.net.greedy(x)[..., None].expand_as(cities))
            length = (tour - tour.roll(-1, dims=2)).norm(dim=3).sum(2)
            gap[:, members] = length.cpu().numpy() / valid.optimum[members] - 1
    trainer.norm.fixed = None
    return exact, loglik, gap


def job(o, name, task, device):
    """All rows of one training on one task."""
    training = TRAININGS[name]
    begin = time.time()
    sets = Sets(o.data / f"{task}-train.npz", None, device, most=o.sets, largest=o.largest)
    valid = Sets(o.data / f"{task}-valid.npz", sets.scale, device, largest=o.largest)
    seeds = list(range(1, o.seeds + 1))
    trainer = Trainer(training, sets, seeds, device, o.graphs)
    steps = trainer.train(o.epochs or EPOCHS[task])
    seconds = time.time() - begin
    rows = []
    for variant, how in training.statistics.items():
        exact, loglik, gap = evaluate(trainer, valid, trainer.statistics(how))
        for n in np.unique(valid.size):
            for source in np.unique(valid.source[valid.size == n]):
                at = (valid.size == n) & (valid.source == source)
                for s, seed in enumerate(seeds):
                    gaps = "" if gap is None else f"{gap[s, at].mean():.5f}"
                    row = [task, variant, seed, n, source, at.sum(), f"{exact[s, at].mean():.5f}"]
                    rows.append(row + [f"{loglik[s, at].mean():.5f}", gaps, f"{seconds:.1f}"])
    ms = 1000 * seconds / steps
    return rows, f"{task} {name}: {steps} steps, {ms:.2f} ms per step, {time.time() - begin:.0f} s in all"


# ---- the driver ----


def attempt(o, name, task, device):
    """The job; once more without graphs where these fail."""
    try:
        return job(o, name, task, device)
    except RuntimeError:
        if device.type != "cuda" or not o.graphs:
            raise
        traceback.print_exc()
        o.graphs = False
        return job(o, name, task, device)


def worker(o, todo, done):
    torch.set_num_threads(o.threads)
    device = torch.device(o.device)
    while True:
        try:
            name, task = todo.get(timeout=3)
        except queue.Empty:
            break
        try:
            done.put((*attempt(o, name, task, device), None))
        except Exception:
            done.put(([], f"{task} {name}: FAILED", traceback.format_exc()))
        if device.type == "cuda":
            torch.cuda.empty_cache()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--check", action="store_true", help="test the net against reference/twin.py, and end")
    p.add_argument("--data", type=pathlib.Path, default=ROOT / "study-data")
    p.add_argument("--out", type=pathlib.Path, default=ROOT / "experiments" / "sizes" / "out" / "results.csv")
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    p.add_argument("--jobs", type=int, default=14, help="processes at a time (default: 14)")
    p.add_argument("--threads", type=int, default=1, help="threads of each process (default: 1)")
    p.add_argument("--seconds", type=float, default=500, help="no job is started after this (default: 500)")
    p.add_argument("--stop", type=float, default=570, help="running jobs are ended after this (default: 570)")
    p.add_argument("--no-graphs", dest="graphs", action="store_false", help="launch the kernels one by one")
    p.add_argument("--seeds", type=int, default=3)
    p.add_argument("--tasks", default=",".join(EPOCHS))
    p.add_argument("--trainings", default=",".join(TRAININGS))
    p.add_argument("--epochs", type=int, help="default: 20, words 10")
    p.add_argument("--sets", type=int, help="train on the first so many sets")
    p.add_argument("--largest", type=int, help="leave out larger sets")
    o = p.parse_args()
    if o.check:
        import check

        return check.main(o.data)
    for given, known in ((o.tasks, EPOCHS), (o.trainings, TRAININGS)):
        for name in given.split(","):
            if name not in known:
                p.error(f"there is no {name}: {', '.join(known)}")
    jobs = [j for j in JOBS if j[0] in o.trainings.split(",") and j[1] in o.tasks.split(",")]
    run(o, jobs)


def run(o, jobs):
    begin = time.time()
    context = torch.multiprocessing.get_context("spawn")
    todo, done = context.Queue(), context.Queue()
    for j in jobs:
        todo.put(j)
    workers = [context.Process(target=worker, args=(o, todo, done)) for _ in range(min(o.jobs, len(jobs)))]
    for w in workers:
        w.start()
    o.out.parent.mkdir(parents=True, exist_ok=True)
    left, dropped = len(jobs), False
    with open(o.out, "w", newline="") as f:
        out = csv.writer(f)
        out.writerow(COLUMNS)
        while left:
            elapsed = time.time() - begin
            if elapsed > o.stop:
                print(f"{left} jobs ended unfinished", flush=True)
                break
            if elapsed > o.seconds and not dropped:
                dropped = True
                try:
                    while True:
                        print("not started:", *todo.get(timeout=0.2), flush=True)
                        left -= 1
                except queue.Empty:
                    pass
            try:
                rows, message, trouble = done.get(timeout=1)
            except queue.Empty:
                if not any(w.is_alive() for w in workers) and done.empty():
                    print(f"the workers are gone, {left} jobs have no result", flush=True)
                    break
                continue
            left -= 1
            out.writerows(rows)
            f.flush()
            print(f"{time.time() - begin:6.1f} s  {message}", flush=True)
            if trouble:
                print(trouble, flush=True)
    for w in workers:
        w.join(timeout=5 if left == 0 else 0)
        if w.is_alive():
            w.terminate()
    todo.cancel_join_thread()


if __name__ == "__main__":
    main()
