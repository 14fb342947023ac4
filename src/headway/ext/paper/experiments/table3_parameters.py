"""Table 3's last column: the parameters of every row, and the vocabulary that explains them."""

from collections.abc import Sequence

from headway.config import ModelConfig
from headway.ext.paper.measuring.parameters import (
    count_parameters,
    parameters_by_formula,
    vocabulary_range,
    with_joint_vocabulary,
)
from headway.ext.paper.published import VOCABULARY
from headway.ext.paper.results import Claim, Finding, Table
from headway.ext.paper.table3_rows import Table3Row, shapes
from headway.ext.paper.verdicts import shown

SECTION = "6.2, Table 3"


def common_vocabulary(rows: Sequence[tuple[Table3Row, ModelConfig]]) -> tuple[float, float] | None:
    """Return the range of vocabularies that explains the printed figures of all rows, or None."""
    ranges = [
        vocabulary_range(shape, row.millions) for row, shape in rows if row.millions is not None
    ]
    low, high = max(low for low, _ in ranges), min(high for _, high in ranges)
    return (low, high) if low <= high else None


def compare_parameters() -> list[Finding]:
    """Count every row at the paper's size, and find the vocabulary that its figures need."""
    rows = shapes()
    big_row, big_shape = rows[-1]
    common = common_vocabulary(rows[:-1])
    big = vocabulary_range(big_shape, big_row.millions or 0)
    middle = round(sum(common) / 2) if common else 0
    is_equal = True
    cells = []
    for row, shape in rows:
        full = with_joint_vocabulary(shape, VOCABULARY["en-de"])
        total = parameters_by_formula(full)
        is_equal &= total == count_parameters(full)
        fit = vocabulary_range(shape, row.millions) if row.millions is not None else None
        cells.append(
            (
                row.label,
                total / 1e6,
                row.millions,
                f"{fit[0]:,.0f} to {fit[1]:,.0f}" if fit else None,
                parameters_by_formula(with_joint_vocabulary(shape, middle)) / 1e6
                if middle
                else None,
                round(100 * full.d_model * VOCABULARY["en-de"] / total, 1),
            )
        )
    table = Table(
        "Parameters at the paper's size, in millions",
        ("row", "37,000 subwords", "the paper", "vocabulary that gives the paper's", f"{middle:,} subwords",
         "the vocabulary's share at 37,000, %"),
        tuple(cells),
        "Counted on the built model and equal to the formula of section 3. The paper says “about 37,000”"
        " tokens and prints whole millions. Nothing here is tuned to them.",
    )  # fmt: skip
    with_middle = parameters_by_formula(with_joint_vocabulary(big_shape, middle)) / 1e6
    return [
        table,
        Claim(
            "Every row's parameters are those of the formula of section 3",
            "19 rows and big", f"{len(rows)} rows counted", shown(is_equal),
            "counted on the model as built", SECTION,
        ),
        Claim(
            "One vocabulary explains the printed parameters of all rows but big",
            "about 37,000 tokens",
            f"{common[0]:,.0f} to {common[1]:,.0f} embedding rows" if common else "none",
            shown(common is not None),
            "where the ranges of all rows overlap", SECTION,
        ),
        Claim(
            "Big needs a smaller vocabulary than the others",
            "213 million", f"{big[0]:,.0f} to {big[1]:,.0f} embedding rows",
            shown(common is not None and big[1] < common[0]),
            f"with the others' vocabulary it would have {with_middle:.1f} million", SECTION,
        ),
    ]  # fmt: skip
