"""Split long lines into pieces at sentence ends, and join the translations of the pieces."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from headway.text.languages import Languages, translate_gap
from headway.translation.sentence_ends import find_facts, find_starts

# A letter, which is no symbol (U+2139, and numbers in circles and the like), and no part of a Korean one.
_LETTER = r"[^\W\d_\u1100-\u11ff\u2139\u2460-\u24ff\u2776-\u2793\u3164\uffa0\U0001f100-\U0001f10c]"
# Words of letters, each with common marks around it, and single spaces between them. Of what an extension may have to keep, nothing is
# written so; a test compares them with what Headway's own keeps.
_PLAIN = re.compile(
    r"(?!.{0,7}\)|[IVX]{2,5}\.|[-\u2013\u2014])(?:(?![^ ]{60})[\"'\u2018\u2019\u201c-\u201e\u00ab\u00bb(]*+"
    rf"{_LETTER}++(?:['\u2019-]{_LETTER}++)*+"
    r"[\"'\u2018\u2019\u201c-\u201e\u00ab\u00bb),.;:!?]*+(?: (?:[-\u2013\u2014] )?(?=\S)|$))+"
)
_AFTER_QUOTATION = re.compile("(?<=[」』])(?:と|って)")  # "he said", in Japanese
_WORD_BEFORE_CAPITAL = re.compile(r"(?<!\S)(\S++)\s++(?=[^\W\d_])")


class Piece(NamedTuple):
    """A text that the model translates at once: a line, or a part of a long line.

    Attributes:
        text: Raw text; of a line in capitals, as a sentence. White space at its end shows how the next piece
            was attached.
        ids: Source token ids of the text, without white space around it and behind the name of its target language, if
            it has one; ``</s>`` last.
        masked_source: What the model reads instead, if the translation must contain something: an object with ``text``, ``ids``
            and ``constraints``, and with the methods that `headway.translation.masking.Masking` calls. None: it reads the text.
        is_capital: Whether the line is in capitals, so that its translation is written so.
        before: Tags such as ``<li>`` and the label of a list before the text, which stand before its translation, too.
        after: Tags such as ``<br>`` behind the text, which stand behind its translation, too.
        language_name: The name of a target language at the line's beginning, such as ``>>deu<<``, with the white space
            behind it; or "".
    """

    text: str
    ids: list[int]
    masked_source: Any = None
    is_capital: bool = False
    before: str = ""
    after: str = ""
    language_name: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether the translation of the tokens is that of the piece."""
        return not (self.masked_source or self.is_capital or self.before or self.after)


Segment = Piece  # the name of older versions


def is_plain(line: str) -> bool:
    """Return whether a line has words and common marks only: nothing to keep, no label of a list, and no capitals."""
    return _PLAIN.fullmatch(line) is not None and not line.isupper()


Encode = Callable[[str], list[int]]


def split_line(line: str, language: str, encode: Encode, longest: int) -> Iterator[Piece]:
    """Yield the pieces of a line, each of at most ``longest`` tokens.

    The line is split at the ends of sentences. If a sentence is too long, it is split after
    punctuation, then at spaces, then anywhere. The texts of the pieces joined are the line.
    White space alone is not a piece: it belongs to the piece before it.

    Args:
        line: Raw text without a line end, which does not begin with white space.
        language: Code of its language.
        encode: Text without white space around it -> token ids.
        longest: Tokens of a piece, at most; a single character may have more.
    """
    parts = _split(Piece(line, encode(line.strip())), language, encode, longest)
    last = next(parts)
    for piece in parts:
        if piece.text.strip():
            yield last
            last = piece
        else:
            last = last._replace(text=last.text + piece.text)
    yield last


def split_sentences(line: str, language: str) -> list[str]:
    """Split a line into sentences with the white space after each; joined they are the line."""
    if facts := find_facts(language):
        return _cut(line, find_starts(line, facts))
    from sentencex import segment

    # The splitter takes UTF-8 only, which cannot encode lone surrogates: replace them by "?".
    whole = line.encode("utf-8", "replace").decode("utf-8")
    found = list(segment(language, whole))
    # The splitter drops white space at the ends of sentences: take it from the line itself.
    places, at = [], 0
    for sentence in found:
        place = whole.find(sentence, at)
        if place < 0:
            return [line]
        places.append(place)
        at = place + len(sentence)
    starts = sorted({*places[1:], *_find_missed_ends(line)})
    return _cut(line, [start for start in starts if not _AFTER_QUOTATION.match(line, start)])


def _cut(line: str, places: Iterable[int]) -> list[str]:
    return [line[a:b] for a, b in pairwise([0, *places, len(line)]) if a < b]


def _find_missed_ends(line: str) -> Iterator[int]:
    """Yield where a sentence begins that the splitter misses.

    It stands before a capital and behind an ellipsis, an address, or a unit such as km/h: the splitter takes these for
    a pause, and the full stop for that of an abbreviation.
    """
    if not any(sign in line for sign in ("\u2026", "/", "www.")):
        return
    for found in _WORD_BEFORE_CAPITAL.finditer(line):
        word = found[1].rstrip("\"'”’»)]")
        is_kept = "://" in word or "www." in word or word[-3:-2] == "/"
        is_end = word.endswith("\u2026") or (is_kept and word.endswith("."))
        if is_end and line[found.end()].isupper():
            yield found.end()


def list_gaps(pieces: Sequence[Piece], languages: Languages) -> list[str]:
    """Return what stands between the translations of neighboring pieces of a line: a space, or nothing.

    Args:
        pieces: Of the line.
        languages: Codes of source and target.
    """
    gaps = []
    for piece, following in pairwise(pieces):
        before, after = piece.text + piece.after, following.before + following.text
        gap = " " if before[-1:].isspace() or after[:1].isspace() else ""
        is_at_tag = piece.after or following.before
        gaps.append(gap if is_at_tag else translate_gap(gap, languages))
    return gaps


def _split(piece: Piece, language: str, encode: Encode, longest: int) -> Iterator[Piece]:
    length = len(piece.ids)
    if length <= longest:
        yield piece
        return

    def split_evenly(line: str, language: str) -> list[str]:
        # A quarter more pieces than the mean needs, because some have more tokens than others.
        return _split_evenly(line, max(2, -(-5 * length // (4 * longest))))

    for split in (split_sentences, _split_clauses, _split_words, split_evenly):
        texts = split(piece.text, language)
        if len(texts) > 1:
            for joined in _join_short(texts, encode, longest):
                yield from _split(joined, language, encode, longest)
            return
    yield piece


def _join_short(texts: list[str], encode: Encode, longest: int) -> Iterator[Piece]:
    """Join neighbors as long as they fit: this gives more context and fewer translations."""
    joined = Piece(texts[0], encode(texts[0].strip()))
    for text in texts[1:]:
        longer = joined.text + text
        ids = encode(longer.strip())
        if len(ids) <= longest:
            joined = Piece(longer, ids)
        else:
            yield joined
            joined = Piece(text, encode(text.strip()))
    yield joined


def _split_after(line: str, is_end: Callable[[str, str], bool]) -> list[str]:
    cuts = [0, *(i for i in range(1, len(line)) if is_end(line[i - 1], line[i])), len(line)]
    return [line[a:b] for a, b in pairwise(cuts)]


def _split_clauses(line: str, language: str) -> list[str]:
    return _split_after(line, lambda a, b: unicodedata.category(a) in ("Po", "Pd") and b.isspace())


def _split_words(line: str, language: str) -> list[str]:
    return _split_after(line, lambda a, b: a.isspace() and not b.isspace())


def _split_evenly(line: str, count: int) -> list[str]:
    """Split anywhere into ``count`` texts; repeated halving would tokenize the line many times."""
    cuts = [len(line) * i // count for i in range(count + 1)]
    return [line[a:b] for a, b in pairwise(cuts) if a < b]
