"""What must be the same when a run is resumed: its settings, its text and its prepared data."""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from headway.config import Config
from headway.config.declaration import spell
from headway.errors import HeadwayError
from headway.text.groups import list_files, require_pair
from headway.text.languages import list_pairs
from headway.text.prepared import PreparedData
from headway.training.starting.request import RunRequest
from headway.training.storage.record import CHANGEABLE, InitialModel, RunRecord, hash_files
from headway.translation.directory import CONFIG, read_config

# The fields of a `DataRecord` that a run keeps, with the words for one that differs.
FACTS = {
    "tokenizer": "the subwords (*.model) are",
    "fingerprint": "the token ids (train, valid) are",
    "tokenizer_files": "the vocabulary (*.model) is",
    "validation_text": "the validation text (valid.source, valid.target) is",
    "languages": "languages in data.json is",
    "origins": "origins in data.json is",
}


def list_edits(path: Path, recorded: Config) -> list[str]:
    """Return a notice if ``config.json`` has other settings than ``run.json``: a resume writes the file again.

    Args:
        path: The run directory.
        recorded: The settings that ``run.json`` has.
    """
    file = path / CONFIG
    with suppress(HeadwayError):  # damaged
        if not os.path.lexists(file) or read_config(path).config == recorded:
            return []
    return [
        f"{file}: changed since the run wrote it, and written again: give new settings on the command line"
    ]


def list_differences(stored: Config, wanted: Config) -> list[str]:
    """Return a phrase for each setting that differs."""
    return [
        f"{section}.{name} is {spell(getattr(getattr(stored, section), name))}, not {spell(value)}"
        for section, values in wanted.to_dict().items()
        for name, value in values.items()
        if value != getattr(getattr(stored, section), name)
    ]


def refuse(path: Path, differences: list[str], data: Path) -> None:
    """Refuse to resume a run that would not be the same.

    Args:
        path: The run directory.
        differences: A phrase for each; none: nothing is refused.
        data: The directory with the prepared data of the run; it serves another run, unless its text is another.
    """
    if differences:
        is_of_text = any(not phrase.startswith(("model.", "training.")) for phrase in differences)
        again = "" if is_of_text else f" (with --data {data} its data need not be prepared again)"
        raise HeadwayError(
            f"{path}: a run keeps its settings and data, but {'; '.join(differences)}: only"
            f" {', '.join(CHANGEABLE)}, search may change; for all else start another RUN{again}"
        )


def check_same_run(path: Path, data: PreparedData, before: RunRecord, now: RunRecord) -> None:
    """Check that a run that goes on would be the same.

    Args:
        path: The run directory.
        data: The data of the run now.
        before: The record of the run.
        now: The same with what is known now.

    Raises:
        HeadwayError: If not; it names the file, or the settings, that are others.
    """
    old, new = asdict(before.data), asdict(now.data)
    for name, what in FACTS.items():
        if old[name] != new[name]:
            raise HeadwayError(
                f"{data.directory}: {what} not what {path} was started with: restore the data, or start another RUN"
            )
    changes = [
        change
        for change in list_differences(before.settings, now.settings)
        if change.split()[0] not in CHANGEABLE and not change.startswith("search.")
    ]
    refuse(path, changes, data.directory)


def list_other_requests(request: RunRequest, record: RunRecord, data: PreparedData) -> list[str]:
    """Return a phrase for each option of the text, or of the initial model, that is not what the run was started with."""
    own, init = [group.languages for group in data.groups], record.init
    wanted = [request.languages] if request.languages else []
    if isinstance(request.train, Mapping):
        wanted = sorted(map(require_pair, request.train))
    known = {"languages": list_pairs(own), **data.form}
    given = {"languages": list_pairs(wanted), **request.form.to_words()}
    differences = [
        f"--{name} was {known.get(name, 'not given')}, not {words}"
        for name, words in given.items()
        if words and words != known.get(name)
    ]
    for name, text in (("train", request.train), ("valid", request.valid)):
        files, recorded = hash_files(list_files(text)), record.files[name]
        if files and list(files.values()) != list(recorded.values()):
            started = " ".join(recorded) or "not given"
            differences.append(f"--{name} {' '.join(files)} is other text than before ({started})")
    if isinstance(request.valid, int):
        pairs, held_out = request.valid * max(1, len(wanted)), record.data.validation_pairs
        if record.files["valid"] or pairs != held_out:
            started = " ".join(record.files["valid"]) or f"{held_out} pairs held out"
            differences.append(f"--valid was {started}, not {pairs} pairs held out")
    if request.vocabulary:
        from headway.training.starting.given_vocabulary import GivenVocabulary

        given_one = GivenVocabulary.read(request.vocabulary, data.tokenizer.target_languages)
        if given_one.tokenizer.fingerprint != data.tokenizer.fingerprint:
            differences.append("--vocabulary has other subwords")
    if request.init and InitialModel.describe(request.init).sha256 != (init and init.sha256):
        started = init.path if init else "not given"
        differences.append(f"--init {request.init} has other weights than before ({started})")
    return differences
