"""A stage of a recipe: work on files and ``headway`` commands, and the record of what it gave and cost."""

import json
import math
import shlex
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from headway.config import merge_overrides
from headway.errors import HeadwayError
from headway.ext.best.recipe_numbers import Settings
from headway.ext.best.recipe_text import PairFiles
from headway.files import read_json, replace_text
from headway.text import digest_loosely
from headway.training import RunDirectory
from headway.translation import Translator

Words = Sequence[str | Path]  # of a command, without ``headway``
RECORD = ("is_finished", "seconds", "scores", "commands")  # what the record of a stage has
MOST_BYTES = 1 << 20  # of a record


@dataclass(frozen=True)
class JoinedText:
    """Texts that are joined, one after the other, without pairs of the test text, which a translation may have made.

    The training itself leaves out those of the validation text.

    Attributes:
        parts: The texts, and how often each of them is taken.
        output: The files to write.
        test: The test text; None: there is none, or its pairs may be trained on.
    """

    parts: Sequence[tuple[PairFiles, int]]
    output: PairFiles
    test: PairFiles | None

    def run(self) -> None:
        """Write the files."""
        test = self.test.read() if self.test else ()
        held_out = {digest_loosely(*pair)[0] for pair in test}
        pairs = chain.from_iterable(text.read() for text, n in self.parts for _ in range(n))
        self.output.write(
            pair for pair in pairs if not held_out or digest_loosely(*pair)[0] not in held_out
        )

    def describe(self, out: Path | None = None) -> str:
        """Return in words what is done."""
        parts = ", ".join(f"{n} x ({t.source.name}, {t.target.name})" for t, n in self.parts)
        return f"join {parts} to ({self.output.source.name}, {self.output.target.name})"


@dataclass(frozen=True)
class InstalledModel:
    """The model of a run as a model directory, with the search that was chosen for it.

    Attributes:
        model: The run directory that has the model.
        product: The directory to write to; other files in it stay.
        search: The search settings that the model gets.
    """

    model: Path
    product: Path
    search: Settings

    def run(self) -> None:
        """Write the files, each of them atomically."""
        translator = Translator.load(self.model, "cpu")
        assert translator.config is not None, "a model directory has settings"
        translator.config = merge_overrides(translator.config, self.search)
        translator.default_search = translator.config.search
        translator.save_pretrained(self.product)

    def describe(self, out: Path | None = None) -> str:
        """Return in words what is done."""
        model, product = name_path(self.model, out), name_path(self.product, out)
        search = " ".join(list_options(self.search))
        return f"copy the model of {model} to {product}/" + (f", with {search}" if search else "")


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A stage of a recipe.

    Attributes:
        name: Names the files of the stage.
        purpose: What the stage is for, in a few words.
        work: Done before the commands.
        commands: What a shell passes to ``headway``, files as paths; each goes on where it was if it is given again.
        scores: The file for what the last command prints, ``headway evaluate --json``; None: the stage scores no model.
        run: The run directory of the model that is trained; it has the perplexity.
        is_compared: Whether the scores can be compared with those of other stages. Those of a model of
            the other direction cannot.
        flop: Estimated floating-point operations of the commands.
        seconds: Estimated time of what is no floating-point operation.
    """

    name: str
    purpose: str
    work: JoinedText | InstalledModel | None = None
    commands: Sequence[Words] = ()
    scores: Path | None = None
    run: Path | None = None
    is_compared: bool = True
    flop: float = 0.0
    seconds: float = 0.0

    def describe(self, out: Path | None = None) -> list[str]:
        """Return the work, and the commands as a shell takes them, a line each, with a directory written as OUT."""
        lines = [self.work.describe(out)] if self.work else []
        for words in self.commands:
            named = [name_path(word, out) if isinstance(word, Path) else word for word in words]
            lines.append(f"headway {shlex.join(named)}")
        if self.scores:
            lines[-1] += f" > {shlex.quote(name_path(self.scores, out))}"
        return lines


@dataclass(frozen=True)
class StageResult:
    """What a finished stage gave and cost.

    Attributes:
        seconds: The time that it took.
        scores: Of its model on the validation text, as ``headway evaluate`` prints them: "bleu" (sacreBLEU of raw text) and
            "chrf" (chrF2), 0 to 100; and "perplexity" of a target token, from the training. Empty: it has no model.
    """

    seconds: float
    scores: Mapping[str, float]

    @property
    def bleu(self) -> float:
        """BLEU of the model."""
        return self.scores["bleu"]


def find_result(out: Path, stage: Stage) -> StageResult | None:
    """Return the result of a stage; None: it is not finished.

    Args:
        out: The directory of the recipe. Its path may differ from call to call, so no record contains it.
        stage: The stage.

    Raises:
        HeadwayError: If the record is damaged, or a stage of this name did something else.
    """
    values = _read_record(out, stage)
    if not values["is_finished"]:
        return None
    if values["commands"] != stage.describe(out):
        raise HeadwayError(
            f"{_record(out, stage)}: stage {stage.name} was finished by other commands than this"
            " version of Headway would give: go on with that version, or give another OUT"
        )
    return StageResult(values["seconds"], values["scores"])


def record_stage(out: Path, stage: Stage, seconds: float, *, is_finished: bool) -> None:
    """Record that a stage is finished, or stopped, after so many more seconds of work."""
    values = {
        "is_finished": is_finished,
        "seconds": round(_read_record(out, stage)["seconds"] + seconds, 3),
        "scores": _read_scores(stage) if is_finished else {},
        "commands": stage.describe(out),
    }
    replace_text(_record(out, stage), json.dumps(values, indent=2, ensure_ascii=False) + "\n")


def _read_record(out: Path, stage: Stage) -> dict[str, Any]:
    path = _record(out, stage)
    if not path.exists():
        return {"is_finished": False, "seconds": 0.0}
    values = read_json(path, MOST_BYTES)
    if not isinstance(values, dict) or not {*RECORD} <= values.keys():
        raise HeadwayError(
            f"{path}: damaged: no record of a stage: delete it, and the stage is done again"
        )
    return values


def _record(out: Path, stage: Stage) -> Path:
    return out / "stages" / f"{stage.name}.json"


def _read_scores(stage: Stage) -> dict[str, float]:
    """Return the scores that the commands of a stage have written; empty: it has no model."""
    if stage.scores is None:
        return {}
    sheet = json.loads(stage.scores.read_text(encoding="utf-8"))["scores"]
    scores = {name: float(sheet[name]["score"]) for name in ("bleu", "chrf")}
    installed = RunDirectory(stage.run).record().installed if stage.run else None
    return scores | ({"perplexity": installed.perplexity} if installed else {})


Recipe = Generator[Stage, StageResult, None]  # yields stages, and receives their results
UNKNOWN = StageResult(0.0, {"bleu": math.nan})  # of a model that is not trained yet


def replay(
    recipe: Recipe, out: Path | None, *, guesses: bool = False
) -> tuple[list[tuple[Stage, StageResult]], Stage | None]:
    """Replay a recipe up to the first stage that is not finished.

    Args:
        recipe: At its beginning.
        out: The directory of the recipe, whose records decide what follows; None: no stage is finished.
        guesses: Whether to go on behind that stage, to the end, as if all models had the same scores.

    Returns:
        The stages with their results, and the stage that is to be done; None: there is none.
    """
    played = list[tuple[Stage, StageResult]]()
    try:
        stage = next(recipe)
        while True:
            # The commands of later stages are guesses, and not to be compared with those on record.
            result = find_result(out, stage) if out else None
            if not result and not guesses:
                return played, stage
            out = out if result else None
            played.append((stage, result or UNKNOWN))
            stage = recipe.send(played[-1][1])
    except StopIteration:
        return played, None


def list_options(settings: Settings) -> list[str]:
    """Return settings as the options of a command."""
    return [word for name, value in settings.items() for word in (f"--{name}", value)]


def name_path(path: Path, out: Path | None) -> str:
    """Return a path as text, with a directory written as OUT."""
    return str(Path("OUT", path.relative_to(out)) if out and path.is_relative_to(out) else path)
