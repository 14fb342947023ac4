"""What a model and the texts show about a translation: the numbers that its quality is computed from.

Shapes: T target tokens, S source tokens.
"""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from headway.config import SearchConfig
from headway.inference.alignment import single_layer
from headway.inference.quality.defects import share_copied
from headway.inference.scoring import LogProbabilities
from headway.inference.search.beam_search import Hypothesis
from headway.inference.search.constraints import find_alternatives
from headway.inference.segments.splitting import Segment
from headway.inference.token_search import TokenSearch
from headway.text.numbers import compare_numbers
from headway.text.tokenizer import Tokenizer

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
        source: What the model has read; stand-ins are in the places of kept text, and renderings in those of terms with
            numbers.
        translation: What it has written.
        features: A number for each name in `FEATURES`.
    """

    source: str
    translation: str
    features: Features


def examine(
    token_search: TokenSearch,
    translations: Sequence[tuple[Segment, Hypothesis]],
    search: SearchConfig,
) -> list[Evidence]:
    """Measure the features of translations of segments; see `measure_features`.

    The engine of a search reads them, so that the features of one depend on no other.

    Args:
        token_search: Of the model.
        translations: Segments, each with its translation.
        search: Gives the precision.
    """
    translated = [_as_read(token_search.tokenizer, *each) for each in translations]
    pairs = [each.source for each in translated], [each.target for each in translated]
    log_p = token_search.log_probabilities(*pairs, search)
    weights = token_search.attend(*pairs, search, single_layer)
    return [
        Evidence(*each.texts, measure_features(each, log_p_T, weights_TS))
        for each, log_p_T, weights_TS in zip(translated, log_p, weights, strict=True)
    ]


class Translated(NamedTuple):
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


def _as_read(tokenizer: Tokenizer, segment: Segment, hypothesis: Hypothesis) -> Translated:
    text, ids = segment.text, segment.ids
    translation = tokenizer.decode(hypothesis.tokens)
    forced: list[int] = []
    # Terms without natural places were put there afterwards: what the model wrote lacks them.
    written = (hypothesis.without_terms or hypothesis).tokens
    if segment.readings:
        reading = segment.readings[hypothesis.reading]
        text, ids = reading.replace_terms(partial(_prescribe_numbers, translation)), reading.ids
        wanted = [constraint.alternatives for constraint in reading.constraints]
        spans = find_alternatives(tokenizer, wanted, written)
        forced = [place for span in spans.values() for place in range(*span)]
    return Translated(ids, written, (text.strip(), translation), forced)


def _prescribe_numbers(translation: str, term: str, renderings: Sequence[str]) -> str:
    """Return a term, or its rendering if one of both has digits: a glossary may prescribe a word for a number.

    Of several renderings it is the one that the translation has, or the first.
    """
    rendering = next((each for each in renderings if each in translation), renderings[0])
    return rendering if any(map(str.isdigit, term + rendering)) else term


def measure_features(
    translation: Translated, log_p_T: LogProbabilities, weights_TS: Tensor
) -> Features:
    """Return the features of a translation.

    Args:
        translation: Its tokens and texts.
        log_p_T: The natural log-probability of each target token.
        weights_TS: How much each target token attends to each source token.

    Returns:
        A number for each name in `FEATURES`.
    """
    log_p_of_free = np.delete(log_p_T, translation.forced)
    # The end of the source gets the attention that the words do not need.
    attended_S = weights_TS[:, :-1].sum(0).clamp(max=1)
    pairs = [*pairwise(translation.target)]
    numbers = compare_numbers(*translation.texts)
    return np.array(
        [
            np.exp(log_p_of_free).mean(),
            max(LEAST_LOG_P, log_p_of_free.min()),
            -abs(np.log(len(translation.target) / len(translation.source))),
            attended_S.sum().item() / max(1, len(attended_S)),
            weights_TS.max(1).values.mean().item(),
            len({*pairs}) / len(pairs) if pairs else 1.0,
            1.0 - share_copied(*translation.texts),
            numbers.same / sum(numbers) if any(numbers) else 1.0,
        ]
    )
