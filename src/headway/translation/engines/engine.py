"""Engines, which run the steps of a model for a search: native code, or the model itself.

An engine starts a `Decoding` for a batch of token ids. The native engine runs attention models on a
CPU, and the fixed engine on a GPU, where it also does the whole beam search. The plain engine runs
every model on every device; the others must give the same results.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import torch

from headway.devices import has_bf16
from headway.errors import HeadwayError
from headway.extension import load_for_device
from headway.model import Transformer
from headway.translation.scoring import GivenTarget, LayerChoice
from headway.translation.search.beam_search import Candidates, Decoding, Drawing, Hypothesis, Ids


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

    is_parallel: bool  # whether several batches may run at once, each on its own thread

    @property
    def search(self) -> Search | None:
        """A beam search of the engine's own, which knows no constraints; None: `beam_search` is used."""

    @property
    def join(self) -> Join | None:
        """What an ensemble of such engines makes of their hypotheses; None: a `StepDecoding`."""

    def batch_limits(self, tokens: int, extra: int) -> tuple[int, int]:
        """Return how many tokens a batch of a search may have, and how many each source counts besides its own.

        Args:
            tokens: Of a batch on a processor.
            extra: How many tokens a translation may have besides those of its source.
        """

    def read_limit(self, tokens: int, numbers: int) -> int:
        """Return how many tokens a batch of given targets may have.

        Args:
            tokens: Of a batch on a processor.
            numbers: That the model computes for each token.
        """

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


def make_engine(model: Transformer, precision: str = "auto") -> Engine:
    """Return the fastest engine that can run a model.

    Args:
        model: In fp32 and evaluation mode, on its device. Its weights are copied, but for a `PlainEngine` in fp32.
        precision: auto, fp32, bf16, fp16 or int8.

    Raises:
        HeadwayError: If the device of the model does not have the precision.
    """
    device = model.source_embedding.weight.device
    precision = resolve_precision(precision, device)
    make = load_for_device("engines", device.type)
    engine: Engine | None = make(model, precision) if make else None
    if engine is None:
        from headway.translation.engines.plain_engine import PlainEngine

        engine = PlainEngine(model, precision)
    return engine


def join_engines(engines: "Sequence[Engine]", pad: int, device: torch.device) -> Engine:
    """Return the engine of one model, or of several together; see `EnsembleEngine`."""
    if len(engines) == 1:
        return engines[0]
    from headway.translation.engines.ensemble import EnsembleEngine

    return EnsembleEngine(engines, pad, device)


def resolve_precision(name: str, device: torch.device) -> str:
    """Return fp32, bf16, fp16 or int8: auto is bf16 on a GPU and fp32 elsewhere.

    Raises:
        HeadwayError: If the device does not have the precision.
    """
    if name == "auto":
        return "bf16" if device.type == "cuda" else "fp32"
    if name == "int8" and device.type == "cuda":
        raise HeadwayError("search.precision = 'int8' is for CPUs; use bf16 on a GPU")
    if name == "fp16" and device.type == "cpu":
        raise HeadwayError("search.precision = 'fp16' is for GPUs; use fp32, bf16 or int8 on a CPU")
    if name == "bf16" and device.type == "cpu" and not has_bf16(device):
        raise HeadwayError(
            "search.precision = 'bf16': this processor has no bf16 instructions; use fp32 or int8"
        )
    return name
