"""Documents in which some paragraphs are translated in another form: sentences of messages, labels without mnemonics."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Literal, Protocol

from headway.ext.documents.paragraph import Document, Paragraph, Translated


class Rewriting(Protocol):
    """What is translated instead of a paragraph."""

    @property
    def paragraphs(self) -> Sequence[Paragraph[Any]]:
        """The texts that are translated."""

    def write(self, translations: Sequence[Translated]) -> Translated:
        """Return the translation of the paragraph, in which each text is replaced by one of the translations."""


class RewrittenDocument:
    """A document in which some paragraphs are translated in another form.

    Args:
        document: The same document, with its paragraphs as they stand in the file.
        read: Returns the other form of a paragraph; None: it is translated as it is; "stays": it is not translated.
    """

    def __init__(
        self,
        document: Document,
        read: Callable[[Paragraph[Any]], Rewriting | Literal["stays"] | None],
    ) -> None:
        self._document = document
        self._forms = [read(paragraph) for paragraph in document.paragraphs]

    @property
    def paragraphs(self) -> Sequence[Paragraph[Any]]:
        """The paragraphs of the document, and the texts of those that have another form."""
        found: list[Paragraph[Any]] = []
        for paragraph, form in zip(self._document.paragraphs, self._forms, strict=True):
            if form is None:
                found.append(paragraph)
            elif not isinstance(form, str):
                found += (replace(each, place=paragraph.place) for each in form.paragraphs)
        return found

    def list_notices(self) -> list[str]:
        """Return how many paragraphs are not translated, because they are too complicated."""
        count = self._forms.count("stays")
        own = [f"messages of ICU that stay as they are: {count}"] * bool(count)
        return own + list_notices(self._document)

    def write(self, translations: Sequence[Translated]) -> bytes:
        """Return the document with its paragraphs replaced; one whose texts do not change stays as it is."""
        left = iter(translations)
        whole: list[Translated] = []
        for paragraph, form in zip(self._document.paragraphs, self._forms, strict=True):
            if form is None:
                whole.append(next(left))
            elif isinstance(form, str):
                whole.append(Translated(paragraph.text, is_missing=True))
            else:
                found = [*islice(left, len(form.paragraphs))]
                is_changed = [t.text for t in found] != [p.text for p in form.paragraphs]
                written = form.write(found) if is_changed else _keep(paragraph)
                is_finished = all(each.is_finished for each in found)
                whole.append(replace(written, is_finished=is_finished))
        return self._document.write(whole)


def list_notices(document: Document) -> list[str]:
    """Return what a user should know about the texts of a document that stay, one line for each thing."""
    found: list[str] = getattr(document, "list_notices", list)()
    return found


def _keep(paragraph: Paragraph[Any]) -> Translated:
    """Return a paragraph as its own translation."""
    kept = {each.start: (each.start, each.end) for each in paragraph.elements}
    return Translated(paragraph.text, kept=kept)
