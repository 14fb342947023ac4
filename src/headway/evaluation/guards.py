"""What makes a score meaningless before it is computed: wrong files, wrong text."""

import re
from collections.abc import Callable, Sequence

from headway.errors import HeadwayError

NAMES = ("hypothesis", "reference", "source")

_STOP = re.compile(r"[.]\s*$")
_LOOSE_STOP = re.compile(r" [.]\s*$")
_ESCAPES = re.compile(r"&(?:apos|quot|#39|#91|#93|#124);|@-@|##AT##")
_SUBWORDS = re.compile(r"▁|@@(?= |$)|(?:^| )##(?!AT##)\w|</?s>|<pad>")
_UNKNOWN = re.compile(r"<unk>|&lt;unk&gt;|⁇", re.IGNORECASE)

# Above these shares a text is suspect. Of the final stops of raw test sets fewer than one in a
# hundred stands loose, one in twenty where the text is noisy; of tokenised ones nearly all. French
# sets other marks apart, but never the full stop.
_MANY_LOOSE = 0.5
_MANY_ESCAPES = 0.005
_MANY_COPIES = 0.05
_MANY_CASED = 0.2


def check_lines(
    hypotheses: Sequence[str],
    references: Sequence[str],
    sources: Sequence[str] | None = None,
    names: Sequence[str] = NAMES,
) -> None:
    """Check that the texts have the same number of lines, and at least one.

    Args:
        hypotheses: Translations, one a line.
        references: References.
        sources: Source lines, if at hand.
        names: What to call the three in errors: file names.

    Raises:
        HeadwayError: If not, with both names and counts.
    """
    for other, name in ((hypotheses, names[0]), (sources, names[2])):
        if other is None or len(other) == len(references):
            continue
        counts = {len(other), len(references)}
        remark = (
            ": newstest2014 has 3,003 lines as papers use it and 2,737 in its filtered form"
            if counts == {2737, 3003}
            else ": line n of one must belong to line n of the other"
        )
        raise HeadwayError(
            f"{name} has {len(other):,} lines but {names[1]} has {len(references):,}{remark}"
        )
    if not references:
        raise HeadwayError(f"{names[1]} is empty: there is nothing to score")


def find_warnings(
    hypotheses: Sequence[str],
    references: Sequence[str],
    sources: Sequence[str] | None = None,
    names: Sequence[str] = NAMES,
) -> list[str]:
    """Say what in these texts makes their scores mean something else than they seem to.

    Args:
        hypotheses: Translations, one a line.
        references: References, as many.
        sources: Source lines, as many, if at hand.
        names: What to call the three: file names.

    Returns:
        One line for each finding.
    """
    found = []
    for lines, name in ((hypotheses, names[0]), (references, names[1])):
        found += [f"{name}: {finding}" for finding in _odd_text(lines)]
    found += _letter_case(hypotheses, references, names)
    if sources is not None:
        found += _copies(hypotheses, references, sources, names)
    return found


def _odd_text(lines: Sequence[str]) -> list[str]:
    """Find what no raw text holds."""
    found = []
    stops, loose = _matching(lines, _STOP.search), _matching(lines, _LOOSE_STOP.search)
    escapes = _matching(lines, _ESCAPES.search)
    if (loose and len(loose) >= _MANY_LOOSE * len(stops)) or (
        len(escapes) > _MANY_ESCAPES * len(lines)
    ):
        found.append(
            f"looks tokenised ({len(loose):,} lines end in ' .', {len(escapes):,} have &apos; or"
            " @-@ or the like): every measure here expects raw text"
        )
    for pattern, what in (
        (_SUBWORDS, "left-over subword or control marks"),
        (_UNKNOWN, "<unk> or ⁇"),
    ):
        rows = _matching(lines, pattern.search)
        if rows:
            mark = pattern.search(lines[rows[0]])
            assert mark is not None
            found.append(f"{what} ('{mark[0].strip()}') on {_where(rows)}")
    empty = _matching(lines, lambda line: not line.strip())
    if empty:
        found.append(f"no text on {_where(empty)}")
    return found


def _letter_case(
    hypotheses: Sequence[str], references: Sequence[str], names: Sequence[str]
) -> list[str]:
    """Find that one side was lower-cased and the other was not."""
    share = [
        len(_matching(lines, lambda line: line != line.lower())) / len(lines)
        for lines in (hypotheses, references)
    ]
    if min(share) > 0 or max(share) < _MANY_CASED:
        return []
    lowered = share.index(0)
    return [
        f"{names[lowered]}: no upper-case letters, unlike {names[1 - lowered]}: only the"
        " lower-cased scores mean anything"
    ]


def _copies(
    hypotheses: Sequence[str],
    references: Sequence[str],
    sources: Sequence[str],
    names: Sequence[str],
) -> list[str]:
    """Find source text where a translation should be; a copy that the reference makes is right."""
    found = []
    texts = list(zip(hypotheses, references, sources, strict=True))
    untranslated = [n for n, (h, r, s) in enumerate(texts) if h == s != r]
    if len(untranslated) >= max(2, _MANY_COPIES * len(texts)):
        found.append(f"{names[0]}: the same as {names[2]} on {_where(untranslated)}: untranslated?")
    same = [n for n, (_, r, s) in enumerate(texts) if r == s]
    if len(same) >= max(2, 0.5 * len(texts)):
        found.append(f"{names[1]}: the same as {names[2]} on {_where(same)}: the right file?")
    return found


def _matching(lines: Sequence[str], test: Callable[[str], object]) -> list[int]:
    return [row for row, line in enumerate(lines) if test(line)]


def _where(rows: Sequence[int]) -> str:
    first = rows[0] + 1
    return f"line {first:,}" if len(rows) == 1 else f"{len(rows):,} lines, first line {first:,}"
