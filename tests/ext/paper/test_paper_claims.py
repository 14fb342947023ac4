"""What each experiment concludes from its trainings: invented scores in, verdicts out.

A claim that compares the wrong models, or in the wrong direction, fails here.
"""

import importlib
import math
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

from headway.ext.paper import charts
from headway.ext.paper.experiments import (
    arguments_heads,
    arguments_mask,
    classification,
    figures3to5,
    positions,
    rivals,
    schedule,
    table2,
    table3,
    table4,
    tying,
)
from headway.ext.paper.experiments.rivals import RIVALS
from headway.ext.paper.measuring.layer_types import BY_NAME
from headway.ext.paper.reproduction import EXPERIMENTS, judge_claims
from headway.ext.paper.results import Claim
from headway.ext.paper.running.bitext import Bitext
from headway.ext.paper.running.group import TrialGroup
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.study import Study
from headway.ext.paper.running.trial import Trial
from headway.ext.paper.trends import trend_claim

SEEDS = (1, 2, 3)
JITTER = (-0.3, 0.4, -0.1)  # of the seeds, other than those of the model beside
TEXTS = 500  # of the test of parsers and classifiers
MAKE_TASKS = classification.make_tasks


def invent(plan, quality, jitter, level):
    """Return invented trials of a plan: the higher the quality, the better is each of their scores."""

    def trial(seed, noise):
        q = quality + noise / 10
        scores = {
            "bleu": level + 4 * q, "perplexity": math.exp(1 - q / 2), "right": level + 7 + 4 * q,
            "accuracy": 0.5 + q / 10, "confidence": 0.5 - q / 10, "f1": level + 4 * q, "whole": 1.0,
        }  # fmt: skip
        loss = ((1, 3.0), (2, 2 - q / 2))
        return Trial(
            plan.name, seed, Path("none"), 7, 2, loss, scores, 10.0, 1.0, replace(plan.config)
        )

    return TrialGroup(tuple(map(trial, SEEDS, jitter)))


class Invented(Study):
    """Trains nothing: models that are favored have a better quality, by so much."""

    def __init__(self, favored, gain, level=85.0):
        pairs = (("a b c", "d e f"),) * 3
        test = (
            *pairs,
            ("a " * 20, "d " * 20),
        )  # one is longer than those that `positions` trains on
        corpus = Bitext("text", pairs, pairs, test, ("en", "de"))
        super().__init__("nowhere", "toy", SEEDS, corpus=corpus)
        self.favored, self.gain, self.level = favored, gain, level
        self.planned = []

    def run_groups(self, planned):
        self.planned += planned
        found = {}
        for number, plan in enumerate(planned):
            jitter = [noise * (1 - 2 * (number % 2)) for noise in JITTER]
            found[plan.name] = invent(plan, self.gain * self.favored(plan), jitter, self.level)
        return found


def find_claim(part, work, words):
    """The claim with these words."""
    found = part.conclude(work, work.run_groups(part.plan(work)))
    [claim] = [c for c in found if isinstance(c, Claim) and words in c.text]
    return claim


def part(plan, conclude):
    """A part of an experiment that concludes with less than it, or without its models."""
    return SimpleNamespace(plan=plan, conclude=conclude)


@cache
def make_tasks(texts):
    """Tasks whose tests have so many texts."""
    tasks = [*MAKE_TASKS(Study("nowhere", "toy"))]
    times = texts // len(tasks[0].parts["test"])
    return [replace(task, examples=[*task.examples] * times) for task in tasks]


@pytest.fixture(autouse=True)
def scores_without_models(monkeypatch):
    """Read from a trial's scores what is otherwise measured on its model."""

    def buckets(trial, parts, language):
        return [(trial.scores["bleu"], trial.scores["perplexity"])] * len(parts)

    monkeypatch.setattr(classification, "make_tasks", lambda work: make_tasks(TEXTS))
    monkeypatch.setattr(
        arguments_heads, "mean_entropy", lambda trial, work: trial.scores["perplexity"]
    )
    monkeypatch.setattr(positions, "score_buckets", buckets)


@pytest.fixture
def without_pictures(monkeypatch):
    """Drawing takes longer than all else here."""
    monkeypatch.setattr(charts, "find_spec", lambda name: None)


def named(name):
    return lambda plan: plan.name == name


def of_kind(name):
    """Models of this kind, whatever they are trained on."""
    return lambda plan: plan.name.startswith(name) or plan.name.endswith(f": {name}")


def smoothed(plan):
    return plan.config.training.label_smoothing == 0.1


def conclude_table2(work, groups):
    last = {name: group.bleu for name, group in groups.items() if name != "averaged"}
    return table2.score_claims(work, last, groups["averaged"].bleu)


def plan_table2(work):
    names = ("base", "big", table2.PUBLISHED, "averaged")
    return [PlannedTrial(name, work.base) for name in names]


def make_trees():
    return SimpleNamespace(test=[0] * TEXTS, window=14)


def plan_table4(work):
    names = (table4.FULL, table4.restricted_name(make_trees()))
    return [PlannedTrial(name, work.base) for name in names]


def conclude_table4(work, groups):
    return table4.parsing_claims(make_trees(), groups)


def plan_table3(work):
    return table3.plan_rows(work.base, [*table3.TABLE3, *table3.CONTROLS])


def conclude_figures(work, groups):
    group = groups[figures3to5.BASE]
    means = [trial.scores["right"] - 92 for trial in group.trials]
    return [figures3to5.topic_claim(work, group, figures3to5.TOPICS[0], means)]


def described(name, plan=None):
    """The claims of an experiment that are described in experiments.toml."""
    module = importlib.import_module(f"headway.ext.paper.experiments.{name}")
    return part(plan or module.plan, lambda work, groups: judge_claims(name, groups, work.gate))


TABLE2 = part(plan_table2, conclude_table2)
PARSING = part(plan_table4, conclude_table4)
ROWS = described("table3", plan_table3)
FIGURES = part(figures3to5.plan, conclude_figures)
TRANSLATORS = described("rivals", rivals.plan_translators)
NEURAL_GPU = described("neural_gpu")
SENTENCES = part(rivals.plan_classifiers, rivals.compare_classifiers)
KINDS, LAYERS = described("positions"), described("table1")
SMOOTHING, TYING, SCALING = map(described, ("smoothing", "tying", "scaling"))
LENGTHS = part(positions.plan, positions.compare_lengths)


# An experiment, words of a claim, and which models have the better scores if the claim is right.
TRENDS = [
    (arguments_mask, "training loss is lower", named("without")),
    (arguments_heads, "lower effective resolution", named("8")),
    (SMOOTHING, "hurts perplexity", named("eps_ls = 0.0")),
    (SMOOTHING, "accuracy", smoothed),
    (SMOOTHING, "improves BLEU", smoothed),
    (SMOOTHING, "more unsure", smoothed),
    (SCALING, "additive attention outperforms", lambda plan: "additive" in plan.name),
    (SCALING, "scaled dot products outperform", lambda plan: "dot, scaled" in plan.name),
    (TYING, "helps: one matrix", named(tying.ONE)),
    (TYING, "helps: three matrices", named(tying.THREE)),
    (LENGTHS, "extrapolate", of_kind("sinusoidal")),
    (ROWS, "wider heads are better", named(table3.MANY)),
    (ROWS, "h = 8 instead of 1", named("base")),
    (ROWS, "h = 32 instead of 8", named(table3.MANY)),
    (TABLE2, "Big is better", named("big")),
    (TABLE2, "Averaged checkpoints", named("averaged")),
    (PARSING, "loses something", named("full attention")),
    (FIGURES, figures3to5.TOPICS[0].claim, named("base")),
    (classification, "Kind of phrase", of_kind("self-attention")),
    (classification, "Translation or not", of_kind("self-attention")),
    (SENTENCES, "Kind of phrase", of_kind("self-attention")),
    *((TRANSLATORS, f"better than {name}.", named("Transformer")) for name in RIVALS),
    (NEURAL_GPU, "better than Extended Neural GPU.", named("Transformer")),
    *(
        (LAYERS, f"in place of {name} ", named("self-attention"))
        for name in BY_NAME
        if name != "self-attention"
    ),
    *(
        (ROWS, claim.text, named(claim.name) if (claim.expected == "more") == (claim.score == "bleu") else named("base"))
        for claim in EXPERIMENTS["table3"].claims[:12]
    ),
]  # fmt: skip


MEASURED = re.compile(r"(.+) less (.+): ([+-])[\d.]+ \(.+\) (.+)")
LESS_IS_BETTER = ("nats", "perplexity", "% of probability")  # of the invented scores


def check_sides(ours, planned, favored, gain):
    """Check that a difference is that of the models that its text names."""
    match = MEASURED.fullmatch(ours)
    assert match, ours
    *sides, sign, unit = match.groups()

    def is_favored(side):
        # Some names are parts of others, such as "h = 1" of "h = 1, d_k = 64".
        inside = [plan for plan in planned if plan.name.rpartition(": ")[2] in side]
        return favored(max(inside, key=lambda plan: len(plan.name))) if inside else False

    first, second = map(is_favored, sides)
    assert first != second, ours
    is_better = first == (gain > 0)
    assert (sign == "+") == (is_better != unit.startswith(LESS_IS_BETTER)), ours


@pytest.mark.usefixtures("without_pictures")
@pytest.mark.parametrize(("experiment", "words", "favored"), TRENDS, ids=[words for _, words, _ in TRENDS])  # fmt: skip
def test_a_trend_follows_the_scores_of_the_right_models(experiment, words, favored):
    works = {gain: Invented(favored, gain) for gain in (1.0, -1.0, 0.0)}
    found = {gain: find_claim(experiment, work, words) for gain, work in works.items()}
    assert {gain: claim.verdict for gain, claim in found.items()} == {
        1.0: "holds", -1.0: "does not", 0.0: "not decided",
    }  # fmt: skip
    chance = {gain: claim.p for gain, claim in found.items()}
    assert max(chance[1.0] or 0, chance[-1.0] or 0) < 0.05 < (chance[0.0] or 0)
    if experiment is arguments_mask:
        check_sides(found[1.0].ours, works[1.0].planned, favored, 1.0)
    # Models that have hardly learned decide nothing.
    assert (
        find_claim(experiment, Invented(favored, 1.0, level=12.0), words).verdict == "not decided"
    )


EQUALITIES = [
    (KINDS, "nearly identical", named("learned")),
    (SCALING, "perform similarly", named("additive, d_k = 8")),
    (TYING, "Sharing costs no quality", named(tying.THREE)),
]
# That the training loss is lower without the mask asks only whether models with the mask have learned.
ONE_SIDED = (FIGURES, arguments_mask)
# That unscaled models hardly learn is what the paper says of them.
MAY_FAIL = [row for row in TRENDS if row[0] is SCALING]
COMPARISONS = [
    row for row in (*TRENDS, *EQUALITIES) if row[0] not in ONE_SIDED and row not in MAY_FAIL
]


@pytest.mark.usefixtures("without_pictures")
@pytest.mark.parametrize(("experiment", "words", "favored"), COMPARISONS, ids=[words for _, words, _ in COMPARISONS])  # fmt: skip
def test_two_models_are_compared_only_if_both_have_learned(experiment, words, favored):
    for level, gain in ((12.0, 18.0), (84.0, -18.0)):  # one has 84 BLEU, the other 12
        work = Invented(favored, gain, level)
        claim = find_claim(experiment, work, words)
        assert claim.verdict == "not decided"
        check_sides(claim.ours, work.planned, favored, gain)


@pytest.mark.usefixtures("without_pictures")
@pytest.mark.parametrize(("experiment", "words", "favored"), MAY_FAIL, ids=[words for _, words, _ in MAY_FAIL])  # fmt: skip
def test_a_setting_without_which_models_fail_is_judged_by_those_that_learn(
    experiment, words, favored
):
    found = {
        gain: find_claim(experiment, Invented(favored, gain, level), words).verdict
        for level, gain in ((12.0, 18.0), (84.0, -18.0))  # one has 84 BLEU, the other 12
    }
    assert found == {18.0: "holds", -18.0: "not decided"}


@pytest.mark.parametrize(("experiment", "words", "favored"), EQUALITIES[:2])
def test_equality_is_judged_on_both_sides(experiment, words, favored):
    found = {
        gain: find_claim(experiment, Invented(favored, gain), words) for gain in (0.0, 1.0, -1.0)
    }
    assert {gain: claim.verdict for gain, claim in found.items()} == {
        0.0: "not decided", 1.0: "does not", -1.0: "does not",
    }  # fmt: skip
    assert {claim.p for claim in found.values()} == {None}  # zero is no side of equality
    same = trend_claim(
        "x", "", "{}", [0.01, -0.01, 0.0], learned=None, expected="equal", margin=0.1
    )
    assert same.verdict == "holds"


def test_sharing_costs_nothing_unless_it_does():
    words = "Sharing costs no quality"
    found = [
        find_claim(TYING, Invented(named(tying.THREE), gain), words).verdict for gain in (-1.0, 1.0)
    ]
    assert found == ["holds", "does not"]


NEEDS = [
    (arguments_mask, "mask is needed", named("with the mask")),
    *(
        (schedule, f"learn with {usual}, and not with {usual._replace(steps=1)}", named(f"warm-up of {usual}"))
        for usual in (schedule.WarmUp(8), schedule.WarmUp(8, "none"))  # 8 is that of a toy
    ),
]  # fmt: skip


@pytest.mark.usefixtures("without_pictures")
@pytest.mark.parametrize(
    ("experiment", "words", "favored"), NEEDS, ids=[words for _, words, _ in NEEDS]
)
@pytest.mark.parametrize(("having", "lacking", "found"), [(85.0, 2.0, "holds"), (85.0, 80.0, "does not"), (12.0, 2.0, "not decided")])  # fmt: skip
def test_a_part_is_needed_if_models_learn_only_with_it(
    experiment, words, favored,
    having, lacking, found
):  # fmt: skip
    work = Invented(favored, (having - lacking) / 4, level=lacking)
    assert find_claim(experiment, work, words).verdict == found
