"""Search or sampling, as the settings say."""

from collections.abc import Callable, Sequence

from headway.config import SearchConfig
from headway.translation.engines.engine import Hypotheses
from headway.translation.search.beam_search import Hypothesis, beam_search
from headway.translation.search.sampling import sample


def find_hypotheses(
    decoding: Hypotheses,
    limits: Sequence[int],
    search: SearchConfig,
    *,
    keys: Sequence[Sequence[int]],
    prefixes: Sequence[Sequence[int]],
    eos: int,
    pad: int,
    is_wanted: Callable[[int], bool] | None = None,
) -> list[list[Hypothesis]]:
    """Search for the likeliest outputs of a batch, or sample outputs.

    Args:
        decoding: New, with ``beam`` hypotheses for each text, or ``n_best`` if it samples.
        limits: For each text the most tokens of its output, ``</s>`` included.
        search: Search settings.
        keys: For each text the numbers that its samples depend on, besides the seed.
        prefixes: For each text the tokens that its output must start with.
        eos: Id of ``</s>``.
        pad: Id of ``<pad>``.
        is_wanted: See `beam_search`; sampling does not call it.

    Returns:
        For each text its ``n_best`` hypotheses, the best first, or as many samples.
    """
    if search.sample:
        return sample(
            decoding,
            limits,
            seeds=[[(search.seed, draw, *key) for draw in range(search.n_best)] for key in keys],
            temperature=search.temperature,
            top_k=search.top_k,
            top_p=search.top_p,
            epsilon=search.epsilon,
            eos=eos,
            pad=pad,
            prefixes=prefixes,
        )
    return beam_search(
        decoding,
        limits,
        beam=search.beam,
        alpha=search.alpha,
        n_best=search.n_best,
        eos=eos,
        pad=pad,
        prefixes=prefixes,
        is_wanted=is_wanted,
    )
