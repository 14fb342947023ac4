"""The parts of a server, and what they are for a request."""

from dataclasses import dataclass, field
from functools import partial

from starlette.requests import Request

from headway.ext.server.admission import Admission
from headway.ext.server.files import Files
from headway.ext.server.glossaries import Glossaries
from headway.ext.server.keys import Keys
from headway.ext.server.metrics import Metrics
from headway.ext.server.models import Models
from headway.ext.server.quality import check_quality
from headway.ext.server.queue import TranslationQueue
from headway.ext.server.rejection import Rejection
from headway.ext.server.server_settings import ServerConfig
from headway.ext.server.text_threads import Account
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

    async def prepare(
        self, route: list[Translator], glossary: str = "", quality: bool = False
    ) -> list[Translator]:
        """Return the models of a route with what a request wants of them.

        Args:
            route: From `Models.find_route`.
            glossary: As for `Glossaries.find`; empty: no glossary.
            quality: Whether the translations are to be rated.

        Raises:
            Rejection: 400 if a model cannot rate translations, there is no such glossary, a row of it is wrong, or the
                route has two models; 413 if the rows take too long.
        """
        if quality:
            check_quality(route)
        if not glossary:
            return route
        if len(route) > 1:
            message = "Invalid request: a glossary needs one model between two languages"
            raise Rejection(400, message)
        account = Account.for_characters(len(glossary))  # many rows take a while to read
        run = self.server.queue.threads.run
        return [
            each.with_glossary(
                await run(partial(self.glossaries.find, glossary, each.languages), account)
            )
            for each in route
        ]
