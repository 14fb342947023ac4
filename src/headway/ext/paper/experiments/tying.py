"""Section 3.4: one matrix for both embeddings and the softmax, two, or three; and sqrt(d_model)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import torch

from headway.config import ModelConfig
from headway.ext.paper.charts import intervals
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
from headway.model import Transformer
from headway.training import plain_loss

ONE, TWO, THREE = "one matrix (the paper)", "two matrices", "three matrices"
TYINGS: dict[str, Literal["three-way", "target", "none"]] = {
    ONE: "three-way", TWO: "target", THREE: "none",
}  # fmt: skip
ONE_UNSCALED, THREE_UNSCALED = "one matrix, not scaled", "three matrices, not scaled"


def count(work: Study) -> list[Finding]:
    """Count the matrices, and show that tying adds up gradients."""
    return [count_matrices(), compare_gradients(), compare_parameters()]


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
    table = score_table(
        "Trained alike: mean and 95 % interval over the seeds",
        "embeddings and softmax", ("BLEU", "perplexity", "parameters"), groups,
    )  # fmt: skip
    figure = intervals(
        "BLEU by tying and scale, 95 % intervals",
        [(name, group.bleu) for name, group in groups.items()], "BLEU", zero=False,
    )  # fmt: skip
    return [table, figure]


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


def compare_gradients() -> Claim:
    """Show that a tied model is one with equal matrices."""
    error = gradient_error()
    return Claim(
        "One matrix is the same model as three equal ones; its gradient is the sum of theirs",
        "the same matrix is shared", f"largest difference {error:.1e}",
        shown(error < 1e-10), "in float64, on a model of 2 + 2 layers",
    )  # fmt: skip


def gradient_error() -> float:
    """Return the largest difference between a tied model and an untied one of equal matrices.

    Outputs are compared, and the gradient of the tied matrix with the sum of the untied ones.
    """
    config = ModelConfig(
        source_vocab_size=31, target_vocab_size=31, num_encoder_layers=2, num_decoder_layers=2,
        d_model=12, d_ff=20, num_heads=3, dropout=0.0,
    )  # fmt: skip
    with torch.random.fork_rng([]):
        torch.manual_seed(1)
        tied = Transformer(config).double()
        untied = Transformer(replace(config, tying="none")).double()
        source, target = torch.randint(0, 30, (2, 5, 7))
    weights = tied.state_dict()
    shared = weights["source_embedding.weight"]
    copies = {name: shared for name in untied.state_dict() if name not in weights}
    untied.load_state_dict({**weights, **copies})
    for model in (tied, untied):
        loss = plain_loss(model(source, target).flatten(0, 1), target.flatten(), 0.1).smoothed
        loss.backward()
    matrices = [untied.source_embedding.weight, untied.target_table.weight, untied.output.weight]
    summed = sum(m.grad for m in matrices if m is not None and m.grad is not None)
    gradient = tied.source_embedding.weight.grad
    assert gradient is not None
    assert isinstance(summed, torch.Tensor)
    # The row of <pad> stays zero: embeddings clear its gradient, an untied softmax does not.
    with torch.no_grad():
        outputs = (tied(source, target) - untied(source, target)).abs().max().item()
    return max(outputs, (gradient - summed)[:-1].abs().max().item())
