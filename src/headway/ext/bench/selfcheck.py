"""Relations that every translation model must satisfy, measured on a given model in seconds.

A model with a mask or cache bug can train well and score well on training data, but it breaks one of these
relations.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from headway.config import SearchConfig
from headway.ext.bench.device_check import compare_with_processor
from headway.ext.bench.finding import Finding
from headway.model import Transformer
from headway.translation import Engine, PlainEngine, Translator, resolve_precision

# In fp32, sums in another order differ by about 1e-6 of the largest logit.
TOLERANCE = 1e-4
# Tolerance for engines, as a share of the largest logit. Rounded values may differ by one rounding step.
ENGINE_TOLERANCE = {"fp32": 1e-4, "bf16": 0.03, "fp16": 0.01, "int8": 0.05}


def self_check(translator: Translator, sentences: Sequence[str] = ()) -> Iterator[Finding]:
    """Run all checks on a model; on a GPU, also compare its results with those of the processor.

    Args:
        translator: The model under test.
        sentences: Source sentences to use; random subwords by default.

    Yields:
        The result of each check.
    """
    model = translator.model
    sources = _sources(translator, sentences)
    for name, check in CHECKS.items():
        yield _finding(name, check(model, sources))
    same, total = _alone_equals_batch(translator, sources)
    yield Finding(
        "a sentence alone is translated as in a batch", same == total, f"{same} of {total} the same"
    )
    configured = translator.default_search.precision
    engines = {"fp32": "fp32", resolve_precision(configured, translator.device): configured}
    for precision, name in engines.items():
        engine, reference = translator.token_search.engine(name), PlainEngine(model, precision)
        distance = engine_distance(engine, reference, model, sources)
        yield Finding(
            f"the engine computes the logits of the model, {precision}",
            distance <= ENGINE_TOLERANCE[precision],
            f"largest difference {distance:.1e} of the largest logit",
        )
    if translator.device.type != "cpu":
        yield from compare_with_processor(translator, sources)


@torch.inference_mode()
def future_leak(model: Transformer, sources: list[list[int]]) -> float:
    """Return how far earlier predictions change when the last two target tokens change."""
    source, target = torch.tensor([sources[0]]), torch.tensor([_target(model, 12)])
    changed = target.clone()
    changed[0, -2:] = (changed[0, -2:] + 1) % (model.config.target_vocab_size - 1)
    before, after = _logits(model, source, target), _logits(model, source, changed)
    return _largest(before[:, :-1] - after[:, :-1])


@torch.inference_mode()
def padding_neutrality(model: Transformer, sources: list[list[int]]) -> float:
    """Return how far the predictions change when the source is padded."""
    target = torch.tensor([_target(model, 12)])
    alone = _logits(model, torch.tensor([sources[0]]), target)
    pad = model.config.source_vocab_size - 1
    padded = torch.tensor([sources[0] + [pad] * 9])
    segments = torch.tensor([[1] * len(sources[0]) + [0] * 9])
    return _largest(alone - _logits(model, padded, target, segments))


@torch.inference_mode()
def cache_equals_no_cache(model: Transformer, sources: list[list[int]]) -> float:
    """Return how far the logits of step-by-step decoding differ from those of a full forward pass."""
    device = next(model.parameters()).device
    source = torch.tensor([sources[0]], device=device)
    target = torch.tensor([_target(model, 12)], device=device)
    full = model(source, target)
    state = model.start(model.encode(source))
    token = torch.tensor([model.config.target_vocab_size - 1], device=device)
    worst = 0.0
    for t in range(target.size(1)):
        worst = max(worst, _largest(model.step(token, state) - full[:, t]))
        token = target[:, t]
    return worst


@torch.inference_mode()
def beam_of_one_is_greedy(model: Transformer, sources: list[list[int]]) -> float:
    """Return how far the tokens of a search with beam 1 are below the best logit of their step."""
    from headway.translation import StepDecoding, beam_search

    device = next(model.parameters()).device
    source = torch.tensor([sources[0]], device=device)
    pad, limit = model.config.target_vocab_size - 1, 20
    [[found]] = beam_search(
        StepDecoding(model.step, model.start(model.encode(source)), pad, device),
        [limit],
        beam=1,
        alpha=0.6,
        eos=1,
        pad=pad,
    )
    memory = model.encode(source)
    worst = 0.0
    for t, token in enumerate(found.tokens[: limit - 1]):
        prefix = torch.tensor([found.tokens[: t + 1]], device=device)
        logits = model.logits(model.decode(prefix, memory))[0, t]
        logits[pad] = -torch.inf
        worst = max(worst, float(logits.max() - logits[token]))
    return worst


@torch.inference_mode()
def engine_distance(
    engine: Engine, reference: Engine, model: Transformer, sources: list[list[int]]
) -> float:
    """Compare the logits of two engines on the same tokens.

    Hypotheses are reordered at each step, and one sentence is dropped in the middle.

    Returns:
        The largest difference of the logits, divided by the largest logit.
    """
    beams, steps, pad = 2, 8, model.config.target_vocab_size - 1
    sources, chooser = sources[:4], np.random.default_rng(1)
    both = [e.start(sources, beams, steps) for e in (engine, reference)]
    kept, tokens = np.arange(len(sources)), np.full(len(sources) * beams, pad)
    worst = largest = 0.0
    for step in range(steps):
        ours, theirs = (started.logits(tokens).float().cpu() for started in both)
        worst, largest = max(worst, _largest(ours - theirs)), max(largest, _largest(theirs))
        kept = np.arange(len(kept))
        if step == steps // 2 and len(kept) > 1:
            kept = kept[1:]
            for started in both:
                started.keep(kept)
        rows = (kept[:, None] * beams + chooser.integers(0, beams, (len(kept), beams))).flatten()
        for started in both:
            started.reorder(rows)
        tokens = chooser.integers(2, pad, len(rows))
    return worst / largest


CHECKS: dict[str, Callable[[Transformer, list[list[int]]], float]] = {
    "no prediction depends on a later target token": future_leak,
    "padding changes no prediction": padding_neutrality,
    "step-by-step decoding equals a full forward pass": cache_equals_no_cache,
    "a beam of 1 takes the most probable token": beam_of_one_is_greedy,
}


def _finding(name: str, worst: float) -> Finding:
    return Finding(name, worst <= TOLERANCE, f"largest difference {worst:.1e} in a logit")


def _alone_equals_batch(translator: Translator, sources: list[list[int]]) -> tuple[int, int]:
    texts = [translator.tokenizer.decode_source(ids) for ids in sources]
    # A GPU's matrix products depend on the size of the batch in their last bits.
    precision: Literal["auto", "fp32"] = "auto" if translator.device.type == "cpu" else "fp32"
    search = SearchConfig(batch_tokens=100000, precision=precision)
    together = translator.translate(texts, search)
    alone = [translator.translate(text, search) for text in texts]
    return sum(a == b for a, b in zip(alone, together, strict=True)), len(texts)


def _sources(translator: Translator, sentences: Sequence[str]) -> list[list[int]]:
    tokenizer = translator.tokenizer
    texts = [text.strip() for text in sentences if text.strip()]
    if texts:
        return tokenizer.encode_source(texts)
    generator = torch.Generator().manual_seed(1)
    highest = tokenizer.source_vocab_size - 1
    lengths = torch.randint(3, 25, (16,), generator=generator).tolist()
    # Ids above 257 are subwords, neither bytes nor control symbols.
    rows = [
        torch.randint(min(258, highest - 1), highest, (n,), generator=generator) for n in lengths
    ]
    return [[*row.tolist(), tokenizer.eos] for row in rows]


def _target(model: Transformer, length: int) -> list[int]:
    generator = torch.Generator().manual_seed(2)
    highest = model.config.target_vocab_size - 1
    return torch.randint(2, highest, (length,), generator=generator).tolist()


def _logits(
    model: Transformer, source: Tensor, target: Tensor, segments: Tensor | None = None
) -> Tensor:
    device = next(model.parameters()).device
    moved = None if segments is None else segments.to(device)
    return model(source.to(device), target.to(device), moved).cpu()


def _largest(difference: Tensor) -> float:
    """Return the largest absolute value; infinity if there is a NaN."""
    return float(difference.abs().nan_to_num(nan=torch.inf).max())
