"""Checks of a model (masks, caches, search) and benchmarks of a machine."""

from typing import TYPE_CHECKING

from headway import __version__
from headway.extension import Extension, Verb
from headway.lazy import import_at_first_use

if TYPE_CHECKING:
    from headway.ext.bench.finding import Finding
    from headway.ext.bench.flop import search_flop, training_flop
    from headway.ext.bench.selfcheck import self_check

__all__ = ["Finding", "self_check"]

extension = Extension(
    name="bench",
    version=__version__,
    verbs={
        "bench": Verb(
            f"{__name__}.verbs.bench",
            "measure how fast this machine trains and translates",
            "step by step",
        ),
        "check": Verb(
            f"{__name__}.verbs.check",
            "check masks, cache and search of a model, in seconds",
            "look inside",
        ),
    },
)

if not TYPE_CHECKING:
    __getattr__ = import_at_first_use(__name__)
