"""What must be the same when a run is resumed: its settings, its text and its prepared data."""

import json
from pathlib import Path

from headway import config
from headway.config import Config
from headway.config.setting import spell
from headway.errors import HeadwayError
from headway.file_format import OtherVersionError, check_writer
from headway.text.prepared import PreparedData
from headway.training.storage.record import DataRecord, RunRecord, hash_lines
from headway.translation.directory import CONFIG, read_config

# These settings take no part in what a step computes, so a resumed run may change them. Two do, and a notice says so:
# max_steps if the learning rate cools (`headway.training.steps.optimizers.warn_if_rate_rises`), and shard, which may add
# up gradients in another order (`headway.training.steps.sharding`).
MAY_CHANGE = (
    "training.max_steps", "training.patience", "training.average", "training.threads",
    "training.tensorboard", "training.shard", "search",
)  # fmt: skip


def read_settings(path: Path, record: RunRecord) -> tuple[Config, list[str]]:
    """Return the settings of a run, after comparing ``config.json`` with what ``run.json`` records.

    A setting that may change is no error: a resume that was killed may have recorded a new one in
    ``run.json`` only. A resume writes ``config.json`` again.

    Args:
        path: The run directory; it may have no ``config.json``.
        record: The run's record.

    Returns:
        The recorded settings, and what the user should know, a line each.

    Raises:
        HeadwayError: If ``config.json`` is damaged or changed; it names what differs.
    """
    file = path / CONFIG
    with check_writer(path / "run.json", {"headway": record.headway}):
        recorded = config.from_dict(record.settings, str(path / "run.json"))
    if not file.exists():
        return recorded, []
    way_out = "delete the file, which the next resume writes again, and give new settings on the command line"
    if not file.is_file():
        raise HeadwayError(f"{file}: not a file: {way_out}")
    try:
        found = read_config(path).config
    except OtherVersionError:
        raise
    except HeadwayError as error:
        raise HeadwayError(f"{str(error).splitlines()[0]}: {way_out}") from None
    if list_changes(recorded, found):
        changes = "; ".join(list_differences(recorded, found))
        raise HeadwayError(f"{file}: changed since the run wrote it: {changes}: {way_out}")
    return recorded, [
        f"{file}: {change}, as the run recorded: the file is written again; give new settings on the"
        " command line"
        for change in list_differences(found, recorded)
    ]


def list_differences(stored: Config, wanted: Config) -> list[str]:
    """Return a phrase for each setting that differs."""
    return [
        f"{section}.{name} is {spell(getattr(getattr(stored, section), name))}, not {spell(value)}"
        for section, values in wanted.to_dict().items()
        for name, value in values.items()
        if value != getattr(getattr(stored, section), name)
    ]


def list_changes(stored: Config, wanted: Config) -> list[str]:
    """Return a phrase for each setting that differs and may not."""
    return [
        change
        for change in list_differences(stored, wanted)
        if not {change.split(".")[0], change.split()[0]} & set(MAY_CHANGE)
    ]


def identify_run(record: RunRecord) -> str:
    """Return a hash of all that decides the results of a run: settings, data, initial weights and machine."""
    settings = {
        f"{section}.{name}": value
        for section, values in record.settings.items()
        for name, value in values.items()
        if section not in MAY_CHANGE and f"{section}.{name}" not in MAY_CHANGE
    }
    data = record.data
    parts = [
        json.dumps(settings, sort_keys=True),
        *(data.fingerprint, data.tokenizer_files, data.validation_text),
        record.init.sha256 if record.init else "",
        *(record.machine.device, record.machine.precision),
    ]
    return hash_lines(parts)


def check_data(run_directory: Path, data: PreparedData, record: RunRecord) -> None:
    """Check that prepared data is what the run was started with.

    Raises:
        HeadwayError: If its vocabulary, its text or the kind of its model is another.
    """
    recorded, given = record.data, DataRecord.describe(data, run_directory)
    for what, old, new in (
        ("vocabulary", recorded.tokenizer, given.tokenizer),
        ("data", recorded.fingerprint, given.fingerprint),
    ):
        if old != new:
            raise HeadwayError(
                f"{run_directory}: started with other {what} (fingerprint {old[:12]}) than in"
                f" {data.directory} ({new[:12]}): resume the run with the data it was started with,"
                " or start a run in another directory"
            )
    for files, before, now in (
        ("valid.source or valid.target", recorded.validation_text, given.validation_text),
        ("the vocabulary (*.model)", recorded.tokenizer_files, given.tokenizer_files),
    ):
        if before != now:
            raise HeadwayError(
                f"{data.directory}: {files} has changed since the run was started:"
                " restore the files, or start a run in another directory"
            )
    facts: list[tuple[str, object, object]] = [
        ("languages", " and ".join(recorded.languages), " and ".join(given.languages)),
        ("kind", record.settings["model"]["kind"], data.kind),
        ("origins", recorded.origins, given.origins),
    ]
    for name, old_fact, new_fact in facts:
        if old_fact != new_fact:
            raise HeadwayError(
                f"{data.directory / 'data.json'}: {name} is {new_fact}, but was {old_fact} when the run"
                " was started: restore the file"
            )
