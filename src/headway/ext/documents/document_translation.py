"""Translation of documents: files in, the same files with their text translated out."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from headway.config import SearchConfig
from headway.ext.documents.opening import open_document
from headway.ext.documents.paragraph import Document, DocumentOptions, Translated
from headway.ext.documents.paragraph_translation import translate_paragraph
from headway.ext.documents.quality_table import (
    RatedText,
    name_places,
    rate_sentences,
    write_table,
)
from headway.ext.documents.texts import TextPipeline, TextTranslation
from headway.ext.quality import find_defects
from headway.files import replace_bytes
from headway.translation import Translator, run_each

WINDOW = 128  # paragraphs, and sentences of each, that are translated together


def translate_document(
    translator: Translator,
    document: Document,
    search: SearchConfig | None = None,
    *,
    quality: bool = False,
) -> Iterator[TextTranslation]:
    """Yield the translations of a document's paragraphs."""
    pipeline = TextPipeline.of(
        [translator], search, align=True, quality=quality, is_document=True, window=WINDOW
    )
    jobs = (translate_paragraph(pipeline, paragraph) for paragraph in document.paragraphs)
    yield from run_each(jobs, WINDOW)


def write_document(
    document: Document, found: Iterable[TextTranslation], finished: float | None = None
) -> bytes:
    """Return the document with its paragraphs translated.

    Args:
        document: The document.
        found: The translations.
        finished: From which quality a translation needs nobody's review, if the file says so; 0: any; None: each does.
    """
    return document.write([_finish(text, finished) for text in found])


def _finish(text: TextTranslation, finished: float | None) -> Translated:
    """Return what a document needs of a translation, with whether it is finished; see `write_document`."""
    is_good = bool(text.sentences) and all(
        round(best.quality or 0.0, 4) >= (finished or 0.0) and not best.defects
        for _, _, best in text.sentences
    )
    return replace(
        text.for_document, is_finished=finished == 0 or (finished is not None and is_good)
    )


def rate_document(
    translator: Translator, document: Document, found: Iterable[TextTranslation]
) -> list[RatedText]:
    """Return the rows of the table of a document's sentences, in the order of the document."""
    name_places(document)
    return [
        row
        for paragraph, text in zip(document.paragraphs, found, strict=True)
        for row in rate_sentences(text, paragraph.place, translator.glossary)
    ]


def describe_defects(
    found: Iterable[TextTranslation], languages: tuple[str, str], *, is_rated: bool
) -> str:
    """Return how many sentences look broken, and why; "" if none does.

    Args:
        found: The translations of a document's paragraphs.
        languages: Codes of source and target.
        is_rated: Whether the translations are rated, so that broken ones have been translated again.
    """
    sentences = [each for text in found for each in text.sentences]
    defects = [
        best.defects if is_rated else find_defects(source, best.text, languages)
        for source, _, best in sentences
    ]
    repaired = sum(bool(best.repaired) and not best.defects for _, _, best in sentences)
    said = [f"repaired: {repaired}"] if repaired else []
    if broken := sum(map(bool, defects)):
        kinds = ", ".join(f"{name} {n}" for name, n in Counter(chain(*defects)).most_common())
        advice = (
            "" if is_rated else "; with --quality such sentences are translated again another way"
        )
        said.append(f"probably broken: {broken} ({kinds}){advice}")
    return f"of {len(sentences)} sentences, {', '.join(said)}" if said else ""


def translate_file(
    translator: Translator,
    source: str | Path,
    output: str | Path,
    search: SearchConfig | None = None,
    *,
    columns: str | Sequence[str] = (),
    is_complete: bool = False,
    report: str | Path | None = None,
    finished: float | None = None,
) -> None:
    """Translate a document, such as an office file, a web page, subtitles or a message catalog.

    What is not text stays as it is. The output appears when it is finished.

    Args:
        translator: The model.
        source: The document; its suffix says which kind it is.
        output: The file to write.
        search: Search settings; None: the default.
        columns: Of a table: the columns to translate, as names in the first row or numbers from 1; commas may separate
            several in one string.
        is_complete: Also translate what has a translation already (po, xliff).
        report: A table to write with the quality of each sentence, the worst first; None: there is none.
        finished: From which quality the file says that a translation needs nobody's review (po, xliff); 0: any; None:
            each translation is marked for review.

    Raises:
        HeadwayError: If the document cannot be read; the message names it. No file is written then.
    """
    path, (code, target) = Path(source), translator.languages
    given = (columns,) if isinstance(columns, str) else tuple(columns)
    options = DocumentOptions(code, target, given, is_complete)
    document = open_document(path.read_bytes(), str(path), options)
    quality = report is not None or bool(finished)
    found = [*translate_document(translator, document, search, quality=quality)]
    replace_bytes(Path(output), write_document(document, found, finished))
    if report is not None:
        replace_bytes(Path(report), write_table(rate_document(translator, document, found)))
