"""The recipe as a program: which stages follow from which results, and which plan fits, without doing any."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from headway.cli.arguments import parse
from headway.cli.verbs import evaluate, train, translate
from headway.config import PRESETS, load
from headway.errors import UsageError
from headway.ext.best import recipe_numbers as numbers
from headway.ext.best import stage as records
from headway.ext.best.recipe import best_model
from headway.ext.best.recipe_numbers import PARTS, PLANS, SCALES, Scale, choose_scale
from headway.ext.best.recipe_options import Options
from headway.ext.best.recipe_plan import RecipePlan
from headway.ext.best.recipe_text import TextFacts
from headway.ext.best.report import make_rows
from headway.ext.best.running import _benchmark
from headway.ext.best.stage import (
    InstalledModel,
    JoinedText,
    Stage,
    StageResult,
    find_result,
    record_stage,
    replay,
)
from headway.ext.best.stage_maker import StageMaker
from headway.ext.documents.opening import check_is_lines, is_document

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


def maker(scale: Scale = SCALE, given: Options = GIVEN, **overrides: str) -> StageMaker:
    settings = {
        name.replace("__", ".").replace("_", "-"): value for name, value in overrides.items()
    }
    options = replace(given, settings=settings)
    return StageMaker(out=OUT, options=options, facts=FACTS, scale=scale, length=1.0)


def follow(make: StageMaker, bleu: dict[str, float], parts: list[str] = ALL) -> dict[str, Stage]:
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


def guessed(make: StageMaker) -> list[Stage]:
    return [stage for stage, _ in replay(best_model(make, ALL), None, guesses=True)[0]]


def options(stage: Stage, verb=train):
    """The parsed options of a stage's first command."""
    words = [*map(str, stage.commands[0])]
    return parse(words[0], verb, words[1:])


@pytest.mark.slow
def test_every_command_of_every_scale_is_understood():
    given = replace(GIVEN, teacher="t.de", mono_source=["m.en"], mono_target=["m.de"])
    verbs = {"train": train, "evaluate": evaluate, "translate": translate}
    for scale in SCALES:
        for stage in guessed(maker(scale, given)):
            for command in stage.commands:
                verb, *words = map(str, command)
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
    for parts, names in ((["back-translation"], ["500", "800"]), ([], ["800"])):
        stages = follow(maker(scale), {}, parts)
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
    alone = follow(maker(scale), {}, ["student"])
    assert options(alone["forward-1"]).overrides["training.rate-scale"] == "2"
    assert "backward" not in alone
    assert options(alone["distillation"], translate).backward is None


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
    make = maker(given=replace(GIVEN, mono_source=["m.en"]))
    stages = follow(make, {"ensemble": bleu})
    own = [stages[name] for name in stages if re.fullmatch(r"forward-translation-\d", name)]
    assert len(own) == texts
    models = [[str(OUT / "runs/forward-1")], [str(OUT / "runs/forward-2")]]
    assert [options(stage, translate).models for stage in own] == (
        [[*models[0], *models[1]]] if texts == 1 else models
    )
    mono = options(stages["forward-translation-mono"], translate)
    assert mono.models == [model for [model] in models][:: 1 if texts == 1 else 2]


def test_each_part_can_be_left_out():
    usual = {*follow(maker(), {})}
    back = {"backward", "back-translation"}
    forward = {"ensemble", "forward-translation-1", "forward-translation-2"}
    student = {name for name in usual if "student" in name} | {"distillation"}
    for part, stages in (
        ("back-translation", back),
        ("forward-translation", forward),
        ("student", student),
        ("sweep", {"sweep-1", "sweep-2", "sweep-3"}),
        ("seeds", {"forward-2", "ensemble", "forward-translation-2"}),
    ):
        left = [each for each in ALL if each != part]
        assert usual - {*follow(maker(), {}, left)} == stages
    neither = follow(maker(), {}, ["student"])
    assert usual - {*neither} >= back | forward | {"install-first", "final"}
    # Without a model of the other direction, a search decides alone.
    alone = follow(maker(), {}, ["forward-translation"])["forward-translation-1"]
    assert "--backward" not in alone.commands[0]
    assert "--search.candidates" not in alone.commands[0]


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
    for asked, given in (("6", "3"), ("2", "2")):  # whatever the user says of layers
        stages = follow(maker(SCALES[2], model__num_decoder_layers=asked), {})
        assert options(stages["student"]).overrides["model.num-decoder-layers"] == given
        assert options(stages["final"]).overrides["model.num-decoder-layers"] == asked


def test_a_score_of_zero_is_a_score():
    """Models that all have it need no more trials than models that all have 20; a plan has all trials."""
    usual = [*follow(maker(), {})]
    assert [*follow(maker(), dict.fromkeys(usual, 0.0))] == usual
    planned = {stage.name for stage in guessed(maker())}
    assert planned - {*usual} >= {"search-8", "student-beam-2", "student-beam-4"}


def test_the_student_has_the_first_beam_that_is_good_enough():
    stages = follow(maker(), {"student-beam-1": 19.7, "student-beam-2": 19.9})
    assert "student-beam-4" not in stages
    assert "--search.beam 2" in stages["install-student"].describe()[0]
    none = follow(maker(), {"student-beam-1": 10, "student-beam-2": 18, "student-beam-4": 17})
    assert "--search.beam 2" in none["install-student"].describe()[0]


def plan(facts: TextFacts = FACTS, speed: float = 1e11, **changes) -> RecipePlan:
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
    def steps(tokens: float, **changes) -> str:
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


def test_a_number_of_steps_changes_the_whole_schedule():
    scale = replace(SCALE, forward={"training.max-steps": "5000", "training.cool-steps": "3300"})
    overrides = options(follow(maker(scale, training__max_steps="1000"), {})["forward-1"]).overrides
    names = ("max-steps", "warmup-steps", "cool-steps", "validate-every")
    assert [overrides[f"training.{name}"] for name in names] == ["1000", "40", "660", "80"]
    given = maker(scale, training__max_steps="1000", training__cool_steps="0")
    assert options(follow(given, {})["forward-1"]).overrides["training.cool-steps"] == "0"


def test_repeated_text_is_not_dropped_in_the_trainings_whatever_the_user_says_of_duplicates():
    stages = follow(maker(text__drop_duplicates="true"), {})
    trainings = [options(stage) for stage in stages.values() if stage.run]
    assert {t.overrides["text.drop-duplicates"] for t in trainings if t.train} == {"false"}


def test_trainings_with_the_usual_vocabulary_read_the_text_as_it_is_prepared():
    for best, is_prepared in (("sweep-1", True), ("sweep-3", False)):
        stages = follow(maker(), {best: 21.0})
        training = options(stages["forward-1"])
        assert training.data == (str(OUT / "plan/data") if is_prepared else None)
        assert is_prepared != any(name.startswith("text.") for name in training.overrides)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"training.cut": "0.15"}, "needs agreement, .*; .* itself sets .*--training.agreement 0 "),
        ({"model.d-model": "256"}, "no.* multiple of num_heads = 6.* sets .*--model.num-heads 6 "),
        ({"model.d-model": "10", "model.num-heads": "4"}, "multiple of num_heads = 4"),
    ],
)
def test_settings_of_the_recipe_that_those_of_the_user_do_not_fit_are_named(settings, message):
    with pytest.raises(UsageError, match=message):
        SCALES[2].check(settings)


def test_settings_that_the_trainings_of_a_recipe_can_have_are_accepted():
    for settings in (
        {},
        {"training.cut": "0.15", "training.agreement": "5"},
        {"model.d-model": "256", "model.num-heads": "4"},
    ):
        SCALES[2].check(settings)
        overrides = {name.replace(".", "__"): value for name, value in settings.items()}
        follow(maker(SCALES[2], **overrides), {})


@pytest.mark.parametrize("scale", SCALES)
def test_each_training_can_have_as_many_ranks_as_the_first(scale):
    def micro_batches(stage: Stage) -> int:
        training = load(options(stage).preset, (), options(stage).overrides).training
        return training.batch_tokens // training.micro_batch_tokens

    trainings = [stage for stage in follow(maker(scale), {}).values() if stage.run]
    assert {options(stage).preset for stage in trainings} == {scale.preset}
    assert f"--preset {scale.preset} " in " ".join(_benchmark(scale, {}))
    assert len({micro_batches(stage) for stage in trainings}) == 1


def test_longer_and_shorter_trainings_keep_the_proportions_of_their_schedule():
    stages = follow(replace(maker(), length=0.5), {})
    # Of quick: 3,200 steps, 200 of warm-up, 2,100 of cooling.
    settings = options(stages["forward-1"]).overrides
    names = ("max-steps", "warmup-steps", "cool-steps", "validate-every", "checkpoint-every")
    assert [settings[f"training.{name}"] for name in names] == ["1600", "100", "1050", "200", "50"]
    assert options(stages["sweep-1"]).overrides["training.max-steps"] == "400"


def stage_that_copies(model: str) -> Stage:
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


@pytest.mark.slow
def test_a_recipe_goes_on_without_any_of_its_records(tmp_path, monkeypatch):
    """As after a damaged one is deleted: the later ones are of a winner that is not known before the stage is done."""
    bleu = {"sweep-3": 21.0, "forward-2": 21.0, "final": 20.5}
    monkeypatch.setattr(records, "_read_scores", lambda stage: {"bleu": bleu.get(stage.name, 20.0)})
    (tmp_path / "stages").mkdir()
    make = replace(maker(), out=tmp_path)
    stages = [*follow(make, bleu).values()]
    for stage in stages:
        record_stage(tmp_path, stage, 1.0, is_finished=True)
    for stage in stages:
        file = tmp_path / "stages" / f"{stage.name}.json"
        record = file.read_bytes()
        file.unlink()
        assert (
            replay(best_model(make, ALL), tmp_path, guesses=True)[1] is None
        )  # a plan of the rest
        finished, left = replay(best_model(make, ALL), tmp_path)
        assert left == stage
        assert [each for each, _ in finished] == stages[: len(finished)]
        file.write_bytes(record)
    assert replay(best_model(make, ALL), tmp_path)[1] is None


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
    assert [row.gain for row in rows] == [None, -1.0, 11.0, None, -1.0, 0.5]


def commands(stages: dict[str, Stage], name: str) -> list[str]:
    """The commands of a stage, without the settings of trainings, which other tests look at."""
    found = []
    for command in stages[name].commands:
        words = " ".join(map(str, command)).replace(f"{OUT}/", "")
        found.append(words.split(" --preset")[0])
    return found


def test_each_stage_reads_and_writes_the_right_text():
    """Written out by hand: a recipe that mixes up languages, models or texts gives other commands."""
    given = replace(
        GIVEN, teacher="t.de", mono_source=["m.en"], mono_target=["m.de"], test=["x.en", "x.de"]
    )
    bleu = {"forward-2": 21.0, "final": 22.0, "search-1": 22.5}
    stages = follow(maker(given=given), bleu)
    prepared = "--data plan/data"
    valid, backward_valid = (
        "--valid plan/data/valid.source plan/data/valid.target",
        "--valid plan/data/valid.target plan/data/valid.source",
    )
    score = "--source plan/data/valid.source --reference plan/data/valid.target --json"
    candidates = "--search.candidates 8"
    assert {name: commands(stages, name) for name in stages if stages[name].commands} == {
        **{
            name: [f"train runs/{name} {prepared}", f"evaluate runs/{name} {score}"]
            for name in ("sweep-1", "sweep-2", "forward-1", "forward-2")
        },
        # With another vocabulary.
        "sweep-3": [f"train runs/sweep-3 --train plan/train.source plan/train.target {valid} --languages en de",
                    f"evaluate runs/sweep-3 {score}"],
        "backward": [f"train runs/backward --train plan/train.target plan/train.source {backward_valid} --languages de en",
                     "evaluate runs/backward --source plan/data/valid.target --reference plan/data/valid.source --json"],
        "ensemble": [f"evaluate runs/forward-1 runs/forward-2 {score}"],
        **{
            f"forward-translation-{n}": [
                f"translate runs/forward-{n} --backward runs/backward --input plan/train.source"
                f" --output text/forward-translation-{n}.target {candidates}"
            ]
            for n in (1, 2)
        },
        "forward-translation-mono": [
            "translate runs/forward-2 --backward runs/backward --input plan/mono.source"
            f" --output text/forward-translation-mono.target {candidates}"
        ],
        "back-translation": [
            "translate runs/backward --backward runs/forward-2 --input plan/train.target"
            f" --output text/back-translation.source {candidates}"
        ],
        "back-translation-mono": [
            "translate runs/backward --backward runs/forward-2 --input plan/mono.target"
            f" --output text/back-translation-mono.source {candidates}"
        ],
        "final": [f"train runs/final --train text/final.source text/final.target {valid} --languages en de",
                  f"evaluate runs/final {score}"],
        "search-1": [f"evaluate runs/final {score} --search.alpha 1.4 --search.beam 4"],
        "search-2": [f"evaluate runs/final {score} --search.alpha 1.8 --search.beam 4"],
        "search-3": [f"evaluate runs/final {score} --search.alpha 1.4 --search.beam 8"],
        "distillation": ["translate runs/final --backward runs/backward --input plan/train.source"
                         f" --output text/distillation.target --search.alpha 1.4 --search.beam 4 {candidates}"],
        "student": [f"train runs/student --train text/student.source text/student.target {valid} --languages en de"
                    " --init runs/final", f"evaluate runs/student {score}"],
        **{
            f"student-beam-{beam}": [f"evaluate runs/student {score} --search.alpha 1.4 --search.beam {beam} --search.precision int8"]
            for beam in (1, 2, 4)
        },
    }  # fmt: skip
    joined = {
        name: [(n, *map(str, (text.source, text.target))) for text, n in stage.work.parts]
        for name, stage in stages.items()
        if isinstance(stage.work, JoinedText)
    }
    plan, made = OUT / "plan", OUT / "text"
    train = (1, f"{plan}/train.source", f"{plan}/train.target")
    assert joined["student"] == [train, (1, f"{plan}/train.source", f"{made}/distillation.target")]
    assert joined["final"] == [
        train,
        (1, f"{plan}/train.source", f"{made}/forward-translation-1.target"),
        (1, f"{plan}/train.source", f"{made}/forward-translation-2.target"),
        (1, f"{plan}/mono.source", f"{made}/forward-translation-mono.target"),
        (1, f"{made}/back-translation.source", f"{plan}/train.target"),
        (1, f"{made}/back-translation-mono.source", f"{plan}/mono.target"),
        (1, f"{plan}/teacher.source", f"{plan}/teacher.target"),
    ]
    assert "join 1 x (train" in stages["final"].describe()[0]
    for name in ("final", "student"):
        assert stages[name].work.test.target == plan / "test.target"
    assert follow(maker(), bleu)["final"].work.test is None
    kept = maker(given=given, text__drop_leaks="false")
    assert follow(kept, bleu)["final"].work.test is None


@pytest.mark.parametrize("code", ["ts", "srt"])  # Tsonga, Sardinian
def test_the_text_of_a_recipe_is_lines_whatever_its_languages_are_called(code):
    stages = follow(maker(given=replace(GIVEN, languages=(code, "po"))), {})
    for name in ("forward-translation-1", "back-translation", "distillation"):
        command = options(stages[name], translate)
        for file in (command.input, command.output):
            assert not is_document(file)
            check_is_lines(file)


def test_a_teacher_is_read_without_translations_of_own_models_too():
    make = maker(replace(SCALE, real_weight=2), replace(GIVEN, teacher="t.de"))
    forward = follow(make, {}, [])["forward-1"]
    text = "join 2 x (train.source, train.target), 1 x (teacher.source, teacher.target) to (forward-1.source, forward-1.target)"
    assert forward.describe()[0] == text
    assert "--train text/forward-1.source text/forward-1.target" in commands({"x": forward}, "x")[0]
    assert follow(maker(), {}, [])["forward-1"].work is None


def test_the_time_of_a_search_grows_with_its_beam_and_text():
    def count(times: int) -> float:
        """Count the operations for monolingual lines that are so many times longer."""
        tokens = {"source": FACTS.mono_tokens["source"] * times}
        make = maker(given=replace(GIVEN, mono_source=["m.en"]))
        make = replace(make, facts=replace(FACTS, mono_tokens=tokens))
        return follow(make, {})["forward-translation-mono"].flop

    assert 9 < count(10) / count(1) < 15
    make = maker()
    narrow, wide = (make.score("x", "", [OUT], {"search.beam": beam}).flop for beam in ("4", "16"))
    assert 2 < wide / narrow < 5


def test_the_sizes_of_text_choose_the_settings():
    assert [choose_scale(pairs) for pairs in (100, 9_000, 29_000, 200_000, 10**8)] == [*SCALES]
    assert [scale.most_pairs for scale in SCALES] == sorted(s.most_pairs for s in SCALES)
    assert numbers.PLANS["everything"] == tuple(PARTS)
