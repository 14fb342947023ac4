"""The entries of a client's glossary: a source and a target term in each row of a table."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence

from headway.serving.rejection import Rejection
from headway.text.glossary import Glossary, Term

MAX_ENTRIES = 5_000
MAX_BYTES = 1_024  # of a term
_CONTROL = re.compile(r"[\x00-\x1f\x80-\x9f\u2028\u2029]")


def parse_entries(text: str, kind: str, languages: tuple[str, str]) -> dict[str, str]:
    """Return the target of each source term.

    Args:
        text: The rows.
        kind: tsv, or csv, whose rows may also name the languages.
        languages: DeepL's codes of source and target, in lower case.

    Raises:
        Rejection: 400 for the first wrong row.
    """
    found: dict[str, str] = {}
    for number, cells in _read_rows(text, kind):
        source, target = _read_terms(number, cells, kind, languages)
        if source in found:
            raise _wrong_row(number, "repeats the source of another row")
        found[source] = target
        if len(found) > MAX_ENTRIES:
            raise _wrong_row(
                number, f"is one too many: a glossary may have {MAX_ENTRIES:,} entries"
            )
    if not found:
        raise Rejection(400, "Missing or invalid argument: entries")
    return found


def write_entries(entries: Iterable[tuple[str, str]]) -> str:
    """Return entries as a table with tabs."""
    return "\n".join(f"{source}\t{target}" for source, target in entries)


def make_glossary(entries: str) -> Glossary:
    """Return the glossary of `write_entries`; its terms have no wildcards and no flags."""
    rows = (row.split("\t") for row in entries.split("\n"))
    return Glossary([_make_term(source, target) for source, target in rows])


def _make_term(source: str, target: str) -> Term:
    if "*" in source:
        return Term(re.escape(source), (target,), is_regex=True)
    return Term(source, (target,))


def _read_rows(text: str, kind: str) -> Iterator[tuple[int, Sequence[str]]]:
    lines = re.split(r"\r\n|\n|\r", text.removeprefix("\ufeff"))  # a byte order mark
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            [cells] = csv.reader([line], strict=True) if kind == "csv" else [line.split("\t")]
        except (csv.Error, ValueError):
            raise _wrong_row(number, "is no row of a table") from None
        yield number, cells


def _read_terms(
    number: int, cells: Sequence[str], kind: str, languages: tuple[str, str]
) -> tuple[str, str]:
    if kind == "csv" and len(cells) == 4:
        named = cells[2].strip().lower(), cells[3].strip().lower()
        if named != languages:
            raise _wrong_row(number, "names other languages than the glossary")
    elif len(cells) != 2:
        raise _wrong_row(number, "must have a source and a target")
    source, target = cells[0].strip(), cells[1].strip()
    for term in (source, target):
        if not term or _CONTROL.search(term):
            raise _wrong_row(number, "has an empty term, or one with a control character")
        if len(term.encode("utf-8", "replace")) > MAX_BYTES:
            raise _wrong_row(number, f"has a term of more than {MAX_BYTES:,} bytes")
    return source, target


def _wrong_row(number: int, problem: str) -> Rejection:
    return Rejection(400, f"Invalid glossary entries provided: row {number} {problem}")
