"""Fronts of rooms whose names are imported at their first use, so that one name does not load the files of the others."""

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any


def import_at_first_use(front: str, modules: Mapping[str, Iterable[str]]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a front (PEP 562).

    Args:
        front: The module name of the front.
        modules: A module below the front -> the names that the front offers from it.
    """
    homes = {name: f"{front}.{module}" for module, names in modules.items() for name in names}

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {front!r} has no attribute {name!r}")
        found = getattr(import_module(homes[name]), name)
        setattr(sys.modules[front], name, found)  # Python does not ask again
        return found

    return get
