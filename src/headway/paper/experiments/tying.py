"""Section 3.4: one matrix for both embeddings and the softmax, two, or three; and the sqrt(d_model)."""

from dataclasses import replace
from typing import Literal

import torch

from headway.config import Config, ModelConfig
from headway.model import Transformer
from headway.paper import charts
from headway.paper.measuring.parameters import counted, embedding_rows, formula, with_rows
from headway.paper.published import VOCABULARY
from headway.paper.results import Claim, Result, Table, say, t_interval, verdict
from headway.paper.running.trial import Trial
from headway.paper.running.work import Job, Work
from headway.training.objective import plain_loss

TITLE = "Tied embeddings, and their scale"
SECTION = "3.4"
WAYS: tuple[tuple[Literal["three-way", "target", "none"], str], ...] = (
    ("three-way", "one matrix (the paper)"),
    ("target", "two matrices"),
    ("none", "three matrices"),
)


def run(work: Work) -> Result:
    """Train each way of tying with and without the scale, and show that tying is a sum of gradients."""
    ways = [
        Job(words, replace(work.base, model=replace(work.base.model, tying=tying)))
        for tying, words in WAYS
    ]
    jobs = [
        *ways,
        Job(
            "one matrix, not scaled",
            replace(work.base, model=replace(work.base.model, scale_embeddings=False)),
        ),
        Job(
            "three matrices, not scaled",
            replace(ways[2].config, model=replace(ways[2].config.model, scale_embeddings=False)),
        ),
    ]
    error = gradient_error()
    sizes = [(words, replace(Config().model, tying=tying)) for tying, words in WAYS]
    tables = [size_table(sizes)]
    small, large = (formula(with_rows(m, VOCABULARY["en-de"])) for m in (sizes[0][1], sizes[2][1]))
    claims = [
        Claim(
            "One matrix is the same model as three equal ones; its gradient is the sum of theirs",
            "the same matrix is shared", f"largest difference {error:.1e}",
            "shown" if error < 1e-10 else "does not", "in float64, on a model of 2 + 2 layers", "3.4",
        ),
        Claim(
            "Sharing saves two of three matrices",
            "", f"{(large - small) / 1e6:.1f} million fewer of {large / 1e6:.1f}",
            "shown", "counted at the base's size and 37,000 pieces", "3.4",
        ),
    ]  # fmt: skip
    if work.scale == "paper":
        tables.append(work.write_settings(jobs))
        differs = "Nothing is trained at this size: the settings are written, with their commands."
        return Result("tying", TITLE, SECTION, tuple(tables), (), tuple(claims), differs)
    trials = work.by_seed(jobs)
    tables.append(score_table(trials))
    claims += [
        _compare(
            "Sharing costs no quality: one matrix less three", trials, WAYS[0][1], WAYS[2][1], work
        ),
        _compare(
            "Multiplying embeddings by sqrt(d_model) helps: one matrix",
            trials, WAYS[0][1], "one matrix, not scaled", work,
        ),
        _compare(
            "Multiplying embeddings by sqrt(d_model) helps: three matrices",
            trials, WAYS[2][1], "three matrices, not scaled", work,
        ),
    ]  # fmt: skip
    trained = trials[WAYS[0][1]]
    claims = [
        c if c.verdict == "shown" else replace(c, verdict=work.sober(c.verdict, trained))
        for c in claims
    ]
    figure = charts.intervals(
        "BLEU by tying and scale, 95 % intervals",
        [(name, [t.bleu for t in found]) for name, found in trials.items()], "BLEU", zero=False,
    )  # fmt: skip
    differs = (
        "The paper names no number for tying; it shares all three and multiplies embeddings by"
        " sqrt(d_model). All matrices begin with a standard deviation of d_model^-0.5 here. Each way is"
        " trained alike; models with more matrices have more parameters."
    )
    settings = {"seeds": list(work.seeds), "text": work.corpus.name}
    return Result(
        "tying", TITLE, SECTION, tuple(tables), (figure,), tuple(claims), differs, 0.0, settings
    )


def _compare(text: str, trials: dict[str, list[Trial]], one: str, other: str, work: Work) -> Claim:
    found = [a.bleu - b.bleu for a, b in zip(trials[one], trials[other], strict=True)]
    if text.startswith("Sharing"):
        # Not worse is what is claimed: only an interval below zero refutes it.
        _, low, high = t_interval(found)
        decided = "holds" if low >= -0.5 else "does not" if high < -0.5 else "not decided"
        why = f"holds if the interval lies above -0.5 BLEU; {len(work.seeds)} seeds"
    else:
        decided = verdict(found, 1)
        why = f"{len(work.seeds)} seeds, paired"
    return Claim(text, "", f"{say(found, 1, sign=True)} BLEU", decided, why, "3.4")


def size_table(sizes: list[tuple[str, ModelConfig]]) -> Table:
    """Count the parameters of each way at the paper's base."""
    rows = []
    for words, shape in sizes:
        shape = with_rows(shape, VOCABULARY["en-de"])
        matrices = embedding_rows(shape) * shape.d_model
        rows.append(
            (words, counted(shape) / 1e6, matrices / 1e6, round(100 * matrices / formula(shape), 1))
        )
    return Table(
        "Parameters of the paper's base with 37,000 pieces, in millions",
        ("embeddings and softmax", "all", "of them in these matrices", "%"),
        tuple(rows),
    )


def score_table(trials: dict[str, list[Trial]]) -> Table:
    """Show what each way came to."""
    return Table(
        "Trained alike: mean and 95 % interval over the seeds",
        ("embeddings and softmax", "BLEU", "perplexity", "parameters"),
        tuple(
            (name, say([t.bleu for t in found], 1), say([t.perplexity for t in found]), found[0].parameters)
            for name, found in trials.items()
        ),
    )  # fmt: skip


def gradient_error() -> float:
    """Compare a tied model with an untied one of equal matrices: outputs and summed gradients.

    Returns:
        The largest difference.
    """
    config = ModelConfig(
        source_vocab_size=31, target_vocab_size=31, num_encoder_layers=2, num_decoder_layers=2,
        d_model=12, d_ff=20, num_heads=3, dropout=0.0,
    )  # fmt: skip
    with torch.random.fork_rng([]):
        torch.manual_seed(1)
        tied = Transformer(config).double()
        apart = Transformer(replace(config, tying="none")).double()
        source, target = torch.randint(0, 30, (2, 5, 7))
    weights = tied.state_dict()
    shared = weights["source_embedding.weight"]
    own = {name: shared for name in apart.state_dict() if name not in weights}
    apart.load_state_dict({**weights, **own})
    for model in (tied, apart):
        loss = plain_loss(model(source, target).flatten(0, 1), target.flatten(), 0.1).smoothed
        loss.backward()
    matrices = [apart.source_embedding.weight, apart.target_table.weight, apart.output.weight]
    theirs = sum(m.grad for m in matrices if m is not None and m.grad is not None)
    mine = tied.source_embedding.weight.grad
    assert mine is not None
    assert isinstance(theirs, torch.Tensor)
    # <pad>'s row is kept zero: its gradient is cleared in embeddings, and a softmax of its own has one.
    with torch.no_grad():
        outputs = (tied(source, target) - apart(source, target)).abs().max().item()
    return max(outputs, (mine - theirs)[:-1].abs().max().item())
