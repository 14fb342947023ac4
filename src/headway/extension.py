"""Extensions: what another package may add to Headway, and the loader that finds what is installed.

An extension is an `Extension` object behind an entry point of the group ``headway.extensions``:

    [project.entry-points."headway.extensions"]
    mine = "headway_mine:extension"

The extensions in `headway.ext` are found in the same way. The module of the object imports only this one; everything
that it brings is named as ``"package.module:name"`` and imported when it is used. The environment variable
HEADWAY_EXTENSIONS chooses among the installed extensions by their names, separated by commas: unset, all are used; empty,
none. An extension that cannot be used is left out, with a notice of one line; what a user asks it for by name is an error.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from headway.errors import HeadwayError, UsageError, suggest

GROUP = "headway.extensions"
CHOICE = "HEADWAY_EXTENSIONS"
# The verbs of the core that take options of extensions, and what they call the function of such an option with.
TAKE_OPTIONS = {
    "info": "the value, the name of the model, and its ModelConfig",
    "evaluate": "the value, the Translator, the sources and the references; nothing else is done then",
}


class Verb(NamedTuple):
    """A verb of the command ``headway``.

    Args:
        target: A module, or an object of a module, with ``EXAMPLE: str``, ``configure(parser: ArgumentParser) -> None``
            and ``run(args: Namespace) -> int | None``, which returns the exit code.
        help: What the verb does, for the list of all verbs: a verb and its object, without a period.
        group: The heading in that list.
    """

    target: str
    help: str
    group: str = "extensions"


class Option(NamedTuple):
    """An option of a verb of the core.

    Args:
        target: A function that is called if the option is given; `TAKE_OPTIONS` says what with.
        help: What the option does, for the help of the verb.
        metavar: What the help writes for the value; None: the option takes none.
    """

    target: str
    help: str
    metavar: str | None = None


class Extension(NamedTuple):
    """What a package adds to Headway: a hook for each kind of thing.

    Args:
        name: The name of its entry point.
        version: The version of the package.
        verbs: Verb -> its module: a verb of the command line.
        options: ``"VERB --option"`` -> its function: an option of a verb that the core has.
        names: Name -> ``"module:name"``: what ``headway.NAME`` is in Python.
        stages: Name -> ``"module:function"``, ``(line: str) -> Generator[str, list[Translation], list[Translation]]``: a
            stage of the translation of each line. It yields the line that is translated instead, is sent the n best
            translations of that, and returns those of its own line.
        readers: Suffix, such as ``".xyz"`` -> ``"module:function"``, ``(path: str) -> Iterator[tuple[str, str]]``: it reads
            the pairs of source and target in a file of parallel text.
        inputs: Name -> a module that translates files of a kind with ``headway translate --input FILE --output FILE``, with
            ``takes(name: str) -> bool``, whether it translates a file of this name; ``check(args) -> None``, which checks
            the command line for such a file; ``check_lines(args) -> None``, which checks it for a file of lines; and
            ``translate(args) -> None``.
        models: Name -> a module that provides models which are no directories of Headway's own, with
            ``is_foreign(path: Path) -> bool``, whether a file or directory is a model of another program;
            ``fetch(word: str, notify: Callable[[str], None]) -> Path``, which returns a directory of a Headway model for
            the path of such a model, or for a name, and converts it if need be; ``download_settings(word: str) -> Path``
            and ``download_weights(word: str, directory: Path) -> None``, which do so for a Headway model alone.
        kinds: A value of ``model.kind`` -> a module for models of this kind, which are no translators, with
            ``make_model(config: ModelConfig) -> Network``; ``load_tokenizer(directory: Path) -> Tokenizer``;
            ``prepare(train, valid, out, config: TextConfig) -> PreparedData``, of lists of files; ``list_facts(config:
            ModelConfig, tokenizer: Tokenizer) -> dict[str, object]``, for ``headway info``; ``describe_score(report:
            ValidationReport) -> str``, of a validation; and ``CARD``, the title, the task on a hub, and a command that uses
            such a model.
        mixers: A value of ``model.encoder_mixer`` and ``model.decoder_mixer`` -> ``"module:function"``, ``(config: ModelConfig,
            index: int, *, causal: bool) -> Mixer``: it makes what mixes the positions in the layer of this index.
        operations: Type of a device, such as ``"cpu"`` -> ``"module:function"``, ``() -> Operations``: it returns faster
            implementations of the model's operations.
        engines: Type of a device -> ``"module:function"``, ``(model: Transformer, precision: str) -> Engine | None``: it
            returns an engine that translates faster; None: it cannot run this model.
        gradients: Type of a device -> ``"module:function"``, ``(model, device) -> (compute, batch, tokens) -> gradient``:
            how the gradient of a packed micro-batch in low precision is computed there.
        preparations: Type of a device -> ``"module:function"``, ``(work: str) -> str``: it makes ready what "training" or
            "decoding" would have to wait for there, and returns one line about what is missing, or an empty one.
        masking: ``"module:class"``, a subclass of `headway.translation.masking.Masking`: it hides what must stay in a
            translation from the model, and restores it.
        quality: A module with ``load(directory: Path) -> model``, which reads what a model has learned about its quality, and
            ``Rater(model, masking, token_search, languages)``, a `headway.translation.pipeline.PieceRater`.
        shortlist: ``"module:function"``, ``(directory: Path, sizes: tuple[int, int]) -> shortlist``: of a model's directory
            and the sizes of its vocabularies; ``shortlist.pick(source, size, also)`` returns the target ids that a
            translation may contain.
        facts: ``"module:function"``, ``(directory: Path) -> dict[str, object]``: what ``headway info`` says of a model.
        sidecars: The name of a file beside a model's weights -> what it belongs to: "weights", these and no others;
            "model", these, and means of those of one training; "text", the text that the model was trained on.
        end_steps: Name -> a module with a step at the end of a training: ``FILE``, the sidecar that it writes;
            ``wants(config: Config) -> bool``, whether a training has this step; ``FROM_SETTINGS``, whether settings ask for
            it, so that a resume of a finished training makes up for it; and ``learn(directory: RunDirectory, data: PreparedData, device: str) -> Iterator[Event]``, run by all ranks.
        arithmetic: ``"module:function"``, ``(work: str) -> str``: it identifies the code on which the last bits of results
            depend.
    """

    name: str
    version: str
    verbs: Mapping[str, Verb] = {}
    options: Mapping[str, Option] = {}
    names: Mapping[str, str] = {}
    stages: Mapping[str, str] = {}
    readers: Mapping[str, str] = {}
    inputs: Mapping[str, str] = {}
    models: Mapping[str, str] = {}
    kinds: Mapping[str, str] = {}
    mixers: Mapping[str, str] = {}
    operations: Mapping[str, str] = {}
    engines: Mapping[str, str] = {}
    gradients: Mapping[str, str] = {}
    preparations: Mapping[str, str] = {}
    sidecars: Mapping[str, str] = {}
    end_steps: Mapping[str, str] = {}
    masking: str = ""
    quality: str = ""
    shortlist: str = ""
    facts: str = ""
    arithmetic: str = ""


class Form(NamedTuple):
    """The form of a hook: a pattern of its keys, the same in words, and the type of its values."""

    key: str
    example: str
    kind: Any


NAME = Form(r"\w+", "a name", str)
WORDS = Form(r"[a-z-]+", "a value of the setting, such as 'classifier'", str)
DEVICE = Form("[a-z]+", "the type of a device, such as 'cpu'", str)
FORMS = {
    "verbs": Form("[a-z][a-z-]*", "a word in small letters, such as 'plot'", Verb),
    "options": Form(
        f"({'|'.join(TAKE_OPTIONS)}) --[a-z][a-z-]*", f"'{'|'.join(TAKE_OPTIONS)} --option'", Option
    ),
    "names": Form(r"[A-Za-z]\w*", "a name of Python", str),
    "stages": NAME,
    "readers": Form(r"\.[a-z0-9]+", "a suffix in small letters, such as '.xyz'", str),
    "inputs": NAME,
    "models": NAME,
    "kinds": WORDS,
    "mixers": WORDS,
    "operations": DEVICE,
    "engines": DEVICE,
    "gradients": DEVICE,
    "preparations": DEVICE,
    "sidecars": Form(r"[\w.]+", "the name of a file", str),
    "end_steps": NAME,
}


# Hooks that take one target, such as "package.module:name", and no dictionary.
SINGLE = ("masking", "quality", "shortlist", "facts", "arithmetic")
# Hooks on which the text of a translation depends.
CHANGE_RESULTS = ("stages", "masking", "quality", "shortlist", "operations", "engines")
HOOKS = (*FORMS, *SINGLE)
BELONGS_TO = ("weights", "model", "text")  # what a sidecar does


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
    for folder in map(Path, sys.path):
        with suppress(OSError):  # it is not there, or an archive
            for path in sorted(os.scandir(folder), key=lambda entry: entry.name):
                if path.name.endswith((".dist-info", ".egg-info")):
                    project = path.name.partition("-")[0].removesuffix(".egg").lower()
                    if project not in texts:  # an earlier folder hides a later one
                        texts[project] = _read_text(Path(path, "entry_points.txt"))
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


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


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
    where = f"extension '{entry.name}': {entry.target}"
    if not isinstance(found, Extension):
        raise HeadwayError(f"{where}: must be an Extension, not {found!r:.80}")
    if found.name != entry.name:
        raise HeadwayError(
            f"{where}: its name must be that of its entry point, and not {found.name!r}"
        )
    for hook in SINGLE:
        if not isinstance(value := getattr(found, hook), str):
            raise HeadwayError(f"{where}: {hook}: must be str, not {value!r:.80}")
    for hook in FORMS:
        if problem := _find_problem(hook, getattr(found, hook)):
            raise HeadwayError(f"{where}: {hook}: {problem}")
    return found


def _find_problem(hook: str, declared: object) -> str:
    """Return what is wrong with the value of a hook, or an empty string."""
    form = FORMS[hook]
    if not isinstance(declared, Mapping):
        return f"must be a dict, not {declared!r}"
    for key, value in declared.items():
        if not (isinstance(key, str) and re.fullmatch(form.key, key)):
            return f"{key!r}: the key must be {form.example}"
        if not isinstance(value, form.kind):
            return f"{key}: must be {form.kind.__name__}, not {value!r:.80}"
        if hook == "sidecars" and value not in BELONGS_TO:
            return f"{key}: {value!r}: must be {', '.join(BELONGS_TO)}"
        texts = [value] if isinstance(value, str) else list(value)
        if isinstance(value, Option) and value.metavar is None:
            texts.pop()
        if not all(isinstance(text, str) and text for text in texts):
            return f"{key}: {value!r}: must have texts that are not empty"
        if not re.fullmatch(r"\w+(\.\w+)*(:\w+)?", texts[0]):
            return f"{key}: {texts[0]!r}: must be like 'package.module:name'"
    return ""


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
        reason = f"{'' if isinstance(error, HeadwayError) else f'{type(error).__name__}: '}{error}"
        if unknown := re.search(r"Extension\..* unexpected keyword argument '(\w+)'", str(error)):
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


def find_switched_off(hook: str, key: str) -> str:
    """Say that HEADWAY_EXTENSIONS leaves out the extension that has a key of a hook, or one of `SINGLE`; "": there is none."""
    in_use = load_extensions()
    for name, entry in sorted(find_installed().items()):
        if name not in in_use:
            try:
                declared = getattr(_load_extension(entry), hook)
                has_it = bool(declared) if hook in SINGLE else key in declared
            except HeadwayError:  # a broken one has nothing
                continue
            if has_it:
                return f"belongs to extension '{name}', which {CHOICE} leaves out: add {name} to it"
    return ""


def load_stages() -> list[tuple[str, Any]]:
    """Return the stages of a translation that extensions add, with the names of the extensions, in their order."""
    stages = []
    for name, target in collect("stages").values():
        with _left_out("translations do without it"):
            stages.append((name, load(name, target)))
    return stages


def name_extensions(hooks: Iterable[str] = CHANGE_RESULTS) -> str:
    """Return what in the choice of extensions may change a result: names and versions; "": there is nothing.

    Args:
        hooks: Those that count. Of Headway's own extensions those are named that are left out, because all are usual.
    """
    in_use, named = load_extensions(), []
    for name, entry in sorted(find_installed().items()):
        is_own, is_used = entry.project == "headway", name in in_use
        if is_own == is_used:
            continue
        with suppress(HeadwayError):  # a broken one changes nothing
            extension = in_use[name] if is_used else _load_extension(entry)
            if is_own and any(getattr(extension, hook) for hook in hooks):
                named.append(f"without {name}")
            elif is_used and any(getattr(extension, hook) for hook in hooks):
                named.append(f"{name} {extension.version}")
    return ", ".join(named)


def load_modules(hook: str) -> list[Any]:
    """Return the modules that extensions have for a hook; a broken one is left out, with a notice."""
    loaded = []
    for name, target in collect(hook).values():
        with _left_out(f"{hook}: Headway does without it"):
            loaded.append(load(name, target))
    return loaded


def load_single(hook: str) -> Any | None:
    """Return what an extension declares for one of the hooks in `SINGLE`; None: there is nothing, or it is broken.

    Of several, one that does not come with Headway is taken.
    """
    declared = [(name, getattr(each, hook)) for name, each in load_extensions().items()]
    return _load_first([item for item in declared if item[1]], hook)


def _load_first(found: list[tuple[str, str]], what: str) -> Any | None:
    """Load the first of some targets of extensions that is not broken; Headway's own come last."""
    for name, target in sorted(found, key=lambda item: item[1].startswith("headway.")):
        with _left_out(f"{what}: Headway does without it"):
            return load(name, target)
    return None


@contextmanager
def _left_out(meaning: str) -> Iterator[None]:
    """Report an extension that cannot be loaded, instead of failing."""
    try:
        yield
    except HeadwayError as error:
        _report(f"{error}; {meaning}")


def require(what: str, hook: str, key: str = "") -> Any:
    """Return what an extension declares for a hook, for something that cannot do without it.

    Args:
        what: Needs it, such as ``--glossary``; for the message.
        hook: The name of a hook.
        key: In its dictionary; "": the hook is one of `SINGLE`.

    Raises:
        UsageError: If no extension in use declares it.
    """
    if key:
        found = collect(hook).get(key)
        if found is not None:
            return load(*found)
    elif (single := load_single(hook)) is not None:
        return single
    owner = find_switched_off(hook, key) or "needs an extension that is not installed"
    raise UsageError(f"{what} {owner}")


def list_sidecars(*belong_to: str) -> list[str]:
    """Return the names of the files beside a model's weights that extensions write: also of those that are not in use.

    Otherwise such a file would stay beside other weights, or be lost.

    Args:
        belong_to: Only those that belong to one of these: "weights", "model", "text"; nothing: all.
    """
    found: list[str] = []
    for _, entry in sorted(find_installed().items()):
        with suppress(HeadwayError):
            sidecars = _load_extension(entry).sidecars
            found += [name for name, what in sidecars.items() if what in (belong_to or BELONGS_TO)]
    return list(dict.fromkeys(found))


def load_for_device(hook: str, device: str) -> Any | None:
    """Return what extensions declare for a type of device, such as "cpu"; None: there is nothing, or it is broken.

    Of several, one that does not come with Headway is taken.
    """
    declared = [(name, getattr(each, hook)) for name, each in load_extensions().items()]
    found = [(name, targets[device]) for name, targets in declared if device in targets]
    return _load_first(found, f"{hook} for {device}")


def make_operations(device: str) -> Any | None:
    """Return the operations that an extension has for a type of device; None: there are none, or they fail."""
    make = load_for_device("operations", device)
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
    prepare = load_for_device("preparations", device)
    missing: str = prepare(work) if prepare else ""
    return missing


def identify_arithmetic(work: str) -> str:
    """Return the identity of all code of extensions on which the last bits of results depend; "" if there is none.

    Args:
        work: "training" or "decoding".
    """
    identities = []
    for name, extension in load_extensions().items():
        if extension.arithmetic:
            with _left_out("arithmetic: it is not compared"):
                identities.append(load(name, extension.arithmetic)(work))
    return "; ".join(filter(None, identities))


@cache  # a line is logged once
def _report(line: str) -> None:
    if os.environ.get("LOCAL_RANK", "0") == "0":  # the first rank speaks for all
        import logging

        logging.getLogger(__name__).warning("%s", line)
