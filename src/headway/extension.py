"""Find the extensions that are installed, and load what they declare in `headway.hooks`.

The environment variable HEADWAY_EXTENSIONS chooses among the installed extensions by their names, separated by commas:
unset, all are used; empty, none. An extension that cannot be used is left out, with a notice of one line; what a user asks
it for by name is an error.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from headway.errors import HeadwayError, UsageError, explain_missing, suggest
from headway.hooks import (
    BELONGS_TO,
    CHANGE_RESULTS,
    HOOKS,
    SINGLE,
    Extension,
    Option,
    Verb,
    find_problem,
)

__all__ = ["HOOKS", "SINGLE", "Extension", "Option", "Verb"]
GROUP = "headway.extensions"
CHOICE = "HEADWAY_EXTENSIONS"


class EntryPoint(NamedTuple):
    """Where an installed extension is declared.

    Attributes:
        name: The name of the extension.
        target: Its object: ``"module:name"``.
        project: The package that pip has installed.
    """

    name: str
    target: str
    project: str


def find_installed() -> dict[str, EntryPoint]:
    """Return the entry points of all installed extensions by their names.

    `importlib.metadata` finds the same, but only its import takes as long as the whole help of the command.
    """
    found: dict[str, EntryPoint] = {}
    texts: dict[str, str] = {}
    for folder in sys.path:
        with suppress(OSError):  # it is not there, or an archive
            for path in sorted(os.scandir(folder or "."), key=lambda entry: entry.name):
                if path.name.endswith((".dist-info", ".egg-info")):
                    project = path.name.partition("-")[0].removesuffix(".egg").lower()
                    if project not in texts:  # an earlier folder hides a later one
                        texts[project] = ""
                        with suppress(OSError):  # it has none
                            # pathlib takes a tenth of the help's time.
                            name = os.path.join(path, "entry_points.txt")  # noqa: PTH118
                            with open(name, encoding="utf-8", errors="replace") as file:  # noqa: PTH123
                                texts[project] = file.read()
    # Nobody else's extension takes the name of one of Headway's.
    for project, text in sorted(texts.items(), key=lambda item: item[0] != "headway"):
        section = text.partition(f"[{GROUP}]\n")[2].partition("\n[")[0]
        for line in section.splitlines():
            name, is_entry, target = (part.strip() for part in line.partition("="))
            entry = EntryPoint(name, target, project.replace("_", "-"))
            if is_entry and found.setdefault(name, entry) != entry:
                other = found[name].project
                _report(f"extension '{name}' of {entry.project} is left out: {other} has that name")
    return found


@cache
def load_extensions() -> dict[str, Extension]:
    """Return the extensions in use by their names, which are in alphabetical order.

    Raises:
        UsageError: If HEADWAY_EXTENSIONS names one that is not installed.
    """
    installed = find_installed()
    chosen = set(installed)
    if CHOICE in os.environ:
        chosen = set(filter(None, map(str.strip, os.environ[CHOICE].split(","))))
    for name in sorted(chosen - set(installed)):
        known = ", ".join(sorted(installed)) or "none"
        raise UsageError(
            f"{CHOICE}: {name}: no such extension{suggest(name, installed)}; installed: {known}"
        )
    loaded: dict[str, Extension] = {}
    for name in sorted(chosen):
        try:
            loaded[name] = _load_extension(installed[name])
        except HeadwayError as error:
            project = installed[name].project
            _report(f"{error}; it is left out: update {project}, or uninstall it")
    return loaded


def _load_extension(entry: EntryPoint) -> Extension:
    found = load(entry.name, entry.target)
    if problem := find_problem(entry.name, found):
        raise HeadwayError(f"extension '{entry.name}': {entry.target}: {problem}")
    extension: Extension = found
    return extension


def _load_installed() -> Iterator[tuple[str, EntryPoint, Extension]]:
    """Yield the name, the entry point and the object of each installed extension that is not broken, in use or not."""
    for name, entry in sorted(find_installed().items()):
        with suppress(HeadwayError):
            yield name, entry, _load_extension(entry)


def load(extension: str, target: str) -> Any:
    """Import what an extension names.

    Args:
        extension: The name of the extension, for messages.
        target: ``"package.module"`` or ``"package.module:name"``.

    Raises:
        HeadwayError: If that fails; the message names the extension.
    """
    module, _, name = target.partition(":")
    try:
        found = import_module(module)
        return getattr(found, name) if name else found
    except (Exception, SystemExit) as error:  # of any kind: this runs code of the extension
        missing = str(error.name) if isinstance(error, ModuleNotFoundError) else ""
        if missing and missing.partition(".")[0] != module.partition(".")[0]:
            raise HeadwayError(f"extension '{extension}' {explain_missing(missing)}") from error
        reason = f"{'' if isinstance(error, HeadwayError) else f'{type(error).__name__}: '}{error}"
        if unknown := re.search(
            r"Extension\.\w+\(\) got an unexpected keyword argument '(\w+)'", str(error)
        ):
            reason = f"no such hook: {unknown[1]}{suggest(unknown[1], HOOKS)}; the hooks are {', '.join(HOOKS)}"
        line = " ".join(reason.split())
        raise HeadwayError(f"extension '{extension}': {target}: {line}") from error


def collect(hook: str, taken: Iterable[str] = ()) -> dict[str, tuple[str, Any]]:
    """Return what the extensions in use declare for a hook: key -> the name of the extension, and the value.

    Of two extensions that declare the same key, the first by name has it; a notice names the other.

    Args:
        hook: The name of a hook.
        taken: Keys that the core has.
    """
    found: dict[str, tuple[str, Any]] = {}
    owners = dict.fromkeys(taken, "Headway itself")
    for name, extension in load_extensions().items():
        for key, value in getattr(extension, hook).items():
            if key in owners:
                _report(f"extension '{name}': {hook}: {key} is left out: {owners[key]} has it")
            else:
                owners[key] = f"extension '{name}'"
                found[key] = name, value
    return found


def load_all(hook: str) -> list[tuple[str, Any]]:
    """Return what the extensions in use declare for a hook, with their names; what is broken is left out, with a notice."""
    loaded = []
    for name, target in _list_targets(hook):
        with _left_out(hook):
            loaded.append((name, load(name, target)))
    return loaded


def load_first(hook: str, key: str = "") -> Any | None:
    """Return what an extension declares for a hook; None: there is nothing, or it is broken.

    Of several, one that does not come with Headway is taken.

    Args:
        hook: The name of a hook.
        key: In its dictionary, such as "cpu"; "": the hook is one of `SINGLE`.
    """
    targets = _list_targets(hook, key)
    for name, target in sorted(targets, key=lambda item: item[1].startswith("headway.")):
        with _left_out(f"{hook} for {key}" if key else hook):
            return load(name, target)
    return None


def require(what: str, hook: str, key: str = "") -> Any:
    """Return what an extension declares for a hook, for something that cannot do without it.

    Args:
        what: Needs it, such as ``--glossary``; for the message.
        hook: The name of a hook.
        key: In its dictionary; "": the hook is one of `SINGLE`.

    Raises:
        UsageError: If no extension in use declares it.
    """
    if key and (found := collect(hook).get(key)) is not None:
        return load(*found)
    if not key and (single := load_first(hook)) is not None:
        return single
    owner = find_switched_off(hook, key) or "needs an extension that is not installed"
    raise UsageError(f"{what} {owner}")


def _list_targets(hook: str, key: str = "") -> list[tuple[str, str]]:
    """Return the targets that extensions in use declare for a hook, or for a key of it, with the names of the extensions."""
    if not key and hook not in SINGLE:
        return list(collect(hook).values())
    declared = [(name, getattr(each, hook)) for name, each in load_extensions().items()]
    found = [(name, value.get(key, "") if key else value) for name, value in declared]
    return [(name, target) for name, target in found if target]


@contextmanager
def _left_out(what: str) -> Iterator[None]:
    """Report an extension that cannot be loaded, instead of failing."""
    try:
        yield
    except HeadwayError as error:
        _report(f"{error}; {what}: Headway does without it")


def find_switched_off(hook: str, key: str) -> str:
    """Say that HEADWAY_EXTENSIONS leaves out the extension that has a key of a hook, or one of `SINGLE`; "": there is none."""
    in_use = load_extensions()
    for name, _, extension in _load_installed():
        declared = getattr(extension, hook)
        if name not in in_use and (declared if hook in SINGLE else key in declared):
            return f"belongs to extension '{name}', which {CHOICE} leaves out: add {name} to it"
    return ""


def name_extensions(hooks: Iterable[str] = CHANGE_RESULTS) -> str:
    """Return what in the choice of extensions may change a result: names and versions; "": there is nothing.

    Args:
        hooks: Those that count. Of Headway's own extensions those are named that are left out, because all are usual.
    """
    in_use, named = load_extensions(), []
    for name, entry, extension in _load_installed():
        is_own, is_used = entry.project == "headway", name in in_use
        if is_own != is_used and any(getattr(extension, hook) for hook in hooks):
            named.append(f"without {name}" if is_own else f"{name} {extension.version}")
    return ", ".join(named)


def list_sidecars(*belong_to: str) -> list[str]:
    """Return the names of the files beside a model's weights that extensions write: also of those that are not in use.

    Otherwise such a file would stay beside other weights, or be lost.

    Args:
        belong_to: Only those that belong to one of these: "weights", "model", "text"; nothing: all.
    """
    found = [
        name
        for _, _, extension in _load_installed()
        for name, what in extension.sidecars.items()
        if what in (belong_to or BELONGS_TO)
    ]
    return list(dict.fromkeys(found))


def make_operations(device: str) -> Any | None:
    """Return the operations that an extension has for a type of device; None: there are none, or they fail."""
    make = load_first("operations", device)
    try:
        return make() if make else None
    except Exception as error:  # of the extension's own code
        _report(
            f"operations for {device}: {type(error).__name__}: {error}; the plain ones are used"
        )
        return None


def prepare_device(device: str, work: str) -> str:
    """Make a type of device ready, and return what is missing there in one line, or an empty text.

    Args:
        device: Such as "cpu".
        work: What is going to be done: "training" or "decoding".
    """
    prepare = load_first("preparations", device)
    missing: str = prepare(work) if prepare else ""
    return missing


def identify_arithmetic(work: str) -> str:
    """Return the identity of all code of extensions on which the last bits of results depend; "" if there is none.

    Args:
        work: "training" or "decoding".
    """
    return "; ".join(filter(None, (identify(work) for _, identify in load_all("arithmetic"))))


@cache  # a line is logged once
def _report(line: str) -> None:
    if os.environ.get("LOCAL_RANK", "0") == "0":  # the first rank speaks for all
        import logging

        logging.getLogger(__name__).warning("%s", line)
