"""The BLEU that a model loses without some of its heads.

A head is switched off in a copy of the model: the rows of W^O that read the head become zero. So the
forward pass needs no code for it. Paper: section 3.2.2 (multi-head attention).
"""

import copy
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

import torch

from headway.evaluation import bleu
from headway.ext.pictures.roles import Head
from headway.ext.pictures.sentences import find_attention
from headway.translation import Translator

if TYPE_CHECKING:
    from headway.config import SearchConfig

Place = tuple[str, int, int]  # kind, layer and head, from 0


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
class BleuLoss:
    """The BLEU lost without the aligning heads, compared with other heads.

    Attributes:
        aligning: The aligning heads; if there are none, the head that aligns most often.
        lost: The BLEU lost without all aligning heads.
        others: The BLEU lost without as many other heads, for each random choice of them.
    """

    aligning: list[Place]
    lost: float
    others: list[float]


class HeadAblation:
    """Measures the BLEU of translations with heads switched off.

    Args:
        translator: The model with all heads.
        sources: Raw text.
        references: Their translations.
        search: The settings of the search; greedy search is quick.
    """

    def __init__(
        self,
        translator: Translator,
        sources: Sequence[str],
        references: Sequence[str],
        search: "SearchConfig",
    ) -> None:
        self.translator = translator
        self.sources = list(sources)
        self.references = list(references)
        self.search = search
        self.full_bleu = self._bleu(translator)

    def _bleu(self, translator: Translator) -> float:
        translations = translator.translate(self.sources, self.search)
        return bleu(translations, self.references, translator.languages[1])

    def bleu_lost(self, places: Collection[Place]) -> float:
        """Return the fall of BLEU without these heads; a negative number is a rise."""
        return self.full_bleu - self._bleu(remove_heads(self.translator, places))

    def compare_aligning(
        self, heads: Sequence[Head], draws: int = 5, seed: int = 1
    ) -> BleuLoss | None:
        """Compare the aligning heads with random other heads; None in a model without cross-attention."""
        able = [head for head in heads if "aligns" in head.shares]
        if not able:
            return None
        aligning = [head.place for head in able if head.role == "aligns"]
        aligning = aligning or [max(able, key=lambda head: head.shares["aligns"]).place]
        rest = sorted({head.place for head in heads}.difference(aligning))
        random = Random(seed)
        count = min(len(aligning), len(rest))
        others = [self.bleu_lost(random.sample(rest, count)) for _ in range(draws if count else 0)]
        return BleuLoss(aligning, self.bleu_lost(aligning), others)
