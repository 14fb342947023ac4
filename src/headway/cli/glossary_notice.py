"""One line on standard error if no term of ``--glossary`` occurred in the text."""

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headway.translation.masking import Terms


class GlossaryNotice:
    """Looks for terms until one has been found, so that a glossary that is of use costs nothing.

    Args:
        file: The file of ``--glossary``.
        glossary: Its terms; None: there is no glossary.
    """

    def __init__(self, file: str | None, glossary: "Terms | None") -> None:
        self._file = file
        self._unseen = glossary if glossary else None  # None: nothing is to be said
        self._has_text = False

    def read(self, texts: Iterable[str]) -> None:
        """Look for terms in the next texts."""
        if self._unseen is None:
            return
        for text in texts:
            self._has_text = self._has_text or bool(text.strip())
            if self._unseen.find(text):
                self._unseen = None
                return

    def print(self, where: str = "the text") -> None:
        """Say that there was no term.

        Args:
            where: What was read.
        """
        if self._unseen is not None and self._has_text:
            print(
                f"no term of {self._file} occurs in {where}: terms of the source language stand in the first"
                ' column, as the text has them, without notes such as "(n)"',
                file=sys.stderr,
            )
