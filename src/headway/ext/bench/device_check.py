"""Compare the results of a model on a GPU with those of the same model on the processor."""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch
from torch.nn import functional as F

from headway.config import SearchConfig
from headway.ext.bench.finding import Finding
from headway.model import Segments
from headway.translation import Hypothesis, Translator, pad_right, resolve_precision

# Largest difference of the log-probability of a token, in nats.
TOLERANCE = {"fp32": 1e-3, "bf16": 0.1, "fp16": 0.02, "int8": 0.1}
# Largest difference of a gradient, as a share of the norm of all gradients.
GRADIENT_TOLERANCE = 1e-3
MAX_EXTRA = 30  # so that a model with random weights also ends soon


def compare_with_processor(
    translator: Translator, sources: Sequence[Sequence[int]]
) -> Iterator[Finding]:
    """Translate, score and differentiate on the translator's device and on the processor.

    Args:
        translator: The model under test, on a GPU.
        sources: Token ids of the sentences, ``</s>`` last.

    Yields:
        The result of each comparison.
    """
    processor = Translator(
        copy.deepcopy(translator.model), translator.tokenizer, translator.default_search, "cpu",
        translator.languages,
    )  # fmt: skip
    search = replace(
        translator.default_search, precision="fp32", sample=False, n_best=1, max_extra=MAX_EXTRA,
        shortlist=0,
    )  # fmt: skip
    for beam in (1, max(2, search.beam)):
        chosen = replace(search, beam=beam)
        yield _compare_translations(translator, processor, sources, chosen, f"beam {beam}, fp32")
    own = translator.default_search.precision
    if (resolved := resolve_precision(own, translator.device)) != "fp32":
        chosen = replace(search, precision=own)
        yield _compare_translations(translator, processor, sources, chosen, resolved)
    targets = [best.tokens for best in _translate(processor, sources, replace(search, beam=1))]
    scores = [each.score_tokens(sources, targets) for each in (translator, processor)]
    worst = max(
        abs(ours - theirs) / len(target)
        for ours, theirs, target in zip(*scores, targets, strict=True)
    )
    yield Finding(
        "the processor gives given translations the same probability",
        worst <= TOLERANCE["fp32"],
        f"largest difference {worst:.1e} for a token",
    )
    distance = gradient_distance(translator, processor, sources, targets)
    yield Finding(
        "the processor computes the same gradients",
        distance <= GRADIENT_TOLERANCE,
        f"difference {distance:.1e} of their norm",
    )


def _translate(
    translator: Translator, sources: Sequence[Sequence[int]], search: SearchConfig
) -> list[Hypothesis]:
    """Return the best translation of each source."""
    rows = [list(source) for source in sources]
    found = translator.token_search.search(rows, [[] for _ in rows], search)
    return [best for best, *_ in found]


def _compare_translations(
    translator: Translator,
    processor: Translator,
    sources: Sequence[Sequence[int]],
    search: SearchConfig,
    name: str,
) -> Finding:
    """Search on both devices, and score what the GPU found on the processor, in fp32.

    Where two translations are nearly equally good, rounding decides. So some may differ, but on average
    they may not be worse.
    """
    precision = resolve_precision(search.precision, translator.device)
    ours = _translate(translator, sources, search)
    theirs = _translate(processor, sources, replace(search, precision="fp32"))
    totals = processor.score_tokens(sources, [best.tokens for best in ours])
    worst = max(
        abs(best.log_probability - total) / len(best.tokens)
        for best, total in zip(ours, totals, strict=True)
    )
    behind = sum(b.score - a.score for a, b in zip(ours, theirs, strict=True)) / len(sources)
    same = sum(a.tokens == b.tokens for a, b in zip(ours, theirs, strict=True))
    fewest = 0.9 * len(sources) if precision == "fp32" else 0
    tolerance = TOLERANCE[precision]
    return Finding(
        f"the processor finds the same translations, {name}",
        worst <= tolerance and behind <= tolerance and same >= fewest,
        f"{same} of {len(sources)} the same, largest difference {worst:.1e} for a token",
    )


def gradient_distance(
    translator: Translator,
    processor: Translator,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
) -> float:
    """Return the norm of the difference of two devices' gradients, divided by that of the gradients."""
    ours, theirs = (_gradients(each, sources, targets) for each in (translator, processor))
    pairs = list(zip(ours, theirs, strict=True))
    difference = sum(float((a - b).double().square().sum()) for a, b in pairs)
    return float((difference / sum(float(b.double().square().sum()) for _, b in pairs)) ** 0.5)


def _gradients(
    translator: Translator, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
) -> list[torch.Tensor]:
    """Return the gradients of the mean loss of a token, in fp32 and without dropout, on the CPU."""
    source, segments = pad_right(sources, translator.tokenizer.source_pad)
    target, real = pad_right(targets, translator.tokenizer.target_pad)
    source, segments, target, real = (
        x.to(translator.device) for x in (source, segments, target, real)
    )
    parameters = list(translator.model.parameters())
    with torch.enable_grad():
        logits = translator.model(source, target, Segments(segments, is_packed=False))
        losses = F.cross_entropy(logits.flatten(0, 1).float(), target.flatten(), reduction="none")
        loss = (losses * real.flatten()).sum() / real.sum()
        return [gradient.cpu() for gradient in torch.autograd.grad(loss, parameters)]
