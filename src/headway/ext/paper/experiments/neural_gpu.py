"""The Extended Neural GPU beside the Transformer: apart from the other rivals, because it takes longer than all of them."""

from collections.abc import Mapping

from headway.ext.paper.experiments.rivals import PACES, TRANSFORMER, plan_system
from headway.ext.paper.results import Finding, Table
from headway.ext.paper.rivals.neural_gpu import NeuralGPU
from headway.ext.paper.running.group import TrialGroup, score_table
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.study import Study
from headway.model import Transformer

NAME = "Extended Neural GPU"


def count(work: Study) -> list[Finding]:
    """Return how the system departs from its own paper."""
    return [
        Table("What differs from its own paper", ("system", "here"), ((NAME, NeuralGPU.departs),))
    ]


def plan(work: Study) -> list[PlannedTrial]:
    """Return a training of it and one of the Transformer, if trainings are short."""
    return work.pick(
        [
            plan_system(work, TRANSFORMER, Transformer, PACES[TRANSFORMER]),
            plan_system(work, NAME, NeuralGPU, 16.0),
        ],
        [],
    )


def conclude(work: Study, groups: Mapping[str, TrialGroup]) -> list[Finding]:
    """Return the scores of both."""
    columns = "BLEU", "perplexity", "seconds", "tokens/s", "parameters"
    return [
        score_table(
            "Two systems trained on the same text", "system", columns, groups, work.seeds_note
        )
    ]
