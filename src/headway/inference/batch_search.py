"""Beam search with any engine."""

from collections.abc import Callable, Sequence

from headway.inference.engines.constrained_decoding import ConstrainedDecoding
from headway.inference.engines.engine import Engine
from headway.inference.engines.fixed_engine import FixedEngine
from headway.inference.search.automaton import SentenceAutomaton
from headway.inference.search.beam_search import Hypothesis, Ids, beam_search


def search_batch(
    engine: Engine,
    sources: Sequence[Sequence[int]],
    limits: Sequence[int],
    *,
    beam: int,
    alpha: float,
    n_best: int = 1,
    eos: int,
    pad: int,
    prefixes: Sequence[Sequence[int]] | None = None,
    choices: Sequence[Ids] | None = None,
    is_wanted: Callable[[int], bool] | None = None,
    automata: Sequence[SentenceAutomaton | None] | None = None,
) -> list[list[Hypothesis]]:
    """Search for the translations of a batch, from source ids to target ids.

    Args:
        engine: Runs the model.
        sources: Token ids of the sentences, ``</s>`` last.
        limits: See `beam_search`, like the arguments that are not explained here.
        beam: K.
        alpha: Exponent of the length penalty.
        n_best: Hypotheses to return for each sentence.
        eos: Id of ``</s>``.
        pad: Id of ``<pad>``.
        prefixes: For each sentence the tokens that its translation must start with.
        choices: For each sentence the tokens that it may choose; see `Engine.start`.
        is_wanted: See `beam_search`; on a GPU it is called every few steps.
        automata: For each sentence the automaton of its constraints, or None; None: none has any. With
            them, a `FixedEngine` searches as every other engine does.

    Returns:
        For each sentence up to ``n_best`` hypotheses, the best first. If the terms of a glossary have no
        natural place, the best has ``without_terms``.
    """
    if isinstance(engine, FixedEngine) and automata is None:
        return engine.search(
            sources, limits, beam=beam, alpha=alpha, n_best=n_best, eos=eos, prefixes=prefixes,
            choices=choices, is_wanted=is_wanted,
        )  # fmt: skip
    longest = max(max(limits), 1 + max(map(len, prefixes or [[]])))
    started = engine.start(sources, beam, longest, choices)
    constrained = automata and ConstrainedDecoding(
        started, automata, limits, beams=beam, eos=eos, pad=pad, alpha=alpha, n_best=n_best
    )
    found = beam_search(
        constrained or started, limits, beam=beam, alpha=alpha, n_best=n_best, eos=eos, pad=pad,
        prefixes=prefixes, is_wanted=is_wanted,
    )  # fmt: skip
    return constrained.compare(found) if constrained else found
