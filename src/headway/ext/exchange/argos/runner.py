"""An Argos Translate package, run by CTranslate2."""

import tempfile
from pathlib import Path

from headway.ext.exchange.argos.package import unpack
from headway.ext.exchange.ctranslate2.runner import CTranslate2Runner


class ArgosRunner(CTranslate2Runner):
    """The model of a package; see `headway.ext.exchange.formats.ExportRunner`.

    Args:
        path: A package.
    """

    def __init__(self, path: Path) -> None:
        with tempfile.TemporaryDirectory() as temporary:  # CTranslate2 loads the files at once
            super().__init__(unpack(path, Path(temporary)) / "model")
