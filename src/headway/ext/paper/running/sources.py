"""Which sources of this package a result depends on, and a hash of them."""

import ast
import hashlib
from functools import cache
from importlib.metadata import version
from pathlib import Path

from headway import extension
from headway.files import hash_file

PACKAGE = Path(__file__).parents[3]
LIBRARIES = (
    "numpy",
    "sacrebleu",
    "sacremoses",
    "sentencepiece",
    "torch",
)  # decide subwords, weights and scores


@cache
def code_version(*modules: str) -> str:
    """Return a hash of all that `sources` finds, and of the versions of the libraries that decide results.

    Args:
        modules: Names of modules of this package.
    """
    sums = [_digest(file) for file in sources(*modules)]
    return hashlib.sha256("".join((*sums, *map(version, LIBRARIES))).encode()).hexdigest()


def sources(*modules: str) -> list[Path]:
    """Return the files of this package that modules depend on.

    They are the modules, their packages, what these import, and so on, also inside of functions; and what lies beside
    them, or below them in folders without modules, and is no Python, such as native code and tables of words. What extensions add to computations
    counts; another module that is found by its name has to be among the
    arguments.
    """
    found: set[Path] = set()
    hooks = ("operations", "engines", "gradients", "kinds", "mixers", "stages", "end_steps")
    found_later = [t for hook in hooks for _, t in extension.collect(hook).values()]
    for each in extension.load_extensions().values():
        found_later += filter(None, (getattr(each, hook) for hook in extension.SINGLE))
    waiting, seen = {*modules, *(t.partition(":")[0] for t in found_later)}, set[str]()
    while waiting:
        name = waiting.pop()
        seen.add(name)
        path = _find(name)
        if path is None:
            waiting |= _find_lazy(name) - seen
        elif path not in found:
            found.add(path)
            waiting |= {name.rpartition(".")[0], *_imports(path)} - seen
    folders = {path.parent for path in found} - {PACKAGE}
    return sorted(found.union(*map(_list_others, folders)))


@cache
def _digest(file: Path) -> str:
    """Return the hash of a file as it is at the first call: what is edited later, this process does not run."""
    return hash_file(file)


def _list_others(folder: Path) -> set[Path]:
    """Return the files of a folder that are no Python, also of folders in it that hold no module."""
    found: set[Path] = set()
    for path in folder.iterdir():
        if path.is_file() and path.suffix not in (".py", ".pyc"):
            found.add(path)
        elif path.is_dir() and not any(path.glob("*.py")):
            found |= _list_others(path)
    return found


def _find(module: str) -> Path | None:
    """Return the file of a module of this package; None: it is another package's, or no module."""
    package, *parts = module.split(".")
    if package != PACKAGE.name:
        return None
    path = PACKAGE.joinpath(*parts)
    candidates = path.with_suffix(".py"), path / "__init__.py"
    return next((file for file in candidates if file.is_file()), None)


def _find_lazy(name: str) -> set[str]:
    """Return the module from which a package imports a name at its first use."""
    package, _, attribute = name.rpartition(".")
    path = _find(package) if package else None
    modules = _lazy_modules(path) if path is not None and path.name == "__init__.py" else {}
    return {modules[attribute]} if attribute in modules else set()


@cache
def _lazy_modules(path: Path) -> dict[str, str]:
    """Return name -> its module, for all imports of a file: also of those that it shows only to type checkers."""
    return {
        alias.name: node.module or ""
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


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

    def visit(self, node: ast.AST) -> None:
        if not isinstance(node, ast.expr):  # none of which holds an import
            super().visit(node)

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
