"""The quality of the translations of an answer."""

from collections.abc import Sequence

from headway.ext.documents import (
    Paragraph,
    RatedText,
    TextTranslation,
    mean_quality,
    rate_sentences,
    write_table,
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


class QualityReport:
    """How good the translation of a file is; it grows with the file's paragraphs.

    Args:
        route: The models. With several, the sentences are those of the last one, so that the table has whole paragraphs.
    """

    def __init__(self, route: Sequence[Translator]) -> None:
        self._is_direct, self._glossary = len(route) == 1, route[-1].glossary if route else None
        self._rows: list[RatedText] = []
        # The length of each paragraph's sentences, and their quality.
        self._parts: list[tuple[int, float]] = []

    def add(self, paragraphs: Sequence[Paragraph], texts: Sequence[TextTranslation]) -> None:
        """Add paragraphs and their translations; those without sentences count for nothing."""
        for paragraph, text in zip(paragraphs, texts, strict=True):
            if text.sentences:
                length = sum(len(sentence.source) for sentence in text.sentences)
                self._parts.append((length, text.quality))
                place = paragraph.place
                if self._is_direct:
                    self._rows += rate_sentences(text, place, self._glossary)
                else:
                    row = RatedText(text.quality, place, "", "", paragraph.text, text.text)
                    self._rows.append(row)

    @property
    def mean(self) -> float:
        """The mean quality of the sentences, by their lengths; 1 if there are none."""
        return mean_quality(self._parts)

    @property
    def table(self) -> bytes:
        """A row for each sentence, as `headway.translate_file` writes it."""
        return write_table(self._rows)


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
