"""The role of each head: the place of its largest weights, and the entropy of its weights.

Shapes: L layers, H heads. Words are separated by spaces. Paper: section 4, "individual attention
heads clearly learn to perform different tasks".
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headway.ext.pictures.maps import AttentionMap
from headway.ext.pictures.occlusion import occlusion_links
from headway.ext.pictures.sentences import compute_maps, read_sentence

if TYPE_CHECKING:
    from headway.translation import Translator

Links = Sequence[tuple[int, int]]
LEAST_SHARE = 0.5  # of its queries must follow a role that the head has
# The key of each role: the source word that is aligned to the target word (cross), the token before the query (encoder,
# decoder), the one after it (encoder), the query's own token (encoder, decoder), </s> (encoder, cross), <start> (decoder).
ROLES = ("aligns", "previous", "following", "itself", "end", "start")


@dataclass(frozen=True)
class Head:
    """How often one head plays each role.

    Attributes:
        kind: encoder, decoder or cross.
        layer: The layer, from 0.
        head: The head, from 0.
        shares: For each of `ROLES` that this kind of attention has, the share of queries whose largest weight falls on
            the role's key. Queries with a single visible key do not count.
        entropy: The mean entropy of the weights over the queries, in nats.
        bleu_lost: The fall of BLEU when this head is switched off; None: not measured.
    """

    kind: str
    layer: int
    head: int
    shares: dict[str, float]
    entropy: float
    bleu_lost: float | None = None

    @property
    def place(self) -> tuple[str, int, int]:
        """Kind, layer and head."""
        return self.kind, self.layer, self.head

    @property
    def role(self) -> str:
        """The role that at least half of the queries follow, or an empty string."""
        name, share = max(self.shares.items(), key=lambda item: item[1], default=("", 0.0))
        return name if share >= LEAST_SHARE else ""

    def to_json(self) -> dict[str, Any]:
        """Return JSON values; a role that this kind of attention lacks is None."""
        shares = {name: self.shares.get(name) for name in ROLES}
        place = {"kind": self.kind, "layer": self.layer, "head": self.head}
        values = {"entropy": self.entropy, "bleu_lost": self.bleu_lost, "role": self.role}
        return {**place, **shares, **values}


def head_roles(
    translator: "Translator", sources: Sequence[str], references: Sequence[str]
) -> list[Head]:
    """Measure all heads on sentence pairs, the references given to the decoder.

    Args:
        translator: The model and its tokenizer.
        sources: Raw text.
        references: The translations of the sources. Their words are aligned by `occlusion_links`, without attention.

    Raises:
        HeadwayError: If a pair is too long, or blank.
    """
    measured: dict[tuple[str, str], list[NDArray[Any]]] = defaultdict(list)
    # The symbol of the target language stands before the words of the source.
    words_before = 1 if translator.tokenizer.target_language else 0
    for source, reference in zip(sources, references, strict=True):
        sentence = read_sentence(translator, source, reference)
        for kind, attention in compute_maps(translator, sentence).maps.items():
            found = measure_roles(kind, attention)
            if kind == "cross":
                links = occlusion_links(translator, sentence)
                found["aligns"] = find_aligned(attention, [(words_before + s, t) for s, t in links])
            for name, values in found.items():
                measured[kind, name].append(values)
    return average_roles(measured)


def measure_roles(kind: str, attention: AttentionMap) -> dict[str, NDArray[Any]]:
    """Return for each role, and for the entropy, the value of each query that counts, [L, H, queries].

    The value of a role is whether the query's largest weight falls on the role's key.
    """
    weights = attention.weights.astype(np.float64)
    picked, place = weights.argmax(-1), np.arange(weights.shape[2])
    # The first query of the decoder attends to itself only.
    first = 1 if kind == "decoder" else 0
    found: dict[str, NDArray[Any]] = {}
    if kind != "cross":
        found["previous"] = picked[..., 1:] == place[1:] - 1
        found["itself"] = picked[..., first:] == place[first:]
    if kind == "encoder":
        found["following"] = picked[..., :-1] == place[:-1] + 1
    if kind == "decoder":
        found["start"] = picked[..., first:] == 0
    else:
        found["end"] = picked == weights.shape[3] - 1
    logs = np.log(np.where(weights > 0, weights, 1.0))
    return found | {"entropy": -(weights * logs).sum(-1)[..., first:]}


def find_aligned(attention: AttentionMap, links: Links) -> NDArray[Any]:
    """Return whether each head picks an aligned source word for each aligned target word, [L, H, words].

    Args:
        attention: The encoder-decoder attention of a sentence.
        links: Pairs (word of the source, word of the target) of this map, from 0.
    """
    picked = attention.words().weights.argmax(-1)
    sources, targets = np.array(links, int).reshape(-1, 2).T
    return picked[..., targets] == sources


def average_roles(measured: dict[tuple[str, str], list[NDArray[Any]]]) -> list[Head]:
    """Return all heads, from what was measured of each sentence, by kind and name."""
    values = {key: np.concatenate(parts, -1) for key, parts in measured.items()}
    means = {key: of_all.mean(-1) for key, of_all in values.items() if of_all.size}
    heads = []
    for kind in dict.fromkeys(kind for kind, _ in means):
        for layer, head in np.ndindex(*means[kind, "entropy"].shape):
            of_head = {
                name: float(each[layer, head]) for (of, name), each in means.items() if of == kind
            }
            shares = {name: of_head[name] for name in ROLES if name in of_head}
            heads.append(Head(kind, layer, head, shares, of_head["entropy"]))
    return heads
