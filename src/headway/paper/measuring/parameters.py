"""How many numbers a model trains: by formula, by counting, and which vocabulary a paper's figure needs."""

from collections.abc import Sequence
from dataclasses import replace

import torch

from headway.config import ModelConfig
from headway.model import Transformer, parameter_count
from headway.paper.published import TABLE3, VOCABULARY, Row
from headway.paper.results import Claim, Table
from headway.paper.running.rows import shapes


def formula(config: ModelConfig) -> int:
    """Return the parameters of an attention model, written down from section 3.

    Equation 5's projections have no biases; a feed-forward network has two, a layer norm a gain and a
    bias. A tied matrix counts once.
    """
    d, ff, h = config.d_model, config.d_ff, config.num_heads
    d_k, d_v = config.head_widths
    attention = 2 * d * h * d_k + 2 * d * h * d_v  # W^Q and W^K; W^V and W^O
    feed_forward = 2 * d * ff + ff + d
    norm = 2 * d
    encoder = attention + feed_forward + 2 * norm
    decoder = 2 * attention + feed_forward + 3 * norm
    positions = 2 * config.max_positions * d if config.positions == "learned" else 0
    layers = config.num_encoder_layers * encoder + config.num_decoder_layers * decoder
    return layers + positions + embedding_rows(config) * d


def embedding_rows(config: ModelConfig) -> int:
    """Return the rows of all embedding and pre-softmax matrices, tied ones once."""
    match config.tying:
        case "three-way":
            return config.target_vocab_size
        case "target":
            return config.source_vocab_size + config.target_vocab_size
        case "none":
            return config.source_vocab_size + 2 * config.target_vocab_size


def counted(config: ModelConfig) -> int:
    """Build the model, without memory for its weights, and count them."""
    with torch.device("meta"):
        return parameter_count(Transformer(config))


def with_rows(config: ModelConfig, rows: int) -> ModelConfig:
    """Return the shape with a joint vocabulary of so many rows."""
    return replace(config, source_vocab_size=rows, target_vocab_size=rows)


def fitting_rows(config: ModelConfig, millions: float) -> tuple[float, float]:
    """Return the fewest and the most embedding rows with which a count rounds to so many millions."""
    rest = formula(with_rows(config, 2)) - 2 * config.d_model
    return (
        ((millions - 0.5) * 1e6 - rest) / config.d_model,
        ((millions + 0.5) * 1e6 - rest) / config.d_model,
    )


def one_vocabulary(rows: Sequence[tuple[Row, ModelConfig]]) -> tuple[float, float] | None:
    """Return the span of vocabularies that explains the printed figures of all rows; None: none does."""
    spans = [fitting_rows(config, row.millions) for row, config in rows if row.millions is not None]
    low, high = max(low for low, _ in spans), min(high for _, high in spans)
    return (low, high) if low <= high else None


def parameter_tables() -> tuple[list[Table], list[Claim]]:
    """Count every row at the paper's size, and find the vocabulary its figures need."""
    rows, agree = shapes(), True
    others = [(row, shape) for row, shape in rows if row.name != "big"]
    span = one_vocabulary(others)
    big = fitting_rows(rows[-1][1], TABLE3[-1].millions or 0)
    middle = round(sum(span) / 2) if span else 0
    cells = []
    for row, shape in rows:
        plain = with_rows(shape, VOCABULARY["en-de"])
        agree &= formula(plain) == counted(plain)
        fit = fitting_rows(shape, row.millions) if row.millions is not None else None
        cells.append(
            (
                row.label,
                formula(plain) / 1e6,
                row.millions,
                f"{fit[0]:,.0f} to {fit[1]:,.0f}" if fit else None,
                formula(with_rows(shape, middle)) / 1e6 if middle else None,
                round(100 * plain.d_model * VOCABULARY["en-de"] / formula(plain), 1),
            )
        )
    table = Table(
        "Parameters at the paper's size, in millions",
        ("row", "37,000 pieces", "the paper", "vocabulary that gives the paper's", f"{middle:,} pieces",
         "the vocabulary's share at 37,000, %"),
        tuple(cells),
        "Counted on the built model and equal to the formula of section 3. The paper says “about 37,000”"
        " pieces and prints whole millions. Nothing here is tuned to them.",
    )  # fmt: skip
    claims = [
        Claim(
            "Every row's parameters are those of the formula of section 3",
            "19 rows and big", f"{len(rows)} rows counted", "shown" if agree else "does not",
            "counted on the model as built", "6.2, Table 3",
        ),
        Claim(
            "One vocabulary explains the printed parameters of all rows but big",
            "about 37,000 pieces",
            f"{span[0]:,.0f} to {span[1]:,.0f} embedding rows" if span else "none",
            "shown" if span else "does not",
            "where the spans of all rows overlap", "6.2, Table 3",
        ),
        Claim(
            "Big needs a smaller vocabulary than the others",
            "213 million", f"{big[0]:,.0f} to {big[1]:,.0f} embedding rows",
            "shown" if span and big[1] < span[0] else "does not",
            "with the others' vocabulary it would have"
            f" {formula(with_rows(rows[-1][1], middle)) / 1e6:.1f} million", "6.2, Table 3",
        ),
    ]  # fmt: skip
    return [table], claims
