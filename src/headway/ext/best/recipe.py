"""The recipe of ``headway best``: the best model that a text allows, as a plain program that yields stages."""

import math
from collections.abc import Collection, Generator
from dataclasses import dataclass, replace
from pathlib import Path

from headway.ext.best import recipe_numbers as numbers
from headway.ext.best.recipe_numbers import Settings
from headway.ext.best.recipe_text import PairFiles
from headway.ext.best.stage import Recipe, Stage, StageResult
from headway.ext.best.stage_maker import StageMaker

Texts = list[tuple[PairFiles, int]]  # and how often each is taken


@dataclass(frozen=True)
class TrainedModel:
    """A model of the wanted direction.

    Attributes:
        run: Its run directory.
        bleu: Its score.
    """

    run: Path
    bleu: float


def best_model(make: StageMaker, parts: Collection[str]) -> Recipe:
    """Yield the stages that lead to the best model; each decision depends on the results alone.

    Args:
        make: Makes the stages.
        parts: Of `recipe_numbers.PARTS`.
    """
    scale = make.scale
    swept = yield from _sweep(make, with_sweep="sweep" in parts)
    usual = {**scale.common, **swept}
    is_translated = "forward-translation" in parts or "back-translation" in parts
    backward = None
    ahead, back = (f"from {a} to {b}" for a, b in (make.options.pair, make.options.pair[::-1]))
    if "back-translation" in parts:
        backward = make.run("backward")
        yield make.train("backward", f"a model {back}", usual, is_backward=True)
    # Without translations by own models, the forward models are the last ones: trained as long as such, also on the
    # teacher's translations.
    last = {} if is_translated else scale.final
    taught: Texts = [(make.given("teacher"), 1)] if make.options.teacher else []
    real: Texts = [(make.given("train"), scale.real_weight)]
    models: list[TrainedModel] = []
    for seed in range(1, 1 + (scale.forward_models if "seeds" in parts else 1)):
        result = yield make.train(
            f"forward-{seed}", f"model {seed} {ahead}",
            {**scale.common, **scale.forward, **swept, **last},
            parts=real + taught if taught and not is_translated else (), seed=seed,
        )  # fmt: skip
        models.append(TrainedModel(make.run(f"forward-{seed}"), result.bleu))
    best = max(models, key=lambda model: model.bleu)

    if is_translated:
        yield make.install("install-first", best.run, make.out, {})
        translated: Texts = []
        if "forward-translation" in parts:
            translated += yield from _translate_forward(make, models, best, backward)
        if backward:
            for is_mono in (False, True):
                translated += yield from _translate(
                    make, "back-translation", "target", [backward], best.run, is_mono=is_mono
                )
        result = yield make.train(
            "final", "one model of real and translated text",
            {**usual, **(scale.tuning or scale.final)}, parts=real + translated + taught,
            init=best.run if scale.tuning else None,
        )  # fmt: skip
        final = TrainedModel(make.run("final"), result.bleu)
        best = max(best, final, key=lambda model: model.bleu)

    search, bleu = yield from _tune_search(make, best)
    yield make.install("install", best.run, make.out, search)
    if "student" in parts:
        yield from _distill(make, usual, TrainedModel(best.run, bleu), backward, search)


def _sweep(make: StageMaker, *, with_sweep: bool) -> Generator[Stage, StageResult, Settings]:
    """Train the candidates for a short time, and return the settings of the best, or the usual ones without a sweep."""
    usual, *others = make.scale.sweep
    fixed = make.options.settings  # by the user
    candidates = list[Settings]()  # each of them once
    for candidate in (usual, *({**usual, **other} for other in others)):
        free = {name: value for name, value in candidate.items() if name not in fixed}
        if free not in candidates:
            candidates.append(free)
    if not with_sweep or len(candidates) == 1:
        return candidates[0]
    scores = []
    for number, candidate in enumerate(candidates, 1):
        words = ", ".join(f"{name} {value}" for name, value in candidate.items())
        result = yield make.train(
            f"sweep-{number}", f"a short training: {words or 'usual settings'}",
            {**make.scale.common, **make.scale.forward, **candidate}, share=numbers.SWEEP_SHARE,
        )  # fmt: skip
        scores.append(result.bleu)
    return candidates[scores.index(max(scores))]


def _translate_forward(
    make: StageMaker, models: list[TrainedModel], best: TrainedModel, backward: Path | None
) -> Generator[Stage, StageResult, Texts]:
    """Translate the training sources, by all models together if that is better and by each alone otherwise.

    Args:
        make: Makes the stages.
        models: Of the wanted direction.
        best: The best of them. It translates monolingual sources, unless all together are better.
        backward: The model of the other direction, which helps to choose among candidates; None: there is none.
    """
    translators = [[model.run] for model in models]
    together = [best.run]
    if len(models) > 1:
        runs = [model.run for model in models]
        ensemble = make.score("ensemble", "all forward models together", runs)
        result = yield replace(ensemble, is_compared=False)
        if result.bleu > best.bleu:
            translators, together = [runs], runs
    texts = []
    for number, runs in enumerate(translators, 1):
        name = f"forward-translation-{number}"
        texts += yield from _translate(make, name, "source", runs, backward, is_mono=False)
    name = "forward-translation"
    texts += yield from _translate(make, name, "source", together, backward, is_mono=True)
    return texts


def _translate(
    make: StageMaker, name: str, side: str, models: list[Path], judge: Path | None, *, is_mono: bool
) -> Generator[Stage, StageResult, Texts]:
    """Translate a side of the training text, or monolingual text, if there is some.

    Args:
        make: Makes the stages.
        name: Of the stage; that of monolingual text has "-mono" behind it.
        side: That is translated, "source" or "target".
        models: They translate together.
        judge: A model of the other direction, which helps to choose among candidates; None: there is none.
        is_mono: Whether it is monolingual text.
    """
    if is_mono and not getattr(make.options, f"mono_{side}"):
        return []
    name += "-mono" * is_mono
    given, made = make.given("mono" if is_mono else "train"), make.made(name)
    is_backward = side == "target"
    text = PairFiles(given.source, made.target)
    if is_backward:
        text = PairFiles(made.source, given.target)
    purpose = f"translations of {'monolingual' if is_mono else 'the training'} {side}s"
    yield make.translate(
        name, purpose, models, text,
        judge=judge, is_backward=is_backward, mono=side if is_mono else "",
    )  # fmt: skip
    return [(text, 1)]


def _tune_search(
    make: StageMaker, model: TrainedModel
) -> Generator[Stage, StageResult, tuple[Settings, float]]:
    """Choose the length penalty, then the beam; return the search settings and their BLEU.

    Penalties are tried as long as the last one is better than the one before, first larger ones and then, if none
    of these is better, smaller ones. So are beams, which must gain `BEAM_GAIN`.
    """
    default = make.search  # that the model was scored with
    best = {"search.alpha": str(default.alpha), "search.beam": str(default.beam)}
    best_bleu = model.bleu
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
            words = ", ".join(f"{key.partition('.')[2]} {each}" for key, each in search.items())
            result = yield make.score(
                f"search-{number}", f"search with {words}", [model.run], search
            )
            if result.bleu > best_bleu + gain:
                best, best_bleu = search, result.bleu
            elif not math.isnan(result.bleu):  # of stages to come all are counted
                break
    return best, best_bleu


def _distill(
    make: StageMaker,
    usual: Settings,
    teacher: TrainedModel,
    backward: Path | None,
    search: Settings,
) -> Recipe:
    """Train a smaller model on the translations of the best one (knowledge distillation), and choose its beam.

    Args:
        make: Makes the stages.
        usual: Settings of all trainings.
        teacher: The installed model.
        backward: A model of the other direction; None: there is none.
        search: How the teacher searches.
    """
    real = make.given("train")
    text = PairFiles(real.source, make.made("distillation").target)
    yield make.translate(
        "distillation", "the best model's translations of the training sources", [teacher.run],
        text, search, judge=backward,
    )  # fmt: skip
    own = {**usual, **make.scale.student}
    student = make.train(
        "student", "a small fast model of these translations", own,
        parts=[(real, 1), (text, 1)], init=teacher.run, most_layers=numbers.STUDENT_LAYERS,
    )  # fmt: skip
    yield replace(student, is_compared=False)
    run = make.run("student")
    chosen: Settings = {}
    best = -math.inf
    for beam in numbers.STUDENT_BEAMS:
        tried = {
            "search.alpha": search["search.alpha"],
            "search.beam": str(beam),
            "search.precision": own["search.precision"],
        }
        scored = make.score(f"student-beam-{beam}", f"the student with beam {beam}", [run], tried)
        result = yield replace(scored, is_compared=False)
        if not result.bleu <= best:  # a wider one must be better; a score to come is no number
            chosen, best = tried, result.bleu
        if result.bleu >= numbers.STUDENT_SHARE * teacher.bleu:
            break
    yield make.install("install-student", run, make.out / "student", chosen)
