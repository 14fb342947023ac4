"""The encoder alone, which classifies text, and what the core asks of this kind: see `headway.extension.Extension.kinds`.

Shapes: B batch, S source length, T texts of a row, D d_model.
"""

import torch
from torch import Tensor

from headway.config import ModelConfig
from headway.ext.kinds.class_labels import LabelTokenizer
from headway.ext.kinds.examples import prepare_examples
from headway.model import (
    Linear,
    MakeMixer,
    Network,
    Segments,
    SegmentsLike,
    initialize_linear_maps,
    make_embedding,
    make_encoder,
    make_positions,
)
from headway.text import Tokenizer
from headway.training import ValidationReport

CARD = ("Classifier of texts", "text-classification", "headway classify . < texts")
load_tokenizer, prepare = LabelTokenizer.load, prepare_examples


class Classifier(Network):
    """The encoder alone, with a linear map on the mean of its outputs.

    Args:
        config: ``source_vocab_size`` and ``num_encoder_layers`` count.
        num_classes: How many classes there are.
        make_encoder_mixer: Makes the mixer of each layer, given its index; None: as configured.

    Examples:
        >>> model = Classifier(ModelConfig(source_vocab_size=1000, tying="none"), num_classes=2)
        >>> scores = model(torch.tensor([[5, 6, 7, 1]]))  # [1, 2]
    """

    has_labels = True

    def __init__(
        self,
        config: ModelConfig,
        num_classes: int,
        *,
        make_encoder_mixer: MakeMixer | None = None,
    ) -> None:
        super().__init__()
        self.config = config
        self.embedding = make_embedding(config, "source")
        self.positions = make_positions(config)
        self.encoder = make_encoder(config, make_encoder_mixer)
        self.output = Linear(config.d_model, num_classes)
        initialize_linear_maps(self)

    def forward(self, text_BS: Tensor, segments: SegmentsLike = None) -> Tensor:
        """Score every class for each row of [B, S]: [B, num_classes]; padding has segment 0."""
        return self.logits(self.hidden(text_BS, text_BS[:, :1], segments)[:, 0])

    def encode(self, text_BS: Tensor, segments: SegmentsLike = None) -> Tensor:
        """Return the encoder's outputs, [B, S, D]."""
        segments = Segments.of(segments, text_BS)
        return self.encoder(self.positions(self.embedding(text_BS), segments), segments)

    def hidden(
        self,
        source_BS: Tensor,
        target_BT: Tensor,
        source_segments: SegmentsLike = None,
        target_segments: SegmentsLike = None,
    ) -> Tensor:
        """Return the mean of the encoder's outputs for each text, [B, T, D].

        Args:
            source_BS: Texts, [B, S].
            target_BT: Only its width T counts: the most texts that a row holds.
            source_segments: [B, S]; 0 is padding, n the n-th text of a packed row; None: all 1.
            target_segments: Not read.
        """
        segments = Segments.of(source_segments, source_BS)
        x_BSD = self.encode(source_BS, segments)
        # In bf16 a sum of ones ends at 256.
        x_BSD = x_BSD.to(torch.promote_types(x_BSD.dtype, torch.float32))
        if segments is None:
            return x_BSD.mean(1, keepdim=True)
        inside_BS1 = (segments.ids != 0)[..., None].to(x_BSD.dtype)
        # Padding is counted as the first text, to whose sum it adds zeros.
        place_BS1 = (segments.ids - 1).clamp(min=0)[..., None]
        texts = len(x_BSD), target_BT.size(1)
        sums_BTD = x_BSD.new_zeros(*texts, x_BSD.size(2))
        sums_BTD = sums_BTD.scatter_add(1, place_BS1.expand_as(x_BSD), x_BSD * inside_BS1)
        counts_BT1 = inside_BS1.new_zeros(*texts, 1).scatter_add(1, place_BS1, inside_BS1)
        return sums_BTD / counts_BT1.clamp(min=1)

    def logits(self, hidden: Tensor) -> Tensor:
        """Map hidden states [..., D] to scores of the classes."""
        return self.output(hidden)


def make_model(config: ModelConfig) -> Classifier:
    """Return a classifier with one class for each id of the target vocabulary."""
    return Classifier(config, config.target_vocab_size)


def list_facts(config: ModelConfig, tokenizer: Tokenizer) -> dict[str, object]:
    """Return what ``headway info`` says of a classifier."""
    labels = tokenizer.labels if isinstance(tokenizer, LabelTokenizer) else ()
    return {
        "labels": tuple(labels),
        "vocabulary": config.source_vocab_size,
        "layers": config.num_encoder_layers,
    }


def describe_score(report: ValidationReport) -> str:
    """Return the score of a classifier besides the perplexity."""
    return f"accuracy {report.accuracy:.2f} %  "
