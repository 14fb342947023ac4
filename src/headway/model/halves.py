"""Half a model: the decoder on its own, which writes, and the encoder on its own, which judges.

Both have `hidden` and `logits` as the `Transformer` has them, so that one objective trains all three.
Shapes: B batch, S source length, T target length, D d_model, V vocabulary, N rows of a step.
"""

from torch import Tensor, nn

from headway.config import ModelConfig
from headway.kernels.dropout import Dropout
from headway.kernels.linear import Linear
from headway.model.attention import xavier
from headway.model.embeddings import Positions
from headway.model.ends import Output, shift_right, token_embedding
from headway.model.layers import make_stack
from headway.model.state import DecoderState


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
        self.embedding = token_embedding(config, config.target_vocab_size)
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
        self.embedding = token_embedding(config, config.source_vocab_size)
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
