"""The twin: the network of docs/model.md in PyTorch, written like the paper, with the pair tensor and the
source-target grid stored in full, nothing split or folded. Slow and simple on purpose: the tests compare the
C program with it.

Parameter names and shapes are those of src/engine/model/net_shape.c. B sets, n items, d features, D = d + M*O, R relations: e is
[B, n, n, R], with R = 0 if there are none. Batches are of sets of one size, as in the paper; the methods of_sets and
..._of_sets take a list of sets of different sizes, of which only m of n items may be placed, and go through it set by set.
"""

import itertools

import torch
from torch import nn

from generated import TSP, WORDS, tensors


class Norm(nn.BatchNorm1d):
    """Batch norm: biased variance to normalise, running averages with momentum 0.1 of the unbiased one, eps 1e-5.

    A single value in a channel (a batch of one set of one item) has no unbiased variance: torch refuses it, here its
    variance is 0. Only the running averages depend on the choice: such a set has one order.
    """

    def forward(self, x):
        if self.training and x.numel() == self.num_features:
            with torch.no_grad():
                self.running_mean.lerp_(x.reshape(-1), self.momentum)
                self.running_var.mul_(1 - self.momentum)
            shape = [1, self.num_features] + [1] * (x.dim() - 2)
            return torch.zeros_like(x) * self.weight.view(shape) + self.bias.view(shape)
        return super().forward(x)


def with_relative(x):
    """[..., n, d] -> [..., n, 2d]: the features, and the same relative to the set: less the mean over its items, divided
    by the (biased) deviation; 0 where that is at most 1e-6 (standardised features are in units of their spread)."""
    deviation = x.std(dim=-2, correction=0, keepdim=True)
    relative = (x - x.mean(dim=-2, keepdim=True)) / deviation
    return torch.cat([x, torch.where(deviation > 1e-6, relative, 0)], dim=-1)


class EncoderBlock(nn.Module):
    def __init__(self, width, s):
        super().__init__()
        self.pool = s.pool
        # A 1x1 conv over pairs is a linear map of the last axis.
        self.conv1 = nn.Linear(2 * width + 2 * s.relations, s.hidden)
        self.norm1 = Norm(s.hidden)
        self.conv2 = nn.Linear(s.hidden, s.encoder_out)
        self.norm2 = Norm(s.encoder_out)

    def forward(self, x, e):  # [B, n, width] -> [B, n, width + O]
        B, n, width = x.shape
        x_i = x[:, :, None, :].expand(B, n, n, width)
        x_j = x[:, None, :, :].expand(B, n, n, width)
        z = torch.cat([x_i, x_j, e, e.transpose(1, 2)], dim=3).reshape(B * n * n, -1)  # the pair tensor, one row per pair
        z = self.norm1(torch.relu(self.conv1(z)))
        z = self.norm2(torch.relu(self.conv2(z)))
        z = z.reshape(B, n, n, -1)
        off_diagonal = ~torch.eye(n, dtype=torch.bool, device=x.device)
        z = z * off_diagonal[None, :, :, None]  # the zero takes part in the pool
        pooled = z.max(dim=2).values if self.pool == "max" else z.mean(dim=2)
        return torch.cat([x, pooled], dim=2)

    def of_sets(self, xs, es):
        """Sets of different sizes: a list of [n, width], and their relations -> a list of [n, width + O]. A pair is a row; the norms see
        the pairs of all sets together, a pool those of its own set."""
        pairs = [
            torch.cat(
                [x.repeat_interleave(len(x), 0), x.repeat(len(x), 1), e.flatten(0, 1), e.transpose(0, 1).flatten(0, 1)], 1
            )
            for x, e in zip(xs, es)
        ]
        z = self.norm1(torch.relu(self.conv1(torch.cat(pairs))))
        z = self.norm2(torch.relu(self.conv2(z)))
        out = []
        for x, u in zip(xs, z.split([len(p) for p in pairs])):
            n = len(x)
            u = u.reshape(n, n, -1) * (1 - torch.eye(n, dtype=u.dtype))[:, :, None]
            out.append(torch.cat([x, u.max(1).values if self.pool == "max" else u.mean(1)], dim=1))
        return out


class DecoderBlock(nn.Module):
    def __init__(self, channels, s):
        super().__init__()
        self.conv = nn.Conv1d(channels, s.decoder_out, 3)  # along the steps; tap 2 sees step t, tap 0 step t-2
        self.norm = Norm(s.decoder_out)

    def forward(self, g):  # [B, n, channels, T] -> [B, n, channels + 2*C, T]
        B, n, channels, T = g.shape
        past = nn.functional.pad(g.reshape(B * n, channels, T), (2, 0))  # zeros before the first step
        v = self.norm(torch.relu(self.conv(past))).reshape(B, n, -1, T)
        pooled = v.max(dim=1, keepdim=True).values.expand(v.shape)  # over all items, the placed ones too
        return torch.cat([g, v, pooled], dim=2)

    def of_sets(self, gs):
        """A list of [m, channels, m steps] -> a list of [m, channels + 2*C, m steps]; the norm sees all cells of all
        sets together."""
        rs = [torch.relu(self.conv(nn.functional.pad(g, (2, 0)))).transpose(1, 2) for g in gs]  # [m, m steps, C]
        cells = self.norm(torch.cat([r.flatten(0, 1) for r in rs])).split([len(g) ** 2 for g in gs])
        out = []
        for g, v in zip(gs, cells):
            v = v.reshape(len(g), len(g), -1).transpose(1, 2)
            out.append(torch.cat([g, v, v.max(0, keepdim=True).values.expand(v.shape)], dim=1))
        return out


class Decoder(nn.Module):
    """Holds the start vector and the blocks under the names decoder.start and decoder.0, decoder.1, ..."""

    def __init__(self, s):
        super().__init__()
        self.start = nn.Parameter(torch.zeros(s.encoded))
        self.blocks = s.decoder_blocks
        for m in range(s.decoder_blocks):
            self.add_module(str(m), DecoderBlock(2 * s.encoded + s.relations + 2 * s.decoder_out * m, s))

    def forward(self, x, y, free, e):
        """x: [B, n, D] encoded items, y: [B, T] order, free: [B, n, T] -> grid [B, n, channels, T]. A cell sees item i,
        the item placed last, and the relations from that one to item i."""
        B, n, D = x.shape
        T = y.shape[1]
        placed = torch.gather(x, 1, y[:, : T - 1, None].expand(B, T - 1, D))
        before = torch.cat([self.start.expand(B, 1, D), placed], dim=1)  # [B, T, D]: what stands before step t
        source = x[:, :, :, None].expand(B, n, D, T)
        target = before.transpose(1, 2)[:, None].expand(B, n, D, T)
        related = torch.zeros(B, n, e.shape[3], T, dtype=x.dtype, device=x.device)
        related[:, :, :, 1:] = e[torch.arange(B)[:, None], y[:, : T - 1]].permute(0, 2, 3, 1)
        g = torch.cat([source, target, related], dim=2) * free[:, :, None, :]
        for m in range(self.blocks):
            g = getattr(self, str(m))(g)
        return g

    def of_sets(self, xs, ys, es):
        """xs: a list of [m, D] encoded items, ys: a list of [m] orders, es: a list of [m, m, R] -> a list of grids
        [m, channels, m steps]"""
        gs = []
        for x, y, e in zip(xs, ys, es):
            m, D = x.shape
            before = torch.cat([self.start[None], x[y[:-1]]])  # [m steps, D]
            g = torch.zeros(m, 2 * D + e.shape[2], m, dtype=x.dtype)
            for t in range(m):
                for i in y[t:]:  # the others are placed: their cells stay zero
                    g[i, :, t] = torch.cat([x[i], before[t], e[y[t - 1], i] if t else e[0, 0] * 0])
            gs.append(g)
        for m in range(self.blocks):
            gs = getattr(self, str(m)).of_sets(gs)
        return gs


class OrderNet(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.settings = s
        widths = [s.inputs + k * s.encoder_out for k in range(s.encoder_blocks)]
        self.encoder = nn.ModuleList([EncoderBlock(width, s) for width in widths])
        self.decoder = Decoder(s)
        self.head = nn.Linear(2 * s.encoded + s.relations + 2 * s.decoder_out * s.decoder_blocks, 1)

    def inputs(self, x):
        return with_relative(x) if self.settings.relative else x

    def forward(self, x, y, e=None):
        """Teacher forcing. x: [B, n, d], y: [B, n] -> (logits [B, T, n], free [B, T, n])

        free says which items are not yet placed before step t. Logits are given for all items; those that are not
        free are still to be masked.
        """
        B, n, _ = x.shape
        e = x.new_zeros(B, n, n, 0) if e is None else e  # no relations
        one_hot = nn.functional.one_hot(y, n)  # [B, T, n]
        free = one_hot.cumsum(1) - one_hot == 0
        x = self.inputs(x)
        for block in self.encoder:
            x = block(x, e)
        g = self.decoder(x, y, free.transpose(1, 2), e)
        logits = self.head(g.transpose(2, 3)).squeeze(3)  # [B, n, T]
        return logits.transpose(1, 2), free

    def log_probs(self, x, y, e=None):
        """[B, T, n]: log-softmax over the free items, -inf for the placed ones."""
        logits, free = self(x, y, e)
        return logits.masked_fill(~free, -torch.inf).log_softmax(2)

    def loss(self, x, y, e=None):
        """Cross-entropy averaged over all B*n steps. The last step of a set is certain and adds 0 to the sum, and
        still counts in the mean."""
        return -self.log_probs(x, y, e).gather(2, y[:, :, None]).mean()

    def logits_of_sets(self, sets):
        """Sets of different sizes, with context. sets: a list of (x [n, d], y [m], e [n, n, R]); y has the placed items of x in
        their order, the other items are context: the encoder sees them, the decoder does not. -> a list of
        (logits [m steps, m], free [m steps, m]) over the placed items, smallest index first."""
        encoded, related = [self.inputs(x) for x, _, _ in sets], [e for _, _, e in sets]
        for block in self.encoder:
            encoded = block.of_sets(encoded, related)
        placed = [y.sort().values for _, y, _ in sets]
        places = [torch.searchsorted(p, y) for p, (_, y, _) in zip(placed, sets)]  # orders of the placed items alone
        related = [e[p][:, p] for e, p in zip(related, placed)]
        grids = self.decoder.of_sets([x[p] for x, p in zip(encoded, placed)], places, related)
        out = []
        for g, y in zip(grids, places):
            free = torch.ones(len(y), len(y), dtype=torch.bool)
            for t in range(1, len(y)):
                free[t:, y[t - 1]] = False
            out.append((self.head(g.permute(2, 0, 1)).squeeze(2), free))
        return out

    def log_probs_of_sets(self, sets):
        """Returns a list of log-probabilities [m steps, m], -inf for the placed items; and those of the right orders, [sum of m]."""
        log_p = [l.masked_fill(~free, -torch.inf).log_softmax(1) for l, free in self.logits_of_sets(sets)]
        chosen = [p[range(len(y)), torch.searchsorted(y.sort().values, y)] for p, (_, y, _) in zip(log_p, sets)]
        return log_p, torch.cat(chosen)

    def loss_of_sets(self, sets):
        """Returns the loss averaged over all steps of all sets: a set counts as often as it has steps."""
        return -self.log_probs_of_sets(sets)[1].mean()

    @torch.no_grad()
    def order_log_prob(self, x, y, e=None):  # [B]
        return self.log_probs(x, y, e).gather(2, y[:, :, None]).sum((1, 2))

    @torch.no_grad()
    def greedy(self, x, e):
        """The most probable item at each step, in eval mode. -> (y [B, n], log-probability [B], smallest lead of a
        choice over the second best)"""
        B, n, _ = x.shape
        y = torch.arange(n, device=x.device).repeat(B, 1)
        lead = float("inf")
        for t in range(n):  # causal: step t does not depend on the items at t and later
            log_p = self.log_probs(x, y, e)[:, t]
            if t < n - 1:
                two = log_p.topk(2, dim=1).values
                lead = min(lead, (two[:, 0] - two[:, 1]).min().item())
            best = log_p.argmax(1)
            for b in range(B):
                at = y[b].tolist().index(best[b].item())
                y[b, at], y[b, t] = y[b, t].item(), best[b].item()
        return y, self.order_log_prob(x, y, e), lead

    @torch.no_grad()
    def best(self, x, e):
        """The most probable of all n! orders, in eval mode. -> (y [B, n], log-probability [B])"""
        orders = torch.tensor(list(itertools.permutations(range(x.shape[1]))), device=x.device)
        ys, log_probs = [], []
        for b in range(x.shape[0]):
            all_x, all_e = (a[b : b + 1].expand(len(orders), *a.shape[1:]) for a in (x, e))
            scores = self.order_log_prob(all_x, orders, all_e)
            ys.append(orders[scores.argmax()])
            log_probs.append(scores.max())
        return torch.stack(ys), torch.stack(log_probs)


def make(s, values=None, dtype=torch.float64):
    """Returns a net with the given values ({name: array}); asserts that names and shapes are those of net_shape.c."""
    net = OrderNet(s).to(dtype)
    state = {name: t for name, t in net.state_dict().items() if not name.endswith("num_batches_tracked")}
    want = dict(tensors(s))
    assert {name: tuple(t.shape) for name, t in state.items()} == want, "names or shapes differ from net_shape.c"
    if values is not None:
        with torch.no_grad():
            for name, t in state.items():
                t.copy_(torch.from_numpy(values[name]))
    return net


def counts(s):
    """Returns the numbers of parameters: (trained, with running statistics)."""
    net = make(s)
    trained = sum(p.numel() for p in net.parameters())
    return trained, trained + sum(b.numel() for b in net.buffers() if b.dim() > 0)


assert counts(TSP) == (71623, 72903)
assert counts(WORDS) == (1380247, 1385367)
