"""Models on the Hugging Face hub, by their names.

Only files that cannot run code are downloaded: settings, vocabularies, model cards and safetensors. The
package ``huggingface_hub`` keeps them in its cache and resumes interrupted downloads. Without the
package, or with the variable ``HF_HUB_OFFLINE``, nothing is downloaded.
"""

import logging
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from headway import __version__
from headway.errors import HeadwayError
from headway.ext.exchange.json_file import read_optional_json_object

NAME = re.compile(r"(hf:)?([A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(?:@([\w./-]+))?")
SETTINGS = ("*.json", "*.md", "*.txt", "*.model", "*.spm")
# Usual names of directories with models. A path in them is never the name of a model on the hub.
LOCAL = frozenset({"runs", "models", "checkpoints", "data", "out"})

Notify = Callable[[str], None]


def log_notice(line: str) -> None:
    """Log a message as a warning, which Python shows by default."""
    logging.getLogger(__name__).warning("%s", line)


def parse_name(word: str | Path) -> tuple[str, str | None]:
    """Return the name of a model on the hub, and the revision if there is one.

    Raises:
        HeadwayError: If the word is a file, or probably a mistyped path.
    """
    path = Path(word)
    if path.exists():
        raise HeadwayError(f"{path} is a file, not a run or model directory")
    missing = f"{word}: no such directory: give a run or model directory"
    match = NAME.fullmatch(str(word))
    if not match:
        raise HeadwayError(missing)
    by_name, name, revision = match.groups()
    if not by_name and (path.parent.is_dir() or path.parts[0] in LOCAL):
        # The model of a stranger must not take the place of a mistyped path.
        raise HeadwayError(f"{missing}, or hf:{word} for a model on the Hugging Face hub")
    return name, revision


def download_settings(word: str | Path, notify: Notify = log_notice) -> Path:
    """Download a model from the hub without its weights, and return the directory.

    Args:
        word: A name that is no local directory.
        notify: Called with the name, the revision and the directory.

    Raises:
        HeadwayError: If there is no such model, or the hub cannot be asked; see `parse_name`.
    """
    name, revision = parse_name(word)
    found = _snapshot(word, revision, SETTINGS)
    notify(f"{name}: from the Hugging Face hub, revision {found.name}, downloaded to {found}")
    return found


def download_weights(word: str | Path, settings: Path) -> Path:
    """Download the weights of a model into the directory of its settings; return that directory.

    Args:
        word: As for `download_settings`.
        settings: The directory that it returned, which is named after the revision.

    Raises:
        HeadwayError: If the model cannot be imported, or has its weights as a pickle only.
    """
    values = read_optional_json_object(settings / "config.json")
    model_type = values.get("model_type")
    weights, others = "model.safetensors", list[str]()
    if {"format", "settings"} <= values.keys():
        others = ["shortlist.safetensors"]
    elif model_type is None and any(settings.glob("*_vocabulary.*")):
        weights = "model.bin"  # CTranslate2's own format
    elif model_type != "marian":
        raise HeadwayError(
            f"{word}: no model that can be imported"
            + (f" (model_type {str(model_type)[:40]!r})" if model_type else "")
            + "; Marian's, CTranslate2's and Headway's own can"
        )
    directory = _snapshot(word, settings.name, (weights, *others))
    if not others and not (directory / weights).is_file():
        raise HeadwayError(
            f"{word}: no {weights} there; pickled weights (pytorch_model.bin) are not downloaded:"
            " save it with transformers, which writes safetensors, and headway import that"
        )
    return directory


def _snapshot(word: str | Path, revision: str | None, files: Sequence[str]) -> Path:
    name, _ = parse_name(word)
    try:
        import huggingface_hub
        from huggingface_hub import constants
        from huggingface_hub.errors import RepositoryNotFoundError
    except ImportError:
        raise HeadwayError(
            f"{word}: no such directory: give a run or model directory (or a name on the Hugging Face"
            ' hub, which needs pip install "headway[hub]")'
        ) from None
    missing = f"{word}: no such directory"
    offline = constants.HF_HUB_OFFLINE
    try:
        found = huggingface_hub.snapshot_download(
            name,
            revision=revision,
            allow_patterns=list(files),
            ignore_patterns=["*/*"],
            library_name="headway",
            library_version=__version__,
            local_files_only=offline,
        )
    except RepositoryNotFoundError:
        raise HeadwayError(f"{missing}, and no such model on the Hugging Face hub") from None
    except Exception as error:  # several types: no network, no such revision, full disk
        if offline:
            raise HeadwayError(
                f"{missing}, and no downloaded model of this name (HF_HUB_OFFLINE is set)"
            ) from None
        lines = filter(None, (line.strip() for line in str(error).splitlines()))
        said = next(lines, type(error).__name__)
        raise HeadwayError(f"{missing}, and the Hugging Face hub reports: {said}") from None
    return Path(found)
