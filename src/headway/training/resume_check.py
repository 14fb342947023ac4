"""What must be the same when a run is resumed: its settings, its text and its prepared data."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from headway.config import Config
from headway.errors import HeadwayError
from headway.text.prepared import PreparedData
from headway.training.record import DataRecord, RunRecord, hash_files

# These settings take no part in what a step computes, so a resumed run may change them. The number
# of threads does change the last bits.
MAY_CHANGE = (
    "training.max_steps", "training.patience", "training.average", "training.threads",
    "training.tensorboard", "search",
)  # fmt: skip


def list_changes(stored: Config, wanted: Config) -> list[str]:
    """Return a phrase for each setting that differs and may not."""
    changes = []
    for section, values in wanted.to_dict().items():
        for name, value in values.items():
            old = getattr(getattr(stored, section), name)
            if value != old and not {section, f"{section}.{name}"} & set(MAY_CHANGE):
                changes.append(f"{section}.{name} is {old}, not {value}")
    return changes


def list_other_files(recorded: Mapping[str, str], paths: Sequence[str]) -> list[str]:
    """Return a phrase for each of the files if they are not those the data was prepared from.

    Args:
        recorded: File name -> sha256, as the run recorded them.
        paths: The files given now; none: nothing to compare.
    """
    given = hash_files(paths)
    if not given or list(given.values()) == list(recorded.values()):
        return []
    return [f"{name} is another file than before" for name in given]


def list_other_validation(record: RunRecord, valid: Sequence[str] | int) -> list[str]:
    """Return a phrase if the validation text is not that of a run.

    Args:
        record: The run's record.
        valid: The files given now, or the number of pairs to hold out; none: nothing to compare.
    """
    recorded = record.files["valid"]
    if not isinstance(valid, int):
        return list_other_files(recorded, valid)
    if recorded:
        return [f"its validation text is {' '.join(recorded)}, not {valid} held-out pairs"]
    if valid != record.data.validation_pairs:
        return [f"{record.data.validation_pairs} validation pairs were held out, not {valid}"]
    return []


def check_data(run_directory: Path, data: PreparedData, recorded: DataRecord) -> None:
    """Check that prepared data is what the run was started with.

    Raises:
        HeadwayError: If its vocabulary or its text is another.
    """
    given = DataRecord.describe(data, run_directory)
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
