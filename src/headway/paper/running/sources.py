"""Which sources of this package a result depends on, and a hash of them."""

import ast
import hashlib
from functools import cache
from pathlib import Path

import torch

PACKAGE = Path(__file__).parents[2]


@cache
def code_version(*modules: str) -> str:
    """Return a hash of torch's version and of all that `sources` finds.

    Args:
        modules: Names of modules of this package.
    """
    sums = [hashlib.sha256(file.read_bytes()).hexdigest() for file in sources(*modules)]
    return hashlib.sha256("".join((*sums, torch.__version__)).encode()).hexdigest()


def sources(*modules: str) -> list[Path]:
    """Return the files of this package that modules depend on.

    They are the modules, their packages, what these import, and so on, also inside of functions; and what lies beside
    or below all of them and is no Python, such as native code and tables of words. A module that is found by its name
    at run time has to be among the arguments.
    """
    found: set[Path] = set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        path = _find(name)
        if path is not None and path not in found:
            found.add(path)
            waiting += [name.rpartition(".")[0], *_imports(path)]
    folders = {path.parent for path in found} - {PACKAGE}
    others = {
        file
        for folder in folders
        for file in folder.rglob("*")
        if file.is_file() and file.suffix not in (".py", ".pyc")
    }
    return sorted(found | others)


def _find(module: str) -> Path | None:
    """Return the file of a module of this package; None: it is another package's, or no module."""
    package, *parts = module.split(".")
    if package != PACKAGE.name:
        return None
    path = PACKAGE.joinpath(*parts)
    candidates = path.with_suffix(".py"), path / "__init__.py"
    return next((file for file in candidates if file.is_file()), None)


@cache
def _imports(path: Path) -> tuple[str, ...]:
    """Return the names that a file imports when it runs; some may be no modules."""
    found = _Imports()
    found.visit(ast.parse(path.read_text(encoding="utf-8")))
    return tuple(found.names)


class _Imports(ast.NodeVisitor):
    """Collects the names of imports, but for those that only a type checker sees."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def visit_If(self, node: ast.If) -> None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            for statement in node.orelse:
                self.visit(statement)
        else:
            self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        self.names += [each.name for each in node.names]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        self.names += [module, *(f"{module}.{each.name}" for each in node.names)]
