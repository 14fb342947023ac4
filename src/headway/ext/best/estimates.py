"""Estimates: how fast this machine trains, how long stages take, and which parts fit into the hours."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from headway.ext.best import recipe_numbers as numbers
from headway.ext.best.recipe_numbers import (
    ADDITIONS,
    LONGER,
    Choices,
    Scale,
    Settings,
    list_options,
)
from headway.ext.best.stage import Command, ModelScores, Stage, StageResult
from headway.ext.best.stage_records import Recipe, StageRecords

UNKNOWN = ModelScores(bleu=math.nan, chrf=math.nan)  # of a model that is not trained yet


def benchmark(scale: Scale, overrides: Settings, output: Path) -> Command:
    """Return the command that measures this machine with the model of a scale, in about ten seconds."""
    # R-Drop takes two passes, which the estimates count.
    one_pass = {"training.agreement": "0", "training.cut": "0"}
    settings = {**scale.common, **scale.forward, **overrides, **one_pass}
    words = ["bench", "train", "--preset", scale.preset, "--repeats", "3", "--json", "-"]
    return Command(arguments=[*words, *list_options(settings)], output=output)


def read_speed(output: Path) -> float:
    """Return the FLOP a second of the fastest repeat: other programs can only slow it down."""
    [row] = json.loads(output.read_text(encoding="utf-8"))["rows"]
    return float(row["flop"] / row["seconds"]["low"])


def estimate_seconds(stage: Stage, speed: float) -> float:
    """Return about how long a stage takes.

    Args:
        stage: The stage.
        speed: FLOP a second of a training on this machine.
    """
    return stage.seconds + numbers.SECONDS_A_COMMAND * len(stage.commands) + stage.flop / speed


def list_stages(recipe: Recipe, records: StageRecords | None = None) -> list[Stage]:
    """Return the stages of a recipe, as if all models had the same scores.

    Args:
        recipe: A new generator.
        records: Has the results of finished stages, which decide what follows, up to the first that is not
            finished; None: none is finished.
    """
    stages = []
    try:
        stage = next(recipe)
        while True:
            stages.append(stage)
            found = records.find(stage) if records else None
            if found is None:
                records = None  # the commands of later stages are guesses, and not to be compared with its own
            stage = recipe.send(found or StageResult(seconds=0.0, scores=UNKNOWN))
    except StopIteration:
        return stages


@dataclass(frozen=True, kw_only=True)
class Fit:
    """What fits into the hours.

    Attributes:
        choices: The parts that fit.
        hours: The hours that were planned for.
        omitted: What does not fit: the name of a part, and the hours of a recipe with it and all parts before it.
    """

    choices: Choices
    hours: float
    omitted: Sequence[tuple[str, float]]


def fit_parts(
    begin: Callable[[Choices], Recipe],
    scale: Scale,
    longest: float,
    speed: float,
    hours: float | None,
    shortest: float = numbers.SHORTEST,
) -> Fit:
    """Choose the parts of a recipe, those first that are worth most for their time.

    Args:
        begin: Returns a new recipe with some parts.
        scale: Its settings.
        longest: How many times longer the trainings should be if the hours allow it; see `Scale.find_longest`.
        speed: FLOP a second of a training on this machine.
        hours: The hours that the user gives; None: as many as the whole recipe takes, at most
            `MOST_HOURS`.
        shortest: Share of its steps that a training keeps at least, however few the hours.
    """

    def count_hours(choices: Choices) -> float:
        return sum(estimate_seconds(s, speed) for s in list_stages(begin(choices))) / 3600

    additions: dict[str, Mapping[str, Any]] = {
        name: {"share": longest} if name == LONGER else change
        for name, change in ADDITIONS.items()
        if change.get("forward_models", 0) <= scale.forward_models
    }
    whole = Choices()
    for change in additions.values():
        whole = replace(whole, **change)
    budget = min(count_hours(whole), numbers.MOST_HOURS) if hours is None else hours
    choices, wanted, omitted = Choices(), Choices(), []

    def shorten(choices: Choices, most: float) -> Choices:
        share = _find_share(choices, (shortest, most), budget, count_hours)
        return replace(choices, share=share)

    shortened = max(numbers.SHORTENED, shortest)
    for number, (name, change) in enumerate(additions.items()):
        # Trainings that are shorter for the sake of the first addition get no other.
        longer = replace(choices, **{"share": max(1.0, choices.share), **change})
        # The first is worth more than the last steps of each training.
        shorter = longer if number else replace(longer, share=shortened)
        wanted = replace(wanted, **change)
        if count_hours(longer) <= budget:
            choices = longer
        elif count_hours(shorter) <= budget:
            choices = shorten(longer, 1.0)
        else:
            if name == LONGER:
                choices = shorten(choices, longest)
            if name != LONGER or longest > 1:
                # Earlier parts would take the hours first.
                omitted.append((name, count_hours(wanted if number else shorter)))
    return Fit(choices=choices, hours=budget, omitted=omitted)


def _find_share(
    choices: Choices,
    shares: tuple[float, float],
    budget: float,
    count_hours: Callable[[Choices], float],
) -> float:
    """Return the largest share of its steps, in whole percents, that each training can take.

    Args:
        choices: The parts.
        shares: The smallest and the largest share to return.
        budget: Hours.
        count_hours: Returns the hours of a recipe.
    """
    low, high = (round(100 * share) for share in shares)
    while low < high:
        middle = (low + high + 1) // 2
        if count_hours(replace(choices, share=middle / 100)) <= budget:
            low = middle
        else:
            high = middle - 1
    return low / 100
