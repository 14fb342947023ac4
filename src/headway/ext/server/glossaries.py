"""The glossaries of a server, and those that requests bring along."""

import logging
import re
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime

from headway.errors import HeadwayError, UsageError
from headway.ext.protect import Glossary, LanguageError, parse_glossary, read_glossary
from headway.ext.server.rejection import Rejection

log = logging.getLogger("headway.ext.server")
Pair = tuple[str, str]
_ENTRY = re.compile(r"([^=]*[^=\s])\s*=\s*(.+?)(?:@([\w-]+))?")  # NAME=FILE or NAME=FILE@en-de


class Glossaries:
    """Glossaries by name, and for each by the pair of languages.

    Args:
        by_name: The terms of each name for each pair.

    Attributes:
        read_at: When they were read, in ISO 8601.
    """

    def __init__(self, by_name: Mapping[str, Mapping[Pair, Glossary]]) -> None:
        self._by_name = by_name
        now = datetime.now(UTC).isoformat(timespec="microseconds")
        self.read_at = now.replace("+00:00", "Z")

    @classmethod
    def load(cls, setting: str, pairs: Collection[Pair]) -> "Glossaries":
        """Read the glossaries of ``server.glossaries``.

        Args:
            setting: NAME=FILE, separated by commas; after FILE may be the pair that it is for, such as ``@en-de``.
            pairs: The served pairs of languages.

        Raises:
            HeadwayError: If a file is missing or has a mistake, and the message names it and the line; or if
                two files of a name are for the same pair.
        """
        by_name: dict[str, dict[Pair, Glossary]] = {}
        for entry in filter(None, map(str.strip, setting.split(","))):
            found = _ENTRY.fullmatch(entry)
            if found is None:
                raise UsageError(f"server.glossaries: {entry!r}: must be NAME=FILE")
            name, file, direction = found.groups()
            terms = _read_terms(
                file, [pair for pair in pairs if direction in (None, "-".join(pair))]
            )
            if not terms:
                log.warning("%s: the glossary is for no languages of the models", entry)
            named = by_name.setdefault(name, {})
            for source, target in named.keys() & terms:
                raise HeadwayError(
                    f"server.glossaries: {entry!r}: another file of this name is for {source} to {target}, too"
                )
            named |= terms
        return cls(by_name)

    def find(self, text: str, pair: Pair) -> Glossary:
        """Return the glossary that a request asks for.

        Args:
            text: The name of a glossary, or rows: a source, a tab, a target.
            pair: The languages of the translation.

        Raises:
            Rejection: 400 if there is no such glossary, it is for other languages, or a row is wrong.
        """
        if "\t" not in text:
            return self.find_named(text, pair)
        try:
            return parse_glossary("glossary", text, pair)
        except HeadwayError as error:
            raise Rejection(400, f"Invalid request: {error}") from None

    def find_named(self, name: str, pair: Pair) -> Glossary:
        """Return a glossary of the settings.

        Raises:
            Rejection: 400 if there is no such glossary, or it is for other languages.
        """
        if (known := self._by_name.get(name)) is None:
            shown = " ".join(name[:40].split())
            raise Rejection(
                400,
                f"Invalid request: {shown} is not a glossary; send the name of one, or rows of a source, a tab and a target,"
                " such as a .tsv file",
            )
        if pair not in known:
            raise Rejection(
                400,
                f"Invalid request: the glossary {name} has no terms from {pair[0]} to {pair[1]}",
            )
        return known[pair]

    def list_names(self) -> list[tuple[str, Pair]]:
        """Return the name and the pair of languages of each glossary."""
        return [(name, pair) for name, by_pair in self._by_name.items() for pair in by_pair]


def _read_terms(file: str, pairs: Iterable[Pair]) -> dict[Pair, Glossary]:
    """Return the terms of a file for each of the pairs that it is for; a table is for all of them."""
    found = {}
    for pair in pairs:
        try:
            found[pair] = read_glossary(file, pair)
        except LanguageError:
            continue
    return found
