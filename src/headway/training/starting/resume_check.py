"""What must be the same when a run is resumed: its settings, its text and its prepared data."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from headway import config
from headway.config import Config
from headway.config.declaration import spell
from headway.errors import HeadwayError
from headway.files import OtherVersionError, check_writer
from headway.text.groups import list_files, require_pair
from headway.text.languages import list_pairs
from headway.text.prepared import PreparedData
from headway.training.starting.request import RunRequest
from headway.training.storage.record import CHANGEABLE, InitialModel, RunRecord, hash_files
from headway.translation.directory import CONFIG, read_config


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
    if list_forbidden_changes(recorded, found):
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


def list_forbidden_changes(stored: Config, wanted: Config) -> list[str]:
    """Return a phrase for each setting that differs and may not."""
    return [
        change
        for change in list_differences(stored, wanted)
        if change.split()[0] not in CHANGEABLE and not change.startswith("search.")
    ]


def refuse(path: Path, differences: list[str], data: str | Path) -> None:
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
    where = str(path / "run.json")
    stored, wanted = (config.from_dict(record.settings, where) for record in (before, now))
    refuse(path, list_forbidden_changes(stored, wanted), data.directory)


# What differs -> its words, the first of them that differs is said.
FACTS = {
    "tokenizer": "the subwords (*.model) are",
    "fingerprint": "the token ids (train, valid) are",
    "tokenizer_files": "the vocabulary (*.model) is",
    "validation_text": "the validation text (valid.source, valid.target) is",
    "languages": "languages in data.json is",
    "origins": "origins in data.json is",
}


def list_other_text(request: RunRequest, record: RunRecord, data: PreparedData) -> list[str]:
    """Return a phrase for each difference between the text that a request names and the text of the run."""
    own = [group.languages for group in data.groups]
    given, groups = [request.languages] if request.languages else [], 1
    if isinstance(request.train, Mapping):
        given, groups = sorted(map(require_pair, request.train)), len(request.train)
    differences = []
    if given not in ([], own):
        differences.append(f"its languages are {list_pairs(own)}, not {list_pairs(given)}")
    differences += [
        f"--{name} was {data.form.get(name, 'not given')}, not {words}"
        for name, words in request.form.to_words().items()
        if data.form.get(name) != words
    ]
    if differences:  # which may be why other files are given, or in another order
        return differences
    differences = _list_other_files(record.files["train"], list_files(request.train))
    validation, held_out = record.files["valid"], record.data.validation_pairs
    if not isinstance(request.valid, int):
        differences += _list_other_files(validation, list_files(request.valid))
    elif validation:
        text = " ".join(validation)
        differences.append(f"its validation text is {text}, not {request.valid} held-out pairs")
    elif (wanted := request.valid * groups) != held_out:
        differences.append(f"{held_out} validation pairs were held out, not {wanted}")
    if request.vocabulary:
        from headway.training.starting.given_vocabulary import GivenVocabulary

        vocabulary = GivenVocabulary.read(request.vocabulary, data.tokenizer.target_languages)
        if vocabulary.tokenizer.fingerprint != data.tokenizer.fingerprint:
            differences.append("--vocabulary has other subwords")
    return differences


def _list_other_files(recorded: Mapping[str, str], paths: list[str]) -> list[str]:
    """Return a phrase for each of the files if they are not those the data was prepared from.

    Args:
        recorded: File name -> sha256, as the run recorded them.
        paths: The files given now; none: nothing to compare.
    """
    given = hash_files(paths)
    if not given or list(given.values()) == list(recorded.values()):
        return []
    return [f"{name} is another file than before" for name in given]


def list_other_initial(request: RunRequest, record: RunRecord) -> list[str]:
    """Return a phrase if a run did not start from the model of ``--init``."""
    if not request.init:
        return []
    if record.init is None:
        return [f"it did not start from --init {request.init}"]
    if InitialModel.describe(request.init).sha256 == record.init.sha256:
        return []
    return [
        f"--init {request.init} has other weights than {record.init.path}, from which it started"
    ]
