"""The decoder alone, which generates text, and what the core asks of this kind: see `headway.extension.Extension.kinds`.

Shapes: B batch, T length, D d_model, V vocabulary, N rows of a step.
"""

from torch import Tensor

from headway.config import ModelConfig
from headway.ext.kinds.examples import prepare_lines
from headway.model import (
    DecoderState,
    MakeMixer,
    Network,
    Output,
    Segments,
    SegmentsLike,
    initialize_linear_maps,
    make_decoder,
    make_embedding,
    make_positions,
    shift_right,
)
from headway.text import Tokenizer
from headway.training import ValidationReport

CARD = ("Language model", "text-generation", "headway lm . --generate 1")
load_tokenizer, prepare = Tokenizer.load, prepare_lines


class LanguageModel(Network):
    """The decoder alone, without encoder-decoder attention.

    Args:
        config: ``target_vocab_size`` and ``num_decoder_layers`` count; the encoder's settings do not.
        make_decoder_mixer: Makes the mixer of each layer, given its index; None: as configured.

    Examples:
        >>> model = LanguageModel(ModelConfig(target_vocab_size=1000, tying="target"))
        >>> text = torch.tensor([[5, 6, 7, 1]])
        >>> logits = model(text)  # [1, 4, 1000]; logits[:, t] predicts text[:, t]
    """

    def __init__(self, config: ModelConfig, *, make_decoder_mixer: MakeMixer | None = None) -> None:
        super().__init__()
        self.config = config
        self.embedding = make_embedding(config, "target")
        self.positions = make_positions(config)
        self.decoder = make_decoder(config, make_decoder_mixer, cross=False)
        self.output = Output(config)
        initialize_linear_maps(self)

    def forward(self, text_BT: Tensor, segments: SegmentsLike = None) -> Tensor:
        """Predict every token of [B, T] from those before it: logits [B, T, V]."""
        return self.logits(self.hidden(text_BT, text_BT, None, segments))

    def hidden(
        self,
        source_BS: Tensor,
        target_BT: Tensor,
        source_segments: SegmentsLike = None,
        target_segments: SegmentsLike = None,
    ) -> Tensor:
        """Return the target's last hidden states, [B, T, D]; the source is not read."""
        segments = Segments.of(target_segments, target_BT)
        shifted_BT = shift_right(target_BT, self.config.target_vocab_size - 1, segments)
        return self.decoder(self.positions(self.embedding(shifted_BT), segments), segments)

    def logits(self, hidden: Tensor) -> Tensor:
        """Map hidden states [..., D] to logits [..., V]."""
        return self.output(hidden, self.embedding.weight)

    def start(self) -> DecoderState:
        """Begin a step-by-step generation."""
        return self.decoder.start()

    def step(self, tokens_N: Tensor, state: DecoderState) -> Tensor:
        """Read one token a row, ``<pad>`` at the start, and predict the next: logits [N, V]."""
        x_N1D = self.positions(self.embedding(tokens_N)[:, None], start=state.position)
        return self.logits(self.decoder.step(x_N1D, state)[:, 0])


make_model = LanguageModel


def list_facts(config: ModelConfig, tokenizer: Tokenizer) -> dict[str, object]:
    """Return what ``headway info`` says of a language model."""
    return {"vocabulary": config.target_vocab_size, "layers": config.num_decoder_layers}


def describe_score(report: ValidationReport) -> str:
    """Return the score of a language model besides the perplexity: there is none."""
    return ""
