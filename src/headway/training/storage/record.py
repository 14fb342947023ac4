"""What ``run.json`` and ``state.json`` record of a training run: where it came from, what it computes with, and where it is."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from headway.config import Config, TrainingConfig, from_dict
from headway.config.declaration import Role, spell, with_role
from headway.files import hash_file
from headway.text.groups import Manifest
from headway.text.prepared import PreparedData
from headway.training.machine import Machine
from headway.training.validation import ValidationReport

# A resume may change these settings, and all of [search]. The weights of a step do not depend on most of them; on three
# they do, and a notice says so: max_steps if the learning rate cools (`headway.training.steps.optimizers.warn_if_rate_rises`),
# and device and shard, which may add up numbers in another order.
CHANGEABLE = sorted(
    f"training.{name}" for name in with_role(TrainingConfig, Role.SCHEDULE, Role.MACHINE)
)

# What a run keeps of its data, with the words for a message.
DATA_FACTS = {
    "tokenizer": "the subwords (*.model)",
    "fingerprint": "the token ids (train, valid)",
    "tokenizer_files": "the vocabulary (*.model)",
    "validation_text": "the validation text (valid.source, valid.target)",
    "languages": "the languages in data.json",
    "origins": "the origins in data.json",
}


@dataclass(kw_only=True)
class DataRecord:
    """The prepared data of a run.

    Attributes:
        directory: Where it is; None: in the run directory itself.
        fingerprint: A hash of the vocabulary and all token ids.
        tokenizer: A hash of the vocabulary.
        languages: Codes of source and target.
        training_pairs: Number of training pairs.
        validation_pairs: Number of validation pairs.
        origins: The manifests of corpora that were fetched by name: see `headway.ext.corpora`.
        validation_text: A hash of the raw validation text.
        tokenizer_files: A hash of the serialized vocabularies, which also hold the scores of subwords
            and the normalization of text.
    """

    directory: str | None
    fingerprint: str
    tokenizer: str
    languages: list[str]
    training_pairs: int
    validation_pairs: int
    origins: list[Manifest]
    validation_text: str
    tokenizer_files: str

    @classmethod
    def describe(cls, data: PreparedData, run_directory: Path) -> "DataRecord":
        """Describe the data of a run."""
        directory = data.directory.resolve()
        is_inside = directory == (run_directory / "data").resolve()
        return cls(
            directory=None if is_inside else str(directory),
            fingerprint=data.fingerprint,
            tokenizer=data.tokenizer.fingerprint,
            languages=list(data.languages),
            training_pairs=len(data.train),
            validation_pairs=len(data.valid),
            origins=data.origins,
            validation_text=hash_lines([*data.valid_source, *data.valid_target]),
            tokenizer_files=hashlib.sha256(b"".join(data.tokenizer.models)).hexdigest(),
        )


@dataclass(kw_only=True)
class InitialModel:
    """The model whose weights a run starts from.

    Attributes:
        path: Its directory.
        sha256: Of its ``model.safetensors``.
    """

    path: str
    sha256: str

    @classmethod
    def describe(cls, path: str | Path) -> "InitialModel":
        """Describe the model in a directory."""
        path = Path(path).resolve()
        return cls(path=str(path), sha256=hash_file(path / "model.safetensors"))


@dataclass(kw_only=True)
class RunRecord:
    """What ``run.json`` holds.

    Attributes:
        headway: The version of Headway that started the run.
        torch: The version of torch that started the run.
        native: The identity of the native training code: see `headway.extension.identify_arithmetic`.
        command: The command line that started the run.
        files: "train" and "valid" -> file name -> sha256 of the text the data was prepared from.
        data: The prepared data.
        init: The model whose weights the run started from, if there is one.
        machine: What the run computes with.
        processes: Number of ranks that started the run; a resume may have another number.
        installed: The scores of the model in the run directory.
        finished: Whether the run has taken all its steps and averaged its checkpoints.
        learned: The files that it has learned at its end, by steps of extensions.
        settings: The settings of the run.
        models: Name of a file with weights -> its sha256; while the file is replaced, also that of the
            new file.
        identity: A hash of all that decides the results of the run. Each checkpoint has it too, so that
            a checkpoint of another run is recognized.
        minutes: The time that the user has given the run, from which its number of steps followed.
    """

    headway: str
    torch: str
    native: str
    command: list[str]
    files: dict[str, dict[str, str]]
    data: DataRecord
    init: InitialModel | None
    machine: Machine
    processes: int
    installed: ValidationReport | None = None
    finished: bool = False
    learned: list[str] = field(default_factory=list)
    settings: Config
    models: dict[str, list[str]] = field(default_factory=dict)
    identity: str = ""
    minutes: float | None = None

    def list_facts(self) -> dict[str, object]:
        """Return all that decides the results of the run, by the words of a message: settings, data, initial weights, precision.

        Where the words have spaces, the value is a hash, which says nothing to a user.
        """
        settings = flatten(self.settings)
        fixed = {n: v for n, v in settings.items() if n not in CHANGEABLE and n[:7] != "search."}
        data = {words: getattr(self.data, name) for name, words in DATA_FACTS.items()}
        initial = self.init.sha256 if self.init else ""
        return {
            **fixed,
            **data,
            "the initial weights": initial,
            "precision": self.machine.precision,
        }

    def identify(self) -> str:
        """Return a hash of `list_facts`."""
        return hash_lines([json.dumps(self.list_facts(), sort_keys=True)])

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "RunRecord":
        """Read what `to_dict` returned.

        Raises:
            ValueError: If a value has changed.
            TypeError: If a value is missing or unknown.
        """
        own = {name: value for name, value in values.items() if name != "sha256"}
        if values.get("sha256") != hash_lines([json.dumps(own, sort_keys=True)]):
            raise ValueError("changed since it was written")
        parts = {
            "data": DataRecord,
            "init": InitialModel,
            "machine": Machine,
            "installed": ValidationReport,
        }
        found = {name: kind(**own[name]) for name, kind in parts.items() if own.get(name)}
        return cls(**own | found | {"settings": from_dict(own["settings"], "settings")})

    def to_dict(self) -> dict[str, object]:
        """Return the record as plain values for JSON, with a digest of all of them."""
        values = to_values(self) | {"settings": self.settings.to_dict()}
        return {**values, "sha256": hash_lines([json.dumps(values, sort_keys=True)])}


def flatten(settings: Config) -> dict[str, object]:
    """Return settings by their names, such as ``model.d_model``."""
    return {
        f"{section}.{name}": value
        for section, values in settings.to_dict().items()
        for name, value in values.items()
    }


def list_differences(before: Mapping[str, object], now: Mapping[str, object]) -> list[str]:
    """Return a phrase for each fact that differs of two runs (`RunRecord.list_facts`), such as a setting."""
    return [
        f"{name} changed" if " " in name else f"{name} is {spell(before[name])}, not {spell(value)}"
        for name, value in now.items()
        if value != before[name]
    ]


@dataclass(kw_only=True)
class RunState:
    """The numbers that a checkpoint holds beside tensors.

    Attributes:
        epoch: Completed passes over the data.
        block: Blocks of this epoch taken so far; see `headway.training.steps.feed.Position`.
        index: Micro-batches of the next block taken so far.
        failures: Skipped steps in a row.
        skipped: Skipped steps in all.
        roll_backs: Returns to a checkpoint in a row, with few good steps in between.
        rolled_back: The step of the last return.
        validated: The last step that was validated.
        since_best: Validations since the best one.
        best: The best validation.
        series: The steps of the checkpoints that are kept to be averaged at the end.
        metrics_bytes: Length of ``metrics.jsonl`` when the checkpoint was written.
        timings_bytes: Length of ``timings.jsonl``.
        metrics_sha256: Of ``metrics.jsonl``; empty if there is no checkpoint.
    """

    epoch: int = 0
    block: int = 0
    index: int = 0
    failures: int = 0
    skipped: int = 0
    roll_backs: int = 0
    rolled_back: int = 0
    validated: int = 0
    since_best: int = 0
    best: ValidationReport | None = None
    series: list[int] = field(default_factory=list)
    metrics_bytes: int = 0
    timings_bytes: int = 0
    metrics_sha256: str = ""

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "RunState":
        """Return the state from the values of ``state.json``, whose digest was checked before.

        Raises:
            TypeError: If a field of the best validation is missing or unknown.
        """
        names = {known.name for known in fields(cls)} & values.keys()
        best = values.get("best") and ValidationReport(**values["best"])
        return cls(**{name: values[name] for name in names} | {"best": best})


def to_values(stored: Any) -> dict[str, Any]:
    """Return the fields of a dataclass as plain values for JSON."""
    # A model of one pair of languages has no scores of several.
    return asdict(
        stored, dict_factory=lambda items: {n: v for n, v in items if v or n != "bleu_of_pairs"}
    )


def hash_lines(lines: Iterable[str]) -> str:
    """Return the sha256 of lines of text."""
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


def hash_files(paths: Iterable[str]) -> dict[str, str]:
    """Return file name -> sha256; standard input (``-``) is left out."""
    return {path: hash_file(Path(path)) for path in paths if path != "-"}
