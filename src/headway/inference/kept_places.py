"""Put kept text back into a translation: names in the place of their stand-ins, tags by attention."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from headway.inference.readings import WORD, KeptTag, Reading
from headway.text.tokenizer import Tokenizer
from headway.text.words import is_inside_word

_NAME = re.compile(r"</?([\w:.-]+)")
_MARKS = re.compile(r"[^\w\s]*$")

WordPairs = Sequence[tuple[int, int]]


class Edit(NamedTuple):
    """Characters of a text and what takes their place."""

    start: int
    end: int
    text: str


class Restored(NamedTuple):
    """A translation with the kept text.

    Attributes:
        text: The translation.
        words: For each word of the translation of the reading the number of its word in ``text``.
    """

    text: str
    words: list[int]


def restore_kept(
    tokenizer: Tokenizer, reading: Reading, tokens: Sequence[int], links: WordPairs
) -> Restored:
    """Return a translation with the kept text of its source.

    Args:
        tokenizer: Of the model.
        reading: What the model has translated.
        tokens: The translation.
        links: Pairs (word of the reading, word of the translation); needed if there are tags.
    """
    text = tokenizer.decode(tokens)
    edits = [*_replace_names(tokenizer, reading, tokens, text), *_place_tags(reading, text, links)]
    restored, at = [], 0
    shifts: list[tuple[int, int]] = []  # (end of an edit, characters that the text has grown by)
    grown = 0
    for edit in sorted(edits, key=lambda edit: edit[:2]):
        restored += [text[at : max(at, edit.start)], edit.text]
        at = max(at, edit.end)
        grown += len(edit.text) - (edit.end - edit.start)
        shifts.append((edit.start, grown))
    joined = "".join([*restored, text[at:]])
    words = []
    for word in WORD.finditer(text):
        shift = next((grown for place, grown in reversed(shifts) if place < word.start()), 0)
        words.append(max(0, len(joined[: word.start() + shift + 1].split()) - 1))
    return Restored(joined, words)


def _replace_names(
    tokenizer: Tokenizer, reading: Reading, tokens: Sequence[int], text: str
) -> list[Edit]:
    """Return the edits that put names in the place of their stand-ins."""
    edits: list[Edit] = []
    used: set[int] = set()
    for number, name in enumerate(reading.names):
        for start in range(len(tokens) - len(name.tokens) + 1):
            end = start + len(name.tokens)
            if start in used or tuple(tokens[start:end]) != name.tokens:
                continue
            first, last = (len(tokenizer.decode(tokens[:place])) for place in (start, end))
            if not is_inside_word(text, last):  # not only the beginning of a longer word
                first += len(text[first:last]) - len(text[first:last].lstrip())
                edits.append(Edit(first, last, name.text))
                used.add(start)
                break
        else:  # nothing has kept the constraints: the name keeps its relative place
            words = [*WORD.finditer(text)]
            place = round((number + 1) / (len(reading.names) + 1) * len(words))
            at = words[place].start() if place < len(words) else len(text)
            edits.append(Edit(at, at, f"{name.text} " if place < len(words) else f" {name.text}"))
    return edits


def _place_tags(reading: Reading, text: str, links: WordPairs) -> list[Edit]:
    """Return the edits that put tags around the translations of their words."""
    words = [word.span() for word in WORD.finditer(text)]
    closing = _pair_tags(reading.tags)
    edits: list[Edit | None] = [None] * len(reading.tags)
    # The open pairs: where each closes, and which characters are free for tags inside. Pairs never cross.
    is_open = [(len(reading.tags), 0, len(text))]
    for number, tag in enumerate(reading.tags):
        while is_open[-1][0] < number:
            is_open.pop()
        if edits[number] is not None:
            continue
        if number not in closing:
            edits[number] = _place_alone(tag, words, text, links)
            continue
        other = reading.tags[closing[number]]
        first, last = _find_range(reading, tag.word, other.word, words, links)
        start = words[first][0] if first < len(words) else len(text)
        end = words[last - 1][1] if first < last else start
        if other.is_followed and first < last:
            end -= len(_find_marks(text[start:end]))
        around, low, high = is_open.pop()
        start = min(max(start, low), high)
        end = min(max(start, end), high)
        is_open += [(around, end, high), (closing[number], start, end)]
        edits[number], edits[closing[number]] = (
            Edit(start, start, tag.text),
            Edit(end, end, other.text),
        )
    return [edit for edit in edits if edit is not None]


def _pair_tags(tags: Sequence[KeptTag]) -> dict[int, int]:
    """Return the number of the closing tag of each opening tag."""
    found: dict[int, int] = {}
    is_open: list[tuple[int, str]] = []
    for number, tag in enumerate(tags):
        match = _NAME.match(tag.text)
        name = match[1].lower() if match else ""
        if tag.text.startswith("</"):
            at = next((i for i in reversed(range(len(is_open))) if is_open[i][1] == name), None)
            if at is not None:
                found[is_open[at][0]] = number
                del is_open[at:]
        elif not tag.text.endswith("/>"):
            is_open.append((number, name))
    return found


def _find_range(
    reading: Reading, first: int, last: int, words: Sequence[tuple[int, int]], links: WordPairs
) -> tuple[int, int]:
    """Return the range of target words for a range of words of a reading."""
    inside = [target for source, target in links if first <= source < last and target < len(words)]
    if inside:
        return min(inside), max(inside) + 1
    if first <= 0 and last >= len(reading.words):
        return 0, len(words)
    at = round(first / max(1, len(reading.words)) * len(words))
    return at, min(len(words), at + last - first)


def _find_marks(text: str) -> str:
    """Return the punctuation at the end of a text."""
    found = _MARKS.search(text)
    return found[0] if found else ""


def _place_alone(
    tag: KeptTag, words: Sequence[tuple[int, int]], text: str, links: WordPairs
) -> Edit:
    """Return the edit for a tag that is not one of a pair."""
    if tag.is_attached:
        before = [target for source, target in links if source == tag.word - 1]
        if before and max(before) < len(words):
            start, end = words[max(before)]
            end -= len(_find_marks(text[start:end])) if tag.is_followed else 0
            return Edit(end, end, tag.text)
    after = sorted(pair for pair in links if pair[0] >= tag.word and pair[1] < len(words))
    at = words[after[0][1]][0] if after else len(text)
    if tag.is_followed or tag.is_attached:
        return Edit(at, at, tag.text)
    return Edit(at, at, f"{tag.text} " if after else f" {tag.text}")
