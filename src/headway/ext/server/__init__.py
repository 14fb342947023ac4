"""HTTP over `Translator`: the LibreTranslate API, attention maps, alignments and a page."""

from headway import __version__
from headway.extension import Extension, Verb

extension = Extension(
    name="server",
    version=__version__,
    sections={"server": f"{__name__}.server_settings:ServerConfig"},
    verbs={
        "serve": Verb(
            f"{__name__}.verbs.serve",
            "answer translation requests over HTTP, as LibreTranslate does",
            "every day",
        ),
    },
)
