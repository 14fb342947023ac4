"""Table 2: the cost of training, by the paper's method and counted, and BLEU with the paper's scoring."""

from collections.abc import Mapping, Sequence
from functools import cache

import torch
from torch.utils.flop_counter import FlopCounterMode

from headway.config import ModelConfig
from headway.ext.paper.measuring.parameters import paper_shape
from headway.ext.paper.published import (
    GPUS,
    HOURS,
    SECONDS_A_STEP,
    STEPS,
    SUSTAINED,
    TABLE2,
    TABLE2_NOTE,
    TOKENS_A_STEP,
    TRANSFORMERS,
)
from headway.ext.paper.results import Cell, Claim, Finding, Table
from headway.ext.paper.running.group import TrialGroup
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.scoring import SEARCH, score_text
from headway.ext.paper.running.study import Study
from headway.ext.paper.table3_rows import TABLE3, configure
from headway.ext.paper.trends import trend_claim
from headway.ext.paper.verdicts import LearnedScores, percent_text, shown
from headway.model import make_model_without_memory
from headway.training import plain_loss
from headway.translation import Translator

LENGTH = 27  # subwords of a sentence, about WMT's mean
PUBLISHED = "base, trained as in the paper"


def count(work: Study) -> list[Finding]:
    """Count what the paper's models cost."""
    return [published_table(), cost_table(), *cost_claims()]


def plan(work: Study) -> list[PlannedTrial]:
    """Return base and big, and a base that is trained as in the paper; those of the paper's size are ``wmt14``'s."""
    if work.is_settings_only:
        return []
    rows = TABLE3[0], TABLE3[-1]
    return [
        *(PlannedTrial(row.name, configure(work.base, row)) for row in rows),
        PlannedTrial(PUBLISHED, work.published_base),
    ]


def conclude(work: Study, groups: Mapping[str, TrialGroup]) -> list[Finding]:
    """Score base and big at the work's scale, and what their trainings cost."""
    last = {name: score(work, group) for name, group in groups.items()}
    averaged = score(work, groups[PUBLISHED], averaged=True)
    return [
        trained_table(work, groups, last, averaged),
        *score_claims(work, last, averaged),
    ]


def published_table() -> Table:
    """Return the paper's own table."""
    rows = tuple((s.name, s.en_de, s.en_fr, s.flops_en_de, s.flops_en_fr) for s in TABLE2)
    columns = ("system", "BLEU en-de", "BLEU en-fr", "FLOPs en-de", "FLOPs en-fr")
    return Table("The paper's Table 2 (newstest2014)", columns, rows, TABLE2_NOTE)


def estimate_flops(name: str) -> float:
    """Return floating-point operations by the paper's method: hours, GPUs, sustained speed."""
    return HOURS[name] * 3600 * GPUS * SUSTAINED["P100"]


@cache
def count_step(shape: ModelConfig, tokens: int, length: int = LENGTH) -> int:
    """Count the operations of a training step's matrix products on the running model.

    The step goes forward and backward on sentences of one length, on torch's meta device, which
    computes nothing. A multiplication and an addition are two operations.

    Args:
        shape: With its vocabulary sizes.
        tokens: Of each side.
        length: Of each sentence, in subwords.
    """
    rows = max(1, round(tokens / length))
    model = make_model_without_memory(shape)
    source = torch.zeros(rows, length, dtype=torch.long, device="meta")
    with FlopCounterMode(display=False) as counter:
        logits = model(source, source)
        plain_loss(logits.flatten(0, 1), source.flatten(), 0.1).smoothed.backward()
    return round(counter.get_total_flops() * tokens / (rows * length))


def cost_table() -> Table:
    """Return the paper's estimate beside the counted operations of its models."""
    speed = GPUS * SUSTAINED["P100"]
    cells: list[tuple[Cell, ...]] = []
    for name in ("base", "big"):
        step = count_step(paper_shape(name), TOKENS_A_STEP)
        total = step * STEPS[name]
        cells.append(
            (
                name, estimate_flops(name), speed * SECONDS_A_STEP[name] * STEPS[name],
                TRANSFORMERS[name].flops_en_de,
                float(step), float(total),
                round(100 * total / estimate_flops(name), 1),
            )
        )  # fmt: skip
    columns = (
        "model", "hours × GPUs × sustained speed", "steps × seconds × the same", "printed",
        "counted, a step", "counted, all steps",
        "counted / estimated, %",
    )  # fmt: skip
    return Table(
        "Floating-point operations of training the paper's models, English-German",
        columns, tuple(cells),
        f"Counted on the running model, forward and backward, {TOKENS_A_STEP:,} tokens a side in sentences"
        f" of {LENGTH} subwords without padding. The paper's method counts what the hardware could have"
        " done in the time, not what the model needed: the last column is the share that was needed.",
    )  # fmt: skip


def cost_claims() -> list[Claim]:
    """Return the claims on the paper's arithmetic of costs, and on its conclusion."""
    claims = []
    printed = {name: system.flops_en_de or 0.0 for name, system in TRANSFORMERS.items()}
    for name in ("base", "big"):
        ours = estimate_flops(name)
        claims.append(
            Claim(
                f"{name}: hours of training times GPUs times their sustained speed",
                f"{printed[name]:.1e}", f"{ours:.2e}", shown(abs(ours / printed[name] - 1) < 0.02),
                f"{HOURS[name]:g} h · {GPUS} · {SUSTAINED['P100']:.2g} FLOP/s",
            )
        )  # fmt: skip
    cheapest = min(s.flops_en_de for s in TABLE2[:-2] if s.flops_en_de)
    counted = count_step(paper_shape("base"), TOKENS_A_STEP) * STEPS["base"]
    claims.append(
        Claim(
            "Base costs a fraction of the cheapest competitor",
            f"{printed['base']:.1e} of {cheapest:.1e}", f"{counted:.2e} counted",
            shown(counted < printed["base"] < cheapest),
            "the competitors' costs are the paper's estimates",
        )
    )  # fmt: skip
    return claims


def score_claims(
    work: Study, last: Mapping[str, Sequence[float]], averaged: Sequence[float]
) -> list[Claim]:
    """Return the claims on big against base, and on averaged checkpoints against the last."""
    ahead = [big - base for big, base in zip(last["big"], last["base"], strict=True)]
    gains = [a - b for a, b in zip(averaged, last[PUBLISHED], strict=True)]
    return [
        trend_claim(
            "Big is better than base", f"{TRANSFORMERS['big'].en_de} and {TRANSFORMERS['base'].en_de} on newstest2014, English-German",
            "big less base: {} BLEU", ahead, digits=1,
            learned=LearnedScores(work.gate, (last["base"], last["big"])),
            optimizer=work.base.training.optimizer.capitalize(),
            why="paired by seed, last checkpoints; only the direction can be compared with the paper's",
        ),
        trend_claim(
            "Averaged checkpoints are better than the last", "", "averaged less last: {} BLEU", gains, digits=1,
            learned=LearnedScores(work.gate, (last[PUBLISHED], averaged)),
            optimizer=work.published_base.training.optimizer.capitalize(),
            why=f"{PUBLISHED}, each seed; the paper averages without a comparison",
        ),
    ]  # fmt: skip


@cache
def _translations(path: str, sources: tuple[str, ...]) -> list[str]:
    return Translator.load(path, "cpu").translate(list(sources), SEARCH)


def score(
    work: Study, group: TrialGroup, *, averaged: bool = False, as_paper: bool = True
) -> list[float]:
    """Return the BLEU of each trial's last or averaged weights, as the paper scores or as sacreBLEU."""
    pairs, (_, language) = work.corpus.test, work.corpus.languages
    sources = tuple(source for source, _ in pairs)
    metric = "bleu_paper" if as_paper else "bleu"
    directories = [t.averaged if averaged else t.directory for t in group.trials]
    return [
        score_text(_translations(str(d), sources), pairs, language, metric) for d in directories
    ]


def trained_table(
    work: Study,
    groups: Mapping[str, TrialGroup],
    last: Mapping[str, list[float]],
    averaged: Sequence[float],
) -> Table:
    """Return the models trained here: scores, and counted cost."""
    cells: list[tuple[Cell, ...]] = []
    for name, group in groups.items():
        config = group.trials[0].config
        batch = config.training.batch_tokens
        tokens = sum(t.seconds * t.tokens_per_second for t in group.trials) / len(group.trials)
        counted = count_step(config.model, batch) * tokens / batch
        cells.append(
            (
                name, percent_text(last[name], 1),
                percent_text(averaged, 1) if name == PUBLISHED else None,
                percent_text(score(work, group, as_paper=False), 1),
                group.parameters, round(group.seconds, 1), counted,
            )
        )  # fmt: skip
    columns = (
        "model", "BLEU, the paper's scoring", "averaged", "sacreBLEU", "parameters", "seconds",
        "FLOPs counted",
    )  # fmt: skip
    return Table("Trained here: mean and 95 % interval over the seeds", columns, tuple(cells))
