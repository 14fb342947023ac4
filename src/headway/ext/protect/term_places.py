"""Put the terms of a glossary where the translations of their words stand.

The search finds the likeliest translation that has the terms. A rendering that the model would never choose is
likeliest where it does least harm: after the sentence, or in the place of another word. Such a translation has
`Hypothesis.without_terms`: the translation without the term, in which the rendering then takes the place of the words
that attention links to the term. If attention leads to a word that must stay, such as the one read for a placeholder,
the model chooses: of the words that attend to the term most, that one in whose place the rendering is likeliest.
Articles before it stay as they are, which is a mistake where the rendering has another gender.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

from headway.config import SearchConfig
from headway.ext.protect.marked_text import SourcePart
from headway.ext.protect.masked_source import MaskedSource
from headway.text import MARK, find_words, is_word_character, turn_marks_to_letters
from headway.translation import (
    Find,
    Hypothesis,
    Job,
    Masking,
    Piece,
    Read,
    TokenSearch,
    add_log_p,
    call,
)

TRIED = 8  # words in whose place a rendering is tried
_CORE = re.compile(rf"\w.*[\w{MARK}]|\w", re.DOTALL)  # of a word, without punctuation


def place_terms(
    masking: Masking,
    forward: TokenSearch,
    piece: Piece,
    found: list[Hypothesis],
    prefix: Sequence[int],
    search: SearchConfig,
) -> Job[list[Hypothesis]]:
    """Replace the best hypothesis, in which terms have no natural place; its score stays.

    Args:
        masking: What has masked the piece.
        forward: The model that has searched.
        piece: The text.
        found: Its hypotheses, the best first, which has ``without_terms``.
        prefix: The tokens that its translation must start with.
        search: Search settings.
    """
    best, *others = found
    assert best.without_terms is not None
    without = best.without_terms._replace(masked_source=best.masked_source)
    [weights] = yield [masking.read_attention(forward, piece, without, search)]
    masked, tokens = piece.masked_sources[without.masked_source], without.tokens
    text, written = forward.tokenizer.decode(tokens), None
    if _has_spaces_between_words(masked.text + text):
        write = partial(_write_terms, forward, masked, text, weights)
        written = yield from call(write, len(piece.text))
        if written is None:
            written = yield from _write_likeliest(forward, masked, text, weights, search)
    if written is not None and _starts_with(forward, written, prefix):
        return [best._replace(tokens=written), *others]
    if best.tokens != tokens:
        return found
    # It lacks the terms, which now may stand anywhere.
    constraints = tuple(replace(each, is_term=False) for each in masked.constraints)
    [again] = yield [Find(forward, search, masked.ids, prefix, constraints)]
    return [each._replace(masked_source=best.masked_source) for each in again]


def _starts_with(forward: TokenSearch, written: list[int], prefix: Sequence[int]) -> bool:
    """Return whether a translation starts with the text of a prefix, which may end within a word."""
    decode = forward.tokenizer.decode
    return decode(written).startswith(decode([*prefix]))


def _write_terms(
    forward: TokenSearch, masked: MaskedSource, text: str, weights: Sequence[Sequence[float]]
) -> list[int] | None:
    """Return a translation with the renderings of its terms; None: attention does not say where they belong.

    Args:
        forward: The model.
        masked: What it has translated.
        text: The translation, which lacks terms.
        weights: For each target word how much it attends to each source word.
    """
    words = find_words(text)
    edits: list[tuple[int, int, str]] = []
    for term in masked.find("term"):
        own, gains = _weigh_words(masked, term, weights[: len(words)])
        place = _find_place(weights, gains, own)
        if place is None:  # no word translates the term: it comes before the word nearest to it
            nearest = max(range(len(gains)), key=gains.__getitem__, default=None)
            start = len(text) if nearest is None else words[nearest][0]
            edits.append((start, start, f"{term.renderings[0]} "))
            continue
        core = _CORE.search(text, words[place[0]][0], words[place[-1]][1])
        if core is None:
            return None
        if not _has_rendering(core[0], term):
            edits.append(_replace_word(core, term))
    return _apply_edits(forward, masked, text, edits)


def _write_likeliest(
    forward: TokenSearch,
    masked: MaskedSource,
    text: str,
    weights: Sequence[Sequence[float]],
    search: SearchConfig,
) -> Job[list[int] | None]:
    """Return a translation with each rendering in the place of the word where it is likeliest; None: there is none.

    Tried are the words that attend to the term most; those that must stay are left out. See `_write_terms`.
    """
    kept = [each for each in masked.constraints if not each.is_term]
    words = find_words(text)
    edits: list[tuple[int, int, str]] = []
    for term in masked.find("term"):
        _, gains = _weigh_words(masked, term, weights[: len(words)])
        likely = sorted(range(len(gains)), key=lambda n: -gains[n])[:TRIED]
        cores = [core for n in likely if (core := _CORE.search(text, *words[n])) is not None]
        taken = [edit[0] for edit in edits]
        tried = [_replace_word(core, term) for core in cores if core.start() not in taken]
        texts = forward.tokenizer.encode_target([text[:a] + new + text[b:] for a, b, new in tried])
        allowed = [n for n, t in enumerate(texts) if not kept or forward.follow(kept).accepts(t)]
        if not allowed:
            return None
        targets = [texts[n] for n in allowed]
        scores = yield [Read(forward, search, masked.ids, target, add_log_p) for target in targets]
        edits.append(tried[allowed[scores.index(max(scores))]])
    return _apply_edits(forward, masked, text, edits)


def _weigh_words(
    masked: MaskedSource, term: SourcePart, weights: Sequence[Sequence[float]]
) -> tuple[list[int], list[float]]:
    """Return the numbers of a term's words in the source, and how much each target word attends to them."""
    (start, end), source_words = term.span, find_words(masked.text)
    own = [number for number, (a, b) in enumerate(source_words) if a < end and b > start]
    return own, [sum(row[number] for number in own) for row in weights]


def _replace_word(core: re.Match[str], term: SourcePart) -> tuple[int, int, str]:
    """Return where a word of a translation stands, and the rendering that takes its place."""
    capitals = [r for r in term.renderings if r[:1].isupper()]
    is_capital = core.start() == 0 and core[0][0].isupper() and capitals
    return (*core.span(), capitals[0] if is_capital else term.renderings[0])


def _apply_edits(
    forward: TokenSearch, masked: MaskedSource, text: str, edits: list[tuple[int, int, str]]
) -> list[int] | None:
    """Return the tokens of a text with renderings; None: they overlap, or a constraint is not met."""
    edits.sort(key=lambda edit: edit[:2])
    if any(before[1] > after[0] for before, after in pairwise(edits)):
        return None
    for start, end, rendering in reversed(edits):
        text = text[:start] + rendering + text[end:]
    [written] = forward.tokenizer.encode_target([text])
    return written if forward.follow(masked.constraints).accepts(written) else None


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


def _has_spaces_between_words(text: str) -> bool:
    """Return whether spaces separate the words of a text, as they do not in Chinese, Japanese or Thai."""
    return all(is_word_character(character) for character in text if character.isalpha())


def _has_rendering(text: str, term: SourcePart) -> bool:
    """Return whether a text has a rendering of a term as a whole word."""
    text, *renderings = map(turn_marks_to_letters, (text, *term.renderings))
    return any(re.search(rf"(?<!\w){re.escape(r)}(?!\w)", text) for r in renderings)
