"""Estimates: how fast this machine trains, how long stages take, and which parts fit into the hours."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from headway.recipes import settings as numbers
from headway.recipes.ledger import Recipe
from headway.recipes.settings import ADDITIONS, Choices, Scale, Settings, list_options
from headway.recipes.stage import Command, Result, Scores, Stage

UNKNOWN = Scores(bleu=0.0, chrf=0.0)  # of a model that is not trained yet


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


def list_stages(recipe: Recipe) -> list[Stage]:
    """Return the stages of a recipe, as if all models had the same scores."""
    stages = []
    try:
        stage = next(recipe)
        while True:
            stages.append(stage)
            stage = recipe.send(Result(seconds=0.0, scores=UNKNOWN))
    except StopIteration:
        return stages


@dataclass(frozen=True, kw_only=True)
class Fit:
    """What fits into the hours.

    Attributes:
        choices: The parts that fit.
        hours: The hours that were planned for.
        omitted: What does not fit: the name of a part, and the hours that the recipe would take with it.
    """

    choices: Choices
    hours: float
    omitted: Sequence[tuple[str, float]]


def fit_parts(
    begin: Callable[[Choices], Recipe], scale: Scale, speed: float, hours: float | None
) -> Fit:
    """Choose the parts of a recipe, those first that are worth most for their time.

    Args:
        begin: Returns a new recipe with some parts.
        scale: Its settings.
        speed: FLOP a second of a training on this machine.
        hours: The hours that the user gives; None: as many as the whole recipe takes, at most
            `MOST_HOURS`.
    """

    def count_hours(choices: Choices) -> float:
        return sum(estimate_seconds(s, speed) for s in list_stages(begin(choices))) / 3600

    additions = [a for a in ADDITIONS if a.forward_models <= scale.forward_models]
    whole = Choices()
    for addition in additions:
        whole = addition.apply(whole)
    budget = min(count_hours(whole), numbers.MOST_HOURS) if hours is None else hours
    choices = Choices()
    if count_hours(choices) > budget:
        choices = replace(choices, shortening=_find_share(budget, count_hours))
    omitted = []
    for addition in additions:
        longer = addition.apply(choices)
        needed = count_hours(longer)
        if needed <= budget:
            choices = longer
        else:
            omitted.append((addition.name, needed))
    return Fit(choices=choices, hours=budget, omitted=omitted)


def _find_share(budget: float, count_hours: Callable[[Choices], float]) -> float:
    """Return the largest share of its steps, in whole percents, with which a single training fits."""
    # Part of the time does not depend on the steps, so the share is at most that of the time.
    most = int(100 * budget / count_hours(Choices()))
    shares = (percent / 100 for percent in range(min(99, most), 0, -1))
    fitting = (share for share in shares if count_hours(Choices(shortening=share)) <= budget)
    return max(numbers.SHORTEST, next(fitting, 0.0))
