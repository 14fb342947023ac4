"""Model directories: all that a model needs, and nothing that can run code.

``config.json``, ``model.safetensors``, ``tokenizer.model`` (or ``source.model`` and
``target.model``) and ``README.md``, the model card. A run directory holds the same files.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeGuard

from headway import __version__, config
from headway.config import Config
from headway.errors import HeadwayError
from headway.extension import load_all
from headway.files import check_format, check_writer, read_json, remove, replace_text
from headway.model import Network, Transformer
from headway.text.languages import CODE, Languages, list_pairs, name_pair
from headway.text.tokenizer import Tokenizer, check_symbols, load_tokenizer
from headway.translation.weights import read_network, write_weights

FORMAT = 1
CONFIG = "config.json"
CARD = "README.md"
WEIGHTS = "model.safetensors"
MAX_CONFIG_BYTES = 1 << 20


class ForeignModelError(HeadwayError):
    """The directory holds no settings of Headway."""


@dataclass(frozen=True)
class Model:
    """A model of any kind: the content of a model directory.

    Attributes:
        network: With its weights.
        tokenizer: Turns raw text into token ids and back.
        config: The settings of its training.
        languages: Codes of source and target, such as ("en", "de").
        path: The directory.
        pairs: All pairs of languages that a model of several was trained on; ``languages`` is the first.
        origin: The program that trained it, such as "Marian", if its training and its text are not known; otherwise "".
    """

    network: Network
    tokenizer: Tokenizer
    config: Config
    languages: Languages
    path: Path
    pairs: tuple[Languages, ...] = ()
    origin: str = ""

    @property
    def targets(self) -> list[str]:
        """The target languages of a model of several pairs, each once."""
        return list(dict.fromkeys(target for _, target in self.pairs))

    def choose(self, pair: Languages) -> "Model":
        """Return the model for one of its pairs, so that its text needs no symbol.

        Raises:
            HeadwayError: If it was not trained on this pair.
        """
        if not self.pairs and pair == self.languages:
            return self
        if pair not in self.pairs:
            trained = list_pairs(self.pairs or [self.languages])
            raise HeadwayError(f"{self.path}: {name_pair(pair)} was not trained, but {trained}")
        return replace(self, languages=pair, pairs=(pair,))

    @property
    def transformer(self) -> Transformer:
        """The network of a translation model."""
        assert isinstance(self.network, Transformer), "load_model returns a translation model"
        return self.network


def save_model(
    directory: str | Path,
    model: Network,
    tokenizer: Tokenizer,
    settings: Config,
    languages: tuple[str, str],
    card: str,
    pairs: Sequence[Languages] = (),
    origin: str = "",
) -> None:
    """Write a model directory; each file is written atomically, and the weights last: without them it is no model.

    Args:
        directory: Created if it does not exist.
        model: The network; its weights are written as float32.
        tokenizer: Its vocabularies are written too.
        settings: The settings of the training.
        languages: Codes of source and target.
        card: The model card, in Markdown.
        pairs: All pairs of languages of a model of several.
        origin: The program that trained it; see `Model`.
    """
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    # With the new vocabulary, the weights of an older model would translate to nonsense.
    remove(directory / WEIGHTS)
    tokenizer.save(directory)
    write_config(directory, settings, languages, pairs=pairs, origin=origin)
    replace_text(directory / CARD, card)
    weights = {n: t.detach().float().cpu().contiguous() for n, t in model.state_dict().items()}
    write_weights(directory / WEIGHTS, weights)


def write_config(
    directory: str | Path,
    settings: Config,
    languages: Languages,
    name: str = CONFIG,
    pairs: Sequence[Languages] = (),
    origin: str = "",
) -> None:
    """Write settings and languages to ``config.json``, or to a file of another name."""
    values = {
        "format": FORMAT,
        "headway": __version__,
        "languages": list(languages),
        **({"pairs": [list(pair) for pair in pairs]} if pairs else {}),
        **({"origin": origin} if origin else {}),
        "settings": settings.to_dict(),
    }
    replace_text(Path(directory) / name, json.dumps(values, indent=2) + "\n")


def load_model(path: str | Path) -> Model:
    """Read the run or model directory of a translation model; see `load_any_model`.

    Raises:
        HeadwayError: If a file is missing or damaged, or the model is of another kind.
    """
    model = load_any_model(path)
    if not isinstance(model.network, Transformer):
        shape = model.config.model
        raise HeadwayError(
            f"{model.path}: a {shape.kind_name}, not a translation model: use {shape.verb}"
        )
    return model


def load_any_model(path: str | Path) -> Model:
    """Read the run or model directory of a model of any kind.

    Args:
        path: A directory, or the name of a Headway model on the Hugging Face hub:
            ``[hf:]ORGANIZATION/NAME[@REVISION]``.

    Raises:
        HeadwayError: If a file is missing, damaged or of another program; the message names it.
    """
    word, path = str(path), Path(path)
    if path.is_dir():
        try:
            stored = read_config(path)
        except ForeignModelError as error:
            raise HeadwayError(
                f"{error}; headway import converts models of other programs"
            ) from None
    else:
        sources = [source for _, source in load_all("models")]
        if not sources:
            raise HeadwayError(f"{word}: no such directory: give a run or model directory")
        found: Path = sources[0].download_settings(word)
        path = found
        try:
            stored = read_config(path)
        except ForeignModelError:
            raise HeadwayError(
                f"{word}: a model of another program: convert it with headway import {word} OUT"
            ) from None
        sources[0].download_weights(word, path)
    weights = path / WEIGHTS
    if not weights.is_file():
        hint = ""
        if (path / "run.json").exists():
            first = min(stored.config.training.validate_every, stored.config.training.max_steps)
            hint = f": the run has not reached its first validation, which comes at step {first}: headway train {path} goes on"
        raise HeadwayError(f"{path}: no model.safetensors{hint}")
    tokenizer = load_tokenizer(path, stored.config.model.kind)
    sizes = tokenizer.source_vocab_size, tokenizer.target_vocab_size
    settings, languages, pairs, origin = stored
    shape = settings.model
    for name, size in zip(("source_vocab_size", "target_vocab_size"), sizes, strict=True):
        if getattr(shape, name) not in (0, size):
            raise HeadwayError(
                f"{path / 'config.json'}: {name} = {getattr(shape, name)}, but the tokenizer has {size}"
            )
    try:
        check_symbols([target for _, target in pairs], tokenizer)
    except HeadwayError as error:
        raise HeadwayError(f"{path / CONFIG}: pairs: {error}") from None
    if pairs:
        tokenizer = tokenizer.as_literal()
    shape = replace(shape, source_vocab_size=sizes[0], target_vocab_size=sizes[1])
    network = read_network(weights, shape)
    return Model(network, tokenizer, replace(settings, model=shape), languages, path, pairs, origin)


class StoredConfig(NamedTuple):
    """What ``config.json`` holds.

    Attributes:
        config: The settings.
        languages: Codes of source and target.
        pairs: The pairs of languages of a model of several; none for another model.
        origin: The program that trained it; see `Model`.
    """

    config: Config
    languages: Languages
    pairs: tuple[Languages, ...]
    origin: str


def read_config(path: Path, name: str = CONFIG) -> StoredConfig:
    """Read the settings and languages of a run or model directory.

    Args:
        path: The directory.
        name: Name of the file.

    Raises:
        ForeignModelError: If ``config.json`` is missing or of another program.
        OtherVersionError: If another Headway wrote the file, and this one does not understand it.
        HeadwayError: If there is no directory, or the file is damaged.
    """
    values = _read_values(path, name)
    file, languages, settings = path / name, values.get("languages"), values["settings"]
    pairs, origin = values.get("pairs", []), values.get("origin", "")
    with check_writer(file, values):
        if not _is_pair(languages):
            raise HeadwayError(f"{file}: languages must be two codes, such as ['en', 'de']")
        if not isinstance(settings, dict):
            raise HeadwayError(f"{file}: settings must be an object")
        if not isinstance(pairs, list) or not all(map(_is_pair, pairs)):
            raise HeadwayError(f"{file}: pairs must be pairs of codes, such as [['en', 'de']]")
        if not isinstance(origin, str):
            raise HeadwayError(f"{file}: origin must be the name of a program")
        stored = config.from_dict(settings, str(file))
    return StoredConfig(
        stored,
        (languages[0], languages[1]),
        tuple((source, target) for source, target in pairs),
        origin,
    )


def _is_pair(value: object) -> TypeGuard[list[str]]:
    """Return whether a value is a pair of codes, which are safe as parts of file names; "" names no language."""
    return (
        isinstance(value, list)
        and len(value) == 2
        and all(isinstance(code, str) and (not code or CODE.fullmatch(code)) for code in value)
    )


def _read_values(path: Path, name: str) -> dict[str, object]:
    file = path / name
    if not path.exists():
        raise HeadwayError(f"{path}: no such directory")
    if not file.is_file():
        raise ForeignModelError(f"{path}: no {name}: not a run or model directory of Headway")
    values = read_json(file, MAX_CONFIG_BYTES)
    if not isinstance(values, dict) or "settings" not in values or "format" not in values:
        raise ForeignModelError(f"{file}: not written by Headway: it has no format and settings")
    check_format(file, values, FORMAT)
    return values
