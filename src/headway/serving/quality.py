"""The quality of the translations of an answer."""

from collections.abc import Sequence

from headway.inference import Translator
from headway.inference.quality.quality_model import FILE
from headway.inference.text_translation import TextTranslation
from headway.serving.messages import RatedSentence
from headway.serving.rejection import Rejection


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
