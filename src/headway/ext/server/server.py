"""The parts of a server, and how they are connected."""

from collections import Counter
from dataclasses import dataclass, field

from headway.ext.server.admission import Admission
from headway.ext.server.context import Context
from headway.ext.server.file_jobs import FileJobs
from headway.ext.server.file_store import FileStore
from headway.ext.server.glossaries import Glossaries
from headway.ext.server.keys import Keys
from headway.ext.server.metrics import Metrics
from headway.ext.server.models import Models
from headway.ext.server.queue import TranslationQueue
from headway.ext.server.server_settings import ServerConfig


@dataclass
class Server:
    """The parts of a server.

    Attributes:
        models: A reload replaces the whole object.
        config: Limits and times.
        keys: The valid API keys; None: everybody may send requests.
        workers: Threads that translate.

    Raises:
        HeadwayError: If a glossary of the settings has a mistake.
    """

    models: Models
    config: ServerConfig = field(default_factory=ServerConfig)
    keys: Keys | None = None
    workers: int = 1

    def __post_init__(self) -> None:
        self.glossaries = Glossaries.load(self.config.glossaries, self.models.pairs)
        self.files = FileStore(self.config)
        self.jobs = FileJobs(self.files, self.config)
        self.characters = Counter[str]()
        self.metrics = Metrics()
        self.queue = TranslationQueue(self.workers, self.config, self.metrics)
        self.admission = Admission(self.config, self.keys, self.queue, self.metrics)
        add_gauge = self.metrics.add_gauge
        add_gauge(
            "headway_queue_tokens", "Source tokens waiting.", lambda: self.queue.waiting.tokens
        )
        add_gauge(
            "headway_queue_texts", "Texts waiting or being translated.", lambda: self.queue.texts
        )
        add_gauge(
            "headway_pending_requests",
            "Requests without an answer.",
            lambda: self.admission.pending,
        )

    @property
    def context(self) -> Context:
        """What the handlers of a request work with."""
        return Context(
            self.models, self.queue, self.config, self.keys is not None, self.glossaries,
            self.files, self.jobs, self.characters,
        )  # fmt: skip
