"""HTML files."""

from collections.abc import Sequence

from headway.documents.html.page import HtmlPage
from headway.documents.html.parsing import Block
from headway.documents.paragraph import DocumentOptions, Translated


class HtmlDocument:
    """An HTML file.

    Args:
        data: The content of the file.
        options: What is known about the translation.
    """

    def __init__(self, data: bytes, options: DocumentOptions) -> None:
        self._page = HtmlPage(data.decode())

    @property
    def paragraphs(self) -> Sequence[Block]:
        """The blocks of the document."""
        return self._page.paragraphs

    def write(self, translations: Sequence[Translated]) -> bytes:
        """Return the file with its text replaced."""
        return self._page.write(translations).encode()
