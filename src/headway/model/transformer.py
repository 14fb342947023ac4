"""The models: the paper's encoder-decoder, and the encoder and the decoder each on its own.

Shapes: B batch, S source length, T target length, D d_model, V vocabulary, N rows of a step.
Paper: sections 3 and 3.1, Figure 1.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from headway.config import ModelConfig
from headway.kernels.dropout import Dropout
from headway.kernels.linear import Linear, linear
from headway.model.attention import xavier
from headway.model.embeddings import Embedding, Positions
from headway.model.layers import make_stack
from headway.model.mixers import positions_in_segments
from headway.model.state import DecoderState


def shift_right(target_BT: Tensor, pad: int, segments_BT: Tensor | None = None) -> Tensor:
    """Offset the target by one position: each sentence of a row starts from ``pad``.

    Paper: section 3.1, "output embeddings are offset by one position".
    """
    shifted_BT = F.pad(target_BT[:, :-1], (1, 0), value=pad)
    if segments_BT is None:
        return shifted_BT
    return shifted_BT.masked_fill(positions_in_segments(segments_BT) == 0, pad)


class Output(nn.Module):
    """The linear map before the softmax: tied to an embedding, or with a matrix of its own.

    Paper: section 3.4.

    Args:
        config: Its tying, widths, ``scale_logits`` and ``output_bias``.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        width, vocab_size = config.d_embedding or config.d_model, config.target_vocab_size
        self.scale = config.d_model**-0.5 if config.scale_logits else 1.0
        self.reduce = None if width == config.d_model else Linear(config.d_model, width, bias=False)
        self.weight = (
            nn.Parameter(torch.empty(vocab_size, width)) if config.tying == "none" else None
        )
        self.bias = nn.Parameter(torch.zeros(vocab_size)) if config.output_bias else None
        if self.weight is not None:
            nn.init.normal_(self.weight, std=width**-0.5)

    def forward(self, hidden: Tensor, tied: Tensor) -> Tensor:
        """Map [..., D] to logits [..., V], with the matrix ``tied`` [V, E] unless it has its own."""
        if self.reduce is not None:
            hidden = self.reduce(hidden)
        weight = tied if self.weight is None else self.weight
        return linear(hidden * self.scale if self.scale != 1 else hidden, weight, self.bias)


class Transformer(nn.Module):
    """The encoder-decoder of "Attention Is All You Need".

    ``<pad>`` is the last id of a vocabulary and its embedding is zero: the decoder starts from it.

    Args:
        config: Its vocabulary sizes must be set.

    Example:
        >>> config = ModelConfig(source_vocab_size=37000, target_vocab_size=37000)
        >>> model = Transformer(config)
        >>> source, target = torch.tensor([[5, 6, 1]]), torch.tensor([[7, 8, 9, 1]])
        >>> logits = model(source, target)  # [1, 4, 37000]; logits[:, t] predicts target[:, t]
        >>> loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten())
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        _check_vocabularies(config)
        self.config = config
        self.source_embedding = _embedding(config, config.source_vocab_size)
        self.target_embedding = (
            None if config.tying == "three-way" else _embedding(config, config.target_vocab_size)
        )
        self.source_positions = Positions(config.positions, config.d_model, config.max_positions)
        self.target_positions = Positions(config.positions, config.d_model, config.max_positions)
        self.dropout = Dropout(config.dropout)
        self.encoder = make_stack(config, config.num_encoder_layers, causal=False, cross=False)
        self.decoder = make_stack(config, config.num_decoder_layers, causal=True, cross=True)
        self.output = Output(config)
        xavier(self)

    @property
    def target_table(self) -> Embedding:
        """The embedding the decoder reads with."""
        return self.source_embedding if self.target_embedding is None else self.target_embedding

    def forward(
        self,
        source_BS: Tensor,
        target_BT: Tensor,
        source_segments: Tensor | None = None,
        target_segments: Tensor | None = None,
    ) -> Tensor:
        """Predict every target token from the source and the target tokens before it.

        Args:
            source_BS: Source ids, [B, S].
            target_BT: Target ids, [B, T], unshifted: the model offsets them itself.
            source_segments: [B, S]; 0 is padding, n the n-th sentence of a packed row; None: all 1.
            target_segments: [B, T] alike; not needed for right padding, which no label can see.

        Returns:
            Logits [B, T, V]; position t predicts ``target_BT[:, t]``.
        """
        return self.logits(self.hidden(source_BS, target_BT, source_segments, target_segments))

    def hidden(
        self,
        source_BS: Tensor,
        target_BT: Tensor,
        source_segments: Tensor | None = None,
        target_segments: Tensor | None = None,
    ) -> Tensor:
        """Return what `logits` maps, [B, T, D]; the arguments are those of `forward`."""
        memory_BSD = self.encode(source_BS, source_segments)
        return self.decode(target_BT, memory_BSD, target_segments, source_segments)

    def encode(self, source_BS: Tensor, segments: Tensor | None = None) -> Tensor:
        """Turn source ids into the memory z, [B, S, D]."""
        x_BSD = self.source_positions(self.source_embedding(source_BS), segments)
        return self.encoder(self.dropout(x_BSD), segments)

    def decode(
        self,
        target_BT: Tensor,
        memory_BSD: Tensor,
        target_segments: Tensor | None = None,
        source_segments: Tensor | None = None,
    ) -> Tensor:
        """Return the decoder's last hidden states, [B, T, D]; see `forward` for the arguments."""
        shifted_BT = shift_right(target_BT, self.config.target_vocab_size - 1, target_segments)
        x_BTD = self.target_positions(self.target_table(shifted_BT), target_segments)
        return self.decoder(self.dropout(x_BTD), target_segments, memory_BSD, source_segments)

    def logits(self, hidden: Tensor) -> Tensor:
        """Map hidden states [..., D] to logits [..., V]."""
        return self.output(hidden, self.target_table.weight)

    def start(self, memory_BSD: Tensor, source_segments: Tensor | None = None) -> DecoderState:
        """Begin a step-by-step decoding of B sentences."""
        return self.decoder.start(memory_BSD, source_segments)

    def step(self, tokens_N: Tensor, state: DecoderState) -> Tensor:
        """Read one token a hypothesis and predict the next; ``state`` moves on in place.

        Args:
            tokens_N: The last tokens; ``<pad>`` (the last id) at the start.
            state: From `start`; N is a multiple of its B sentences, beams of a sentence together.

        Returns:
            Logits [N, V].
        """
        x_N1D = self.target_table(tokens_N)[:, None]
        x_N1D = self.dropout(self.target_positions(x_N1D, start=state.position))
        return self.logits(self.decoder.step(x_N1D, state)[:, 0])


class LanguageModel(nn.Module):
    """The decoder alone, without encoder-decoder attention.

    Args:
        config: ``target_vocab_size`` and ``num_decoder_layers`` count; the encoder's part does not.

    Example:
        >>> model = LanguageModel(ModelConfig(target_vocab_size=1000, tying="target"))
        >>> text = torch.tensor([[5, 6, 7, 1]])
        >>> logits = model(text)  # [1, 4, 1000]; logits[:, t] predicts text[:, t]
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = _embedding(config, config.target_vocab_size)
        self.positions = Positions(config.positions, config.d_model, config.max_positions)
        self.dropout = Dropout(config.dropout)
        self.decoder = make_stack(config, config.num_decoder_layers, causal=True, cross=False)
        self.output = Output(config)
        xavier(self)

    def forward(self, text_BT: Tensor, segments: Tensor | None = None) -> Tensor:
        """Predict every token of [B, T] from those before it: logits [B, T, V]."""
        return self.logits(self.hidden(text_BT, text_BT, segments, segments))

    def hidden(
        self,
        source_BS: Tensor,
        target_BT: Tensor,
        source_segments: Tensor | None = None,
        target_segments: Tensor | None = None,
    ) -> Tensor:
        """Return what `logits` maps, [B, T, D]: of the target, for a source is not read."""
        shifted_BT = shift_right(target_BT, self.config.target_vocab_size - 1, target_segments)
        x_BTD = self.positions(self.embedding(shifted_BT), target_segments)
        return self.decoder(self.dropout(x_BTD), target_segments)

    def logits(self, hidden: Tensor) -> Tensor:
        """Map hidden states [..., D] to logits [..., V]."""
        return self.output(hidden, self.embedding.weight)

    def start(self) -> DecoderState:
        """Begin a step-by-step generation."""
        return self.decoder.start()

    def step(self, tokens_N: Tensor, state: DecoderState) -> Tensor:
        """Read one token a row, ``<pad>`` at the start, and predict the next: logits [N, V]."""
        x_N1D = self.positions(self.embedding(tokens_N)[:, None], start=state.position)
        x_N1D = self.decoder.step(self.dropout(x_N1D), state)
        return self.logits(x_N1D[:, 0])


class Classifier(nn.Module):
    """The encoder alone, with a linear map on the mean of its outputs.

    Args:
        config: ``source_vocab_size`` and ``num_encoder_layers`` count.
        num_classes: How many classes there are.

    Example:
        >>> model = Classifier(ModelConfig(source_vocab_size=1000, tying="none"), num_classes=2)
        >>> scores = model(torch.tensor([[5, 6, 7, 1]]))  # [1, 2]
    """

    def __init__(self, config: ModelConfig, num_classes: int) -> None:
        super().__init__()
        self.config = config
        self.embedding = _embedding(config, config.source_vocab_size)
        self.positions = Positions(config.positions, config.d_model, config.max_positions)
        self.dropout = Dropout(config.dropout)
        self.encoder = make_stack(config, config.num_encoder_layers, causal=False, cross=False)
        self.output = Linear(config.d_model, num_classes)
        xavier(self)

    def forward(self, text_BS: Tensor, segments: Tensor | None = None) -> Tensor:
        """Score every class for each row of [B, S]: [B, num_classes]; padding has segment 0."""
        return self.logits(self.hidden(text_BS, text_BS[:, :1], segments)[:, 0])

    def encode(self, text_BS: Tensor, segments: Tensor | None = None) -> Tensor:
        """Return the encoder's outputs, [B, S, D]."""
        x_BSD = self.positions(self.embedding(text_BS), segments)
        return self.encoder(self.dropout(x_BSD), segments)

    def hidden(
        self,
        source_BS: Tensor,
        target_BT: Tensor,
        source_segments: Tensor | None = None,
        target_segments: Tensor | None = None,
    ) -> Tensor:
        """Return what `logits` maps: the mean of each text's outputs, [B, T, D].

        Args:
            source_BS: Texts, [B, S].
            target_BT: Of which only T counts: the texts a row holds, at most.
            source_segments: [B, S]; 0 is padding, n the n-th text of a packed row; None: all 1.
            target_segments: Not read.
        """
        x_BSD = self.encode(source_BS, source_segments)
        if source_segments is None:
            return x_BSD.mean(1, keepdim=True)
        inside_BS1 = (source_segments != 0)[..., None].to(x_BSD.dtype)
        # Padding adds nothing, wherever it is counted.
        place_BS1 = (source_segments - 1).clamp(min=0)[..., None]
        texts = len(x_BSD), target_BT.size(1)
        sums_BTD = x_BSD.new_zeros(*texts, x_BSD.size(2))
        sums_BTD = sums_BTD.scatter_add(1, place_BS1.expand_as(x_BSD), x_BSD * inside_BS1)
        counts_BT1 = inside_BS1.new_zeros(*texts, 1).scatter_add(1, place_BS1, inside_BS1)
        return sums_BTD / counts_BT1.clamp(min=1)

    def logits(self, hidden: Tensor) -> Tensor:
        """Map hidden states [..., D] to scores of the classes."""
        return self.output(hidden)


# What training, with its objective of labels, takes alike.
Network = Transformer | LanguageModel | Classifier


def make_model(config: ModelConfig) -> Network:
    """Build the kind of model that the configuration names; a classifier's targets are its classes."""
    match config.kind:
        case "translator":
            return Transformer(config)
        case "language-model":
            return LanguageModel(config)
        case "classifier":
            return Classifier(config, config.target_vocab_size)


def parameter_count(model: nn.Module) -> int:
    """Count the trained numbers; a tied matrix counts once."""
    return sum(parameter.numel() for parameter in model.parameters())


def _embedding(config: ModelConfig, vocab_size: int) -> Embedding:
    scale = config.d_model**0.5 if config.scale_embeddings else 1.0
    return Embedding(vocab_size, config.d_embedding or config.d_model, config.d_model, scale=scale)


def _check_vocabularies(config: ModelConfig) -> None:
    for name in ("source_vocab_size", "target_vocab_size"):
        if getattr(config, name) < 2:
            raise ValueError(
                f"{name} = {getattr(config, name)} must be set before a model is built"
            )
