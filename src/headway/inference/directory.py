"""A model directory: all that turns raw text into raw text, and nothing that can run code.

``config.json``, ``model.safetensors``, ``tokenizer.model`` (or ``source.model`` and
``target.model``) and ``README.md``, the model card. A run directory holds the same files.
"""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from headway import __version__, config
from headway.config import Config
from headway.errors import HeadwayError
from headway.files import replace_text
from headway.inference import hub
from headway.inference.weights import read_network, write_weights
from headway.model import Network, Transformer
from headway.text.labels import load_tokenizer
from headway.text.tokenizer import Tokenizer

FORMAT = 1
CONFIG = "config.json"
CARD = "README.md"
MAX_CONFIG_BYTES = 1 << 20


@dataclass(frozen=True)
class Model:
    """What a model directory holds.

    Attributes:
        transformer: The network, with its weights.
        tokenizer: Raw text to ids and back.
        config: All settings it was trained with.
        languages: Codes of source and target, such as ("en", "de").
        path: Where it was read from.
    """

    transformer: Transformer
    tokenizer: Tokenizer
    config: Config
    languages: tuple[str, str]
    path: Path


def save_model(
    directory: str | Path,
    model: Network,
    tokenizer: Tokenizer,
    settings: Config,
    languages: tuple[str, str],
    card: str,
) -> None:
    """Write a model directory; each file replaces an older one at once or not at all.

    Args:
        directory: Made if it is not there.
        model: Its weights are written as float32.
        tokenizer: Written beside.
        settings: The run's.
        languages: Codes of source and target.
        card: The model card, Markdown.
    """
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    tokenizer.save(directory)
    write_config(directory, settings, languages)
    replace_text(directory / CARD, card)
    weights = {n: t.detach().float().cpu().contiguous() for n, t in model.state_dict().items()}
    write_weights(directory / "model.safetensors", weights)


def write_config(
    directory: str | Path, settings: Config, languages: tuple[str, str], name: str = CONFIG
) -> None:
    """Write ``config.json``, or a file of another name that holds the same."""
    values = {
        "format": FORMAT,
        "headway": __version__,
        "languages": list(languages),
        "settings": settings.to_dict(),
    }
    replace_text(Path(directory) / name, json.dumps(values, indent=2) + "\n")


def load_model(path: str | Path) -> Model:
    """Read a run or model directory of a translator; see `load_network`.

    Raises:
        HeadwayError: If it is another kind of model, too.
    """
    network, tokenizer, settings, languages, path = load_network(path)
    if not isinstance(network, Transformer):
        verb = {"classifier": "headway classify", "language-model": "headway lm"}
        kind = settings.model.kind
        raise HeadwayError(f"{path}: a {kind.replace('-', ' ')}, no translator: use {verb[kind]}")
    return Model(network, tokenizer, settings, languages, path)


def load_network(
    path: str | Path,
) -> tuple[Network, Tokenizer, Config, tuple[str, str], Path]:
    """Read a run or model directory of any kind of model, or one by its name: see `hub.find_model`.

    The weights' names and shapes are compared with the configuration before any memory is spent.

    Returns:
        The fields of `Model`.

    Raises:
        HeadwayError: Naming the file that is missing, foreign or damaged.
    """
    path = hub.find_model(path)
    settings, languages = read_config(path)
    weights = path / "model.safetensors"
    if not weights.is_file():
        hint = (
            ": training has not reached its first validation"
            if (path / "run.json").exists()
            else ""
        )
        raise HeadwayError(f"{path}: no model.safetensors{hint}")
    tokenizer = load_tokenizer(path)
    sizes = tokenizer.source_vocab_size, tokenizer.target_vocab_size
    shape = settings.model
    for name, size in zip(("source_vocab_size", "target_vocab_size"), sizes, strict=True):
        if getattr(shape, name) not in (0, size):
            raise HeadwayError(
                f"{path / 'config.json'}: {name} = {getattr(shape, name)}, but the tokenizer has {size}"
            )
    shape = replace(shape, source_vocab_size=sizes[0], target_vocab_size=sizes[1])
    network = read_network(weights, shape)
    return network, tokenizer, replace(settings, model=shape), languages, path


def read_config(path: Path, name: str = CONFIG) -> tuple[Config, tuple[str, str]]:
    """Read the settings and languages of a run or model directory.

    Args:
        path: The directory.
        name: Of the file.

    Raises:
        HeadwayError: If ``config.json`` is missing, damaged, or of another program or format.
    """
    file = path / name
    if not path.exists():
        raise HeadwayError(f"{path}: no such directory")
    if not file.is_file():
        raise HeadwayError(f"{path}: no {name}: not a run or model directory of Headway")
    if file.stat().st_size > MAX_CONFIG_BYTES:
        raise HeadwayError(f"{file}: larger than any configuration ({MAX_CONFIG_BYTES} bytes)")
    try:
        values: Any = json.loads(file.read_bytes().decode("utf-8"))
    except OSError as error:
        raise HeadwayError(f"{file}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise HeadwayError(f"{file}: not JSON: {str(error).splitlines()[0]}") from None
    if not isinstance(values, dict) or "settings" not in values or "format" not in values:
        raise HeadwayError(f"{file}: not written by Headway: it has no format and settings")
    if values["format"] != FORMAT:
        raise HeadwayError(
            f"{file}: format {values['format']!r}, but this Headway reads format {FORMAT}"
        )
    languages = values.get("languages")
    if not (
        isinstance(languages, list)
        and len(languages) == 2
        and all(isinstance(code, str) for code in languages)
    ):
        raise HeadwayError(f"{file}: languages must be two codes, such as ['en', 'de']")
    if not isinstance(values["settings"], dict):
        raise HeadwayError(f"{file}: settings must be an object")
    return config.from_dict(values["settings"], str(file)), (languages[0], languages[1])
