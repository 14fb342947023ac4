"""A stage of a recipe: commands that a person could give, or a small piece of work on files."""

import shlex
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Command:
    """A ``headway`` command.

    Attributes:
        arguments: What a shell passes to ``headway``: the verb, its arguments and its options; files as paths.
        output: The file that receives the standard output; None: the command prints nothing.
    """

    arguments: Sequence[str | Path]
    output: Path | None = None

    @property
    def words(self) -> list[str]:
        """The arguments as text."""
        return [str(argument) for argument in self.arguments]

    def describe(self, out: Path | None = None) -> str:
        """Return the command as a shell takes it.

        Args:
            out: A directory that is written as OUT; None: none is.
        """
        words = [name_path(a, out) if isinstance(a, Path) else a for a in self.arguments]
        redirection = f" > {shlex.quote(name_path(self.output, out))}" if self.output else ""
        return f"headway {shlex.join(words)}{redirection}"


class FileWork(ABC):
    """Work on files that needs no command; doing it twice gives the same files."""

    @property
    def reads(self) -> Sequence[str]:
        """The files of the user that it reads; none, unless a work says otherwise."""
        return ()

    @abstractmethod
    def run(self) -> None:
        """Do the work; each file is written atomically."""

    @abstractmethod
    def describe(self, out: Path | None = None) -> str:
        """Return in words what is done, with a directory written as OUT."""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A stage of a recipe.

    Attributes:
        name: Names the files of the stage.
        part: The part of the recipe that the stage belongs to, such as "sweep".
        purpose: What the stage is for, in a few words.
        work: Done before the commands.
        commands: Given in this order; each goes on where it was if it is given again.
        scores: The file with what ``headway evaluate --json`` printed; None: the stage has no model.
        run: The run directory of the model; it has the perplexity.
        product: BLEU of the model that the stage installs; None: it installs none.
        is_compared: Whether the scores can be compared with those of other stages. Those of a model of
            the other direction cannot.
        flop: Estimated floating-point operations of the commands.
        seconds: Estimated time of what is no floating-point operation.
    """

    name: str
    part: str
    purpose: str
    work: FileWork | None = None
    commands: Sequence[Command] = ()
    scores: Path | None = None
    run: Path | None = None
    product: float | None = None
    is_compared: bool = True
    flop: float = 0.0
    seconds: float = 0.0

    @property
    def reads(self) -> Sequence[str]:
        """The files of the user that the stage reads."""
        return self.work.reads if self.work else ()

    def describe(self, out: Path | None = None) -> list[str]:
        """Return the work and the commands, a line each, with a directory written as OUT."""
        work = [self.work.describe(out)] if self.work else []
        return [*work, *(command.describe(out) for command in self.commands)]


@dataclass(frozen=True, kw_only=True)
class ModelScores:
    """The scores of a model on the validation text, as ``headway evaluate`` prints them.

    Attributes:
        bleu: sacreBLEU of raw text, 0 to 100.
        chrf: chrF2, 0 to 100.
        perplexity: Of a target token, from the training of the model; None: not measured.
    """

    bleu: float
    chrf: float
    perplexity: float | None = None


@dataclass(frozen=True, kw_only=True)
class StageResult:
    """What a finished stage gave and cost.

    Attributes:
        seconds: The time that it took.
        scores: The scores of its model; None: it has no model.
    """

    seconds: float
    scores: ModelScores | None = None

    @property
    def bleu(self) -> float:
        """BLEU of the model."""
        assert self.scores is not None, "the stage has no model"
        return self.scores.bleu


def name_path(path: Path, out: Path | None) -> str:
    """Return a path as text, with a directory written as OUT."""
    return str(Path("OUT", path.relative_to(out)) if out and path.is_relative_to(out) else path)
