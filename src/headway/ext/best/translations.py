"""A part of the recipe: the models translate all text that there is, for one model to learn from."""

from collections.abc import Generator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from headway.ext.best import recipe_numbers as numbers
from headway.ext.best.given import GivenText
from headway.ext.best.stage import Stage, StageResult
from headway.ext.best.stage_maker import StageMaker
from headway.ext.best.text_work import ImportLines, JoinPairs, PairFiles


@dataclass(frozen=True)
class TrainedModel:
    """A model of the wanted direction.

    Attributes:
        run: Its run directory.
        result: Its scores.
    """

    run: Path
    result: StageResult


def translate_all(
    make: StageMaker,
    given: GivenText,
    models: list[TrainedModel],
    best: TrainedModel,
    backward: Path,
) -> Generator[Stage, StageResult, tuple[JoinPairs, int]]:
    """Translate all text there is; return how to join the real and the translated text, and about how many pairs it is.

    Args:
        make: Makes the stages.
        given: The user's files.
        models: The models of the wanted direction, which translate the sources.
        best: The best of them. It helps to choose among the translations of targets, and translates monolingual
            sources, unless all together are better.
        backward: The model that translates the targets, and helps to choose among the translations of sources.
    """
    translators = yield from _choose_translators(make, models, best)
    scale, facts = make.scale, make.facts
    real, short = make.text("train"), make.text("short")
    yield make.leave_out_long("short", "translations", best.run, short)
    parts = []
    for number, together in enumerate(translators, 1):
        own = make.text(f"own-{number}").target
        yield make.translate(
            f"own-{number}", "translations", "translations of the training sources", together,
            short.source, own, facts.kept, backward=backward,
        )  # fmt: skip
        parts.append((PairFiles(source=short.source, target=own), 1))
    back = make.text("back").source
    yield make.translate(
        "back", "translations", "translations of the training targets", [backward],
        short.target, back, facts.kept, backward=best.run,
    )  # fmt: skip
    parts.append((PairFiles(source=back, target=short.target), 1))
    if given.teacher:
        teacher = make.text("teacher").target
        parts.append((PairFiles(source=real.source, target=teacher), 1))
    pairs = (scale.real_weight + len(parts)) * facts.kept
    together = translators[0] if len(translators) == 1 else [best.run]
    if given.mono_source:
        lines = yield from _translate_lines(make, given, "source", together, backward)
        parts.append((make.text("mono-source"), 1))
        pairs += lines
    if given.mono_target:
        lines = yield from _translate_lines(make, given, "target", [backward], best.run)
        parts.append((make.text("mono-target"), 1))
        pairs += lines
    parts = [(real, scale.real_weight), *parts]
    return JoinPairs(given=given, parts=parts, output=make.text("all")), pairs


def _choose_translators(
    make: StageMaker, models: list[TrainedModel], best: TrainedModel
) -> Generator[Stage, StageResult, list[list[Path]]]:
    """Return the models that translate the training sources: together if that is better, else one by one."""
    runs = [model.run for model in models]
    if len(runs) > 1:
        ensemble = make.score("ensemble", "translations", "all forward models together", runs)
        result = yield replace(ensemble, is_compared=False)
        if result.bleu > best.result.bleu:
            return [runs]
    return [[run] for run in runs]


def _translate_lines(
    make: StageMaker,
    given: GivenText,
    side: Literal["source", "target"],
    models: list[Path],
    judge: Path,
) -> Generator[Stage, StageResult, int]:
    """Translate monolingual lines; return about how many they are.

    Args:
        make: Makes the stages.
        given: The user's files.
        side: The language of the lines.
        models: The models that translate them, together.
        judge: The model of the other direction, which helps to choose.
    """
    files, found = getattr(given, f"mono_{side}"), getattr(make.facts, f"mono_{side}")
    text = make.text(f"mono-{side}")
    read, written = text.source, text.target
    if side == "target":
        read, written = written, read
    most = int(numbers.MONO_WEIGHT * make.facts.kept)
    lines = min(found, most)
    yield make.translate(
        f"mono-{side}", "translations", f"translations of monolingual {side}s", models,
        read, written, lines, backward=judge, times=make.facts.compare_lengths(side),
        work=ImportLines(given=given, side=side, files=files, share=most / max(1, found),
                         valid=getattr(make.text("valid"), side), model=models[0], most=make.most_tokens,
                         output=read),
        seconds=found / numbers.PAIRS_IMPORTED,
    )  # fmt: skip
    return lines
