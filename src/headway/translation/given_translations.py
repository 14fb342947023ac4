"""Reading translations that are given: the probabilities of their tokens, and the attention of the model.

Native code reads them step by step, as it would write them, so that no result depends on other translations.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import torch

from headway.config import SearchConfig
from headway.translation.batching import run_in_batches
from headway.translation.engines.choice import join_engines
from headway.translation.engines.plain_engine import PlainEngine
from headway.translation.engines.protocols import GivenTarget, LayerChoice, add_log_p
from headway.translation.search.beam_search import check_finite

if TYPE_CHECKING:
    from headway.translation.token_search import TokenSearch

ResultT = TypeVar("ResultT")
TokenRows = Sequence[Sequence[int]]  # token ids of several texts, ``</s>`` last


def score_exactly(
    token_search: "TokenSearch", sources: TokenRows, targets: TokenRows, batch_tokens: int
) -> list[float]:
    """Return the natural log-probability of each target given its source, in fp32, by forward passes.

    Args:
        token_search: Of the model.
        sources: Token ids, ``</s>`` last.
        targets: Token ids, ``</s>`` last.
        batch_tokens: Of a batch, padding included.
    """
    engines = [PlainEngine(model) for model in token_search.models]
    engine = join_engines(engines, token_search.tokenizer.target_pad, engines[0].device)

    @torch.inference_mode()
    def read_rows(rows: list[int]) -> list[GivenTarget]:
        return engine.read([sources[i] for i in rows], [targets[i] for i in rows])

    lengths = _lengths(sources, targets)
    found = run_in_batches(read_rows, lengths, batch_tokens, parallel=False)
    return [add_log_p(each) for each in found]


def read_targets(
    token_search: "TokenSearch",
    sources: TokenRows,
    targets: TokenRows,
    search: SearchConfig,
    measures: Sequence[Callable[[GivenTarget], ResultT]],
    *,
    is_scored: bool = True,
    layers: LayerChoice | None = None,
) -> list[ResultT]:
    """Apply a function to what the model makes of each target, and return the results, which alone are kept.

    If a decoder has no layers, every source token gets the same weight.

    Args:
        token_search: Of the model.
        sources: Token ids, ``</s>`` last.
        targets: Token ids, ``</s>`` last.
        search: Gives the precision and the size of a batch.
        measures: For each target the function that takes what the model makes of it.
        is_scored: Whether the probabilities of the tokens are wanted.
        layers: Those of each model whose attention is wanted; None: none is.

    Raises:
        HeadwayError: If a probability is not finite.
    """
    engine, configs = token_search.engine(search.precision), [m.config for m in token_search.models]
    watched = layers if layers and all(map(layers, configs)) else None

    @torch.inference_mode()
    def read_rows(rows: list[int]) -> list[ResultT]:
        some = [sources[i] for i in rows], [targets[i] for i in rows]
        found = engine.read(*some, is_scored=is_scored, layers=watched)
        for given in found:
            check_finite(given.log_p)
        if layers and not watched:
            found = [
                given._replace(weights=torch.full((len(target), len(source)), 1 / len(source)))
                for given, source, target in zip(found, *some, strict=True)
            ]
        return [measures[i](given) for i, given in zip(rows, found, strict=True)]

    weights = configs[0].num_heads * max(map(len, sources), default=0) if watched else 0
    numbers = max(configs[0].target_vocab_size, weights)  # of a token: its logits or its attention
    most = engine.read_limit(search.batch_tokens, numbers)
    return run_in_batches(read_rows, _lengths(sources, targets), most, parallel=engine.is_parallel)


def _lengths(sources: TokenRows, targets: TokenRows) -> list[int]:
    return [max(len(s), len(t)) for s, t in zip(sources, targets, strict=True)]
