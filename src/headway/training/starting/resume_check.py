"""What must be the same when a run is resumed: its settings, its text and its prepared data."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from headway.config import Config
from headway.errors import HeadwayError
from headway.text.groups import list_files, require_pair
from headway.text.languages import list_pairs
from headway.text.prepared import PreparedData
from headway.training.starting.plan import RunPlan
from headway.training.starting.request import RunRequest
from headway.training.storage.record import (
    CHANGEABLE,
    InitialModel,
    RunRecord,
    hash_files,
    list_differences,
)
from headway.translation.directory import CONFIG, read_config

SHOWN = 5  # differences in a message


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


def check_same_run(plan: RunPlan, now: RunRecord, data: PreparedData) -> None:
    """Check that a run that goes on would be the same.

    Args:
        plan: Of the run.
        now: The record of the run with what is asked for and found now.
        data: The data of the run; it serves another run, unless its text is another.

    Raises:
        HeadwayError: If it would not; it names the settings, options and files that are others.
    """
    assert plan.record
    differences = list_other_requests(plan.request, plan.record, data)
    differences += list_differences(plan.record.list_facts(), now.list_facts())
    if differences:
        is_of_text = any(not phrase.startswith(("model.", "training.")) for phrase in differences)
        again = f" (with --data {data.directory} its data need not be prepared again)"
        rest = len(differences) - SHOWN
        shown = [*differences[:SHOWN], *([f"{rest} others differ, too"] if rest > 0 else [])]
        raise HeadwayError(
            f"{plan.directory.path}: a run keeps its settings and its data ({data.directory}), but"
            f" {'; '.join(shown)}: only {', '.join(CHANGEABLE)}, search may change; for all else restore what it"
            f" was started with, or start another RUN{'' if is_of_text else again}"
        )


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
        from headway.training.starting.given_vocabulary import read_vocabulary

        tokenizer, _ = read_vocabulary(request.vocabulary, data.tokenizer.target_languages)
        if tokenizer.fingerprint != data.tokenizer.fingerprint:
            differences.append("--vocabulary has other subwords")
    if request.init and InitialModel.describe(request.init).sha256 != (init and init.sha256):
        started = init.path if init else "not given"
        differences.append(f"--init {request.init} has other weights than before ({started})")
    return differences
