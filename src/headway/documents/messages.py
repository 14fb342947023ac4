"""Documents with ICU messages: each sentence of a message is translated as a paragraph."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

from headway.documents.icu_message import IcuMessage
from headway.documents.paragraph import Document, Paragraph, Translated


class MessageDocument:
    """A document in which some paragraphs are ICU messages.

    A message with inline elements stays as it is: they belong to cases, which links of words do not know.

    Args:
        document: The same document, with each message as one paragraph.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._messages = [IcuMessage.parse(paragraph.text) for paragraph in document.paragraphs]

    @property
    def paragraphs(self) -> Sequence[Paragraph[Any]]:
        """The paragraphs of the document, and the sentences of its messages."""
        found: list[Paragraph[Any]] = []
        for paragraph, message in zip(self._document.paragraphs, self._messages, strict=True):
            if message is None:
                found.append(paragraph)
            elif not paragraph.elements:
                found += map(Paragraph, message.sentences)
        return found

    def write(self, translations: Sequence[Translated]) -> bytes:
        """Return the document with its paragraphs and messages replaced."""
        left = iter(translations)
        whole: list[Translated] = []
        for paragraph, message in zip(self._document.paragraphs, self._messages, strict=True):
            if message is None:
                whole.append(next(left))
                continue
            if paragraph.elements:
                whole.append(Translated(paragraph.text))
                continue
            sentences = message.sentences
            texts = [each.text for each in islice(left, len(sentences))]
            whole.append(Translated(message.write(texts) if texts != sentences else paragraph.text))
        return self._document.write(whole)
