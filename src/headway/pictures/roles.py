"""The role of each head: where its largest weight falls, and how sharp its weights are.

Shapes: L layers, H heads. Words are separated by spaces. Paper: section 4, "individual attention
heads clearly learn to perform different tasks".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headway.errors import HeadwayError
from headway.pictures.maps import AttentionMap, AttentionMaps
from headway.pictures.occlusion import occlusion_links
from headway.pictures.sentences import compute_maps, read_sentence

if TYPE_CHECKING:
    from headway.inference import Translator

Counts = NDArray[np.float64]
Links = Sequence[tuple[int, int]]
LEAST_SHARE = 0.5  # A head has a role if at least this share of its queries follows it.


@dataclass(frozen=True)
class Head:
    """The habits of one head. Each is a share of the queries that could follow it; None: none could.

    The largest weight of a query decides. Queries with a single visible key do not count.

    Attributes:
        kind: encoder, decoder or cross.
        layer: From 0.
        head: From 0.
        aligns: To the source word to which the target word is aligned (cross).
        previous: To the token before the query (encoder, decoder).
        following: To the token after it (encoder).
        itself: To the token of the query (encoder, decoder).
        end: To ``</s>`` (encoder, cross).
        start: To ``<start>`` (decoder).
        entropy: Of the weights, in nats, the mean over queries.
        bleu_lost: The fall of BLEU when this head is switched off; None: not measured.
    """

    kind: str
    layer: int
    head: int
    aligns: float | None
    previous: float | None
    following: float | None
    itself: float | None
    end: float | None
    start: float | None
    entropy: float
    bleu_lost: float | None = None

    @property
    def place(self) -> tuple[str, int, int]:
        """Kind, layer and head."""
        return self.kind, self.layer, self.head

    @property
    def habits(self) -> dict[str, float]:
        """The shares that are not None."""
        shares = {name: getattr(self, name) for name in HABITS}
        return {name: share for name, share in shares.items() if share is not None}

    @property
    def role(self) -> str:
        """The habit that half of the queries or more follow, or an empty string."""
        name, share = max(self.habits.items(), key=lambda item: item[1], default=("", 0.0))
        return name if share >= LEAST_SHARE else ""


HABITS = ("aligns", "previous", "following", "itself", "end", "start")


def head_roles(
    translator: "Translator",
    sources: Sequence[str],
    references: Sequence[str],
    alignments: Sequence[Links] | None = None,
) -> list[Head]:
    """Measure all heads on sentence pairs, the references given to the decoder.

    Args:
        translator: Its model and tokenizer.
        sources: Raw text.
        references: Their translations.
        alignments: For each pair, (source word, target word) from 0. None: those of
            `occlusion_links`, which do not depend on attention.

    Raises:
        HeadwayError: If there are no pairs, or one is too long.
    """
    tallies: dict[str, Tally] = {}
    for number, (source, reference) in enumerate(zip(sources, references, strict=True)):
        if not source.strip() or not reference.strip():
            continue
        sentence = read_sentence(translator, source, reference)
        maps = compute_maps(translator, sentence)
        for kind, found in maps.maps.items():
            tally = tallies.setdefault(kind, Tally(kind, found.weights.shape[:2]))
            tally.add(found)
            if kind == "cross":
                links = (
                    occlusion_links(translator, sentence)
                    if alignments is None
                    else alignments[number]
                )
                tally.add_alignment(maps, links)
    if not tallies:
        raise HeadwayError("no sentence pairs to measure: source and reference are empty")
    return [head for tally in tallies.values() for head in tally.heads()]


class Tally:
    """Counts for all heads of one kind of attention."""

    def __init__(self, kind: str, shape: Sequence[int]) -> None:
        self.kind = kind
        self.shape = tuple(shape)
        self.seen: dict[str, float] = dict.fromkeys((*HABITS, "queries"), 0.0)
        self.done: dict[str, Counts] = {name: np.zeros(self.shape) for name in HABITS}
        self.entropy: Counts = np.zeros(self.shape)

    def add(self, found: AttentionMap) -> None:
        """Count the places of the largest weights of a sentence."""
        weights = found.weights.astype(np.float64)
        queries, keys = weights.shape[2:]
        # The first query of the decoder attends to itself only.
        first = 1 if self.kind == "decoder" else 0
        picked = weights.argmax(-1)
        place = np.arange(queries)
        if self.kind != "cross":
            self._count("itself", picked[..., first:] == place[first:])
            self._count("previous", picked[..., 1:] == place[1:] - 1)
        if self.kind == "encoder":
            self._count("following", picked[..., :-1] == place[:-1] + 1)
        if self.kind == "decoder":
            self._count("start", picked[..., first:] == 0)
        else:
            self._count("end", picked == keys - 1)
        logs = np.log(np.where(weights > 0, weights, 1.0))
        self.entropy += -(weights * logs).sum(-1)[..., first:].sum(-1)
        self.seen["queries"] += queries - first

    def add_alignment(self, maps: AttentionMaps, links: Links) -> None:
        """Count the target words for which each head picks an aligned source word."""
        words = maps.maps["cross"].words()
        sources: dict[int, set[int]] = {}
        for source, target in links:
            sources.setdefault(target, set()).add(source)
        rows, columns = words.weights.shape[2:]
        if any(t >= rows - 1 or max(s) >= columns - 1 for t, s in sources.items()):
            raise HeadwayError(
                f"the alignment names words that the sentences lack: {maps.source} | {maps.target}"
            )
        picked = words.weights.argmax(-1)
        for target, right in sources.items():
            self.seen["aligns"] += 1
            self.done["aligns"] += np.isin(picked[..., target], list(right))

    def _count(self, name: str, hits: NDArray[np.bool_]) -> None:
        self.seen[name] += hits.shape[-1]
        self.done[name] += hits.sum(-1)

    def heads(self) -> list[Head]:
        """Return the shares of each head."""
        return [
            Head(
                self.kind,
                layer,
                head,
                **{
                    name: float(self.done[name][layer, head] / self.seen[name])
                    if self.seen[name]
                    else None
                    for name in HABITS
                },
                entropy=float(self.entropy[layer, head] / max(self.seen["queries"], 1)),
            )
            for layer, head in np.ndindex(*self.shape)
        ]
