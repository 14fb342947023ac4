"""A parallel corpus generated from CLDR data, number words and sentence frames; no download."""

from typing import TYPE_CHECKING

from headway import __version__
from headway.extension import Extension, Verb
from headway.lazy import import_at_first_use

if TYPE_CHECKING:
    from headway.ext.demo.corpus import Example, generate, split

__all__ = ["Example", "generate", "split"]

extension = Extension(
    name="demo",
    version=__version__,
    verbs={
        "demo": Verb(
            f"{__name__}.verbs.demo",
            "train and score a translator on the built-in corpus, in minutes",
            "every day",
        ),
    },
)

if not TYPE_CHECKING:
    __getattr__ = import_at_first_use(__name__)
