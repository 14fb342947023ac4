"""The structured self-attentive sentence embedding, beside the Transformer's encoder (paper: section 2)."""

from collections.abc import Mapping

from headway.ext.paper.experiments import classification
from headway.ext.paper.results import Finding
from headway.ext.paper.rivals.classifying import train_classifier
from headway.ext.paper.running.group import TrialGroup
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.study import Study

NAME = "structured self-attentive embedding"
OURS = "self-attention"


def plan(work: Study) -> list[PlannedTrial]:
    """Return both classifiers on both tasks of the experiment ``classification``."""
    config = classification.settings(work)
    return [
        planned
        for task in classification.make_tasks(work)
        for planned in (
            PlannedTrial(f"{task.name}: {OURS}", config, task),  # a trial of that experiment too
            PlannedTrial(f"{task.name}: {NAME}", config, task, trainer=train_classifier),
        )
    ]


def conclude(work: Study, groups: Mapping[str, TrialGroup]) -> list[Finding]:
    """Compare the right labels of both classifiers."""
    return classification.compare_classifiers(
        work, groups, OURS, NAME, {OURS: "Transformer's encoder"}, "the Transformer's encoder",
        "named, without a number", "2",
    )  # fmt: skip
