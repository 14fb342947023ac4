"""Warnings about texts whose scores would be misleading: wrong files, or text that is not raw."""

import re
from collections.abc import Callable, Sequence

from headway.evaluation.metrics import NAMES

_STOP = re.compile(r"[.]\s*$")
_LOOSE_STOP = re.compile(r" [.]\s*$")
_ESCAPES = re.compile(r"&(?:apos|quot|#39|#91|#93|#124);|@-@|##AT##")
_SUBWORDS = re.compile(r"▁|@@(?= |$)|(?:^| )##(?!AT##)\w|</?s>|<pad>")
_UNKNOWN = re.compile(r"<unk>|&lt;unk&gt;|⁇", re.IGNORECASE)

# Shares of lines above which a text is suspect. In raw test sets fewer than one final full stop in a
# hundred has a space before it (one in twenty if the text is noisy), in tokenized ones nearly all have
# one. French puts a space before other marks, but never before a full stop.
_MANY_LOOSE = 0.5
_MANY_ESCAPES = 0.005
_MANY_COPIES = 0.05
_MANY_CASED = 0.2


def find_warnings(
    hypotheses: Sequence[str],
    references: Sequence[str],
    sources: Sequence[str] | None = None,
    names: Sequence[str] = NAMES,
) -> list[str]:
    """Return warnings about texts whose scores do not mean what they seem to mean.

    Args:
        hypotheses: Translations, a line each.
        references: References, as many.
        sources: Source lines, as many, if known.
        names: The names of the three in messages: file names.

    Returns:
        A line for each finding.
    """
    found = []
    for lines, name in ((hypotheses, names[0]), (references, names[1])):
        found += [f"{name}: {finding}" for finding in _find_traces_of_processing(lines)]
    found += _find_lower_case(hypotheses, references, names)
    if sources is not None:
        found += _find_copies(hypotheses, references, sources, names)
    return found


def _find_traces_of_processing(lines: Sequence[str]) -> list[str]:
    """Find marks that raw text does not contain."""
    found = []
    stops, loose = _matching(lines, _STOP.search), _matching(lines, _LOOSE_STOP.search)
    escapes = _matching(lines, _ESCAPES.search)
    least = 1 if len(lines) == 1 else 2  # a single such line of many says nothing
    if (len(loose) >= max(least, _MANY_LOOSE * len(stops))) or (
        len(escapes) > _MANY_ESCAPES * len(lines)
    ):
        found.append(
            f"looks tokenized ({len(loose):,} lines end in ' .', {len(escapes):,} have &apos;, @-@"
            " or similar): every metric here expects raw text"
        )
    for pattern, what in (
        (_SUBWORDS, "subword or control marks"),
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


def _find_lower_case(
    hypotheses: Sequence[str], references: Sequence[str], names: Sequence[str]
) -> list[str]:
    """Find out whether one side was lower-cased and the other was not."""
    share = [
        len(_matching(lines, lambda line: line != line.lower())) / len(lines)
        for lines in (hypotheses, references)
    ]
    if min(share) > 0 or max(share) < _MANY_CASED:
        return []
    lowered = share.index(0)
    return [
        f"{names[lowered]}: has no upper-case letters, but {names[1 - lowered]} has: only the"
        " lower-cased scores are meaningful"
    ]


def _find_copies(
    hypotheses: Sequence[str],
    references: Sequence[str],
    sources: Sequence[str],
    names: Sequence[str],
) -> list[str]:
    """Find source text in place of translations; a copy is right if the reference is one too."""
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
