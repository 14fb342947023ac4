"""What a run remembers of where it came from, and what it refuses to go on without."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from headway.config import Config
from headway.errors import HeadwayError
from headway.text.prepare import PreparedData
from headway.training.run_directory import RunDirectory

# Settings that are no part of what a step computes, so a run may change them on the way; threads
# change last bits.
MAY_CHANGE = (
    "training.max_steps", "training.patience", "training.average", "training.threads",
    "training.tensorboard", "search",
)  # fmt: skip


def with_vocabulary(config: Config, data: PreparedData) -> Config:
    """Return the settings with the tokenizer's vocabulary sizes, for the kind of model the data is for.

    Raises:
        HeadwayError: If the settings cannot be with them.
    """
    tokenizer = data.tokenizer
    return replace(
        config,
        model=replace(
            config.model,
            kind=data.kind,
            source_vocab_size=tokenizer.source_vocab_size,
            target_vocab_size=tokenizer.target_vocab_size,
        ),
    )


def fill_vocabulary(wanted: Config, stored: Config) -> Config:
    """Return ``wanted`` with what the data decided: vocabulary sizes it leaves open, and the kind."""
    sizes = {
        name: getattr(wanted.model, name) or getattr(stored.model, name)
        for name in ("source_vocab_size", "target_vocab_size")
    }
    return replace(wanted, model=replace(wanted.model, kind=stored.model.kind, **sizes))


def changes(stored: Config, wanted: Config) -> list[str]:
    """Say in words which settings differ that may not."""
    found = []
    for section, values in wanted.to_dict().items():
        for name, value in values.items():
            was = getattr(getattr(stored, section), name)
            if value != was and section not in MAY_CHANGE and f"{section}.{name}" not in MAY_CHANGE:
                found.append(f"{section}.{name} is {was}, not {value}")
    return found


def describe_files(paths: Iterable[str]) -> dict[str, str]:
    """Return name -> sha256 of files that data is prepared from; standard input has none."""
    found = {}
    for path in paths:
        if path != "-":
            with Path(path).open("rb") as file:
                found[path] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def other_files(known: Mapping[str, str], paths: Iterable[str]) -> list[str]:
    """Say which of the files given again are not those the data was prepared from."""
    given = describe_files(paths)
    if not given or list(given.values()) == list(known.values()):
        return []
    return [f"{name} is another file than before" for name in given]


def describe_data(directory: RunDirectory, data: PreparedData) -> dict[str, Any]:
    """Return what identifies prepared data: where it is, and its and its tokenizer's fingerprint."""
    inside = data.directory.resolve() == directory.data.resolve()
    return {
        "directory": None if inside else str(data.directory.resolve()),
        "fingerprint": data.fingerprint,
        "tokenizer": data.tokenizer.fingerprint,
        "languages": list(data.languages),
        "training_pairs": len(data.train),
        "validation_pairs": len(data.valid),
        "origins": data.origins,
    }


def check_data(directory: RunDirectory, data: PreparedData, facts: Mapping[str, Any]) -> None:
    """Refuse other data than the run was started with.

    Raises:
        HeadwayError: Naming what is different.
    """
    was, now = facts["data"], describe_data(directory, data)
    for key, what in (("tokenizer", "vocabulary"), ("fingerprint", "data")):
        if was[key] != now[key]:
            raise HeadwayError(
                f"{directory.path}: started with other {what} ({key} {was[key][:12]}) than in"
                f" {data.directory} ({now[key][:12]}): resume it with what it was started with,"
                " or start a run in another directory"
            )
