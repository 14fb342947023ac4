"""Lines and the sentences in them: long lines are cut at sentence ends and put together again."""

import unicodedata
from collections.abc import Callable, Sequence
from itertools import pairwise


def split_line(line: str, language: str, measure: Callable[[str], int], longest: int) -> list[str]:
    """Cut a line into parts of at most ``longest``, each at the best place there is.

    Places are, best first: ends of sentences, then commas and the like, then spaces, then anywhere.
    Nothing is lost: the parts joined are the line. White space alone is no part: it goes with the
    part before it.

    Args:
        line: Raw text without a line end, beginning with other than white space.
        language: Code of its language.
        measure: The length of a text without white space around it, in tokens.
        longest: Largest length of a part; a single character may exceed it.
    """
    parts: list[str] = []
    for part in _cut(line, language, measure, longest):
        if parts and not part.strip():
            parts[-1] += part
        else:
            parts.append(part)
    return parts


def sentences(line: str, language: str) -> list[str]:
    """Cut a line into its sentences, each with the white space behind it; joined they are the line."""
    from sentencex import segment

    # The splitter takes UTF-8 only, which cannot say halves of characters: others stand in for them.
    whole = line.encode("utf-8", "replace").decode("utf-8")
    found = list(segment(language, whole))
    # The splitter leaves out white space at the ends of sentences: take it from the line itself.
    places, at = [], 0
    for sentence in found:
        place = whole.find(sentence, at)
        if place < 0:
            return [line]
        places.append(place)
        at = place + len(sentence)
    cuts = [0, *places[1:], len(line)]
    return [line[a:b] for a, b in pairwise(cuts) if a < b]


def _cut(line: str, language: str, measure: Callable[[str], int], longest: int) -> list[str]:
    length = measure(line.strip())
    if length <= longest:
        return [line]

    def evenly(line: str, language: str) -> list[str]:
        # A quarter more than would do, for some parts have more tokens than others.
        return _evenly(line, max(2, -(-5 * length // (4 * longest))))

    for cut in (sentences, _clauses, _words, evenly):
        pieces = cut(line, language)
        if len(pieces) > 1:
            return [
                part
                for joined in _gather(pieces, measure, longest)
                for part in (
                    [joined] if joined == line else _cut(joined, language, measure, longest)
                )
            ]
    return [line]


def join_parts(parts: Sequence[str], translations: Sequence[str]) -> str:
    """Join the translations of a line's parts as the parts themselves were joined: by their spaces."""
    joined = ""
    for index, translation in enumerate(translations):
        joined += translation
        if index + 1 < len(parts) and (
            parts[index][-1:].isspace() or parts[index + 1][:1].isspace()
        ):
            joined += " "
    return joined


def _gather(pieces: list[str], measure: Callable[[str], int], longest: int) -> list[str]:
    """Put neighbours together again as long as they fit: more context, fewer translations."""
    joined = [pieces[0]]
    for piece in pieces[1:]:
        if measure((joined[-1] + piece).strip()) <= longest:
            joined[-1] += piece
        else:
            joined.append(piece)
    return joined


def _cut_after(line: str, ends: Callable[[str, str], bool]) -> list[str]:
    cuts = [0, *(i for i in range(1, len(line)) if ends(line[i - 1], line[i])), len(line)]
    return [line[a:b] for a, b in pairwise(cuts)]


def _clauses(line: str, language: str) -> list[str]:
    return _cut_after(line, lambda a, b: unicodedata.category(a) in ("Po", "Pd") and b.isspace())


def _words(line: str, language: str) -> list[str]:
    return _cut_after(line, lambda a, b: a.isspace() and not b.isspace())


def _evenly(line: str, count: int) -> list[str]:
    """Cut anywhere, into so many parts at once: halves of halves would be measured at each turn."""
    cuts = [len(line) * i // count for i in range(count + 1)]
    return [line[a:b] for a, b in pairwise(cuts) if a < b]
