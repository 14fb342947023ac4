"""JSON files of texts, as programs keep their messages: string values are translated, all else stays.

Those of Flutter (.arb) also say in what language the messages are, and describe them.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from headway.errors import HeadwayError
from headway.ext.documents.edited_file import EditedFile, TextEntry
from headway.ext.documents.icu_message import read_message
from headway.ext.documents.language_codes import LanguagePair
from headway.ext.documents.paragraph import Document, DocumentOptions
from headway.ext.documents.text_file import Edit, check_count, read_text_file
from headway.ext.protect import is_measure
from headway.text import NAMES, base_code, is_code, is_translatable

# A string without an end goes on to the end of the text, so that nothing is read twice.
_TOKEN = re.compile(
    r'(?P<string>"(?:[^"\\]|\\.)*+(?:"|\\?\Z))(?P<colon>\s*+:)?|[{}\[\]]', re.DOTALL
)
_LANGUAGE = "@@locale"  # the key of the language of an .arb file
# For programs under any key: page.title and pageTitle ("e.g" is none), kinds of files and colours.
_NAME = re.compile(
    r"(?a:[a-z][\w-]+(?:\.[\w-]+)+|[a-z]+\d*(?:[A-Z][a-z\d]*)+"
    r"|(?:application|audio|font|image|multipart|text|video)/[\w.+-]+|#[\da-fA-F]{6}(?:..)?)"
)
# Keys of values for programs: type, userType, user-type and USER_TYPE, after their words are parted.
_PARTS_OF_KEY = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[-.:\s]+")
_PROGRAM_KEY = re.compile(
    r"(?:^|_)(?:(?P<classes>class(?:_?(?:names?|list))?)|(?P<formats>format|fmt|pattern)"
    r"|id|u?uid|guid|key|type|kind|icon|colou?r|slug|href|ur[il]|src|path|method|mime_?(?:type)?|time_?zone|tz"
    r"|locale|lang|language|currency|sku|version|charset|encoding|rel|target|role|variant|align|layout"
    r"|component|template|selector|regex|event|action|code)(?:e?s)?\Z"
)
# There one word stays; a word as people write it (Dog, T-shirt), or with the end of a sentence, does not.
_WORD_FOR_PROGRAMS = re.compile(
    r"(?![A-Z][a-z]*(?:-[A-Za-z]?[a-z]+)*[.!?:]*\Z|.*[A-Za-z][.!?:]+\Z)[!-~]+"
)
_CLASSES = re.compile(
    r"(?=.*[a-z\d][-_:][a-z\d])[a-z\d][!-+\--~]*(?: +[a-z\d-][!-+\--~]*(?<![.!?]))*"
)
_DATE_PATTERN = re.compile(
    r"(?=.*(?:[yY]{2}|[dD]{2}|MM|HH|hh|mm))[yYMdDHhmsSaAEzZ\d\W_]+", re.ASCII
)
# A language with its script or country: en-US, zh_Hant.
_LOCALE = re.compile(
    r"[a-z]{2,3}(?:[-_](?:Arab|Cyrl|Deva|Hans|Hant|Latn))?(?:[-_](?:[A-Z]{2}|419))?"
)
_LANGUAGE_KEY = re.compile(r"(?:^|[_-])(?:lang|language|locale)(?:[_-]?code)?\Z", re.IGNORECASE)
_LONGEST_LANGUAGE_KEY = 14  # characters of a match
_LONGEST_PROGRAM_KEY = 24  # likewise, before its words are parted
_SHOWN_KEYS, _SHOWN = 4, 40  # keys of a place, and characters of each


@dataclass(kw_only=True, slots=True)
class _Value(TextEntry):
    """A string value, with its quotes.

    Attributes:
        key: The outermost key that it belongs to; "" if the file is a list.
        name: The innermost one.
        is_ascii: Whether other characters are written as escapes.
    """

    key: str
    name: str
    is_ascii: bool

    @property
    def is_language(self) -> bool:
        """Whether it is text, and neither a name for programs nor the code of a language."""
        text = self.text.strip()
        is_known = is_code(text) and base_code(text) in NAMES
        is_language_code = is_known and (
            _LANGUAGE_KEY.search(self.name, len(self.name) - _LONGEST_LANGUAGE_KEY)
            or (len(text) > 3 and _LOCALE.fullmatch(text))
        )
        is_text = is_translatable(text) and not is_measure(text)
        return is_text and not (
            is_language_code or _NAME.fullmatch(text) or self._is_for_programs(text)
        )

    def _is_for_programs(self, text: str) -> bool:
        """Whether the key is one of values for programs, and the text looks like one."""
        tail = _PARTS_OF_KEY.sub("_", self.name[-_LONGEST_PROGRAM_KEY:]).lower()
        found = _PROGRAM_KEY.search(tail)
        # A catalog of messages may have "id": "ID".
        if not found or (text[:1].isupper() and tail.endswith(text.lower())):
            return False
        forms = [_WORD_FOR_PROGRAMS]
        forms += [_CLASSES] if found["classes"] else []
        forms += [_DATE_PATTERN] if found["formats"] else []
        return any(form.fullmatch(text) for form in forms)

    def write(self, text: str) -> str:
        """Return the literal of a text."""
        return json.dumps(text, ensure_ascii=self.is_ascii)


def read_json(data: bytes, options: DocumentOptions) -> Document:
    """Read a JSON file.

    Args:
        data: The content of the file.
        options: What is known about the translation.

    Raises:
        HeadwayError: If the file is no JSON.
    """
    file = read_text_file(data, options.source)
    # There keys with an @ before them describe others, and one of them names the language.
    is_arb = options.suffix == ".arb"
    check_count(len(re.findall(r"[\[{,]", file.text)), "values")
    try:
        json.loads(file.text)
    except RecursionError:
        raise HeadwayError("is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise HeadwayError(f"is no JSON: line {error.lineno}: {error.msg}") from None
    except ValueError:  # a number with too many digits
        raise HeadwayError("is no JSON: a number has too many digits") from None
    values = [*_find_values(file.text)]
    language = LanguagePair(options.source, options.target)
    edits = [
        Edit(value.start, value.end, json.dumps(options.target.replace("-", "_")))
        for value in values
        if is_arb and value.key == _LANGUAGE and language.replaces(value.text)
    ]
    texts = [
        value
        for value in values
        if value.is_language and not (is_arb and value.key.startswith("@"))
    ]
    return EditedFile(file, texts, edits, partial(read_message, language=options.target))


def _find_values(text: str) -> Iterator[_Value]:
    """Yield the string values of a JSON file, in their order."""
    is_ascii = text.isascii() and re.search(r"\\u[0-9a-fA-F]{4}", text) is not None
    names = [""]  # the key before each open bracket, and the last one inside
    for found in _TOKEN.finditer(text):
        string = found["string"]
        if string is None and found[0] in "{[":
            names.append(names[-1] if found[0] == "[" else "")
        elif string is None:
            names.pop()
        elif found["colon"] is not None:
            names[-1] = json.loads(string)
        else:
            key = names[1] if len(names) > 1 else ""
            shown = dict.fromkeys(name[:_SHOWN] for name in names[-_SHOWN_KEYS:] if name)
            content = json.loads(string)
            span = found.span("string")
            yield _Value(
                *span, content, ".".join(shown), key=key, name=names[-1], is_ascii=is_ascii
            )
