"""Sentences as vectors: one vector for each sentence and layer of an encoder.

Shapes: B sentences, S tokens, D d_model, L layers.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from headway.ext.kinds.class_labels import LabelTokenizer
from headway.ext.kinds.classifier import Classifier
from headway.ext.kinds.examples import split_parts
from headway.ext.kinds.text_model import TextModel
from headway.model import Record, Transformer, watch
from headway.text import Tokenizer
from headway.translation import padded_batches

Pooling = Literal["mean", "first"]


class SentenceEncoder(TextModel[Transformer | Classifier, Tokenizer]):
    """Raw sentences in, vectors out, by the encoder of a translation model or a classifier.

    Args:
        model: In evaluation mode, on its device.
        tokenizer: The tokenizer that it was trained with.

    Examples:
        >>> SentenceEncoder.load("runs/mine").encode(["A sentence."]).shape  # (1, 1, d_model)
    """

    NETWORKS = (Transformer, Classifier)
    REFUSED = "a {} has no encoder"

    @torch.inference_mode()
    def encode(
        self,
        sentences: Sequence[str],
        *,
        every_layer: bool = False,
        pooling: Pooling = "mean",
        batch_tokens: int = 4000,
    ) -> NDArray[np.float32]:
        """Return the vectors of sentences; other sentences of a batch change only the last bits.

        Args:
            sentences: Raw text; for a classifier, TAB separates the texts of a pair.
            every_layer: One vector for each layer, the first layer first; else for the last one only. The
                last one is the decoder's input, which is normalized in a pre-norm model.
            pooling: The mean over all tokens, ``</s>`` included, or the vector of the first token.
            batch_tokens: Tokens of a batch, padding included.

        Returns:
            [sentences, L, D].
        """
        ids = self._encode(sentences)
        layers = self.model.config.num_encoder_layers if every_layer else 1
        found = np.zeros((len(ids), layers, self.model.config.d_model), np.float32)
        below = [f"encoder.layers.{number}" for number in range(layers - 1)]
        pad = self.tokenizer.source_pad
        for rows, text, segments in padded_batches(ids, batch_tokens, pad, self.device):
            with watch(self.model, below) if below else nullcontext(Record()) as seen:
                last_BSD = self.model.encode(text, segments)
            x_BLSD = torch.stack([*(seen.outputs[name] for name in below), last_BSD], 1).float()
            if pooling == "first":
                x_BLD = x_BLSD[:, :, 0]
            else:
                inside = (segments != 0)[:, None, :, None].float()
                x_BLD = (x_BLSD * inside).sum(2) / inside.sum(2)
            found[rows] = x_BLD.cpu().numpy()
        return found

    def _encode(self, sentences: Sequence[str]) -> list[list[int]]:
        if isinstance(self.tokenizer, LabelTokenizer) and not isinstance(sentences, str):
            return [self.tokenizer.encode_parts(split_parts(text)) for text in sentences]
        return self.tokenizer.encode_source(sentences)
