"""The outside formats, by name; what one needs is imported when it is asked for."""

import importlib
import json
import zipfile
from pathlib import Path
from typing import Protocol, cast

from headway.config import ModelConfig
from headway.errors import HeadwayError, nearest
from headway.inference.directory import MAX_CONFIG_BYTES, Model

FORMATS = ("ctranslate2", "huggingface", "onnx", "argos")
# Programs whose versions say what an export was compared with.
PROGRAMS = {
    "ctranslate2": ("ctranslate2",),
    "huggingface": ("transformers", "safetensors"),
    "onnx": ("onnx", "onnxruntime"),
    "argos": ("ctranslate2", "onnx"),
}


class Runner(Protocol):
    """An export, run by the program it is for."""

    def translate_greedily(self, sources: list[list[int]], limits: list[int]) -> list[list[int]]:
        """Translate Headway's ids greedily, each into at most so many tokens, ``</s>`` included."""

    def log_probs(self, sources: list[list[int]], targets: list[list[int]]) -> list[list[float]]:
        """Return the log-probability of each target token."""


class Writer(Protocol):
    """What the module ``writer`` of a format offers."""

    PRECISIONS: tuple[str, ...]

    def refusals(self, config: ModelConfig) -> list[str]:
        """Return why the format cannot say such a model; nothing: it can, exactly."""

    def write(self, model: Model, out: Path, precision: str) -> list[str]:
        """Write an export; it appears whole or not at all.

        Args:
            model: Not one that `refusals` names a reason for.
            out: Not there yet.
            precision: One of `PRECISIONS`, of the stored weights.

        Returns:
            What to know, and to set for the same ranking.
        """


def load_writer(name: str) -> Writer:
    """Return the module that writes a format.

    Raises:
        HeadwayError: If there is none of that name.
    """
    if name not in FORMATS:
        raise HeadwayError(
            f"{name}: no such format{nearest(name, FORMATS)}; there are {', '.join(FORMATS)}"
        )
    return cast("Writer", importlib.import_module(f"headway.exchange.{name}.writer"))


def load_runner(name: str, path: Path) -> Runner:
    """Load an export into the program it is for.

    Raises:
        HeadwayError: If the program is not installed, or refuses the export.
    """
    module = importlib.import_module(f"headway.exchange.{name}.runner")
    return cast("Runner", module.Runner(path))


def read(path: Path) -> tuple[str, Model]:
    """Read a foreign model, whose format its files tell; returns the format's name, too.

    Raises:
        HeadwayError: Naming the file that is missing, foreign or damaged.
    """
    name = recognise(path)
    module = importlib.import_module(f"headway.exchange.{name}.reader")
    return name, module.read(path)


def recognise(path: Path) -> str:
    """Tell the format of a file or directory.

    Raises:
        HeadwayError: If it is none that can be read.
    """
    if not path.exists():
        raise HeadwayError(f"{path} is not there: give a model's file or directory")
    if path.is_file():
        if zipfile.is_zipfile(path):
            return "argos"
        raise HeadwayError(f"{path}: is a file, but no Argos package: give a model's directory")
    if (path / "metadata.json").is_file() and (path / "model" / "model.bin").is_file():
        return "argos"
    if (path / "model.bin").is_file():
        return "ctranslate2"
    config = path / "config.json"
    if not config.is_file():
        raise HeadwayError(f"{path}: no config.json and no model.bin: not a model that is known")
    if config.stat().st_size > MAX_CONFIG_BYTES:
        raise HeadwayError(f"{config}: larger than any configuration ({MAX_CONFIG_BYTES} bytes)")
    try:
        values = json.loads(config.read_bytes().decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise HeadwayError(f"{config}: not JSON: {str(error).splitlines()[0]}") from None
    if isinstance(values, dict) and "model_type" in values:
        return "huggingface"
    if isinstance(values, dict) and "settings" in values:
        raise HeadwayError(f"{path}: is a Headway model already")
    raise HeadwayError(f"{config}: no model_type: not a model that is known")
