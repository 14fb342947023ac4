"""The paper's headline: what base and big need on one GPU of today, and the command that begins each training."""

from headway.ext.paper.experiments.table2 import count_step
from headway.ext.paper.measuring.parameters import count_parameters, paper_shape
from headway.ext.paper.published import SECONDS_A_STEP, STEPS, TOKENS_A_STEP, TRANSFORMERS
from headway.ext.paper.results import Finding, Table
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.study import Study
from headway.ext.paper.settings import paper_settings

SETTINGS = tuple(f"wmt14-{name}" for name in ("en-de-base", "en-de-big", "en-fr-base", "en-fr-big"))
TEXT = "hf:wmt/wmt14:{1}-en"  # the training text of WMT14 with newstest2013 and newstest2014
PAIRS = {"en-de": 4_500_000, "en-fr": 36_000_000}  # the paper's
# Bytes of a parameter: the weight, its gradient and Adam's two moments in fp32, and a copy in bf16.
BYTES = 4 * 4 + 2


# Target tokens of base a second, as docs/evidence/performance.md reports it.
GPU, RATE, MEASURED = "NVIDIA H200", 362_000, "2026-11-26"


def count(work: Study) -> list[Finding]:
    """Return how long base and big train on one GPU, and what they keep in its memory."""
    steps = {name: count_step(paper_shape(name), TOKENS_A_STEP) for name in STEPS}
    rows = []
    for name, total in STEPS.items():
        # As many operations a second as base was measured with.
        rate = RATE * steps["base"] / steps[name]
        hours = total * TOKENS_A_STEP / rate / 3600
        held = count_parameters(paper_shape(name)) * BYTES / 1e9
        basis = "measured" if name == "base" else "by the operations a second of base"
        rows.append((name, total, round(rate), basis, round(hours, 1), round(held, 1)))
        work.show(
            f"{name}: {hours:.1f} hours on one {GPU} ({basis}), {held:.1f} GB and its batches"
        )
    times = Table(
        f"The paper's trainings on one {GPU}",
        ("model", "steps", "target tokens/s", "rate", "hours", "GB without batches"),
        tuple(rows),
        f"The rate of base was measured on {MEASURED} in bf16, with steps of {TOKENS_A_STEP:,} target tokens in packed rows;"
        " validation and checkpoints are not in it, and big was not measured. The paper took"
        f" {SECONDS_A_STEP['base']:g} and {SECONDS_A_STEP['big']:g} s a step on eight P100. Memory is that of weights, gradients and Adam;"
        " what batches need is in the dry run with which each training begins, and"
        " --training.micro-batch-tokens sets it.",
    )  # fmt: skip
    texts = Table(
        "Text",
        ("languages", "pairs in the paper", "name of the corpus", "base", "big"),
        tuple(
            (
                languages, pairs, corpus_of(languages),
                *(getattr(TRANSFORMERS[m], languages.replace("-", "_")) for m in ("base", "big")),
            )
            for languages, pairs in PAIRS.items()
        ),
        "A training fetches the text by its name, with newstest2013 for validation (pip install 'headway[corpora]'). The last"
        " columns are the paper's BLEU on newstest2014: sacrebleu -t wmt14/full -l en-de --echo src (and ref) prints that text,"
        " and headway evaluate RUN/averaged --source SRC --reference REF scores it, also as the authors' script does"
        " (bleu_paper). No text of WMT14 was at hand here, so that these commands have not been run yet.",
    )  # fmt: skip
    return [times, texts]


def corpus_of(languages: str) -> str:
    """Return the name of the corpus of two languages."""
    return TEXT.format(*languages.split("-"))


def plan(work: Study) -> list[PlannedTrial]:
    """Return the paper's own settings, each with one command that fetches the text, trains and averages."""
    if not work.is_settings_only:
        return []
    planned = []
    for name in SETTINGS:
        languages = name[6:11]
        corpus = corpus_of(languages)
        text = (
            f"--languages {languages.replace('-', ' ')} --train {corpus} --valid {corpus}"
            f" --training.device cuda --training.packed true --training.micro-batch-tokens {TOKENS_A_STEP}"
        )
        planned.append(PlannedTrial(name, paper_settings(name), command=("train", text)))
    return planned
