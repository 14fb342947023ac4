"""Put the terms of a glossary where the translations of their words stand.

The search finds the likeliest translation that has the terms. A rendering that the model would never choose is
likeliest where it does least harm: after the sentence, or in the place of another word. Then the translation without
the term is better, with the rendering in the place of the words that attention links to the term. Articles before it
stay as they are, which is a mistake where the rendering has another gender.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import torch

from headway.inference.alignment import cross_attention, weigh_words
from headway.inference.beam_search import Hypothesis
from headway.inference.constraints import NATURAL
from headway.inference.readings import WORD, PlacedTerm, Reading
from headway.inference.splitting import ReadingRow, Segment
from headway.inference.token_search import TokenSearch
from headway.text.words import is_word_character

_CORE = re.compile(r"\w.*\w|\w", re.DOTALL)


def place_terms(
    forward: TokenSearch,
    find: Callable[[Sequence[ReadingRow]], list[list[Hypothesis]]],
    segments: Sequence[Segment],
    found: Sequence[list[Hypothesis]],
    prefixes: Sequence[Sequence[int]],
    is_alone: bool,
) -> list[list[Hypothesis]]:
    """Replace the best hypotheses in which terms have no natural place; their scores stay.

    Args:
        forward: The model that has searched.
        find: Searches for the hypotheses of rows.
        segments: The texts.
        found: For each segment its hypotheses, the best first; the best may lack terms.
        prefixes: For each segment the tokens that its translation must start with.
        is_alone: Whether the others are dropped, in which terms have no natural place either.
    """
    placed = list(found)
    chosen: dict[int, tuple[Reading, Hypothesis]] = {}
    for number, (segment, n_best) in enumerate(zip(segments, found, strict=True)):
        free = n_best[0].free if n_best else None
        if free is not None:
            reading = segment.readings[n_best[0].reading]
            text = forward.tokenizer.decode(free.tokens)
            missing = sum(not _has_rendering(text, term) for term in reading.terms)
            cost = free.log_probability - n_best[0].log_probability
            if missing and (cost > NATURAL * missing or n_best[0].tokens == free.tokens):
                chosen[number] = reading, free
    if not chosen:
        return placed
    sources = [reading.ids for reading, _ in chosen.values()]
    targets = [free.tokens for _, free in chosen.values()]
    each = zip(*(cross_attention(m, sources, targets) for m in forward.models), strict=True)
    without: list[ReadingRow] = []
    for (number, (reading, free)), weights in zip(chosen.items(), each, strict=True):
        text = forward.tokenizer.decode_source(reading.ids)
        mean = torch.stack(weights).mean(0)
        by_words = weigh_words(forward.tokenizer, text, reading.ids, free.tokens, mean)
        written = _write_terms(forward, reading, free.tokens, by_words)
        (best, *others), prefix = found[number], prefixes[number]
        if written is not None and written[: len(prefix)] == list(prefix):
            placed[number] = [best._replace(tokens=written, free=None), *others][
                : 1 if is_alone else None
            ]
        elif best.tokens == free.tokens:
            # Without a place of its own, a term may stand anywhere.
            anywhere = tuple(replace(each, is_term=False) for each in reading.constraints)
            without.append(ReadingRow(number, reading.ids, anywhere))
    if without:
        for row, n_best in zip(without, find(without), strict=True):
            reading_number = found[row.segment][0].reading
            placed[row.segment] = [each._replace(reading=reading_number) for each in n_best]
    return placed


def _write_terms(
    forward: TokenSearch,
    reading: Reading,
    tokens: Sequence[int],
    weights: Sequence[Sequence[float]],
) -> list[int] | None:
    """Return a translation with the renderings of its terms; None: two of them have the same place.

    Args:
        forward: The model.
        reading: What it has translated.
        tokens: The translation, which lacks terms.
        weights: For each target word how much it attends to each source word.
    """
    text = forward.tokenizer.decode(tokens)
    source_words = [word.span() for word in WORD.finditer(reading.text)]
    words = [word.span() for word in WORD.finditer(text)]
    edits: list[tuple[int, int, str]] = []
    for term in reading.terms:
        term_text = reading.text[term.start : term.end]
        own = [
            n
            for n, (start, end) in enumerate(source_words)
            if start < term.end and end > term.start
        ]
        if not own or not all(map(_is_spaced, (term_text, text))):
            return None
        gains = [sum(row[n] for n in own) for row in weights[: len(words)]]
        place = _find_place(weights, gains, own)
        if (
            place is None
        ):  # nothing translates the term: it comes before the word that is nearest to it
            start = words[max(range(len(gains)), key=gains.__getitem__)][0] if gains else len(text)
            edits.append((start, start, f"{term.renderings[0]} "))
            continue
        core = _CORE.search(text, words[place[0]][0], words[place[-1]][1])
        if core is None:
            return None
        if not _has_rendering(core[0], term):
            capitals = [r for r in term.renderings if r[:1].isupper()]
            is_capital = core.start() == 0 and core[0][0].isupper() and capitals
            edits.append((*core.span(), capitals[0] if is_capital else term.renderings[0]))
    edits.sort(key=lambda edit: edit[:2])
    if any(before[1] > after[0] for before, after in pairwise(edits)):
        return None
    for start, end, rendering in reversed(edits):
        text = text[:start] + rendering + text[end:]
    [written] = forward.tokenizer.encode_target([text])
    return written if forward.meets(reading.constraints, written) else None


def _find_place(
    weights: Sequence[Sequence[float]], gains: Sequence[float], own: Sequence[int]
) -> range | None:
    """Return the target words that translate some source words; None: no word does.

    They are neighbors, as many as the source words at most, and each attends to one of them most.

    Args:
        weights: For each target word how much it attends to each source word.
        gains: How much it attends to those.
        own: The numbers of the source words.
    """
    is_linked = [bool(row) and row.index(max(row)) in own for row in weights]
    runs = [
        range(start, end)
        for start in range(len(gains))
        for end in range(start + 1, min(len(gains), start + len(own)) + 1)
        if all(is_linked[start:end])
    ]
    return max(runs, key=lambda run: sum(gains[n] for n in run), default=None)


def _is_spaced(text: str) -> bool:
    """Return whether spaces separate the words of a text, as they do not in Chinese, Japanese or Thai."""
    return all(is_word_character(character) for character in text if character.isalpha())


def _has_rendering(text: str, term: PlacedTerm) -> bool:
    """Return whether a text has a rendering of a term as a whole word."""
    return any(re.search(rf"(?<!\w){re.escape(r)}(?!\w)", text) for r in term.renderings)
