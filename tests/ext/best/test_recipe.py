"""The recipe as a program: which stages follow from which results, without doing any."""

import re
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headway.cli.arguments import parse
from headway.cli.verbs import evaluate, train, translate
from headway.config import PRESETS, load
from headway.errors import UsageError
from headway.ext.best import recipe_numbers as numbers
from headway.ext.best.estimates import Fit, benchmark, estimate_seconds, fit_parts, list_stages
from headway.ext.best.execution import describe_plan
from headway.ext.best.facts import TextFacts
from headway.ext.best.given import GivenText
from headway.ext.best.recipe import begin_recipe, best_model
from headway.ext.best.recipe_numbers import SCALES, Choices, Scale, choose_scale
from headway.ext.best.recipe_plan import Options, RecipePlan
from headway.ext.best.report import judge_parts, make_rows
from headway.ext.best.resolving import check_settings
from headway.ext.best.stage import FileWork, ModelScores, Stage, StageResult
from headway.ext.best.stage_maker import StageMaker
from headway.ext.best.stage_records import StageRecords, unfinished_stages
from headway.ext.best.text_work import KeepShort
from headway.ext.documents.opening import check_is_lines, is_document

FACTS = TextFacts(
    read=31_000, kept=29_000, dropped={}, source_characters=29_000 * 61, target_characters=29_000 * 71,
    source_tokens=29_000 * 15, target_tokens=29_000 * 17, validation=1013, mono_source=200_000, mono_target=700,
    mono_source_characters=200_000 * 61, mono_target_characters=700 * 71,
)  # fmt: skip
ALL = Choices(sweep=True, forward_models=2, back_translation=True, student=True)
SCALE = Scale(
    most_pairs=1e9,
    sweep=({}, {"model.dropout": "0.3"}, {"text.vocab-size": "4000", "model.d-model": "192"}),
    forward_models=2,
    student={"search.precision": "int8"},
)
GIVEN = GivenText(train=["a.en", "a.de"], valid=1013, languages=("en", "de"))
OUT = Path("runs/best")


def maker(scale: Scale = SCALE, choices: Choices = ALL, **overrides: str) -> StageMaker:
    settings = {
        name.replace("__", ".").replace("_", "-"): value for name, value in overrides.items()
    }
    return StageMaker(
        out=OUT,
        languages=("en", "de"),
        facts=FACTS,
        scale=scale,
        choices=choices,
        overrides=settings,
    )


def follow(make: StageMaker, bleu: dict[str, float], given: GivenText = GIVEN) -> dict[str, Stage]:
    """The stages of a recipe whose models have these scores; all others have 20."""
    recipe, stages = best_model(make, given), {}
    stage = next(recipe)
    try:
        while True:
            assert stage.name not in stages
            stages[stage.name] = stage
            scores = ModelScores(bleu=bleu.get(stage.name, 20.0), chrf=50.0)
            stage = recipe.send(StageResult(seconds=1.0, scores=scores if stage.scores else None))
    except StopIteration:
        return stages


def options(stage: Stage, verb=train):
    """The parsed options of a stage's first command."""
    return parse(stage.commands[0].words[0], verb, stage.commands[0].words[1:])


@pytest.mark.slow
def test_every_command_of_every_scale_is_understood():
    given = replace(GIVEN, teacher="t.de", mono_source=["m.en"], mono_target=["m.de"])
    verbs = {"train": train, "evaluate": evaluate, "translate": translate}
    for scale in SCALES:
        for stage in list_stages(best_model(maker(scale), given)):
            for command in stage.commands:
                verb, *words = command.words
                parse(verb, verbs[verb], words)


def test_the_sweep_wins_over_the_usual_settings_and_the_last_training_over_the_sweep():
    usual = {"model.dropout": "0.2"}
    scale = replace(SCALE, common=usual, forward=usual, final={"model.dropout": "0.1"})
    stages = follow(maker(scale), {"sweep-2": 21.0})
    names = ("sweep-1", "sweep-2", "backward", "forward-1", "final")
    dropouts = [options(stages[name]).overrides["model.dropout"] for name in names]
    assert dropouts == ["0.2", "0.3", "0.3", "0.3", "0.1"]
    stages = follow(maker(), {"sweep-3": 21.0})
    for name in ("backward", "forward-1", "final", "student"):
        settings = options(stages[name]).overrides
        assert (settings["text.vocab-size"], settings["model.d-model"]) == ("4000", "192")


def test_a_forward_model_is_trained_as_long_as_the_last_one_if_it_is_the_last_one():
    def steps(of: int) -> dict[str, str]:
        return {"training.max-steps": str(of)}

    scale = replace(SCALE, forward=steps(500), final=steps(800))
    for back_translation, names in ((True, ["500", "800"]), (False, ["800"])):
        stages = follow(maker(scale, Choices(back_translation=back_translation)), {})
        trained = [stages[name] for name in ("forward-1", "final") if name in stages]
        assert [options(s).overrides["training.max-steps"] for s in trained] == names


def test_the_last_training_goes_on_from_the_best_forward_model_if_the_scale_says_so():
    scale = replace(
        SCALE, final={"training.rate-scale": "2"}, tuning={"training.rate-scale": "0.3"}
    )
    for chosen, init, rate in ((scale, str(OUT / "runs/forward-2"), "0.3"), (SCALE, None, None)):
        stages = follow(maker(chosen), {"forward-2": 21.0})
        final = options(stages["final"])
        assert (final.init, final.overrides.get("training.rate-scale")) == (init, rate)
        assert options(stages["forward-1"]).init is None
    alone = follow(maker(scale, Choices(student=True)), {})
    assert options(alone["forward-1"]).overrides["training.rate-scale"] == "2"
    assert "backward" not in alone
    assert options(alone["student-text"], translate).backward is None


def test_settings_of_the_user_hold_in_every_training_and_are_not_swept():
    stages = follow(maker(model__dropout="0.17", training__seed="7"), {})
    trainings = [s for s in stages.values() if s.run]
    assert {options(s).overrides["model.dropout"] for s in trainings} == {"0.17"}
    assert "sweep-3" not in stages  # the second candidate differs in the dropout alone
    assert options(stages["forward-1"]).overrides["training.seed"] == "7"
    assert options(stages["forward-2"]).overrides["training.seed"] == "1007"


def test_the_last_training_is_installed_only_if_it_is_better():
    assert str(OUT / "runs/final") in follow(maker(), {"final": 21.0})["install"].describe()[0]
    stages = follow(maker(), {"final": 19.0, "forward-2": 20.5})
    assert str(OUT / "runs/forward-2") in stages["install"].describe()[0]
    assert stages["install-first"].describe() == [
        f"copy the model of {OUT}/runs/forward-2 to {OUT}/"
    ]


@pytest.mark.parametrize(("bleu", "texts"), [(21.0, 1), (19.0, 2)])
def test_an_ensemble_translates_only_if_it_is_better(bleu, texts):
    stages = follow(maker(), {"ensemble": bleu})
    own = [stage for name, stage in stages.items() if name.startswith("own-")]
    assert len(own) == texts
    models = [[str(OUT / "runs/forward-1")], [str(OUT / "runs/forward-2")]]
    assert [options(stage, translate).models for stage in own] == (
        [[*models[0], *models[1]]] if texts == 1 else models
    )
    given = replace(GIVEN, mono_source=["m.en"])
    mono = options(follow(maker(), {"ensemble": bleu}, given)["mono-source"], translate)
    assert mono.models == [model for [model] in models][:: 1 if texts == 1 else 2]


def searched(stages: dict[str, Stage]) -> list[tuple[str, str]]:
    """The length penalties and beams that were tried."""
    found = [options(s, evaluate).overrides for n, s in stages.items() if n.startswith("search-")]
    return [(each["search.alpha"], each["search.beam"]) for each in found]


def test_length_penalties_are_tried_as_long_as_they_get_better():
    # The models were scored with alpha 1.0 and beam 4, those of quick, and all have 20 BLEU.
    stages = follow(maker(), {"search-1": 20.1, "search-2": 20.2, "search-3": 20.1})
    assert searched(stages) == [("1.4", "4"), ("1.8", "4"), ("2.4", "4"), ("1.8", "8")]
    assert "--search.alpha 1.8 --search.beam 4" in stages["install"].describe()[0]
    # If no larger one is better, smaller ones are tried.
    stages = follow(maker(), {"search-2": 20.1})
    assert searched(stages) == [("1.4", "4"), ("0.6", "4"), ("0.0", "4"), ("0.6", "8")]
    assert "--search.alpha 0.6 --search.beam 4" in stages["install"].describe()[0]


def test_a_wider_beam_must_gain_more_than_a_length_penalty():
    for gain, beam in ((0.15, 4), (0.25, 8)):
        stages = follow(maker(), {"search-3": 20 + gain})
        assert searched(stages)[2:] == [("1.0", "8"), ("1.0", "16")][: 1 + (beam == 8)]
        assert f"--search.alpha 1.0 --search.beam {beam}" in stages["install"].describe()[0]


def test_the_student_goes_on_from_the_installed_model_with_fewer_layers():
    for bleu, teacher in ((30.0, "final"), (1.0, "forward-1")):
        stages = follow(maker(SCALES[2]), {"forward-1": 20.0, "final": bleu})
        student = options(stages["student"])
        assert student.init == f"runs/best/runs/{teacher}"
        layers = int(student.overrides["model.num-decoder-layers"])
        assert 0 < layers < PRESETS["quick"].model.num_decoder_layers
        assert (
            student.overrides["model.d-model"]
            == options(stages["final"]).overrides["model.d-model"]
        )


def test_a_score_of_zero_is_a_score():
    """Models that all have it need no more trials than models that all have 20; a plan has all trials."""
    usual = [*follow(maker(), {})]
    assert [*follow(maker(), dict.fromkeys(usual, 0.0))] == usual
    planned = {stage.name for stage in list_stages(best_model(maker(), GIVEN))}
    assert planned - {*usual} >= {"search-8", "student-beam-2", "student-beam-4"}


def test_the_student_has_the_first_beam_that_is_good_enough():
    stages = follow(maker(), {"student-beam-1": 19.7, "student-beam-2": 19.9})
    assert "student-beam-4" not in stages
    assert "--search.beam 2" in stages["install-student"].describe()[0]
    assert stages["install-student"].product == 19.9
    none = follow(maker(), {"student-beam-1": 10, "student-beam-2": 18, "student-beam-4": 17})
    assert "--search.beam 2" in none["install-student"].describe()[0]


@pytest.mark.slow
def test_a_plan_is_shorter_than_its_hours_and_each_part_adds_time():
    def begin(choices: Choices):
        return best_model(maker(choices=choices), GIVEN)

    def hours(choices: Choices) -> float:
        return sum(estimate_seconds(stage, 1e11) for stage in list_stages(begin(choices))) / 3600

    whole = fit_parts(begin, SCALE, 1.0, 1e11, 1e6)
    assert whole.choices == ALL
    assert whole.omitted == []
    steps = [0.2, 0.5, 1.0, 2.0, 4.0]
    fits = [fit_parts(begin, SCALE, 1.0, 1e11, share * hours(Choices())) for share in steps]
    assert all(hours(fit.choices) <= fit.hours for fit in fits)
    assert [hours(fit.choices) for fit in fits] == sorted(hours(fit.choices) for fit in fits)
    assert fits[0].choices.share < 0.2 < fits[1].choices.share < 0.5
    assert fits[2].choices == Choices()
    assert fits[2].omitted[0][0] == "training on translations"
    # For the sake of the first addition, trainings may be a little shorter.
    first = replace(Choices(), back_translation=True)
    for budget, back_translation in ((0.99, True), (0.85, True), (0.75, False)):
        fit = fit_parts(begin, SCALE, 1.0, 1e11, budget * hours(first))
        assert fit.choices.back_translation == back_translation
        assert 0.8 <= fit.choices.share <= 1
        assert hours(fit.choices) <= fit.hours
        assert ("training on translations" in dict(fit.omitted)) != back_translation
    # Trainings that the user has fixed keep their steps.
    for share in (0.1, 0.9):
        fit = fit_parts(begin, SCALE, 1.0, 1e11, share * hours(first), shortest=1.0)
        assert (fit.choices.share, fit.choices.back_translation) == (1.0, False)
    # Without hours: all, but not more than the limit.
    assert fit_parts(begin, SCALE, 1.0, 1e11, None).choices == whole.choices
    slow = fit_parts(begin, SCALE, 1.0, 1e9, None)
    assert slow.hours == numbers.MOST_HOURS


@pytest.mark.slow
def test_trainings_are_as_much_longer_as_the_text_if_the_hours_allow_it():
    def fit(times: float, hours: float | None, longest: float = 9.0) -> Fit:
        """The plan for a text that is so many times longer than those that the steps suit."""
        scale = replace(SCALE, tokens=29_000 * 17 / times, longest=longest)
        return fit_parts(
            lambda choices: best_model(maker(scale, choices), GIVEN),
            scale,
            scale.find_longest(29_000 * 17),
            1e12,
            hours,
        )

    whole = ALL
    for times, longest, share in (
        (0.5, 9.0, 1.0),
        (1.0, 9.0, 1.0),
        (3.0, 9.0, 3.0),
        (3.0, 2.0, 2.0),
    ):
        for hours in (1e6, None):
            found = fit(times, hours, longest)
            assert (found.choices, found.omitted) == (replace(whole, share=share), [])
    # They are more worth than a sweep and a second model, and less than translations and a student.
    usual = fit(1.0, None).hours
    some = fit(3.0, usual)
    assert some.choices == Choices(back_translation=True, student=True, share=some.choices.share)
    assert 1.1 < some.choices.share < 2
    assert [name for name, _ in some.omitted] == [
        "longer trainings",
        "the sweep",
        "a second forward model",
    ]
    most = fit(3.0, 1.5 * usual)
    assert some.choices.share < most.choices.share < 3
    few = fit(3.0, 0.05 * usual)
    assert few.choices == Choices(share=few.choices.share)
    assert few.choices.share < 1
    longer = maker(SCALE, most.choices)
    steps = options(follow(longer, {})["final"]).overrides["training.max-steps"]
    assert int(steps) == round(3200 * most.choices.share)


def test_a_number_of_steps_changes_the_whole_schedule():
    scale = replace(SCALE, forward={"training.max-steps": "5000", "training.cool-steps": "3300"})
    overrides = options(follow(maker(scale, training__max_steps="1000"), {})["forward-1"]).overrides
    names = ("max-steps", "warmup-steps", "cool-steps", "validate-every")
    assert [overrides[f"training.{name}"] for name in names] == ["1000", "40", "660", "80"]
    given = maker(scale, training__max_steps="1000", training__cool_steps="0")
    assert options(follow(given, {})["forward-1"]).overrides["training.cool-steps"] == "0"


def test_repeated_text_is_not_dropped_in_the_trainings_whatever_the_user_says_of_duplicates():
    stages = follow(maker(text__drop_duplicates="true"), {})
    assert {options(s).overrides["text.drop-duplicates"] for s in stages.values() if s.run} == {
        "false"
    }


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"training.cut": "0.15"},
            "needs agreement, .*; .* itself sets --training.agreement 0 for",
        ),
        (
            {"model.d-model": "256"},
            "no.* multiple of num_heads = 6: .* sets --model.num-heads 6 for",
        ),
        ({"model.d-model": "10", "model.num-heads": "4"}, "multiple of num_heads = 4: .* heads$"),
        ({"model.kind": "classifier"}, "--model.kind: the command or its data decides the kind"),
    ],
)
def test_settings_of_the_recipe_that_those_of_the_user_do_not_fit_are_named(settings, message):
    with pytest.raises(UsageError, match=message):
        check_settings(SCALES[2], settings)


def test_settings_of_a_preset_that_those_of_the_user_do_not_fit_are_named():
    with pytest.raises(UsageError, match=r"itself sets --model.num-heads 6 for"):
        check_settings(SCALES[3], {"model.d-model": "256"})


def test_settings_that_the_trainings_of_a_recipe_can_have_are_accepted():
    for settings in (
        {},
        {"training.cut": "0.15", "training.agreement": "5"},
        {"model.d-model": "256", "model.num-heads": "4"},
    ):
        check_settings(SCALES[2], settings)
        overrides = {name.replace(".", "__"): value for name, value in settings.items()}
        follow(maker(SCALES[2], **overrides), {})


@pytest.mark.parametrize("scale", SCALES)
def test_each_training_can_have_as_many_ranks_as_the_first(scale):
    def micro_batches(stage: Stage) -> int:
        training = load(options(stage).preset, (), options(stage).overrides).training
        return training.batch_tokens // training.micro_batch_tokens

    trainings = [stage for stage in follow(maker(scale), {}).values() if stage.run]
    assert {options(stage).preset for stage in trainings} == {scale.preset}
    assert f"--preset {scale.preset} " in " ".join(benchmark(scale, {}, OUT).words)
    assert len({micro_batches(stage) for stage in trainings}) == 1


def test_a_shortened_training_keeps_the_proportions_of_its_schedule():
    stages = follow(maker(choices=replace(ALL, share=0.5)), {})
    # Of quick: 3,200 steps, 200 of warm-up, 2,100 of cooling.
    settings = options(stages["forward-1"]).overrides
    names = ("max-steps", "warmup-steps", "cool-steps", "validate-every", "checkpoint-every")
    assert [settings[f"training.{name}"] for name in names] == ["1600", "100", "1050", "200", "50"]
    assert options(stages["sweep-1"]).overrides["training.max-steps"] == "400"


def test_other_commands_than_those_on_record_are_refused(tmp_path):
    stage = Stage(name="text", part="text", purpose="", work=_NoWork("one"))
    StageRecords(tmp_path).finish(stage)
    assert StageRecords(tmp_path).find(stage) == StageResult(seconds=0.0)
    with pytest.raises(ValueError, match="other commands"):
        StageRecords(tmp_path).find(replace(stage, work=_NoWork("two")))


def test_the_records_do_not_depend_on_the_path_of_the_directory(tmp_path):
    records = []
    # Some are parts of other words of the commands.
    for out in (
        tmp_path / "the best",
        Path("best"),
        Path("runs"),
        Path("s"),
        Path("en"),
        Path("t"),
    ):
        make = replace(maker(), out=out)
        stages = follow(make, {})
        records.append({name: stage.describe(out) for name, stage in stages.items()})
    assert all(record == records[0] for record in records)
    assert str(tmp_path) not in str(records)
    assert records[0]["install"][0].startswith("copy the model of OUT/runs/forward-1 to OUT/, with")


@pytest.mark.slow
def test_the_seconds_of_a_stopped_stage_count(tmp_path):
    stage = Stage(name="text", part="text", purpose="", work=_NoWork("one"))
    records = StageRecords(tmp_path)
    with suppress(KeyboardInterrupt), records.timed(stage):
        time.sleep(0.05)
        raise KeyboardInterrupt
    assert records.find(stage) is None
    with records.timed(stage):
        time.sleep(0.05)
    records.finish(stage)
    result = records.find(stage)
    assert result is not None
    assert 0.1 <= result.seconds < 10


def test_a_replayed_recipe_goes_on_behind_the_finished_stages(tmp_path):
    def begin():
        for name in ("one", "two", "three"):
            yield Stage(name=name, part="text", purpose="", work=_NoWork(name))

    records = StageRecords(tmp_path)
    done: list[str] = []
    for _ in range(2):
        finished: list[tuple[Stage, StageResult]] = []
        for stage in unfinished_stages(begin(), records, finished):
            done.append(stage.name)
            records.finish(stage)
            if stage.name == "two" and len(done) == 2:
                break
    assert done == ["one", "two", "three"]
    assert [stage.name for stage, _ in finished] == ["one", "two", "three"]


@pytest.mark.slow
def test_a_recipe_goes_on_without_any_of_its_records(tmp_path, monkeypatch):
    """As after a damaged one is deleted: the later ones are of a winner that is not known before the stage is done."""
    bleu = {"sweep-3": 21.0, "forward-2": 21.0, "final": 20.5}
    monkeypatch.setattr(
        "headway.ext.best.stage_records.read_scores",
        lambda stage: (
            ModelScores(bleu=bleu.get(stage.name, 20.0), chrf=50.0) if stage.scores else None
        ),
    )
    stages = follow(replace(maker(SCALES[2]), out=tmp_path), bleu)
    for stage in stages.values():
        StageRecords(tmp_path).finish(stage)
    options = Options(train=GIVEN.train, valid=GIVEN.valid, languages=GIVEN.languages)
    plan = RecipePlan(
        options=options, sha256={}, facts=FACTS, speed=1e11, hours=8.0, choices=ALL, omitted=()
    )
    for number, stage in enumerate(stages.values()):
        (tmp_path / "stages" / f"{stage.name}.json").unlink()
        done = re.findall(r"^  (\S+) +done ", describe_plan(tmp_path, plan), re.MULTILINE)
        assert done == [*stages][:number]
        StageRecords(tmp_path).finish(stage)


def test_the_hours_that_a_plan_asks_for_give_useful_models():
    options = Options(train=["a.en", "a.de"], valid=1013, languages=("en", "de"), hours=0.01)

    def describe(hours: float) -> str:
        scale = choose_scale(FACTS.kept)
        fit = fit_parts(lambda c: begin_recipe(OUT, options, FACTS, c), scale, 1.0, 1e11, hours)
        plan = RecipePlan(
            options=options, sha256={}, facts=FACTS, speed=1e11, hours=hours, choices=fit.choices, omitted=fit.omitted
        )  # fmt: skip
        return describe_plan(OUT, plan)

    asked = re.search(r"2 % of the usual steps.* give --hours ([\d.]+) or more", describe(0.01))
    assert asked
    assert "of the usual steps" not in describe(float(asked[1]))
    assert "too few for a useful model" in describe(float(asked[1]) - 0.2)


def test_the_report_names_the_parts_that_were_not_worth_their_time():
    def scored(name: str, part: str, bleu: float, **more: Any) -> tuple[Stage, StageResult]:
        stage = Stage(name=name, part=part, purpose="", scores=Path("x"), **more)
        return stage, StageResult(seconds=60.0, scores=ModelScores(bleu=bleu, chrf=50.0))

    finished = [
        scored("sweep-1", "sweep", 10.0),
        scored("sweep-2", "sweep", 9.0),
        scored("sweep-3", "sweep", 21.0),
        scored("backward", "models", 44.0, is_compared=False),
        scored("forward-1", "models", 20.0),
        scored("forward-2", "models", 19.0),
        scored("final", "translations", 19.5),
        scored("search-1", "search", 20.25),
        scored("search-2", "search", 20.4),  # not as much better as a wider beam must be
        (
            Stage(name="install", part="search", purpose="", product=20.25),
            StageResult(seconds=60.0),
        ),
        scored("student", "student", 20.3, is_compared=False),  # with a wider beam than it gets
        scored("student-beam-1", "student", 19.8, is_compared=False),
    ]
    installed = Stage(name="install-student", part="student", purpose="", product=19.8)
    assert [row.gain for row in make_rows(finished)] == [
        None, -1.0, 11.0, None, -1.0, -2.0, -1.5, -0.75, pytest.approx(-0.6), None, None, None,
    ]  # fmt: skip
    assert judge_parts(finished)[-1] == "student: 2.0 minutes"
    assert judge_parts([*finished, (installed, StageResult(seconds=60.0))]) == [
        "sweep: 3.0 minutes, +11.00 BLEU",
        "models: 3.0 minutes, BLEU 20.00",
        "translations: 1.0 minutes and no gain: it was not worth its time",
        "search: 3.0 minutes, +0.25 BLEU",
        "student: 3.0 minutes, 97.8 % of the BLEU of the installed model",
    ]


class _NoWork(FileWork):
    """Work that does nothing."""

    def __init__(self, name: str) -> None:
        self.name = name

    def run(self) -> None:
        pass

    def describe(self, out: Path | None = None) -> str:
        return self.name


def test_a_student_is_small_whatever_the_user_says_of_layers():
    for asked, given in ((None, "3"), ("6", "3"), ("2", "2")):
        overrides = {"model__num_decoder_layers": asked} if asked else {}
        stages = follow(maker(SCALES[2], ALL, **overrides), {})
        assert options(stages["student"]).overrides["model.num-decoder-layers"] == given
        assert options(stages["final"]).overrides.get("model.num-decoder-layers") == asked


def commands(stages: dict[str, Stage], name: str) -> list[str]:
    """The commands of a stage, without the settings of trainings, which other tests look at."""
    found = []
    for command in stages[name].commands:
        words = " ".join(command.words).replace(f"{OUT}/", "")
        found.append(words.split(" --preset")[0])
    return found


def test_each_stage_reads_and_writes_the_right_text():
    """Written out by hand: a recipe that mixes up languages, models or texts gives other commands."""
    given = replace(
        GIVEN, teacher="t.de", mono_source=["m.en"], mono_target=["m.de"], test=["x.en", "x.de"]
    )
    stages = follow(maker(), {"forward-2": 21.0, "final": 22.0, "search-1": 22.5}, given)
    ahead, back = "--languages en de", "--languages de en"
    valid, backward_valid = (
        "--valid text/valid.source text/valid.target",
        "--valid text/valid.target text/valid.source",
    )
    score = "--source text/valid.source --reference text/valid.target --json"
    candidates = "--search.candidates 8"
    assert {name: commands(stages, name) for name in stages if stages[name].commands} == {
        **{
            f"{name}-{n}": [f"train runs/{name}-{n} --train text/train.source text/train.target {valid} {ahead}",
                            f"evaluate runs/{name}-{n} {score}"]
            for name, count in (("sweep", 3), ("forward", 2)) for n in range(1, count + 1)
        },
        "backward": [f"train runs/backward --train text/train.target text/train.source {backward_valid} {back}",
                     "evaluate runs/backward --source text/valid.target --reference text/valid.source --json"],
        "ensemble": [f"evaluate runs/forward-1 runs/forward-2 {score}"],
        **{
            f"own-{n}": [f"translate runs/forward-{n} --backward runs/backward --input text/short.source"
                         f" --output text/own-{n}.target {candidates}"]
            for n in (1, 2)
        },
        "back": [f"translate runs/backward --backward runs/forward-2 --input text/short.target --output text/back.source {candidates}"],
        "mono-source": ["translate runs/forward-2 --backward runs/backward --input text/mono-source.source"
                        f" --output text/mono-source.target {candidates}"],
        "mono-target": ["translate runs/backward --backward runs/forward-2 --input text/mono-target.target"
                        f" --output text/mono-target.source {candidates}"],
        "final": [f"train runs/final --train text/all.source text/all.target {valid} {ahead}", f"evaluate runs/final {score}"],
        "search-1": [f"evaluate runs/final {score} --search.alpha 1.4 --search.beam 4"],
        "search-2": [f"evaluate runs/final {score} --search.alpha 1.8 --search.beam 4"],
        "search-3": [f"evaluate runs/final {score} --search.alpha 1.4 --search.beam 8"],
        "student-text": ["translate runs/final --backward runs/backward --input text/student-short.source --output text/student.target"
                         f" --search.alpha 1.4 --search.beam 4 {candidates}"],
        "student": [f"train runs/student --train text/student-all.source text/student-all.target {valid} {ahead} --init runs/final",
                    f"evaluate runs/student {score}"],
        **{
            f"student-beam-{beam}": [f"evaluate runs/student {score} --search.alpha 1.4 --search.beam {beam} --search.precision int8"]
            for beam in (1, 2, 4)
        },
    }  # fmt: skip
    texts = {
        name: re.findall(r"\d x \((\S+), (\S+)\)", stage.describe()[0])
        for name, stage in stages.items()
        if stage.work and stage.run
    }
    real = ("train.source", "train.target")
    assert texts["student"] == [real, ("student-short.source", "student.target")]
    assert texts["final"] == [
        real,
        ("short.source", "own-1.target"),
        ("short.source", "own-2.target"),
        ("back.source", "short.target"),
        ("train.source", "teacher.target"),
        ("mono-source.source", "mono-source.target"),
        ("mono-target.source", "mono-target.target"),
    ]
    assert "join 1 x (train" in stages["final"].describe()[0]
    assert "take 29 %" in stages["mono-source"].describe()[0]  # 2 x 29,000 of 200,000 lines
    assert "take 100 %" in stages["mono-target"].describe()[0]
    # Pairs that are too long are left out before the first translation, and before those of the final model.
    short = {n: s.work for n, s in stages.items() if isinstance(s.work, KeepShort)}
    assert [(n, w.pairs.source.name, w.model.name, w.most, w.output.target.name) for n, w in short.items()] == [
        ("short", "train.source", "forward-2", 256, "short.target"),
        ("student-short", "train.source", "final", 256, "student-short.target"),
    ]  # fmt: skip
    # Each file of the user is read in some stage, which therefore checks that it has not changed.
    assert stages["text"].reads == ["a.en", "a.de", "x.en", "x.de", "t.de"]
    assert stages["mono-source"].reads == ["m.en", "x.en", "x.de"]
    assert stages["mono-target"].reads == ["m.de", "x.en", "x.de"]
    assert stages["final"].reads == stages["student"].reads == ["x.en", "x.de"]
    works = {name: stages[name].work for name in ("mono-source", "mono-target")}
    assert [(w.side, w.files, w.valid.name, w.model.name, w.output.name) for w in works.values()] == [
        ("source", ["m.en"], "valid.source", "forward-2", "mono-source.source"),
        ("target", ["m.de"], "valid.target", "backward", "mono-target.target"),
    ]  # fmt: skip


@pytest.mark.parametrize("code", ["ts", "srt"])  # Tsonga, Sardinian
def test_the_text_of_a_recipe_is_lines_whatever_its_languages_are_called(code):
    stages = follow(replace(maker(), languages=(code, "po")), {})
    for name in ("own-1", "back", "student-text"):
        command = options(stages[name], translate)
        for file in (command.input, command.output):
            assert not is_document(file)
            check_is_lines(file)


def test_a_teacher_is_read_without_translations_of_own_models_too():
    given = replace(GIVEN, teacher="t.de", mono_target=["m.de"])
    stages = follow(maker(replace(SCALE, real_weight=2), Choices()), {}, given)
    text = "join 2 x (train.source, train.target), 1 x (train.source, teacher.target) to (taught.source, taught.target)"
    assert stages["forward-1"].describe()[0] == text
    assert "--train text/taught.source text/taught.target" in commands(stages, "forward-1")[0]
    assert (
        "--train text/train.source"
        in commands(follow(maker(choices=Choices()), {}), "forward-1")[0]
    )


def test_the_time_of_a_search_grows_with_its_beam_and_text():
    def count(times: int) -> float:
        """Count the operations for monolingual lines that are so many times longer."""
        facts = replace(FACTS, mono_source_characters=FACTS.mono_source_characters * times)
        given = replace(GIVEN, mono_source=["m.en"])
        return follow(replace(maker(), facts=facts), {}, given)["mono-source"].flop

    assert 9 < count(10) / count(1) < 15
    make = maker()
    narrow, wide = (
        make.score("x", "search", "", [OUT], {"search.beam": beam}).flop for beam in ("4", "16")
    )
    assert 2 < wide / narrow < 5
    assert make.translate("x", "models", "", [OUT], OUT, OUT, 2000).flop == pytest.approx(
        2 * make.translate("x", "models", "", [OUT], OUT, OUT, 1000).flop
    )


def test_the_time_of_a_stage_counts_the_text_that_it_reads():
    """Which is that of all parts of a joined text, and monolingual text before it is translated."""

    def pairs(stage: Stage) -> float:
        return (stage.seconds - numbers.SECONDS_A_TRAINING) * numbers.PAIRS_PREPARED

    given = replace(GIVEN, teacher="t.de", mono_source=["m.en"], mono_target=["m.de"])
    scale = replace(SCALE, real_weight=5)
    stages, kept = follow(maker(scale), {}, given), FACTS.kept
    assert pairs(stages["forward-1"]) == pytest.approx(kept)
    # Real text, translations by two forward models, the backward one and the teacher; and of monolingual lines.
    parts = 5 + 2 + 1 + 1
    assert pairs(stages["final"]) == pytest.approx((parts + 2) * kept + FACTS.mono_target)
    assert pairs(stages["student"]) == pytest.approx(2 * kept)
    assert stages["mono-source"].seconds == pytest.approx(200_000 / numbers.PAIRS_IMPORTED)
    assert stages["mono-target"].seconds == pytest.approx(700 / numbers.PAIRS_IMPORTED)
    taught = follow(maker(scale, Choices()), {}, given)["forward-1"]
    assert pairs(taught) == pytest.approx(6 * kept)
