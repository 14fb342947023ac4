"""The glossaries of a server, and those that requests bring along."""

from collections.abc import Iterable, Mapping, Sequence

from headway.errors import HeadwayError
from headway.inference import Translator
from headway.serving.rejection import Rejection
from headway.text.glossary import Glossary
from headway.text.glossary_file import LanguageError, parse_glossary, read_glossary

Pair = tuple[str, str]


def add_named_glossary(
    route: Sequence[Translator], text: str, glossaries: "Glossaries"
) -> list[Translator]:
    """Return the models of a route with a glossary.

    Args:
        route: From `Models.find_route`.
        text: As for `Glossaries.find`.
        glossaries: Those of the server.

    Raises:
        Rejection: 400 if there is no such glossary, a row is wrong, or the route has two models.
    """
    if len(route) > 1:
        raise Rejection(400, "Invalid request: a glossary needs one model between two languages")
    return [
        translator.with_glossary(glossaries.find(text, translator.languages))
        for translator in route
    ]


class Glossaries:
    """Glossaries by name.

    Args:
        files: The file of each name.
        pairs: The served pairs of languages, which TBX files need.

    Raises:
        HeadwayError: If a file is missing or has a mistake; the message names it and the line.
    """

    def __init__(self, files: Mapping[str, str], pairs: Iterable[Pair]) -> None:
        self._by_name: dict[str, dict[Pair, Glossary]] = {name: {} for name in files}
        for name, file in files.items():
            for pair in pairs:
                try:
                    self._by_name[name][pair] = read_glossary(file, pair)
                except LanguageError:
                    continue  # for other languages

    @classmethod
    def load(cls, setting: str, pairs: Iterable[Pair]) -> "Glossaries":
        """Read the glossaries of ``server.glossaries``: NAME=FILE, separated by commas."""
        files = {}
        for entry in filter(None, map(str.strip, setting.split(","))):
            name, equals, file = (part.strip() for part in entry.partition("="))
            if not (name and equals and file):
                raise HeadwayError(f"server.glossaries: {entry!r}: must be NAME=FILE")
            files[name] = file
        return cls(files, list(pairs))

    def find(self, text: str, pair: Pair) -> Glossary:
        """Return the glossary that a request asks for.

        Args:
            text: The name of a glossary, or rows: a source, a tab, a target.
            pair: The languages of the translation.

        Raises:
            Rejection: 400 if there is no such glossary, or a row is wrong.
        """
        if "\t" in text:
            try:
                return parse_glossary("glossary", text)
            except HeadwayError as error:
                raise Rejection(400, f"Invalid request: {error}") from None
        known = self._by_name.get(text)
        if known is None:
            raise Rejection(
                400,
                f"Invalid request: {' '.join(text[:40].split())} is not a glossary; send the name of one, or rows of a"
                " source, a tab and a target",
            )
        if pair not in known:
            raise Rejection(
                400,
                f"Invalid request: the glossary {text} has no terms from {pair[0]} to {pair[1]}",
            )
        return known[pair]
