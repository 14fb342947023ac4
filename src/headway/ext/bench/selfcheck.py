"""Relations that every translation model must satisfy, measured on a given model in seconds.

A model with a mask or cache bug can train well and score well on training data, but it breaks one of these
relations.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from headway.config import SearchConfig
from headway.ext.bench.device_check import compare_with_processor
from headway.ext.bench.finding import Finding
from headway.model import Transformer
from headway.text import EOS
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
    generator = torch.Generator().manual_seed(2)
    target = torch.randint(2, model.config.target_vocab_size - 1, (1, 12), generator=generator)
    device = translator.device
    for name, check in CHECKS.items():
        with torch.inference_mode():
            worst = check(model, torch.tensor(sources[:1], device=device), target.to(device))
        yield Finding(name, worst <= TOLERANCE, f"largest difference {worst:.1e} in a logit")
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


def future_leak(model: Transformer, source: Tensor, target: Tensor) -> float:
    """Return how far earlier predictions change when the last two target tokens change."""
    changed = target.clone()
    changed[0, -2:] = (changed[0, -2:] + 1) % (model.config.target_vocab_size - 1)
    before, after = model(source, target), model(source, changed)
    return _largest(before[:, :-1] - after[:, :-1])


def padding_neutrality(model: Transformer, source: Tensor, target: Tensor) -> float:
    """Return how far the predictions change when the source is padded."""
    padded = F.pad(source, (0, 9), value=model.config.source_vocab_size - 1)
    segments = F.pad(torch.ones_like(source), (0, 9))
    return _largest(model(source, target) - model(padded, target, segments))


def cache_equals_no_cache(model: Transformer, source: Tensor, target: Tensor) -> float:
    """Return how far the logits of step-by-step decoding differ from those of a full forward pass."""
    full, state = model(source, target), model.start(model.encode(source))
    worst, token = 0.0, target.new_tensor([model.config.target_vocab_size - 1])
    for t in range(target.size(1)):
        worst = max(worst, _largest(model.step(token, state) - full[:, t]))
        token = target[:, t]
    return worst


def beam_of_one_is_greedy(model: Transformer, source: Tensor, _target: Tensor) -> float:
    """Return how far the tokens of a search with beam 1 are below the best logit of their step."""
    from headway.translation import StepDecoding, beam_search

    pad, limit = model.config.target_vocab_size - 1, 20
    memory = model.encode(source)
    decoding = StepDecoding(model.step, model.start(memory), pad, source.device)
    [[found]] = beam_search(decoding, [limit], beam=1, alpha=0.6, eos=EOS, pad=pad)
    worst = 0.0
    for t, token in enumerate(found.tokens[: limit - 1]):
        prefix = source.new_tensor([found.tokens[: t + 1]])
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


CHECKS: dict[str, Callable[[Transformer, Tensor, Tensor], float]] = {
    "no prediction depends on a later target token": future_leak,
    "padding changes no prediction": padding_neutrality,
    "step-by-step decoding equals a full forward pass": cache_equals_no_cache,
    "a beam of 1 takes the most probable token": beam_of_one_is_greedy,
}


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


def _largest(difference: Tensor) -> float:
    """Return the largest absolute value; infinity if there is a NaN."""
    return float(difference.abs().nan_to_num(nan=torch.inf).max())
