"""The share of translations that are identical to the reference."""

from collections.abc import Sequence

from headway.evaluation.metrics import check_lines


def exact_match(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """Return the share of hypotheses that equal their reference; spaces at the ends do not matter.

    Args:
        hypotheses: Translations, a line each.
        references: The right translations.

    Returns:
        A share from 0 to 1.

    Raises:
        HeadwayError: If the numbers of lines differ or are 0.
    """
    check_lines(hypotheses, references)
    pairs = zip(hypotheses, references, strict=True)
    return sum(h.strip() == r.strip() for h, r in pairs) / len(references)


def exact_match_by_kind(
    hypotheses: Sequence[str], references: Sequence[str], kinds: Sequence[str]
) -> dict[str, float]:
    """Return the share of exact translations for each kind of line, in order of appearance.

    Args:
        hypotheses: Translations, a line each.
        references: The right translations.
        kinds: The kind of each line, such as "date" or "price".

    Returns:
        Kind -> share from 0 to 1.

    Raises:
        HeadwayError: If the numbers of lines differ or are 0.
    """
    check_lines(hypotheses, references, kinds, names=("hypothesis", "reference", "kinds"))
    rows: dict[str, list[int]] = {}
    for row, kind in enumerate(kinds):
        rows.setdefault(kind, []).append(row)
    return {
        kind: exact_match([hypotheses[i] for i in of_kind], [references[i] for i in of_kind])
        for kind, of_kind in rows.items()
    }
