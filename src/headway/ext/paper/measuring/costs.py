"""What a layer costs: operations counted while it runs, processor time, and bytes that it saves.

Shapes: B batch, T positions, D d_model, H heads, K d_k. Paper: section 4, Table 1.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from headway.ext.kinds import Recurrent
from headway.ext.paper.measuring.layer_types import LayerType, projections
from headway.ext.paper.measuring.operation_counter import OperationCounter
from headway.model import DotProduct, SelfAttention, Visibility, attend_with_mask

Forward = Callable[[], Tensor]


@dataclass(frozen=True)
class Cost:
    """The cost of one sentence of n positions.

    Attributes:
        mixing: Multiplications that mix positions.
        elementwise: Those of ``mixing`` outside matrix products.
        projections: Multiplications of linear maps at each position alone.
        functions: Exponentials and similar functions.
        depth: The longest chain of matrix products that wait for each other.
    """

    mixing: int
    elementwise: int
    projections: int
    functions: int
    depth: int = 0


@torch.no_grad()
def count_operations(
    layer: LayerType, n: int, d: int, *, k: int = 3, r: int = 32, depths: bool = False
) -> Cost:
    """Run a layer of width d on n positions, and count its operations.

    A recurrence maps its input for all positions at once before it begins: these maps count as
    projections, the maps of its state do not. Heads have a width of 64, or of d if it is less.

    Args:
        layer: The type of layer.
        n: Positions.
        d: Width.
        k: Kernel size of convolutions.
        r: Window of restricted attention.
        depths: Whether to find ``depth``, which is 0 otherwise.
    """
    mixer = layer.mixer(d, k=k, r=r, heads=max(1, d // 64))
    maps = projections(mixer)
    with OperationCounter(maps, depths=depths) as counter:
        y = mixer(torch.randn(1, n, d))
    projected = counter.inside(maps)
    if isinstance(mixer, Recurrent):
        projected = sum(p.operations for p in counter.products if p.rows == n)
    return Cost(
        counter.operations - projected,
        counter.elementwise,
        projected,
        counter.functions,
        counter.depth(y) if depths else 0,
    )


@torch.random.fork_rng([])
def mixing_pass(
    layer: LayerType, n: int, d: int, *, k: int = 3, r: int = 32
) -> tuple[Forward, nn.Module]:
    """Return a function that runs a layer's mixing, to be timed, and the layer.

    Attention's projections are done before; for other layers the mixing is the whole layer. Inputs
    have gradients.
    """
    torch.manual_seed(1)
    mixer = layer.mixer(d, k=k, r=r, heads=max(1, d // 64))
    x_BTD = torch.randn(1, n, d, requires_grad=True)
    if not isinstance(mixer, SelfAttention):
        return (lambda: mixer(x_BTD)), mixer
    attention = mixer.attention
    with torch.no_grad():
        projected = attention.project_self(x_BTD)
    query, key, value = (t.clone().requires_grad_() for t in projected)
    visibility = Visibility(window=mixer.window)
    return (lambda: attention.core(query, key, value, visibility)), mixer


def stored_attention_pass(n: int, d: int) -> Forward:
    """Return a function that runs equation 1 as written, with all n x n weights in memory."""
    heads = max(1, d // 64)
    q, k, v = (torch.randn(1, heads, n, d // heads, requires_grad=True) for _ in range(3))
    core = DotProduct()
    return lambda: attend_with_mask(core.weights, q, k, v, None)


def processor_seconds(forward: Forward, *, repeats: int = 5, least: float = 0.02) -> float:
    """Return the shortest processor time of a forward pass on one thread, without gradients.

    Args:
        forward: The pass.
        repeats: How many times it is timed.
        least: Each timing repeats the pass until it takes this many seconds.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.no_grad():
            forward()
            best, times = float("inf"), 1
            for _ in range(repeats):
                while True:
                    begin = time.thread_time()
                    for _ in range(times):
                        forward()
                    spent = time.thread_time() - begin
                    if spent >= least:
                        break
                    times *= 2
                best = min(best, spent / times)
            return best
    finally:
        torch.set_num_threads(threads)


def saved_bytes(forward: Forward, without: nn.Module | None = None) -> int:
    """Return the bytes that a forward pass saves for its backward pass.

    Args:
        forward: The pass, with gradients.
        without: A module whose parameters do not count.
    """
    sizes: dict[int, int] = {}
    parameters = {p.untyped_storage().data_ptr() for p in without.parameters()} if without else ()

    def record(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in parameters:
            sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(record, lambda tensor: tensor):
        result = forward()
    del result
    return sum(sizes.values())
