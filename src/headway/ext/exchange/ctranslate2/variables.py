"""The variables of a ``model.bin``: read by name, and checked that none is left over."""

from collections.abc import Mapping
from pathlib import Path
from weakref import WeakValueDictionary

from torch import Tensor

from headway.errors import HeadwayError

# These do not change a translation, or the reader has them from elsewhere.
IGNORED = {"alignment_layer", "alignment_heads", "embeddings_merge", "start_from_zero_embedding"}
# These switch a part on that Headway does not have; zero means off.
IGNORED_IF_ZERO = {
    "alibi",
    "alibi_use_positive_positions",
    "scale_alibi",
    "multi_query",
    "multi_query_attention",
}


class Variables:
    """The variables of a file; it records which ones were asked for.

    A variable that nobody asks for belongs to a part that Headway does not have.

    Args:
        stored: The tensors as they are in the file.
        file: The file, for messages.
    """

    def __init__(self, stored: Mapping[str, Tensor], file: Path) -> None:
        self.stored, self.file = dict(stored), file
        self._used: set[str] = set()
        # A tensor with several names is converted once, as long as its result is in use.
        self._converted: WeakValueDictionary[tuple[int, int], Tensor] = WeakValueDictionary()

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a tensor, which is not converted for it.

        Raises:
            HeadwayError: If the tensor is missing.
        """
        if name not in self.stored:
            raise HeadwayError(f"{self.file}: {name} is missing")
        return tuple(self.stored[name].shape)

    def get(self, name: str) -> Tensor:
        """Return a tensor in fp32; a rounded one is multiplied by its scale.

        Raises:
            HeadwayError: If the tensor is missing.
        """
        self.shape(name)
        self._used |= {name, f"{name}_scale"}
        stored, scale = self.stored[name], self.stored.get(f"{name}_scale")
        value = self._converted.get((id(stored), id(scale)))
        if value is None:
            value = self._converted[id(stored), id(scale)] = self._convert(name, stored, scale)
        return value

    def get_optional(self, name: str) -> Tensor | None:
        """Do what `get` does, but return None if the tensor is missing."""
        return self.get(name) if name in self.stored else None

    def get_as_stored(self, name: str) -> Tensor | None:
        """Return a tensor as it is in the file; None if it is missing."""
        self._used.add(name)
        return self.stored.get(name)

    def _convert(self, name: str, stored: Tensor, scale: Tensor | None) -> Tensor:
        value = stored.float()
        if scale is None:
            return value
        if scale.dim() > 1 or (scale.dim() == 1 and scale.size(0) != value.size(0)):
            raise HeadwayError(f"{self.file}: {name}_scale has shape {tuple(scale.shape)}")
        return value / scale.float().reshape(-1, *[1] * (value.dim() - 1))

    def get_number(self, name: str, default: float | None = None) -> float:
        """Return a single number.

        Raises:
            HeadwayError: If the variable is not a single number, or missing without a default.
        """
        value = self.stored.get(name)
        self._used.add(name)
        if value is None and default is not None:
            return default
        if value is None or value.numel() != 1 or value.dim() > 1:
            raise HeadwayError(f"{self.file}: {name} is missing, or not a number")
        if not value.isfinite():
            raise HeadwayError(f"{self.file}: {name} is not a finite number")
        return float(value)

    def count_layers(self, side: str) -> int:
        """Count the layers of the encoder or the decoder."""
        count = 0
        while f"{side}/layer_{count}/ffn/linear_0/weight" in self.stored:
            count += 1
        return count

    def check_all_used(self) -> None:
        """Check that no variable is left over.

        Raises:
            HeadwayError: Naming a variable of a part that Headway does not have.
        """
        for name in sorted(self.stored.keys() - self._used):
            last = name.rsplit("/", 1)[-1]
            is_off = last in IGNORED_IF_ZERO and not self.stored[name].any()
            if last not in IGNORED and not is_off:
                raise HeadwayError(f"{self.file}: {name}: a Headway model has no such part")
