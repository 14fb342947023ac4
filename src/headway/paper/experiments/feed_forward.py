"""Section 3.3: the feed-forward network as two convolutions with kernel size 1, the same function."""

import torch

from headway.model import FeedForward
from headway.paper.measuring.costs import seconds
from headway.paper.results import Claim, Result, Table
from headway.paper.running.work import Work

TITLE = "The feed-forward network as two convolutions of kernel size 1"
SECTION = "3.3"


def run(work: Work) -> Result:
    """Compare output, gradients and time of the two descriptions."""
    d, d_ff, n = work.pick(toy=(16, 64, 13), minutes=(512, 2048, 256))
    outputs, gradients = differences(d, d_ff, n)
    linear, convolution = both(d, d_ff)
    x = torch.randn(1, n, d)
    repeats = work.pick(toy=1, minutes=5)
    times = [
        1e3 * seconds(lambda: linear(x), repeats=repeats),
        1e3 * seconds(lambda: convolution(x), repeats=repeats),
    ]
    rows = (
        ("largest difference of outputs, of their size", outputs),
        ("largest difference of gradients, of their size", gradients),
        ("ms, two linear maps", times[0]),
        ("ms, two convolutions", times[1]),
    )
    same = max(outputs, gradients) < 1e-12
    claim = Claim(
        "The feed-forward network can be described as two convolutions with kernel size 1.",
        "equal",
        f"largest difference {max(outputs, gradients):.1e} in float64; as a convolution it takes"
        f" {times[1] / times[0]:.2f} times as long",
        "shown" if same else "does not",
        "outputs and the gradients of input, weights and biases",
        SECTION,
    )
    table = Table(
        "Two descriptions of one function",
        ("what", "value"),
        rows,
        f"d_model {d}, d_ff {d_ff}, {n} positions; differences in float64, time in float32, one"
        " thread.",
    )
    return Result(
        "feed_forward", TITLE, SECTION, (table,), (), (claim,),
        "Nothing, but that time is of this machine.", settings={"d_model": d, "d_ff": d_ff, "n": n},
    )  # fmt: skip


def both(d: int, d_ff: int) -> tuple[FeedForward, FeedForward]:
    """Return the two networks, with equal weights."""
    torch.manual_seed(1)
    linear, convolution = FeedForward(d, d_ff), FeedForward(d, d_ff, convolution=True)
    convolution.load_state_dict(linear.state_dict())
    return linear, convolution


def differences(d: int, d_ff: int, n: int) -> tuple[float, float]:
    """Return the largest differences of outputs and of gradients, relative to the largest value."""
    found = []
    for network in both(d, d_ff):
        network = network.double()
        x = torch.randn(
            2, n, d, dtype=torch.float64, generator=torch.Generator().manual_seed(2)
        ).requires_grad_()
        y = network(x)
        weights = torch.linspace(-1, 1, y.numel(), dtype=torch.float64).view_as(y)
        found.append((y.detach(), torch.autograd.grad((y * weights).sum(),
                                                      [x, *network.parameters()])))  # fmt: skip
    (y, grads), (other, others) = found
    pairs = list(zip(grads, others, strict=True))
    return (
        float((y - other).abs().max() / y.abs().max()),
        max(float((a - b).abs().max() / a.abs().max()) for a, b in pairs),
    )
