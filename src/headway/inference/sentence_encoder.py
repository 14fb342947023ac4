"""Sentences as vectors: what an encoder makes of them, one vector a sentence and layer.

Shapes: B sentences, S tokens, D d_model, L layers.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from headway.errors import HeadwayError
from headway.inference.batching import batch_by_length, pad_right
from headway.inference.devices import resolve_device
from headway.inference.directory import load_network
from headway.model import Classifier, Transformer, watch
from headway.text.labels import LabelledText
from headway.text.tokenizer import Tokenizer

Pooling = Literal["mean", "first"]


class SentenceEncoder:
    """Raw sentences in, vectors out, by a translator's or a classifier's encoder.

    Args:
        model: In evaluation mode, on its device.
        tokenizer: Its own.

    Example:
        >>> SentenceEncoder.load("runs/mine").encode(["A sentence."]).shape  # (1, 1, d_model)
    """

    def __init__(self, model: Transformer | Classifier, tokenizer: Tokenizer) -> None:
        self.model, self.tokenizer = model, tokenizer
        self.device = next(model.parameters()).device

    @classmethod
    def load(cls, path: str | Path, device: str = "auto") -> "SentenceEncoder":
        """Read a run or model directory, onto a device: auto, cpu, cuda or cuda:N.

        Raises:
            HeadwayError: If its model has no encoder, or there is no such device.
        """
        network, tokenizer, *_ = load_network(path)
        if not isinstance(network, Transformer | Classifier):
            raise HeadwayError(f"{path}: a language model has no encoder")
        return cls(network.to(resolve_device(device)), tokenizer)

    @torch.inference_mode()
    def encode(
        self,
        sentences: Sequence[str],
        *,
        every_layer: bool = False,
        pooling: Pooling = "mean",
        batch_tokens: int = 4000,
    ) -> Any:
        """Return float32 [sentences, L, D]; neighbours change nothing but last bits.

        Args:
            sentences: Raw text; for a classifier a TAB parts a pair.
            every_layer: One vector for each layer, the first one first; else of the last alone. The
                last is what the decoder reads: a pre-norm model's is normalised.
            pooling: The mean of all tokens, ``</s>`` included, or the first token's.
            batch_tokens: Padded tokens at once.
        """
        ids = self._encode(sentences)
        layers = self.model.config.num_encoder_layers if every_layer else 1
        found = np.zeros((len(ids), layers, self.model.config.d_model), np.float32)
        for rows in batch_by_length([len(i) for i in ids], batch_tokens):
            text, segments = pad_right([ids[row] for row in rows], self.tokenizer.source_pad)
            text, segments = text.to(self.device), segments.to(self.device)
            with watch(self.model) as seen:
                last_BSD = self.model.encode(text, segments)
            outputs = [seen.outputs[f"encoder.layers.{n}"] for n in range(layers - 1)]
            x_BLSD = torch.stack([*outputs, last_BSD], 1).float()
            if pooling == "first":
                x_BLD = x_BLSD[:, :, 0]
            else:
                inside = (segments != 0)[:, None, :, None].float()
                x_BLD = (x_BLSD * inside).sum(2) / inside.sum(2)
            found[rows] = x_BLD.cpu().numpy()
        return found

    def _encode(self, sentences: Sequence[str]) -> list[list[int]]:
        if isinstance(self.tokenizer, LabelledText):
            return [self.tokenizer.encode_parts(text.split("\t")) for text in sentences]
        return self.tokenizer.encode_source(list(sentences))
