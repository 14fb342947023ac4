"""Translation memories (TMX), read unit by unit in constant memory and safe from hostile files."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from unicodedata import east_asian_width
from xml.parsers import expat

from headway.errors import HeadwayError
from headway.text import LONGEST, Damaged, Languages, Pair, one_line, open_bytes

CHUNK = 1 << 16  # bytes parsed at once
DEEPEST = 100  # nested elements

# Elements that hold formatting codes of word processors. (The content of <hi> is text.)
CODES = frozenset({"bpt", "ept", "it", "ph", "ut"})
STANDALONE = ("ph", "ut")  # between words they may take the place of a space: a line break
_JOINTS = "([{<\"'\u2018\u201c\u201e\u00ab\u00bf\u00a1-/"  # a word behind them belongs to them
_INVALID = expat.errors.codes[expat.errors.XML_ERROR_INVALID_TOKEN]
PARENT = {"tuv": "tu", "seg": "tuv"}  # the only elements that these may stand in


class Unit(NamedTuple):
    """A ``<tu>`` of a TMX file.

    Args:
        line: The line of the file where the unit begins, from 1.
        texts: Language code (lower case, such as ``en-gb``) -> text, in the file's order.
    """

    line: int
    texts: dict[str, str]

    def text(self, language: str) -> str | None:
        """Return the text in a language, or None; ``en`` also finds ``en-GB``."""
        wanted = _code(language)
        regional = (self.texts[code] for code in self.texts if code.startswith(f"{wanted}-"))
        return self.texts.get(wanted, next(regional, None))


def read_memory(path: str, languages: Languages | None) -> Iterator[Pair | Damaged]:
    """Read the pairs of a TMX file.

    Args:
        path: The file.
        languages: Codes of source and target; None: the two of its first unit.

    Raises:
        HeadwayError: If the file cannot be read, or has several languages and none are given; it names the line.
    """
    for unit in read_units(path):
        if languages is None:
            if len(unit.texts) != 2:
                found = ", ".join(unit.texts) or "none"
                raise HeadwayError(
                    f"{path}:{unit.line}: languages here: {found}; give --languages SOURCE TARGET"
                )
            source_code, target_code = unit.texts
            languages = source_code, target_code
        source, target = (unit.text(language) for language in languages)
        if source is None or target is None:
            missing = languages[0] if source is None else languages[1]
            found = ", ".join(unit.texts) or "none"
            reason = f"no text in '{missing}'; languages here: {found}"
            yield Damaged(path, unit.line, reason, is_elsewhere=True)
        else:
            yield Pair(one_line(source), one_line(target), unit.line)


def read_units(path: str | Path) -> Iterator[Unit]:
    """Read the units of a TMX file.

    A document type is ignored, not fetched. A declaration of an entity is an error, because entities
    can expand a kilobyte to gigabytes and can read files of this machine.

    Args:
        path: A file in any encoding that its XML declaration names, plain or compressed.

    Raises:
        HeadwayError: If the file is not well-formed, is not TMX or is hostile; it names the line.
    """
    units = _Units(str(path))
    parser, fed = units.parser, 0
    with open_bytes(path) as file:
        try:
            while chunk := file.read(CHUNK):
                parser.Parse(chunk, False)
                fed += len(chunk)
                if fed - parser.CurrentByteIndex > LONGEST + CHUNK:
                    raise units.error(f"a tag or comment longer than {LONGEST} bytes")
                yield from units.complete
                units.complete.clear()
            parser.Parse(b"", True)
        except expat.ExpatError as problem:
            what = f"not well-formed XML: {expat.ErrorString(problem.code)}"
            byte = chunk[parser.ErrorByteIndex - fed :][:1]
            if problem.code == _INVALID and byte >= b"\x80":
                what = (
                    f"byte 0x{byte.hex()} is not a character of the file's encoding: declare the right"
                    ' one in its first line, such as <?xml version="1.0" encoding="windows-1252"?>'
                )
            raise HeadwayError(f"{path}:{problem.lineno}: {what}") from None
        except HeadwayError:
            raise
        except (OSError, ValueError, LookupError) as problem:  # of the disk, or of Python's codecs
            reason = getattr(problem, "strerror", None) or problem
            raise units.error(f"cannot be read, or not in its encoding: {reason}") from None


def _parts_words(before: list[str], text: str) -> bool:
    """Return whether a word begins directly behind another word, or its marks, of a language with spaces."""
    last, first = before[-1][-1:] if before else "", text[:1]
    is_wide = "W" in (east_asian_width(last or " "), east_asian_width(first))
    return first.isalnum() and not is_wide and bool(last.strip()) and last not in _JOINTS


def _code(language: str) -> str:
    return language.lower().replace("_", "-")


class _Units:
    """The state of a parser: the unit that it is reading, and the units that are complete.

    Args:
        path: The file, for error messages.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.complete: list[Unit] = []
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.EntityDeclHandler = self._entity
        self.parser.SkippedEntityHandler = self._skipped
        self._open: list[str] = []  # the elements that have begun and not ended
        self._codes = self._length = self._segments = 0
        self._unit = Unit(1, {})
        self._language = ""
        self._segment: list[str] | None = None
        self._is_apart = False  # whether a standalone code has just ended

    def error(self, reason: str) -> HeadwayError:
        """Return an error that names the file and the parser's present line."""
        return HeadwayError(f"{self.path}:{self.parser.CurrentLineNumber}: {reason}")

    def _check_place(self, name: str) -> None:
        """Check that an element stands where TMX allows it: elsewhere its texts would form wrong pairs."""
        around = self._open[-1] if self._open else ""
        if (name == "tu" and name in self._open) or (name in PARENT and PARENT[name] != around):
            place = f"directly in a <{PARENT[name]}>" if name in PARENT else "outside other units"
            raise self.error(f"<{name}> inside <{around}>: it must stand {place}")
        if name == "seg" and self._segments:
            raise self.error("a second <seg> in a <tuv>: there must be one")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if not self._open and name != "tmx":
            raise self.error(f"not TMX: its root element is <{name[:40]}>, not <tmx>")
        if len(self._open) == DEEPEST:
            raise self.error(f"more than {DEEPEST} nested elements")
        self._check_place(name)
        self._open.append(name)
        if name == "tu":
            self._unit = Unit(self.parser.CurrentLineNumber, {})
        elif name == "tuv":
            self._segments = 0
            self._language = _code(attributes.get("xml:lang") or attributes.get("lang", ""))
        elif name == "seg":
            self._segment, self._length, self._is_apart = [], 0, False
            self._segments += 1
        self._codes += name in CODES

    def _end(self, name: str) -> None:
        self._open.pop()
        self._codes -= name in CODES
        self._is_apart |= name in STANDALONE
        if name == "seg" and self._segment is not None:
            self._unit.texts.setdefault(self._language, "".join(self._segment))
            self._segment = None
        elif name == "tu":
            self.complete.append(self._unit)

    def _characters(self, text: str) -> None:
        if self._segment is not None and not self._codes:
            if self._is_apart and _parts_words(self._segment, text):
                self._segment.append(" ")
            self._is_apart = False
            self._segment.append(text)
            self._length += len(text)
            if self._length > LONGEST:
                raise self.error(f"a segment longer than {LONGEST} characters")

    def _entity(self, name: str, *_declaration: object) -> None:
        raise self.error(
            f"declares the entity '{name[:40]}', which is not allowed: write its text instead"
        )

    def _skipped(self, name: str, is_parameter: bool) -> None:
        if not is_parameter:
            raise self.error(f"the entity '&{name[:40]};' is unknown: write the character itself")
