"""One line on standard error if no term of ``--glossary`` occurred in the text."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headway.translation.masking import Terms


def watch_terms(
    file: str | None, glossary: "Terms | None", windows: Iterable[Sequence[str]]
) -> "Iterator[Sequence[str]]":
    """Yield texts as they come, and say at their end if they have none of the terms.

    A glossary that is of use costs nothing, because only texts before the first term are searched.

    Args:
        file: The file of ``--glossary``.
        glossary: Its terms; None: there is no glossary.
        windows: Several texts at a time.
    """
    is_unused, has_text = bool(glossary), False
    for texts in windows:
        if glossary and is_unused:
            has_text = has_text or any(map(str.strip, texts))
            is_unused = not any(map(glossary.find, texts))
        yield texts
    if is_unused and has_text:
        print(
            f"no term of {file} occurs in the text: terms of the source language stand in the first column,"
            ' as the text has them, without notes such as "(n)"',
            file=sys.stderr,
        )
