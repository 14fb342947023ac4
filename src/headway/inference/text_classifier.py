"""A classifier at work: raw texts to labels, with how sure it is and what it looked at.

Shapes: B texts, S tokens, H heads.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from headway.errors import HeadwayError
from headway.inference.batching import batch_by_length, pad_right
from headway.inference.devices import resolve_device
from headway.inference.directory import load_network
from headway.model import Classifier, watch
from headway.text.labels import LabelledText


@dataclass(frozen=True)
class Prediction:
    """What a classifier says of a text, or of a pair of texts.

    Attributes:
        label: The likeliest.
        probabilities: Of each label.
        pieces: The text's pieces, ``</s>`` after each part; only with attention.
        attention: For each piece the share of attention it got in the last layer, mean of all heads
            and positions; they sum to 1. Empty where the encoder has no attention.
    """

    label: str
    probabilities: dict[str, float]
    pieces: tuple[str, ...] = ()
    attention: tuple[float, ...] = ()


class TextClassifier:
    """Raw texts in, labels out.

    Args:
        model: In evaluation mode, on its device.
        tokenizer: Its own.

    Example:
        >>> labeller = TextClassifier.load("runs/languages")
        >>> labeller.predict([("Guten Morgen",)])[0].label
    """

    def __init__(self, model: Classifier, tokenizer: LabelledText) -> None:
        self.model, self.tokenizer = model, tokenizer
        self.device = model.embedding.weight.device

    @classmethod
    def load(cls, path: str | Path, device: str = "auto") -> "TextClassifier":
        """Read a run or model directory, onto a device: auto, cpu, cuda or cuda:N.

        Raises:
            HeadwayError: If it holds another kind of model, or there is no such device.
        """
        network, tokenizer, *_ = load_network(path)
        if not isinstance(network, Classifier) or not isinstance(tokenizer, LabelledText):
            raise HeadwayError(f"{path}: a {network.config.kind}, no classifier")
        return cls(network.to(resolve_device(device)), tokenizer)

    @torch.inference_mode()
    def predict(
        self,
        texts: Sequence[Sequence[str]],
        *,
        attention: bool = False,
        batch_tokens: int = 4000,
    ) -> list[Prediction]:
        """Label texts; neighbours change nothing but last bits.

        Args:
            texts: One part each, or two.
            attention: Also say what was looked at.
            batch_tokens: Padded tokens at once.
        """
        ids = [self.tokenizer.encode_parts(parts) for parts in texts]
        found: dict[int, Prediction] = {}
        for rows in batch_by_length([len(i) for i in ids], batch_tokens):
            text, segments = pad_right([ids[row] for row in rows], self.tokenizer.source_pad)
            text, segments = text.to(self.device), segments.to(self.device)
            with watch(self.model) as seen:
                p_BC = self.model(text, segments).float().softmax(1)
            looked = _received(list(seen.attention.values())[-1:], segments) if attention else None
            for place, (row, values) in enumerate(zip(rows, p_BC.tolist(), strict=True)):
                shares = looked[place, : len(ids[row])].tolist() if looked is not None else ()
                found[row] = Prediction(
                    label=self.tokenizer.labels[values.index(max(values))],
                    probabilities=dict(zip(self.tokenizer.labels, values, strict=True)),
                    pieces=tuple(self.tokenizer.source_pieces(ids[row])) if attention else (),
                    attention=tuple(shares),
                )
        return [found[row] for row in range(len(ids))]


def _received(maps: list[Tensor], segments_BS: Tensor) -> Tensor | None:
    """Return the mean attention that each position gets from those that are no padding, [B, S]."""
    if not maps:
        return None
    inside_BS = (segments_BS != 0).float()
    got_BS = (maps[0].float().mean(1) * inside_BS[..., None]).sum(1)
    return got_BS / inside_BS.sum(1, keepdim=True)
