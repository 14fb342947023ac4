"""What a model makes of translations that are given: the probabilities of their tokens, and its attention.

The engine of a search reads them step by step, as it would write them, so that no result depends on other translations.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import torch
from torch import Tensor

from headway.config import SearchConfig
from headway.inference.alignment import LayerChoice, alignment_layers
from headway.inference.batching import run_in_batches
from headway.inference.engines.fixed_engine import FixedEngine
from headway.inference.scoring import (
    LogProbabilities,
    add_up,
    log_probabilities_by_passes,
    log_probabilities_by_steps,
)
from headway.inference.token_search import TokenSearch

ResultT = TypeVar("ResultT")
TokenRows = Sequence[Sequence[int]]  # token ids of several texts, ``</s>`` last
GPU_LOGITS = 1 << 27  # of a batch on a GPU: 0.5 GB in fp32


def score_targets(
    token_search: TokenSearch, sources: TokenRows, targets: TokenRows, search: SearchConfig
) -> list[float]:
    """Return the natural log-probability of each target given its source; see `log_probabilities`."""
    return add_up(log_probabilities(token_search, sources, targets, search))


def log_probabilities(
    token_search: TokenSearch, sources: TokenRows, targets: TokenRows, search: SearchConfig
) -> list[LogProbabilities]:
    """Return the natural log-probabilities of the tokens of each target given its source.

    A GPU takes about as long for a step as for all positions at once: there they are computed by forward passes, in
    fp32.

    Args:
        token_search: Of the model.
        sources: Token ids, ``</s>`` last.
        targets: Token ids, ``</s>`` last.
        search: Gives the precision and the size of a batch.
    """
    engine, tokenizer = token_search.engine(search.precision), token_search.tokenizer
    if isinstance(engine, FixedEngine):
        most = max(search.batch_tokens, GPU_LOGITS // tokenizer.target_vocab_size)
        return log_probabilities_by_passes(token_search.models, tokenizer, sources, targets, most)

    def read_rows(sources: TokenRows, targets: TokenRows) -> list[LogProbabilities]:
        decoding = engine.start(sources, 1, max(map(len, targets)))
        return log_probabilities_by_steps(decoding, targets, tokenizer.target_pad)

    return _read_pairs(token_search, read_rows, sources, targets, search)


def attend(
    token_search: TokenSearch,
    sources: TokenRows,
    targets: TokenRows,
    search: SearchConfig,
    layers: LayerChoice = alignment_layers,
) -> list[Tensor]:
    """Return how much each token of targets attends to each token of their sources, [T, S]; see `Engine.attend`.

    If the decoder has no layers, every source token gets the same weight.

    Args:
        token_search: Of the model.
        sources: Token ids, ``</s>`` last.
        targets: Token ids, ``</s>`` last.
        search: Gives the precision and the size of a batch.
        layers: Those of each model whose weights are averaged.
    """
    return measure_attention(
        token_search, sources, targets, search, lambda weights_TS: weights_TS, layers
    )


def measure_attention(
    token_search: TokenSearch,
    sources: TokenRows,
    targets: TokenRows,
    search: SearchConfig,
    measure: Callable[[Tensor], ResultT],
    layers: LayerChoice = alignment_layers,
) -> list[ResultT]:
    """Return for each pair what a function makes of the weights of `attend`, of which only those of a batch are kept.

    Args:
        token_search: Of the model.
        sources: Token ids, ``</s>`` last.
        targets: Token ids, ``</s>`` last.
        search: Gives the precision and the size of a batch.
        measure: Takes the weights of a pair, [T, S].
        layers: Those of each model whose weights are averaged.
    """
    has_layers = all(layers(each.config) for each in token_search.models)

    def read_rows(sources: TokenRows, targets: TokenRows) -> list[ResultT]:
        if not has_layers:
            pairs = zip(sources, targets, strict=True)
            return [measure(torch.full((len(t), len(s)), 1 / len(s))) for s, t in pairs]
        engine = token_search.engine(search.precision)
        return [measure(weights_TS) for weights_TS in engine.attend(sources, targets, layers)]

    return _read_pairs(token_search, read_rows, sources, targets, search)


def _read_pairs(
    token_search: TokenSearch,
    read: Callable[[TokenRows, TokenRows], list[ResultT]],
    sources: TokenRows,
    targets: TokenRows,
    search: SearchConfig,
) -> list[ResultT]:
    """Return what a function of sources and targets returns, in batches, on all threads."""

    @torch.inference_mode()
    def read_rows(rows: list[int]) -> list[ResultT]:
        return read([sources[i] for i in rows], [targets[i] for i in rows])

    lengths = [max(len(s), len(t)) for s, t in zip(sources, targets, strict=True)]
    is_parallel = token_search.engine(search.precision).is_parallel
    return run_in_batches(read_rows, lengths, search.batch_tokens, parallel=is_parallel)
