"""The recipe as a program: which stages follow from which results, and which plan fits, without doing any."""

from dataclasses import replace
from pathlib import Path

import pytest

from headway.cli.arguments import parse
from headway.cli.verbs import evaluate, train, translate
from headway.config import load
from headway.errors import UsageError
from headway.ext.best import recipe_numbers as numbers
from headway.ext.best.recipe import best_model
from headway.ext.best.recipe_numbers import PARTS, PLANS, SCALES, Scale, choose_scale
from headway.ext.best.recipe_options import Options
from headway.ext.best.recipe_plan import RecipePlan
from headway.ext.best.recipe_text import TextFacts
from headway.ext.best.report import make_rows
from headway.ext.best.running import _benchmark
from headway.ext.best.stage import (
    InstalledModel,
    Stage,
    StageResult,
    find_result,
    record_stage,
    replay,
)
from headway.ext.best.stage_maker import StageMaker
from support.cases import each_case

FACTS = TextFacts(
    cleaned=29_000, kept=29_000, source_tokens=29_000 * 15, target_tokens=29_000 * 17, validation=1013,
    mono_lines={"source": 58_000, "target": 700}, mono_tokens={"source": 58_000 * 15, "target": 700 * 17},
)  # fmt: skip
ALL = [*PARTS]
SCALE = Scale(
    most_pairs=1e9,
    sweep=({}, {"model.dropout": "0.3"}, {"text.vocab-size": "4000", "model.d-model": "192"}),
    forward_models=2,
    student={"search.precision": "int8"},
)
GIVEN = Options(train=["a.en", "a.de"], valid=1013, languages=("en", "de"))
OUT = Path("runs/best")


def maker(scale=SCALE, given=GIVEN, **overrides):
    settings = {
        name.replace("__", ".").replace("_", "-"): value for name, value in overrides.items()
    }
    options = replace(given, settings=settings)
    return StageMaker(out=OUT, options=options, facts=FACTS, scale=scale, length=1.0)


def follow(make, bleu, parts=ALL):
    """The stages of a recipe whose models have these scores; all others have 20."""
    recipe, stages = best_model(make, parts), {}
    stage = next(recipe)
    try:
        while True:
            assert stage.name not in stages
            stages[stage.name] = stage
            stage = recipe.send(StageResult(1.0, {"bleu": bleu.get(stage.name, 20.0)}))
    except StopIteration:
        return stages


def guessed(make):
    return [stage for stage, _ in replay(best_model(make, ALL), None, guesses=True)[0]]


def options(stage, verb=train):
    """The parsed options of a stage's first command."""
    words = [*map(str, stage.commands[0])]
    return parse(words[0], verb, words[1:])


WITH_TEXT = replace(
    GIVEN, teacher="t.de", mono_source=["m.en"], mono_target=["m.de"], test=["x.en", "x.de"]
)
WITH_MONO = replace(GIVEN, mono_source=["m.en"])
DROPOUTS = replace(
    SCALE,
    common={"model.dropout": "0.2"},
    forward={"model.dropout": "0.2"},
    final={"model.dropout": "0.1"},
)
STEPS = replace(SCALE, forward={"training.max-steps": "500"}, final={"training.max-steps": "800"})
GOES_ON = replace(SCALE, final={"training.rate-scale": "2"}, tuning={"training.rate-scale": "0.3"})
COOLING = replace(SCALE, forward={"training.max-steps": "5000", "training.cool-steps": "3300"})
# Recipes: what is given, the BLEU of models that have not 20, and the parts.
RECIPES = {
    "with all text": (maker(given=WITH_TEXT), {"forward-2": 21.0, "final": 22.0, "search-1": 22.5}, ALL),
    "a dropout wins the sweep": (maker(DROPOUTS), {"sweep-2": 21.0}, ALL),
    "another vocabulary wins the sweep": (maker(), {"sweep-3": 21.0}, ALL),
    "the forward model is not the last one": (maker(STEPS), {}, ["back-translation"]),
    "the forward model is the last one": (maker(STEPS), {}, []),
    "the last training goes on": (maker(GOES_ON), {"forward-2": 21.0}, ALL),
    "nothing goes on": (maker(GOES_ON), {}, ["student"]),
    "settings of the user": (maker(model__dropout="0.17", training__seed="7"), {}, ALL),
    "the last training is better": (maker(), {"final": 21.0}, ALL),
    "the last training is worse": (maker(), {"final": 19.0, "forward-2": 20.5}, ALL),
    "the ensemble is better": (maker(given=WITH_MONO), {"ensemble": 21.0}, ALL),
    "the ensemble is worse": (maker(given=WITH_MONO), {"ensemble": 19.0}, ALL),
    **{f"without {part}": (maker(), {}, [each for each in ALL if each != part]) for part in ALL},
    "forward translations alone": (maker(), {}, ["forward-translation"]),
    "larger penalties are better": (maker(), {"search-1": 20.1, "search-2": 20.2, "search-3": 20.1}, ALL),
    "a smaller penalty is better": (maker(), {"search-2": 20.1}, ALL),
    "a wider beam gains little": (maker(), {"search-3": 20.15}, ALL),
    "a wider beam gains enough": (maker(), {"search-3": 20.25}, ALL),
    "the student of the last training": (maker(SCALES[2]), {"forward-1": 20.0, "final": 30.0}, ALL),
    "the student of a forward model": (maker(SCALES[2]), {"forward-1": 20.0, "final": 1.0}, ALL),
    "the student of six layers": (maker(SCALES[2], model__num_decoder_layers="6"), {}, ALL),
    "the student of two layers": (maker(SCALES[2], model__num_decoder_layers="2"), {}, ALL),
    "a small beam is enough for the student": (maker(), {"student-beam-1": 19.7, "student-beam-2": 19.9}, ALL),
    "no beam is enough for the student": (maker(), {"student-beam-1": 10, "student-beam-2": 18, "student-beam-4": 17}, ALL),
    "steps of the user": (maker(COOLING, training__max_steps="1000"), {}, ALL),
    "a schedule of the user": (maker(COOLING, training__max_steps="1000", training__cool_steps="0"), {}, ALL),
    "duplicates": (maker(text__drop_duplicates="true"), {}, ALL),
    "leaks": (maker(given=WITH_TEXT, text__drop_leaks="false"), {}, ALL),
    "shorter trainings": (replace(maker(), length=0.5), {}, ALL),
    "languages called as formats of documents": (maker(given=replace(GIVEN, languages=("ts", "srt"))), {}, ALL),
    "a teacher alone": (maker(replace(SCALE, real_weight=2), replace(GIVEN, teacher="t.de")), {}, []),
    "settings that need each other": (maker(SCALES[2], training__cut="0.15", training__agreement="5"), {}, ALL),
}  # fmt: skip
RECORDED = Path(__file__).with_name("recipes.txt")


def list_stages(make, bleu, parts):
    """Return a line for each stage: what it does, and the test text that is kept out of what it joins."""
    return [
        f"{stage.name}: {' && '.join(stage.describe(OUT))}{getattr(stage.work, 'test', None) or ''}"
        for stage in follow(make, bleu, parts).values()
    ]


def list_recipes():
    """Yield the stages of the usual recipe, and of each other one what it has more and less."""
    usual = list_stages(maker(), {}, ALL)
    yield from usual
    for name, recipe in RECIPES.items():
        yield f"== {name}"
        own = list_stages(*recipe)
        yield from (f"- {line.partition(':')[0]}" for line in usual if line not in own)
        yield from (f"+ {line}" for line in own if line not in usual)


def test_every_command_of_every_scale_is_understood():
    given = replace(GIVEN, teacher="t.de", mono_source=["m.en"], mono_target=["m.de"])
    verbs = {"train": train, "evaluate": evaluate, "translate": translate}
    for scale in SCALES:
        for stage in guessed(maker(scale, given)):
            for command in stage.commands:
                verb, *words = map(str, command)
                parse(verb, verbs[verb], words)


def plan(facts=FACTS, speed=1e11, **changes):
    """The plan that fits."""
    found = RecipePlan("model", replace(GIVEN, **changes), {}, facts, speed)
    return replace(found, name=found.choose())


def test_the_longest_plan_that_fits_is_chosen():
    whole = plan(hours=1e6)
    assert whole.name == "everything"
    hours = [whole.estimate(name) / 3600 for name in PLANS]
    assert hours == sorted(hours)
    for number, name in enumerate(PLANS):
        for budget in (hours[number], (hours[number] + [*hours, 1e6][number + 1]) / 2):
            assert plan(hours=budget).name == name
    few = plan(hours=0.5 * hours[0])
    assert few.name == "model"
    assert "the shortest plan takes more than" in few.describe(OUT)
    for part, side in (("forward-translation", "source"), ("back-translation", "target")):
        text = f"--mono-{side} has no effect without {part}"
        assert text in few.describe(OUT)
        assert text not in whole.describe(OUT)
        assert text in plan(hours=1e6, without=[part]).describe(OUT)
    # Without hours: at most 8.
    assert plan().estimate(plan().name) <= 8 * 3600
    assert plan(speed=1e13).name == "everything"
    # What is left out takes no time.
    less = plan(hours=hours[2], without=["sweep", "seeds"])
    assert (less.name, less.list_parts(less.name)) == ("everything", ALL[:3])


def test_trainings_are_as_much_longer_as_the_text_in_the_longer_plans():
    def steps(tokens, **changes):
        facts = replace(FACTS, target_tokens=round(tokens))
        found = plan(facts, **changes)
        [stage] = [
            s for s, _ in replay(found.begin(OUT), None, guesses=True)[0] if s.name == "forward-1"
        ]
        return options(stage).overrides["training.max-steps"]

    usual = choose_scale(FACTS.cleaned).tokens
    for times, count in ((0.5, 5000), (1.0, 5000), (1.5, 7500), (9.0, 20_000)):
        assert steps(times * usual, hours=1e6) == str(count)
    assert steps(1.5 * usual, hours=1e6, without=["longer-trainings"]) == "5000"
    assert steps(1.5 * usual, hours=9.0) == "5000"  # the plan "translations"
    assert steps(1.5 * usual, hours=1e6, settings={"training.max-steps": "700"}) == "700"


@each_case
def test_settings_of_the_recipe_that_those_of_the_user_do_not_fit_are_named(settings, message):
    with pytest.raises(UsageError, match=message):
        SCALES[2].check(settings)


@pytest.mark.parametrize("scale", SCALES)
def test_each_training_can_have_as_many_ranks_as_the_first(scale):
    def micro_batches(stage):
        training = load(options(stage).preset, (), options(stage).overrides).training
        return training.batch_tokens // training.micro_batch_tokens

    trainings = [stage for stage in follow(maker(scale), {}).values() if stage.run]
    assert {options(stage).preset for stage in trainings} == {scale.preset}
    assert f"--preset {scale.preset} " in " ".join(_benchmark(scale, {}))
    assert len({micro_batches(stage) for stage in trainings}) == 1


def stage_that_copies(model):
    work = InstalledModel(Path(model), OUT, {})
    return Stage(name="one", purpose="", work=work)


def test_the_records_of_stages(tmp_path):
    (tmp_path / "stages").mkdir()
    one = stage_that_copies("a")
    assert find_result(tmp_path, one) is None
    for seconds in (2.0, 3.0):  # of a stopped stage count
        record_stage(tmp_path, one, seconds, is_finished=False)
        assert find_result(tmp_path, one) is None
    record_stage(tmp_path, one, 0.5, is_finished=True)
    assert find_result(tmp_path, one) == StageResult(5.5, {})
    with pytest.raises(ValueError, match="other commands"):
        find_result(tmp_path, stage_that_copies("b"))
    (tmp_path / "stages" / "one.json").write_text("{}")
    with pytest.raises(ValueError, match=r"one\.json: damaged: .* the stage is done again"):
        find_result(tmp_path, one)


def test_the_records_do_not_depend_on_the_path_of_the_directory(tmp_path):
    found = []
    # Some are parts of other words of the commands.
    for out in (tmp_path / "the best", *map(Path, ("best", "runs", "s", "en", "t"))):
        stages = follow(replace(maker(), out=out), {})
        found.append({name: stage.describe(out) for name, stage in stages.items()})
    assert all(each == found[0] for each in found)
    assert str(tmp_path) not in str(found)
    assert found[0]["install"][0].startswith("copy the model of OUT/runs/forward-1 to OUT/, with")


def test_gains_are_over_the_best_comparable_stage_before():
    bleu = {
        "sweep-1": 10.0,
        "sweep-2": 9.0,
        "sweep-3": 21.0,
        "backward": 44.0,
        "forward-1": 20.0,
        "final": 21.5,
    }
    stages = [(name, score, name != "backward") for name, score in bleu.items()]
    rows = make_rows(
        [
            (Stage(name=name, purpose="", is_compared=compared), StageResult(60.0, {"bleu": score}))
            for name, score, compared in stages
        ]
    )
    assert [cells[-1] for _, cells in rows] == ["", "-1.00", "+11.00", "", "-1.00", "+0.50"]


def test_the_sizes_of_text_choose_the_settings():
    assert [choose_scale(pairs) for pairs in (100, 9_000, 29_000, 200_000, 10**8)] == [*SCALES]
    assert [scale.most_pairs for scale in SCALES] == sorted(s.most_pairs for s in SCALES)
    assert numbers.PLANS["everything"] == tuple(PARTS)


def test_the_recipes_are_those_that_were_read_and_recorded():
    """After a change that is meant, ``python tests/ext/best/test_recipe.py`` writes them anew; read the difference."""
    assert [*list_recipes()] == RECORDED.read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    RECORDED.write_text("".join(f"{line}\n" for line in list_recipes()), encoding="utf-8")
