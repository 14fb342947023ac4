"""Translation of documents: files in, the same files with their text translated out."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from headway.config import SearchConfig
from headway.ext.documents.opening import open_document
from headway.ext.documents.paragraph import Document, DocumentOptions
from headway.ext.documents.paragraph_translation import translate_paragraph
from headway.ext.documents.texts import TextPipeline, TextTranslation
from headway.ext.quality import find_defects
from headway.files import replace_bytes, replace_text
from headway.translation import Translator, run_each

WINDOW = 128  # paragraphs, and sentences of each, that are translated together
REPORT_HEAD = "quality\tnotes\tsource\ttranslation\n"


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


def write_document(document: Document, found: Iterable[TextTranslation]) -> bytes:
    """Return the document with its paragraphs translated."""
    return document.write([each.for_document for each in found])


def write_report(path: Path, found: Iterable[TextTranslation]) -> None:
    """Write `REPORT_HEAD` and the rows of all texts to a file."""
    replace_text(path, "".join([REPORT_HEAD, *map(report_sentences, found)]))


def report_sentences(text: TextTranslation) -> str:
    """Return how good the translation of each sentence of a text is, as rows of tab-separated values."""
    return "".join(
        report_row(best.quality or 0.0, best.notes, sentence, best.text)
        for sentence, _, best in text.sentences
    )


def report_row(quality: float, notes: str, source: str, translation: str) -> str:
    """Return a row of a report."""
    cells = (f"{quality:.4f}", notes, source, translation)
    return "\t".join(" ".join(cell.split()) for cell in cells) + "\n"


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
        report: A table to write with the quality of each sentence; None: there is none.

    Raises:
        HeadwayError: If the document cannot be read; the message names it. No file is written then.
    """
    path, (code, target) = Path(source), translator.languages
    given = (columns,) if isinstance(columns, str) else tuple(columns)
    options = DocumentOptions(code, target, given, is_complete)
    document = open_document(path.read_bytes(), str(path), options)
    found = [*translate_document(translator, document, search, quality=report is not None)]
    replace_bytes(Path(output), write_document(document, found))
    if report is not None:
        write_report(Path(report), found)
