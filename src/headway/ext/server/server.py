"""The parts of a server, and what they are for a request."""

from dataclasses import dataclass, field

from starlette.requests import Request

from headway.ext.server.admission import Admission
from headway.ext.server.files import Files
from headway.ext.server.glossaries import Glossaries, add_named_glossary
from headway.ext.server.keys import Keys
from headway.ext.server.metrics import Metrics
from headway.ext.server.models import Models
from headway.ext.server.queue import TranslationQueue
from headway.ext.server.server_settings import ServerConfig
from headway.ext.server.translation import TextTranslator
from headway.ext.server.usage import Usage
from headway.translation import Translator


@dataclass
class Server:
    """The parts of a server.

    Attributes:
        models: A reload replaces the whole object.
        config: Limits and times.
        keys: The valid API keys; None: everybody may send requests.
        workers: Threads that translate.

    Raises:
        HeadwayError: If a glossary of the settings has a mistake, or the file of usage is damaged.
    """

    models: Models
    config: ServerConfig = field(default_factory=ServerConfig)
    keys: Keys | None = None
    workers: int = 1

    def __post_init__(self) -> None:
        self.glossaries = Glossaries.load(self.config.glossaries, self.models.pairs)
        self.files = Files(self.config)
        self.usage = Usage(self.config.usage_file)
        self.metrics = Metrics()
        self.queue = TranslationQueue(self.workers, self.config, self.metrics)
        self.admission = Admission(self.config, self.keys, self.queue, self.metrics)
        queue, admission, gauge = self.queue, self.admission, self.metrics.add_gauge
        gauge("headway_queue_tokens", "Source tokens waiting.", lambda: queue.waiting.tokens)
        gauge("headway_queue_texts", "Texts waiting or being translated.", lambda: queue.texts)
        gauge("headway_pending_requests", "Requests without an answer.", lambda: admission.pending)

    async def close(self) -> None:
        """End the translations of files, and wait for the work that has started."""
        await self.files.close()
        await self.queue.close()
        self.usage.save()


class Context:
    """What the handler of a request works with.

    Args:
        server: The server.
        http: The request as it came.
        client: The name of the key's owner; on a server without keys the address of the client.

    Attributes:
        models: The models at the time of the request; a reload does not change them.
        glossaries: Those that requests may name, at that time.
        owner: The name of the key's owner; "" on a server without keys.
    """

    def __init__(self, server: Server, http: Request, client: str = "") -> None:
        self.server, self.http, self.client = server, http, client
        self.models, self.glossaries = server.models, server.glossaries
        self.owner = "" if server.keys is None else client

    @property
    def translator(self) -> TextTranslator:
        """A translator of texts with the server's settings."""
        return TextTranslator(self.server.queue, self.server.config.split_sentences)

    async def add_glossary(self, route: list[Translator], text: str) -> list[Translator]:
        """Return the models of a route with a glossary, see `add_named_glossary`."""
        threads = self.server.queue.threads
        return await add_named_glossary(route, text, self.glossaries, threads)
