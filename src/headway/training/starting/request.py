"""What a user asks of a run."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headway.config import Changes, Config, Kind
from headway.config.loading import NO_CHANGES
from headway.config.model import VERBS
from headway.errors import HeadwayError, UsageError
from headway.text.groups import Text, Validation, make_groups
from headway.text.readers import UTF8, FileForm

MOST_MINUTES = 365 * 24 * 60


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """What a user asks for: the text and settings of a new run, or changes of an existing one.

    Attributes:
        kind: The kind of model. Text of a language model are lines, and that of a classifier labeled texts:
            see `headway.ext.kinds.examples`. None: a translator, or the kind of ``data`` or of
            the run that is resumed.
        train: Training text: two files, or one that holds both sides; see `headway.text.readers`. For a
            model of several pairs of languages, the text of each: ``{"en-de": files}``.
        valid: Validation text, likewise; or the number of pairs to hold out of the training text.
        data: A directory that `headway prepare` wrote, in place of ``train`` and ``valid``.
        languages: Codes of source and target; None: from the names of the files.
        form: The encoding of files that are not UTF-8, and the columns of tables.
        init: The directory of a model whose weights and vocabulary the run starts from, or started from.
        vocabulary: A sentencepiece model for the text, or one for each language; none: learn one.
        other_languages: Whether the text may be of other languages than the model of ``init``.
        preset: A name in `headway.config.PRESETS`, or settings; None: "base", or the settings of the run
            or of the model that it starts from.
        changes: Settings that change both.
        minutes: How long a new run trains; its number of steps follows from a measurement before step 1.
        command: The user's command line, which the run records.
    """

    kind: Kind | None = None
    train: Text = ()
    valid: Validation = ()
    data: str | Path | None = None
    languages: tuple[str, str] | None = None
    form: FileForm = UTF8
    init: str | Path | None = None
    vocabulary: Sequence[str | Path] = ()
    other_languages: bool = False
    preset: str | Config | None = None
    changes: Changes = NO_CHANGES
    minutes: float | None = None
    command: Sequence[str] = ()

    def check(self, run: Path, *, is_new: bool) -> None:
        """Check that the options fit together.

        Args:
            run: The run directory.
            is_new: Whether there is no run yet.

        Raises:
            UsageError: If they do not, with the one to add or to leave out.
            HeadwayError: If a new run has no text.
        """
        refuse_kind(self.changes.options)
        for name in ("train", "valid"):
            if isinstance(given := getattr(self, name), str | Path):  # a sequence of characters
                raise UsageError(f"{name} = {given}: give a list of files")
        if self.languages and (isinstance(self.languages, str) or len(self.languages) != 2):
            raise UsageError(f"languages = {self.languages}: give two codes, such as ('en', 'de')")
        has_text = self.data or (self.train and self.valid)
        if is_new and not has_text:
            or_number = "" if self.kind else ", or the number of pairs to hold out (--valid 500)"
            if self.train:
                raise UsageError(f"--train needs --valid too: give the validation text{or_number}")
            if self.valid:
                raise UsageError("--valid needs --train too: give the training text")
            ways = "--train and --valid" + ("" if self.kind else ", or with --data")
            raise HeadwayError(f"{run}: no run there yet: start one with {ways}")
        if self.data and (self.train or self.valid):
            raise UsageError("--data names text that is prepared already: omit --train and --valid")
        if isinstance(self.train, Mapping):
            make_groups(self.train, self.valid, languages=self.languages)
        if self.vocabulary and (self.data or self.init):
            option = "--data" if self.data else "--init"
            raise UsageError(f"--vocabulary: {option} has a vocabulary already: omit one of them")
        fixed = [option for option in self.changes.options if option.startswith("text.")]
        fixed += ["languages"] if self.languages else []
        fixed += self.form.to_words()
        if self.minutes is not None and not 0 < self.minutes <= MOST_MINUTES:
            raise UsageError(f"--minutes {self.minutes:g}: must be more than 0 and at most a year")
        if self.minutes is not None and "training.max-steps" in self.changes.options:
            raise UsageError("--minutes and --training.max-steps: give one of them")
        if self.data and fixed:
            raise UsageError(f"--{fixed[0]}: was fixed when {self.data} was prepared: omit it")


def refuse_kind(options: Collection[str]) -> None:
    """Refuse ``--model.kind``, because the command, or the data that it names, decides the kind.

    Args:
        options: The settings of the command line, such as ``model.kind``.
    """
    if "model.kind" in options:
        makers = ", ".join(VERBS.values())
        raise UsageError(
            f"--model.kind: the command or its data decides the kind ({makers}): omit it"
        )
