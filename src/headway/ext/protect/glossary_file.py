"""Files of glossaries: tables (TSV, CSV) and TBX.

A row of a table has a source term, its target and, if wanted, flags. Several renderings of a term are
separated by ``|``, or are in several rows. The flags are ``case`` (the capitals count), ``keep`` (the term is not translated) and
``regex`` (the source is a regular expression). A line that starts with ``#`` and a space, or with ``#`` and has no tab, is
a comment. A first row that names both columns (``source, target`` or the languages) is a header.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from headway.errors import HeadwayError, suggest
from headway.ext.protect.glossary import Glossary, Term, strip_renderings
from headway.text import (
    Damaged,
    Row,
    find_code,
    find_named_columns,
    find_other_languages,
    normalize_code,
    one_line,
    read_lines,
    read_rows,
    recognize_dialect,
    shorten_code,
)

FLAGS = ("case", "keep", "regex")
HEADER = ("source", "target", "flags")
QUOTES = "in a .csv file, a cell with a comma needs quotes"
MAX_TERMS = 200_000


class LanguageError(HeadwayError):
    """A file has no terms in the languages that are asked for."""


def read_glossary(path: str | Path, languages: tuple[str, str] = ("", "")) -> Glossary:
    """Read a glossary.

    Args:
        path: ``.tsv`` or ``.txt``, ``.csv``, or ``.tbx`` or ``.xml``.
        languages: Codes of source and target, which a TBX file needs, and by which a header may name its columns;
            empty: any.

    Raises:
        HeadwayError: If the file cannot be read; the message names the file and the line.
        LanguageError: If a TBX file has no terms in the languages, or a header names others.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in (".tsv", ".txt", ".csv", ".tbx", ".xml"):
        raise HeadwayError(f"{path}: a glossary must be a .tsv, .csv or .tbx file")
    if suffix in (".tbx", ".xml"):
        return _make_glossary(path, _read_tbx(path, languages))
    return _make_glossary(path, _read_table(path, [*read_lines(path)], languages, suffix))


def parse_glossary(name: str, text: str, languages: tuple[str, str] = ("", "")) -> Glossary:
    """Parse the rows of a table with tabs, which a stranger has sent; a byte order mark is no part of them.

    Args:
        name: Stands for a file in messages.
        text: The rows.
        languages: As for `read_glossary`.

    Raises:
        HeadwayError: If a row is wrong, or has a regular expression, which may take any time.
        LanguageError: If a header names other languages.
    """
    lines = [line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")]
    rows = _read_table(Path(name), lines, languages, ".tsv")
    return _make_glossary(Path(name), rows, may_have_regex=False)


def _make_glossary(path: Path, rows: Iterator[Row], may_have_regex: bool = True) -> Glossary:
    terms: dict[tuple[str, bool, bool], Term] = {}
    for number, row in rows:
        try:
            term = _make_term(row, may_have_regex)
            same = terms.get(term.identity)
            terms[term.identity] = same.merge(term) if same else term
        except HeadwayError as error:
            where = f"{path}:{number}" if number else path
            raise HeadwayError(f"{where}: {error}") from None
        if len(terms) > MAX_TERMS:
            raise HeadwayError(f"{path}: more than {MAX_TERMS:,} terms")
    return Glossary([*terms.values()])


def _make_term(cells: Sequence[str], may_have_regex: bool) -> Term:
    if len(cells) > len(HEADER):
        raise HeadwayError(
            f"{len(cells)} columns; there must be a source, a target and, if wanted, flags; {QUOTES}"
        )
    source, target, flags = (*cells, "", "")[:3]
    given = flags.replace(",", " ").split()
    for flag in given:
        if flag not in FLAGS:
            raise HeadwayError(
                f"'{flag[:40]}' is not a flag{suggest(flag[:40], FLAGS)}; the third column is for flags (case, keep, regex);"
                f" {QUOTES}"
            )
    # Before the term is made: its regular expression is compiled and tried then, which may take any time.
    if "regex" in given and not may_have_regex:
        raise HeadwayError("the flag regex is only for glossaries of the server")
    return Term(
        source.strip(), strip_renderings(target.split("|")), is_case_sensitive="case" in given, is_kept="keep" in given,
        is_regex="regex" in given,
    )  # fmt: skip


def _read_table(
    path: Path, lines: Sequence[str], languages: tuple[str, str], suffix: str
) -> Iterator[Row]:
    languages = shorten_code(languages[0]), shorten_code(languages[1])
    # Empty lines are no rows, and the numbers of the others stay.
    lines = ["" if _is_comment(line) else line for line in lines]
    dialect = recognize_dialect(lines, suffix, is_whole=True, may_mix=True)
    rows = map(partial(_check_row, path), read_rows(str(path), lines, dialect))
    if (first := next(rows, None)) is None:
        return
    named = find_named_columns(first.cells, languages)
    if named is None or {*named} != {0, 1}:
        names = [cell.strip() for cell in first.cells[:2]]
        if find_other_languages(names, languages):
            raise LanguageError(
                f"{path}:{first.line}: the first row names {names[0]} and {names[1]}, and the translation is from"
                f" {languages[0]} to {languages[1]}; if they are a term, write the header source, target above them"
            )
        named = 0, 1
        yield first
    for number, cells in rows:
        yield Row(number, (*(cells[i] for i in named if i < len(cells)), *cells[2:]))


def _check_row(path: Path, row: Row | Damaged) -> Row:
    """Return a row with each cell in one line; raise an error if it is damaged."""
    if isinstance(row, Damaged):
        raise HeadwayError(f"{path}:{row.line}: not a row of a table: {row.reason}")
    return Row(row.line, tuple(map(one_line, row.cells)))


def _is_comment(line: str) -> bool:
    """Return whether a line begins with ``#`` and is no row with a term such as ``#1``."""
    line = line.strip()
    return line.startswith("#") and ("\t" not in line or line[1:2].isspace())


def _read_tbx(path: Path, languages: tuple[str, str]) -> Iterator[Row]:
    """Yield the terms of a TBX file, version 2 or 3, as rows of a table: those in use render each term of the source."""
    has_terms = False
    for concept in _find(_parse(path), "termEntry", "conceptEntry"):
        sections = _find(concept, "langSet", "langSec")
        sources, targets = (
            [term for each in _find_language(sections, language) for term in _list_terms(each)]
            for language in languages
        )
        used = "|".join(text for text, is_used in targets if is_used)
        for source, _ in sources if used else ():
            has_terms = True
            yield Row(0, (source, used))
    if not has_terms:
        raise LanguageError(
            f"{path}: no terms in {languages[0] or '?'} and {languages[1] or '?'}; a TBX file names the"
            " languages in xml:lang"
        )


def _parse(path: Path) -> Element:
    """Return the root of an XML file."""
    try:
        return ElementTree.parse(path).getroot()
    except ElementTree.ParseError as error:
        raise HeadwayError(f"{path}:{error.position[0]}: not well-formed XML: {error}") from None
    except (OSError, ValueError, LookupError) as error:
        raise HeadwayError(f"{path}: it or its encoding cannot be read: {error}") from None


def _find(element: Element, *names: str) -> list[Element]:
    """Return the elements inside another one that have one of some names, in any namespace."""
    return [each for name in names for each in element.iterfind(f".//{{*}}{name}")]


def _find_language(sections: Sequence[Element], language: str) -> list[Element]:
    """Return the sections of a language; ``en`` also finds ``en-GB``, and ``en-GB`` finds ``en`` if there is no other."""
    found = [
        (normalize_code(code), section)
        for section in sections
        if (code := section.get(_LANGUAGE, "")) and language
        if find_code(language, [code]) or find_code(code, [language])
    ]
    same = [section for code, section in found if code.startswith(normalize_code(language))]
    return same or [section for _, section in found]


def _list_terms(section: Element) -> list[tuple[str, bool]]:
    """Return the terms of a language, and whether each is not deprecated, superseded or forbidden."""
    found: list[tuple[str, bool]] = []
    for element in section.iter():
        tag = element.tag.rpartition("}")[2]
        name = element.get("type") if tag == "termNote" else tag
        text = "".join(element.itertext()).strip()
        is_status = name in ("administrativeStatus", "normativeAuthorization")
        if is_status and found and text.lower().startswith(_UNUSED):
            found[-1] = found[-1][0], False
        elif name == "term" and text:
            found.append((text, True))
    return found


_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_UNUSED = ("deprecated", "superseded", "forbidden", "obsolete")
