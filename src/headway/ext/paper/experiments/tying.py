"""Section 3.4: one matrix for both embeddings and the softmax, two, or three; and sqrt(d_model)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import torch

from headway.config import ModelConfig
from headway.ext.paper.measuring.parameters import (
    count_parameters,
    embedding_rows,
    paper_shape,
    parameters_by_formula,
)
from headway.ext.paper.results import Claim, Finding, Table
from headway.ext.paper.running.group import TrialGroup, score_table
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.study import Study
from headway.ext.paper.verdicts import shown
from headway.model import Transformer, sinusoids

ONE, TWO, THREE = "one matrix (the paper)", "two matrices", "three matrices"
TYINGS: dict[str, Literal["three-way", "target", "none"]] = {
    ONE: "three-way", TWO: "target", THREE: "none",
}  # fmt: skip
SIZED = ModelConfig(  # whose embeddings are compared with positions
    source_vocab_size=2000, target_vocab_size=2000, num_encoder_layers=1, num_decoder_layers=1
)
ONE_UNSCALED, THREE_UNSCALED = "one matrix, not scaled", "three matrices, not scaled"


def count(work: Study) -> list[Finding]:
    """Count the matrices, and compare embeddings with positions."""
    return [count_matrices(), compare_parameters(), compare_sizes()]


def plan(work: Study) -> list[PlannedTrial]:
    """Return a training for each way of tying, and two without the scale."""
    base = work.base
    ways = [(name, tying, base.model.scale_embeddings) for name, tying in TYINGS.items()]
    ways += [(ONE_UNSCALED, base.model.tying, False), (THREE_UNSCALED, "none", False)]
    return [
        PlannedTrial(
            name, replace(base, model=replace(base.model, tying=tying, scale_embeddings=is_scaled))
        )
        for name, tying, is_scaled in ways
    ]


def conclude(work: Study, groups: Mapping[str, TrialGroup]) -> list[Finding]:
    """Compare the ways of tying, with and without the scale, by differences of BLEU."""
    return [
        score_table(
            "Trained alike: mean and 95 % interval over the seeds",
            "embeddings and softmax", ("BLEU", "perplexity", "parameters"), groups,
        )
    ]  # fmt: skip


def tied_shape(tying: Literal["three-way", "target", "none"]) -> ModelConfig:
    """Return the paper's base with a way of tying."""
    return replace(paper_shape("base"), tying=tying)


def count_matrices() -> Table:
    """Count the parameters of each way at the paper's base."""
    rows = []
    for name, tying in TYINGS.items():
        shape = tied_shape(tying)
        matrices = embedding_rows(shape) * shape.d_model
        share = round(100 * matrices / parameters_by_formula(shape), 1)
        rows.append((name, count_parameters(shape) / 1e6, matrices / 1e6, share))
    return Table(
        "Parameters of the paper's base with 37,000 subwords, in millions",
        ("embeddings and softmax", "all", "of them in these matrices", "%"),
        tuple(rows),
    )


def compare_parameters() -> Claim:
    """Count what sharing saves at the paper's base."""
    shape = tied_shape("three-way")
    one, three = (count_parameters(tied_shape(tying)) for tying in ("three-way", "none"))
    return Claim(
        "Sharing saves two of three matrices",
        "", f"{(three - one) / 1e6:.1f} million fewer of {three / 1e6:.1f}",
        shown(three - one == 2 * embedding_rows(shape) * shape.d_model),
        "counted on the models as built, at the base's size and 37,000 subwords",
    )  # fmt: skip


def compare_sizes() -> Claim:
    """Compare embeddings before training with the positions that are added to them."""
    with torch.random.fork_rng([]):
        torch.manual_seed(1)
        model = Transformer(SIZED)
    stored, fed, position = component_sizes(model)
    return Claim(
        "Embeddings are multiplied by sqrt(d_model).",
        "no reason given",
        f"embedding over position before training: {fed / position:.2f} with the factor, {stored / position:.2f} without",
        shown(0.5 < fed / position < 2 and stored < fed / 2),
        "root mean squares of components: the matrix is also the softmax's, so that it starts small",
    )


def component_sizes(model: Transformer) -> tuple[float, float, float]:
    """Return root mean squares: of embeddings as stored, as fed to the stack, and of positions."""
    embedding = model.source_embedding
    rows = embedding.weight.detach()[:-1]  # <pad> is zero
    stored = float(rows.square().mean().sqrt())
    positions = sinusoids(model.config.max_positions, model.config.d_model)
    return stored, stored * embedding.scale, float(positions.square().mean().sqrt())
