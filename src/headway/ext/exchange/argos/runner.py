"""An Argos Translate package, run by CTranslate2."""

import tempfile
from pathlib import Path

from headway.ext.exchange.argos.package import unpack
from headway.ext.exchange.ctranslate2.runner import Runner as CTranslate2Runner


class Runner(CTranslate2Runner):
    """The model of a package; see `headway.ext.exchange.formats.Runner`.

    Args:
        path: A package.
    """

    def __init__(self, path: Path) -> None:
        with tempfile.TemporaryDirectory() as temporary:  # CTranslate2 loads the files at once
            super().__init__(unpack(path, Path(temporary)) / "model")
