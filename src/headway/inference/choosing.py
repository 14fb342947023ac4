"""Choose among the candidates of a segment by more than their probability.

The candidates are an n-best list or samples. There are two ways to choose. Minimum Bayes risk takes the
candidate that resembles the others most (Kumar and Byrne, 2004; Eikema and Aziz, 2022). A backward model,
which translates from the target language to the source language, adds how well it can tell the source
from a candidate (Yee et al., 2019). A model of both directions can be its own backward model.
"""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from headway.config import SearchConfig
from headway.errors import UsageError
from headway.inference.chrf import pairwise_chrf
from headway.inference.directory import load_model
from headway.inference.given_translations import score_targets
from headway.inference.search.beam_search import Hypothesis, length_penalty
from headway.inference.segment_text import link_found
from headway.inference.segments.splitting import ReadingRow, Segment, choose_readings, list_readings
from headway.inference.term_places import place_terms
from headway.inference.token_search import TokenSearch
from headway.text.language_pairs import Languages, list_pairs, name_pair
from headway.text.tokenizer import Tokenizer


class BackwardModel(NamedTuple):
    """A model that translates back, in one direction or several.

    Attributes:
        path: For messages.
        search: Its search.
        languages: Codes of source and target.
        pairs: All pairs of languages that it was trained on; none: of one pair.
    """

    path: str | Path
    search: TokenSearch
    languages: Languages
    pairs: tuple[Languages, ...]

    def choose(self, languages: Languages) -> TokenSearch:
        """Return the search that translates back.

        Args:
            languages: Source and target of the forward model.

        Raises:
            UsageError: If the model translates in another direction.
        """
        if languages[::-1] not in (self.pairs or [self.languages]):
            raise UsageError(
                f"{self.path}: translates {list_pairs(self.pairs or [self.languages])}: a backward model"
                f" must translate from {languages[1]} to {languages[0]}"
            )
        return _choose_target(self.search, languages[0]) if self.pairs else self.search


def load_backward_model(path: str | Path, device: torch.device) -> BackwardModel:
    """Read a model that translates back; see `load_model`."""
    model = load_model(path)
    network = model.transformer.to(device).eval()
    search = TokenSearch([network], model.tokenizer, model.path)
    return BackwardModel(path, search, model.languages, model.pairs)


def reverse_search(
    forward: TokenSearch, languages: Languages, pairs: Sequence[Languages]
) -> TokenSearch:
    """Return the search of a model of both directions for the other direction; it shares the engines.

    Args:
        forward: Translates from the first of ``languages`` to the second.
        languages: Codes.
        pairs: What the model was trained on.

    Raises:
        UsageError: If the model was not trained on the other direction.
    """
    source, target = languages
    if (target, source) not in pairs:
        raise UsageError(
            f"search.round_trip: this model does not translate {name_pair((target, source))}: train it on both"
            " directions, or give a backward model"
        )
    return _choose_target(forward, source)


def _choose_target(search: TokenSearch, target: str) -> TokenSearch:
    """Return the search of a model of several languages into one of them; it shares the engines."""
    own = copy(search)
    own.tokenizer = search.tokenizer.to(target)
    return own


# Rows and search settings -> the n best hypotheses of each row.
FindCandidates = Callable[[Sequence[ReadingRow], SearchConfig], list[list[Hypothesis]]]


def search_and_choose(
    find: FindCandidates,
    forward: TokenSearch,
    backward: TokenSearch | None,
    segments: Sequence[Segment],
    search: SearchConfig,
    prefixes: Sequence[Sequence[int]] = (),
    *,
    align: bool = False,
) -> list[list[Hypothesis]]:
    """Search for the translations of segments, choose among them if the settings say how, and link their words.

    Args:
        find: Searches for the candidates.
        forward: The model that searches, with its tokenizer.
        backward: Chooses among them; None: there is no backward model.
        segments: The texts.
        search: Search settings.
        prefixes: For each segment the tokens that its translation must start with; empty: none.
        align: Whether all words are linked, and not only those of texts with tags.

    Returns:
        For each segment its n best hypotheses, or its n samples if nothing chooses.

    Raises:
        UsageError: If both ways to choose are asked for.
    """
    chosen = _choose(find, forward, backward, segments, search, prefixes)
    return link_found(forward, segments, chosen, search, all_of_them=align)


def _choose(
    find: FindCandidates,
    forward: TokenSearch,
    backward: TokenSearch | None,
    segments: Sequence[Segment],
    search: SearchConfig,
    prefixes: Sequence[Sequence[int]],
) -> list[list[Hypothesis]]:
    """Return the hypotheses of `search_and_choose` without links."""
    if search.mbr and backward is not None:
        raise UsageError("search.mbr and a backward model both choose: use one of them")
    is_chosen = search.mbr or backward is not None
    wide = widen_search(search) if is_chosen else search
    rows = list_readings(segments, wide)
    found = choose_readings(rows, find(rows, wide))
    starts = prefixes or [()] * len(segments)
    found = place_terms(forward, lambda some: find(some, wide), segments, found, starts, wide)
    tokenizer = forward.tokenizer
    if not is_chosen:
        return found
    if backward is None:
        ranked = [rank_by_risk(each, tokenizer) for each in found]
        return [_put_placed_first(*each, search.n_best) for each in zip(found, ranked, strict=True)]
    texts = [
        segment.readings[n_best[0].reading].text.strip()
        if segment.readings and n_best
        else segment.text.strip()
        for segment, n_best in zip(segments, found, strict=True)
    ]
    ranked = rank_by_backward_model(texts, found, tokenizer, backward, search)
    return [_put_placed_first(*each, search.n_best) for each in zip(found, ranked, strict=True)]


def _put_placed_first(
    candidates: Sequence[Hypothesis], ranked: list[Hypothesis], n_best: int
) -> list[Hypothesis]:
    """Return the best ``n_best`` of a ranking of candidates.

    Where terms of the best candidate were given their places, the others have them in worse places: it stays first.
    """
    if candidates and candidates[0].without_terms:
        ranked = sorted(ranked, key=lambda each: each.tokens != candidates[0].tokens)
    return ranked[:n_best]


def widen_search(search: SearchConfig) -> SearchConfig:
    """Return the settings of the search for candidates; a batch has as many hypotheses as before."""
    count = max(search.candidates, search.n_best)
    beam = search.beam if search.sample else max(search.beam, count)
    tokens = max(1, search.batch_tokens * search.beam // max(count, beam))
    return replace(search, n_best=count, beam=beam, batch_tokens=tokens)


def rank_by_risk(candidates: Sequence[Hypothesis], tokenizer: Tokenizer) -> list[Hypothesis]:
    """Return candidates, the one of the highest expected chrF1 first; all candidates count equally.

    Args:
        candidates: Of one segment.
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
    texts: Sequence[str],
    found: Sequence[Sequence[Hypothesis]],
    tokenizer: Tokenizer,
    backward: TokenSearch,
    search: SearchConfig,
) -> list[list[Hypothesis]]:
    """Return the candidates of each segment, the best by a forward and a backward model first.

    The score of a candidate is log p(candidate | source) + ``backward_weight`` log p(source | candidate),
    each divided by the length penalty.

    Args:
        texts: The source text of each segment.
        found: The candidates of each segment.
        tokenizer: Turns the tokens of candidates into text.
        backward: The backward model.
        search: Search settings.
    """
    sources = backward.tokenizer.encode_source(
        [tokenizer.decode(h.tokens).strip() for candidates in found for h in candidates]
    )
    targets = [
        ids
        for ids, candidates in zip(backward.tokenizer.encode_target(texts), found, strict=True)
        for _ in candidates
    ]
    scores = iter(zip(score_targets(backward, sources, targets, search), targets, strict=True))
    ranked = []
    for candidates in found:
        scored = []
        for candidate in candidates:
            log_p, target = next(scores)
            forward = candidate.log_probability / length_penalty(
                len(candidate.tokens), search.alpha
            )
            total = forward + search.backward_weight * log_p / length_penalty(
                len(target), search.alpha
            )
            scored.append(candidate._replace(score=total))
        ranked.append(sorted(scored, key=lambda h: -h.score))
    return ranked
