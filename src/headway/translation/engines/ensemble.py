"""An ensemble: several models that choose each token together.

The probability of a token is the mean of the models' probabilities, as in fairseq. Marian adds
log-probabilities instead. The mean of probabilities is a distribution again, so that scores stay
log-probabilities, and a model that finds a token impossible cannot forbid it to the others.

Shapes: N hypotheses, V vocabulary.
"""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from headway.errors import UsageError
from headway.translation.directory import Model, load_model
from headway.translation.engines.protocols import (
    Engine,
    GivenTarget,
    Hypotheses,
    LayerChoice,
    average_logits,
)
from headway.translation.engines.step_decoding import StepDecoding
from headway.translation.search.beam_search import Ids


class EnsembleEngine(Engine):
    """Runs several engines side by side; they read the same tokens.

    Args:
        engines: Of models with the same vocabularies, on one device.
        pad: Id of ``<pad>``.
        device: Of the models.
    """

    def __init__(self, engines: Sequence[Engine], pad: int, device: torch.device) -> None:
        self.engines, self.pad, self.device = list(engines), pad, device
        self.is_parallel = all(engine.is_parallel for engine in engines)
        is_joint = all(engine.join is engines[0].join for engine in engines)
        self._join = engines[0].join if is_joint else None

    def start(
        self,
        sources: Sequence[Sequence[int]],
        beams: int,
        limit: int,
        choices: Sequence[Ids] | None = None,
    ) -> Hypotheses:
        """Start the hypotheses in each engine; see `Engine`."""
        members = [engine.start(sources, beams, limit) for engine in self.engines]
        if self._join is not None and choices is None:
            return self._join(members)
        return StepDecoding(read_tokens, EnsembleState(members), self.pad, self.device, choices)

    def read(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        *,
        is_scored: bool = True,
        layers: LayerChoice | None = None,
    ) -> list[GivenTarget]:
        """Let each model read targets; see `Engine`."""
        of_engines = [
            engine.read(sources, targets, is_scored=is_scored, layers=layers)
            for engine in self.engines
        ]
        return [_average(of_models) for of_models in zip(*of_engines, strict=True)]


class EnsembleState:
    """The same hypotheses in each model."""

    def __init__(self, members: Sequence[Hypotheses]) -> None:
        self.members = members

    def reorder(self, rows: Tensor) -> None:
        """Let hypothesis i continue hypothesis ``rows[i]``."""
        for member in self.members:
            member.reorder(rows.cpu().numpy())

    def keep(self, sentences: Tensor) -> None:
        """Drop the hypotheses of all other sentences."""
        for member in self.members:
            member.keep(sentences.cpu().numpy())


def read_tokens(tokens_N: Tensor, state: EnsembleState) -> Tensor:
    """Let each model read a token of each hypothesis; return the logits of the next tokens, [N, V]."""
    ids = tokens_N.cpu().numpy()
    return average_logits([member.logits(ids) for member in state.members])


def _average(of_models: Sequence[GivenTarget]) -> GivenTarget:
    log_p = np.logaddexp.reduce([each.log_p for each in of_models]) - math.log(len(of_models))
    return GivenTarget(log_p, torch.stack([each.weights for each in of_models]).mean(0))


def load_ensemble(paths: Sequence[str | Path]) -> list[Model]:
    """Read the models of an ensemble; see `load_model`.

    Raises:
        UsageError: If there is none, or the models differ in their vocabularies or languages.
    """
    if not paths:
        raise UsageError("no model: give at least one run or model directory")
    models = [load_model(path) for path in paths]
    first = models[0]
    for model in models[1:]:
        if model.tokenizer.models != first.tokenizer.models:
            raise UsageError(
                f"{model.path}: another vocabulary than {first.path}: models that translate together"
                " need the same one: train them with the same --data or --vocabulary"
            )
        if (model.languages, model.pairs) != (first.languages, first.pairs):
            raise UsageError(
                f"{model.path}: translates from {model.languages[0]} to {model.languages[1]}, but"
                f" {first.path} from {first.languages[0]} to {first.languages[1]}"
            )
    return models
