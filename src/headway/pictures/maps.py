"""The attention maps of a batch, and of one sentence with a label for each token.

Shapes: L layers, B batch, H heads, S source tokens, T target tokens. Paper: section 3.2.3.
"""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from headway.errors import HeadwayError
from headway.model import Transformer, watch
from headway.pictures.labels import KINDS, NAMES, START, readable, word_groups, word_label
from headway.text.batches import Batch

if TYPE_CHECKING:
    from headway.inference import Translator

# The stack and the part of its layers that `watch` names.
_NAMES = {
    "encoder": ("encoder", "self"),
    "decoder": ("decoder", "self"),
    "cross": ("decoder", "cross"),
}
LONGEST_SOURCE = 256
LONGEST_TARGET = 512


@torch.inference_mode()
def attention_maps(model: Transformer, batch: Batch) -> dict[str, Tensor]:
    """Return the attention weights of every layer and head, by one forced forward pass.

    Args:
        model: On the batch's device. It is evaluated, without dropout, and left in its own mode.
        batch: Padded or packed; what is padding has rows too, which mean nothing.

    Returns:
        "encoder" [L, B, H, S, S], "decoder" [L, B, H, T, T] and "cross" [L, B, H, T, S], each row
        of queries summing to 1. A kind whose layers mix by something else than attention is absent.
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


@dataclass(frozen=True)
class AttentionMap:
    """The weights of one kind of attention, with a label for every row and column.

    A label is a piece as it stands in the text: one that begins a word begins with a space, so that
    the labels, joined, are the text. ``</s>`` and ``<start>`` stand for what is no text.

    Attributes:
        queries: Labels of the rows.
        keys: Labels of the columns.
        weights: [L, H, queries, keys], float32; rows sum to 1.
    """

    queries: list[str]
    keys: list[str]
    weights: NDArray[np.float32]

    def words(self) -> "AttentionMap":
        """Merge pieces to words: the weights of keys are summed, those of queries averaged."""
        rows, columns = word_groups(self.queries), word_groups(self.keys)
        summed = np.stack([self.weights[..., group].sum(-1) for group in columns], -1)
        averaged = np.stack([summed[:, :, group].mean(2) for group in rows], 2)
        return AttentionMap(
            [word_label([self.queries[i] for i in group]) for group in rows],
            [word_label([self.keys[i] for i in group]) for group in columns],
            averaged.astype(np.float32),
        )


@dataclass(frozen=True)
class AttentionMaps:
    """All that one sentence pair's tokens attended to.

    Attributes:
        source: The text.
        target: Its translation, given or found.
        maps: By kind; kinds without attention are absent. "encoder": source pieces with ``</s>`` on
            both sides. "cross": rows are the target pieces being predicted, with ``</s>``; columns
            the source's. "decoder": rows and columns are the decoder's *inputs*, ``<start>`` first
            and one behind: the row labelled with target piece t - 1 is the one that predicts piece
            t, and it is also the first that can see piece t - 1.
    """

    source: str
    target: str
    maps: dict[str, AttentionMap]

    def words(self) -> "AttentionMaps":
        """Merge pieces to words; ``</s>`` and ``<start>`` stay tokens of their own."""
        merged = {kind: found.words() for kind, found in self.maps.items()}
        return AttentionMaps(self.source, self.target, merged)

    def pick(self, kind: str) -> AttentionMap:
        """Return the map of a kind.

        Raises:
            HeadwayError: If the model has no such attention.
        """
        if kind not in self.maps:
            raise HeadwayError(
                f"this model has no {NAMES.get(kind, kind)}; it has: {', '.join(self.maps)}"
            )
        return self.maps[kind]

    def to_json(self) -> dict[str, Any]:
        """Return JSON values; weights as base64 of bytes [L, H, queries, keys], byte / 255."""
        return {
            "source": self.source,
            "target": self.target,
            "maps": {
                kind: {
                    "queries": found.queries,
                    "keys": found.keys,
                    "layers": found.weights.shape[0],
                    "heads": found.weights.shape[1],
                    "weights": _pack(found.weights),
                }
                for kind, found in self.maps.items()
            },
        }

    @classmethod
    def from_json(cls, values: Any) -> "AttentionMaps":
        """Read what `to_json` gives; weights are then within 1/510 of what they were.

        Raises:
            HeadwayError: If a field is missing or its size does not fit the others.
        """
        try:
            maps = {kind: _read_map(kind, found) for kind, found in values["maps"].items()}
            return cls(str(values["source"]), str(values["target"]), maps)
        except (LookupError, TypeError, AttributeError) as error:
            raise HeadwayError(f"attention maps: a field is missing or wrong: {error}") from None


def _pack(weights: NDArray[np.float32]) -> str:
    as_bytes = np.rint(np.clip(weights, 0, 1) * 255).astype(np.uint8)
    return base64.b64encode(as_bytes.tobytes()).decode("ascii")


def _read_map(kind: str, found: Any) -> AttentionMap:
    if kind not in KINDS:
        raise HeadwayError(f"attention maps: kind '{kind}' must be one of {', '.join(KINDS)}")
    queries, keys = [str(q) for q in found["queries"]], [str(k) for k in found["keys"]]
    shape = found["layers"], found["heads"], len(queries), len(keys)
    try:
        values = np.frombuffer(base64.b64decode(found["weights"], validate=True), np.uint8)
        weights = values.reshape(shape).astype(np.float32) / np.float32(255)
    except (binascii.Error, ValueError, TypeError):
        raise HeadwayError(
            f"attention maps: {kind}.weights must be base64 of {' x '.join(map(str, shape))} bytes"
        ) from None
    return AttentionMap(queries, keys, weights)


def sentence_maps(
    translator: "Translator", source: str, target: str | None = None
) -> AttentionMaps:
    """Return the attention maps of one sentence and its translation.

    Args:
        translator: Its model and tokenizer; its own search if a translation is to be found.
        source: Text of at most 256 tokens, ``</s>`` included; it is not cut into parts.
        target: Its translation, of at most 512 tokens; None: the translator's. A found translation
            is encoded again, as a trained model spells it.

    Raises:
        HeadwayError: If a side is too long, or there is no source text.
    """
    return maps_of(translator, read_sentence(translator, source, target))


def maps_of(translator: "Translator", sentence: "Sentence") -> AttentionMaps:
    """Return the attention maps of a sentence that has been read."""
    maps = {
        kind: AttentionMap(*sentence.labels[kind], weights[:, 0].float().cpu().numpy())
        for kind, weights in attention_maps(translator.model, sentence.batch).items()
    }
    return AttentionMaps(sentence.source, sentence.target, maps)


@dataclass(frozen=True)
class Sentence:
    """A sentence pair, ready for the model.

    Attributes:
        source: The text.
        target: Its translation.
        batch: Both, a batch of one.
        labels: For each kind of attention those of queries and keys, as `AttentionMaps` has them.
    """

    source: str
    target: str
    batch: Batch
    labels: dict[str, tuple[list[str], list[str]]]


def read_sentence(translator: "Translator", source: str, target: str | None) -> Sentence:
    """Encode a sentence pair and label its tokens; see `sentence_maps`."""
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
        rows=np.zeros(1, np.int64),
        target_tokens=len(target_ids),
    )
    read = readable(tokenizer.source_pieces(ids))
    predicted = readable(tokenizer.target_pieces(target_ids))
    inputs = [START, *predicted[:-1]]
    labels = {"encoder": (read, read), "decoder": (inputs, inputs), "cross": (predicted, read)}
    return Sentence(source, target, batch.to(translator.device), labels)


def source_ids(translator: "Translator", source: str) -> list[int]:
    """Encode a source text.

    Raises:
        HeadwayError: If it is blank or too long for `sentence_maps`.
    """
    if not source.strip():
        raise HeadwayError("attention maps need a sentence: the source is blank")
    [ids] = translator.tokenizer.encode_source([source.strip()])
    _check_length("source", ids, LONGEST_SOURCE)
    return ids


def _check_length(side: str, ids: Sequence[int], longest: int) -> None:
    if len(ids) > longest:
        raise HeadwayError(
            f"attention maps: the {side} has {len(ids)} tokens, at most {longest} can be drawn:"
            " give a shorter sentence"
        )
