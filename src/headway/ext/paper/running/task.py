"""What a training needs of its data: text to translate, trees or labeled texts all have these parts."""

import hashlib
from pathlib import Path
from typing import Protocol

from headway.config import Config, TextConfig
from headway.ext.paper.running.sources import code_version
from headway.model import Network
from headway.text import PreparedData


class TrialTask(Protocol):
    """Examples that a model learns from, and unseen ones that it is scored on."""

    @property
    def name(self) -> str:
        """What tables call them."""

    @property
    def fingerprint(self) -> str:
        """A hash of all examples."""

    def prepare(self, folder: Path, config: TextConfig) -> tuple[Path, list[Path]]:
        """Write the examples under a folder, once for each choice of settings.

        Returns:
            The directory of prepared training data, and the files of the test examples.
        """

    @staticmethod
    def score(
        model: Network, data: PreparedData, config: Config, test: list[Path]
    ) -> dict[str, float]:
        """Score a trained model on the test examples, in the process that trained it."""


def data_key(task: TrialTask, config: TextConfig) -> str:
    """Return a name for prepared data: a hash of all that they depend on, examples, settings and code."""
    parts = (task.fingerprint, config, code_version(type(task).__module__))
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
