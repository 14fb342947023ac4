"""What ``run.json`` records of a training run: where it came from and what it computes with."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from headway.files import hash_file
from headway.text.origins import Manifest
from headway.text.prepared import PreparedData
from headway.training.machine import Machine
from headway.training.validation import ValidationReport


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
        origins: The manifests of corpora that were fetched by name: see `headway.text.corpora`.
    """

    directory: str | None
    fingerprint: str
    tokenizer: str
    languages: list[str]
    training_pairs: int
    validation_pairs: int
    origins: list[Manifest] = field(default_factory=list)

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
        native: The identity of the native training code: see `headway.kernels.build.build_id`.
        command: The command line that started the run.
        files: "train" and "valid" -> file name -> sha256 of the text the data was prepared from.
        data: The prepared data.
        init: The model whose weights the run started from, if there is one.
        machine: What the run computes with.
        processes: Number of ranks.
        installed: The scores of the model in the run directory.
        finished: Whether the run has taken all its steps and averaged its checkpoints.
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

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "RunRecord":
        """Read what `to_dict` returned.

        Raises:
            KeyError, TypeError: If a field is missing or unknown.
        """
        init, installed = values["init"], values["installed"]
        return cls(
            **{
                **values,
                "data": DataRecord(**values["data"]),
                "init": InitialModel(**init) if init else None,
                "machine": Machine(**values["machine"]),
                "installed": ValidationReport(**installed) if installed else None,
            }
        )

    def to_dict(self) -> dict[str, object]:
        """Return the record as plain values for JSON."""
        return asdict(self)


def hash_files(paths: Iterable[str]) -> dict[str, str]:
    """Return file name -> sha256; standard input (``-``) is left out."""
    return {path: hash_file(Path(path)) for path in paths if path != "-"}
