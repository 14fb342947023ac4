"""The role of each head: the place of its largest weights, and the entropy of its weights.

Shapes: L layers, H heads. Words are separated by spaces. Paper: section 4, "individual attention
heads clearly learn to perform different tasks".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headway.errors import HeadwayError
from headway.ext.pictures.maps import AttentionMap, AttentionMaps
from headway.ext.pictures.occlusion import occlusion_links
from headway.ext.pictures.sentences import compute_maps, read_sentence

if TYPE_CHECKING:
    from headway.translation import Translator

Counts = NDArray[np.float64]
Links = Sequence[tuple[int, int]]
LEAST_SHARE = 0.5  # of its queries must follow a role that the head has


@dataclass(frozen=True)
class Head:
    """How often one head plays each role.

    The number of a role is the share of queries whose largest weight falls on the role's key, or None
    if the role does not exist in this kind of attention. Queries with a single visible key do not count.

    Attributes:
        kind: encoder, decoder or cross.
        layer: The layer, from 0.
        head: The head, from 0.
        aligns: The key is the source word that is aligned to the target word (cross).
        previous: The key is the token before the query (encoder, decoder).
        following: The key is the token after the query (encoder).
        itself: The key is the token of the query (encoder, decoder).
        end: The key is ``</s>`` (encoder, cross).
        start: The key is ``<start>`` (decoder).
        entropy: The mean entropy of the weights over the queries, in nats.
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
    def shares(self) -> dict[str, float]:
        """The share of each role that is not None."""
        shares = {name: getattr(self, name) for name in ROLES}
        return {name: share for name, share in shares.items() if share is not None}

    @property
    def role(self) -> str:
        """The role that at least half of the queries follow, or an empty string."""
        name, share = max(self.shares.items(), key=lambda item: item[1], default=("", 0.0))
        return name if share >= LEAST_SHARE else ""


ROLES = ("aligns", "previous", "following", "itself", "end", "start")


def head_roles(
    translator: "Translator",
    sources: Sequence[str],
    references: Sequence[str],
    alignments: Sequence[Links] | None = None,
) -> list[Head]:
    """Measure all heads on sentence pairs, the references given to the decoder.

    Args:
        translator: The model and its tokenizer.
        sources: Raw text.
        references: The translations of the sources.
        alignments: The aligned words of each pair, (source word, target word) from 0. None: those
            of `occlusion_links`, which do not depend on attention.

    Raises:
        HeadwayError: If there are no pairs, or one is too long.
    """
    tallies: dict[str, Tally] = {}
    # The symbol of the target language stands before the words of the source.
    words_before = 1 if translator.tokenizer.target_language else 0
    for number, (source, reference) in enumerate(zip(sources, references, strict=True)):
        if not source.strip() or not reference.strip():
            continue
        sentence = read_sentence(translator, source, reference)
        maps = compute_maps(translator, sentence)
        for kind, attention in maps.maps.items():
            tally = tallies.setdefault(kind, Tally(kind, attention.weights.shape[:2]))
            tally.add(attention)
            if kind == "cross":
                links = (
                    occlusion_links(translator, sentence)
                    if alignments is None
                    else alignments[number]
                )
                tally.add_alignment(maps, [(words_before + s, t) for s, t in links])
    if not tallies:
        raise HeadwayError("no sentence pairs to measure: source and reference are empty")
    return [head for tally in tallies.values() for head in tally.heads()]


class Tally:
    """Counts for all heads of one kind of attention."""

    def __init__(self, kind: str, shape: Sequence[int]) -> None:
        self.kind = kind
        self.shape = tuple(shape)
        self.possible: dict[str, float] = dict.fromkeys((*ROLES, "queries"), 0.0)
        self.hits: dict[str, Counts] = {name: np.zeros(self.shape) for name in ROLES}
        self.entropy: Counts = np.zeros(self.shape)

    def add(self, attention: AttentionMap) -> None:
        """Count the places of the largest weights of a sentence."""
        weights = attention.weights.astype(np.float64)
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
        self.possible["queries"] += queries - first

    def add_alignment(self, maps: AttentionMaps, links: Links) -> None:
        """Count the target words for which each head picks an aligned source word.

        Args:
            maps: The maps of the sentence.
            links: Pairs (word of the source, word of the target) of these maps, from 0.
        """
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
            self.possible["aligns"] += 1
            self.hits["aligns"] += np.isin(picked[..., target], list(right))

    def _count(self, name: str, hits: NDArray[np.bool_]) -> None:
        self.possible[name] += hits.shape[-1]
        self.hits[name] += hits.sum(-1)

    def heads(self) -> list[Head]:
        """Return the shares of each head."""
        return [
            Head(
                self.kind,
                layer,
                head,
                **{
                    name: float(self.hits[name][layer, head] / self.possible[name])
                    if self.possible[name]
                    else None
                    for name in ROLES
                },
                entropy=float(self.entropy[layer, head] / max(self.possible["queries"], 1)),
            )
            for layer, head in np.ndindex(*self.shape)
        ]
