"""Section 3.3: the feed-forward network as two convolutions with kernel size 1, the same function."""

import torch

from headway.ext.paper.measuring.costs import processor_seconds
from headway.ext.paper.results import Claim, Finding, Table
from headway.ext.paper.running.study import Study
from headway.ext.paper.verdicts import shown
from headway.model import FeedForward

SIZES = (512, 2048, 256)  # d_model, d_ff and positions


def count(work: Study) -> list[Finding]:
    """Compare outputs, gradients and times of the two descriptions."""
    d, d_ff, n = SIZES
    outputs, gradients = largest_differences(d, d_ff, n)
    x = torch.randn(1, n, d)
    linear, convolution = (
        1e3 * processor_seconds(lambda layer=network: layer(x))  # type: ignore[misc]
        for network in equal_networks(d, d_ff)
    )
    table = Table(
        "Two descriptions of one function",
        ("what", "value"),
        (
            ("largest relative difference of outputs", outputs),
            ("largest relative difference of gradients", gradients),
            ("ms, two linear maps", linear),
            ("ms, two convolutions", convolution),
        ),
        f"d_model {d}, d_ff {d_ff}, {n} positions; differences in float64, time in float32, one"
        " thread.",
    )
    largest = max(outputs, gradients)
    claim = Claim(
        "The feed-forward network can be described as two convolutions with kernel size 1.",
        "equal",
        f"largest difference {largest:.1e} in float64; as a convolution it takes"
        f" {convolution / linear:.2f} times as long",
        shown(largest < 1e-12),
        "outputs and the gradients of input, weights and biases",
    )
    return [table, claim]


@torch.random.fork_rng([])
def equal_networks(d: int, d_ff: int) -> tuple[FeedForward, FeedForward]:
    """Return a network of linear maps and one of convolutions, with equal weights."""
    torch.manual_seed(1)
    linear, convolution = FeedForward(d, d_ff), FeedForward(d, d_ff, convolution=True)
    convolution.load_state_dict(linear.state_dict())
    return linear, convolution


def largest_differences(d: int, d_ff: int, n: int) -> tuple[float, float]:
    """Return the largest differences of outputs and of gradients, relative to the largest value."""
    outputs, gradients = [], []
    for network in equal_networks(d, d_ff):
        network = network.double()
        random = torch.Generator().manual_seed(2)
        x = torch.randn(2, n, d, dtype=torch.float64, generator=random).requires_grad_()
        y = network(x)
        weights = torch.linspace(-1, 1, y.numel(), dtype=torch.float64).view_as(y)
        outputs.append(y.detach())
        gradients.append(torch.autograd.grad((y * weights).sum(), [x, *network.parameters()]))
    pairs = [(outputs[0], outputs[1]), *zip(*gradients, strict=True)]
    relative = [float((a - b).abs().max() / a.abs().max()) for a, b in pairs]
    return relative[0], max(relative[1:])
