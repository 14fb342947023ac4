"""Models to and from other programs: a folder a format.

Each folder has ``writer.py``, and ``reader.py`` if Headway imports the format;
`headway.ext.exchange.formats` says what they must offer.
"""

from typing import TYPE_CHECKING

from headway import __version__
from headway.extension import Extension, Verb
from headway.lazy import import_at_first_use

if TYPE_CHECKING:
    from headway.ext.exchange.ctranslate2.spec import write_weights

extension = Extension(
    name="exchange",
    version=__version__,
    models={"exchange": f"{__name__}.downloading"},
    verbs={
        "export": Verb(
            f"{__name__}.verbs.export",
            "write a model for another program, and compare their results",
            "other programs",
        ),
        "import": Verb(
            f"{__name__}.verbs.import",
            "turn another program's model into a model directory",
            "other programs",
        ),
    },
)

if not TYPE_CHECKING:
    __getattr__ = import_at_first_use(__name__)
