"""The quality of the translations of an answer."""

from collections.abc import Sequence

from headway.ext.documents import (
    Paragraph,
    RatedText,
    TextTranslation,
    rate_sentences,
)
from headway.ext.quality import FILE
from headway.ext.server.messages import RatedSentence
from headway.ext.server.rejection import Rejection
from headway.translation import Translator


def has_quality(translator: Translator) -> bool:
    """Return whether a model was calibrated when it was loaded."""
    return "quality_model" in vars(translator)


def load_quality(translator: Translator) -> None:
    """Read the quality of a model if it has one, so that no request waits for it.

    Raises:
        HeadwayError: If the file is damaged.
    """
    if translator.directory is not None and (translator.directory / FILE).is_file():
        _ = translator.quality_model


def check_quality(route: Sequence[Translator]) -> None:
    """Check that the translations of all models of a route can be rated.

    Raises:
        Rejection: 400 if not.
    """
    if not all(map(has_quality, route)):
        raise Rejection(
            400, "Invalid request: quality needs a model that headway evaluate --calibrate has seen"
        )


def rate_paragraphs(
    route: Sequence[Translator], paragraphs: Sequence[Paragraph], texts: Sequence[TextTranslation]
) -> list[RatedText]:
    """Return the rows of a file's table of quality for some of its paragraphs; those without sentences have none.

    Args:
        route: The models. With several, the sentences are those of the last one, so that the table has whole paragraphs.
        paragraphs: The paragraphs.
        texts: Their translations.
    """
    rows: list[RatedText] = []
    for paragraph, text in zip(paragraphs, texts, strict=True):
        if len(route) == 1:
            rows += rate_sentences(text, paragraph.place, route[0].glossary)
        elif text.sentences:
            row = RatedText(text.quality, paragraph.place, "", "", paragraph.text, text.text)
            rows.append(row)
    return rows


def list_sentences(text: TextTranslation) -> list[RatedSentence]:
    """Return the sentences of a text's translation with their quality."""
    return [
        RatedSentence(
            start=start,
            end=start + len(best.text),
            quality=round(best.quality or 0.0, 4),
            defects=[*best.defects],
            repaired=[*best.repaired],
        )
        for _, start, best in text.sentences
    ]
