"""Pieces and texts of extensions one by one: divided, rated, and with what must stay."""

from collections.abc import Sequence
from typing import Any

from headway import SearchConfig, Translator
from headway.ext.documents.texts import SplitText, TextPipeline, TextTranslation
from headway.ext.protect.masking import ProtectedTextMasking
from headway.ext.quality import evidence
from headway.ext.quality.evidence import Evidence
from headway.ext.quality.rating import RatedHypotheses
from headway.translation.pipeline import find_translations
from headway.translation.requests import run, together
from headway.translation.search.beam_search import Hypothesis
from headway.translation.splitting import Piece
from headway.translation.token_search import TokenSearch


def translate_texts(
    translator: Translator, texts: Sequence[str], **options: Any
) -> list[TextTranslation]:
    """Translate texts of any length."""
    return run(together(map(TextPipeline.of([translator], **options).translate, texts)))


def split_text(translator: Translator, text: str, *, is_document: bool = False) -> SplitText:
    """Split a text into the sentences that a model translates."""
    pipeline = TextPipeline.of([translator], is_document=is_document)
    return run(pipeline.split(pipeline.route[0], text))


def rate(
    translator: Translator,
    piece: Piece,
    found: Sequence[Hypothesis],
    search: SearchConfig | None = None,
    prefix: Sequence[int] = (),
) -> RatedHypotheses:
    """Rate the translations of a piece."""
    pipeline = translator.pipeline(search, quality=True)
    assert pipeline.rater is not None
    rated: Any = run(pipeline.rater.rate(piece, [*found], pipeline.search, prefix))
    return RatedHypotheses(*rated)


def examine(
    translator: Translator,
    piece: Piece,
    found: Sequence[Hypothesis],
    search: SearchConfig,
    prefix: Sequence[int] = (),
) -> list[Evidence]:
    """Measure the features of a piece's translations."""
    return run(evidence.examine(translator.token_search, piece, found, search, prefix))


def examine_together(
    translator: Translator,
    pairs: Sequence[tuple[Piece, Sequence[Hypothesis]]],
    search: SearchConfig,
) -> list[list[Evidence]]:
    """Measure the features of the translations of several pieces in common batches."""
    model = translator.token_search
    return run(together(evidence.examine(model, *pair, search) for pair in pairs))


def choose(
    forward: TokenSearch, piece: Piece, search: SearchConfig, prefix: Sequence[int] = ()
) -> list[Hypothesis]:
    """Return the translations of a piece without links."""
    return run(find_translations(ProtectedTextMasking(), forward, None, piece, search, prefix))
