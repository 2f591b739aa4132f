#!/usr/bin/env python3
"""Trains the PyTorch reference (twin.py) on sets with a known order and writes a model that `ordernet order`
and `eval` read. For trying changes of the network before they are written in C; slow, since the reference is.

usage: reference/train.py DATA.jsonl MODEL.safetensors [--epochs 5] [--hidden 32] [--out 8] [--blocks 2] [--pool max] ...
Needs PyTorch and the Python package (pip install .)."""
import argparse
import os
import pathlib
import sys

try:
    import numpy as np
    import ordernet.torch
    import torch
except ImportError as error:
    sys.exit(f"train.py: {error}; it needs PyTorch and the Python package (pip install . in a clone)")

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from generated import Settings  # noqa: E402
import twin  # noqa: E402


def train(sets, orders, settings, epochs=5, rate=3e-3, batch=64, seed=1, say=lambda text: None):
    """Returns the trained net, and its state dict with input.mean and input.scale. A batch has sets of one size."""
    torch.manual_seed(seed)
    draw = np.random.default_rng(seed)
    items = np.concatenate(sets).astype(np.float64)
    mean, deviation = items.mean(0), items.std(0)
    scale = np.where(deviation > 0, 1 / np.where(deviation > 0, deviation, 1), 1)
    net = twin.make(settings, dtype=torch.float32).train()
    adam = torch.optim.Adam(net.parameters(), lr=rate)
    sizes = np.array([len(s) for s in sets])
    for epoch in range(epochs):
        batches = []
        for size in np.unique(sizes):
            of_size = draw.permutation(np.flatnonzero(sizes == size))
            batches += [of_size[i : i + batch] for i in range(0, len(of_size), batch)]
        losses = []
        for i in draw.permutation(len(batches)):
            x = torch.from_numpy(((np.stack([sets[k] for k in batches[i]]) - mean) * scale).astype(np.float32))
            y = torch.from_numpy(np.stack([orders[k] for k in batches[i]]).astype(np.int64))
            adam.zero_grad()
            loss = net.loss(x, y)
            loss.backward()
            adam.step()
            losses.append(loss.item())
        say(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}")
    net.eval()
    return net, dict(net.state_dict(), **{"input.mean": torch.from_numpy(mean), "input.scale": torch.from_numpy(scale)})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("model")
    for name, value in (("epochs", 5), ("hidden", 32), ("out", 8), ("blocks", 2), ("batch", 64), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--pool", default="max", choices=("max", "mean"))
    o = parser.parse_args()
    try:
        data = ordernet.Sets.read(o.data)
    except ordernet.OrderNetError as error:
        sys.exit(f"train.py: {error}")
    sets, orders = list(data), data.orders
    if orders is None:
        sys.exit(f"{o.data}: its sets have no order to learn from")
    if data.pairs is not None or any(len(order) != len(items) for items, order in zip(sets, orders)):
        sys.exit(f"{o.data}: the twin is trained on items alone here, without relations and context items")
    if min(o.epochs, o.hidden, o.out, o.blocks, o.batch) < 1:
        sys.exit("epochs, widths, blocks and the batch must be at least 1")
    if not os.access(os.path.dirname(os.path.abspath(o.model)), os.W_OK):
        sys.exit(f"{o.model} cannot be written there")
    settings = Settings(data.width, o.blocks, o.hidden, o.out, o.blocks, o.out, o.pool)
    _, state = train(sets, orders, settings, o.epochs, o.rate, o.batch, o.seed, print)
    ordernet.torch.save(state, o.model, pool=o.pool)


if __name__ == "__main__":
    main()
