"""What the handlers of a request work with."""

from collections import Counter
from dataclasses import dataclass

from headway.ext.server.file_jobs import FileJobs
from headway.ext.server.file_store import FileStore
from headway.ext.server.glossaries import Glossaries
from headway.ext.server.models import Models
from headway.ext.server.queue import TranslationQueue
from headway.ext.server.server_settings import ServerConfig
from headway.ext.server.translation import TextTranslator


@dataclass(frozen=True)
class Context:
    """What the handlers work with.

    Attributes:
        models: The models at the time of the request.
        queue: The queue of all requests.
        config: The server's settings.
        needs_key: Whether every POST needs an API key.
        glossaries: Those that requests may name.
        files: Translated files that wait to be fetched.
        jobs: Translations of files that go on.
        characters: Those that DeepL's clients have sent, by the owner of the key; without keys all clients are one.
        owner: The name of the key's owner; "" on a server without keys.
        client: The same, or on a server without keys the address.
    """

    models: Models
    queue: TranslationQueue
    config: ServerConfig
    needs_key: bool
    glossaries: Glossaries
    files: FileStore
    jobs: FileJobs
    characters: Counter[str]
    owner: str = ""
    client: str = ""

    @property
    def translator(self) -> TextTranslator:
        """A translator of texts with the server's settings."""
        return TextTranslator(self.queue, self.config.split_sentences)
