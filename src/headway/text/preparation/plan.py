"""The plan of a preparation: the text, the settings and the state of the files when it began."""

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

from headway import __version__
from headway.config import TextConfig
from headway.config.declaration import spell
from headway.extension import load_all
from headway.text.groups import (
    Manifest,
    Text,
    TextGroup,
    Validation,
    check_group_languages,
    make_groups,
)
from headway.text.lines import STANDARD_INPUT
from headway.text.readers import UTF8, FileForm, describe_layout
from headway.text.tokenizer import Tokenizer, check_symbols

RANGE = 1 << 16  # pairs of a range
LARGE = 1 << 40  # bytes that standard input may have


@dataclass(frozen=True)
class Plan:
    """All that the result of a preparation depends on.

    Attributes:
        groups: The text of each pair of languages.
        has_symbols: Whether sources begin with the symbol of their target language.
        config: The cleaning rules and the vocabulary.
        form: The encoding of the files, and the columns of tables.
        layouts: How the table of each group is read, for the report; an empty string for other text.
        origins: The manifests of corpora that were fetched by name.
        models: Those of a given tokenizer; empty: the subwords are learned.
        files: File -> its size and the time of its last change in nanoseconds, of standard input that of the plan.
        range_pairs: Pairs of a range.
    """

    groups: list[TextGroup]
    has_symbols: bool
    config: TextConfig
    form: FileForm
    layouts: list[str]
    origins: list[Manifest]
    models: tuple[bytes, ...]
    files: dict[str, list[int]]
    range_pairs: int

    @classmethod
    def make(
        cls,
        train: Text,
        valid: Validation,
        config: TextConfig,
        languages: tuple[str, str] | None = None,
        *,
        tests: Sequence[Text] = (),
        tokenizer: Tokenizer | None = None,
        form: FileForm = UTF8,
    ) -> "Plan":
        """Make the plan for text as it is now; the arguments are those of `prepare`."""
        groups = make_groups(train, valid, tests, languages)
        for group in groups:
            check_group_languages(group)
        has_symbols = isinstance(train, Mapping)
        if has_symbols and tokenizer:
            check_symbols([group.codes[1] for group in groups], tokenizer)
        named = [path for group in groups for path in group.files()]
        return cls(
            groups=groups,
            has_symbols=has_symbols,
            config=config,
            form=form,
            layouts=[describe_layout(group.train, group.languages, form) for group in groups],
            origins=[m for _, known in load_all("corpora") for m in known.list_origins(named)],
            # Two models, unless both languages share one.
            models=tokenizer.models[: 1 if tokenizer.joint else 2] if tokenizer else (),
            files={path: _state(path) for path in named},
            range_pairs=RANGE,
        )

    def identify(self) -> dict[str, str]:
        """Return what the result depends on, by the name that a message uses."""
        settings = {f"text.{name}": spell(value) for name, value in asdict(self.config).items()}
        return {
            **{
                path: f"{size} bytes, changed at {changed} ns"
                for path, (size, changed) in self.files.items()
            },
            **settings,
            "--train, --valid or --test": json.dumps([asdict(group) for group in self.groups]),
            "--encoding or --columns": json.dumps(asdict(self.form)),
            "--vocabulary": " ".join(hashlib.sha256(model).hexdigest() for model in self.models),
            "the origin of the text": json.dumps(self.origins),
            "pairs of a range": str(self.range_pairs),
            "the version of Headway": __version__,
        }

    @property
    def holds_out(self) -> bool:
        """Whether validation text is held out of the training text."""
        return any(group.holds_out for group in self.groups)

    def list_text_files(self) -> dict[str, object]:
        """Return the facts for ``data.json`` about where the text is from."""
        held_out = sum(group.held_out for group in self.groups)
        return {
            "train": [path for group in self.groups for path in group.train],
            "valid": [path for group in self.groups for path in group.valid],
            **({"held_out": held_out} if self.holds_out else {}),
            "form": self.form.to_words(),
            "origins": cast("object", self.origins),
        }

    def input_bytes(self) -> int:
        """Return the size of the training text; standard input counts as large."""
        return sum(self.files[path][0] for group in self.groups for path in group.train)


def _state(path: str) -> list[int]:
    if path == STANDARD_INPUT:  # it can be read only once, so that it is always another one
        return [LARGE, time.time_ns()]
    try:
        state = Path(path).stat()
    except (OSError, ValueError):  # reading the file will say what is wrong
        return [0, 0]
    return [state.st_size, state.st_mtime_ns]
