"""Count the floating-point operations (FLOP) of the matrix products that a model needs.

A product of [n, k] with [k, m] is 2 n k m FLOP. Padding and everything that is no matrix product (norms,
softmax, ReLU, Adam) do not count. This is the usual convention for the "model FLOPs utilization" of a
machine (Chowdhery et al., 2022).

Names: S source tokens, T target tokens of a sentence, D d_model, F d_ff, h heads.
"""

from collections.abc import Sequence

from headway.config import ModelConfig
from headway.errors import HeadwayError


def forward_flop(config: ModelConfig, sources: Sequence[int], targets: Sequence[int]) -> int:
    """Count the FLOP of one pass through the model, with a prediction at every target token.

    A layer needs 2 D (2 h d_k + 2 h d_v) for the self-attention projections of each token, 4 D F for the
    feed-forward of each token, and 2 h (d_k + d_v) for each pair of a query and a key. In the decoder,
    attention to the memory needs 2 D (h d_k + h d_v) for each target token and for each source token, and
    its own pairs. All pairs of the decoder's self-attention count, masked ones too.

    Args:
        config: Settings of the model.
        sources: Number of tokens of each source sentence.
        targets: Number of tokens of each target sentence, ``</s>`` included.
    """
    pairs = sum(
        _visible_positions(config, t) + s * t for s, t in zip(sources, targets, strict=True)
    )
    return _count(config, sources, sum(targets), pairs)


def training_flop(config: ModelConfig, sources: Sequence[int], targets: Sequence[int]) -> int:
    """Count the FLOP of a training step: three times `forward_flop`, since a product has two gradients."""
    return 3 * forward_flop(config, sources, targets)


def search_flop(
    config: ModelConfig, sources: Sequence[int], targets: Sequence[int], beam: int
) -> int:
    """Count the FLOP of a beam search that runs to a given length for each sentence.

    The memory is encoded and projected once a sentence. A step reads one token for each hypothesis, and
    at step t its query attends to t target tokens: T (T + 1) / 2 pairs in all.

    Args:
        config: Settings of the model.
        sources: Number of tokens of each source sentence.
        targets: Number of steps for each sentence.
        beam: Hypotheses of each sentence.
    """
    pairs = sum(t * (t + 1) // 2 + s * t for s, t in zip(sources, targets, strict=True))
    return _count(config, sources, beam * sum(targets), beam * pairs)


def _count(config: ModelConfig, sources: Sequence[int], tokens: int, pairs: int) -> int:
    """Count the FLOP of sources that are read once, and of so many target tokens and pairs of a query and a key."""
    token = 3 * _two_projections(config) + _feed_forward(config)
    memory = sum(sources) * _two_projections(config)
    decoder = config.num_decoder_layers * (
        memory + tokens * token + pairs * _attention_pair(config)
    )
    return _encoder(config, sources) + decoder + tokens * _output(config)


def _encoder(config: ModelConfig, sources: Sequence[int]) -> int:
    token = 2 * _two_projections(config) + _feed_forward(config)
    pairs = sum(_visible_positions(config, s) for s in sources)
    layers = config.num_encoder_layers * (sum(sources) * token + pairs * _attention_pair(config))
    return layers + sum(sources) * _embedding_projection(config)


def _two_projections(config: ModelConfig) -> int:
    """Return the FLOP of query and output projection, or of key and value projection, for a token."""
    _check_countable(config)
    return 2 * config.d_model * config.num_heads * sum(config.head_widths)


def _attention_pair(config: ModelConfig) -> int:
    return 2 * config.num_heads * sum(config.head_widths)


def _feed_forward(config: ModelConfig) -> int:
    return 4 * config.d_model * config.d_ff


def _visible_positions(config: ModelConfig, length: int) -> int:
    return length * min(length, config.window or length)


def _embedding_projection(config: ModelConfig) -> int:
    width = config.d_embedding or config.d_model
    return 0 if width == config.d_model else 2 * width * config.d_model


def _output(config: ModelConfig) -> int:
    """Return the FLOP of a target token's logits and of the projections between embedding and model."""
    width = config.d_embedding or config.d_model
    return 2 * width * config.target_vocab_size + 2 * _embedding_projection(config)


def _check_countable(config: ModelConfig) -> None:
    layers = (config.encoder_mixer, config.decoder_mixer, config.compatibility)
    if layers != ("attention", "attention", "dot"):
        raise HeadwayError(
            f"FLOP of {', '.join(layers)} are not counted; only models with mixer attention"
            " and model.compatibility = 'dot' can be measured"
        )
