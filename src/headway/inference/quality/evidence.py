"""What a model and the texts show about a translation: the numbers that its quality is computed from.

Shapes: T target tokens, S source tokens, V target vocabulary.
"""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from headway.inference.alignment import alignment_layer
from headway.inference.engines.ensemble import average_logits
from headway.inference.quality.defects import share_copied
from headway.inference.search.beam_search import Hypothesis
from headway.inference.search.constraints import find_alternatives
from headway.inference.segments.splitting import Segment
from headway.model import Transformer, watch
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
    models: Sequence[Transformer], tokenizer: Tokenizer, segment: Segment, hypothesis: Hypothesis
) -> Evidence:
    """Measure the features of the translation of a segment; see `measure_features`."""
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
    source = text.strip()
    features = measure_features(models, ids, written, (source, translation), forced)
    return Evidence(source, translation, features)


def _prescribe_numbers(translation: str, term: str, renderings: Sequence[str]) -> str:
    """Return a term, or its rendering if one of both has digits: a glossary may prescribe a word for a number.

    Of several renderings it is the one that the translation has, or the first.
    """
    rendering = next((each for each in renderings if each in translation), renderings[0])
    return rendering if any(map(str.isdigit, term + rendering)) else term


@torch.inference_mode()
def measure_features(
    models: Sequence[Transformer],
    source: Sequence[int],
    target: Sequence[int],
    texts: tuple[str, str],
    forced: Sequence[int] = (),
) -> Features:
    """Return the features of a translation, by one forward pass of it alone.

    Args:
        models: In evaluation mode; several are an ensemble.
        source: Ids, ``</s>`` last.
        target: Ids, ``</s>`` last.
        texts: Source and translation.
        forced: Places in ``target`` of the tokens that it had to contain; never that of ``</s>``.

    Returns:
        A number for each name in `FEATURES`.
    """
    device = models[0].source_embedding.weight.device
    source_BS, target_BT = (torch.tensor([ids], device=device) for ids in (source, target))
    logits, weights = [], []
    for model in models:
        with watch(model) as seen:
            logits.append(model(source_BS, target_BT))
        if (layer := alignment_layer(model.config)) in seen.attention:
            weights.append(seen.attention[layer][0].float().mean(0))
    log_p_TV = average_logits(logits)[0].float().log_softmax(-1)
    log_p_T = log_p_TV.gather(1, target_BT[0, :, None])[:, 0].double()
    log_p_of_free = np.delete(log_p_T.cpu().numpy(), forced)
    coverage = focus = 0.0  # of a decoder without layers
    if weights:
        weights_TS = torch.stack(weights).mean(0)
        # The end of the source gets the attention that the words do not need.
        coverage = weights_TS[:, :-1].sum(0).clamp(max=1).sum().item() / max(1, len(source) - 1)
        focus = weights_TS.max(1).values.mean().item()
    pairs = [*pairwise(target)]
    numbers = compare_numbers(*texts)
    return np.array(
        [
            np.exp(log_p_of_free).mean(),
            max(LEAST_LOG_P, log_p_of_free.min()),
            -abs(np.log(len(target) / len(source))),
            coverage,
            focus,
            len({*pairs}) / len(pairs) if pairs else 1.0,
            1.0 - share_copied(*texts),
            numbers.same / sum(numbers) if any(numbers) else 1.0,
        ]
    )
