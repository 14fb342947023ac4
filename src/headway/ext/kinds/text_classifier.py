"""Classify raw texts: labels, their probabilities, and the attention to each token.

Shapes: B texts, S tokens, H heads.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor

from headway.ext.kinds.class_labels import LabelTokenizer
from headway.ext.kinds.classifier import Classifier
from headway.ext.kinds.text_model import TextModel
from headway.model import Record, watch
from headway.translation import padded_batches


@dataclass(frozen=True)
class Prediction:
    """The prediction of a classifier for a text, or for a pair of texts.

    Attributes:
        label: The likeliest label.
        probabilities: The probability of each label.
        tokens: The tokens of the text, ``</s>`` after each part; empty unless attention is asked for.
        attention: How much the positions of the last layer attend to each token, mean over heads and
            positions. The numbers sum to 1; there are none if the encoder has no attention.
    """

    label: str
    probabilities: dict[str, float]
    tokens: tuple[str, ...] = ()
    attention: tuple[float, ...] = ()


class TextClassifier(TextModel[Classifier, LabelTokenizer]):
    """Raw texts in, labels out, by a classifier.

    Args:
        model: In evaluation mode, on its device.
        tokenizer: The tokenizer that it was trained with, which knows the labels.

    Examples:
        >>> classifier = TextClassifier.load("runs/languages")
        >>> classifier.predict([("Guten Morgen",)])[0].label
    """

    NETWORKS = (Classifier,)
    REFUSED = "is a {}, not a classifier"

    @torch.inference_mode()
    def predict(
        self,
        texts: Sequence[Sequence[str]],
        *,
        attention: bool = False,
        batch_tokens: int = 4000,
    ) -> list[Prediction]:
        """Predict the labels of texts; other texts of a batch change only the last bits.

        Args:
            texts: For each text one part, or two for a pair.
            attention: Also return tokens and attention.
            batch_tokens: Tokens of a batch, padding included.
        """
        ids = [self.tokenizer.encode_parts(parts) for parts in texts]
        found: dict[int, Prediction] = {}
        last = f"encoder.layers.{self.model.config.num_encoder_layers - 1}.self"
        pad = self.tokenizer.source_pad
        for rows, text, segments in padded_batches(ids, batch_tokens, pad, self.device):
            with watch(self.model, last) if attention else nullcontext(Record()) as seen:
                p_BC = self.model(text, segments).float().softmax(1)
            attended = _mean_attention(seen.attention.get(last), segments)
            for place, (row, values) in enumerate(zip(rows, p_BC.tolist(), strict=True)):
                shares = attended[place, : len(ids[row])].tolist() if attended is not None else ()
                found[row] = Prediction(
                    label=self.tokenizer.labels[values.index(max(values))],
                    probabilities=dict(zip(self.tokenizer.labels, values, strict=True)),
                    tokens=tuple(self.tokenizer.source_subwords(ids[row])) if attention else (),
                    attention=tuple(shares),
                )
        return [found[row] for row in range(len(ids))]


def _mean_attention(weights_BHSS: Tensor | None, segments_BS: Tensor) -> Tensor | None:
    """Return the mean attention of all positions but padding to each position, [B, S]."""
    if weights_BHSS is None:
        return None
    inside_BS = (segments_BS != 0).float()
    sum_BS = (weights_BHSS.float().mean(1) * inside_BS[..., None]).sum(1)
    return sum_BS / inside_BS.sum(1, keepdim=True)
