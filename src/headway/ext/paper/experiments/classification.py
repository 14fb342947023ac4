"""The encoder alone as a classifier, beside a bidirectional LSTM in its place.

Two tasks are made of the built-in corpus: which kind of phrase an English text is, and, of a pair, whether
the German text is a translation of the English one or of another phrase of the same kind.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from headway.config import Config, Mixer, ModelConfig, TextConfig, TrainingConfig
from headway.ext.demo import Example as Phrase
from headway.ext.demo import generate
from headway.ext.kinds import LabeledText
from headway.ext.paper.results import Cell, Findings, Table, collect
from headway.ext.paper.running.group import TrialGroup
from headway.ext.paper.running.labeled_texts import LabeledTexts, divide
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.work import ONLY_SETTINGS, Study
from headway.ext.paper.trends import LearnedScores, trend_claim
from headway.ext.paper.verdicts import percent_text

TITLE = "The encoder alone: classifying texts and pairs of texts"
SECTION = "beyond the paper"
LEAST_LEARNED = 0.25  # of the way from the most frequent label to all labels right
LEARNED_NOTE = "not decided below a quarter of the way from the most frequent label to 100 %"
MIXERS: dict[str, Mixer] = {"self-attention": "attention", "bidirectional LSTM": "lstm"}
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


def run(work: Study) -> Findings:
    """Train both encoders on both tasks, and count right labels on unseen texts."""
    if work.is_settings_only:
        return collect(
            write_commands(work),
            differs=f"{ONLY_SETTINGS} The paper has no classifier: these are its base's encoder, and a"
            " bidirectional LSTM in its place.",
        )
    config = settings(work)
    rows: list[tuple[Cell, ...]] = []
    claims = []
    for task in make_tasks(work):
        groups = work.run_groups(
            [
                PlannedTrial(
                    name, replace(config, model=replace(config.model, encoder_mixer=mixer)), task
                )
                for name, mixer in MIXERS.items()
            ]
        )
        rows += [
            (task.name, name, percent_text(group.values("right")), group.parameters)
            for name, group in groups.items()
        ]
        rows.append((task.name, "the most frequent label", f"{task.most_frequent():.2f}", None))
        attention, recurrent = groups.values()
        claims.append(
            trend_claim(
                f"{task.name}: an encoder of self-attention does better than a bidirectional LSTM.",
                "not compared",
                "self-attention less bidirectional LSTM: {} % of the labels",
                attention.less(recurrent, "right"),
                learned=learned(task, attention, recurrent),
                spread=100 / len(task.parts["test"]),
                why=f"paired by seed; steps, widths and text are the same; {LEARNED_NOTE}",
            )
        )
    table = Table(
        "Right labels on unseen texts, %",
        ("task", "encoder", "right, %", "parameters"),
        tuple(rows),
        f"Mean (95 % interval) of {len(work.seeds)} seeds.",
    )
    return collect(
        table,
        *claims,
        differs="The paper only says that its model will be applied to other tasks. Both encoders have"
        " two layers of one width; the LSTM's layers have another number of parameters.",
        settings=config.to_dict(),
    )


def learned(task: LabeledTexts, *groups: TrialGroup) -> LearnedScores:
    """Return the right labels of classifiers, and how many one must have that has learned something."""
    usual = task.most_frequent()
    least = usual + LEAST_LEARNED * (100 - usual)
    return LearnedScores(least, tuple(group.values("right") for group in groups))


def write_commands(work: Study) -> Table:
    """Write the settings of the paper's base as a classifier; returns the commands to train it."""
    planned = [
        PlannedTrial(
            f"classifier, {name}", replace(Config(), model=ModelConfig(encoder_mixer=mixer))
        )
        for name, mixer in MIXERS.items()
    ]
    return work.write_settings(planned, "classify", "--train train.tsv --valid valid.tsv")


def settings(work: Study) -> Config:
    """Return the settings at the work's scale."""
    steps = work.pick(toy=3, minutes=600, hours=6000)
    tokens = work.pick(toy=300, minutes=2000)
    training = replace(
        SMALL.training, max_steps=steps, warmup_steps=max(1, steps // 3),
        batch_tokens=tokens, micro_batch_tokens=tokens,
    )  # fmt: skip
    text = replace(SMALL.text, vocab_size=work.pick(toy=400, minutes=2000))
    return replace(SMALL, text=text, training=training)


def make_tasks(work: Study) -> tuple[LabeledTexts, LabeledTexts]:
    """Return the labeled texts of both tasks, shuffled, always the same; no text is in two parts of a task."""
    count = work.pick(toy=200, minutes=12_000, hours=100_000)
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
