"""An Argos Translate package, run by CTranslate2."""

import tempfile
from pathlib import Path

from headway.exchange.argos.reader import unpack
from headway.exchange.ctranslate2 import runner as ctranslate2


class Runner:
    """The model of a package, run by CTranslate2 as Argos Translate runs it.

    Args:
        path: A package.
    """

    def __init__(self, path: Path) -> None:
        self._place = tempfile.TemporaryDirectory()
        self._engine = ctranslate2.Runner(unpack(path, Path(self._place.name)) / "model")
        self.translate_greedily = self._engine.translate_greedily
        self.log_probs = self._engine.log_probs
