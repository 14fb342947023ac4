"""What a language model, a classifier and an encoder of sentences share: they are read from a directory, and take raw text."""

from pathlib import Path
from typing import Any, Generic, Self, TypeVar

from headway.devices import resolve_device
from headway.errors import HeadwayError
from headway.model import Network
from headway.text import Tokenizer
from headway.translation import load_any_model

N = TypeVar("N", bound=Network)
T = TypeVar("T", bound=Tokenizer)


class TextModel(Generic[N, T]):
    """A trained network and its tokenizer.

    Args:
        model: In evaluation mode, on its device.
        tokenizer: The tokenizer that it was trained with.

    Attributes:
        NETWORKS: The classes of networks that `load` accepts.
        REFUSED: What `load` says of another network, whose kind stands in place of the braces.
    """

    NETWORKS: tuple[type[Network], ...]
    REFUSED: str

    def __init__(self, model: N, tokenizer: T) -> None:
        self.model, self.tokenizer = model, tokenizer
        self.device = next(model.parameters()).device

    @classmethod
    def load(cls, path: str | Path, device: str = "auto") -> Self:
        """Read a run or model directory, onto a device: auto, cpu, cuda or cuda:N.

        Raises:
            HeadwayError: If the model is of another kind, or there is no such device.
        """
        found = load_any_model(path)
        network: Any = found.network  # the check is of a type that mypy cannot see
        if not isinstance(network, cls.NETWORKS):
            raise HeadwayError(f"{path}: {cls.REFUSED.format(network.config.kind_name)}")
        return cls(network.to(resolve_device(device)), found.tokenizer)  # type: ignore[arg-type]
