"""The variables of a ``model.bin``: read by name, and checked that none is left over."""

from collections.abc import Mapping
from pathlib import Path
from weakref import WeakValueDictionary

from torch import Tensor

from headway.config import Activation
from headway.errors import HeadwayError

# The three tables [V, D], and whether V counts the source's or the target's vocabulary.
TABLES = {
    "encoder/embeddings_0/weight": "source",
    "decoder/embeddings/weight": "target",
    "decoder/projection/weight": "target",
}
MIN_POSITIONS = 1026  # CTranslate2 limits a text to 1,024 tokens by default
ACTIVATIONS: dict[Activation, int] = {
    "relu": 0,
    "swish": 2,
    "gelu": 3,
}  # 1 is an approximation of gelu
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
        self._converted: WeakValueDictionary[int, Tensor] = WeakValueDictionary()

    def get(self, name: str, shape: tuple[int, ...]) -> Tensor:
        """Return a tensor in fp32; a rounded one is multiplied by its scale.

        Raises:
            HeadwayError: If the tensor is missing, or of another shape than this.
        """
        stored, scale = self.find(name), self.stored.get(f"{name}_scale")
        if stored is None:
            raise HeadwayError(f"{self.file}: {name} is missing")
        # A rounded tensor takes four times its memory in fp32, so its shape is checked before it is converted.
        if tuple(stored.shape) != shape:
            raise HeadwayError(
                f"{self.file}: {name} is {tuple(stored.shape)}, and {shape} was expected"
            )
        self._used.add(f"{name}_scale")
        value = self._converted.get(id(stored))
        if value is None:
            value = stored.float()
            if scale is not None:
                if scale.shape not in ((), shape[:1]):
                    raise HeadwayError(f"{self.file}: {name}_scale has shape {tuple(scale.shape)}")
                value = value / scale.float().reshape(-1, *[1] * (value.dim() - 1))
            self._converted[id(stored)] = value
        return value

    def find(self, name: str) -> Tensor | None:
        """Return a tensor as it is in the file; None if it is missing."""
        self._used.add(name)
        return self.stored.get(name)

    def get_number(self, name: str, default: float | None = None) -> float:
        """Return a single number.

        Raises:
            HeadwayError: If the variable is not a single number, or missing without a default.
        """
        value = self.find(name)
        if value is None and default is not None:
            return default
        if value is None or value.numel() != 1 or value.dim() > 1:
            raise HeadwayError(f"{self.file}: {name} is missing, or not a number")
        if not value.isfinite():
            raise HeadwayError(f"{self.file}: {name} is not a finite number")
        return float(value)

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
