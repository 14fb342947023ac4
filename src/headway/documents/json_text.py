"""JSON files of texts, as programs keep their messages: string values are translated, all else stays."""

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

from headway.documents.edits import Edit, apply_edits
from headway.documents.paragraph import DocumentOptions, Paragraph, Translated
from headway.documents.text_file import check_count, read_text_file
from headway.errors import HeadwayError
from headway.text.languages import is_translatable

_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"(\s*+:)?')


class _Value(NamedTuple):
    """Where a string value stands in the file, with its quotes, and what it means."""

    start: int
    end: int
    text: str


class JsonDocument:
    """A JSON file.

    Args:
        data: The content of the file.
        options: What is known about the translation.

    Raises:
        HeadwayError: If the file is no JSON.
    """

    def __init__(self, data: bytes, options: DocumentOptions) -> None:
        self._file = read_text_file(data, options.source)
        text = self._file.text
        check_count(len(re.findall(r"[\[{,]", text)), "values")
        try:
            json.loads(text)
        except RecursionError:
            raise HeadwayError("is nested too deeply") from None
        except json.JSONDecodeError as error:
            raise HeadwayError(f"is no JSON: line {error.lineno}: {error.msg}") from None
        except ValueError:  # a number with too many digits
            raise HeadwayError("is no JSON: a number has too many digits") from None
        strings = [found for found in _STRING.finditer(text) if found[1] is None]  # no keys
        values = [_Value(*found.span(), json.loads(found[0])) for found in strings]
        self._values = [value for value in values if is_translatable(value.text)]
        self._is_ascii = text.isascii() and re.search(r"\\u[0-9a-fA-F]{4}", text) is not None

    @property
    def paragraphs(self) -> Sequence[Paragraph[None]]:
        """The string values that have a letter or a digit."""
        return [Paragraph(value.text) for value in self._values]

    def write(self, translations: Sequence[Translated]) -> bytes:
        """Return the file with its string values replaced."""
        edits = [
            Edit(value.start, value.end, json.dumps(translated.text, ensure_ascii=self._is_ascii))
            for value, translated in zip(self._values, translations, strict=True)
            if translated.text != value.text
        ]
        return self._file.encode(apply_edits(self._file.text, edits))
