"""Table 3's rows: what each changes, its published scores, and its settings on a base of any size."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from headway.config import Config, ModelConfig


@dataclass(frozen=True)
class Table3Row:
    """A row of Table 3: what it changes, and its scores on newstest2013.

    Attributes:
        group: A to E; "" for base and big.
        name: The change in few words.
        model: Changed settings of the model.
        training: Changed settings of training.
        perplexity: For each word-piece.
        bleu: With beam 4 and alpha 0.6, without averaging.
        millions: Parameters / 10^6; None: the cell is empty, so the base's.
    """

    group: str
    name: str
    model: dict[str, str | int | float] = field(default_factory=dict)
    training: dict[str, str | int | float] = field(default_factory=dict)
    perplexity: float = 0.0
    bleu: float = 0.0
    millions: float | None = None

    @property
    def label(self) -> str:
        """The row's name, with the letter of its group."""
        return f"({self.group}) {self.name}" if self.group else self.name


TABLE3 = (
    Table3Row("", "base", {}, {}, 4.92, 25.8, 65),
    Table3Row("A", "h = 1", {"num_heads": 1, "d_k": 512, "d_v": 512}, {}, 5.29, 24.9),
    Table3Row("A", "h = 4", {"num_heads": 4, "d_k": 128, "d_v": 128}, {}, 5.00, 25.5),
    Table3Row("A", "h = 16", {"num_heads": 16, "d_k": 32, "d_v": 32}, {}, 4.91, 25.8),
    Table3Row("A", "h = 32", {"num_heads": 32, "d_k": 16, "d_v": 16}, {}, 5.01, 25.4),
    Table3Row("B", "d_k = 16", {"d_k": 16}, {}, 5.16, 25.1, 58),
    Table3Row("B", "d_k = 32", {"d_k": 32}, {}, 5.01, 25.4, 60),
    Table3Row("C", "N = 2", {"num_encoder_layers": 2, "num_decoder_layers": 2}, {}, 6.11, 23.7, 36),
    Table3Row("C", "N = 4", {"num_encoder_layers": 4, "num_decoder_layers": 4}, {}, 5.19, 25.3, 50),
    Table3Row("C", "N = 8", {"num_encoder_layers": 8, "num_decoder_layers": 8}, {}, 4.88, 25.5, 80),
    Table3Row("C", "d_model = 256", {"d_model": 256, "d_k": 32, "d_v": 32}, {}, 5.75, 24.5, 28),
    Table3Row("C", "d_model = 1024", {"d_model": 1024, "d_k": 128, "d_v": 128}, {}, 4.66, 26.0, 168),
    Table3Row("C", "d_ff = 1024", {"d_ff": 1024}, {}, 5.12, 25.4, 53),
    Table3Row("C", "d_ff = 4096", {"d_ff": 4096}, {}, 4.75, 26.2, 90),
    Table3Row("D", "P_drop = 0.0", {"dropout": 0.0}, {}, 5.77, 24.6),
    Table3Row("D", "P_drop = 0.2", {"dropout": 0.2}, {}, 4.95, 25.5),
    Table3Row("D", "eps_ls = 0.0", {}, {"label_smoothing": 0.0}, 4.67, 25.3),
    Table3Row("D", "eps_ls = 0.2", {}, {"label_smoothing": 0.2}, 5.47, 25.7),
    Table3Row("E", "learned positions", {"positions": "learned"}, {}, 4.92, 25.7),
    Table3Row(
        "", "big", {"d_model": 1024, "d_ff": 4096, "num_heads": 16, "dropout": 0.3},
        {"max_steps": 300_000}, 4.33, 26.4, 213,
    ),
)  # fmt: skip

# In the paper's rows (A), more heads are also narrower heads, so that they do not say which of the two matters.
# These two rows, which the paper does not have, change the number of heads and keep their width.
CONTROLS = (
    Table3Row("A", "h = 1, d_k = 64", {"num_heads": 1, "d_k": 64, "d_v": 64}),
    Table3Row("A", "h = 32, d_k = 64", {"num_heads": 32, "d_k": 64, "d_v": 64}),
)

GROUPS = ("A", "B", "C", "D", "E", "big")


def rows_of(groups: Collection[str]) -> list[Table3Row]:
    """Return the base and the rows of some groups, in the paper's order; "big" is a group."""
    return [row for row in TABLE3 if row.name == "base" or (row.group or row.name) in groups]


def find_row(name: str) -> Table3Row:
    """Return the row of Table 3 with this name."""
    return next(row for row in TABLE3 if row.name == name)


def configure(base: Config, row: Table3Row) -> Config:
    """Return a row's settings: exactly the paper's on the paper's base, by its factors on others."""
    ours, theirs = base.model, Config().model
    widths = dict(zip(("d_k", "d_v"), theirs.head_widths, strict=True))
    our_widths = dict(zip(("d_k", "d_v"), ours.head_widths, strict=True))
    model: dict[str, object] = {}
    for name, value in row.model.items():
        if isinstance(value, str) or (row.name == "big" and name == "dropout"):
            model[name] = value
        elif isinstance(value, float):
            model[name] = round(getattr(ours, name) * value / getattr(theirs, name), 6)
        else:
            paper_base = widths.get(name) or getattr(theirs, name)
            our_base = our_widths.get(name) or getattr(ours, name)
            model[name] = max(1, round(our_base * value / paper_base))
    if "d_k" in row.model and "d_v" not in row.model:
        model["d_v"] = ours.head_widths[1]
    training: dict[str, object] = {}
    for name, value in row.training.items():
        factor = value / getattr(Config().training, name)
        training[name] = type(value)(round(getattr(base.training, name) * factor, 6))
        if name == "max_steps":
            training["cool_steps"] = round(base.training.cool_steps * factor)
    return replace(
        base,
        model=replace(ours, **model),  # type: ignore[arg-type]
        training=replace(base.training, **training),  # type: ignore[arg-type]
    )


def shapes() -> list[tuple[Table3Row, ModelConfig]]:
    """Return the model of every row at the paper's size."""
    return [(row, configure(Config(), row).model) for row in TABLE3]
