"""Tests of net.py: against reference/twin.py, padded against not padded, greedy decoding against the steps' logits."""

import pathlib
import sys

import torch

import net
from net import C, H, M, N, O

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "reference"))


def from_twin(state, d):
    """Parameters [1, P] of net.py from the twin's."""
    D = d + M * O
    p = {"start": state["decoder.start"]}
    for k in range(M):
        w = state[f"encoder.{k}.conv1.weight"]
        width = w.shape[1] // 2
        p[f"e{k}.w1"] = torch.cat([w[:, :width], w[:, width:]]).T
        p[f"e{k}.w2"] = state[f"encoder.{k}.conv2.weight"].T
        for i in (1, 2):
            p[f"e{k}.b{i}"] = state[f"encoder.{k}.conv{i}.bias"]
            p[f"e{k}.g{i}"], p[f"e{k}.e{i}"] = (state[f"encoder.{k}.norm{i}.{a}"] for a in ("weight", "bias"))
    head = state["head.weight"]
    p["head.wx"] = head[:, :D].T
    for m in range(N):
        w = state[f"decoder.{m}.conv.weight"].flip(2)  # [C, in, lag]
        p[f"d{m}.wx"], p[f"d{m}.wy"] = (w[:, at : at + D].permute(1, 2, 0).reshape(D, 3 * C) for at in (0, D))
        for j in range(m):
            at = 2 * D + 2 * C * j
            p[f"d{m}.wv{j}"] = w[:, at : at + C].permute(2, 1, 0).reshape(3 * C, C)
            p[f"d{m}.wp{j}"] = w[:, at + C : at + 2 * C].permute(2, 1, 0).reshape(3 * C, C)
        p[f"d{m}.b"] = state[f"decoder.{m}.conv.bias"]
        p[f"d{m}.g"], p[f"d{m}.e"] = (state[f"decoder.{m}.norm.{a}"] for a in ("weight", "bias"))
        at = 2 * D + 2 * C * m
        p[f"head.wv{m}"] = head[:, at : at + C].T
    for name, shape, _ in net.tensors(d):
        assert tuple(p[name].shape) == shape, name
    return torch.cat([p[name].reshape(-1) for name, _, _ in net.tensors(d)])[None]


def close(what, a, b, bound=1e-9):
    worst = (a - b).abs().max().item()
    print(f"{what}: largest difference {worst:.1e}")
    assert worst < bound, what


def against_twin():
    import generated
    import twin

    d, B, n = 3, 4, 7
    torch.manual_seed(1)
    reference = twin.make(generated.Settings(d, M, H, O, N, C, "max"))
    for p in reference.parameters():
        torch.nn.init.uniform_(p, -0.3, 0.3)
    x = torch.randn(B, n, d, dtype=torch.float64)
    y = torch.arange(n).repeat(B, 1)
    loss = reference.loss(x, y)
    loss.backward()
    theta = from_twin(reference.state_dict(), d).clone().requires_grad_()
    mine = net.OrderNet(theta, d, net.Norm())
    steps, logits = mine.losses(x[None])
    steps.mean().backward()
    want = reference.log_probs(x, y).gather(2, y[:, :, None])[..., 0]
    close("log-probabilities, twin", -steps[0], want.detach())
    grads = dict(reference.named_parameters())
    grads = {name: grads[name].grad if name in grads else s for name, s in reference.state_dict().items()}
    close("gradient, twin", theta.grad, from_twin(grads, d))
    mean, _ = mine.norm.statistics()
    # log_probs ran the twin once more on the same batch: the running averages moved twice by 0.1.
    norms = [f"encoder.{k}.norm{i}" for k in range(M) for i in (1, 2)] + [f"decoder.{m}.norm" for m in range(N)]
    running = torch.cat([reference.state_dict()[f"{name}.running_mean"] for name in norms])
    close("mean of the norms, twin", mean[0] * 0.19, running)


def padded_against_plain():
    torch.manual_seed(2)
    d, sizes = 2, [3, 5, 8, 8]
    theta = net.first_parameters(d, [1, 2]).double()
    sets = [torch.randn(n, d, dtype=torch.float64) for n in sizes]
    x = torch.full((2, len(sizes), 11, d), 7.0, dtype=torch.float64)  # what stands in the padding must not matter
    for b, s in enumerate(sets):
        x[:, b, : len(s)] = s
    pad = net.Padding(torch.tensor(sizes).repeat(2, 1), 11, torch.float64)
    fixed = net.Norm()
    channels = sum(net.WIDTHS)
    fixed.fixed = torch.rand(2, channels, dtype=torch.float64), torch.rand(2, channels, dtype=torch.float64)
    for what, norm in (("fixed", fixed), ("layer", net.Norm("layer")), ("set", net.Norm("set"))):
        model = net.OrderNet(theta, d, norm)
        together, _ = model.losses(x, pad)
        for b, s in enumerate(sets):
            alone, _ = model.losses(s.expand(2, 1, -1, -1))
            close(f"padded, norm {what}, {len(s)} items", together[:, b, : len(s)], alone[:, 0])
            assert together[:, b, len(s) :].abs().max() == 0 if len(s) < 11 else True
    for weigh in ("cell", "set"):
        same = net.OrderNet(theta, d, net.Norm("batch", weigh))
        together, _ = same.losses(x[:, 2:], net.Padding(torch.tensor([[8, 8]] * 2), 11, torch.float64))
        seen = same.norm.statistics()
        alone, _ = same.losses(torch.stack(sets[2:]).expand(2, -1, -1, -1))
        close(f"padded, batch norm by {weigh}", together[:, :, :8], alone)
        for a, b in zip(seen, same.norm.statistics()):
            close(f"statistics, batch norm by {weigh}", a, b)


def many_rows():
    """Products cut by sets, and statistics of a batch of several sizes, against plain ones."""
    torch.manual_seed(5)
    x, w, bias = (torch.randn(*shape, dtype=torch.float64) for shape in ((2, 3, 40, 40, 6), (2, 6, 5), (2, 5)))
    assert x.numel() > net.MANY * 2 * 6
    close("products, many rows", net.linear(x, w, bias), torch.einsum("sbijc,sco->sbijo", x, w) + bias[:, None, None, None])
    sizes = [[2, 5, 4], [3, 3, 6]]
    x = torch.randn(2, 3, 6, 6, net.WIDTHS[0], dtype=torch.float64)
    one = torch.ones(2, net.WIDTHS[0], dtype=torch.float64)
    for weigh in ("cell", "set"):
        norm = net.Norm("batch", weigh)
        norm.begin(net.Padding(torch.tensor(sizes), 6, torch.float64))
        norm(0, x, one, one)
        for s in range(2):
            cells = [x[s, b, :n, :n].reshape(n * n, -1) for b, n in enumerate(sizes[s])]
            mean = torch.cat(cells).mean(0) if weigh == "cell" else torch.stack([c.mean(0) for c in cells]).mean(0)
            off = [(c - mean).square() for c in cells]
            var = torch.cat(off).mean(0) if weigh == "cell" else torch.stack([c.mean(0) for c in off]).mean(0)
            close(f"statistics of several sizes, by {weigh}", torch.cat([a[s] for a in norm.seen[0]]), torch.cat([mean, var]))


def later_steps_unseen():
    """What comes after step t must not change step t. Only norms that are used as they are at ordering time."""
    torch.manual_seed(3)
    d, n = 2, 8
    theta = net.first_parameters(d, [5]).double()
    x = torch.randn(1, 1, n, d, dtype=torch.float64)
    other = x[:, :, [0, 1, 2, 3, 7, 6, 5, 4]]  # another order of the same items from step 4 on
    for kind in ("layer", "set"):
        model = net.OrderNet(theta, d, net.Norm(kind))
        a, logits = model.losses(x)
        b, others = model.losses(other)
        close(f"steps before another ending, norm {kind}", a[..., :4], b[..., :4])


def greedy_against_losses():
    torch.manual_seed(4)
    d, n, B = 2, 9, 3
    channels = sum(net.WIDTHS)
    for kind in ("batch", "layer", "set"):
        norm = net.Norm(kind)
        norm.fixed = torch.rand(2, channels) * 0.3, torch.rand(2, channels) * 0.3 + 0.1
        model = net.OrderNet(net.first_parameters(d, [3, 4]) * 2, d, norm)
        x = torch.randn(2, B, n, d)
        order = model.greedy(x)
        assert (order.sort(2).values == torch.arange(n)).all()
        _, logits = model.losses(x.gather(2, order[..., None].expand(-1, -1, -1, d)))
        lead = logits.diagonal(dim1=2, dim2=3) - logits.max(2).values
        close(f"greedy takes the largest logit, norm {kind}", lead, torch.zeros(()), 1e-4)


def graphs_against_launches(data):
    """CUDA graphs against kernels launched one by one: the same weights after 40 steps, but for the order of additions."""
    import compare

    device = torch.device("cuda")
    for name in ("one-size", "mixed"):
        after = []
        for graphs in (False, True):
            sets = compare.Sets(data / "outward-train.npz", None, device, most=600)
            trainer = compare.Trainer(compare.TRAININGS[name], sets, [1, 2], device, graphs)
            trainer.train(2)
            after.append(trainer.theta)
        close(f"weights after training with graphs, {name}", *after, 0.02)


def main(data):
    against_twin()
    padded_against_plain()
    many_rows()
    later_steps_unseen()
    greedy_against_losses()
    if torch.cuda.is_available():
        graphs_against_launches(data)
    print("all agree")
