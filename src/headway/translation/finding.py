"""The search that the settings ask for: for the likeliest translations, for those that contain what they must, or for samples."""

import zlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from headway.config import SearchConfig
from headway.translation.engines.protocols import Engine, Hypotheses
from headway.translation.search.beam_search import Hypothesis, Ids, beam_search

if TYPE_CHECKING:
    from headway.translation.search.automaton import SentenceAutomaton


def search_engine(
    engine: Engine,
    sources: Sequence[Sequence[int]],
    limits: Sequence[int],
    search: SearchConfig,
    *,
    eos: int,
    pad: int,
    prefixes: Sequence[Sequence[int]] | None = None,
    choices: Sequence[Ids] | None = None,
    is_wanted: Callable[[int], bool] | None = None,
    automata: "Sequence[SentenceAutomaton | None] | None" = None,
) -> list[list[Hypothesis]]:
    """Search for the translations of a batch, from source ids to target ids, by an engine's own search if it has one.

    A sample depends on the seed and its source alone, not on the number of the line.

    Args:
        engine: Runs the model.
        sources: Token ids of the sentences, ``</s>`` last.
        limits: For each sentence the most tokens of its translation, ``</s>`` included.
        search: Search settings.
        eos: Id of ``</s>``.
        pad: Id of ``<pad>``.
        prefixes: For each sentence the tokens that its translation must start with.
        choices: For each sentence the tokens that it may choose; see `Engine.start`.
        is_wanted: See `beam_search`; on a GPU it is called every few steps.
        automata: For each sentence the automaton of what its translation must contain, or None; None: all are free.

    Returns:
        For each sentence up to ``n_best`` hypotheses, the best first, or its samples. If the terms of a glossary have
        no natural place, the best has ``without_terms``.
    """
    if engine.search is not None and automata is None and not search.sample:
        return engine.search(
            sources, limits, beam=search.beam, alpha=search.alpha, n_best=search.n_best, eos=eos,
            prefixes=prefixes, choices=choices, is_wanted=is_wanted,
        )  # fmt: skip
    longest = max(max(limits), 1 + max(map(len, prefixes or [[]])))
    beams = search.n_best if search.sample else search.beam
    decoding = engine.start(sources, beams, longest, choices)
    if automata is not None:
        from headway.translation.engines.constrained_decoding import ConstrainedDecoding

        constrained = ConstrainedDecoding(
            decoding, automata, limits, beams=search.beam, eos=eos, pad=pad, alpha=search.alpha,
            n_best=search.n_best,
        )  # fmt: skip
        found = beam_search(
            constrained, limits, beam=search.beam, alpha=search.alpha, n_best=search.n_best,
            eos=eos, pad=pad, prefixes=prefixes, is_wanted=is_wanted,
        )  # fmt: skip
        return constrained.compare(found)
    return find_hypotheses(
        decoding, limits, search, eos=eos, pad=pad, prefixes=prefixes, is_wanted=is_wanted,
        keys=[[_checksum(source)] for source in sources] if search.sample else (),
    )  # fmt: skip


def find_hypotheses(
    decoding: Hypotheses,
    limits: Sequence[int],
    search: SearchConfig,
    *,
    eos: int,
    pad: int,
    prefixes: Sequence[Sequence[int]] | None = None,
    is_wanted: Callable[[int], bool] | None = None,
    keys: Sequence[Sequence[int]] = (),
) -> list[list[Hypothesis]]:
    """Search for the likeliest outputs of a batch, or sample outputs.

    Args:
        decoding: New, with ``beam`` hypotheses for each text, or ``n_best`` if it samples.
        limits: For each text the most tokens of its output, ``</s>`` included.
        search: Search settings.
        eos: Id of ``</s>``.
        pad: Id of ``<pad>``.
        prefixes: For each text the tokens that its output must start with.
        is_wanted: See `beam_search`; sampling does not call it.
        keys: For each text the numbers that its samples depend on, besides the seed.

    Returns:
        For each text its ``n_best`` hypotheses, the best first, or as many samples.
    """
    if search.sample:
        from headway.translation.search.sampling import sample

        seeds = [[(search.seed, draw, *key) for draw in range(search.n_best)] for key in keys]
        return sample(
            decoding, limits, seeds=seeds, temperature=search.temperature, top_k=search.top_k,
            top_p=search.top_p, epsilon=search.epsilon, eos=eos, pad=pad, prefixes=prefixes,
        )  # fmt: skip
    return beam_search(
        decoding, limits, beam=search.beam, alpha=search.alpha, n_best=search.n_best, eos=eos,
        pad=pad, prefixes=prefixes, is_wanted=is_wanted,
    )  # fmt: skip


def _checksum(ids: Sequence[int]) -> int:
    return zlib.crc32(np.asarray(ids, dtype=np.int64).tobytes())
