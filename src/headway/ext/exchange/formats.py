"""The outside formats by name; the module of a format is imported when it is asked for."""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, cast

from headway.config import ModelConfig
from headway.errors import UsageError, suggest
from headway.translation import Model

# The formats, and the packages with which an export is written and compared; a certificate names their versions.
FORMATS = {
    "ctranslate2": ("ctranslate2",),
    "huggingface": ("transformers", "safetensors"),
    "argos": ("ctranslate2",),
}


class ExportWriter(Protocol):
    """The functions and constants of a format's module ``writer``."""

    PRECISIONS: tuple[str, ...]  # of the stored weights
    USAGE: str  # Markdown: how to load an export in the other program

    # Makes one file of the directory of an export, which gets this path; None: the export is the directory.
    pack: Callable[[Model, Path, Path], None] | None

    def find_refusals(self, config: ModelConfig) -> list[str]:
        """Return the reasons why the format cannot express a model exactly; none: it can."""

    def write(self, model: Model, out: Path, precision: str) -> list[str]:
        """Write the directory of an export; `export_model` removes it if this fails.

        Args:
            model: A model that `find_refusals` accepts.
            out: A path that does not exist yet.
            precision: One of `PRECISIONS`.

        Returns:
            Notes for the user: what differs in the other program, and what to set there.
        """

    def run(self, out: Path) -> "ExportRunner":
        """Load the directory of an export into the program that it is for.

        Raises:
            HeadwayError: If the program is not installed, or cannot load the export.
        """


class ExportRunner(Protocol):
    """An export, run by the program that it is for."""

    def translate_greedily(self, sources: list[list[int]], limits: list[int]) -> list[list[int]]:
        """Translate Headway's ids.

        Args:
            sources: Ids of each sentence, ``</s>`` last.
            limits: The most tokens that each translation may have, ``</s>`` included.
        """

    def log_probs(self, sources: list[list[int]], targets: list[list[int]]) -> list[list[float]]:
        """Return the log-probability of each target token, in nats."""


def load_writer(name: str) -> ExportWriter:
    """Return the module that writes a format.

    Raises:
        UsageError: If there is no format of that name.
    """
    if name == "onnx":
        raise UsageError(
            "--to onnx: Optimum writes ONNX: headway export MODEL --to huggingface DIR, then"
            " optimum-cli export onnx --task text2text-generation-with-past --model DIR OUT (docs/exchange.md)"
        )
    if name not in FORMATS:
        raise UsageError(
            f"{name}: no such format{suggest(name, FORMATS)}; there are {', '.join(FORMATS)}"
        )
    return cast("ExportWriter", importlib.import_module(f"headway.ext.exchange.{name}.writer"))
