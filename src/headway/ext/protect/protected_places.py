"""Put protected text back into a translation: names in the place of their placeholder words, tags by attention."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from headway.ext.protect.marked_text import SourcePart
from headway.ext.protect.masked_source import MaskedSource, ProtectedTag, map_words
from headway.ext.protect.protected_text import ELEMENT
from headway.ext.protect.word_ranges import translate_range
from headway.text import MARK, Span, Tokenizer, find_words, is_word_character, word_at
from headway.translation import WordPairs, find_alternatives

_PUNCTUATION = re.compile(r"[^\w\s]*")
_LETTER_MARKS = re.compile(f"[{MARK}]*")  # they belong to the letter before them


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
    """A translation with the protected text.

    Attributes:
        text: The translation.
        words: For each word of the translation of the masked source the number of its word in ``text``.
        kept: Pairs of where the piece has what is kept for words, and where ``text`` has it.
    """

    text: str
    words: list[int]
    kept: list[tuple[Span, Span]]


def restore_protected(
    tokenizer: Tokenizer, masked: MaskedSource, tokens: Sequence[int], links: WordPairs
) -> Restored:
    """Return a translation with the protected text of its source.

    Args:
        tokenizer: Of the model.
        masked: What the model has translated.
        tokens: The translation.
        links: Pairs (word of the masked source, word of the translation); needed if there are tags.
    """
    text = tokenizer.decode(tokens)
    names = _replace_names(tokenizer, masked, tokens, text)
    edits = [*names, *_place_tags(masked, text, links), *_write_references(masked, text, names)]
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
        pieces.append((text[at + len(before) : end], new, False))
        restored, at = restored + new, end
        if edit.source is not None:
            first = len(restored) - len(new.lstrip())
            kept.append((edit.source, (first, first + len(new.strip()))))
    pieces.append((text[at:], text[at:], True))
    return Restored(restored + text[at:], map_words(pieces), kept)


def _join_spaces(before: str, kept: str, after: str) -> str:
    """Return protected text without the spaces at its ends that the text around it has already."""
    kept = kept.removeprefix(" ") if before.endswith(" ") else kept
    return kept.removesuffix(" ") if after.startswith(" ") else kept


def _replace_names(
    tokenizer: Tokenizer, masked: MaskedSource, tokens: Sequence[int], text: str
) -> list[Replacement]:
    """Return the edits that put names in the place of their placeholder words."""
    names = masked.find("name")
    spans = find_placeholder_words(tokenizer, names, tokens, text)
    edits: list[Replacement] = []
    for number, name in enumerate(names):
        [kept] = name.renderings
        if number in spans:
            edits.append(Replacement(*spans[number], kept, name.own_span))
        else:  # nothing has kept the constraints: the name keeps its relative place
            words = find_words(text)
            place = round((number + 1) / (len(names) + 1) * len(words))
            at = words[place][0] if place < len(words) else len(text)
            spaced = f"{kept} " if place < len(words) else f" {kept}"
            edits.append(Replacement(at, at, spaced, name.own_span))
    return edits


def _write_references(
    masked: MaskedSource, text: str, names: Sequence[Replacement]
) -> list[Replacement]:
    """Return the edits that write characters as references, as the source does; common ones stay."""
    references = {part.read: part.source for part in masked.find("reference")}
    return [
        Replacement(at, at + 1, references[character])
        for at, character in enumerate(text)
        if character in references
        and (not character.isascii() or character in "&<>\"'")
        and not any(name.start <= at < name.end for name in names)
    ]


def find_placeholder_words(
    tokenizer: Tokenizer, names: Sequence[SourcePart], tokens: Sequence[int], text: str
) -> dict[int, Span]:
    """Return where the placeholder words of names stand in a translation: ranges of its characters that do not overlap."""
    ranges = find_alternatives(tokenizer, [name.alternatives for name in names], tokens)
    found: dict[int, Span] = {}
    for number, places in ranges.items():
        first, last = (len(tokenizer.decode(tokens[:place])) for place in places)
        found[number] = last - len(text[first:last].lstrip()), last
    return found


def _place_tags(masked: MaskedSource, text: str, links: WordPairs) -> list[Replacement]:
    """Return the edits that put tags around the translations of their words."""
    if not masked.tags:
        return []
    own_words, text = find_words(text), _mask_literals(masked, text)
    words = find_words(text)
    links = [(s, word_at(words, own_words[t][0])) for s, t in links if t < len(own_words)]
    closing = _pair_tags(masked.tags)
    edits: list[Replacement | None] = [None] * len(masked.tags)
    source_words = find_words(masked.text)
    own = (0, len(source_words))
    pairs = sorted(links)
    # The open pairs: where each closes, which characters are inside, and which of these other pairs have. Pairs never
    # cross.
    is_open: list[tuple[int, int, int, list[Span]]] = [(len(masked.tags), 0, len(text), [])]
    for number, tag in enumerate(masked.tags):
        while is_open[-1][0] < number:
            is_open.pop()
        if edits[number] is not None:
            continue
        if number not in closing:
            _, low, high, _ = is_open[-1]
            is_last = tag.word == len(source_words) and _ends_in_marks(masked.text, source_words)
            if is_last and tag.is_attached and not tag.is_followed:
                edit = Replacement(len(text), len(text), tag.text)  # it belongs to the sentence
            else:
                edit = _place_alone(tag, words, text, links)
            edits[number] = _move_between(edit, tag, text, low, high)
            continue
        other = masked.tags[closing[number]]
        begin, last = translate_range(pairs, (tag.word, other.word), own, (0, len(words)))
        start = words[begin][0] if begin < len(words) else len(text)
        end = words[last - 1][1] if begin < last else start
        has_marks = _ends_in_marks(masked.text, source_words[: other.word])
        if begin < last and (other.is_followed or not has_marks):
            end -= len(_find_marks(text[start:end]))
        _, low, high, taken = is_open[-1]
        start, end = _fit_between(start, end, low, high, taken)
        taken.append((start, end))
        is_open.append((closing[number], start, end, []))
        is_apart = bool(text) and start == len(text) and not tag.is_attached
        edits[number], edits[closing[number]] = (
            Replacement(start, start, f" {tag.text}" if is_apart else tag.text),
            Replacement(end, end, other.text),
        )
    return [
        edit._replace(source=tag.part.own_span if tag.part.kind == "name" else None)
        for edit, tag in zip(edits, masked.tags, strict=True)
        if edit is not None
    ]


def _mask_literals(masked: MaskedSource, text: str) -> str:
    """Return a translation with a letter for each character of a code or a number with its unit.

    So each is one word without marks, and no tag comes into it.
    """
    for literal in {part.read for part in masked.find("literal")}:
        text = text.replace(literal, "x" * len(literal))
    return text


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


def _ends_in_marks(text: str, words: Sequence[Span]) -> bool:
    """Return whether the last of some words of a text has punctuation at its end."""
    return bool(words) and bool(_find_marks(text[slice(*words[-1])]))


def _move_between(
    edit: Replacement, tag: ProtectedTag, text: str, low: int, high: int
) -> Replacement:
    """Return the edit for a tag, moved between the tags that enclose it; of a name, no word touches it."""
    at, written = min(max(edit.start, low), high), edit.text
    if at != edit.start:
        written = tag.text
    is_name = tag.part.kind == "name"
    if is_name and is_word_character(text[at - 1 : at]) and not written[0].isspace():
        written = f" {written}"
    if is_name and is_word_character(text[at : at + 1]) and not written[-1].isspace():
        written = f"{written} "
    return Replacement(at, at, written)


def _pair_tags(tags: Sequence[ProtectedTag]) -> dict[int, int]:
    """Return the number of the closing tag of each opening tag."""
    found: dict[int, int] = {}
    is_open: list[tuple[int, str]] = []
    for number, tag in enumerate(tags):
        match = ELEMENT.fullmatch(tag.text)
        if match is None:
            continue
        name = match[2].lower()
        if match[1]:
            at = next((i for i in reversed(range(len(is_open))) if is_open[i][1] == name), None)
            if at is not None:
                found[is_open[at][0]] = number
                del is_open[at:]
        elif not match[3]:
            is_open.append((number, name))
    return found


def _find_marks(text: str) -> str:
    """Return the punctuation at the end of a text."""
    found = _PUNCTUATION.match(text[::-1])  # from the end: a search would begin anew at each sign
    return _LETTER_MARKS.sub("", text[len(text) - found.end() :], count=1) if found else ""


def _place_alone(
    tag: ProtectedTag, words: Sequence[Span], text: str, links: WordPairs
) -> Replacement:
    """Return the edit for a tag that is not one of a pair."""
    if tag.word == 0:
        return Replacement(0, 0, tag.text if tag.is_followed else f"{tag.text} ")
    if tag.is_attached:
        before = [target for source, target in links if source == tag.word - 1]
        if before and max(before) < len(words):
            start, end = words[max(before)]
            end -= len(_find_marks(text[start:end])) if tag.is_followed else 0
            return Replacement(end, end, tag.text)
    after = sorted(pair for pair in links if pair[0] >= tag.word and pair[1] < len(words))
    at = words[after[0][1]][0] if after else len(text)
    if tag.is_followed or tag.is_attached:
        return Replacement(at, at, tag.text)
    return Replacement(at, at, f"{tag.text} " if after else f" {tag.text}")
