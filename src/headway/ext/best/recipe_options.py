"""What a user asks of ``headway best``: the text, the hours, the parts to leave out, and settings of all trainings."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from headway.errors import UsageError, suggest
from headway.ext.best.recipe_numbers import PARTS
from headway.text import (
    FileForm,
    check_file_language,
    check_file_languages,
    languages_from_names,
)
from headway.training import refuse_kind

Files = Sequence[str | Path]


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a user asks for.

    Attributes:
        train: Training text: see `headway.text.readers.read_pairs`.
        valid: Validation text, likewise; or the number of pairs to hold out.
        languages: Codes of source and target; None: from the names of the files.
        encoding: Of files that are not UTF-8.
        columns: Of tables.
        test: Test text, likewise, whose pairs no training may see.
        teacher: Translations of the training sources by another system, a line for each pair.
        mono_source: Plain text in the source language.
        mono_target: Plain text in the target language.
        hours: How long the recipe may take; None: `recipe_numbers.MOST_HOURS`.
        without: Parts to leave out.
        settings: Of all trainings.
    """

    train: Files
    valid: Files | int
    languages: Sequence[str] | None = None
    encoding: str | None = None
    columns: Sequence[str] | None = None
    test: Files = ()
    teacher: str | Path | None = None
    mono_source: Files = ()
    mono_target: Files = ()
    hours: float | None = None
    without: Sequence[str] = ()
    settings: Mapping[str, str] = field(default_factory=dict)

    def check(self) -> "Options":
        """Check all that can be checked without reading text, and return the same with languages and absolute names.

        The recipe may go on in another working directory.

        Raises:
            UsageError: If an option is wrong, or a file cannot be read several times.
            HeadwayError: If the names of the files show no languages, or other ones.
        """
        if self.hours is not None and not 0 < self.hours < math.inf:
            raise UsageError(f"--hours {self.hours:g}: must be a number of hours, more than 0")
        for part in self.without:
            if part not in PARTS:
                raise UsageError(
                    f"--without {part}: no part of the recipe{suggest(part, PARTS)}; the parts are {', '.join(PARTS)}"
                )
        refuse_kind(self.settings)
        for name in ("train", "valid", "test", "mono_source", "mono_target"):
            if isinstance(given := getattr(self, name), str | Path):  # a sequence of characters
                raise UsageError(f"{name} = {given}: give a list of files")
        source, target = self.languages or languages_from_names(self.train)
        valid = [] if isinstance(self.valid, int) else [self.valid]
        teacher = [self.teacher] if self.teacher else []
        check_file_languages(self.train, *valid, *([self.test] if self.test else []))
        for path in self.mono_source:
            check_file_language(path, source, target)
        for path in (*self.mono_target, *teacher):
            check_file_language(path, target, source)
        for path in self.list_files():
            if path.is_dir():
                raise UsageError(f"{path}: is a directory: give a file")
            if not path.is_file() and (path.name == "-" or path.exists()):
                raise UsageError(
                    f"{path}: text is read several times, which a pipe cannot be: give a file"
                )
        return replace(
            self,
            train=_absolute(self.train),
            valid=_absolute(valid[0]) if valid else self.valid,
            languages=(source, target),
            test=_absolute(self.test),
            teacher=_absolute(teacher)[0] if teacher else None,
            mono_source=_absolute(self.mono_source),
            mono_target=_absolute(self.mono_target),
            without=sorted({*self.without}),
            settings={name.replace("_", "-"): value for name, value in self.settings.items()},
        )

    @property
    def pair(self) -> tuple[str, str]:
        """The codes of source and target, after `check`."""
        assert self.languages
        return self.languages[0], self.languages[1]

    @property
    def form(self) -> FileForm:
        """The form of the files."""
        return FileForm(self.encoding, (self.columns[0], self.columns[1]) if self.columns else None)

    def list_files(self) -> list[Path]:
        """Return all files."""
        valid = () if isinstance(self.valid, int) else self.valid
        teacher = [self.teacher] if self.teacher else []
        mono = (*self.mono_source, *self.mono_target)
        return [*map(Path, (*self.train, *valid, *self.test, *teacher, *mono))]


def _absolute(files: Files) -> list[str]:
    return [str(Path(file).absolute()) for file in files]
