#!/usr/bin/env python3
"""Measures the training speed of the PyTorch reference (reference/twin.py) on a GPU with CUDA graphs, to
compare the CUDA kernels with.

    python3 bench/torch_cuda.py [--seconds S] [--device cuda|cpu] [--json FILE]

One graph per size holds a whole step (forward, backward, Adam); data is on the device, batches of random items are
copied into the graph's input. Float32, once in full and once with TF32 products. If a graph cannot be captured the row
says "eager"; without a GPU nothing is measured, and the status is still 0. Prints one table at the end.
"""

import argparse
import json
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "reference"))
BATCHES = 8  # different batches per size, used in turn


class Step:
    """A training step for batches [B, n, d], as one graph if possible."""

    def __init__(self, torch, net, adam, B, n, device):
        d = net.settings.width
        self.net, self.adam = net, adam
        self.items = torch.rand(BATCHES, B, n, d, device=device)
        self.orders = torch.rand(BATCHES, B, n, device=device).argsort(2)
        self.x, self.y = self.items[0].clone(), self.orders[0].clone()
        self.graph = None
        if device != "cuda":
            return
        side = torch.cuda.Stream()  # a few steps before the capture, as torch asks for
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.eager()
        torch.cuda.current_stream().wait_stream(side)
        try:
            graph = torch.cuda.CUDAGraph()
            adam.zero_grad(set_to_none=True)
            with torch.cuda.graph(graph):
                self.eager()
            self.graph = graph
        except RuntimeError as error:
            print(f"n={n}: no graph: {error}", file=sys.stderr)

    def eager(self):
        self.adam.zero_grad(set_to_none=True)
        self.net.loss(self.x, self.y).backward()
        self.adam.step()

    def run(self, k):
        self.x.copy_(self.items[k % BATCHES])
        self.y.copy_(self.orders[k % BATCHES])
        self.graph.replay() if self.graph else self.eager()


def measure(torch, twin, settings, sizes, B, device, seconds):
    """Returns examples per second over all sizes in turn, milliseconds per step, and whether graphs were used."""
    net = twin.make(settings, None, torch.float32).to(device)
    options = {"capturable": True} if device == "cuda" else {}
    adam = torch.optim.Adam(net.parameters(), lr=1e-3, **options)
    steps = [Step(torch, net, adam, B, n, device) for n in sizes]

    def wait():
        if device == "cuda":
            torch.cuda.synchronize()

    for k in range(2):
        for step in steps:
            step.run(k)
    wait()
    rounds, begin = 0, time.perf_counter()
    while time.perf_counter() - begin < seconds or rounds < 2:
        for step in steps:
            step.run(rounds)
        rounds += 1
        wait()
    passed = time.perf_counter() - begin
    count = rounds * len(steps)
    return B * count / passed, 1e3 * passed / count, all(step.graph for step in steps)


def same_loss(torch, twin, generated, settings, device):
    """Returns how far the loss of a generated batch in float32 on the device is off that in double on the CPU."""
    theta = generated.theta(settings, 1)
    x, y = (torch.from_numpy(a) for a in generated.batch(1, 0, 8, 5, settings.width))
    want = twin.make(settings, theta, torch.float64).loss(x.double(), y).item()
    return abs(twin.make(settings, theta, torch.float32).to(device).loss(x.to(device), y.to(device)).item() - want)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5, help="for each row (default 5)")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="cpu only to try the script out")
    parser.add_argument("--json", help="also write the table to this file")
    args = parser.parse_args()
    try:
        import torch

        import generated
        import twin
    except ImportError as error:
        print(f"nothing measured: {error} (this needs PyTorch and NumPy)")
        return 0
    if args.device == "cuda" and not torch.cuda.is_available():
        print("nothing measured: PyTorch finds no CUDA device")
        return 0

    works = [("TSP net, sizes 5-20, batch 128", generated.TSP, range(5, 21), 128),
             ("word net, n=5, batch 512", generated.WORDS, [5], 512)]
    rows = []
    for name, settings, sizes, B in works:
        for precision in ("float32", "tf32") if args.device == "cuda" else ("float32",):
            torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
            try:
                off = same_loss(torch, twin, generated, settings, args.device)
                rate, ms, graphs = measure(torch, twin, settings, sizes, B, args.device, args.seconds)
            except RuntimeError as error:  # out of memory, or a kernel that is missing
                print(f"{name}, {precision}: {error}", file=sys.stderr)
                continue
            rows.append({"work": name, "precision": precision, "examples_per_second": rate, "step_ms": ms,
                         "graphs": graphs, "loss_error": off})
    where = torch.cuda.get_device_name() if args.device == "cuda" else "the CPU"
    print(f"PyTorch {torch.__version__} on {where}")
    print("| training | precision | mode | ms per step | examples/s | error of the loss |")
    print("| --- | --- | --- | --- | --- | --- |")
    for r in rows:
        print(f"| {r['work']} | {r['precision']} | {'graphs' if r['graphs'] else 'eager'} | {r['step_ms']:.2f} | "
              f"{r['examples_per_second']:.0f} | {r['loss_error']:.1e} |")
    if args.json:
        Path(args.json).write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
