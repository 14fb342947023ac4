"""Recipes: several trainings in a row, each of them an ordinary ``headway`` command."""

from typing import TYPE_CHECKING

from headway import __version__
from headway.extension import Extension, Verb
from headway.lazy import import_at_first_use

if TYPE_CHECKING:
    from headway.ext.best.running import best

__all__ = ["best"]

extension = Extension(
    name="best",
    version=__version__,
    verbs={
        "best": Verb(
            f"{__name__}.verbs.best",
            "the best translator that a text allows: several trainings in a row",
            "every day",
        ),
    },
    names={"best": f"{__name__}.running:best"},
)

if not TYPE_CHECKING:
    __getattr__ = import_at_first_use(__name__)
