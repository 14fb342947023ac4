"""Import the names of a package when they are first used, so that ``from headway.text import Tokenizer`` loads one file.

A front lists what it offers once, as imports below ``if TYPE_CHECKING``, which type checkers and editors read; `import_at_first_use`
reads the same lines. Names in ``__all__`` are for everybody, those of ``headway`` itself are promised; the others are there for Headway's own rooms.
"""

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def import_at_first_use(front: str) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a front (PEP 562).

    Args:
        front: The name of the module.
    """

    def get(name: str) -> Any:
        if name.startswith("__") or name not in list_names(front):
            raise AttributeError(f"module {front!r} has no attribute {name!r}")
        found = getattr(import_module(list_names(front)[name]), name)
        setattr(sys.modules[front], name, found)  # Python does not ask again
        return found

    return get


@cache
def list_names(front: str) -> dict[str, str]:
    """Return the names that a front offers, and the module of each."""
    import ast  # most commands ask for no name, and the help for none

    spec = find_spec(front)
    source = spec.loader.get_source(front) if spec else ""  # type: ignore[union-attr]
    blocks = [node for node in ast.parse(source or "").body if isinstance(node, ast.If)]
    return {
        alias.name: str(node.module)
        for block in blocks
        if ast.unparse(block.test) == "TYPE_CHECKING"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
