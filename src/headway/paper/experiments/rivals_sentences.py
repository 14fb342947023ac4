"""The structured self-attentive sentence embedding, beside the Transformer's encoder (paper: section 2)."""

from headway.paper.experiments import classification
from headway.paper.experiments.rivals_trials import train_groups
from headway.paper.results import Cell, Claim, Finding, Table
from headway.paper.rivals.classifying import train_classifier
from headway.paper.running.plan import PlannedTrial
from headway.paper.running.work import Work
from headway.paper.verdicts import interval_text, verdict

NAME = "structured self-attentive embedding"


def classify_sentences(work: Work) -> list[Finding]:
    """Train both classifiers on both tasks of the experiment ``classification``."""
    config = classification.settings(work)
    rows: list[tuple[Cell, ...]] = []
    claims = []
    for task in classification.make_tasks(work):
        plan = PlannedTrial("self-attention", config, task)  # a trial of that experiment too
        transformer = work.run_groups([plan])[plan.name]
        rival = train_groups(work, train_classifier, (NAME,), config, task)[NAME]
        rows += [
            (
                task.name, name, interval_text(group.values("right")), round(group.seconds),
                group.parameters,
            )
            for name, group in (("Transformer's encoder", transformer), (NAME, rival))
        ]  # fmt: skip
        rows.append(
            (task.name, "the most frequent label", f"{task.most_frequent():.2f}", None, None)
        )
        gains = transformer.less(rival, "right")
        claims.append(
            Claim(
                f"{task.name}: the Transformer's encoder does better than the {NAME}.",
                "named, without a number",
                f"{interval_text(gains, sign=True)} % of the labels",
                verdict(gains, 1),
                "paired by seed; texts, batches, optimizer and steps are the same",
                "2",
            )
        )
    table = Table(
        "Classifiers of sentences on unseen texts",
        ("task", "classifier", "right, %", "processor time, s", "parameters"),
        tuple(rows),
        work.seeds_note,
    )
    return [table, *claims]
