"""Translation of documents: files in, the same files with their text translated out."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from headway.config import SearchConfig
from headway.documents.opening import open_document
from headway.documents.paragraph import Document, DocumentOptions, Translated
from headway.files import replace_bytes
from headway.inference.text_translation import translate_texts
from headway.inference.translator import Translator

WINDOW = 128  # sentences that are translated together


def translate_document(
    translator: Translator, document: Document, search: SearchConfig | None = None
) -> Iterator[Translated]:
    """Yield the translations of a document's paragraphs, which `Document.write` takes."""
    texts = [paragraph.text for paragraph in document.paragraphs]
    for found in translate_texts(translator, texts, search, window=WINDOW):
        yield Translated(found.text, found.links)


def translate_file(
    translator: Translator,
    source: str | Path,
    output: str | Path,
    search: SearchConfig | None = None,
    *,
    columns: Sequence[str] = (),
    is_complete: bool = False,
) -> None:
    """Translate a document, such as an office file, a web page, subtitles or a message catalog.

    What is not text stays as it is. The output appears when it is finished.

    Args:
        translator: The model.
        source: The document; its suffix says which kind it is.
        output: The file to write.
        search: Search settings; None: the default.
        columns: Of a table: the columns to translate, as names in the first row or numbers from 1.
        is_complete: Also translate what has a translation already (po, xliff).

    Raises:
        HeadwayError: If the document cannot be read; the message names it. No file is written then.
    """
    path, (code, target) = Path(source), translator.languages
    options = DocumentOptions(code, target, tuple(columns), is_complete)
    document = open_document(path.read_bytes(), str(path), options)
    data = document.write([*translate_document(translator, document, search)])
    replace_bytes(Path(output), data)
