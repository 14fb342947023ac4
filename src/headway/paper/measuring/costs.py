"""What a layer costs: operations counted as it runs, processor time, and bytes it keeps.

Shapes: B batch, T positions, D d_model, H heads, K d_k. Paper: section 4, Table 1.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from headway.model.attention import DotProduct, SelfAttention
from headway.model.mixers import Recurrent
from headway.model.visible import Visible
from headway.paper.measuring.layer_types import Rival, projections
from headway.paper.measuring.ledger import Ledger

Run = Callable[[], Tensor]


@dataclass(frozen=True)
class Cost:
    """Of one sentence of n positions.

    Attributes:
        mixing: Multiplications by which positions are mixed.
        elementwise: Those of them outside matrix products.
        projections: Multiplications of maps at each position alone.
        functions: Exponentials, and the like.
        depth: The longest chain of matrix products that wait for each other; 0: not followed.
    """

    mixing: int
    elementwise: int
    projections: int
    functions: int
    depth: int = 0


@torch.no_grad()
def count(rival: Rival, n: int, d: int, *, k: int = 3, r: int = 32, depths: bool = False) -> Cost:
    """Run a layer of width d on n positions, and count.

    The maps of a recurrence's input are done for all positions at once, before it begins, so they
    are projections; its maps of the state are not. Heads have a width of 64, or of d if it is less.
    """
    mixer = rival.mixer(d, k=k, r=r, heads=max(1, d // 64))
    apart = projections(mixer)
    with Ledger(apart, depths=depths) as ledger:
        y = mixer(torch.randn(1, n, d))
    aside = ledger.inside(apart)
    if isinstance(mixer, Recurrent):
        aside = sum(entry.operations for entry in ledger.entries if entry.rows == n)
    depth = ledger.depth(y) if depths else 0
    mixing = ledger.operations - aside
    return Cost(mixing, ledger.elementwise, aside, ledger.functions, depth)


def mixing_of(rival: Rival, n: int, d: int, *, k: int = 3, r: int = 32) -> tuple[Run, nn.Module]:
    """Return what runs the mixing of a layer, ready to be timed; inputs take gradients.

    Attention's projections are done before; elsewhere the mixing is the layer.
    """
    torch.manual_seed(1)
    mixer = rival.mixer(d, k=k, r=r, heads=max(1, d // 64))
    x_BTD = torch.randn(1, n, d, requires_grad=True)
    if not isinstance(mixer, SelfAttention):
        return (lambda: mixer(x_BTD)), mixer
    attention = mixer.attention
    with torch.no_grad():
        projected = attention.queries_keys_values(x_BTD)
    query, key, value = (t.clone().requires_grad_() for t in projected)
    visible = Visible(window=mixer.window)
    return (lambda: attention.core(query, key, value, visible)), mixer


def stored_attention(n: int, d: int) -> Run:
    """Return what runs attention as equation 1 is written, with all n x n weights in memory."""
    heads = max(1, d // 64)
    q, k, v = (torch.randn(1, heads, n, d // heads, requires_grad=True) for _ in range(3))
    core = DotProduct()
    return lambda: core.stored(q, k, v, None)


def seconds(run: Run, *, repeats: int = 5, least: float = 0.02) -> float:
    """Return the processor time of a run, in seconds: the least of some, on one thread.

    Args:
        run: What is timed, without gradients.
        repeats: How often it is timed.
        least: Each timing repeats the run until it takes so long.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.no_grad():
            run()
            best, times = float("inf"), 1
            for _ in range(repeats):
                while True:
                    begin = time.thread_time()
                    for _ in range(times):
                        run()
                    spent = time.thread_time() - begin
                    if spent >= least:
                        break
                    times *= 2
                best = min(best, spent / times)
            return best
    finally:
        torch.set_num_threads(threads)


def kept(run: Run, without: nn.Module | None = None) -> int:
    """Return the bytes that a run keeps for its backward pass.

    Args:
        run: With gradients.
        without: A module whose parameters do not count.
    """
    places: dict[int, int] = {}
    parameters = {p.untyped_storage()._cdata for p in without.parameters()} if without else set()

    def see(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage._cdata not in parameters:
            places[storage._cdata] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(see, lambda tensor: tensor):
        result = run()
    del result
    return sum(places.values())
