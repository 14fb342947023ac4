"""The encoder alone as a classifier, beside a bidirectional LSTM in its place.

Two tasks are made of the built-in corpus: which kind of phrase an English text is, and, of a pair, whether
the German text is a translation of the English one or of another phrase of the same kind.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from headway.config import Config, Mixer, ModelConfig, TextConfig, TrainingConfig
from headway.ext.demo import Example as Phrase
from headway.ext.demo import generate
from headway.ext.kinds import LabeledText
from headway.ext.paper.results import Cell, Finding, Table
from headway.ext.paper.running.group import TrialGroup
from headway.ext.paper.running.labeled_texts import LabeledTexts, divide
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.study import Study
from headway.ext.paper.trends import Comparison
from headway.ext.paper.verdicts import Gate, percent_text

SECTION = "beyond the paper"
LEAST_LEARNED = 0.25  # of the way from the most frequent label to all labels right
LEARNED_NOTE = "not decided below a quarter of the way from the most frequent label to 100 %"
ATTENTION, RECURRENT = "self-attention", "bidirectional LSTM"
MIXERS: dict[str, Mixer] = {ATTENTION: "attention", RECURRENT: "lstm"}
TEXTS = (12_000, 100_000)  # at "minutes" and "hours"
SMALL = Config(
    text=TextConfig(vocab_size=2000, split_digits=True),
    model=ModelConfig(
        kind="classifier", num_encoder_layers=2, d_model=64, d_ff=256, num_heads=4, dropout=0.1, tying="none"
    ),
    training=TrainingConfig(
        max_steps=600, batch_tokens=2000, micro_batch_tokens=2000, packed=True, warmup_steps=200,
        label_smoothing=0.0, precision="fp32", device="cpu", threads=1,
    ),
)  # fmt: skip
MIDDLE = replace(SMALL, training=replace(SMALL.training, max_steps=6000, warmup_steps=2000))


def plan(work: Study) -> list[PlannedTrial]:
    """Return both encoders on both tasks, of which the paper has no settings."""
    if work.is_settings_only:
        return []
    config = settings(work)
    return [
        PlannedTrial(
            f"{task.name}: {name}",
            replace(config, model=replace(config.model, encoder_mixer=mixer)),
            task,
        )
        for task in make_tasks(work)
        for name, mixer in MIXERS.items()
    ]


def conclude(work: Study, groups: Mapping[str, TrialGroup]) -> list[Finding]:
    """Compare the right labels of both encoders."""
    return compare_classifiers(
        work,
        groups,
        ATTENTION,
        RECURRENT,
        {},
        "an encoder of self-attention",
        "not compared",
        SECTION,
    )


def compare_classifiers(
    work: Study,
    groups: Mapping[str, TrialGroup],
    ours: str,
    other: str,
    labels: Mapping[str, str],
    called: str,
    paper: str,
    section: str,
) -> list[Finding]:
    """Compare two classifiers on each task, beside the most frequent label.

    Args:
        work: Has the tasks.
        groups: Trainings by the names of task and classifier.
        ours: The name of the one that is expected to do better.
        other: The name of the other one.
        labels: What a table calls them, if it is not their name.
        called: What a claim calls the one that is expected to do better.
        paper: What the paper says of the comparison.
        section: Of the paper.
    """
    rows: list[tuple[Cell, ...]] = []
    claims: list[Finding] = []
    for task in make_tasks(work):
        of_task = {name: groups[f"{task.name}: {name}"] for name in (ours, other)}
        rows += [
            (
                task.name, labels.get(name, name), percent_text(group.values("right")),
                round(group.seconds), group.parameters,
            )
            for name, group in of_task.items()
        ]  # fmt: skip
        usual = task.most_frequent()
        rows.append((task.name, "the most frequent label", f"{usual:.2f}", None, None))
        claim = Comparison(
            f"{task.name}: {called} does better than a {other}.",
            ours, other, paper, "right", section=section,
            note=f"texts, batches, optimizer and steps are the same; {LEARNED_NOTE}",
        )  # fmt: skip
        gate = Gate(usual + LEAST_LEARNED * (100 - usual))
        claims.append(claim.judge(of_task, gate, spread=100 / len(task.parts["test"])))
    table = Table(
        "Right labels on unseen texts, %",
        ("task", "classifier", "right, %", "processor time, s", "parameters"),
        tuple(rows),
        work.seeds_note,
    )
    return [table, *claims]


def settings(work: Study) -> Config:
    """Return the settings at the work's scale."""
    return work.pick(SMALL, MIDDLE)


def make_tasks(work: Study) -> tuple[LabeledTexts, LabeledTexts]:
    """Return the labeled texts of both tasks, shuffled, always the same; no text is in two parts of a task."""
    count = work.pick(*TEXTS)
    found = [
        Phrase(e.kind, _one_line(e.source), _one_line(e.target))
        for e in generate("en", "de", count)
    ]
    phrases = [*{phrase.target: phrase for phrase in found}.values()]  # sources differ already
    chooser = random.Random(11)
    chooser.shuffle(phrases)
    pairs = [pair for part in divide(phrases).values() for pair in _pair(part, chooser)]
    return (
        LabeledTexts("Kind of phrase", [LabeledText(p.kind, (p.source,)) for p in phrases]),
        LabeledTexts("Translation or not", pairs),
    )


def _pair(phrases: Sequence[Phrase], chooser: random.Random) -> Iterator[LabeledText]:
    """Yield each source with its translation, or with that of another of these phrases, of the same kind.

    If a text of another part could stand here, a model might know it, and answer without the source.
    """
    targets: dict[str, list[str]] = {}
    for phrase in phrases:
        targets.setdefault(phrase.kind, []).append(phrase.target)
    for phrase in phrases:
        other = chooser.choice(targets[phrase.kind])
        is_right = other == phrase.target or chooser.random() < 0.5
        label, target = ("translation", phrase.target) if is_right else ("another", other)
        yield LabeledText(label, (phrase.source, target))


def _one_line(text: str) -> str:
    """Replace tabs and line breaks, which would end a part."""
    return " ".join(text.split())
