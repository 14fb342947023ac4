"""Translation of documents: files in, the same files with their text translated out."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, chain
from pathlib import Path
from typing import TYPE_CHECKING

from headway.config import SearchConfig
from headway.errors import HeadwayError
from headway.ext.documents.opening import open_document
from headway.ext.documents.paragraph import Document, DocumentOptions, Paragraph
from headway.ext.documents.quality_table import RatedText, name_places, rate_sentences, write_table
from headway.ext.documents.texts import (
    SentenceTranslation,
    TextPipeline,
    TextTranslation,
    mean_quality,
)
from headway.ext.protect import PRIVATE_USE
from headway.ext.quality import find_defects
from headway.files import replace_bytes
from headway.text import Span, WordLinks
from headway.translation import Job, Translator, run_each, together

if TYPE_CHECKING:
    from headway.ext.documents.marked_text import MarkedText


class KeptMarks:
    """A paragraph with a character in the place of each protected text.

    Args:
        paragraph: The paragraph.
        is_used: Whether protected texts are marked; otherwise the text stays as it is.

    Attributes:
        text: What is translated.
    """

    def __init__(self, paragraph: Paragraph, is_used: bool = True) -> None:
        own = paragraph.text
        kept = paragraph.kept if is_used else []
        used = set(own) if kept else set()
        free = (c for c in map(chr, range(*PRIVATE_USE)) if c not in used)
        self._kept: dict[str, Span] = {}
        parts, at = [], 0
        for (start, end), mark in zip(kept, free, strict=False):
            self._kept[mark] = start, end
            parts += [own[at:start], mark]
            at = end
        self._own, self.text = own, "".join([*parts, own[at:]])

    def expand(self, found: TextTranslation) -> TextTranslation:
        """Return the translation of the paragraph; a protected text that it has twice stays where it is first.

        Args:
            found: The translation of `text`.
        """
        if not self._kept:
            return found
        pieces, links = self._divide(found.text), found.links
        places = [0, *accumulate(map(len, pieces))]
        kept = {
            self._kept[mark][0]: (places[at], places[at + 1])
            for at, mark in enumerate(found.text)
            if mark in self._kept and pieces[at]
        }
        if links is not None:
            source = _move(links.source, [0, *accumulate(map(len, self._divide(self.text)))])
            links = WordLinks(source, _move(links.target, places), links.pairs)
        sentences = [
            SentenceTranslation(
                self.expand_text(source),
                places[start],
                replace(best, text=self.expand_text(best.text)),
            )
            for source, start, best in found.sentences
        ]
        text = "".join(pieces)
        return replace(found, text=text, links=links, sentences=sentences, kept=kept)

    def expand_text(self, text: str) -> str:
        """Return a text with the protected texts in the places of their characters."""
        return "".join(self._divide(text))

    def _divide(self, text: str) -> list[str]:
        """Return what takes the place of each character of a text."""
        left = dict(self._kept)
        return [
            self._own[slice(*left.pop(character))]
            if character in left
            else ""
            if character in self._kept
            else character
            for character in text
        ]


def _move(spans: Sequence[Span], places: Sequence[int]) -> list[Span]:
    return [(places[start], places[end]) for start, end in spans]


def translate_paragraph(pipeline: TextPipeline, paragraph: Paragraph) -> Job[TextTranslation]:
    """Translate a paragraph of a document, and say where its protected texts stand.

    Args:
        pipeline: Aligns words; its texts are of a document.
        paragraph: With its inline elements.
    """
    marks = KeptMarks(paragraph, pipeline.keeps_text)
    found = yield from pipeline.translate(marks.text)
    return marks.expand(found)


def translate_page(
    pipeline: TextPipeline, source: str, read: Callable[[str], "MarkedText"]
) -> Job[TextTranslation]:
    """Translate a text with markup.

    Args:
        pipeline: See `translate_paragraph`; an empty route changes nothing.
        source: The text.
        read: Reads its markup.

    Returns:
        Its translation, with the sum of its paragraphs' scores and their mean quality.
    """
    if not pipeline.route:
        return TextTranslation(source)
    page = read(source)
    found = yield from together(translate_paragraph(pipeline, each) for each in page.paragraphs)
    text = page.write([each.for_document() for each in found])
    lengths = [len(paragraph.text) for paragraph in page.paragraphs]
    mean = mean_quality([(n, each.quality) for n, each in zip(lengths, found, strict=True)])
    return TextTranslation(text, sum(each.score for each in found), quality=mean)


WINDOW = 128  # paragraphs, and sentences of each, that are translated together


def translate_document(
    translator: Translator,
    document: Document,
    search: SearchConfig | None = None,
    *,
    quality: bool = False,
) -> Iterator[TextTranslation]:
    """Yield the translations of a document's paragraphs."""
    pipeline = TextPipeline(
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
        finished: See `TextTranslation.for_document`.
    """
    return document.write([text.for_document(finished) for text in found])


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
        HeadwayError: If the document cannot be read, or the output is no other file of its kind; the message says why. No
            file is written then.
    """
    path, out, (code, target) = Path(source), Path(output), translator.languages
    if out.suffix.lower() != path.suffix.lower():
        raise HeadwayError(f"{out}: must end in {path.suffix}, as {path} does")
    try:
        data = path.read_bytes()
        if out.exists() and out.samefile(path):
            raise HeadwayError(f"{out}: is the document itself: give another file")
    except OSError as error:
        raise HeadwayError(f"{path}: {error.strerror}") from None
    given = (columns,) if isinstance(columns, str) else tuple(columns)
    options = DocumentOptions(code, target, given, is_complete)
    document = open_document(data, str(path), options)
    quality = report is not None or bool(finished)
    found = [*translate_document(translator, document, search, quality=quality)]
    replace_bytes(out, write_document(document, found, finished))
    if report is not None:
        replace_bytes(Path(report), write_table(rate_document(translator, document, found)))
