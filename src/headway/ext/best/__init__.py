"""Recipes: several trainings in a row, each of them an ordinary ``headway`` command."""

from headway import __version__
from headway.extension import Extension, Verb

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
)
