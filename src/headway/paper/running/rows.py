"""Table 3's rows as settings: exactly the paper's on its base, by the paper's factors on others."""

from collections.abc import Collection
from dataclasses import replace

from headway.config import Config, ModelConfig
from headway.paper.published import TABLE3, Row

GROUPS = ("A", "B", "C", "D", "E", "big")


def rows_of(groups: Collection[str]) -> list[Row]:
    """Return the base and the rows of some groups, in the paper's order; "big" is a group."""
    return [row for row in TABLE3 if row.name == "base" or (row.group or row.name) in groups]


def configure(base: Config, row: Row) -> Config:
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


def shapes() -> list[tuple[Row, ModelConfig]]:
    """Return the model of every row at the paper's size."""
    return [(row, configure(Config(), row).model) for row in TABLE3]
