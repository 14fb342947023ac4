"""Measure the translation speed of a model with random weights and forced lengths."""

from functools import partial

import torch

from headway.config import Config, SearchConfig
from headway.ext.bench.bench_results import Cells, Measured, Speed
from headway.ext.bench.flop import search_flop
from headway.ext.bench.synthetic import draw_lengths, draw_sentences
from headway.ext.bench.timing import time_in_turns
from headway.model import Transformer, parameter_count
from headway.text import EOS
from headway.training import peak_memory
from headway.translation import make_engine, resolve_precision, search_engine

# Sentences are drawn from this many, so that the batches are short, medium and long ones.
DRAWN_SENTENCES = 1000
MAX_LENGTH = 200  # tokens of a side


def measure_translation(
    config: Config, device: torch.device, text: str, cells: Cells, repeats: int
) -> Measured:
    """Measure translations from source ids to target ids, with forced lengths.

    The model never predicts ``</s>`` (see `make_endless`), so every hypothesis runs to its limit.

    Args:
        config: Settings of the model, the vocabulary size and the search.
        device: Where to compute; the caller has configured the process for it.
        text: Key of `headway.ext.bench.synthetic.TEXTS`.
        cells: Pairs of batch size and beam.
        repeats: How often the same translations are repeated; the cells take turns.
    """
    shape = config.largest_model()
    model = make_endless(Transformer(shape)).to(device).eval()
    precision = resolve_precision(config.search.precision, device)
    engine = make_engine(model, precision)
    works = [draw_batches(text, batch, shape.target_vocab_size) for batch, _ in cells]

    @torch.inference_mode()
    def translate(work: list[tuple[list[list[int]], list[int]]], beam: int) -> None:
        for sources, limits in work:
            search = SearchConfig(beam=beam, alpha=config.search.alpha)
            pad = shape.target_vocab_size - 1
            found = search_engine(engine, sources, limits, search, eos=EOS, pad=pad)
            assert [len(best.tokens) for [best] in found] == limits, "a forced length was not kept"

    warm_ups = 2 if device.type == "cuda" else 1  # a GPU's steps are recorded in the second turn
    calls = [partial(translate, work, beam) for work, (_, beam) in zip(works, cells, strict=True)]
    times = time_in_turns(calls, device, repeats, warm_ups)
    speeds = []
    for (batch, beam), work, took in zip(cells, works, times, strict=True):
        lengths = [len(source) for sources, _ in work for source in sources]
        limits = [limit for _, batch_limits in work for limit in batch_limits]
        speeds.append(
            Speed(
                tokens=sum(limits),
                seconds=took,
                flop=search_flop(shape, lengths, limits, beam),
                facts={"batch": batch, "beam": beam, "sentences": len(lengths)},
            )
        )
    return Measured(speeds, precision, parameter_count(model), peak_memory(device))


@torch.no_grad()
def make_endless(model: Transformer) -> Transformer:
    """Change a model with random weights so that it never predicts ``</s>``, and return it.

    The embedding of ``</s>`` becomes zero, and so does its logit. Among thousands of random logits it
    is never one of the largest.
    """
    weights = (model.source_embedding.weight, model.target_table.weight, model.output.weight)
    for weight in weights:
        if weight is not None:
            weight[EOS] = 0
    return model


def draw_batches(text: str, size: int, vocab_size: int) -> list[tuple[list[list[int]], list[int]]]:
    """Draw batches of short, medium and long sentences, each with the lengths of its translations."""
    lengths, limits = draw_lengths(text, DRAWN_SENTENCES, MAX_LENGTH, seed=1)
    order = lengths.argsort(kind="stable")
    count = max(3, 12 // size)
    batches = []
    for index in range(count):
        middle = (2 * index + 1) * DRAWN_SENTENCES // (2 * count)
        start = max(0, min(middle - size // 2, DRAWN_SENTENCES - size))
        rows = order[start : start + size]
        sources = list(draw_sentences(lengths[rows], vocab_size, seed=index))
        batches.append((sources, limits[rows].tolist()))
    return batches
