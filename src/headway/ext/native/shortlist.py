"""Lexical shortlists: the few target tokens that usually translate the tokens of a source.

The product with the output matrix and the softmax cost as much as several layers. With a shortlist they
cover some hundred tokens instead of the whole vocabulary. A shortlist is learned from the encoder-decoder
attention of the model over training text (Jean et al., 2015, use a word aligner). Each sentence has its own
shortlist, so its translation does not depend on its batch.

Shapes: B sentences, S source and T target tokens, N candidates of a source token.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from torch.nn.utils.rnn import pad_sequence

from headway.errors import HeadwayError
from headway.model import Transformer, watch
from headway.translation import Ids, check_header, single_layer, write_weights

FILE = "shortlist.safetensors"
MAX_CANDIDATES = 100  # stored for a source token
COMMON = 200  # most frequent target tokens, which are always on the list
MIN_WEIGHT = 0.1  # attention weights below this align nothing


class Shortlist(NamedTuple):
    """The candidates of every source token.

    Attributes:
        candidates: [source vocabulary, N] target ids, the best first; -1 fills the rest of a row.
        common: Target ids that are always on the list.
    """

    candidates: Ids
    common: Ids

    def pick(self, source: Sequence[int], size: int, also: Iterable[int]) -> Ids:
        """Return the shortlist of a sentence: target ids, ascending.

        Args:
            source: Token ids of the sentence.
            size: Candidates for each source token.
            also: Ids to add, such as ``</s>``.
        """
        own = self.candidates[np.unique(source), :size].ravel()
        return np.unique(np.concatenate((own[own >= 0], self.common, [*also]))).astype(np.int64)

    def save(self, directory: Path) -> None:
        """Write the file to a model directory."""
        values = {"candidates": self.candidates, "common": self.common}
        tensors = {name: torch.from_numpy(value.astype(np.int32)) for name, value in values.items()}
        write_weights(directory / FILE, tensors)


def load_shortlist(directory: Path, sizes: tuple[int, int]) -> Shortlist:
    """Return the shortlist of a model.

    Args:
        directory: Of the model.
        sizes: Of the source and the target vocabulary.

    Raises:
        HeadwayError: If there is none, or it is none of this model.
    """
    file = directory / FILE
    if not file.is_file():
        raise HeadwayError(
            f"search.shortlist: {directory} has no {FILE}; `headway train RUN --search.shortlist N`"
            " writes it at the end of a run, or of one that has ended"
        )
    check_header(file)
    try:
        with safe_open(file, framework="numpy") as stored:
            shapes = [stored.get_slice(name).get_shape() for name in ("candidates", "common")]
            _check_shapes(file, shapes, sizes)
            candidates, common = (
                stored.get_tensor(name).astype(np.int64) for name in ("candidates", "common")
            )
    except (SafetensorError, TypeError) as error:  # TypeError: a type that numpy has not
        raise HeadwayError(f"{file}: damaged: {error}") from None
    largest = max(candidates.max(initial=0), common.max(initial=0))
    if largest >= sizes[1] or min(common.min(initial=0), candidates.min(initial=0) + 1) < 0:
        raise HeadwayError(f"{file}: of another vocabulary")
    return Shortlist(candidates, common)


def _check_shapes(file: Path, shapes: list[list[int]], sizes: tuple[int, int]) -> None:
    """Check the shapes of the two tables before they are read."""
    table, common = shapes
    if (len(table), len(common)) != (2, 1) or table[1] > MAX_CANDIDATES:
        raise HeadwayError(f"{file}: damaged: not a table of candidates and a list")
    if table[0] != sizes[0] or common[0] > sizes[1]:
        raise HeadwayError(f"{file}: of another vocabulary")


class ShortlistLearner:
    """Aligns training text by the attention of a model, and collects the candidates of each source token.

    Args:
        model: In evaluation mode.

    Attributes:
        frequency: How often each target token was seen, [target vocabulary].
    """

    def __init__(self, model: Transformer) -> None:
        self.model = model
        self.frequency = np.zeros(model.config.target_vocab_size)
        self._weights: Counter[int] = Counter()  # by source id * target vocabulary + target id

    @torch.inference_mode()
    def add(self, pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> None:
        """Align a batch of pairs: source and target ids, each with ``</s>``."""
        source, target = (
            pad_sequence(
                [torch.tensor(side, dtype=torch.long) for side in sides],
                batch_first=True, padding_value=-1,
            )
            for sides in zip(*pairs, strict=True)
        )  # fmt: skip
        device = self.model.source_embedding.weight.device
        real = (source >= 0).long().to(device)
        [layer] = single_layer(self.model.config)
        name = f"decoder.layers.{layer}.cross"
        with watch(self.model, name) as seen:
            self.model(source.clamp(min=0).to(device), target.clamp(min=0).to(device), real)
        weight_BTS = seen.attention[name].float().mean(1).cpu()
        aligned = (weight_BTS > MIN_WEIGHT) & (target >= 0)[:, :, None] & (source >= 0)[:, None, :]
        key_BTS = source[:, None, :] * len(self.frequency) + target[:, :, None]
        keys, places = np.unique(key_BTS[aligned].numpy(), return_inverse=True)
        sums = np.bincount(places, weight_BTS[aligned].double().numpy(), minlength=len(keys))
        self._weights.update(dict(zip(keys.tolist(), sums.tolist(), strict=True)))
        np.add.at(self.frequency, target[target >= 0].numpy(), 1)

    def shortlist(self) -> Shortlist:
        """Return the shortlist of the pairs so far."""
        shape = self.model.config.source_vocab_size, MAX_CANDIDATES
        found = np.full(shape, -1, dtype=np.int64)
        filled = np.zeros(len(found), dtype=np.int64)
        for key, _ in self._weights.most_common():
            source_id, target_id = divmod(key, len(self.frequency))
            if filled[source_id] < MAX_CANDIDATES:
                found[source_id, filled[source_id]] = target_id
                filled[source_id] += 1
        common = (-self.frequency).argsort(kind="stable")[:COMMON]
        return Shortlist(found, common[self.frequency[common] > 0])
