"""Pieces and texts of extensions one by one: divided, rated, and with what must stay."""

from dataclasses import replace
from typing import Any

from headway.ext.documents.texts import TextPipeline
from headway.ext.quality.quality_model import examine as request_features
from headway.translation.pipeline import find_translations
from headway.translation.requests import run, together
from headway.translation.search.beam_search import Hypothesis


def translate_texts(translator, texts, **options):
    """Translate texts of any length."""
    return run(together(map(TextPipeline([translator], **options).translate, texts)))


def split_text(translator, text, *, is_document=False):
    """Split a text into the sentences that a model translates."""
    pipeline = TextPipeline([translator], is_document=is_document)
    return pipeline.split(pipeline.route[0], text)


def rate(translator, piece, found, search=None, prefix=()):
    """Rate the translations of a piece."""
    pipeline = translator.pipeline(search, quality=True)
    assert pipeline.rater is not None
    rated: Any = run(pipeline.rater.rate(piece, [*found], pipeline.search, prefix))
    return rated


def rate_text(translator, source, target, *, keep=True):
    """Rate a text as a translation that a search has found."""
    # Samples are not replaced, but cannot follow a glossary.
    default, is_sample = translator.default_search, translator.glossary is None
    search = replace(default, keep=keep, split_sentences=False, sample=is_sample)
    [piece] = translator.pipeline(search).cut(source)
    [tokens] = translator.tokenizer.encode_target([target])
    _, [rating] = rate(translator, piece, [Hypothesis(tokens, 0.0, 0.0)], search)
    return rating


def examine(translator, piece, hypothesis, search):
    """Return the features of a translation of a piece."""
    request = request_features(translator.token_search, piece, hypothesis, search)
    [found] = run(_ask(request))
    return found


def _ask(request):
    return (yield [request])


def choose(forward, piece, search, prefix=()):
    """Return the translations of a piece without links."""
    return run(find_translations(forward, None, piece, search, prefix))
