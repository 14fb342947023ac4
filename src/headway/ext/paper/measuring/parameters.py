"""How many numbers a model trains: by formula, by counting, and for which vocabulary."""

from dataclasses import replace

from headway.config import PRESETS, ModelConfig
from headway.ext.paper.published import VOCABULARY
from headway.model import make_model_without_memory, parameter_count


def parameters_by_formula(config: ModelConfig) -> int:
    """Return the parameters of an attention model by the formulas of section 3.

    The projections of section 3.2.2 have no biases, a feed-forward network (equation 2) has two, and a
    layer norm has a gain and a bias. A tied matrix counts once.
    """
    d, ff, h = config.d_model, config.d_ff, config.num_heads
    d_k, d_v = config.head_widths
    attention = 2 * d * h * d_k + 2 * d * h * d_v  # W^Q and W^K; W^V and W^O
    feed_forward = 2 * d * ff + ff + d
    norm = 2 * d
    encoder = attention + feed_forward + 2 * norm
    decoder = 2 * attention + feed_forward + 3 * norm
    positions = 2 * config.max_positions * d if config.positions == "learned" else 0
    layers = config.num_encoder_layers * encoder + config.num_decoder_layers * decoder
    return layers + positions + embedding_rows(config) * d


def embedding_rows(config: ModelConfig) -> int:
    """Return the rows of all embedding and pre-softmax matrices, tied ones once."""
    match config.tying:
        case "three-way":
            return config.target_vocab_size
        case "target":
            return config.source_vocab_size + config.target_vocab_size
        case "none":
            return config.source_vocab_size + 2 * config.target_vocab_size


def count_parameters(config: ModelConfig) -> int:
    """Build the model, without memory for its weights, and count them."""
    return parameter_count(make_model_without_memory(config))


def with_joint_vocabulary(config: ModelConfig, rows: int) -> ModelConfig:
    """Return the shape with a joint vocabulary of this size."""
    return replace(config, source_vocab_size=rows, target_vocab_size=rows)


def paper_shape(preset: str) -> ModelConfig:
    """Return the paper's base or big with its English-German vocabulary."""
    return with_joint_vocabulary(PRESETS[preset].model, VOCABULARY["en-de"])


def vocabulary_range(config: ModelConfig, millions: float) -> tuple[float, float]:
    """Return the smallest and largest vocabulary whose parameters round to so many millions."""
    rest = parameters_by_formula(with_joint_vocabulary(config, 2)) - 2 * config.d_model
    return (
        ((millions - 0.5) * 1e6 - rest) / config.d_model,
        ((millions + 0.5) * 1e6 - rest) / config.d_model,
    )
