"""What a model and the texts show about a translation: the numbers that its quality is computed from.

Shapes: T target tokens, S source tokens.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from headway.config import SearchConfig
from headway.ext.protect import MaskedSource, compare_numbers
from headway.ext.quality.defects import share_copied
from headway.text import Tokenizer
from headway.translation import (
    GivenTarget,
    Hypothesis,
    Job,
    LogProbabilities,
    Piece,
    Read,
    TokenSearch,
    call,
    find_alternatives,
    single_layer,
)

LEAST_LOG_P = -10.0  # an unlikelier token tells no more

# Each is higher for a better translation.
FEATURES = {
    "probability": "mean probability of the target tokens that the model was free to choose",
    "weakest": "natural log-probability of the least likely of them, at least -10",
    "length": "how far the ratio of target to source tokens is from 1: -|ln(T / S)|",
    "coverage": "mean attention that a source token gets from all target tokens, at most 1 of each",
    "focus": "mean of the highest attention weight of each target token",
    "distinct": "share of the pairs of neighboring target tokens that are no repetition",
    "translated": "share of the source's words that do not stand in the translation",
    "numbers": "share of the numbers in both texts that agree",
}
Features = NDArray[np.float64]


class Evidence(NamedTuple):
    """What the quality of a translation is computed from.

    Attributes:
        source: What the model has read; placeholder words are in the places of protected text, and renderings in those of terms with
            numbers.
        translation: What it has written.
        features: A number for each name in `FEATURES`.
    """

    source: str
    translation: str
    features: Features


def examine(
    token_search: TokenSearch,
    piece: Piece,
    found: Sequence[Hypothesis],
    search: SearchConfig,
    prefix: Sequence[int] = (),
) -> Job[list[Evidence]]:
    """Measure the features of translations; see `measure_features`.

    The engine of a search reads them. With native code the features of one depend on no other, bit by bit.

    Args:
        token_search: Of the model.
        piece: The text, with the constraints of the search.
        found: Its translations.
        search: Gives the precision.
        prefix: The tokens that each had to begin with.
    """
    translated = [
        _as_read(token_search.tokenizer, piece, hypothesis, len(prefix)) for hypothesis in found
    ]
    measured = yield [
        Read(token_search, search, each.source, each.target, _measure, single_layer)
        for each in translated
    ]

    def collect() -> list[Evidence]:
        return [
            Evidence(*each.texts, measure_features(each, *values))
            for each, values in zip(translated, measured, strict=True)
        ]

    return (yield from call(collect, len(piece.text)))


def measure_attention(weights_TS: Tensor) -> tuple[float, float]:
    """Return coverage and focus, see `FEATURES`, of how much each target token attends to each source token, [T, S]."""
    # The end of the source gets the attention that the words do not need.
    attended_S = weights_TS[:, :-1].sum(0).clamp(max=1)
    coverage = attended_S.sum().item() / max(1, len(attended_S))
    return coverage, weights_TS.max(1).values.mean().item()


def _measure(given: GivenTarget) -> tuple[LogProbabilities, tuple[float, float]]:
    return given.log_p, measure_attention(given.weights)


class TranslationAsRead(NamedTuple):
    """A translation as its model read and wrote it.

    Attributes:
        source: Ids, ``</s>`` last.
        target: Ids, ``</s>`` last.
        texts: Source and translation.
        forced: Places in ``target`` of the tokens that it had to contain; never that of ``</s>``.
    """

    source: Sequence[int]
    target: Sequence[int]
    texts: tuple[str, str]
    forced: Sequence[int] = ()


def _as_read(
    tokenizer: Tokenizer, piece: Piece, hypothesis: Hypothesis, prefix: int
) -> TranslationAsRead:
    text, ids = piece.text, piece.ids
    translation = tokenizer.decode(hypothesis.tokens)
    written = hypothesis.tokens
    forced = {*range(min(prefix, len(written) - 1))}
    if piece.masked_sources:
        masked = piece.masked_sources[hypothesis.masked_source]
        text, ids = _prescribe_numbers(masked, translation), masked.ids
        wanted = [constraint.alternatives for constraint in masked.constraints]
        spans = find_alternatives(tokenizer, wanted, written)
        forced.update(place for span in spans.values() for place in range(*span))
    return TranslationAsRead(ids, written, (text.strip(), translation), sorted(forced))


def _prescribe_numbers(masked: MaskedSource, translation: str) -> str:
    """Return what the model has read, with the renderings that it has written in the places of terms if one of both has
    digits: a glossary may prescribe a word for a number.
    """
    text = masked.text
    for term in reversed(masked.find("term")):
        (start, end), renderings = term.span, term.renderings
        rendering = next((each for each in renderings if each in translation), term.read)
        if any(map(str.isdigit, term.read + rendering)):
            text = text[:start] + rendering + text[end:]
    return text


def measure_features(
    translation: TranslationAsRead, log_p_T: LogProbabilities, attended: tuple[float, float]
) -> Features:
    """Return the features of a translation.

    Args:
        translation: Its tokens and texts.
        log_p_T: The natural log-probability of each target token.
        attended: Its coverage and focus.

    Returns:
        A number for each name in `FEATURES`.
    """
    log_p_of_free = np.delete(log_p_T, translation.forced)
    pairs = [*pairwise(translation.target)]
    numbers = compare_numbers(*translation.texts)
    return np.array(
        [
            np.exp(log_p_of_free).mean(),
            max(LEAST_LOG_P, log_p_of_free.min()),
            -abs(np.log(len(translation.target) / len(translation.source))),
            *attended,
            len({*pairs}) / len(pairs) if pairs else 1.0,
            1.0 - share_copied(*translation.texts),
            numbers.same / sum(numbers) if any(numbers) else 1.0,
        ]
    )
