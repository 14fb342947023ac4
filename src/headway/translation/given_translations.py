"""Reading translations that are given: the probabilities of their tokens, and the attention of the model.

Native code reads them step by step, as it would write them, so that no result depends on other translations.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import torch

from headway.config import SearchConfig
from headway.translation.batching import run_in_batches
from headway.translation.engines import join_engines
from headway.translation.engines.plain_engine import PlainEngine
from headway.translation.engines.protocols import GivenTarget, LayerChoice
from headway.translation.search.beam_search import check_finite

if TYPE_CHECKING:
    from headway.translation.token_search import TokenSearch

ResultT = TypeVar("ResultT")
TokenRows = Sequence[Sequence[int]]  # token ids of several texts, ``</s>`` last


def read_targets(
    token_search: "TokenSearch",
    sources: TokenRows,
    targets: TokenRows,
    search: SearchConfig,
    measures: Sequence[Callable[[GivenTarget], ResultT]],
    *,
    is_scored: bool = True,
    is_exact: bool = False,
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
        is_exact: Whether they are those of forward passes in fp32, by the model itself.
        layers: Those of each model whose attention is wanted; None: none is.

    Raises:
        HeadwayError: If a probability is not finite.
    """
    configs = [model.config for model in token_search.models]
    if is_exact:
        plain = [PlainEngine(model) for model in token_search.models]
        engine = join_engines(plain, token_search.tokenizer.target_pad, plain[0].device)
    else:
        engine = token_search.engine(search.precision)
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
    lengths = [max(len(s), len(t)) for s, t in zip(sources, targets, strict=True)]
    return run_in_batches(read_rows, lengths, most, parallel=engine.is_parallel)
