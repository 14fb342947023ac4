"""Which sources of this package a result depends on, and a hash of them."""

import ast
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from headway import extension
from headway.files import hash_file

PACKAGE = Path(__file__).parents[3]
LIBRARIES = ("numpy", "sacrebleu", "sacremoses", "sentencepiece", "torch")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def code_version(*modules: str) -> str:
    """Return a hash of `source_version`, and of the versions of the libraries that decide results."""
    parts = source_version(*modules), *library_versions()
    return hashlib.sha256("".join(parts).encode()).hexdigest()


def library_versions() -> list[str]:
    """Return the versions of the libraries that decide subwords, weights and scores."""
    return [*map(version, LIBRARIES)]


@cache
def source_version(*modules: str) -> str:
    """Return a hash of all that `sources` finds.

    Args:
        modules: Names of modules of this package.
    """
    digests = "".join(_read(file).digest for file in sources(*modules))
    return hashlib.sha256(digests.encode()).hexdigest()


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
            waiting |= {name.rpartition(".")[0], *_read(path).imports} - seen
    folders = {path.parent for path in found} - {PACKAGE}
    return sorted(found.union(*map(_list_others, folders)))


class Source(NamedTuple):
    """A file as it is when it is read first: what is edited later, this process does not run.

    Attributes:
        digest: Of a module the hash of its syntax tree without docstrings, of another file that of its bytes.
        imports: The names that a module imports when it runs; some may be no modules.
        origins: Name -> its module, for all imports of names: also of those that only a type checker sees.
    """

    digest: str
    imports: tuple[str, ...] = ()
    origins: Mapping[str, str] = MappingProxyType({})


@cache
def _read(path: Path) -> Source:
    if path.suffix != ".py":
        return Source(hash_file(path))
    tree = ast.parse(path.read_text(encoding="utf-8"))
    digest = hashlib.sha256(repr(_describe(tree)).encode()).hexdigest()
    imports: list[str] = []
    origins: dict[str, str] = {}
    hidden: set[ast.AST] = set()  # what only a type checker sees
    for node in ast.walk(tree):
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                hidden.update(part for statement in node.body for part in ast.walk(statement))
            case ast.Import():
                imports += [each.name for each in node.names if node not in hidden]
            case ast.ImportFrom():
                module = node.module or ""
                origins |= {each.name: module for each in node.names}
                if node not in hidden:
                    imports += [module, *(f"{module}.{each.name}" for each in node.names)]
    return Source(digest, tuple(imports), origins)


def _describe(node: object) -> object:
    """Return a syntax tree as tuples, without docstrings, places and what is empty, the same by each version of Python."""
    if isinstance(node, list):
        return tuple(map(_describe, node))
    if not isinstance(node, ast.AST):
        return node
    fields = dict(ast.iter_fields(node))
    if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
        fields["body"] = fields["body"][1:]
    kept = (_describe(part) for name, part in fields.items() if part is not None and part != [])
    return type(node).__name__, *kept


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
    if path is None or path.name != "__init__.py":
        return set()
    origins = _read(path).origins
    return {origins[attribute]} if attribute in origins else set()
