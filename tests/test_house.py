"""The structure of the package: packages import only from packages above them, and help loads nothing."""

import ast
import importlib
import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path

import pytest

from headway.lazy import list_names

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "headway"
# The rooms of the core, each of which imports only from those before it.
CORE = [
    "errors", "lazy", "hooks", "extension", "files", "locks", "torch_private", "devices", "config", "model",
    "text", "evaluation", "translation", "training", "cli",
]  # fmt: skip
# The other extensions that each may use, beside the core.
USES = {
    "native": set(), "cuda": set(), "protect": set(), "kinds": set(), "corpora": set(), "quality": {"protect"}, "demo": set(), "exchange": set(), "pictures": set(),
    "documents": {"protect", "quality"}, "bench": {"exchange", "native"}, "best": {"bench", "pictures"},
    "server": {"documents", "pictures", "protect", "quality"}, "paper": {"demo", "kinds", "pictures"},
}  # fmt: skip
# Modules that stand in for one name of a front.
FROM_INSIDE = ("headway.cli.verbs",)
# How many names the fronts offer to Headway's own rooms besides those in __all__; the numbers may only shrink.
NOT_PROMISED = {
    "cli": 35, "config": 10, "ext.bench": 2, "ext.documents": 21, "ext.exchange": 1, "ext.kinds": 4, "ext.native": 1,
    "ext.pictures": 9, "ext.protect": 22, "ext.quality": 2, "model": 22, "text": 79, "training": 27,
    "translation": 59,
}  # fmt: skip
FILES = sorted(SOURCE.rglob("*.py"))


@cache
def list_nodes(path):
    return [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]


@cache
def imports(path):
    types_only = {
        id(node)
        for block in list_nodes(path)
        if isinstance(block, ast.If) and getattr(block.test, "id", "") == "TYPE_CHECKING"
        for node in block.body
    }
    nodes = [node for node in list_nodes(path) if id(node) not in types_only]
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {str(node.module)} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def modules_used(path):
    """Return the modules that a file imports, without the names that it takes from them."""
    found = set()
    for node in list_nodes(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(str(node.module))
    return {name for name in found if name.startswith("headway")}


def module_of(path):
    name = ".".join(("headway", *path.relative_to(SOURCE).with_suffix("").parts))
    return name.removesuffix(".__init__")


def package_of(module):
    """Return the package of a module: ``text`` of ``headway.text.readers``, and ``ext.NAME`` of an extension."""
    parts = module.split(".")[1:]
    return ".".join(parts[: 2 if parts[:1] == ["ext"] else 1])


def test_a_room_imports_only_from_rooms_above():
    for path in FILES:
        here = package_of(module_of(path))
        if here in ("", "__main__", "ext"):
            continue
        above = [*CORE, *(f"ext.{name}" for name in USES.get(here[4:], ()))]
        above = above if here.startswith("ext.") else above[: above.index(here)]
        for name in modules_used(path):
            there = package_of(name)
            if there not in ("", here):
                assert there in above, f"{path} imports {name}"


def test_extensions_import_fronts_of_rooms():
    for path in FILES:
        here = package_of(module_of(path))
        for name in modules_used(path) if here.startswith("ext.") else ():
            there = package_of(name)
            if there not in ("", here) and name not in FROM_INSIDE:
                assert name == f"headway.{there}", f"{path} imports {name}"


def test_fronts_offer_few_names_that_they_do_not_promise():
    found = {}
    for path in FILES:
        if path.name == "__init__.py" and (names := list_names(module_of(path))):
            promised = getattr(importlib.import_module(module_of(path)), "__all__", ())
            found[package_of(module_of(path))] = len({*names} - {*promised})
    more = {room: count for room, count in found.items() if count > NOT_PROMISED.get(room, 0)}
    assert not more, "give an extension what it needs by fewer names, or promise a name"


def test_the_front_of_a_room_has_all_its_names():
    for path in (*SOURCE.glob("*/__init__.py"), *(SOURCE / "ext").glob("*/__init__.py")):
        front = importlib.import_module(module_of(path))
        names = list_names(module_of(path))
        public = getattr(front, "__all__", [])
        assert {*public} <= {*names, *vars(front)}, path
        assert all(hasattr(front, name) for name in names), path
        assert len(public) <= 26, path  # 25 are the goal


def test_no_files_import_each_other_in_a_circle():
    names = {module_of(path): path for path in FILES}
    graph = {
        name: {n for n in imports(path) if n in names} - {name} for name, path in names.items()
    }
    # A package's own file gathers the names of the files beside it.
    graph = {name: used for name, used in graph.items() if names[name].name != "__init__.py"}
    while removable := [name for name, used in graph.items() if not used & graph.keys()]:
        for name in removable:
            del graph[name]
    assert not graph, f"circles among {sorted(graph)}"


def test_search_knows_no_model():
    for path in (SOURCE / "translation" / "search").glob("*.py"):
        for name in imports(path):
            assert not name.startswith(("headway.model", "headway.ext.native")), f"{path}: {name}"


@pytest.mark.parametrize(
    "package",
    ["ext/documents", "ext/exchange", "ext/paper", "text", "training", "translation"],
)
def test_no_folders_of_a_package_import_each_other_in_a_circle(package):
    """A file beside the folders counts as itself, because it may gather what stands in them."""
    nodes = {}
    for path in (SOURCE / package).rglob("*.py"):
        if path.name == "__init__.py":
            continue
        own = node_of(module_of(path))
        used = {node_of(name) for name in imports(path) if name.startswith("headway.")}
        nodes.setdefault(own, set()).update(used - {own})
    while free := [name for name, used in nodes.items() if not used & nodes.keys()]:
        for name in free:
            del nodes[name]
    assert not nodes, f"circles among {sorted(nodes)}"


def node_of(name):
    """Return the innermost folder of a module below its package, or else the module itself."""
    folder, parts = SOURCE, name.split(".")[1:]
    own = 2 if parts[:1] == ["ext"] else 1
    depth = 0
    while depth < len(parts) and (folder / parts[depth]).is_dir():
        folder, depth = folder / parts[depth], depth + 1
    return ".".join(parts[: depth if depth > own else depth + 1])


def test_private_interfaces_of_others_are_listed():
    """docs/evidence/versions.md says of each what happens where it is missing."""
    nodes = [node for path in FILES for node in list_nodes(path)]
    own = {n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}  # fmt: skip
    own |= {n.attr for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
    own |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    # Documented, or there for type checkers alone.
    own |= {
        "_asdict",
        "_replace",
        "_fields",
        "_exit",
        "_current_frames",
        "_name",
        "_fields_",
        "_typeshed",
    }
    used = {n.attr for n in nodes if isinstance(n, ast.Attribute)}
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            used |= {*(alias.name for alias in node.names), *str(node.module).split(".")}
    private = {name for name in used - own if name.startswith("_") and not name.startswith("__")}
    page = (ROOT / "docs" / "evidence" / "versions.md").read_text(encoding="utf-8")
    assert not {name for name in private if not re.search(rf"{name}[`.]", page)}


def test_no_large_or_binary_files_are_tracked():
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        assert not path.exists() or path.stat().st_size < 1 << 20, name


def test_no_file_is_pickled():
    """The rest is lint: of the pickles of others, only the numbers are read."""
    lint = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["ruff"]["lint"]
    banned = lint["flake8-tidy-imports"]["banned-api"]
    assert {"pickle", "dill", "joblib", "torch.load", "torch.save"} <= banned.keys()
    text = (SOURCE / "ext" / "exchange" / "weights_file.py").read_text("utf-8")
    assert text.count("torch.load(") == text.count("weights_only=True") == 1
