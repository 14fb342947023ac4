"""Restore what is kept in a translation: in the place of what the model has written for it, or of the words that are linked to it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from headway.ext.protect.protected_text import ELEMENT
from headway.ext.protect.word_ranges import between, overlapped, translate_range
from headway.text import MARK, Span, find_words, is_word_character, word_at
from headway.translation import WordPairs

if TYPE_CHECKING:
    from headway.ext.protect.masked_source import MaskedSource, SourcePart

_CORE = re.compile(rf"\w.*[\w{MARK}]|\w", re.DOTALL)  # of a word, without punctuation


class Replacement(NamedTuple):
    """Characters of a text and what takes their place.

    Attributes:
        start: The first character.
        end: The character after the last.
        text: What takes their place.
        source: Where the piece has what it keeps so, if it stands for words.
    """

    start: int
    end: int
    text: str
    source: Span | None = None


class Restored(NamedTuple):
    """A translation with what its piece keeps.

    Attributes:
        text: The translation.
        pieces: Of what the model has written and of ``text``; see `map_words`.
        kept: Pairs of where the piece has what is kept for words, and where ``text`` has it.
    """

    text: str
    pieces: list[tuple[str, str, bool]]
    kept: list[tuple[Span, Span]]

    @property
    def words(self) -> list[int]:
        """For each word that the model has written the number of its word in ``text``."""
        return map_words(self.pieces)


class _Tag(NamedTuple):
    """A part of a piece that the model does not read.

    Attributes:
        text: What the translation has for it.
        word: How many words of the masked source begin before it.
        is_attached: Whether a word ends at it.
        is_followed: Whether something follows it without a space.
        part: The part; no word may touch a name.
    """

    text: str
    word: int
    is_attached: bool
    is_followed: bool
    part: "SourcePart"


def restore(
    masked: "MaskedSource", text: str, rendered: Mapping[int, Span], links: WordPairs
) -> Restored:
    """Return a translation with what the source of a masked source keeps.

    Args:
        masked: What the model has translated.
        text: The translation.
        rendered: Where it has what it must contain, see `MaskedSource.find_rendered`.
        links: Pairs (word of the masked source, word of the translation).
    """
    edits = list[Replacement]()
    for number, place in rendered.items():
        part = masked.parts[number]
        if part.kind == "name":  # in the place of its placeholder word
            edits.append(Replacement(*place, part.renderings[0], part.own_span))
    edits += _replace_linked(masked, text, rendered, links)
    one_word = text  # each name is one in it, so that no tag comes into it
    for start, end, *_ in edits:
        one_word = one_word[:start] + "x" * (end - start) + one_word[end:]
    edits += [*_place_tags(masked, one_word, links, text), *_write_references(masked, text, edits)]
    pieces, kept = list[tuple[str, str, bool]](), list[tuple[Span, Span]]()
    restored, at = "", 0
    for edit in sorted(edits, key=lambda edit: edit[:2]):
        before, end = text[at : max(at, edit.start)], max(at, edit.end)
        # The model may have written spaces before the placeholder word; one is enough.
        words = before.rstrip(" ")
        is_tab = edit.text.isspace()
        space = " " * (words != before and not is_tab)
        restored += words + space
        new = edit.text.strip(" ") if is_tab else _join_spaces(restored, edit.text, text[end:])
        pieces.append((words, words, True))
        pieces.append((before[len(words) :], space, False))
        written = text[at + len(before) : end]
        pieces.append((written, new, written == new))
        restored, at = restored + new, end
        if edit.source is not None:
            first = len(restored) - len(new.lstrip())
            kept.append((edit.source, (first, first + len(new.strip()))))
    pieces.append((text[at:], text[at:], True))
    return Restored(restored + text[at:], pieces, kept)


def link_parts(text: str, translation: str, parts: Sequence[tuple[Span, Span]]) -> WordPairs:
    """Return the links between the words of parts of a text and those of the parts that render them.

    The same words are linked one by one; others belong together as a whole. A word that only begins or ends in a part
    has no link, because it also means something else.
    """
    links: WordPairs = []
    words, target_words = find_words(text), find_words(translation)
    for span, place in parts:
        sources = _find_inside(text, words, span)
        targets = _find_inside(translation, target_words, place)
        is_same = text[slice(*span)] == translation[slice(*place)] and len(sources) == len(targets)
        links += zip(sources, targets, strict=True) if is_same else product(sources, targets)
    return links


def _find_inside(text: str, words: list[Span], span: Span) -> list[int]:
    """Return the numbers of the words that lie in a part of a text; punctuation may reach beyond it."""
    first, last = span
    return [
        number
        for number in range(*overlapped(words, span))
        for start, end in [words[number]]
        if not any(map(str.isalnum, text[start : max(start, first)] + text[min(end, last) : end]))
    ]


def _join_spaces(before: str, kept: str, after: str) -> str:
    """Return protected text without the spaces at its ends that the text around it has already."""
    kept = kept.removeprefix(" ") if before.endswith(" ") else kept
    return kept.removesuffix(" ") if after.startswith(" ") else kept


def _replace_linked(
    masked: "MaskedSource", text: str, rendered: Mapping[int, Span], links: WordPairs
) -> Iterator[Replacement]:
    """Yield the edits for what a translation must contain and lacks: it takes the place of the words that translate it.

    Words without spaces between them are single characters; of others as many are replaced as it has, the last ones,
    because an article stands before its noun. Without links it keeps its relative place.
    """
    lacking = [p for n, p in enumerate(masked.parts) if p.alternatives and n not in rendered]
    if not lacking:
        return
    own_words, words = find_words(masked.text), find_words(text)
    pairs, whole = sorted(links), (0, len(own_words))
    for part in lacking:
        own = overlapped(own_words, part.span)
        first, last = translate_range(pairs, own, whole, (0, len(words)))
        if not between(pairs, own) and own != whole:
            last = first
        if all(map(is_word_character, filter(str.isalpha, text))):
            first = max(first, last - (own[1] - own[0]))
        core = first < last and _CORE.search(text, words[first][0], words[last - 1][1])
        start = words[first][0] if first < len(words) else len(text)
        start, end = core.span() if core else (start, start)
        written = part.renderings[0]
        if core and start == 0 and text[0].isupper():  # the beginning of a sentence
            written = next((each for each in part.renderings if each[:1].isupper()), written)
        if not core:
            written = f" {written}" if start == len(text) else f"{written} "
        yield Replacement(start, end, written, part.own_span)


def _write_references(
    masked: "MaskedSource", text: str, others: Sequence[Replacement]
) -> Iterator[Replacement]:
    """Yield the edits that write characters as references, as the source does; common ones stay."""
    references = {part.read: part.source for part in masked.find("reference")}
    for at, character in enumerate(text if references else ""):
        is_common = character.isascii() and character not in "&<>\"'"
        is_replaced = any(other.start <= at < other.end for other in others)
        if character in references and not is_common and not is_replaced:
            yield Replacement(at, at + 1, references[character])


def _list_tags(masked: "MaskedSource", words: Sequence[Span]) -> Iterator[_Tag]:
    """Yield what the model does not read of a piece, whose masked source has some words."""
    source = masked.source
    for part in masked.parts:
        if not part.is_tag:
            continue
        (at, end), start = part.own_span, part.start
        before, after = masked.text[start - 1 : start], source[end : end + 1]
        is_attached, is_followed = (
            bool(each.strip()) and not part.read for each in (before, after)
        )
        # A name before a punctuation mark, which the model reads at the word before.
        is_moved = is_attached and source[at - 1 : at].isspace()
        word = overlapped(words, (0, start))[1]
        text = " " * is_moved + part.renderings[0]
        yield _Tag(text, word, is_attached, is_followed or is_moved, part)


def _place_tags(
    masked: "MaskedSource", text: str, links: WordPairs, written: str
) -> Iterator[Replacement]:
    """Yield the edits that put tags around the translations of their words.

    Args:
        masked: What the model has translated.
        text: The translation, in which each part that tags must not divide is one word.
        links: Pairs (word of the masked source, word of the translation).
        written: The translation.
    """
    if not any(part.is_tag for part in masked.parts):
        return
    source_words = find_words(masked.text)
    tags = [*_list_tags(masked, source_words)]
    own_words, words = find_words(written), find_words(text)
    pairs = sorted((s, word_at(words, own_words[t][0])) for s, t in links if t < len(own_words))
    closing, whole = _pair_tags(tags), (0, len(source_words))
    # The open pairs: where each closes, which characters are inside, and which of these other pairs have. Pairs never
    # cross.
    is_open: list[tuple[int, int, int, list[Span]]] = [(len(tags), 0, len(text), [])]
    for number, tag in enumerate(tags):
        closes, low, high, taken = is_open[-1]
        if number == closes:
            is_open.pop()
            yield Replacement(high, high, tag.text)
        elif number in closing:
            other = tags[closing[number]]
            begin, last = translate_range(pairs, (tag.word, other.word), whole, (0, len(words)))
            start = words[begin][0] if begin < len(words) else len(text)
            end = words[last - 1][1] if begin < last else start
            has_marks = _ends_in_marks(masked.text, source_words[: other.word])
            if begin < last and (other.is_followed or not has_marks):
                end = max(start, _find_end(text, words[last - 1]))
            start, end = _fit_between(start, end, low, high, taken)
            taken.append((start, end))
            is_open.append((closing[number], start, end, []))
            is_apart = bool(text) and start == len(text) and not tag.is_attached
            yield Replacement(start, start, " " * is_apart + tag.text)
        else:
            is_last = tag.word == len(source_words) and _ends_in_marks(masked.text, source_words)
            if is_last and tag.is_attached and not tag.is_followed:  # it belongs to the sentence
                at = len(text)
            else:
                at = _place_alone(tag, words, text, pairs)
            yield _write_alone(at, tag, text, low, high)


def _fit_between(start: int, end: int, low: int, high: int, taken: Sequence[Span]) -> Span:
    """Return the part of a range that no other pair has, or an empty range beside them."""
    free, at = [], low
    for first, last in sorted(taken):
        free.append((at, first - 1))  # pairs that touch could be written across each other
        at = last
    free = [gap for gap in (*free, (at, high)) if gap[0] <= gap[1]]
    first, last = max(free, key=lambda gap: min(end, gap[1]) - max(start, gap[0]))
    start = min(max(start, first), last)
    return start, min(max(start, end), last)


def _find_end(text: str, word: Span) -> int:
    """Return where a word ends without the punctuation behind it."""
    core = _CORE.search(text, *word)
    return core.end() if core else word[0]


def _ends_in_marks(text: str, words: Sequence[Span]) -> bool:
    """Return whether the last of some words of a text has punctuation at its end."""
    return bool(words) and _find_end(text, words[-1]) < words[-1][1]


def _write_alone(at: int, tag: _Tag, text: str, low: int, high: int) -> Replacement:
    """Return the edit for a tag, moved between the tags that enclose it; of a name, no word touches it."""
    place, written = min(max(at, low), high), tag.text
    if place == at and not (tag.is_attached or tag.is_followed):
        written = f" {written}" if at == len(text) else f"{written} "
    if tag.part.kind != "name":
        return Replacement(place, place, written)
    if is_word_character(text[place - 1 : place]) and not written[0].isspace():
        written = f" {written}"
    if is_word_character(text[place : place + 1]) and not written[-1].isspace():
        written = f"{written} "
    return Replacement(place, place, written, tag.part.own_span)


def _pair_tags(tags: Sequence[_Tag]) -> dict[int, int]:
    """Return the number of the closing tag of each opening tag."""
    found: dict[int, int] = {}
    is_open: list[tuple[int, str]] = []
    for number, tag in enumerate(tags):
        match = ELEMENT.fullmatch(tag.text)
        if match is None or match[3]:
            continue
        name = match[2].lower()
        if not match[1]:
            is_open.append((number, name))
            continue
        at = next((n for n in reversed(range(len(is_open))) if is_open[n][1] == name), None)
        if at is not None:
            found[is_open[at][0]] = number
            del is_open[at:]
    return found


def _place_alone(tag: _Tag, words: Sequence[Span], text: str, pairs: WordPairs) -> int:
    """Return where a tag that is not one of a pair stands in a translation."""
    if tag.word == 0:
        return 0
    before = [target for source, target in pairs if source == tag.word - 1]
    if tag.is_attached and before:
        word = words[max(before)]
        return _find_end(text, word) if tag.is_followed else word[1]
    after = [target for source, target in pairs if source >= tag.word]
    return words[after[0]][0] if after else len(text)


def map_words(pieces: Sequence[tuple[str, str, bool]]) -> list[int]:
    """Return for each word of a text the number of its word in a changed form of the text.

    Args:
        pieces: Of both texts, from left to right, and whether each was left as it was; all words of another piece belong
            to its beginning.
    """
    places: list[int] = []  # for each character of the text its place in the changed one
    at = 0
    for piece, changed, is_same in pieces:
        places += range(at, at + len(piece)) if is_same else [at] * len(piece)
        at += len(changed)
    text, words = "".join(p[0] for p in pieces), find_words("".join(p[1] for p in pieces))
    return [max(0, word_at(words, places[start])) for start, _ in find_words(text)]
