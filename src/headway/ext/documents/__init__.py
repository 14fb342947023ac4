"""Documents: files in, the same files with their text translated out; and texts of several sentences."""

from typing import TYPE_CHECKING

from headway import __version__
from headway.extension import Extension
from headway.lazy import import_at_first_use

if TYPE_CHECKING:
    from headway.ext.documents.document_translation import translate_file
    from headway.ext.documents.html.html_page import HtmlPage, Page
    from headway.ext.documents.opening import SUFFIXES, describe_unknown, is_table, open_document
    from headway.ext.documents.paragraph import Document, DocumentOptions, Paragraph, Translated
    from headway.ext.documents.paragraph_translation import translate_page, translate_paragraph
    from headway.ext.documents.quality_table import RatedText, rate_sentences, write_table
    from headway.ext.documents.texts import SplitText, TextPipeline, TextTranslation, mean_quality
    from headway.ext.documents.xml_text import XmlTags, XmlText

__all__ = ["translate_file"]

extension = Extension(
    name="documents",
    version=__version__,
    names={"translate_file": f"{__name__}.document_translation:translate_file"},
    inputs={"documents": f"{__name__}.command"},
)

if not TYPE_CHECKING:
    __getattr__ = import_at_first_use(__name__)
