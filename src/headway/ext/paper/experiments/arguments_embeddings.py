"""Why embeddings are multiplied by sqrt(d_model): the sizes of what is added (paper: section 3.4)."""

from collections.abc import Mapping
from dataclasses import replace

import torch

from headway.ext.paper.results import Cell, Claim, Finding, Table
from headway.ext.paper.running.group import TrialGroup
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.study import Study
from headway.ext.paper.verdicts import interval_text, percent_text, shown
from headway.model import Transformer, sinusoids

SCALED, STORED = "times sqrt(d_model)", "as stored"


def component_sizes(model: Transformer) -> tuple[float, float, float]:
    """Return root mean squares: of embeddings as stored, as fed to the stack, and of positions."""
    embedding = model.source_embedding
    rows = embedding.weight.detach()[:-1]  # <pad> is zero
    stored = float(rows.square().mean().sqrt())
    positions = sinusoids(model.config.max_positions, model.config.d_model)
    return stored, stored * embedding.scale, float(positions.square().mean().sqrt())


def plan(work: Study) -> list[PlannedTrial]:
    """Return a training with the factor and one without."""
    base = work.base
    return [
        PlannedTrial(name, replace(base, model=replace(base.model, scale_embeddings=is_scaled)))
        for name, is_scaled in ((SCALED, True), (STORED, False))
    ]


def conclude(work: Study, groups: Mapping[str, TrialGroup]) -> list[Finding]:
    """Measure what is added, before and after training, with and without sqrt(d_model)."""
    rows: list[tuple[Cell, ...]] = []
    ratios, trained_ratios = [], []
    for name in (SCALED, STORED):
        group = groups[name]
        torch.manual_seed(work.seeds[0])
        first = component_sizes(Transformer(group.trials[0].config.model))
        trained = [component_sizes(trial.translator().model) for trial in group.trials]
        rows.append((name, "before training", *(f"{value:.3f}" for value in first), ""))
        sizes_by_part = list(zip(*trained, strict=True))
        cells = (interval_text(sizes, 3) for sizes in sizes_by_part)
        rows.append((name, "trained", *cells, percent_text(group.bleu)))
        ratios.append(first[1] / first[2])
        trained_ratios.append(sum(sizes_by_part[1]) / sum(sizes_by_part[2]))
    table = Table(
        "Root mean square of a component",
        ("embeddings are fed", "when", "stored", "fed", "position", "BLEU"),
        tuple(rows),
        "The embedding matrix is also the softmax's, so it starts small: with a standard deviation of"
        " d_model^-0.5.",
    )
    claim = Claim(
        "Embeddings are multiplied by sqrt(d_model).",
        "no reason given",
        f"fed embedding over position before training: {ratios[0]:.2f} with, {ratios[1]:.2f} without",
        shown(0.5 < ratios[0] < 2 and ratios[1] < ratios[0] / 2),
        "with the factor both are of one size; without it positions outweigh the words (after training:"
        f" {trained_ratios[0]:.2f} with, {trained_ratios[1]:.2f} without)",
        "3.4",
    )
    return [table, claim]
