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
from headway.ext.paper.results import Claim, Finding, Findings, Table, collect
from headway.ext.paper.running.group import TrialGroup
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.work import Study
from headway.ext.paper.trends import Expected, LearnedScores, trend_claim
from headway.ext.paper.verdicts import MARGIN, percent_text, perplexity_text, shown
from headway.model import Transformer
from headway.training import plain_loss

TITLE = "Tied embeddings, and their scale"
SECTION = "3.4"
ONE, TWO, THREE = "one matrix (the paper)", "two matrices", "three matrices"
TYINGS: dict[str, Literal["three-way", "target", "none"]] = {
    ONE: "three-way", TWO: "target", THREE: "none",
}  # fmt: skip
ONE_UNSCALED, THREE_UNSCALED = "one matrix, not scaled", "three matrices, not scaled"


def run(work: Study) -> Findings:
    """Train each way of tying, with and without the scale, and show that tying adds up gradients."""
    findings: list[Finding] = [count_matrices(), compare_gradients(), compare_parameters()]
    if work.is_settings_only:
        return work.settings_only(plan_trials(work), *findings)
    work.keep(*findings)
    groups = work.run_groups(plan_trials(work))
    table = Table(
        "Trained alike: mean and 95 % interval over the seeds",
        ("embeddings and softmax", "BLEU", "perplexity", "parameters"),
        tuple(
            (name, percent_text(g.bleu, 1), perplexity_text(g.perplexity), g.parameters)
            for name, g in groups.items()
        ),
    )
    figure = intervals(
        "BLEU by tying and scale, 95 % intervals",
        [(name, group.bleu) for name, group in groups.items()], "BLEU", zero=False,
    )  # fmt: skip
    return collect(
        *findings,
        table,
        figure,
        *tying_claims(groups, work),
        differs="The paper names no number for tying; it shares all three matrices and multiplies"
        " embeddings by sqrt(d_model). All matrices begin with a standard deviation of d_model^-0.5"
        " here. Each way is trained alike; models with more matrices have more parameters.",
        settings={"seeds": list(work.seeds), "text": work.corpus.name},
    )


def plan_trials(work: Study) -> list[PlannedTrial]:
    """Return a training for each way of tying, and two without the scale."""

    def plan(
        name: str, tying: Literal["three-way", "target", "none"], scaled: bool
    ) -> PlannedTrial:
        model = replace(work.base.model, tying=tying, scale_embeddings=scaled)
        return PlannedTrial(name, replace(work.base, model=model))

    scaled = work.base.model.scale_embeddings
    return [
        *(plan(name, tying, scaled) for name, tying in TYINGS.items()),
        plan(ONE_UNSCALED, work.base.model.tying, False),
        plan(THREE_UNSCALED, "none", False),
    ]


def tying_claims(groups: Mapping[str, TrialGroup], work: Study) -> list[Claim]:
    """Return the claims of section 3.4, decided by differences of BLEU paired by seed."""
    compared: tuple[tuple[str, str, str, Expected], ...] = (
        ("Sharing costs no quality: one matrix less three", ONE, THREE, "not less"),
        ("Multiplying embeddings by sqrt(d_model) helps: one matrix", ONE, ONE_UNSCALED, "more"),
        ("Multiplying embeddings by sqrt(d_model) helps: three matrices", THREE, THREE_UNSCALED, "more"),
    )  # fmt: skip
    limit = f"; holds if the interval lies above -{MARGIN} BLEU"
    return [
        trend_claim(
            text,
            "",
            f"{name} less {base}: {{}} BLEU",
            groups[name].less(groups[base]),
            expected=expected,
            margin=MARGIN,
            digits=1,
            learned=LearnedScores(work.least_bleu, (groups[name].bleu, groups[base].bleu)),
            why=f"paired by seed{limit if expected == 'not less' else ''}",
        )
        for text, name, base, expected in compared
    ]


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
