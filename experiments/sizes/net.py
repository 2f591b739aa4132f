"""The net of docs/model.md for sets of mixed sizes: padded, masked, with a choice of norms, and several copies of it
(one for each seed) trained side by side, since the steps are small.

Every set's items are in the right order, so step t places item t. The net is permutation equivariant: it does not see
that. Names: S seeds, B sets, n items (the padded size), T = n steps, d features; the rest as in docs/model.md. The
products are split as docs/model.md says; the parts of the logit that are the same for all items are left out.
"""

import math

import torch
import torch.nn.functional as F

EPSILON = 1e-5  # of the norms
M, H, O, N, C = 3, 64, 16, 3, 16  # --preset default, max pool
WIDTHS = [w for _ in range(M) for w in (H, O)] + [C] * N  # channels of each norm


def tensors(d):
    """(name, shape, bound) of each trained tensor of a net; a bound of None: ones, of 0: zeros, else uniform in +-bound.
    Weights are [in, out]; those of a conv have a column block for each lag: steps t, t-1, t-2."""
    D = d + M * O
    out = []
    for k in range(M):
        width = d + k * O
        bound, bound2 = 1 / math.sqrt(2 * width), 1 / math.sqrt(H)
        out += [(f"e{k}.w1", (width, 2 * H), bound), (f"e{k}.b1", (H,), bound)]  # columns: for x_i, then for x_j
        out += [(f"e{k}.g1", (H,), None), (f"e{k}.e1", (H,), 0)]
        out += [(f"e{k}.w2", (H, O), bound2), (f"e{k}.b2", (O,), bound2)]
        out += [(f"e{k}.g2", (O,), None), (f"e{k}.e2", (O,), 0)]
    out += [("start", (D,), 1 / math.sqrt(D))]
    for m in range(N):
        bound = 1 / math.sqrt(3 * (2 * D + 2 * C * m))
        out += [(f"d{m}.wx", (D, 3 * C), bound), (f"d{m}.wy", (D, 3 * C), bound), (f"d{m}.b", (C,), bound)]
        for j in range(m):  # v of block j and its pool; rows: lag, channel
            out += [(f"d{m}.wv{j}", (3 * C, C), bound), (f"d{m}.wp{j}", (3 * C, C), bound)]
        out += [(f"d{m}.g", (C,), None), (f"d{m}.e", (C,), 0)]
    bound = 1 / math.sqrt(2 * D + 2 * C * N)
    return out + [("head.wx", (D, 1), bound)] + [(f"head.wv{m}", (C, 1), bound) for m in range(N)]


def first_parameters(d, seeds):
    """[S, parameters]"""
    rows = []
    for seed in seeds:
        r = torch.Generator().manual_seed(seed)
        values = []
        for _, shape, bound in tensors(d):
            x = torch.rand(math.prod(shape), generator=r) * 2 - 1
            values.append(torch.ones_like(x) if bound is None else x * bound)
        rows.append(torch.cat(values))
    return torch.stack(rows)


class Padding:
    """What is a set's own in a padded batch. size: [S, B], the sizes; n: the padded size."""

    def __init__(self, size, n, dtype=torch.float32):
        valid = torch.arange(n, device=size.device) < size[..., None]  # [S, B, n]
        self.size = size.to(dtype)
        self.valid = valid
        self.cell = (valid[..., None] & valid[..., None, :]).to(dtype)  # [S, B, n, n]


class Norm:
    """All norms of the net. kind: "batch" (weigh: "cell" or "set"), "layer" over the channels of a cell, or "set":
    over the cells of a set in the encoder, over the items of a step in the decoder.

    A batch norm uses the batch's own statistics and keeps them in `seen`, or, where `fixed` is set, those: a pair of
    [S, sum of WIDTHS], mean and variance.
    """

    def __init__(self, kind="batch", weigh="cell"):
        self.kind, self.weigh = kind, weigh
        self.fixed = None

    def begin(self, pad):
        self.pad, self.seen = pad, []
        if self.fixed is not None:
            self.split = [s.split(WIDTHS, dim=1) for s in self.fixed]
        if pad is None or self.kind != "batch":
            return
        cells = pad.size.square()  # [S, B]
        by = cells * cells.shape[1] if self.weigh == "set" else cells.sum(1, keepdim=True)
        self.weight = (pad.cell / by[..., None, None]).flatten(2)[:, :, None]  # [S, B, 1, n*n], sum 1 over B and n*n

    def __call__(self, k, x, gain, shift):
        """Norm k of x [S, B, n, n, channels]; a decoder's second n is its steps."""
        S, channels = x.shape[0], x.shape[-1]
        if self.kind == "layer":
            variance, mean = torch.var_mean(x, dim=-1, unbiased=False, keepdim=True)
        elif self.kind == "set":
            dims = (2, 3) if k < 2 * M else (2,)
            if self.pad is None:
                variance, mean = torch.var_mean(x, dim=dims, unbiased=False, keepdim=True)
            else:
                cell = self.pad.cell if k < 2 * M else self.pad.valid[..., None].to(x.dtype).expand_as(self.pad.cell)
                weight = (cell / cell.sum(dims, keepdim=True))[..., None]
                mean = (weight * x).sum(dims, keepdim=True)
                variance = (weight * (x - mean).square()).sum(dims, keepdim=True)
        elif self.fixed is not None:
            mean, variance = (s[k].reshape(S, 1, 1, 1, channels) for s in self.split)
        elif self.pad is None:
            variance, mean = torch.var_mean(x, dim=(1, 2, 3), unbiased=False, keepdim=True)
            self.seen.append((mean.detach().view(S, -1), variance.detach().view(S, -1)))
        else:
            shape = x.shape
            x = x.reshape(S, shape[1], -1, channels)
            mean = (self.weight @ x).sum(1, keepdim=True)
            x = x - mean
            variance = (self.weight @ x.square()).sum(1, keepdim=True)
            self.seen.append((mean.detach()[:, 0, 0], variance.detach()[:, 0, 0]))
            scale = (variance + EPSILON).rsqrt() * gain[:, None, None]
            return torch.addcmul(shift[:, None, None], x, scale).view(shape)
        gain, shift = (p.view(S, 1, 1, 1, channels) for p in (gain, shift))
        return torch.addcmul(shift, x - mean, (variance + EPSILON).rsqrt() * gain)

    def statistics(self):
        """What the batch norms saw: mean and biased variance, [S, sum of WIDTHS] each."""
        return tuple(torch.cat(s, dim=1) for s in zip(*self.seen))


MANY = 4096  # rows for each seed


def linear(x, w, bias=None):
    """x: [S, ..., in], w: [S, in, out], bias: [S, out]"""
    S, width = x.shape[0], x.shape[-1]
    if x.numel() > MANY * S * width:
        # A product for each set: the gradient of w, a few numbers from many rows, then has work for all of the GPU.
        y = x.reshape(S, x.shape[1], -1, width) @ w[:, None]
        y = y if bias is None else y + bias[:, None, None]
        return y.view(*x.shape[:-1], w.shape[2])
    flat = x.reshape(S, -1, width)
    y = torch.bmm(flat, w) if bias is None else torch.baddbmm(bias[:, None], flat, w)
    return y.view(*x.shape[:-1], w.shape[2])


def lags(x):
    """[..., T, channels] -> [..., T, 3*channels]: steps t, t-1, t-2, zeros before the first."""
    padded = F.pad(x, (0, 0, 2, 0))
    return torch.cat([x, padded[..., 1:-1, :], padded[..., :-2, :]], dim=-1)


PAIRS = 500000  # of each seed, that greedy ordering encodes at a time


class OrderNet:
    def __init__(self, theta, d, norm):
        """theta: [S, parameters], kept as it is: what moves it moves the net."""
        self.theta, self.d, self.norm = theta, d, norm
        self.names, self.shapes, _ = zip(*tensors(d))

    def parameters(self):
        S = self.theta.shape[0]
        parts = self.theta.split([math.prod(s) for s in self.shapes], dim=1)
        return {name: p.view(S, *shape) for name, shape, p in zip(self.names, self.shapes, parts)}

    def encode(self, p, x, pad):
        """[S, B, n, d] -> [S, B, n, D]"""
        n = x.shape[2]
        counts = (~torch.eye(n, dtype=torch.bool, device=x.device)).float()  # the diagonal is zero
        if pad is not None:
            counts = pad.cell * counts  # so is the padding: the diagonal's zero is a floor of the pool already
        counts = counts[..., None]
        for k in range(M):
            w = linear(x, p[f"e{k}.w1"])
            a, c = w[..., :H] + p[f"e{k}.b1"][:, None, None], w[..., H:]
            h = self.norm(2 * k, torch.relu(a[:, :, :, None] + c[:, :, None]), p[f"e{k}.g1"], p[f"e{k}.e1"])
            u = torch.relu(linear(h, p[f"e{k}.w2"], p[f"e{k}.b2"]))
            u = self.norm(2 * k + 1, u, p[f"e{k}.g2"], p[f"e{k}.e2"])
            x = torch.cat([x, (u * counts).max(dim=3).values], dim=3)
        return x

    def decoder_block(self, p, m, grid, v_lags, pool_lags, valid):
        """grid: what the conv gives for x' and y' [S, B, n, T, C]; v_lags, pool_lags: of the blocks before, [S, B, n, T, 3C]
        and [S, B, T, 3C] -> v and its maximum over the items [S, B, T, C]"""
        S = grid.shape[0]
        one = p[f"d{m}.b"].view(S, 1, 1, C)
        for j in range(m):
            grid = grid + linear(v_lags[j], p[f"d{m}.wv{j}"])
            one = one + linear(pool_lags[j], p[f"d{m}.wp{j}"])
        grid = grid + one[:, :, None]
        v = self.norm(2 * M + m, torch.relu(grid), p[f"d{m}.g"], p[f"d{m}.e"])
        inside = v if valid is None else v.masked_fill(~valid[..., None, None], -torch.inf)
        return v, inside.max(dim=2).values

    def losses(self, x, pad=None):
        """x: [S, B, n, d], items in the right order -> minus the log-probability of each step [S, B, T], 0 for padding, and
        the logits [S, B, n, T]"""
        p = self.parameters()
        S, B, n, _ = x.shape
        self.norm.begin(pad)
        valid = None if pad is None else pad.valid
        x = self.encode(p, x, pad)
        start = p["start"][:, None, None].expand(S, B, 1, -1)
        y = torch.cat([start, x[:, :, :-1]], dim=2)
        item = torch.arange(n, device=x.device)
        lag = torch.arange(3, device=x.device)
        step = item[:, None] - lag  # [T, 3]: the step that each tap sees
        free = ((item[:, None, None] >= step) & (step >= 0)).float()[..., None]  # [n, T, 3, 1]
        logits = linear(x, p["head.wx"])  # [S, B, n, 1]: the same for all steps
        v_lags, pool_lags = [], []
        for m in range(N):
            of_x = linear(x, p[f"d{m}.wx"]).view(S, B, n, 1, 3, C)
            of_y = linear(y, p[f"d{m}.wy"]).view(S, B, n, 3, C)
            late = F.pad(of_y, (0, 0, 0, 0, 2, 0))
            of_y = torch.stack([late[:, :, 2 - k : 2 - k + n, k] for k in range(3)], dim=3)[:, :, None]
            grid = ((of_x + of_y) * free).sum(4)
            v, pool = self.decoder_block(p, m, grid, v_lags, pool_lags, valid)
            if m < N - 1:
                v_lags.append(lags(v))
                pool_lags.append(lags(pool))
            logits = logits + linear(v, p[f"head.wv{m}"])[..., 0]
        allowed = item[:, None] >= item  # [n, T]
        if valid is not None:  # a padded step has its own item alone: it costs nothing
            allowed = allowed & (valid[..., None] | (item[:, None] == item))
        logits = logits.masked_fill(~allowed, -torch.inf)
        return logits.logsumexp(2) - logits.diagonal(dim1=2, dim2=3), logits

    @torch.no_grad()
    def greedy(self, x):
        """The most probable item at each step, step by step, for sets of one size: [S, B, n, d] -> order [S, B, n]"""
        p = self.parameters()
        S, B, n, _ = x.shape
        self.norm.begin(None)
        x = torch.cat([self.encode(p, part, None) for part in x.split(max(1, PAIRS // (n * n)), dim=1)], dim=1)
        D = x.shape[3]
        of_x = [linear(x, p[f"d{m}.wx"]).view(S, B, n, 3, C) for m in range(N)]
        head = linear(x, p["head.wx"])[..., 0]
        y = p["start"][:, None].expand(S, B, D)
        free = torch.ones(S, B, n, device=x.device)
        seen_free = [free, torch.zeros_like(free), torch.zeros_like(free)]  # of steps t, t-1, t-2: none before step 0
        none = torch.zeros(S, B, 3, C, device=x.device)
        seen_y = [[none] * 3 for _ in range(N)]
        seen_v = [[torch.zeros(S, B, n, 1, C, device=x.device)] * 3 for _ in range(N)]
        seen_pool = [[torch.zeros(S, B, 1, C, device=x.device)] * 3 for _ in range(N)]
        order = []
        for _ in range(n):
            logits = head
            for m in range(N):
                seen_y[m] = [linear(y, p[f"d{m}.wy"]).view(S, B, 3, C)] + seen_y[m][:2]
                grid = sum(
                    (of_x[m][:, :, :, k] + seen_y[m][k][:, :, None, k]) * seen_free[k][..., None] for k in range(3)
                )
                v_lags = [torch.cat(s, dim=-1) for s in seen_v[:m]]
                pool_lags = [torch.cat(s, dim=-1) for s in seen_pool[:m]]
                v, pool = self.decoder_block(p, m, grid[:, :, :, None], v_lags, pool_lags, None)
                seen_v[m], seen_pool[m] = [v] + seen_v[m][:2], [pool] + seen_pool[m][:2]
                logits = logits + linear(v, p[f"head.wv{m}"])[..., 0, 0]
            best = logits.masked_fill(seen_free[0] == 0, -torch.inf).argmax(2, keepdim=True)  # [S, B, 1]
            order.append(best)
            y = x.gather(2, best[..., None].expand(S, B, 1, D))[:, :, 0]
            seen_free = [seen_free[0].scatter(2, best, 0.0)] + seen_free[:2]
        return torch.cat(order, dim=2)
