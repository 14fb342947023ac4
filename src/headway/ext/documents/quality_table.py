"""What to check first in a translated document: a table of its sentences, the worst first."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from headway.ext.documents.paragraph import Document

if TYPE_CHECKING:  # a process that only reads files names places, without PyTorch
    from headway.ext.documents.texts import TextTranslation
    from headway.translation import Terms

BAD, DOUBTFUL = 0.4, 0.55  # below: most sentences need a new translation, or a person's eyes
_NAMED = 3  # places of the worst sentences in a message
_FORMULA = ("=", "+", "-", "@")  # how a cell begins that a spreadsheet program computes


class RatedText(NamedTuple):
    """A row of the table.

    Attributes:
        quality: From 0 to 1.
        place: Where it is in the document.
        notes: What looks broken.
        terms: Those of a glossary, with their renderings.
        source: A sentence, or a whole paragraph.
        translation: Its translation.
    """

    quality: float
    place: str
    notes: str
    terms: str
    source: str
    translation: str


def name_places(document: Document) -> None:
    """Say of each text of a document where it is, if the document's reader did not: that may take long."""
    getattr(document, "name_places", lambda: None)()
    for number, paragraph in enumerate(document.paragraphs, 1):
        paragraph.place = paragraph.place or f"paragraph {number}"


def rate_sentences(
    text: "TextTranslation", place: str, glossary: "Terms | None" = None
) -> Iterator[RatedText]:
    """Yield a row for each sentence of a text.

    Args:
        text: The translation of a paragraph.
        place: Where that is in the document.
        glossary: Prescribes terms.
    """
    for source, _, best in text.sentences:
        terms = glossary.find(source) if glossary else []
        said = "; ".join(
            f"{source[term.start : term.end]} = {'|'.join(term.renderings)}" for term in terms
        )
        yield RatedText(best.quality or 0.0, place, best.notes, said, source, best.text)


def write_table(rows: Iterable[RatedText]) -> bytes:
    """Return a table that spreadsheet programs open: tabs, UTF-8 with a byte order mark, and no formulas."""
    out = io.StringIO()
    writer = csv.writer(out, "excel-tab", lineterminator="\n")
    writer.writerow(RatedText._fields)
    for quality, *texts in sorted(rows, key=lambda row: row.quality):
        cells = (" ".join(text.split()) for text in texts)
        shown = [f" {cell}" if cell.startswith(_FORMULA) else cell for cell in cells]
        writer.writerow([f"{quality:.4f}", *shown])
    return out.getvalue().encode("utf-8-sig")


def summarize(rows: Sequence[RatedText], table: str) -> str:
    """Return how many sentences are to be checked, and where they are.

    Args:
        rows: Of the table.
        table: Its name.
    """
    bad = [row for row in rows if row.quality < BAD]
    doubtful = [row for row in rows if BAD <= row.quality < DOUBTFUL]
    if not bad and not doubtful:
        return f"none of {len(rows)} sentences is below {DOUBTFUL}: see {table}"
    worst = sorted(bad + doubtful, key=lambda row: row.quality)
    places = dict.fromkeys(row.place for row in worst if row.place)
    shown = "; ".join(islice(places, _NAMED))
    first = f" (first {shown})" if shown else ""
    return (
        f"{len(bad)} of {len(rows)} sentences are below {BAD}, and {len(doubtful)} more below {DOUBTFUL}:"
        f" see {table}{first}"
    )
