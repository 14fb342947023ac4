"""What a layer costs: operations counted while it runs, processor time, and bytes that it saves.

Shapes: B batch, T positions, D d_model, H heads, K d_k. Paper: section 4, Table 1.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from headway.ext.kinds import Recurrent
from headway.ext.paper.measuring.layer_types import LayerType
from headway.ext.paper.measuring.operation_counter import OperationCounter
from headway.model import SelfAttention

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
    x = torch.randn(1, n, d)
    with OperationCounter(depths=depths) as counter:
        y = mixer(x)
    projected = 0
    if isinstance(mixer, SelfAttention):
        with OperationCounter() as maps:
            mixer.attention.project_self(x)
            mixer.attention.output(x)
        projected = maps.operations
    elif isinstance(mixer, Recurrent):
        projected = sum(p.operations for p in counter.products if p.rows == n)
    return Cost(
        counter.operations - projected,
        counter.elementwise,
        projected,
        counter.functions,
        counter.depth(y) if depths else 0,
    )


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
