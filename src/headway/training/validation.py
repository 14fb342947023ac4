"""The scores of a model on text it was not trained on: perplexity, and BLEU and chrF.

Ranks share the work. Their results are put together in the order of the text, so the scores do not
depend on the number of ranks.
"""

import math
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import torch

from headway.config import SearchConfig
from headway.evaluation.metrics import LineStatistics, pick_metrics
from headway.model import Network, Transformer
from headway.text.batches import plan_batches, read_batch
from headway.text.languages import Languages, name_pair
from headway.text.prepared import PreparedData
from headway.training import parallel
from headway.training.steps.objective import Objective
from headway.translation import Translator

GROUP = 64  # sentences that a rank translates between two reports of progress; more on a GPU


@dataclass(frozen=True, kw_only=True)
class ProgressReport:
    """How many of the sentences of a longer work are done.

    Attributes:
        doing: The work, such as "validating", which scores all sentences and then translates them.
        done: Sentences so far.
        of: All sentences.
    """

    doing: str = "validating"
    done: int
    of: int


@dataclass(frozen=True, kw_only=True)
class ValidationReport:
    """The scores of a model on the validation set.

    Attributes:
        step: Of the model, or of the last checkpoint that it averages.
        averaged: How many checkpoints the model averages; 1: it is a single checkpoint.
        perplexity: e to the mean negative log-likelihood of a target token, without smoothing.
        bleu: sacreBLEU of raw text, 0 to 100; 0 unless the model is a translator.
        chrf: chrF2, 0 to 100; 0 unless the model is a translator.
        accuracy: Percentage of correct labels; 0 unless the model is a classifier.
        bleu_of_pairs: For a model of several pairs of languages, the BLEU of each, such as "en-de"; then
            ``bleu`` and ``chrf`` are means over the pairs.
    """

    step: int
    averaged: int
    perplexity: float
    bleu: float
    chrf: float
    accuracy: float = 0.0
    bleu_of_pairs: dict[str, float] = field(default_factory=dict)

    @property
    def headline(self) -> str:
        """The score by which models are chosen, in words."""
        if self.accuracy:
            return f"accuracy {self.accuracy:.2f} %"
        return f"BLEU {self.bleu:.2f}" if self.bleu else f"perplexity {self.perplexity:.3f}"

    def is_better_than(self, other: "ValidationReport | None") -> bool:
        """Whether BLEU or accuracy is higher or, if they are equal, perplexity is lower."""
        own = (self.bleu, self.accuracy, -self.perplexity)
        return other is None or own > (other.bleu, other.accuracy, -other.perplexity)


def validate(
    model: Network,
    data: PreparedData,
    search: SearchConfig,
    *,
    batch_tokens: int,
    sentences: int = 0,
    step: int = 0,
    averaged: int = 1,
) -> Generator[ProgressReport, None, ValidationReport]:
    """Score a model on the validation set; torch's random generators are as before at the end.

    Args:
        model: On its device.
        data: Its tokenizer and validation set.
        search: The settings that sentences are translated with.
        batch_tokens: Padded tokens of a batch, for the perplexity.
        sentences: Translate only the first so many sentences of each pair of languages; 0: all.
        step: Of the model, for the report.
        averaged: How many checkpoints the model averages, for the report.

    Yields:
        Progress, after every few sentences and in each rank equally often: callers that stop then
        need not wait for the whole validation.

    Raises:
        HeadwayError: If a line is longer than the model has learned positions for.
    """
    device = next(model.parameters()).device
    model.eval()
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        perplexity, accuracy = yield from _predict(model, data, batch_tokens)
        bleu = chrf = 0.0
        found: dict[str, tuple[float, float]] = {}
        if isinstance(model, Transformer):
            translator = Translator(
                model, data.tokenizer, search, str(device), data.languages, pairs=data.pairs
            )
            texts = list(list_texts(data, sentences))
            done, whole = 0, sum(len(text.sources) for text in texts)
            for text in texts:
                source, target = text.languages
                own = translator.to(target, source) if data.has_symbols else translator
                found[name_pair(text.languages)] = yield from _translate(own, text, done, whole)
                done += len(text.sources)
            bleu, chrf = (sum(column) / len(found) for column in zip(*found.values(), strict=True))
    return ValidationReport(
        step=step,
        averaged=averaged,
        perplexity=perplexity,
        bleu=bleu,
        chrf=chrf,
        accuracy=accuracy,
        bleu_of_pairs={name: scores[0] for name, scores in found.items()}
        if data.has_symbols
        else {},
    )


class ValidationText(NamedTuple):
    """The raw validation text of a pair of languages."""

    languages: Languages
    sources: list[str]
    references: list[str]


def list_texts(data: PreparedData, sentences: int) -> Iterator[ValidationText]:
    """Yield the validation text of each pair of languages.

    Args:
        data: The prepared data.
        sentences: The most sentences of a pair; 0: all.
    """
    start = 0
    for group in data.groups:
        end = start + group.validation_pairs
        chosen = slice(start, min(end, start + sentences) if sentences else end)
        yield ValidationText(group.languages, data.valid_source[chosen], data.valid_target[chosen])
        start = end


def _translate(
    translator: Translator, text: ValidationText, before: int, whole: int
) -> Generator[ProgressReport, None, tuple[float, float]]:
    """Return BLEU and chrF2 of the translations of a text.

    Args:
        translator: Of the text's languages.
        text: The text.
        before: Sentences of other texts that are translated already.
        whole: Sentences of all texts.
    """
    # Sentences of similar length share a batch; translations do not depend on the batch.
    order = sorted(range(len(text.sources)), key=lambda row: len(text.sources[row]))
    own_rows, translations = [], []
    group, _ = translator.token_search.batch_limits(translator.default_search, GROUP)
    for done in range(0, len(order), group * parallel.world_size()):
        yield ProgressReport(done=before + done, of=whole)
        start = done + group * parallel.rank()
        rows = order[start : start + group]
        translations += translator.translate([text.sources[row] for row in rows])
        own_rows += rows
    # A rank without lines computes statistics, too: it must know how many a line has.
    own_references = [text.references[row] for row in own_rows or [0]]
    bleu, chrf = (
        _total(
            metric.statistics(translations or [""], own_references, text.languages[1]),
            own_rows,
            len(text.sources),
        )
        for metric in pick_metrics(["bleu", "chrf"])
    )
    return bleu, chrf


def _total(own: LineStatistics, rows: list[int], lines: int) -> float:
    """Return the score of all lines, of which this rank has the statistics of some.

    Args:
        own: The statistics of this rank's lines.
        rows: The numbers of these lines.
        lines: How many lines there are.
    """
    counts = np.zeros((lines, own.counts.shape[1]))
    counts[rows] = own.counts[: len(rows)]
    return replace(own, counts=parallel.sum_disjoint(torch.from_numpy(counts)).numpy()).total()


def _predict(
    model: Network, data: PreparedData, batch_tokens: int
) -> Generator[ProgressReport, None, tuple[float, float]]:
    """Return the perplexity of the target tokens, and a classifier's percentage of correct labels."""
    objective = Objective(model, smoothing=0.0)
    corpus, tokenizer = data.valid, data.tokenizer
    device = next(model.parameters()).device
    # Validation pairs are never dropped, so they may be longer than all training pairs.
    longest = int(max(corpus.source_lengths.max(), corpus.target_lengths.max()))
    budget = max(batch_tokens, longest)
    plan = plan_batches(corpus.source_lengths, corpus.target_lengths, budget, 0, 0)
    found = torch.zeros(len(plan), 2, dtype=torch.float64)  # nll and right labels of each batch
    done = 0
    for start in range(0, len(plan), parallel.world_size()):
        yield ProgressReport(done=done, of=len(corpus))
        group = plan[start : start + parallel.world_size()]
        done += sum(map(len, group))
        if parallel.rank() >= len(group):
            continue
        rows = group[parallel.rank()]
        batch = read_batch(corpus, rows, tokenizer.source_pad, tokenizer.target_pad).to(device)
        with torch.no_grad():
            own = found[start + parallel.rank()]
            own[0] = objective(batch).nll
            if model.has_labels:
                predicted = model(batch.source, batch.source_segments).argmax(1)
                own[1] = (predicted == batch.target[:, 0]).sum()
    # Added up in the order of the batches; a sum by torch would depend on its blocks.
    nll, correct = map(sum, zip(*parallel.sum_disjoint(found).tolist(), strict=True))
    tokens = int(corpus.target_lengths.sum())
    return perplexity_of(nll / tokens), 100 * correct / tokens


def perplexity_of(nll: float) -> float:
    """Return e^nll, or infinity if that is too large for a float."""
    return math.exp(nll) if nll < 700 else math.inf
