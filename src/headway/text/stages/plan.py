"""The plan of a preparation: the text, the settings and the state of the files when it began.

Every process that shares a preparation reads the plan from the work directory. A command that goes on with
an interrupted preparation compares it with its own.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from itertools import chain
from pathlib import Path
from typing import cast

from headway import __version__
from headway.config import TextConfig
from headway.tasks.ledger import Ledger
from headway.text.corpora import origins
from headway.text.origins import Manifest
from headway.text.readers import FileForm, describe_layout
from headway.text.tokenizer import Tokenizer

PLAN = "plan.json"
STANDARD_INPUT = "-"
RANGE = 1 << 16  # pairs of a range
Files = list[str]


@dataclass(frozen=True)
class Plan:
    """All that the result of a preparation depends on.

    Attributes:
        train: The training text: one file of pairs, or two plain text files.
        valid: The validation text; or the number of pairs to hold out of the training text.
        tests: Test sets.
        config: The cleaning rules and the vocabulary.
        languages: Codes of source and target, if the user gave them.
        codes: Codes of source and target.
        form: The encoding of the files, and the columns of tables.
        layout: How a table is read, for the report.
        origins: The manifests of corpora that were fetched by name.
        vocabulary: A hash of a given tokenizer; empty: the subwords are learned.
        files: File -> its size and the time of its last change in nanoseconds.
        range_pairs: Pairs of a range.
        version: The version of Headway.
    """

    train: Files
    valid: Files | int
    tests: list[Files]
    config: TextConfig
    languages: tuple[str, str] | None
    codes: tuple[str, str]
    form: FileForm
    layout: str
    origins: list[Manifest]
    vocabulary: str
    files: dict[str, list[int]]
    range_pairs: int
    version: str

    @classmethod
    def make(
        cls,
        train: Sequence[str | Path],
        valid: Sequence[str | Path] | int,
        tests: Sequence[Sequence[str | Path]],
        config: TextConfig,
        languages: tuple[str, str] | None,
        codes: tuple[str, str],
        form: FileForm,
        tokenizer: Tokenizer | None,
    ) -> "Plan":
        """Make the plan for text as it is now."""
        held_out = valid if isinstance(valid, int) else [str(path) for path in valid]
        named = [str(path) for path in chain(train, () if isinstance(valid, int) else valid)]
        named += [str(path) for paths in tests for path in paths]
        return cls(
            train=[str(path) for path in train],
            valid=held_out,
            tests=[[str(path) for path in paths] for paths in tests],
            config=config,
            languages=languages,
            codes=codes,
            form=form,
            layout=describe_layout(train, languages, form),
            origins=origins(named),
            vocabulary=_hash_models(tokenizer) if tokenizer else "",
            files={path: _state(path) for path in named},
            range_pairs=RANGE,
            version=__version__,
        )

    @classmethod
    def read(cls, directory: Path) -> "Plan | None":
        """Read the plan of a work directory; None if there is none that this version wrote."""
        try:
            values = json.loads((directory / PLAN).read_bytes())
            languages, form = values["languages"], values["form"]
            columns = form["columns"] and tuple(form["columns"])
            values |= {
                "config": TextConfig(**values["config"]),
                "languages": languages and tuple(languages),
                "codes": tuple(values["codes"]),
                "form": FileForm(form["encoding"], columns),
            }
            return cls(**values)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, ledger: Ledger) -> None:
        """Write the plan to a work directory."""
        ledger.write_text(PLAN, json.dumps(asdict(self), indent=2) + "\n")

    def find_difference(self, other: "Plan") -> str:
        """Return in a few words how another plan differs from this one, or an empty string."""
        for path, state in self.files.items():
            if other.files.get(path, state) != state:
                return f"{path} has changed"
        if self.config != other.config:
            names = (field.name for field in fields(TextConfig))
            name = next(n for n in names if getattr(self.config, n) != getattr(other.config, n))
            old, new = getattr(self.config, name), getattr(other.config, name)
            return f"text.{name} was {old} and is now {new}"
        # Through JSON, because a manifest holds tuples, which are lists in a file.
        mine, others = (json.loads(json.dumps(asdict(plan))) for plan in (self, other))
        names = (field.name for field in fields(Plan))
        name = next((n for n in names if mine[n] != others[n]), "")
        options = {
            "train": "--train",
            "valid": "--valid",
            "tests": "--test",
            "codes": "--languages",
        }
        options |= {"vocabulary": "--vocabulary", "version": "the version of Headway"}
        return f"{options.get(name, name)} has changed" if name else ""

    @property
    def reads_standard_input(self) -> bool:
        """Whether the training text comes from standard input, which can be read only once."""
        return self.train == [STANDARD_INPUT]

    @property
    def held_out(self) -> int:
        """The number of pairs to hold out of the training text; 0: there is validation text."""
        return self.valid if isinstance(self.valid, int) else 0

    @property
    def valid_files(self) -> Files:
        """The files of validation text."""
        return [] if isinstance(self.valid, int) else self.valid

    @property
    def holds_out(self) -> bool:
        """Whether validation text is held out of the training text."""
        return isinstance(self.valid, int)

    def list_text_files(self) -> dict[str, object]:
        """Return the facts for ``data.json`` about where the text is from."""
        held_out = {"held_out": self.valid} if self.holds_out else {}
        return {
            "train": self.train,
            "valid": self.valid_files,
            **held_out,
            "origins": cast("object", self.origins),
        }

    def input_bytes(self) -> int:
        """Return the size of the training text; standard input counts as large."""
        sizes = (self.files[path][0] for path in self.train)
        return 1 << 40 if self.reads_standard_input else sum(sizes)


def _hash_models(tokenizer: Tokenizer) -> str:
    return hashlib.sha256(b"".join(tokenizer.models)).hexdigest()


def _state(path: str) -> list[int]:
    if path == STANDARD_INPUT:
        return [0, 0]
    try:
        state = Path(path).stat()
    except (OSError, ValueError):  # reading the file will say what is wrong
        return [0, 0]
    return [state.st_size, state.st_mtime_ns]
