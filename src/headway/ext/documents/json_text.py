"""JSON files of texts, as programs keep their messages: string values are translated, all else stays.

Those of Flutter (.arb) also say in what language the messages are, and describe them. In those of vue-i18n a value has
the plural forms of a text with ``|`` between them.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from headway.errors import HeadwayError
from headway.ext.documents.icu_message import is_message
from headway.ext.documents.language_codes import LanguagePair
from headway.ext.documents.paragraph import DocumentOptions, Paragraph, Translated
from headway.ext.documents.text_file import Edit, apply_edits, check_count, read_text_file
from headway.ext.protect import find_protected_text
from headway.text import NAMES, base_code, is_code, is_translatable

_TOKEN = re.compile(r'(?P<string>"(?:[^"\\]|\\.)*+")(?P<colon>\s*+:)?|[{}\[\]]')
_LANGUAGE = "@@locale"  # the key of the language of an .arb file
_FORM_BREAK = re.compile(r"(?<![ \t])(?:[ \t]++\|)+[ \t]++")
# Names for programs: page.title and pageTitle; "e.g" is none.
_NAME = re.compile(r"(?a:[a-z][\w-]+(?:\.[\w-]+)+|[a-z]+\d*(?:[A-Z][a-z\d]*)+)")
# A language with its script or country: en-US, zh_Hant.
_LOCALE = re.compile(
    r"[a-z]{2,3}(?:[-_](?:Arab|Cyrl|Deva|Hans|Hant|Latn))?(?:[-_](?:[A-Z]{2}|419))?"
)
_LANGUAGE_KEY = re.compile(r"(?:^|[_-])(?:lang|language|locale)(?:[_-]?code)?\Z", re.IGNORECASE)
_LONGEST_LANGUAGE_KEY = 14  # characters of a match


class _Value(NamedTuple):
    """A string value.

    Attributes:
        start: Where it starts in the file, with its quote.
        end: Where it ends.
        text: What it means.
        key: The outermost key that it belongs to; "" if the file is a list.
        name: The innermost one.
    """

    start: int
    end: int
    text: str
    key: str
    name: str

    @property
    def is_language(self) -> bool:
        """Whether it is text, and neither a name for programs nor the code of a language."""
        text = self.text.strip()
        is_known = is_code(text) and base_code(text) in NAMES
        is_language_code = is_known and (
            _LANGUAGE_KEY.search(self.name, len(self.name) - _LONGEST_LANGUAGE_KEY)
            or (len(text) > 3 and _LOCALE.fullmatch(text))
        )
        return is_translatable(text) and not is_language_code and not _NAME.fullmatch(text)


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
        check_count(len(re.findall(r"[\[{,|]", text)), "values and plural forms")
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
            if value.is_language and not (is_arb and value.key.startswith("@"))
        ]
        self._forms = [_split_forms(value.text) for value in self._values]
        language = LanguagePair(options.source, options.target)
        name = json.dumps(options.target.replace("-", "_"))
        self._edits = [
            Edit(value.start, value.end, name)
            for value in values
            if is_arb and value.key == _LANGUAGE and language.replaces(value.text)
        ]
        self._is_ascii = text.isascii() and re.search(r"\\u[0-9a-fA-F]{4}", text) is not None

    @property
    def paragraphs(self) -> Sequence[Paragraph[None]]:
        """The string values that have a letter or a digit; each plural form by itself."""
        texts = (text for forms in self._forms for text in forms)
        return [Paragraph(text) for text in texts if is_translatable(text)]

    def write(self, translations: Sequence[Translated]) -> bytes:
        """Return the file with its string values replaced."""
        left, edits = iter(translations), [*self._edits]
        for value, forms in zip(self._values, self._forms, strict=True):
            text = "".join(next(left).text if is_translatable(form) else form for form in forms)
            if text != value.text:
                written = json.dumps(text, ensure_ascii=self._is_ascii)
                edits.append(Edit(value.start, value.end, written))
        return self._file.encode(apply_edits(self._file.text, edits))


def _split_forms(text: str) -> list[str]:
    """Return the plural forms of a text and what stands between them; joined they are the text.

    A ``|`` in a message of ICU, a placeholder or code is no border.
    """
    breaks = [] if is_message(text) else [found.span() for found in _FORM_BREAK.finditer(text)]
    kept = find_protected_text(text) if breaks else []
    inside = [
        place for each in kept for place in each[:2]
    ]  # sorted: between an odd one and the next
    breaks = [span for span in breaks if bisect_right(inside, span[0]) % 2 == 0]
    places = [0, *(place for span in breaks for place in span), len(text)]
    return [text[start:end] for start, end in pairwise(places)]


def _find_values(text: str) -> Iterator[_Value]:
    """Yield the string values of a JSON file, in their order."""
    key, name, depth = "", "", 0
    for found in _TOKEN.finditer(text):
        string = found["string"]
        if string is None:
            depth += 1 if found[0] in "{[" else -1
        elif found["colon"] is None:
            yield _Value(*found.span("string"), json.loads(string), key, name)
        else:
            name = json.loads(string)
            key = name if depth == 1 else key
