"""What a model is worth on text it was not trained on: perplexity, and scores of translations."""

import math
from collections.abc import Generator
from dataclasses import dataclass

import torch

from headway.config import SearchConfig
from headway.evaluation.measures import pick_measures
from headway.inference import Translator
from headway.model import Classifier, Network, Transformer
from headway.text.batches import make_batch, plan_batches
from headway.text.prepare import PreparedData
from headway.training.objective import Objective

AT_ONCE = 64  # sentences between two reports of progress


@dataclass(frozen=True, kw_only=True)
class Progress:
    """So many of the validation sentences are translated."""

    done: int
    of: int


@dataclass(frozen=True, kw_only=True)
class ValidationReport:
    """The scores of a model on the validation set.

    Attributes:
        step: Of the model, or of the last of those it averages.
        averaged: How many checkpoints the model averages; 1: it is one.
        perplexity: e to the mean negative log-likelihood of a target token, without smoothing.
        bleu: sacreBLEU of raw text, 0 to 100.
        chrf: chrF2, 0 to 100.
        accuracy: Share of right labels, 0 to 100. Of the three, a translator has the first two, a
            classifier this, and a language model none: they are 0.
    """

    step: int
    averaged: int
    perplexity: float
    bleu: float
    chrf: float
    accuracy: float = 0.0

    @property
    def worth(self) -> str:
        """What it is chosen by, in words."""
        if self.accuracy:
            return f"accuracy {self.accuracy:.2f} %"
        return f"BLEU {self.bleu:.2f}" if self.bleu else f"perplexity {self.perplexity:.3f}"

    def better_than(self, other: "ValidationReport | None") -> bool:
        """Whether BLEU or accuracy, or at equal ones perplexity, is better."""
        mine = (self.bleu, self.accuracy, -self.perplexity)
        return other is None or mine > (other.bleu, other.accuracy, -other.perplexity)


def validate(
    model: Network,
    data: PreparedData,
    search: SearchConfig,
    *,
    batch_tokens: int,
    sentences: int = 0,
) -> Generator[Progress, None, tuple[float, float, float, float]]:
    """Measure a model; training's random numbers are as before when this ends, early or not.

    Args:
        model: On its device.
        data: Its tokenizer and validation set.
        search: How sentences are translated.
        batch_tokens: Padded tokens a batch, for the perplexity.
        sentences: How many are translated, the first ones; 0: all.

    Yields:
        Progress, now and then.

    Returns:
        Perplexity, BLEU, chrF2 and accuracy, as `ValidationReport` has them.
    """
    device = next(model.parameters()).device
    model.eval()
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        perplexity, accuracy = _predict(model, data, batch_tokens)
        if not isinstance(model, Transformer):
            return perplexity, 0.0, 0.0, accuracy
        chosen = slice(sentences or None)
        sources, references = data.valid_source[chosen], data.valid_target[chosen]
        translator = Translator(model, data.tokenizer, search, str(device), data.languages)
        translations = [""] * len(sources)
        # Neighbours in length share a batch; a sentence's translation does not depend on it.
        order = sorted(range(len(sources)), key=lambda row: len(sources[row]))
        for done in range(0, len(order), AT_ONCE):
            yield Progress(done=done, of=len(order))
            rows = order[done : done + AT_ONCE]
            texts = translator.translate([sources[row] for row in rows])
            for row, text in zip(rows, texts, strict=True):
                translations[row] = text
    bleu, chrf = (
        measure.segments(translations, references, data.languages[1]).total()
        for measure in pick_measures(["bleu", "chrf"])
    )
    return perplexity, bleu, chrf, 0.0


def _predict(model: Network, data: PreparedData, batch_tokens: int) -> tuple[float, float]:
    """Return the perplexity of all labels, and of a classifier the share of right ones."""
    objective = Objective(model, smoothing=0.0)
    corpus, tokenizer = data.valid, data.tokenizer
    device = next(model.parameters()).device
    nll, tokens, right = 0.0, 0, 0
    # A validation pair may be longer than any in training: it is never dropped.
    longest = int(max(corpus.source_lengths.max(), corpus.target_lengths.max()))
    budget = max(batch_tokens, longest)
    plan = plan_batches(corpus.source_lengths, corpus.target_lengths, budget, 0, 0)
    with torch.no_grad():
        for rows in plan:
            batch = make_batch(corpus, rows, tokenizer.source_pad, tokenizer.target_pad).to(device)
            nll += objective(batch).nll.item()
            tokens += batch.target_tokens
            if isinstance(model, Classifier):
                found = model(batch.source, batch.source_segments).argmax(1)
                right += int((found == batch.target[:, 0]).sum())
    return perplexity_of(nll / tokens), 100 * right / tokens


def perplexity_of(nll: float) -> float:
    """Return e^nll, or infinity where that is too large a number."""
    return math.exp(nll) if nll < 700 else math.inf
