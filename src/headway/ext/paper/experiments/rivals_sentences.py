"""The structured self-attentive sentence embedding, beside the Transformer's encoder (paper: section 2)."""

from headway.ext.paper.experiments import classification
from headway.ext.paper.results import Cell, Finding, Table
from headway.ext.paper.rivals.classifying import train_classifier
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.work import Study
from headway.ext.paper.trends import trend_claim
from headway.ext.paper.verdicts import percent_text

NAME = "structured self-attentive embedding"


def classify_sentences(work: Study) -> list[Finding]:
    """Train both classifiers on both tasks of the experiment ``classification``."""
    config = classification.settings(work)
    rows: list[tuple[Cell, ...]] = []
    claims = []
    for task in classification.make_tasks(work):
        plans = [
            PlannedTrial("self-attention", config, task),  # a trial of that experiment too
            PlannedTrial(NAME, config, task, trainer=train_classifier),
        ]
        transformer, rival = work.run_groups(plans).values()
        rows += [
            (
                task.name, name, percent_text(group.values("right")), round(group.seconds),
                group.parameters,
            )
            for name, group in (("Transformer's encoder", transformer), (NAME, rival))
        ]  # fmt: skip
        rows.append(
            (task.name, "the most frequent label", f"{task.most_frequent():.2f}", None, None)
        )
        claims.append(
            trend_claim(
                f"{task.name}: the Transformer's encoder does better than the {NAME}.",
                "named, without a number",
                f"self-attention less {NAME}: {{}} % of the labels",
                transformer.less(rival, "right"),
                learned=classification.learned(task, transformer, rival),
                spread=100 / len(task.parts["test"]),
                why="paired by seed; texts, batches, optimizer and steps are the same;"
                f" {classification.LEARNED_NOTE}",
                section="2",
            )
        )
    table = Table(
        "Classifiers of sentences on unseen texts",
        ("task", "classifier", "right, %", "processor time, s", "parameters"),
        tuple(rows),
        work.seeds_note,
    )
    return [table, *claims]
