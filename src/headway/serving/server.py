"""The parts of a server, and how they are connected."""

from collections import Counter
from dataclasses import dataclass, field

from headway.config import ServerConfig
from headway.serving.admission import Admission
from headway.serving.context import Context
from headway.serving.file_jobs import FileJobs
from headway.serving.files import FileStore
from headway.serving.glossaries import Glossaries
from headway.serving.keys import Keys
from headway.serving.metrics import Metrics
from headway.serving.models import Models
from headway.serving.queue import TranslationQueue


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
