"""Attention weights with a label for each row and column.

Shapes: L layers, H heads. Paper: section 3.2.3.
"""

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.errors import HeadwayError
from headway.ext.pictures.labels import NAMES, word_groups, word_label


@dataclass(frozen=True)
class AttentionMap:
    """The weights of one kind of attention, with a label for every row and column.

    A label is a subword. The label of a subword that begins a word starts with a space, so that the
    labels, joined, are the text. The control symbols ``</s>`` and ``<start>`` are labels, too.

    Attributes:
        queries: Labels of the rows.
        keys: Labels of the columns.
        weights: [L, H, queries, keys], float32; rows sum to 1.
    """

    queries: list[str]
    keys: list[str]
    weights: NDArray[np.float32]

    def words(self) -> "AttentionMap":
        """Merge subwords into words: weights of keys are added, weights of queries averaged."""
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
    """The attention maps of one sentence pair.

    Attributes:
        source: The text.
        target: Its translation.
        maps: The maps by kind; a kind is absent if its layers use no attention.
            "encoder": rows and columns are the source subwords with ``</s>``.
            "cross": rows are the target subwords that are predicted, with ``</s>``; columns are the
            source subwords.
            "decoder": rows and columns are the *inputs* of the decoder, ``<start>`` first. The row of
            target subword t - 1 predicts subword t.
    """

    source: str
    target: str
    maps: dict[str, AttentionMap]

    def words(self) -> "AttentionMaps":
        """Merge subwords into words; ``</s>`` and ``<start>`` stay tokens of their own."""
        merged = {kind: attention.words() for kind, attention in self.maps.items()}
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
        """Return JSON values: ``source``, ``target``, and ``maps`` by kind, each with its labels.

        The weights of a map are base64 of bytes [L, H, queries, keys]; a weight is byte / 255.
        """
        return {
            "source": self.source,
            "target": self.target,
            "maps": {
                kind: {
                    "queries": attention.queries,
                    "keys": attention.keys,
                    "layers": attention.weights.shape[0],
                    "heads": attention.weights.shape[1],
                    "weights": _pack(attention.weights),
                }
                for kind, attention in self.maps.items()
            },
        }


def _pack(weights: NDArray[np.float32]) -> str:
    as_bytes = np.rint(np.clip(weights, 0, 1) * 255).astype(np.uint8)
    return base64.b64encode(as_bytes.tobytes()).decode("ascii")
