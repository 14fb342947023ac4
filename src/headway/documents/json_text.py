"""JSON files of texts, as programs keep their messages: string values are translated, all else stays.

Those of Flutter (.arb) also say in what language the messages are, and describe them.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from headway.documents.edits import Edit, apply_edits
from headway.documents.languages import Language
from headway.documents.paragraph import DocumentOptions, Paragraph, Translated
from headway.documents.text_file import check_count, read_text_file
from headway.errors import HeadwayError
from headway.text.languages import is_translatable

_TOKEN = re.compile(r'(?P<string>"(?:[^"\\]|\\.)*+")(?P<colon>\s*+:)?|[{}\[\]]')
_LANGUAGE = "@@locale"  # the key of the language of an .arb file


class _Value(NamedTuple):
    """A string value.

    Attributes:
        start: Where it starts in the file, with its quote.
        end: Where it ends.
        text: What it means.
        key: The outermost key that it belongs to; "" if the file is a list.
    """

    start: int
    end: int
    text: str
    key: str


class JsonDocument:
    """A JSON file.

    Args:
        data: The content of the file.
        options: What is known about the translation.
        is_arb: Whether keys with an ``@`` before them describe others, and one of them names the language.

    Raises:
        HeadwayError: If the file is no JSON.
    """

    def __init__(self, data: bytes, options: DocumentOptions, *, is_arb: bool = False) -> None:
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
        values = [*_find_values(text)]
        self._values = [
            value
            for value in values
            if is_translatable(value.text) and not (is_arb and value.key.startswith("@"))
        ]
        language = Language(options.source, options.target)
        name = json.dumps(options.target.replace("-", "_"))
        self._edits = [
            Edit(value.start, value.end, name)
            for value in values
            if is_arb and value.key == _LANGUAGE and language.replaces(value.text)
        ]
        self._is_ascii = text.isascii() and re.search(r"\\u[0-9a-fA-F]{4}", text) is not None

    @property
    def paragraphs(self) -> Sequence[Paragraph[None]]:
        """The string values that have a letter or a digit."""
        return [Paragraph(value.text) for value in self._values]

    def write(self, translations: Sequence[Translated]) -> bytes:
        """Return the file with its string values replaced."""
        edits = self._edits + [
            Edit(value.start, value.end, json.dumps(translated.text, ensure_ascii=self._is_ascii))
            for value, translated in zip(self._values, translations, strict=True)
            if translated.text != value.text
        ]
        return self._file.encode(apply_edits(self._file.text, edits))


def _find_values(text: str) -> Iterator[_Value]:
    """Yield the string values of a JSON file, in their order."""
    key, depth = "", 0
    for found in _TOKEN.finditer(text):
        string = found["string"]
        if string is None:
            depth += 1 if found[0] in "{[" else -1
        elif found["colon"] is None:
            yield _Value(*found.span("string"), json.loads(string), key)
        elif depth == 1:
            key = json.loads(string)
