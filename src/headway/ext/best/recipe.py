"""The recipe of ``headway best``: the best model that a text allows, as a plain program that yields stages."""

import math
from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path

from headway.ext.best import recipe_numbers as numbers
from headway.ext.best.facts import TextFacts
from headway.ext.best.given import GivenText
from headway.ext.best.installing import InstallModel, install
from headway.ext.best.recipe_numbers import Choices, Settings, choose_scale
from headway.ext.best.recipe_plan import Options
from headway.ext.best.stage import Stage, StageResult
from headway.ext.best.stage_maker import StageMaker
from headway.ext.best.stage_records import Recipe
from headway.ext.best.text_work import ImportText, JoinPairs, PairFiles
from headway.ext.best.translations import TrainedModel, translate_all

Stages = Generator[Stage, StageResult, None]


def begin_recipe(out: Path, options: Options, facts: TextFacts, choices: Choices) -> Recipe:
    """Return the recipe at its beginning.

    Args:
        out: The directory for all files.
        options: What the user asks for.
        facts: What is known about the text.
        choices: The parts of the recipe.
    """
    make = StageMaker(
        out=out, languages=options.languages, facts=facts, scale=choose_scale(facts.cleaned), choices=choices,
        overrides=options.settings,
    )  # fmt: skip
    return best_model(make, options)


def best_model(make: StageMaker, given: GivenText) -> Recipe:
    """Yield the stages that lead to the best model; each decision depends on the results alone.

    Args:
        make: Makes the stages.
        given: The user's files.
    """
    scale, choices = make.scale, make.choices
    real = make.text("train")
    teacher = make.text("teacher")
    ahead, back = (f"from {a} to {b}" for a, b in (given.languages, given.languages[::-1]))
    yield Stage(
        name="text",
        part="text",
        purpose="clean the text",
        work=ImportText(given=given, train=real, valid=make.text("valid"), teacher=teacher.target),
        seconds=make.facts.read / numbers.PAIRS_IMPORTED,
    )
    swept = yield from _sweep(make, real)

    backward = make.run("backward") if choices.back_translation else None
    if backward:
        yield make.train(
            "backward", "models", f"a model {back}", real.reversed,
            {**scale.common, **swept}, is_backward=True,
        )  # fmt: skip
    # Without translations by own models, the forward models are the last ones: trained as long as such, also on the
    # teacher's translations.
    as_last = {} if choices.back_translation else scale.final
    taught, pairs = None, make.facts.kept
    if given.teacher and not choices.back_translation:
        by_teacher = PairFiles(source=real.source, target=teacher.target)
        taught = JoinPairs(
            given=given,
            parts=[(real, scale.real_weight), (by_teacher, 1)],
            output=make.text("taught"),
        )
        pairs *= scale.real_weight + 1
    models: list[TrainedModel] = []
    for seed in range(1, choices.forward_models + 1):
        result = yield make.train(
            f"forward-{seed}", "models", f"model {seed} {ahead}",
            taught.output if taught else real, {**scale.common, **scale.forward, **swept, **as_last},
            lines=pairs, seed=seed, work=taught,
        )  # fmt: skip
        models.append(TrainedModel(make.run(f"forward-{seed}"), result))
    best = max(models, key=lambda model: model.result.bleu)

    if backward:
        work = InstallModel(best.run, make.out, {})
        yield install("install-first", "models", "the best model so far", work, best.result.bleu)
        union, pairs = yield from translate_all(make, given, models, best, backward)
        result = yield make.train(
            "final", "translations", "one model of real and translated text", union.output,
            {**scale.common, **swept, **(scale.tuning or scale.final)}, lines=pairs, work=union,
            init=best.run if scale.tuning else None,
        )  # fmt: skip
        best = max(
            best, TrainedModel(make.run("final"), result), key=lambda model: model.result.bleu
        )

    search, bleu = yield from _tune_search(make, best)
    work = InstallModel(best.run, make.out, search)
    yield install("install", "search", "the best model", work, bleu)
    if choices.student:
        yield from _distill(make, given, swept, best.run, backward, search, bleu)


def _sweep(make: StageMaker, real: PairFiles) -> Generator[Stage, StageResult, Settings]:
    """Train the candidates for a short time, and return the settings of the best."""
    usual, *others = make.scale.sweep
    candidates = _distinct([usual, *({**usual, **other} for other in others)], make.overrides)
    if not make.choices.sweep or len(candidates) == 1:
        return candidates[0]
    scores = []
    for number, candidate in enumerate(candidates, 1):
        words = ", ".join(f"{name} {value}" for name, value in candidate.items())
        result = yield make.train(
            f"sweep-{number}", "sweep", f"a short training: {words or 'usual settings'}", real,
            {**make.scale.common, **make.scale.forward, **candidate}, share=numbers.SWEEP_SHARE,
        )  # fmt: skip
        scores.append(result.bleu)
    return candidates[scores.index(max(scores))]


def _distinct(candidates: Sequence[Settings], overrides: Settings) -> list[Settings]:
    """Return the candidates without the settings that the user has fixed, each of them once."""
    distinct: list[Settings] = []
    for candidate in candidates:
        free = {name: value for name, value in candidate.items() if name not in overrides}
        if free not in distinct:
            distinct.append(free)
    return distinct


def _tune_search(
    make: StageMaker, model: TrainedModel
) -> Generator[Stage, StageResult, tuple[Settings, float]]:
    """Choose the length penalty, then the beam; return the search settings and their BLEU.

    Penalties are tried as long as the last one is better than the one before, first larger ones and then, if none
    of these is better, smaller ones. So are beams, which must gain `BEAM_GAIN`.
    """
    default = make.search  # that the model was scored with
    best = {"search.alpha": str(default.alpha), "search.beam": str(default.beam)}
    best_bleu = model.result.bleu
    larger = [alpha for alpha in numbers.ALPHAS if alpha > default.alpha]
    smaller = [alpha for alpha in reversed(numbers.ALPHAS) if alpha < default.alpha]
    number = 0
    for name, values, gain in (
        ("search.alpha", larger, 0.0),
        ("search.alpha", smaller, 0.0),
        ("search.beam", numbers.BEAMS, numbers.BEAM_GAIN),
    ):
        if name == "search.alpha" and best[name] != str(default.alpha):
            continue
        for value in values:
            search = {**best, name: str(value)}
            number += 1
            result = yield _search_stage(make, f"search-{number}", model.run, search)
            if result.bleu > best_bleu + gain:
                best, best_bleu = search, result.bleu
            elif not math.isnan(result.bleu):  # of stages to come all are counted
                break
    return best, best_bleu


def _search_stage(make: StageMaker, name: str, model: Path, search: Settings) -> Stage:
    words = ", ".join(f"{key.partition('.')[2]} {value}" for key, value in search.items())
    return make.score(name, "search", f"search with {words}", [model], search)


def _distill(
    make: StageMaker,
    given: GivenText,
    swept: Settings,
    teacher: Path,
    backward: Path | None,
    search: Settings,
    bleu: float,
) -> Stages:
    """Train a smaller model on the translations of the final one, and choose its beam.

    Args:
        make: Makes the stages.
        given: The user's files.
        swept: Settings that the sweep chose.
        teacher: The run directory of the final model.
        backward: That of a model of the other direction; None: there is none.
        search: How the final model searches.
        bleu: Of the final model.
    """
    real = make.text("train")
    short = make.text("student-short")
    yield make.leave_out_long("student-short", "student", teacher, short)
    text = PairFiles(source=short.source, target=make.text("student").target)
    yield make.translate(
        "student-text", "student", "the final model's translations of the training sources", [teacher],
        text.source, text.target, make.facts.kept, search, backward=backward,
    )  # fmt: skip
    own = {**make.scale.common, **swept, **make.scale.student}
    both = JoinPairs(given=given, parts=[(real, 1), (text, 1)], output=make.text("student-all"))
    student = make.train(
        "student", "student", "a small fast model of these translations", both.output, own,
        lines=2 * make.facts.kept, work=both, init=teacher, limits={"model.num-decoder-layers": numbers.STUDENT_LAYERS},
    )  # fmt: skip
    yield replace(student, is_compared=False)
    run = make.run("student")
    precision = own["search.precision"]
    alpha = search["search.alpha"]
    chosen: Settings = {}
    best = -math.inf
    for beam in numbers.STUDENT_BEAMS:
        tried = {"search.alpha": alpha, "search.beam": str(beam), "search.precision": precision}
        scored = make.score(
            f"student-beam-{beam}", "student", f"the student with beam {beam}", [run], tried
        )
        result = yield replace(scored, is_compared=False)
        if not result.bleu <= best:  # a wider one must be better; a score to come is no number
            chosen, best = tried, result.bleu
        if result.bleu >= numbers.STUDENT_SHARE * bleu:
            break
    work = InstallModel(run, make.out / "student", chosen)
    yield install("install-student", "student", "the student", work, best)
