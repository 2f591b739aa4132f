#!/usr/bin/env python3
"""Compares the training speed of OrderNet with that of the PyTorch reference (reference/twin.py) on the CPU:
the same steps in float32, in one run.

    python3 bench/vs_torch.py [--threads N] [--seconds S] [--ordernet ./ordernet] [--json FILE]

Both programs start from the generated parameters and batch of reference/README.md (seed 1, batch 0); if the
losses of the first step differ, the table says so and the status is 1. PyTorch gets its best setting: each kernel
set of OpenBLAS (Debian's takes some CPUs for one of 2004) with 1 and with N threads, each in a process of its own since
both are fixed when the library is loaded. OrderNet runs after each, so that both meet the same load. PyTorch is measured
by its fastest step, OrderNet by the mean of its fastest 50 milliseconds.

The twin of reference/ writes 1x1 convolutions as matrix products over rows, channels last, which suits OpenBLAS. The
second row of each work is the same net as many would write it, nn.Conv2d and BatchNorm2d over [B, channels, n, n], in
the twin's best setting.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORES = ("", "Haswell", "SkylakeX", "Zen")  # "" is OpenBLAS's own choice
WORKS = (("tsp", 20, 128), ("tsp", 10, 128), ("words", 5, 128))  # preset, n, batch
SEED = 1


def conv2d_loss(net, x, y):
    """Returns the twin's loss, with its parameters, computed by 2-d convolutions with the channels second."""
    import torch
    from torch.nn import functional as F

    def normed(norm, z):
        return F.batch_norm(z, norm.running_mean, norm.running_var, norm.weight, norm.bias, True, norm.momentum, norm.eps)

    B, n, _ = x.shape
    off_diagonal = ~torch.eye(n, dtype=torch.bool)
    h = x.transpose(1, 2)  # [B, d, n]
    for block in net.encoder:
        shape = (B, h.shape[1], n, n)
        z = torch.cat([h[:, :, :, None].expand(shape), h[:, :, None, :].expand(shape)], dim=1)
        z = normed(block.norm1, F.conv2d(z, block.conv1.weight[:, :, None, None], block.conv1.bias).relu())
        z = normed(block.norm2, F.conv2d(z, block.conv2.weight[:, :, None, None], block.conv2.bias).relu())
        z = z * off_diagonal
        h = torch.cat([h, z.max(dim=3).values if block.pool == "max" else z.mean(dim=3)], dim=1)
    D = h.shape[1]
    one_hot = F.one_hot(y, n)
    free = one_hot.cumsum(1) - one_hot == 0  # [B, T, n]
    placed = h.gather(2, y[:, None, : n - 1].expand(B, D, n - 1))
    before = torch.cat([net.decoder.start[:, None].expand(B, D, 1), placed], dim=2)
    g = torch.cat([h[:, :, :, None].expand(B, D, n, n), before[:, :, None, :].expand(B, D, n, n)], dim=1)
    g = g * free.transpose(1, 2)[:, None]  # [B, 2D, n, T]
    for m in range(net.decoder.blocks):
        block = getattr(net.decoder, str(m))
        v = F.conv2d(F.pad(g, (2, 0)), block.conv.weight[:, :, None, :], block.conv.bias).relu()
        v = normed(block.norm, v)
        g = torch.cat([g, v, v.max(dim=2, keepdim=True).values.expand(v.shape)], dim=1)
    logits = F.conv2d(g, net.head.weight[:, :, None, None], net.head.bias)[:, 0].transpose(1, 2)
    log_p = logits.masked_fill(~free, -torch.inf).log_softmax(2)
    return -log_p.gather(2, y[:, :, None]).mean()


def work_in_torch(preset, n, batch, threads, seconds, form):
    """Trains for some seconds; prints the loss of the first step and the time of the fastest one."""
    sys.path.insert(0, str(ROOT / "reference"))
    import torch

    import generated
    import twin

    torch.set_num_threads(threads)
    s = {"tsp": generated.TSP, "words": generated.WORDS}[preset]
    net = twin.make(s, generated.theta(s, SEED), torch.float32)
    adam = torch.optim.Adam(net.parameters(), lr=1e-3)
    x, y = (torch.from_numpy(a) for a in generated.batch(SEED, 0, batch, n, s.width))
    times, first = [], None
    until = time.perf_counter() + seconds
    while len(times) < 4 or time.perf_counter() < until:
        begin = time.perf_counter()
        loss = net.loss(x, y) if form == "twin" else conv2d_loss(net, x, y)
        adam.zero_grad(set_to_none=True)
        loss.backward()
        adam.step()
        times.append(time.perf_counter() - begin)
        first = loss.item() if first is None else first
    times = sorted(times[1:])  # the first step also allocates
    openblas = "openblas" in Path("/proc/self/maps").read_text()
    print(json.dumps({"loss": first, "seconds": times[0], "openblas": openblas}))


def torch_step(work, core, threads, seconds, form="twin"):
    env = {k: v for k, v in os.environ.items() if k != "OPENBLAS_CORETYPE"}
    env.update({"OPENBLAS_CORETYPE": core} if core else {})
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        env[name] = str(threads)
    command = [sys.executable, __file__, "--worker", json.dumps([*work, threads, seconds, form])]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if done.returncode != 0:  # a kernel set that this CPU cannot run ends by a signal
        return None
    return json.loads(done.stdout)


def ordernet_step(program, work, threads, seconds):
    preset, n, batch = work
    command = [program, "bench", "--train", "--preset", preset, "--n", str(n), "--batch", str(batch)]
    command += ["--device", "cpu", "--threads", str(threads), "--seconds", str(seconds), "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip() or f'status {done.returncode}'}")
    answer = json.loads(done.stdout)
    answer = answer[0] if isinstance(answer, list) else answer
    return {"loss": answer["loss"], "seconds": batch / answer["train_examples_per_second"]}


def compare(work, args):
    """Runs every torch setting, and the program after each; returns the best of either side."""
    torch_best = own_best = None
    for core in CORES:
        for threads in sorted({1, args.threads}):
            found = torch_step(work, core, threads, args.seconds)
            if found and (torch_best is None or found["seconds"] < torch_best["seconds"]):
                torch_best = {**found, "core": core or "as found", "threads": threads}
            own = ordernet_step(args.ordernet, work, args.threads, args.seconds)
            own_best = own if own_best is None or own["seconds"] < own_best["seconds"] else own_best
            print(f"  {work[0]} n={work[1]}: torch {core or 'as found'} x{threads} "
                  + (f"{found['seconds'] * 1e3:.1f} ms" if found else "does not run here")
                  + f", ordernet {own['seconds'] * 1e3:.2f} ms", file=sys.stderr)
    if torch_best is None:
        sys.exit("the PyTorch twin does not run: it needs python3-torch and python3-numpy, with "
                 f"{sys.executable}; see reference/README.md")
    if not torch_best["openblas"]:
        sys.exit("PyTorch runs on the slow reference BLAS here, which would be no fair comparison: "
                 "apt-get install libopenblas0-pthread")
    core = "" if torch_best["core"] == "as found" else torch_best["core"]
    form = {**torch_best, **torch_step(work, core, torch_best["threads"], args.seconds, "conv2d")}
    return torch_best, form, own_best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="for both sides (default: all cores)")
    parser.add_argument("--seconds", type=float, default=3, help="a measurement takes at least this long")
    parser.add_argument("--ordernet", default=str(ROOT / "ordernet"), help="the program")
    parser.add_argument("--json", help="also write the table to this file")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        return work_in_torch(*json.loads(args.worker))

    rows = []
    for work in WORKS:
        twin, conv2d, own = compare(work, args)
        for form, torch_side in (("twin", twin), ("Conv2d", conv2d)):
            off = abs(own["loss"] - torch_side["loss"])
            rows.append({"preset": work[0], "form": form, "n": work[1], "batch": work[2],
                         "torch_ms": torch_side["seconds"] * 1e3,
                         "torch_core": torch_side["core"], "torch_threads": torch_side["threads"],
                         "ordernet_ms": own["seconds"] * 1e3, "ratio": torch_side["seconds"] / own["seconds"],
                         "torch_loss": torch_side["loss"], "ordernet_loss": own["loss"], "same_loss": off <= 1e-4})
    print("| training step | PyTorch, ms | its best setting | OrderNet, ms | ratio | loss of both |")
    print("| --- | --- | --- | --- | --- | --- |")
    for r in rows:
        loss = f"{r['ordernet_loss']:.5f}" if r["same_loss"] else f"DIFFERS: {r['torch_loss']} and {r['ordernet_loss']}"
        print(f"| {r['preset']}, n={r['n']}, batch {r['batch']}, {r['form']} | {r['torch_ms']:.1f} | {r['torch_core']}, "
              f"{r['torch_threads']} threads | {r['ordernet_ms']:.2f} | {r['ratio']:.1f} | {loss} |")
    if args.json:
        Path(args.json).write_text(json.dumps(rows, indent=1) + "\n")
    return 0 if all(r["same_loss"] for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
