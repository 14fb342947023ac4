"""Engines, which run the steps of a model for a search: native code, or the model itself.

An engine starts a `Decoding` for a batch of token ids, and reads targets that are given. The native engine runs attention models
on a CPU, and the fixed engine on a GPU, where it also does the whole beam search. The plain engine runs
every model on every device; the others must give the same results.

Shapes: B texts, S source tokens, T target tokens, V vocabulary.
"""

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from headway.config import ModelConfig
from headway.translation.search.beam_search import Candidates, Decoding, Drawing, Hypothesis, Ids

LayerChoice = Callable[[ModelConfig], range]  # the numbers of some layers of a decoder
LogProbabilities = NDArray[np.float64]  # natural, of each token of a text: [T]


class GivenTarget(NamedTuple):
    """What a model makes of a target that is given.

    Attributes:
        log_p: Natural log-probability of each token, [T], in float64; empty if nobody has asked for it.
        weights: How much each token attends to each token of the source, [T, S], in fp32 on the CPU; each row sums
            to 1. Empty if nobody has asked for it.
    """

    log_p: LogProbabilities
    weights: Tensor


class Hypotheses(Decoding, Drawing, Protocol):
    """A `Decoding` that an engine starts; it serves searches, constraints and sampling."""

    def candidates(
        self, tokens: Ids, wanted: int, forced: Ids | None, asked: Ids | None = None
    ) -> Candidates:
        """Read tokens [N] and return the best next tokens; see `Decoding`.

        Args:
            tokens: [N], the last token of each hypothesis.
            wanted: Candidates wanted of each hypothesis.
            forced: [N], the only token that a hypothesis may take, or -1; None: all are free.
            asked: [N, E], tokens whose logits are returned besides, each row ascending; None: none.
        """


class Search(Protocol):
    """The beam search of an engine."""

    def __call__(
        self,
        sources: Sequence[Sequence[int]],
        limits: Sequence[int],
        *,
        beam: int,
        alpha: float,
        n_best: int = 1,
        eos: int,
        prefixes: Sequence[Sequence[int]] | None = None,
        choices: Sequence[Ids] | None = None,
        is_wanted: Callable[[int], bool] | None = None,
    ) -> list[list[Hypothesis]]:
        """Search for the translations of a batch; see `FixedEngine.search`."""


Join = Callable[
    [Sequence[Any]], Hypotheses
]  # the same hypotheses of several models -> those of an ensemble


class Engine(Protocol):
    """A model that is ready to translate."""

    # Whether several batches may run at once, each on its own thread.
    is_parallel: bool = False
    # A beam search of the engine's own, which knows no constraints; None: `beam_search` is used.
    search: Search | None = None
    # What an ensemble of such engines makes of their hypotheses; None: a `StepDecoding`.
    join: Join | None = None

    def batch_limits(self, tokens: int, extra: int) -> tuple[int, int]:
        """Return how many tokens a batch of a search may have, and how many each source counts besides its own.

        Args:
            tokens: Of a batch on a processor.
            extra: How many tokens a translation may have besides those of its source.
        """
        return tokens, 0

    def read_limit(self, tokens: int, numbers: int) -> int:
        """Return how many tokens a batch of given targets may have.

        Args:
            tokens: Of a batch on a processor.
            numbers: That the model computes for each token.
        """
        return tokens

    def start(
        self,
        sources: Sequence[Sequence[int]],
        beams: int,
        limit: int,
        choices: Sequence[Ids] | None = None,
    ) -> Hypotheses:
        """Encode sentences and start the hypotheses of their translations.

        Args:
            sources: Token ids of the sentences.
            beams: Hypotheses for each sentence.
            limit: Tokens of the longest hypothesis.
            choices: For each sentence the tokens that a search may choose, ascending, ``<pad>`` and
                ``</s>`` included; None: all tokens.
        """

    def read(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        *,
        is_scored: bool = True,
        layers: LayerChoice | None = None,
    ) -> list[GivenTarget]:
        """Read targets that are given; a GPU does so in fp32, in whatever precision it searches.

        Probabilities and attention weights of several models are averaged.

        Args:
            sources: Token ids, ``</s>`` last.
            targets: Token ids, ``</s>`` last.
            is_scored: Whether the probabilities of the tokens are wanted.
            layers: Chooses layers of each model's decoder, at least one; attention is averaged over all their heads.
                None: no attention is wanted.
        """


def add_log_p(given: GivenTarget) -> float:
    """Return the log-probability of a target: the sum over its tokens, from the first to the last."""
    total: float = sum(given.log_p.tolist())
    return total


def take_log_probabilities(logits_BTV: Tensor, tokens_BT: Tensor) -> Tensor:
    """Return the natural log-probability of each token in float64, [B, T].

    Args:
        logits_BTV: Logits of each token.
        tokens_BT: The tokens.
    """
    log_p_BTV = logits_BTV.float().log_softmax(-1)
    return log_p_BTV.gather(2, tokens_BT[..., None]).squeeze(2).double()


def average_logits(logits: Sequence[Tensor]) -> Tensor:
    """Return the logarithm of the mean of the probabilities of models, [..., V].

    Args:
        logits: Of each model, [..., V]. Those of a single model are returned as they are.
    """
    if len(logits) == 1:
        return logits[0]
    # Sums of two at a time take a fifth of the time of `torch.logsumexp` over stacked tensors.
    log_p = (each.float().log_softmax(-1) for each in logits)
    return reduce(torch.logaddexp, log_p) - math.log(len(logits))
