"""Documents with ICU messages: each sentence of a message is translated as a paragraph."""

from collections.abc import Sequence
from itertools import islice
from typing import Any, Literal

from headway.ext.documents.icu_message import IcuMessage, is_message
from headway.ext.documents.paragraph import Document, Paragraph, Translated


class MessageDocument:
    """A document in which some paragraphs are ICU messages.

    A message that is too complicated stays as it is. So does one with inline elements: they belong to cases, which
    links of words do not know.

    Args:
        document: The same document, with each message as one paragraph.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._messages = [_read(paragraph) for paragraph in document.paragraphs]

    @property
    def paragraphs(self) -> Sequence[Paragraph[Any]]:
        """The paragraphs of the document, and the sentences of its messages."""
        found: list[Paragraph[Any]] = []
        for paragraph, message in zip(self._document.paragraphs, self._messages, strict=True):
            if isinstance(message, IcuMessage):
                found += map(Paragraph, message.sentences)
            elif message is None:
                found.append(paragraph)
        return found

    def count_missing(self) -> int:
        """Return how many messages stay as they are."""
        return self._messages.count("stays")

    def write(self, translations: Sequence[Translated]) -> bytes:
        """Return the document with its paragraphs and messages replaced."""
        left = iter(translations)
        whole: list[Translated] = []
        for paragraph, message in zip(self._document.paragraphs, self._messages, strict=True):
            if message is None:
                whole.append(next(left))
            elif isinstance(message, str):
                whole.append(Translated(paragraph.text, is_missing=True))
            else:
                sentences = message.sentences
                texts = [each.text for each in islice(left, len(sentences))]
                whole.append(
                    Translated(message.write(texts) if texts != sentences else paragraph.text)
                )
        return self._document.write(whole)


def _read(paragraph: Paragraph[Any]) -> IcuMessage | Literal["stays"] | None:
    """Return the message that a paragraph is; None: it is none."""
    if not is_message(paragraph.text):
        return None
    return (None if paragraph.elements else IcuMessage.parse(paragraph.text)) or "stays"
