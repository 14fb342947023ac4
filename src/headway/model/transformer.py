"""The paper's encoder-decoder.

Shapes: B batch, S source length, T target length, D d_model, V vocabulary, N rows of a step.
Paper: sections 3 and 3.1, Figure 1.
"""

from torch import Tensor

from headway.config import ModelConfig
from headway.errors import HeadwayError
from headway.model.assembly import MakeMixer, make_decoder, make_encoder
from headway.model.decoder_cache import DecoderState
from headway.model.embeddings import Embedding, Output, make_embedding, make_positions, shift_right
from headway.model.network import Network, initialize_linear_maps
from headway.model.visibility import Segments, SegmentsLike, check_tokens


class Transformer(Network):
    """The encoder-decoder of "Attention Is All You Need".

    ``<pad>`` is the last id of a vocabulary and its embedding is zero: the decoder starts from it.

    Args:
        config: Its vocabulary sizes must be set.
        make_encoder_mixer: Makes the mixer of each encoder layer, given its index from 0, in place
            of self-attention; None: the mixer that the configuration names. See `Mixer`.
        make_decoder_mixer: The same for the decoder.

    Examples:
        >>> config = ModelConfig(source_vocab_size=37000, target_vocab_size=37000)
        >>> model = Transformer(config)
        >>> source, target = torch.tensor([[5, 6, 1]]), torch.tensor([[7, 8, 9, 1]])
        >>> logits = model(source, target)  # [1, 4, 37000]; logits[:, t] predicts target[:, t]
        >>> loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten())
    """

    def __init__(
        self,
        config: ModelConfig,
        *,
        make_encoder_mixer: MakeMixer | None = None,
        make_decoder_mixer: MakeMixer | None = None,
    ) -> None:
        super().__init__()
        self.config = config
        self.has_own_mixers = make_encoder_mixer is not None or make_decoder_mixer is not None
        self.source_embedding = make_embedding(config, "source")
        self.target_embedding = (
            None if config.tying == "three-way" else make_embedding(config, "target")
        )
        self.source_positions = make_positions(config)
        self.target_positions = make_positions(config)
        self.encoder = make_encoder(config, make_encoder_mixer)
        self.decoder = make_decoder(config, make_decoder_mixer, cross=True)
        self.output = Output(config)
        initialize_linear_maps(self)

    @property
    def target_table(self) -> Embedding:
        """The embedding of the decoder's input."""
        return self.source_embedding if self.target_embedding is None else self.target_embedding

    def forward(
        self,
        source_BS: Tensor,
        target_BT: Tensor,
        source_segments: SegmentsLike = None,
        target_segments: SegmentsLike = None,
    ) -> Tensor:
        """Predict every target token from the source and the target tokens before it.

        Args:
            source_BS: Source ids, [B, S].
            target_BT: Target ids, [B, T], unshifted: the model offsets them itself.
            source_segments: [B, S]; 0 is padding, n the n-th sentence of a packed row; None: all 1.
            target_segments: [B, T], the same; not needed for padding on the right, which no label
                depends on.

        Returns:
            Logits [B, T, V]; position t predicts ``target_BT[:, t]``.
        """
        return self.logits(self.hidden(source_BS, target_BT, source_segments, target_segments))

    def hidden(
        self,
        source_BS: Tensor,
        target_BT: Tensor,
        source_segments: SegmentsLike = None,
        target_segments: SegmentsLike = None,
    ) -> Tensor:
        """Return the last hidden states, [B, T, D]; the arguments are those of `forward`."""
        source_segments = Segments.of(source_segments, source_BS)
        memory_BSD = self.encode(source_BS, source_segments)
        return self.decode(target_BT, memory_BSD, target_segments, source_segments)

    def encode(self, source_BS: Tensor, segments: SegmentsLike = None) -> Tensor:
        """Turn source ids into the memory z, [B, S, D]."""
        check_tokens("source", source_BS)
        segments = Segments.of(segments, source_BS)
        x_BSD = self.source_positions(self.source_embedding(source_BS), segments)
        return self.encoder(x_BSD, segments)

    def decode(
        self,
        target_BT: Tensor,
        memory_BSD: Tensor,
        target_segments: SegmentsLike = None,
        source_segments: SegmentsLike = None,
    ) -> Tensor:
        """Return the decoder's last hidden states, [B, T, D]; see `forward` for the arguments."""
        check_tokens("target", target_BT)
        if target_BT.size(0) != memory_BSD.size(0):
            raise HeadwayError(
                f"target: has {target_BT.size(0)} rows, and the source {memory_BSD.size(0)}"
            )
        target_segments = Segments.of(target_segments, target_BT)
        is_packed = target_segments is not None
        source_segments = Segments.of(source_segments, memory_BSD, may_be_packed=is_packed)
        shifted_BT = shift_right(target_BT, self.config.target_vocab_size - 1, target_segments)
        x_BTD = self.target_positions(self.target_table(shifted_BT), target_segments)
        return self.decoder(x_BTD, target_segments, memory_BSD, source_segments)

    def logits(self, hidden: Tensor) -> Tensor:
        """Map hidden states [..., D] to logits [..., V]."""
        return self.output(hidden, self.target_table.weight)

    def start(self, memory_BSD: Tensor, source_segments: SegmentsLike = None) -> DecoderState:
        """Begin a step-by-step decoding of B sentences; no row may be packed."""
        segments = Segments.of(source_segments, memory_BSD, may_be_packed=False)
        return self.decoder.start(memory_BSD, segments)

    def step(self, tokens_N: Tensor, state: DecoderState) -> Tensor:
        """Read one token for each hypothesis and predict the next; ``state`` changes in place.

        Args:
            tokens_N: The last tokens; ``<pad>`` (the last id) at the start.
            state: From `start`; N is a multiple of its B sentences, the beams of each together.

        Returns:
            Logits [N, V].
        """
        x_N1D = self.target_positions(self.target_table(tokens_N)[:, None], start=state.position)
        return self.logits(self.decoder.step(x_N1D, state)[:, 0])
