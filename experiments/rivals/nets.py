"""Implements the rival networks in PyTorch: a Pointer Network and an attention model with a pointer decoder.

Both score every city at every step of a tour. With teacher forcing all steps of a tour are computed at once (`forward`);
a search goes step by step: `start` gives what is constant for a set and the state that changes along the tour, `step` scores
the next city, `choose` takes one. Shapes: B sets, n cities, H channels, heads * h = H.
"""

import torch
from torch import nn


def masked(logits, visited):
    return logits.float().masked_fill(visited, float("-inf"))


def visited_before(order):
    """[B, n, n]: whether city j was visited before step t of the tours `order` [B, n]."""
    place = torch.argsort(order, 1)
    step = torch.arange(order.shape[1], device=order.device)
    return place[:, None, :] < step[None, :, None]


def attention(q, k, v):
    """[B, heads, t, h] over [B, heads, n, h]; fused where PyTorch has it."""
    fused = getattr(nn.functional, "scaled_dot_product_attention", None)
    if fused:
        return fused(q, k, v)
    return torch.softmax(q @ k.transpose(2, 3) * q.shape[-1] ** -0.5, -1) @ v


def pick(rows, index):
    """rows [B, n, H], index [B, k] -> [B, k, H]"""
    return rows.gather(1, index[..., None].expand(-1, -1, rows.shape[-1]))


class PointerNetwork(nn.Module):
    """Vinyals, Fortunato and Jaitly 2015: LSTM encoder, LSTM decoder, additive attention as the output. Cities that were
    visited are masked. The LSTM reads the cities in the order of the file."""

    def __init__(self, hidden=256):
        super().__init__()
        self.encoder = nn.LSTM(2, hidden, batch_first=True)
        self.decoder = nn.LSTM(2, hidden, batch_first=True)
        self.first = nn.Parameter(torch.zeros(2))
        self.key = nn.Linear(hidden, hidden, bias=False)
        self.query = nn.Linear(hidden, hidden, bias=False)
        self.score = nn.Linear(hidden, 1, bias=False)

    def attend(self, keys, out):
        """keys [B, n, H], out [B, t, H] -> [B, t, n]"""
        return self.score(torch.tanh(keys[:, None] + self.query(out)[:, :, None])).squeeze(-1)

    def forward(self, xy, order):
        codes, state = self.encoder(xy)
        given = torch.cat([self.first.expand(len(xy), 1, 2).to(xy.dtype), pick(xy, order[:, :-1])], 1)
        out, _ = self.decoder(given, state)
        return masked(self.attend(self.key(codes), out), visited_before(order))

    def start(self, xy):
        codes, (h, c) = self.encoder(xy)
        return (self.key(codes), xy), (h[0], c[0], self.first.expand(len(xy), 2))

    def step(self, fixed, moving, visited):
        keys, _ = fixed
        h, c, given = moving
        out, (h, c) = self.decoder(given[:, None], (h[None].contiguous(), c[None].contiguous()))
        return masked(self.attend(keys, out)[:, 0], visited), (h[0], c[0], given)

    def choose(self, fixed, moving, city):
        h, c, _ = moving
        return h, c, pick(fixed[1], city[:, None])[:, 0]


def split(x, heads):
    """[B, k, H] -> [B, heads, k, h]"""
    return x.view(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)


class Block(nn.Module):
    """A transformer block with the norms first."""

    def __init__(self, width, inner, heads):
        super().__init__()
        self.heads = heads
        self.before = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.middle = nn.LayerNorm(width)
        self.up = nn.Linear(width, inner)
        self.down = nn.Linear(inner, width)

    def forward(self, x):
        q, k, v = (split(part, self.heads) for part in self.qkv(self.before(x)).chunk(3, -1))
        x = x + self.out(attention(q, k, v).transpose(1, 2).reshape(x.shape))
        return x + self.down(torch.relu(self.up(self.middle(x))))


class AttentionModel(nn.Module):
    """A transformer encoder without positions, and at each step a query from the first and the last two cities of the tour
    and the mean of the cities that remain: one attention over these ("glimpse"), then a pointer, as in Kool, van Hoof and
    Welling 2019."""

    def __init__(self, width, inner, blocks, heads):
        super().__init__()
        self.heads = heads
        self.embed = nn.Linear(2, width)
        self.blocks = nn.ModuleList(Block(width, inner, heads) for _ in range(blocks))
        self.norm = nn.LayerNorm(width)
        self.none = nn.Parameter(torch.randn(3, width) * 0.1)  # in place of cities before the start of the tour
        self.query = nn.Linear(4 * width, width)
        self.keys = nn.Linear(width, 3 * width, bias=False)
        self.glimpse = nn.Linear(width, width)

    def encode(self, xy):
        x = self.embed(xy)
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        k, v, pointer = self.keys(x).chunk(3, -1)
        return x, split(k, self.heads), split(v, self.heads), pointer

    def point(self, code, k, v, pointer, ends, visited):
        """ends [B, t, 3 H]: the first and the last two cities; visited [B, t, n] -> [B, t, n]"""
        left = (~visited).to(code.dtype)
        rest = left @ code / left.sum(-1, keepdim=True).clamp(min=1)
        query = self.query(torch.cat([ends, rest], -1))
        q = split(query, self.heads)
        at = (q @ k.transpose(2, 3) * q.shape[-1] ** -0.5).float().masked_fill(visited[:, None], -1e9)
        seen = (torch.softmax(at, -1).to(v.dtype) @ v).transpose(1, 2).reshape(query.shape)
        final = query + self.glimpse(seen)
        logits = (final @ pointer.transpose(1, 2)).float() * query.shape[-1] ** -0.5
        return masked(10 * torch.tanh(logits), visited)

    def forward(self, xy, order):
        code, k, v, pointer = self.encode(xy)
        tour = pick(code, order)
        none = self.none.to(code.dtype).expand(len(xy), 3, -1)
        n = xy.shape[1]
        first = torch.cat([none[:, :1], tour[:, :1].expand(-1, n - 1, -1)], 1)
        last = torch.cat([none[:, 1:2], tour[:, :-1]], 1)
        second = torch.cat([none[:, 2:], none[:, 1:2], tour[:, :-2]], 1)
        return self.point(code, k, v, pointer, torch.cat([first, last, second], -1), visited_before(order))

    def start(self, xy):
        none = self.none.expand(len(xy), 3, -1)
        return self.encode(xy), (none[:, 0], none[:, 1], none[:, 2], torch.zeros(len(xy), 1, device=xy.device))

    def step(self, fixed, moving, visited):
        ends = torch.cat(moving[:3], -1)[:, None]
        return self.point(*fixed, ends, visited[:, None])[:, 0], moving

    def choose(self, fixed, moving, city):
        first, last, _, count = moving
        chosen = pick(fixed[0], city[:, None])[:, 0]
        return torch.where(count == 0, chosen, first), chosen, last, count + 1


NETS = {
    "pointer": PointerNetwork,
    "attention-small": lambda: AttentionModel(48, 96, 3, 4),
    "attention-large": lambda: AttentionModel(128, 320, 4, 8),
}
