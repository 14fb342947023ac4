"""Translation speed of a model's shape on this machine, with random weights and forced lengths."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from headway.checks.bench import Bench, Spread, processor_name, shape_of
from headway.checks.products import matrix_rate, search_flop, synchronize
from headway.checks.synthetic import draw_lengths, draw_sentences
from headway.config import Config
from headway.inference import Engine, Hypothesis, beam_search, make_engine
from headway.inference.engine import resolve_precision
from headway.model import Transformer, parameter_count
from headway.text.vocabulary import EOS
from headway.training.machine import Machine, peak_memory

DRAWN = 1000  # sentences; a repeat translates a few batches of them
LONGEST = 200  # tokens of a side


@dataclass(frozen=True, kw_only=True)
class TranslationRow:
    """Translation speed, whole translations: encoding and search, ids to ids.

    Attributes:
        batch: Sentences at once.
        beam: Hypotheses a sentence; 1 is greedy.
        sentences: Of a repeat.
        tokens: Tokens of their translations, ``</s>`` included.
        seconds: Of a repeat.
        sentences_per_second: Of those.
        tokens_per_second: Of those.
        flop: `search_flop` of a repeat.
    """

    batch: int
    beam: int
    sentences: int
    tokens: int
    seconds: Spread
    sentences_per_second: Spread
    tokens_per_second: Spread
    flop: int


def bench_translation(
    config: Config, text: str, cells: Sequence[tuple[int, int]], *, repeats: int = 5
) -> Bench:
    """Measure whole translations, ids to ids, of lengths that are forced.

    The row of ``</s>`` in the embedding is zero, hence its logit too: among thousands of random ones
    it is never one of the likeliest, and every hypothesis runs to its limit, where it must end.

    Args:
        config: Its model's shape, vocabulary size and search count.
        text: What the sentences' lengths are like.
        cells: Pairs of batch size and beam.
        repeats: Of the same translations; the cells take turns.
    """
    machine = Machine.resolve(config.training)
    device = machine.torch_device
    shape = shape_of(config)
    torch.manual_seed(config.training.seed)
    model = endless(Transformer(shape)).to(device).eval()
    precision = resolve_precision(config.search.precision, device)
    engine = make_engine(model, precision)
    works = [_batches(text, batch, shape.target_vocab_size) for batch, _ in cells]

    def translate(cell: int) -> float:
        synchronize(device)
        start = time.perf_counter()
        for sources, limits in works[cell]:
            found = translate_ids(
                engine,
                sources,
                limits,
                beam=cells[cell][1],
                alpha=config.search.alpha,
                pad=shape.target_vocab_size - 1,
            )
            assert [len(best.tokens) for [best] in found] == limits, "a forced length was not kept"
        synchronize(device)
        return time.perf_counter() - start

    times: list[list[float]] = [[] for _ in cells]
    for turn in range(repeats + 1):
        for cell in range(len(cells)):
            seconds = translate(cell)
            if turn:  # the first warms up
                times[cell].append(seconds)
    memory = peak_memory(str(device))
    rows = []
    for (batch, beam), work, took in zip(cells, works, times, strict=True):
        lengths = [len(source) for sources, _ in work for source in sources]
        limits = [limit for _, batch_limits in work for limit in batch_limits]
        rows.append(
            TranslationRow(
                batch=batch,
                beam=beam,
                sentences=len(lengths),
                tokens=sum(limits),
                seconds=Spread.of(took),
                sentences_per_second=Spread.of([len(lengths) / t for t in took]),
                tokens_per_second=Spread.of([sum(limits) / t for t in took]),
                flop=search_flop(shape, lengths, limits, beam),
            )
        )
    return Bench(
        work="translate",
        settings=config,
        processor=processor_name(device),
        device=str(device),
        precision=precision,
        threads=torch.get_num_threads(),
        text=text,
        repeats=repeats,
        parameters=parameter_count(model),
        matrix_rate=matrix_rate(device, precision),
        peak_memory=memory,
        rows=rows,
    )


@torch.no_grad()
def endless(model: Transformer) -> Transformer:
    """Make a model of random weights never end a translation by itself; returns it."""
    weights = (model.source_embedding.weight, model.target_table.weight, model.output.weight)
    for weight in weights:
        if weight is not None:
            weight[EOS] = 0
    return model


def _batches(text: str, size: int, vocab_size: int) -> list[tuple[list[list[int]], list[int]]]:
    """Draw sentences and their limits; return a few batches, of short, middling and long ones."""
    lengths, limits = draw_lengths(text, DRAWN, LONGEST, seed=1)
    order = lengths.argsort(kind="stable")
    count = max(3, 12 // size)
    found = []
    for part in range(count):
        middle = (2 * part + 1) * DRAWN // (2 * count)
        start = max(0, min(middle - size // 2, DRAWN - size))
        rows = order[start : start + size]
        sources = [s.tolist() for s in draw_sentences(lengths[rows], vocab_size, seed=part)]
        found.append((sources, limits[rows].tolist()))
    return found


@torch.inference_mode()
def translate_ids(
    engine: Engine,
    sources: Sequence[Sequence[int]],
    limits: Sequence[int],
    *,
    beam: int,
    alpha: float,
    pad: int,
) -> list[list[Hypothesis]]:
    """Translate one batch as `Translator` does, encoding and search, from ids to ids.

    Args:
        engine: The model, ready to translate.
        sources: Ids, each with ``</s>``.
        limits: For each its longest translation, ``</s>`` included.
        beam: Hypotheses a sentence; 1 is greedy.
        alpha: Of the length penalty.
        pad: Id of ``<pad>`` on the target side.
    """
    started = engine.start(sources, beam, max(limits))
    return beam_search(started, limits, beam=beam, alpha=alpha, eos=EOS, pad=pad)
