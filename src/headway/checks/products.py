"""Matrix products: how many a model needs, and how fast this machine computes them.

A product of [n, k] with [k, m] is 2 n k m floating-point operations (FLOP). Only tokens are counted,
never padding; of everything else in a model (norms, softmax, ReLU, Adam) nothing is, as is the custom
where a share of the machine's rate is reported ("model FLOPs utilization", Chowdhery et al., 2022).

Names: S source tokens, T target tokens of a sentence, D d_model, F d_ff, h heads.
"""

import statistics
import time
from collections.abc import Callable, Sequence

import torch
from torch.nn import functional as F

from headway.config import ModelConfig
from headway.errors import HeadwayError

REPEATS = 5
SECONDS = 0.2  # each repeat of the matrix rate takes at least so long


def forward_flop(config: ModelConfig, sources: Sequence[int], targets: Sequence[int]) -> int:
    """Count the FLOP of one pass through the model, with a prediction at every target token.

    A layer needs, for each of its tokens, 2 D (2 h d_k + 2 h d_v) for the projections of its
    self-attention and 4 D F for the feed-forward; for each pair of a query and a key, 2 h (d_k + d_v).
    In the decoder, attention to the memory needs 2 D (h d_k + h d_v) a target token, as much a source
    token, and its pairs. The causal half of the decoder's pairs is counted with the other.

    Args:
        config: The model's shape.
        sources: Tokens of each source sentence.
        targets: Tokens of each target sentence, ``</s>`` included.
    """
    decoder = config.num_decoder_layers * (
        sum(targets) * (_projections(config) + _half(config) + _feed_forward(config))
        + sum(sources) * _half(config)
        + _pair(config)
        * sum(_seen(config, t) + s * t for s, t in zip(sources, targets, strict=True))
    )
    return _encoder(config, sources) + decoder + sum(targets) * _tables(config)


def training_flop(config: ModelConfig, sources: Sequence[int], targets: Sequence[int]) -> int:
    """Count the FLOP of a step: `forward_flop` and twice that, for every product has two gradients."""
    return 3 * forward_flop(config, sources, targets)


def search_flop(
    config: ModelConfig, sources: Sequence[int], targets: Sequence[int], beam: int
) -> int:
    """Count the FLOP of searching translations of given lengths, all beams to their ends.

    The memory is encoded and projected once a sentence; a step reads one token a beam, whose queries
    meet the tokens so far, t of them at step t: T (T + 1) / 2 pairs.

    Args:
        config: The model's shape.
        sources: Tokens of each source sentence.
        targets: Steps taken for each sentence.
        beam: Hypotheses a sentence.
    """
    token = _projections(config) + _half(config) + _feed_forward(config)
    steps = 0
    for s, t in zip(sources, targets, strict=True):
        pairs = t * (t + 1) // 2 + s * t
        steps += config.num_decoder_layers * (t * token + pairs * _pair(config))
        steps += t * _tables(config)
    memory = config.num_decoder_layers * sum(sources) * _half(config)
    return _encoder(config, sources) + memory + beam * steps


def _encoder(config: ModelConfig, sources: Sequence[int]) -> int:
    token = _projections(config) + _feed_forward(config)
    pairs = sum(_seen(config, s) for s in sources)
    layers = config.num_encoder_layers * (sum(sources) * token + pairs * _pair(config))
    return layers + sum(sources) * _expand(config)


def _half(config: ModelConfig) -> int:
    """Two of an attention's four projections: query and output, or key and value."""
    _check(config)
    return 2 * config.d_model * config.num_heads * sum(config.head_widths)


def _projections(config: ModelConfig) -> int:
    return 2 * _half(config)


def _pair(config: ModelConfig) -> int:
    return 2 * config.num_heads * sum(config.head_widths)


def _feed_forward(config: ModelConfig) -> int:
    return 4 * config.d_model * config.d_ff


def _seen(config: ModelConfig, length: int) -> int:
    return length * min(length, config.window or length)


def _expand(config: ModelConfig) -> int:
    width = config.d_embedding or config.d_model
    return 0 if width == config.d_model else 2 * width * config.d_model


def _tables(config: ModelConfig) -> int:
    """A target token's logits, and the maps between the embedding's width and D."""
    width = config.d_embedding or config.d_model
    return 2 * width * config.target_vocab_size + 2 * _expand(config)


def _check(config: ModelConfig) -> None:
    words = (config.encoder_mixer, config.decoder_mixer, config.compatibility)
    if words != ("attention", "attention", "dot"):
        raise HeadwayError(
            f"the products of {', '.join(words)} are not counted: only models whose mixer is"
            " attention with model.compatibility = 'dot' are"
        )


def matrix_rate(device: torch.device, precision: str) -> float:
    """Measure the FLOP a second of a large square product, the median of five.

    Where torch has two ways to the same product (on some processors oneDNN computes fp32 twice as
    fast as the library behind ``F.linear``), the faster one counts: it is the machine that is
    measured.

    Args:
        device: Where.
        precision: "fp32", "bf16" or "int8".
    """
    size = 2048 if device.type == "cpu" else 8192
    x, w = (torch.randn(size, size, device=device) for _ in range(2))
    ways: list[Callable[[], object]]
    if precision == "int8":
        x, w = ((100 * m.clamp(-1, 1)).to(torch.int8) for m in (x, w))
        ways = [lambda: torch._int_mm(x, w)]
    elif precision == "bf16":
        x, w = x.bfloat16(), w.bfloat16()
        ways = [lambda: F.linear(x, w)]
    else:
        ways = [lambda: F.linear(x, w)]
        if device.type == "cpu" and hasattr(torch.ops.mkldnn, "_linear_pointwise"):
            one_dnn = torch.ops.mkldnn._linear_pointwise
            ways.append(lambda: one_dnn(x, w, None, "none", [], ""))
    with torch.inference_mode():
        return max(2 * size**3 / _seconds(way, device) for way in ways)


def synchronize(device: torch.device) -> None:
    """Wait until a GPU has done what it was given."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _seconds(work: Callable[[], object], device: torch.device) -> float:
    """Return the median time of one call."""
    times: list[float] = []
    for _ in range(REPEATS + 1):  # the first warms up
        calls, start = 0, time.perf_counter()
        while time.perf_counter() - start < SECONDS:
            for _ in range(1 if device.type == "cpu" else 20):
                work()
                calls += 1
            synchronize(device)
        times.append((time.perf_counter() - start) / calls)
    return statistics.median(times[1:])
