"""The encoder alone as a classifier, beside a bidirectional LSTM in its place.

Two tasks made of the built-in corpus: which kind of phrase an English text is, and, of a pair, whether
the German text is a translation of the English one or of another phrase of the same kind.
"""

import hashlib
import json
import random
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from headway.config import Config, Mixer, ModelConfig, TextConfig, TrainingConfig, from_dict
from headway.demo import generate
from headway.files import remove
from headway.inference.text_classifier import TextClassifier
from headway.model import Classifier, parameter_count
from headway.paper.results import Cell, Claim, Result, Table, say, verdict
from headway.paper.running.learner import learn
from headway.paper.running.trial import code_version
from headway.paper.running.work import Job, Work
from headway.text.examples import Example, prepare_examples, read_examples
from headway.text.labels import LabelledText
from headway.text.prepare import PreparedData
from headway.training.checkpoint import replace_file

TITLE, SECTION = "The encoder alone: classifying texts and pairs of texts", "7"
MIXERS: dict[str, Mixer] = {"self-attention": "attention", "bidirectional LSTM": "lstm"}
SMALL = Config(
    text=TextConfig(vocab_size=2000, split_digits=True),
    model=ModelConfig(
        num_encoder_layers=2, d_model=64, d_ff=256, num_heads=4, dropout=0.1, tying="none"
    ),
    training=TrainingConfig(
        max_steps=600, batch_tokens=2000, micro_batch_tokens=2000, packed=True, warmup_steps=200,
        label_smoothing=0.0, precision="fp32", device="cpu", threads=1,
    ),
)  # fmt: skip


def run(work: Work) -> Result:
    """Train both encoders on both tasks, and count right labels on unseen texts."""
    if work.scale == "paper":
        return papers_size(work)
    began = time.monotonic()
    config = settings(work)
    rows: list[tuple[Cell, ...]] = []
    claims = []
    for task, examples in tasks(work).items():
        wanted = {
            (title, seed): replace(
                config,
                model=replace(config.model, encoder_mixer=mixer),
                training=replace(config.training, seed=seed),
            )
            for title, mixer in MIXERS.items()
            for seed in work.seeds
        }
        shares: dict[str, list[float]] = {}
        sizes = {}
        for (title, seed), (share, size) in zip(
            wanted, classifier_trials(work, list(wanted.values()), examples), strict=True
        ):
            work.say(f"  {task}, {title}, seed {seed}: {share:.1f} % right")
            shares.setdefault(title, []).append(share)
            sizes[title] = size
        most = _most_frequent(examples)
        rows += [(task, title, say(found), sizes[title]) for title, found in shares.items()]
        rows.append((task, "the most frequent label", f"{most:.2f}", None))
        attention, recurrent = shares.values()
        differences = [a - b for a, b in zip(attention, recurrent, strict=True)]
        claims.append(
            Claim(
                f"{task}: an encoder of self-attention does better than a bidirectional LSTM.",
                "not compared",
                f"{say(differences, sign=True)} % of the labels",
                verdict(differences, 1),
                "paired by seed; steps, widths and text are the same",
                SECTION,
            )
        )
    return Result(
        name="classification",
        title=TITLE,
        section=SECTION,
        tables=(
            Table(
                "Right labels on unseen texts, %",
                ("task", "encoder", "right, %", "parameters"),
                tuple(rows),
                f"Mean (95 % interval) of {len(work.seeds)} seeds.",
            ),
        ),
        claims=tuple(claims),
        differs=(
            "The paper only says that its model is to be tried on other tasks. Both encoders have"
            " two layers of one width; the LSTM's layers have another number of parameters."
        ),
        seconds=time.monotonic() - began,
        settings=config.to_dict(),
    )


def papers_size(work: Work) -> Result:
    """Write the settings of the paper's base as a classifier; the paper itself has none."""
    jobs = [
        Job(f"classifier, {title}", replace(Config(), model=ModelConfig(encoder_mixer=mixer)))
        for title, mixer in MIXERS.items()
    ]
    text = "--train train.tsv --valid valid.tsv"
    table = work.write_settings(jobs, "classify", text)
    differs = (
        "Nothing is trained at this size: the settings are written, with their commands. The paper has"
        " no classifier: these are its base's encoder, and a bidirectional LSTM in its place."
    )
    return Result("classification", TITLE, SECTION, (table,), (), (), differs)


def settings(work: Work) -> Config:
    """Return the settings at a scale."""
    steps = work.pick(toy=3, minutes=600, hours=6000)
    tokens = work.pick(toy=300, minutes=2000)
    training = replace(
        SMALL.training, max_steps=steps, warmup_steps=max(1, steps // 3),
        batch_tokens=tokens, micro_batch_tokens=tokens,
    )  # fmt: skip
    text = replace(SMALL.text, vocab_size=work.pick(toy=400, minutes=2000))
    return replace(SMALL, text=text, training=training)


def tasks(work: Work) -> dict[str, list[Example]]:
    """Return the labelled texts of both tasks, in an order of their own, always the same."""
    count = work.pick(toy=200, minutes=12_000, hours=100_000)
    found = list(generate("en", "de", count))
    chooser = random.Random(11)
    kinds = [Example(e.kind, (_line(e.source),)) for e in found]
    groups: dict[str, list[str]] = {}
    for example in found:
        groups.setdefault(example.kind, []).append(_line(example.target))
    pairs = []
    for example in found:
        right, other = _line(example.target), chooser.choice(groups[example.kind])
        translated = other == right or chooser.random() < 0.5
        label = "translation" if translated else "another"
        pairs.append(Example(label, (_line(example.source), right if translated else other)))
    for examples in (kinds, pairs):
        chooser.shuffle(examples)
    return {"Kind of phrase": kinds, "Translation or not": pairs}


def classifier_trials(
    work: Work, configs: Sequence[Config], examples: Sequence[Example]
) -> list[tuple[float, int]]:
    """Train classifiers on nine parts of ten, or read what they came to.

    Returns:
        Of each, right labels among the rest, 0 to 100, and its number of parameters.
    """
    held = max(2, len(examples) // 20)
    parts = {"valid": examples[:held], "test": examples[held : 2 * held]}
    parts["train"] = examples[2 * held :]
    where = hashlib.sha256(f"{configs[0].text}{examples}".encode()).hexdigest()[:16]
    prepared = work.directory / "data" / f"examples-{where}"
    if not (prepared / "data.json").is_file():
        files = {name: _part(prepared, name) for name in parts}
        prepared.parent.mkdir(parents=True, exist_ok=True)
        for name, file in files.items():
            lines = ("\t".join((e.label, *e.parts)) for e in parts[name])
            file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        # What is rare may be missing from the training part: a label must not be.
        known = {example.label for example in parts["train"]}
        assert known >= {example.label for example in examples}, "too few texts of a label"
        prepare_examples([files["train"]], [files["valid"]], prepared, configs[0].text)
    version = hashlib.sha256(code_version().encode() + Path(__file__).read_bytes()).hexdigest()
    specs = [
        {
            "name": f"classifier, {config.model.encoder_mixer}, seed {config.training.seed}",
            "data": prepared.name,
            "settings": config.to_dict(),
            "version": version,
        }
        for config in configs
    ]
    return [(values["right"], values["parameters"]) for values in work.pieces(classifier, specs)]


def classifier(place: Path) -> None:
    """Train what a directory's ``spec.json`` describes, and score it; one of `classifier_trials`."""
    spec = json.loads((place / "spec.json").read_text(encoding="utf-8"))
    prepared = place.parents[1] / "data" / spec["data"]
    data = PreparedData.open(prepared)
    model = learn(place / "run", data, from_dict(spec["settings"], where=str(place)))
    assert isinstance(model, Classifier)
    assert isinstance(data.tokenizer, LabelledText)
    test = list(read_examples([_part(prepared, "test")]))
    found = TextClassifier(model, data.tokenizer).predict([example.parts for example in test])
    right = sum(a.label == b.label for a, b in zip(found, test, strict=True))
    values = {"right": 100 * right / len(test), "parameters": parameter_count(model)}
    replace_file(place / "trial.json", json.dumps(values).encode())
    remove(place / "run")


def _part(prepared: Path, name: str) -> Path:
    return prepared.with_name(f"{prepared.name}-{name}.tsv")


def _most_frequent(examples: Sequence[Example]) -> float:
    """Return what always saying the most frequent label would get right of the test texts."""
    held = max(2, len(examples) // 20)
    labels = [example.label for example in examples[2 * held :]]
    best = max(sorted(set(labels)), key=labels.count)
    return 100 * sum(e.label == best for e in examples[held : 2 * held]) / held


def _line(text: str) -> str:
    """A tab or a line break would be the end of a part."""
    return " ".join(text.split())
