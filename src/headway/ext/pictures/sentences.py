"""The attention of a batch, and of one sentence with a label for each token.

Shapes: L layers, B batch, H heads, S source tokens, T target tokens. Paper: section 3.2.3.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from headway.errors import HeadwayError
from headway.ext.pictures.labels import START, readable
from headway.ext.pictures.maps import AttentionMap, AttentionMaps
from headway.model import MultiHeadAttention, Transformer, watch
from headway.text import Batch

if TYPE_CHECKING:
    from headway.translation import Translator

# The stack of each kind, and the sub-layer in its layers, named as by `watch`.
_NAMES = {
    "encoder": ("encoder", "self"),
    "decoder": ("decoder", "self"),
    "cross": ("decoder", "cross"),
}
LONGEST_SOURCE = 256  # tokens
LONGEST_TARGET = 512  # tokens


def find_attention(model: Transformer, kind: str, layer: int) -> MultiHeadAttention | None:
    """Return the heads of one kind of attention in a layer, from 0; None: it mixes positions in another way."""
    stack = model.encoder if kind == "encoder" else model.decoder
    module = stack.layers[layer]
    found = module.cross if kind == "cross" else getattr(module.mixer, "attention", None)
    return found if isinstance(found, MultiHeadAttention) else None


@torch.inference_mode()
def attention_maps(model: Transformer, batch: Batch) -> dict[str, Tensor]:
    """Return the attention weights of every layer and head, by one forced forward pass.

    Args:
        model: A model on the device of the batch. It runs without dropout; its mode is restored.
        batch: A padded or packed batch. The rows of padding have no meaning.

    Returns:
        "encoder" [L, B, H, S, S], "decoder" [L, B, H, T, T] and "cross" [L, B, H, T, S], each row
        of queries summing to 1. A kind is absent if its layers use no attention.
        Row t of "decoder" and "cross" belongs to the prediction of target token t.
    """
    training = model.training
    model.eval()
    try:
        with watch(model) as seen:
            model(batch.source, batch.target, batch.source_segments, batch.target_segments)
    finally:
        model.train(training)
    found: dict[str, Tensor] = {}
    for kind, (stack, part) in _NAMES.items():
        count = len(getattr(model, stack).layers)
        layers = [seen.attention.get(f"{stack}.layers.{i}.{part}") for i in range(count)]
        there = [weights for weights in layers if weights is not None]
        if there:
            found[kind] = torch.stack(there)
    return found


def sentence_maps(
    translator: "Translator", source: str, target: str | None = None
) -> AttentionMaps:
    """Return the attention maps of one sentence and its translation.

    Args:
        translator: The model and its tokenizer.
        source: Text of at most 256 tokens, with ``</s>``. It is translated at once, even if it has
            several sentences.
        target: Its translation, of at most 512 tokens; None: the translator's. That translation is
            tokenized again, because the search may have chosen other subwords.

    Raises:
        HeadwayError: If a side is too long, or the source is blank.
    """
    return compute_maps(translator, read_sentence(translator, source, target))


def compute_maps(translator: "Translator", sentence: "SentencePair") -> AttentionMaps:
    """Return the attention maps of an encoded sentence pair."""
    maps = {
        kind: AttentionMap(*sentence.labels[kind], weights[:, 0].float().cpu().numpy())
        for kind, weights in attention_maps(translator.model, sentence.batch).items()
    }
    return AttentionMaps(sentence.source, sentence.target, maps)


@dataclass(frozen=True)
class SentencePair:
    """An encoded sentence pair.

    Attributes:
        source: The source text.
        target: The translation.
        batch: A batch of this pair.
        labels: The labels of queries and keys for each kind of attention, as in `AttentionMaps`.
    """

    source: str
    target: str
    batch: Batch
    labels: dict[str, tuple[list[str], list[str]]]


def read_sentence(translator: "Translator", source: str, target: str | None) -> SentencePair:
    """Encode a sentence pair and label its tokens, as for `sentence_maps`."""
    tokenizer, source = translator.tokenizer, source.strip()
    ids = source_ids(translator, source)
    target = translator.translate(source) if target is None else target.strip()
    [target_ids] = tokenizer.encode_target([target])
    _check_length("target", target_ids, LONGEST_TARGET)
    batch = Batch(
        source=torch.tensor([ids]),
        source_segments=torch.ones(1, len(ids), dtype=torch.int64),
        target=torch.tensor([target_ids]),
        target_segments=torch.ones(1, len(target_ids), dtype=torch.int64),
        pair_indices=np.zeros(1, np.int64),
        target_tokens=len(target_ids),
    )
    read = readable(tokenizer.source_subwords(ids))
    predicted = readable(tokenizer.target_subwords(target_ids))
    inputs = [START, *predicted[:-1]]
    labels = {"encoder": (read, read), "decoder": (inputs, inputs), "cross": (predicted, read)}
    return SentencePair(source, target, batch.to(translator.device), labels)


def source_ids(translator: "Translator", source: str) -> list[int]:
    """Encode a source text.

    Raises:
        HeadwayError: If it is blank or too long for `sentence_maps`.
    """
    if not source.strip():
        raise HeadwayError("attention maps need a sentence: the source is blank")
    translator.check_direction()
    [ids] = translator.tokenizer.encode_source([source.strip()])
    _check_length("source", ids, LONGEST_SOURCE)
    return ids


def _check_length(side: str, ids: Sequence[int], longest: int) -> None:
    if len(ids) > longest:
        raise HeadwayError(
            f"attention maps: the {side} has {len(ids)} tokens, at most {longest} can be drawn:"
            " give a shorter sentence"
        )
