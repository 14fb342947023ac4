"""How many layers or states lie between two positions: found by gradients, and by formula.

Paper: section 4, "maximum path length", and Table 1's last column.
"""

import torch

from headway.ext.kinds import Recurrent
from headway.ext.paper.measuring.layer_types import LayerType
from headway.model import Cache


@torch.random.fork_rng([])
def layers_by_gradient(
    layer: LayerType, n: int, *, k: int = 3, r: int = 4, causal: bool = False, alone: bool = False
) -> int | None:
    """Return how many layers it takes until two positions, n - 1 apart, can affect each other.

    Layers are stacked, without residuals and the rest, until the later position's output has a
    gradient at the earlier one's input and, unless causal, the other way. Centered dilated layers may
    have to go beyond both positions before they come back, so there are other positions around them.

    Args:
        layer: The type of layer.
        n: Positions from one to the other, both included.
        k: Kernel size of convolutions.
        r: Window of restricted attention.
        causal: As in a decoder.
        alone: The two positions are the ends of their sentence.

    Returns:
        None if they never meet: dilated taps that fall outside the sentence find nothing there.
    """
    torch.manual_seed(1)
    d, margin = 4, n if layer.name == "dilated" and not causal and not alone else 0
    first, last = margin, margin + n - 1
    x = torch.randn(1, n + 2 * margin, d, dtype=torch.float64, requires_grad=True)
    y = x
    # Without dilation each layer adds at least one position; with it, taps are soon too far apart.
    most = n.bit_length() + 2 if layer.name == "dilated" else n
    for index in range(most):
        mixer = layer.mixer(d, k=k, r=r, heads=1, causal=causal, index=index).double()
        y = mixer(y)
        y = y / y.detach().abs().mean()  # keeps gradients of many layers representable
        if _reaches(x, y, last, first) and (causal or _reaches(x, y, first, last)):
            return index + 1
    return None


def _reaches(x: torch.Tensor, y: torch.Tensor, end: int, begin: int) -> bool:
    [gradient] = torch.autograd.grad(y[0, end].sum(), x, retain_graph=True)
    return bool((gradient[0, begin] != 0).any())


def layers_by_formula(
    layer: LayerType, n: int, *, k: int = 3, r: int = 4, causal: bool = False
) -> int:
    """Return the same number by the formula of the layer.

    All taps of a causal layer look back; half of the taps of a centered one look to either side.
    """
    match layer.name:
        case "convolution" | "separable":
            step = k - 1 if causal else (k - 1) // 2
        case "restricted":
            step = r - 1 if causal else (r - 1) // 2
        case "dilated":
            # L layers reach k^L positions; causal: ceil(log_k n), centered: ceil(log_k(2n - 1)).
            layers, reached = 1, k
            while reached < (n if causal else 2 * n - 1):
                layers, reached = layers + 1, reached * k
            return layers
        case _:
            return 1
    return -(-(n - 1) // step)


@torch.random.fork_rng([])
def states_by_gradient(n: int) -> int:
    """Return how many states of a recurrence lie between the first input and the n-th output.

    The state is cut off after one position at a time. A cut that leaves no gradient is a state that
    everything has to pass; the step that reads the input is one more.
    """
    torch.manual_seed(1)
    cell = Recurrent(6, "lstm", causal=True).double()
    passed = sum(_gradient_with_cut(cell, n, cut) == 0 for cut in range(n - 1))
    assert _gradient_with_cut(cell, n, None) > 0
    return passed + 1


def _gradient_with_cut(cell: Recurrent, n: int, cut: int | None) -> float:
    x = torch.randn(1, n, 6, dtype=torch.float64, requires_grad=True)
    cache = Cache()
    y = x[:, :1]
    for position in range(n):
        y = cell.step(x[:, position : position + 1], cache)
        if position == cut:
            cache.update({name: state.detach() for name, state in cache.items()})
    [gradient] = torch.autograd.grad(y.sum(), x)
    return float(gradient[0, 0].abs().sum())
