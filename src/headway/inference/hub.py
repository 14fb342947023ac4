"""Models by name: what the Hugging Face hub keeps, in place of a directory on this machine.

Only what cannot run code is downloaded: settings, vocabularies, cards, and weights under the names
that are asked for, none of which is a pickle's. ``huggingface_hub`` keeps it in its own cache and goes on
with what was interrupted; without it, or with ``HF_HUB_OFFLINE``, the network is left alone.
"""

import json
import logging
import re
from collections.abc import Callable
from pathlib import Path

from headway import __version__
from headway.errors import HeadwayError

NAME = re.compile(r"(hf:)?([A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(?:@([\w./-]+))?")
SETTINGS = ("*.json", "*.md", "*.txt", "*.model", "*.spm")
WEIGHTS = ("model.safetensors", "shortlist.safetensors")
# Directories that models are kept in: where one is missing, no organisation of the hub is meant.
LOCAL = frozenset({"runs", "models", "checkpoints", "data", "out"})

Say = Callable[[str], None]


def warn(line: str) -> None:
    """Say something in the library's log, where it is seen unless somebody turns it off."""
    logging.getLogger(__name__).warning("%s", line)


def find_model(word: str | Path, say: Say = warn) -> Path:
    """Return the directory of a Headway model: one that is there, else one of that name on the hub.

    Another program's model is not for this room: `headway.exchange.hub.find_any` imports it, and
    the command does so by itself.

    Args:
        word: A path, or ``[hf:]ORGANISATION/NAME[@REVISION]``.
        say: Told which model of the hub it is.

    Raises:
        HeadwayError: If there is neither, or it is of another program.
    """
    path = Path(word)
    if path.is_dir():
        return path
    settings = find_settings(word, say)
    if not is_headways(settings):
        raise HeadwayError(
            f"{word}: a model of another program: headway import {word} OUT, or in Python"
            " headway.exchange.hub.find_any, makes it one of Headway's"
        )
    return add_weights(word, settings, WEIGHTS)


def find_settings(word: str | Path, say: Say = warn) -> Path:
    """Return the hub's snapshot of a model without its weights.

    Args:
        word: A name, of which there is no directory.
        say: Told where it is from, its revision, and where it is kept.

    Raises:
        HeadwayError: If there is none, or it cannot be looked for.
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
        # A mistyped path is more likely, and a stranger's model would answer for it.
        raise HeadwayError(f"{missing}, or hf:{word} for one of the Hugging Face hub")
    found = _snapshot(word, name, revision, SETTINGS)
    say(f"{name}: from the Hugging Face hub, revision {found.name}, kept in {found}")
    return found


def add_weights(word: str | Path, settings: Path, names: tuple[str, ...]) -> Path:
    """Return the same snapshot, with those files in it that are there.

    Args:
        word: As in `find_settings`.
        settings: What that returned, which is named after its commit.
        names: Of files.
    """
    match = NAME.fullmatch(str(word))
    assert match, word
    return _snapshot(word, match[2], settings.name, names)


def is_headways(directory: Path) -> bool:
    """Whether a directory's settings are those of a Headway model."""
    try:
        values = json.loads((directory / "config.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(values, dict) and {"format", "settings"} <= values.keys()


def _snapshot(word: str | Path, name: str, revision: str | None, files: tuple[str, ...]) -> Path:
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
    except Exception as error:  # of several libraries: no network, no such revision, no disk space
        if offline:
            raise HeadwayError(
                f"{missing}, and no downloaded model of this name (HF_HUB_OFFLINE is set)"
            ) from None
        lines = filter(None, (line.strip() for line in str(error).splitlines()))
        said = next(lines, type(error).__name__)
        raise HeadwayError(f"{missing}, and the Hugging Face hub reports: {said}") from None
    return Path(found)
