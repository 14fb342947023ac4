"""The settings of a model: its shape and its layers."""

from dataclasses import dataclass
from typing import Literal

from headway.config.declaration import (
    NOT_NEGATIVE,
    POSITIVE,
    PROBABILITY,
    Role,
    at_most,
    list_wrong_values,
    raise_all,
    setting,
)

# Limits on sizes, so that a damaged file cannot ask for all memory.
LARGEST = 1_000_000
SIZE = at_most(LARGEST)
MAX_WIDTH, MAX_LAYERS, MAX_HEADS = 16_384, 1_000, 1_024

Kind = Literal["translator", "language-model", "classifier"]
VERBS: dict[Kind, str] = {
    "translator": "headway train", "language-model": "headway lm", "classifier": "headway classify",
}  # fmt: skip
Activation = Literal["relu", "gelu", "swish"]
Mixer = Literal["attention", "lstm", "gru", "convolution", "dilated", "separable"]
CONVOLUTIONS = ("convolution", "dilated", "separable")


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """The shape of a model (paper: section 3; the defaults are Table 3's base).

    Attributes:
        kind: encoder and decoder, decoder alone, or encoder alone; the data decides it
        source_vocab_size: rows of the source embedding; 0: from the tokenizer
        target_vocab_size: rows of the target embedding; 0: from the tokenizer
        num_encoder_layers: N of the encoder
        num_decoder_layers: N of the decoder
        d_model: width of every sub-layer
        d_ff: inner width of the feed-forward networks
        num_heads: h, number of parallel attention heads
        d_k: width of a head's queries and keys; 0: d_model / num_heads
        d_v: width of a head's values; 0: d_model / num_heads
        d_embedding: width of the embeddings, mapped linearly to d_model; 0: d_model
        dropout: P_drop, dropout on sub-layer outputs and embedding sums
        attention_dropout: dropout on attention weights; the paper has it in parsers only
        feed_forward_dropout: dropout after the ReLU; the paper has none
        norm: layer norm after the residual sum (the paper's), or before
        norm_epsilon: added to the variance in layer norm
        activation: activation function of the feed-forward networks
        feed_forward: section 3.3's two descriptions of the same network
        encoder_mixer: how the encoder mixes positions
        decoder_mixer: how the decoder mixes positions
        kernel_size: k of the convolutional mixers
        gated: gated linear units in the convolutional mixers
        compatibility: how a query is compared with a key
        scale_attention: divide compatibilities by sqrt(d_k)
        attention_bias: biases in W^Q, W^K, W^V and W^O; the paper has none
        window: r: self-attention is restricted to r positions; 0: all
        positions: positional encoding (section 3.5)
        max_positions: rows of the position table; only sinusoids allow longer input
        tying: which embedding matrices are shared
        scale_embeddings: multiply embeddings by sqrt(d_model)
        scale_logits: multiply logits by d_model^-0.5
        output_bias: add a bias to the logits
    """

    kind: Kind = setting("translator", Role.UNCOMPARED)
    source_vocab_size: int = setting(0, NOT_NEGATIVE, Role.UNCOMPARED)
    target_vocab_size: int = setting(0, NOT_NEGATIVE, Role.UNCOMPARED)
    num_encoder_layers: int = setting(6, NOT_NEGATIVE, at_most(MAX_LAYERS))
    num_decoder_layers: int = setting(6, NOT_NEGATIVE, at_most(MAX_LAYERS))
    d_model: int = setting(512, POSITIVE, at_most(MAX_WIDTH))
    d_ff: int = setting(2048, POSITIVE, SIZE)
    num_heads: int = setting(8, POSITIVE, at_most(MAX_HEADS))
    d_k: int = setting(0, NOT_NEGATIVE, SIZE)
    d_v: int = setting(0, NOT_NEGATIVE, SIZE)
    d_embedding: int = setting(0, NOT_NEGATIVE, at_most(MAX_WIDTH))
    dropout: float = setting(0.1, PROBABILITY, Role.DROPOUT)
    attention_dropout: float = setting(0.0, PROBABILITY, Role.DROPOUT)
    feed_forward_dropout: float = setting(0.0, PROBABILITY, Role.DROPOUT)
    norm: Literal["post", "pre"] = "post"
    norm_epsilon: float = setting(1e-5, POSITIVE, Role.UNSAID)
    activation: Activation = "relu"
    feed_forward: Literal["linear", "convolution"] = "linear"
    encoder_mixer: Mixer = "attention"
    decoder_mixer: Mixer = "attention"
    kernel_size: int = setting(3, POSITIVE, Role.UNSAID)
    gated: bool = False
    compatibility: Literal["dot", "additive"] = "dot"
    scale_attention: bool = True
    attention_bias: bool = False
    window: int = setting(0, NOT_NEGATIVE)
    positions: Literal["sinusoidal", "learned", "none"] = "sinusoidal"
    max_positions: int = setting(1024, POSITIVE, SIZE, Role.UNCOMPARED)
    tying: Literal["three-way", "target", "none"] = "three-way"
    scale_embeddings: bool = True
    scale_logits: bool = False
    output_bias: bool = False

    def __post_init__(self) -> None:
        raise_all(list_wrong_values(self))
        problems = []
        if self.num_heads > 0 and self.d_model % self.num_heads and not (self.d_k and self.d_v):
            problems.append(
                f"d_model = {self.d_model} is not a multiple of num_heads = {self.num_heads}:"
                " give d_k and d_v, or another number of heads"
            )
        if self.positions == "sinusoidal" and self.d_model % 2:
            problems.append(f"d_model = {self.d_model} must be even for sinusoidal positions")
        if self.kernel_size % 2 == 0 and self.encoder_mixer in CONVOLUTIONS:
            problems.append(
                f"kernel_size = {self.kernel_size} must be odd: the encoder's kernel is centered"
            )
        if self.encoder_mixer in ("lstm", "gru") and self.d_model % 2:
            problems.append(f"d_model = {self.d_model} must be even for two recurrent directions")
        joint = self.kind != "classifier" and self.tying == "three-way"
        if joint and self.source_vocab_size != self.target_vocab_size:
            problems.append(
                "tying = 'three-way' needs one vocabulary: use joint_vocab = true,"
                " or tying = 'target'"
            )
        raise_all(problems)

    @property
    def kind_name(self) -> str:
        """The kind in plain words, such as "language model"."""
        return self.kind.replace("-", " ")

    @property
    def verb(self) -> str:
        """The command that makes models of this kind."""
        return VERBS[self.kind]

    @property
    def head_widths(self) -> tuple[int, int]:
        """d_k and d_v; 0 stands for d_model / num_heads."""
        width = self.d_model // self.num_heads
        return self.d_k or width, self.d_v or width
