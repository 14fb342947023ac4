"""Reading translations that are given: the probabilities of their tokens, and the attention of the model.

Native code reads them step by step, as it would write them, so that no result depends on other translations.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import torch
from torch import Tensor

from headway.config import SearchConfig
from headway.inference.alignment import LayerChoice, alignment_layers
from headway.inference.batching import run_in_batches
from headway.inference.engines.ensemble import join_engines
from headway.inference.engines.fixed_engine import FixedEngine
from headway.inference.engines.plain_engine import PlainEngine
from headway.inference.scoring import GivenTarget, LogProbabilities, add_up
from headway.inference.search.beam_search import check_finite
from headway.inference.token_search import TokenSearch

ResultT = TypeVar("ResultT")
TokenRows = Sequence[Sequence[int]]  # token ids of several texts, ``</s>`` last
# Of a batch on a GPU: its logits, or the attention weights of a layer; 0.5 GB in fp32.
GPU_NUMBERS = 1 << 27


def score_targets(
    token_search: TokenSearch, sources: TokenRows, targets: TokenRows, search: SearchConfig
) -> list[float]:
    """Return the natural log-probability of each target given its source; see `log_probabilities`."""
    return add_up(log_probabilities(token_search, sources, targets, search))


def score_exactly(
    token_search: TokenSearch, sources: TokenRows, targets: TokenRows, batch_tokens: int
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
    return add_up(
        [each.log_p for each in read_in_batches(engine.read, sources, targets, batch_tokens)]
    )


def log_probabilities(
    token_search: TokenSearch, sources: TokenRows, targets: TokenRows, search: SearchConfig
) -> list[LogProbabilities]:
    """Return the natural log-probabilities of the tokens of each target given its source; see `read_targets`."""
    return read_targets(token_search, sources, targets, search, lambda given: given.log_p)


def attend(
    token_search: TokenSearch,
    sources: TokenRows,
    targets: TokenRows,
    search: SearchConfig,
    layers: LayerChoice = alignment_layers,
) -> list[Tensor]:
    """Return how much each token of targets attends to each token of their sources, [T, S]; see `read_targets`."""
    return read_targets(
        token_search, sources, targets, search, lambda given: given.weights, is_scored=False, layers=layers
    )  # fmt: skip


def read_targets(
    token_search: TokenSearch,
    sources: TokenRows,
    targets: TokenRows,
    search: SearchConfig,
    measure: Callable[[GivenTarget], ResultT],
    *,
    is_scored: bool = True,
    layers: LayerChoice | None = None,
) -> list[ResultT]:
    """Apply a function to what the model makes of each target, and return its results, which alone are kept.

    If a decoder has no layers, every source token gets the same weight.

    Args:
        token_search: Of the model.
        sources: Token ids, ``</s>`` last.
        targets: Token ids, ``</s>`` last.
        search: Gives the precision and the size of a batch.
        measure: Takes what the model makes of a target.
        is_scored: Whether the probabilities of the tokens are wanted.
        layers: Those of each model whose attention is wanted; None: none is.

    Raises:
        HeadwayError: If a probability is not finite.
    """
    engine, configs = token_search.engine(search.precision), [m.config for m in token_search.models]
    watched = layers if layers and all(map(layers, configs)) else None

    def read(sources: TokenRows, targets: TokenRows) -> list[ResultT]:
        found = engine.read(sources, targets, is_scored=is_scored, layers=watched)
        for given in found:
            check_finite(given.log_p)
        if layers and not watched:
            found = [
                given._replace(weights=torch.full((len(target), len(source)), 1 / len(source)))
                for given, source, target in zip(found, sources, targets, strict=True)
            ]
        return [measure(given) for given in found]

    most = search.batch_tokens
    if isinstance(engine, FixedEngine):
        weights = configs[0].num_heads * max(map(len, sources), default=0) if watched else 0
        most = max(most, GPU_NUMBERS // max(configs[0].target_vocab_size, weights))
    return read_in_batches(read, sources, targets, most, parallel=engine.is_parallel)


def read_in_batches(
    read: Callable[[TokenRows, TokenRows], list[ResultT]],
    sources: TokenRows,
    targets: TokenRows,
    batch_tokens: int,
    *,
    parallel: bool = False,
) -> list[ResultT]:
    """Return what a function of sources and targets returns, which gets pairs of similar length.

    Args:
        read: Returns a result for each pair.
        sources: Token ids, ``</s>`` last.
        targets: Token ids, ``</s>`` last.
        batch_tokens: Of a batch, padding included.
        parallel: Whether batches run on all threads.
    """

    @torch.inference_mode()
    def read_rows(rows: list[int]) -> list[ResultT]:
        return read([sources[i] for i in rows], [targets[i] for i in rows])

    lengths = [max(len(s), len(t)) for s, t in zip(sources, targets, strict=True)]
    return run_in_batches(read_rows, lengths, batch_tokens, parallel=parallel)
