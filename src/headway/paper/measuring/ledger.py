"""Writes down what a layer computes while it runs: products, and how many of them wait for each other.

Paper: section 4, Table 1. One operation is one multiplication (with its addition, in a matrix product).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

aten = torch.ops.aten
FLASH = "_scaled_dot_product_flash_attention_for_cpu"
# Work that is neither a product nor moves numbers about; each result costs one.
FUNCTIONS = frozenset(("exp", "tanh", "sigmoid", "_softmax", "rsqrt", "gelu", "silu"))


@dataclass(frozen=True)
class Entry:
    """One product of matrices, or of tensors element by element.

    Attributes:
        operations: Multiplications.
        rows: How many rows the left matrix has, over the whole batch; 0: element by element.
        inside: The name of the watched module that was running, or an empty string.
    """

    operations: int
    rows: int
    inside: str


class Ledger(TorchDispatchMode):
    """Records every product that is computed inside its ``with``, without changing any.

    The package's native kernels stand back where they are watched, so that their plain twins are
    seen; oneDNN's own recurrence is switched off for the same reason.

    Args:
        apart: Modules whose work is marked with their names.
        depths: Also follow which product waits for which; it keeps all results alive.

    Example:
        >>> with Ledger() as ledger:
        ...     y = layer(x)
        >>> ledger.operations, ledger.depth(y)
    """

    def __init__(self, apart: Mapping[str, nn.Module] | None = None, *, depths: bool = False):
        super().__init__()  # type: ignore[no-untyped-call]
        self.entries: list[Entry] = []
        self.functions = 0
        self._follow = depths
        self._depth: dict[int, int] = {}
        self._alive: list[Any] = []
        self._inside: list[str] = []
        self._apart = dict(apart or {})
        self._hooks: list[Any] = []
        self._onednn = True

    def __enter__(self) -> "Ledger":
        for name, module in self._apart.items():
            self._hooks.append(module.register_forward_pre_hook(self._come(name)))
            self._hooks.append(module.register_forward_hook(self._go))
        self._onednn = torch._C._get_mkldnn_enabled()
        torch._C._set_mkldnn_enabled(False)
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)  # type: ignore[no-untyped-call]
        torch._C._set_mkldnn_enabled(self._onednn)
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()

    def _come(self, name: str) -> Any:
        def come(_module: nn.Module, _inputs: Any) -> None:
            self._inside.append(name)

        return come

    def _go(self, _module: nn.Module, _inputs: Any, _output: Any) -> None:
        self._inside.pop()

    @property
    def operations(self) -> int:
        """All multiplications."""
        return sum(entry.operations for entry in self.entries)

    @property
    def elementwise(self) -> int:
        """Those outside matrix products."""
        return sum(entry.operations for entry in self.entries if not entry.rows)

    def inside(self, names: Iterable[str]) -> int:
        """Return the multiplications of some of the watched modules."""
        wanted = set(names)
        return sum(entry.operations for entry in self.entries if entry.inside in wanted)

    def depth(self, result: Tensor) -> int:
        """Return the longest chain of products that led to a result, each waiting for the last."""
        return self._depth.get(_storage(result), 0)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        found = _operations(name, args, result)
        where = self._inside[-1] if self._inside else ""
        for operations, rows in found:
            self.entries.append(Entry(operations, rows, where))
        if name in FUNCTIONS:
            self.functions += result.numel()
        elif name == FLASH:
            self.functions += args[0].numel() // args[0].size(-1) * args[1].size(-2)
        if self._follow:
            self._note(args, result, sum(rows > 0 for _, rows in found))
        return result

    def _note(self, args: Any, result: Any, further: int) -> None:
        before = max((self._depth.get(_storage(t), 0) for t in _tensors(args)), default=0)
        for tensor in _tensors(result):
            place = _storage(tensor)
            self._depth[place] = max(self._depth.get(place, 0), before + further)
            self._alive.append(tensor)  # a place in memory must not be given to somebody else


def _operations(name: str, args: Any, result: Any) -> list[tuple[int, int]]:
    """Return (multiplications, rows) of each product in one call of torch; rows 0: no matrices."""
    match name:
        case "mm" | "bmm":
            left = args[0]
        case "addmm" | "baddbmm":
            left = args[1]
        case "_scaled_dot_product_flash_attention_for_cpu":
            query, key, value = args[:3]
            rows = query.numel() // query.size(-1)
            return [(rows * key.size(-2) * x.size(-1), rows) for x in (query, value)]
        case "convolution":
            weight = args[1]
            return [(result.numel() * weight[0].numel(), result.numel() // weight.size(0))]
        case "mul" | "mul_":
            return [(result.numel(), 0)]
        case _:
            return []
    return [(result.numel() * left.size(-1), left.numel() // left.size(-1))]


def _storage(tensor: Tensor) -> int:
    return int(tensor.untyped_storage()._cdata)


def _tensors(values: Any) -> list[Tensor]:
    if isinstance(values, Tensor):
        return [values]
    if isinstance(values, list | tuple):
        return [tensor for value in values for tensor in _tensors(value)]
    return []
