"""Table 3's rows: what each changes, its published scores, and its settings on a base of any size."""

from dataclasses import dataclass, field, replace

from headway.config import Config, ModelConfig
from headway.ext.paper.published import TABLES


@dataclass(frozen=True)
class Table3Row:
    """A row of Table 3: what it changes, and its scores on newstest2013.

    Attributes:
        name: The change in few words.
        group: A to E; "" for base and big.
        model: Changed settings of the model.
        training: Changed settings of training.
        perplexity: For each word-piece.
        bleu: With beam 4 and alpha 0.6, without averaging.
        millions: Parameters / 10^6; None: the cell is empty, so the base's.
    """

    name: str
    group: str = ""
    model: dict[str, str | int | float] = field(default_factory=dict)
    training: dict[str, str | int | float] = field(default_factory=dict)
    perplexity: float = 0.0
    bleu: float = 0.0
    millions: float | None = None

    @property
    def label(self) -> str:
        """The row's name, with the letter of its group."""
        return f"({self.group}) {self.name}" if self.group else self.name


TABLE3 = tuple(Table3Row(**row) for row in TABLES["table3"])

# In the paper's rows (A), more heads are also narrower heads, so that they do not say which of the two matters.
# These two rows, which the paper does not have, change the number of heads and keep their width.
CONTROLS = (
    Table3Row("h = 1, d_k = 64", "A", {"num_heads": 1, "d_k": 64, "d_v": 64}),
    Table3Row("h = 32, d_k = 64", "A", {"num_heads": 32, "d_k": 64, "d_v": 64}),
)


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
