"""The layer types of Table 1 as translators, trained alike on the same text (paper: section 4)."""

from dataclasses import replace

from headway.paper.measuring.layer_types import RIVALS
from headway.paper.results import Claim, Table, say, verdict
from headway.paper.running.trial import Trial
from headway.paper.running.work import Job, Work

KERNEL, WINDOW = 3, 8


def jobs(work: Work) -> list[Job]:
    """Return encoder-decoders that differ in what mixes positions, and in nothing else."""
    base = work.base
    return [
        Job(
            rival.name,
            replace(
                base,
                model=replace(
                    base.model,
                    encoder_mixer=rival.word,
                    decoder_mixer=rival.word,
                    window=WINDOW if rival.name == "restricted" else 0,
                    kernel_size=KERNEL,
                ),
            ),
        )
        for rival in RIVALS
    ]


def translators(work: Work) -> tuple[Table, list[Claim]]:
    """Train them all alike, or write their settings at the paper's size."""
    if work.scale == "paper":
        return work.write_settings(jobs(work)), []
    groups, seeds = work.by_seed(jobs(work)), len(work.seeds)
    rows = tuple(
        (
            name,
            say([t.bleu for t in group]),
            say([t.perplexity for t in group]),
            round(sum(t.tokens_per_second for t in group) / seeds),
            group[0].parameters,
        )
        for name, group in groups.items()
    )
    table = Table(
        "Translators that differ in their mixers alone",
        ("layer", "BLEU", "perplexity", "tokens/s", "parameters"),
        rows,
        f"{seeds} seeds, means with 95 % intervals by Student's t; r = {WINDOW}, k = {KERNEL}."
        " Encoder-decoder attention is the same in all.",
    )
    return table, [_beside(work, name, groups) for name in groups if name != "self-attention"]


def _beside(work: Work, name: str, groups: dict[str, list[Trial]]) -> Claim:
    pairs = zip(groups["self-attention"], groups[name], strict=True)
    differences = [a.bleu - b.bleu for a, b in pairs]
    return Claim(
        f"Self-attention in place of {name} translates better.",
        "not compared",
        f"{say(differences, sign=True)} BLEU",
        work.sober(verdict(differences, 1), groups["self-attention"]),
        "paired by seed; the paper itself compares with published systems only",
        "4 and 6.1",
    )
