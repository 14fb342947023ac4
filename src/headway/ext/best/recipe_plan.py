"""The plan of a recipe: everything that its decisions depend on, besides the results of its stages."""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from headway.errors import HeadwayError, UsageError
from headway.ext.best.facts import TextFacts
from headway.ext.best.given import GivenText
from headway.ext.best.recipe_numbers import VERSION, Choices
from headway.files import hash_file, replace_text

FILE = "plan.json"


@dataclass(frozen=True, kw_only=True)
class Options(GivenText):
    """What a user asks for.

    Attributes:
        hours: How long the recipe may take; None: see `headway.ext.best.estimates.fit_parts`.
    """

    hours: float | None = None


@dataclass(frozen=True, kw_only=True)
class RecipePlan:
    """What ``plan.json`` holds.

    Attributes:
        options: What the user asked for.
        sha256: Name -> digest of each of the user's files.
        facts: What was found in the text.
        speed: FLOP a second of a training, as measured on this machine.
        hours: The hours that were planned for.
        choices: The parts of the recipe.
        omitted: The parts that do not fit into the hours, and the hours with each and all parts before it.
        version: Of the recipe.
    """

    options: Options
    sha256: dict[str, str]
    facts: TextFacts
    speed: float
    hours: float
    choices: Choices
    omitted: Sequence[tuple[str, float]]
    version: int = VERSION

    def write(self, out: Path) -> None:
        """Write ``plan.json``."""
        replace_text(out / FILE, json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n")

    def describe_omitted(self) -> list[str]:
        """Return a line for what the hours are too few for."""
        lines = [
            f"{name}: with it and all before it, {format_hours(_round_up(hours))} hours"
            for name, hours in self.omitted
        ]
        unread = [*self.options.mono_source, *self.options.mono_target]
        if unread and not self.choices.back_translation:
            lines.append(
                f"{', '.join(unread)}: only a training on translations reads monolingual text"
            )
        if self.choices.share < 1:
            left = f"{100 * self.choices.share:.0f} %"
            lines.append(
                f"{100 * (1 - self.choices.share):.0f} % of the steps of each training, which has {left} of them"
            )
        return lines

    @classmethod
    def read(cls, out: Path) -> "RecipePlan | None":
        """Read ``plan.json``; None: there is none.

        Raises:
            HeadwayError: If it is damaged, or of another version of the recipe.
        """
        path = out / FILE
        try:
            values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            if values["version"] != VERSION:
                raise HeadwayError(
                    f"{path}: of version {values['version']} of the recipe, and this Headway has version"
                    f" {VERSION}: go on with that version of Headway, or give another OUT"
                )
            given = {**values["options"], "languages": tuple(values["options"]["languages"])}
            facts, choices = TextFacts(**values["facts"]), Choices(**values["choices"])
            return cls(
                **{**values, "options": Options(**given), "facts": facts, "choices": choices}
            )
        except (FileNotFoundError, NotADirectoryError):
            return None
        except HeadwayError:
            raise
        except (ValueError, KeyError, TypeError) as error:
            raise HeadwayError(
                f"{path}: damaged ({error}): restore it, or give another OUT"
            ) from None

    def check_options(self, out: Path, options: Options) -> None:
        """Check that a command asks for what was planned.

        Raises:
            UsageError: If it does not; the message names what differs.
        """
        own, other = (json.loads(json.dumps(asdict(each))) for each in (self.options, options))
        for name in own:
            if own[name] != other[name]:
                option = name.replace("_", "-")
                raise UsageError(
                    f"{out}: planned with {option} {_words(own[name])}, and this command has"
                    f" {_words(other[name])}: give the same options (or none but OUT), or another OUT"
                )

    def check_files(self, out: Path, names: Iterable[str] | None = None) -> None:
        """Check that files of the user are those that were planned with.

        Args:
            out: The directory of the recipe.
            names: Those to check; None: all.

        Raises:
            UsageError: If one has changed; the message names it.
        """
        for name in self.sha256 if names is None else names:
            if not Path(name).is_file():
                raise UsageError(
                    f"{name}: is gone since {out} was planned: restore it, or give another OUT"
                )
            if hash_file(Path(name)) != self.sha256[name]:
                raise UsageError(
                    f"{name}: has changed since {out} was planned: restore it, or give another OUT"
                )


def format_hours(hours: float) -> str:
    """Return a number of hours as text: two digits, and all digits from 10 on."""
    return f"{hours:.2g}" if hours < 10 else f"{hours:,.0f}"


def _round_up(hours: float) -> float:
    """Return hours with two digits that are not fewer; with whole ones from 10 on."""
    scale = 10.0 ** max(0, 1 - math.floor(math.log10(hours)))
    return math.ceil(hours * scale) / scale


def check_new(out: Path) -> None:
    """Check that a recipe may begin in a directory.

    Raises:
        HeadwayError: If it is a file, or holds something else.
    """
    if out.is_file():
        raise HeadwayError(f"{out}: is a file: give another OUT")
    if out.is_dir():
        foreign = sorted(entry.name for entry in out.iterdir() if entry.name[0] != ".")
        if foreign:
            raise HeadwayError(f"{out}: holds {foreign[0]}, but no {FILE}: give another OUT")


def _words(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(f"--{name} {each}" for name, each in value.items()) or "none"
    if isinstance(value, list):
        return " ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)
