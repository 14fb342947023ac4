"""The BLEU that a model loses without some of its heads.

A head is switched off in a copy of the model: the rows of W^O that read the head become zero. So the
forward pass needs no code for it. Paper: section 3.2.2 (multi-head attention).
"""

import copy
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random

import torch

from headway.evaluation import bleu
from headway.ext.pictures.roles import Head
from headway.ext.pictures.sentences import find_attention
from headway.translation import Translator

Place = tuple[str, int, int]  # kind, layer and head, from 0
DRAWS = 5  # of other heads


def remove_heads(translator: Translator, places: Collection[Place]) -> Translator:
    """Return a copy of a translator whose model has these heads switched off."""
    model = copy.deepcopy(translator.model)
    with torch.no_grad():
        for kind, layer, head in places:
            attention = find_attention(model, kind, layer)
            assert attention is not None, f"{kind} has no heads"
            width = attention.output.in_features // attention.num_heads
            attention.output.weight[:, head * width : (head + 1) * width] = 0
    return Translator(
        model,
        translator.tokenizer,
        translator.default_search,
        str(translator.device),
        translator.languages,
    )


@dataclass(frozen=True)
class HeadLosses:
    """The BLEU lost without each head, and without all aligning heads, compared with other heads.

    Attributes:
        bleu: The BLEU of greedy search with all heads.
        heads: The heads with the BLEU lost without each; a negative number is a rise.
        aligning: The aligning heads; if there are none, the head that aligns most often, and none without cross-attention.
        lost: The BLEU lost without all aligning heads.
        others: The BLEU lost without as many other heads, for each random choice of them.
    """

    bleu: float
    heads: list[Head]
    aligning: list[Place]
    lost: float
    others: list[float]


def measure_losses(
    translator: Translator,
    sources: Sequence[str],
    references: Sequence[str],
    heads: Iterable[Head],
    seed: int = 1,
) -> HeadLosses:
    """Measure BLEU without each head, without all aligning heads, and without as many others.

    Args:
        translator: The model with all heads.
        sources: Raw text.
        references: Their translations.
        heads: Those of `headway.ext.pictures.roles.head_roles`.
        seed: Of the choices of other heads.
    """
    search = replace(translator.default_search, beam=1, n_best=1, sample=False)

    def score(places: Collection[Place]) -> float:
        less = remove_heads(translator, places)
        return bleu(less.translate(list(sources), search), list(references), less.languages[1])

    full = score([])
    done = [replace(head, bleu_lost=full - score([head.place])) for head in heads]
    aligning = [head.place for head in done if head.role == "aligns"]
    if not aligning:
        able = [head for head in done if "aligns" in head.shares]
        best = sorted(able, key=lambda head: head.shares["aligns"])[-1:]
        aligning = [head.place for head in best]
    rest = sorted({head.place for head in done}.difference(aligning))
    random, count = Random(seed), min(len(aligning), len(rest))
    draws = [random.sample(rest, count) for _ in range(DRAWS if count else 0)]
    others = [full - score(places) for places in draws]
    return HeadLosses(full, done, aligning, full - score(aligning), others)
