"""The settings of a model: its shape and its layers."""

from dataclasses import dataclass
from typing import Annotated, Literal

from headway.config.setting import (
    NOT_NEGATIVE,
    POSITIVE,
    PROBABILITY,
    at_most,
    list_broken_bounds,
    raise_all,
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
    """The shape of a model (paper: section 3; the defaults are Table 3's base)."""

    kind: Annotated[
        Kind, "encoder and decoder, decoder alone, or encoder alone; the data decides it"
    ] = "translator"
    source_vocab_size: Annotated[
        int, "rows of the source embedding; 0: from the tokenizer", NOT_NEGATIVE
    ] = 0
    target_vocab_size: Annotated[
        int, "rows of the target embedding; 0: from the tokenizer", NOT_NEGATIVE
    ] = 0
    num_encoder_layers: Annotated[int, "N of the encoder", NOT_NEGATIVE, at_most(MAX_LAYERS)] = 6
    num_decoder_layers: Annotated[int, "N of the decoder", NOT_NEGATIVE, at_most(MAX_LAYERS)] = 6
    d_model: Annotated[int, "width of every sub-layer", POSITIVE, at_most(MAX_WIDTH)] = 512
    d_ff: Annotated[int, "inner width of the feed-forward networks", POSITIVE, SIZE] = 2048
    num_heads: Annotated[
        int, "h, number of parallel attention heads", POSITIVE, at_most(MAX_HEADS)
    ] = 8
    d_k: Annotated[
        int, "width of a head's queries and keys; 0: d_model / num_heads", NOT_NEGATIVE, SIZE
    ] = 0
    d_v: Annotated[int, "width of a head's values; 0: d_model / num_heads", NOT_NEGATIVE, SIZE] = 0
    d_embedding: Annotated[
        int,
        "width of the embeddings, mapped linearly to d_model; 0: d_model",
        NOT_NEGATIVE,
        at_most(MAX_WIDTH),
    ] = 0
    dropout: Annotated[
        float, "P_drop, dropout on sub-layer outputs and embedding sums", PROBABILITY
    ] = 0.1
    attention_dropout: Annotated[
        float, "dropout on attention weights; the paper has it in parsers only", PROBABILITY
    ] = 0.0
    feed_forward_dropout: Annotated[
        float, "dropout after the ReLU; the paper has none", PROBABILITY
    ] = 0.0
    norm: Annotated[
        Literal["post", "pre"], "layer norm after the residual sum (the paper's), or before"
    ] = "post"
    norm_epsilon: Annotated[float, "added to the variance in layer norm", POSITIVE] = 1e-5
    activation: Annotated[Activation, "activation function of the feed-forward networks"] = "relu"
    feed_forward: Annotated[
        Literal["linear", "convolution"], "section 3.3's two descriptions of the same network"
    ] = "linear"
    encoder_mixer: Annotated[Mixer, "how the encoder mixes positions"] = "attention"
    decoder_mixer: Annotated[Mixer, "how the decoder mixes positions"] = "attention"
    kernel_size: Annotated[int, "k of the convolutional mixers", POSITIVE] = 3
    gated: Annotated[bool, "gated linear units in the convolutional mixers"] = False
    compatibility: Annotated[Literal["dot", "additive"], "how a query is compared with a key"] = (
        "dot"
    )
    scale_attention: Annotated[bool, "divide compatibilities by sqrt(d_k)"] = True
    attention_bias: Annotated[bool, "biases in W^Q, W^K, W^V and W^O; the paper has none"] = False
    window: Annotated[
        int, "r: self-attention is restricted to r positions; 0: all", NOT_NEGATIVE
    ] = 0
    positions: Annotated[
        Literal["sinusoidal", "learned", "none"], "positional encoding (section 3.5)"
    ] = "sinusoidal"
    max_positions: Annotated[
        int, "rows of the position table; only sinusoids allow longer input", POSITIVE, SIZE
    ] = 1024
    tying: Annotated[
        Literal["three-way", "target", "none"], "which embedding matrices are shared"
    ] = "three-way"
    scale_embeddings: Annotated[bool, "multiply embeddings by sqrt(d_model)"] = True
    scale_logits: Annotated[bool, "multiply logits by d_model^-0.5"] = False
    output_bias: Annotated[bool, "add a bias to the logits"] = False

    def __post_init__(self) -> None:
        problems = list_broken_bounds(self)
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
