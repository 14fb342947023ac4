"""Choose among the candidates of a piece by more than their probability.

The candidates are an n-best list or samples. There are two ways to choose. Minimum Bayes risk takes the
candidate that resembles the others most (Kumar and Byrne, 2004; Eikema and Aziz, 2022). A backward model,
which translates from the target language to the source language, adds how well it can tell the source
from a candidate (Yee et al., 2019). A model of both directions can be its own backward model.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from headway.config import SearchConfig
from headway.text.tokenizer import Tokenizer
from headway.text.words import simplify_breaks
from headway.translation.chrf import pairwise_chrf
from headway.translation.engines.protocols import add_log_p
from headway.translation.requests import Job, Read
from headway.translation.search.beam_search import Hypothesis, length_penalty
from headway.translation.splitting import Piece
from headway.translation.token_search import TokenSearch


def choose(
    forward: TokenSearch,
    backward: TokenSearch | None,
    piece: Piece,
    found: list[Hypothesis],
    search: SearchConfig,
) -> Job[list[Hypothesis]]:
    """Return the best of a piece's candidates: by a backward model, or by minimum Bayes risk.

    Args:
        forward: The model that has found them, with its tokenizer.
        backward: None: the risk is minimized.
        piece: The text.
        found: Its candidates.
        search: Search settings.
    """
    if backward is None:
        ranked = rank_by_risk(found, forward.tokenizer)
    else:
        text = (piece.masked_source or piece).text
        ranked = yield from rank_by_backward_model(
            text.strip(), found, forward.tokenizer, backward, search
        )
    return ranked[: search.n_best]


def widen_search(search: SearchConfig) -> SearchConfig:
    """Return the settings of the search for candidates; a batch has as many hypotheses as before."""
    count = max(search.candidates, search.n_best)
    beam = search.beam if search.sample else max(search.beam, count)
    tokens = max(1, search.batch_tokens * search.beam // max(count, beam))
    return replace(search, n_best=count, beam=beam, batch_tokens=tokens)


def rank_by_risk(candidates: Sequence[Hypothesis], tokenizer: Tokenizer) -> list[Hypothesis]:
    """Return candidates, the one of the highest expected chrF1 first; all candidates count equally.

    Args:
        candidates: Of one piece.
        tokenizer: Turns their tokens into text.

    Returns:
        First candidates of different texts, then those that repeat a text; their score is the expected chrF1, from 0
        to 1.
    """
    of_text: dict[str, list[Hypothesis]] = {}
    for candidate in candidates:
        of_text.setdefault(tokenizer.decode(candidate.tokens), []).append(candidate)
    counts = np.array([len(same) for same in of_text.values()])
    expected = pairwise_chrf([*of_text]) @ counts / max(1, len(candidates))
    scored = [
        [candidate._replace(score=score) for candidate in same]
        for same, score in zip(of_text.values(), expected.tolist(), strict=True)
    ]
    scored.sort(key=lambda same: -same[0].score)
    return [same[0] for same in scored] + [each for same in scored for each in same[1:]]


def rank_by_backward_model(
    text: str,
    candidates: Sequence[Hypothesis],
    tokenizer: Tokenizer,
    backward: TokenSearch,
    search: SearchConfig,
) -> Job[list[Hypothesis]]:
    """Return the candidates of a piece, the best by a forward and a backward model first.

    The score of a candidate is log p(candidate | source) + ``backward_weight`` log p(source | candidate),
    each divided by the length penalty.

    Args:
        text: What the model has translated.
        candidates: Its translations.
        tokenizer: Turns their tokens into text.
        backward: The backward model.
        search: Search settings.
    """
    texts = [simplify_breaks(tokenizer.decode(each.tokens).strip()) for each in candidates]
    sources = backward.tokenizer.encode_source(texts)
    [target] = backward.tokenizer.encode_target([text])
    scores = yield [Read(backward, search, source, target, add_log_p) for source in sources]
    scored = []
    for candidate, log_p in zip(candidates, scores, strict=True):
        own = candidate.log_probability / length_penalty(len(candidate.tokens), search.alpha)
        back = log_p / length_penalty(len(target), search.alpha)
        scored.append(candidate._replace(score=own + search.backward_weight * back))
    return sorted(scored, key=lambda each: -each.score)
