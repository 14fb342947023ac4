"""Counts what a layer computes while it runs: multiplications, and how many of them wait for others.

Paper: section 4, Table 1. One operation is one multiplication (with its addition, in a matrix product).
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

FLASH = "_scaled_dot_product_flash_attention_for_cpu"
# Neither products nor moves of numbers; each number that they return counts as one.
FUNCTIONS = frozenset(("exp", "tanh", "sigmoid", "_softmax", "rsqrt", "gelu", "silu"))


@dataclass(frozen=True)
class Product:
    """One product of matrices, or of tensors element by element.

    Attributes:
        operations: Multiplications.
        rows: Rows of the left matrix over the whole batch; 0: element by element.
    """

    operations: int
    rows: int


class OperationCounter(TorchDispatchMode):
    """Records every product that is computed inside its ``with``, without changing any.

    The package's native kernels give way to their plain twins when a dispatch mode is active, so that
    the twins are counted; oneDNN's own recurrence is switched off for the same reason.

    Args:
        depths: Whether to follow which product waits for which; this keeps all results in memory.

    Example:
        >>> with OperationCounter() as counter:
        ...     y = layer(x)
        >>> counter.operations, counter.depth(y)
    """

    def __init__(self, *, depths: bool = False) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.products: list[Product] = []
        self.functions = 0
        self._follows_depths = depths
        self._depth: dict[int, int] = {}
        self._results: list[Tensor] = []
        self._uses_onednn = True

    def __enter__(self) -> "OperationCounter":
        self._uses_onednn = bool(torch.backends.mkldnn.enabled)
        torch.backends.mkldnn.enabled = False  # type: ignore[assignment]
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)  # type: ignore[no-untyped-call]
        torch.backends.mkldnn.enabled = self._uses_onednn  # type: ignore[assignment]

    @property
    def operations(self) -> int:
        """All multiplications."""
        return sum(product.operations for product in self.products)

    @property
    def elementwise(self) -> int:
        """The multiplications outside matrix products."""
        return sum(product.operations for product in self.products if not product.rows)

    def depth(self, result: Tensor) -> int:
        """Return the longest chain of matrix products, each waiting for the last, behind a result."""
        return self._depth.get(_storage(result), 0)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        products = _products(name, args, result)
        self.products += products
        if name in FUNCTIONS:
            self.functions += result.numel()
        elif name == FLASH:
            self.functions += args[0].numel() // args[0].size(-1) * args[1].size(-2)
        if self._follows_depths:
            self._follow(args, result, sum(product.rows > 0 for product in products))
        return result

    def _follow(self, args: Any, result: Any, further: int) -> None:
        before = max((self._depth.get(_storage(t), 0) for t in _tensors(args)), default=0)
        for tensor in _tensors(result):
            storage = _storage(tensor)
            self._depth[storage] = max(self._depth.get(storage, 0), before + further)
            self._results.append(tensor)  # or its memory would be given to another tensor


def _products(name: str, args: Any, result: Any) -> list[Product]:
    """Return each product in one call of torch."""
    match name:
        case "mm" | "bmm":
            left = args[0]
        case "addmm" | "baddbmm":
            left = args[1]
        case "_scaled_dot_product_flash_attention_for_cpu":
            query, key, value = args[:3]
            rows = query.numel() // query.size(-1)
            return [Product(rows * key.size(-2) * x.size(-1), rows) for x in (query, value)]
        case "convolution":
            weight = args[1]
            return [Product(result.numel() * weight[0].numel(), result.numel() // weight.size(0))]
        case "mul" | "mul_":
            return [Product(result.numel(), 0)]
        case _:
            return []
    return [Product(result.numel() * left.size(-1), left.numel() // left.size(-1))]


def _storage(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _tensors(values: Any) -> list[Tensor]:
    if isinstance(values, Tensor):
        return [values]
    if isinstance(values, list | tuple):
        return [tensor for value in values for tensor in _tensors(value)]
    return []
