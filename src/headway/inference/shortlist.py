"""A lexical shortlist: the few target tokens that the tokens of a source are translated by.

The product with the output matrix and the softmax cost as much as several layers; with a shortlist they
are taken over some hundred tokens instead of the whole vocabulary. It is learned from the model's own
encoder-decoder attention over training text (Jean et al., 2015, take an aligner's), and picked for each
sentence alone, so that neighbours change nothing.

Shapes: B sentences, S source and T target tokens, N candidates of a source token.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.numpy import load_file
from torch.nn.utils.rnn import pad_sequence

from headway.errors import HeadwayError
from headway.inference.alignment import aligning_layer
from headway.inference.search import Ids
from headway.inference.weights import write_weights
from headway.model import Transformer, watch

FILE = "shortlist.safetensors"
LARGEST = 100  # candidates stored of a source token
COMMON = 200  # most frequent target tokens, always on the list
WEIGHT = 0.1  # attention below it is no alignment
BATCH = 64


class Shortlist:
    """Candidates for every source token.

    Args:
        candidates: [source vocabulary, N] target ids, the best first; -1: no more.
        common: Target ids that are always on the list.
    """

    def __init__(self, candidates: Ids, common: Ids) -> None:
        self.candidates, self.common = candidates, common

    def pick(self, source: Sequence[int], size: int, also: Iterable[int]) -> Ids:
        """Return the target ids worth looking at for a sentence, ascending.

        Args:
            source: Its ids.
            size: Candidates of each source token.
            also: Ids to add, such as ``</s>``.
        """
        own = self.candidates[np.unique(source), :size].ravel()
        return np.unique(np.concatenate((own[own >= 0], self.common, [*also]))).astype(np.int64)

    def save(self, directory: Path) -> None:
        """Write it beside a model."""
        values = {"candidates": self.candidates, "common": self.common}
        tensors = {name: torch.from_numpy(value.astype(np.int32)) for name, value in values.items()}
        write_weights(directory / FILE, tensors)

    @classmethod
    def load(cls, directory: Path, sizes: tuple[int, int]) -> "Shortlist":
        """Read what `save` wrote.

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
        try:
            values = load_file(file)
            candidates, common = (
                values[name].astype(np.int64) for name in ("candidates", "common")
            )
        except (SafetensorError, KeyError) as error:
            raise HeadwayError(f"{file}: damaged: {error}") from None
        if (candidates.ndim, common.ndim) != (2, 1):
            raise HeadwayError(f"{file}: damaged: not a table of candidates and a list")
        largest = max(candidates.max(initial=0), common.max(initial=0))
        if len(candidates) != sizes[0] or largest >= sizes[1] or common.min(initial=0) < 0:
            raise HeadwayError(f"{file}: of another vocabulary")
        return cls(candidates, common)


@torch.inference_mode()
def learn(
    model: Transformer,
    pairs: Iterable[tuple[Sequence[int], Sequence[int]]],
    tokens: int = 1_000_000,
) -> Shortlist:
    """Align training text by the model's attention and keep what each source token goes with.

    Args:
        model: In evaluation mode.
        pairs: Source and target ids, each with ``</s>``.
        tokens: Target tokens looked at, at most.
    """
    width = model.config.target_vocab_size
    counts: Counter[int] = Counter()  # by source id * width + target id
    frequency = np.zeros(width)
    layer = aligning_layer(model.config)
    device = model.source_embedding.weight.device
    batch: list[tuple[Sequence[int], Sequence[int]]] = []

    def count() -> None:
        source, target = (
            pad_sequence(
                [torch.tensor(side, dtype=torch.long) for side in sides],
                batch_first=True, padding_value=-1,
            )
            for sides in zip(*batch, strict=True)
        )  # fmt: skip
        real = (source >= 0).long().to(device)
        with watch(model) as seen:
            model(source.clamp(min=0).to(device), target.clamp(min=0).to(device), real)
        weight_BTS = seen.attention[layer].float().mean(1).cpu()
        aligned = (weight_BTS > WEIGHT) & (target >= 0)[:, :, None] & (source >= 0)[:, None, :]
        key_BTS = source[:, None, :] * width + target[:, :, None]
        keys, places = np.unique(key_BTS[aligned].numpy(), return_inverse=True)
        sums = np.bincount(places, weight_BTS[aligned].double().numpy(), minlength=len(keys))
        counts.update(dict(zip(keys.tolist(), sums.tolist(), strict=True)))
        np.add.at(frequency, target[target >= 0].numpy(), 1)
        batch.clear()

    for pair in pairs:
        batch.append(pair)
        if len(batch) == BATCH:
            count()
        if frequency.sum() >= tokens:
            break
    if batch:
        count()
    found = np.full((model.config.source_vocab_size, LARGEST), -1, dtype=np.int64)
    filled = np.zeros(len(found), dtype=np.int64)
    for key, _ in counts.most_common():
        source_id, target_id = divmod(key, width)
        if filled[source_id] < LARGEST:
            found[source_id, filled[source_id]] = target_id
            filled[source_id] += 1
    common = (-frequency).argsort(kind="stable")[:COMMON]
    return Shortlist(found, common[frequency[common] > 0])
