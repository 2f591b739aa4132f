"""Generates parameters and batches from a formula, with the same bits as src/engine/model/generated.c, so
that both programs compute with the same numbers without sharing a file.

Also lists the network's tensors in the order of src/engine/model/net_shape.c: tensor number k is drawn from stream k.
"""

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Settings:
    width: int  # d, features of an item
    encoder_blocks: int  # M
    hidden: int  # H
    encoder_out: int  # O
    decoder_blocks: int  # N
    decoder_out: int  # C
    pool: str  # "max" or "mean", over the second item of a pair
    relative: bool = False  # each item also has its features relative to its set
    relations: int = 0  # R, numbers for each ordered pair of items

    @property
    def inputs(self):  # features of an item before the encoder
        return 2 * self.width if self.relative else self.width

    @property
    def encoded(self):  # D, features of an item after the encoder
        return self.inputs + self.encoder_blocks * self.encoder_out


TSP = Settings(2, 4, 128, 16, 4, 16, "max")
WORDS = Settings(50, 8, 256, 32, 8, 32, "mean")


def tensors(s):
    """Returns (name, shape) of every tensor: first the trained ones, then the running statistics."""
    H, O, C, D, R = s.hidden, s.encoder_out, s.decoder_out, s.encoded, s.relations
    out = []
    for k in range(s.encoder_blocks):
        block = f"encoder.{k}."
        out += [(block + "conv1.weight", (H, 2 * (s.inputs + k * O + R))), (block + "conv1.bias", (H,))]
        out += [(block + "norm1.weight", (H,)), (block + "norm1.bias", (H,))]
        out += [(block + "conv2.weight", (O, H)), (block + "conv2.bias", (O,))]
        out += [(block + "norm2.weight", (O,)), (block + "norm2.bias", (O,))]
    out += [("decoder.start", (D,))]
    for m in range(s.decoder_blocks):
        block = f"decoder.{m}."
        out += [(block + "conv.weight", (C, 2 * D + R + 2 * C * m, 3)), (block + "conv.bias", (C,))]
        out += [(block + "norm.weight", (C,)), (block + "norm.bias", (C,))]
    out += [("head.weight", (1, 2 * D + R + 2 * C * s.decoder_blocks)), ("head.bias", (1,))]
    for k in range(s.encoder_blocks):
        for norm, width in (("norm1", H), ("norm2", O)):
            out += [(f"encoder.{k}.{norm}.{what}", (width,)) for what in ("running_mean", "running_var")]
    for m in range(s.decoder_blocks):
        out += [(f"decoder.{m}.norm.{what}", (C,)) for what in ("running_mean", "running_var")]
    return out


def mix(z):
    """splitmix64 of an array of uint64; products and sums wrap around, as in C."""
    z = z + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def u64(seed, stream, count):
    """Returns the elements 0 .. count-1 of a stream."""
    first = mix(np.array([seed], dtype=np.uint64)) + np.uint64(stream)
    return mix(mix(first) + np.arange(count, dtype=np.uint64))


def unit(z):
    return (z >> np.uint64(11)).astype(np.float64) * 2.0**-53


def theta(s, seed):
    """Returns {name: float32 array} of all parameters and running statistics."""
    out = {}
    fan_in = 1
    for index, (name, shape) in enumerate(tensors(s)):
        z = u64(seed, index, math.prod(shape))
        u = unit(z)
        last = name.rsplit(".", 1)[1]
        if last == "running_mean":
            value = 0.5 * u
        elif last == "running_var":
            value = 0.25 + u
        elif ".norm" in name and last == "weight":
            value = np.where((z & np.uint64(3)) == 0, -(0.5 + u), 0.5 + u)
        elif ".norm" in name and last == "bias":
            value = u - 0.5
        elif name == "decoder.start":
            value = 2 * u - 1
        else:
            if last == "weight":
                fan_in = math.prod(shape[1:])  # the bias after it has the same
            value = (2 * u - 1) * (2 / math.sqrt(fan_in))
        out[name] = value.astype(np.float32).reshape(shape)
    return out


def batch(seed, step, B, n, d):
    """Returns x: float32 [B, n, d], uniform in [-1, 1); y: int64 [B, n], a permutation for each set."""
    items = 2**32 + 2 * step
    x = (2 * unit(u64(seed, items, B * n * d)) - 1).astype(np.float32).reshape(B, n, d)
    draws = u64(seed, items + 1, B * n).reshape(B, n)
    y = np.tile(np.arange(n), (B, 1))
    for b in range(B):
        for i in range(n - 1, 0, -1):
            j = int(draws[b, i]) % (i + 1)
            y[b, i], y[b, j] = y[b, j], y[b, i]
    return x, y


def pairs(seed, step, B, n, R):
    """Returns relations: float32 [B, n, n, R], uniform in [-1, 1), 0 from an item to itself."""
    e = (2 * unit(u64(seed, 2**33 + step, B * n * n * R)) - 1).astype(np.float32).reshape(B, n, n, R)
    return e * (1 - np.eye(n, dtype=np.float32))[None, :, :, None]


def sets(seed, step, sizes, d, R):
    """Returns a batch of sets of different sizes, [(x [n, d], y [m], e [n, n, R]), ...]: set b is batch number step * B + b of
    one set; the first m items of its order are placed, the others are context."""
    out = []
    for b, (n, m) in enumerate(sizes):
        number = step * len(sizes) + b
        x, y = batch(seed, number, 1, n, d)
        out.append((x[0], y[0, :m], pairs(seed, number, 1, n, R)[0]))
    return out
