"""Documents: files in, the same files with their text translated out; and texts of several sentences."""

from typing import TYPE_CHECKING

from headway import __version__
from headway.extension import Extension
from headway.lazy import import_at_first_use

if TYPE_CHECKING:
    from headway.ext.documents.document_translation import (
        translate_file,
        translate_page,
        translate_paragraph,
    )
    from headway.ext.documents.edited_file import EditedFile, TextEntry
    from headway.ext.documents.html.page import HtmlPage
    from headway.ext.documents.marked_text import MarkedText
    from headway.ext.documents.opening import (
        describe_unknown,
        has_states,
        is_table,
        list_suffixes,
        open_document,
    )
    from headway.ext.documents.paragraph import Document, DocumentOptions, Paragraph, Translated
    from headway.ext.documents.quality_table import (
        RatedText,
        name_places,
        rate_sentences,
        write_table,
    )
    from headway.ext.documents.text_file import read_text_file
    from headway.ext.documents.texts import SplitText, TextPipeline, TextTranslation, mean_quality
    from headway.ext.documents.xml_source import XmlTags, XmlText

__all__ = [
    "Document",
    "DocumentOptions",
    "EditedFile",
    "Paragraph",
    "TextEntry",
    "Translated",
    "read_text_file",
    "translate_file",
]
OFFICE = {  # suffixes of office files: documents first, then those with macros, templates and shows
    ".docx": (".docx", ".docm", ".dotx", ".dotm"),
    ".pptx": (".pptx", ".pptm", ".potx", ".potm", ".ppsx", ".ppsm"),
    ".xlsx": (".xlsx", ".xlsm", ".xltx", ".xltm"),
    ".odt": (".odt", ".ott"),
    ".odp": (".odp", ".otp"),
    ".ods": (".ods", ".ots"),
}
READERS = {  # of files in memory, and the suffixes that each takes
    "table:read_table": (".csv", ".tsv"),
    "po:read_po": (".po", ".pot"),
    "xliff:read_xliff": (".xlf", ".xliff"),
    "json_text:read_json": (".json", ".arb"),
    "subtitles:read_subtitles": (".srt", ".vtt", ".ass", ".ssa", ".sub"),
    "html.document:read_html": (".html", ".htm", ".xhtml"),
    "markdown.document:read_markdown": (".md", ".markdown"),
    "plain:read_plain": (".txt",),
    "office.epub:read_book": (".epub",),
    "office.document:read_office": [suffix for suffixes in OFFICE.values() for suffix in suffixes],
}

extension = Extension(
    name="documents",
    version=__version__,
    names={"translate_file": f"{__name__}.document_translation:translate_file"},
    inputs={"documents": f"{__name__}.command"},
    documents={
        suffix: f"{__name__}.{reader}"
        for reader, suffixes in READERS.items()
        for suffix in suffixes
    },
)

if not TYPE_CHECKING:
    __getattr__ = import_at_first_use(__name__)
