"""The glossaries that clients keep on the server, in memory or in a folder."""

import asyncio
import json
import re
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from headway.errors import HeadwayError
from headway.files import remove, replace_text
from headway.serving.deepl.entries import make_glossary
from headway.serving.rejection import Rejection
from headway.text.glossary import Glossary

# Characters of the glossaries whose terms are ready to be matched: about 100 MB. Those of others are made again.
COMPILED = 4_000_000
MAX_FILE = 16 << 20
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
QUOTA_EXCEEDED = 456  # DeepL's own status


@dataclass(frozen=True)
class ClientGlossary:
    """A glossary that a client made; it never changes.

    Attributes:
        glossary_id: Its name for clients.
        owner: The name of the key's owner; "" on a server without keys.
        name: What the client calls it.
        source_lang: DeepL's code of the source, in lower case.
        target_lang: DeepL's code of the target, in lower case.
        creation_time: In ISO 8601.
        entries: A source, a tab and a target in each line.
    """

    glossary_id: str
    owner: str
    name: str
    source_lang: str
    target_lang: str
    creation_time: str
    entries: str

    @property
    def entry_count(self) -> int:
        """How many entries it has."""
        return self.entries.count("\n") + 1


class GlossaryStore:
    """Keeps the glossaries of clients.

    Args:
        limit: Glossaries of each owner of a key.
        folder: Where they are kept; "": in memory, until the server ends.

    Raises:
        HeadwayError: If the folder cannot be read, or a file in it is damaged; the message names it.
    """

    def __init__(self, limit: int, folder: str = "") -> None:
        self.limit = limit
        self.folder = Path(folder) if folder else None
        self._by_id = {each.glossary_id: each for each in _read_folder(self.folder)}
        self._compiled: dict[ClientGlossary, Glossary] = {}  # in the order of their last use

    def list_of(self, owner: str) -> list[ClientGlossary]:
        """Return the glossaries of an owner, the oldest first."""
        return [glossary for glossary in self._by_id.values() if glossary.owner == owner]

    def find(self, glossary_id: str, owner: str) -> ClientGlossary:
        """Return a glossary.

        Raises:
            Rejection: 400 if this is no identifier, 404 if the owner has no such glossary.
        """
        if not _ID.fullmatch(glossary_id.lower()):
            raise Rejection(400, "Value for 'glossary_id' not supported.")
        found = self._by_id.get(glossary_id.lower())
        if found is None or found.owner != owner:
            raise Rejection(404, "Glossary not found")
        return found

    def add(
        self, owner: str, name: str, languages: tuple[str, str], entries: str
    ) -> ClientGlossary:
        """Make a glossary.

        Args:
            owner: Whose it is.
            name: What the client calls it.
            languages: DeepL's codes of source and target, in lower case.
            entries: From `write_entries`.

        Raises:
            Rejection: 456 if the owner has as many as the limit allows.
        """
        if len(self.list_of(owner)) >= self.limit:
            message = f"Quota exceeded: {self.limit} glossaries are kept; delete one of them"
            raise Rejection(QUOTA_EXCEEDED, message)
        now = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        made = ClientGlossary(str(uuid4()), owner, name, *languages, now, entries)
        if self.folder is not None:
            text = json.dumps(asdict(made), ensure_ascii=False)
            replace_text(self._path(made), text)
        self._by_id[made.glossary_id] = made
        return made

    def remove(self, glossary: ClientGlossary) -> None:
        """Forget a glossary."""
        if self.folder is not None:
            remove(self._path(glossary))
        self._by_id.pop(glossary.glossary_id, None)
        self._compiled.pop(glossary, None)

    async def compile(self, glossary: ClientGlossary) -> Glossary:
        """Return the terms of a glossary; a thread makes them in up to seconds, if they are not ready."""
        found = self._compiled.pop(glossary, None)
        if found is None:
            found = await asyncio.to_thread(make_glossary, glossary.entries)
            if glossary.glossary_id not in self._by_id:  # removed meanwhile
                return found
            self._compiled.pop(glossary, None)  # another text needed it, too
            self._make_room(len(glossary.entries))
        self._compiled[glossary] = found
        return found

    def _make_room(self, characters: int) -> None:
        """Drop the terms that were not used for the longest time, until there is room for so many characters."""
        characters += sum(len(each.entries) for each in self._compiled)
        for glossary in [*self._compiled]:
            if characters <= COMPILED:
                return
            del self._compiled[glossary]
            characters -= len(glossary.entries)

    def _path(self, glossary: ClientGlossary) -> Path:
        assert self.folder is not None
        return self.folder / f"{glossary.glossary_id}.json"


def _read_folder(folder: Path | None) -> list[ClientGlossary]:
    if folder is None:
        return []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        found = [_read_file(path) for path in folder.glob("*.json")]
    except OSError as error:
        raise HeadwayError(f"server.glossary_folder: {folder}: {error.strerror or error}") from None
    return sorted(found, key=lambda glossary: glossary.creation_time)


def _read_file(path: Path) -> ClientGlossary:
    if path.stat().st_size > MAX_FILE:
        raise HeadwayError(f"{path}: larger than any glossary of a client")
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        found = ClientGlossary(**values)
    except (ValueError, TypeError):
        found = None
    if found is None or not all(isinstance(value, str) for value in values.values()):
        raise HeadwayError(f"{path}: is no glossary of a client; remove it")
    return found
