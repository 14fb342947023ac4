"""The hooks of an extension: each place where another package may add something to Headway.

An extension is an `Extension` object behind an entry point of the group ``headway.extensions``:

    [project.entry-points."headway.extensions"]
    mine = "headway_mine:extension"

The extensions in `headway.ext` are declared in the same way. The module of the object imports only `headway.extension`;
everything that it brings is named as ``"package.module:name"`` and imported when it is used.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

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
        sections: Name -> ``"module:class"``: a section of settings, a frozen dataclass whose fields are
            ``name: TYPE = setting(DEFAULT, BOUND, ...)`` with `setting` and the bounds of `headway.config`; their meanings stand in
            its docstring, as ``name: meaning``, or behind the default. A verb
            that takes them has the name in its ``SETTINGS`` and reads them with `headway.config.load_section`.
        names: Name -> ``"module:name"``: what ``headway.NAME`` is in Python.
        stages: Name -> ``"module:function"``, ``(line: str) -> Generator[str, list[Translation], list[Translation]]``: a
            stage of the translation of each line. It yields the line that is translated instead, is sent the n best
            translations of that, and returns those of its own line.
        corpora: Name -> a module that fetches parallel text by name, with ``local_files(words: list[str], languages, place:
            str, notify: Callable[[str], None]) -> list[str]``, which replaces the names among the words of ``--train`` and
            the like by files; and ``list_origins(paths) -> list[Manifest]``, what it knows of files that it fetched.
        readers: Suffix, such as ``".xyz"`` -> ``"module:function"``, ``(path: str, languages: tuple[str, str] | None) ->
            Iterator[tuple[str, str]]``: it reads the pairs of source and target in a file of parallel text, in the
            languages if they are given. It may yield a `Pair`, with a line, or a `Damaged` of `headway.text`.
        inputs: Name -> a module that translates files of a kind with ``headway translate --input FILE --output FILE``, with
            ``takes(name: str) -> bool``, whether it translates a file of this name; ``check(args) -> None``, which checks
            the command line for such a file; ``check_lines(args) -> None``, which checks it for a file of lines; and
            ``translate(args) -> None``.
        documents: Suffix, such as ``".xyz"`` -> ``"module:function"``, ``(data: bytes, options: DocumentOptions) ->
            Document`` of `headway.ext.documents`: it reads a file whose text can be replaced.
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
            ``wants(config: Config) -> bool``, whether a training has this step; and
            ``learn(directory: RunDirectory, data: PreparedData, device: str) -> Iterator[Event]``, run by all ranks. The
            training is finished before; if a step fails or is interrupted, the next resume takes it again.
        arithmetic: ``"module:function"``, ``(work: str) -> str``: it identifies the code on which the last bits of results
            depend.
    """

    name: str
    version: str
    verbs: Mapping[str, Verb] = {}
    options: Mapping[str, Option] = {}
    sections: Mapping[str, str] = {}
    names: Mapping[str, str] = {}
    stages: Mapping[str, str] = {}
    corpora: Mapping[str, str] = {}
    readers: Mapping[str, str] = {}
    inputs: Mapping[str, str] = {}
    documents: Mapping[str, str] = {}
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
SUFFIX = Form(r"\.[a-z0-9]+", "a suffix in small letters, such as '.xyz'", str)
DEVICE = Form("[a-z]+", "the type of a device, such as 'cpu'", str)
FORMS = {
    "verbs": Form("[a-z][a-z-]*", "a word in small letters, such as 'plot'", Verb),
    "options": Form(
        f"({'|'.join(TAKE_OPTIONS)}) --[a-z][a-z-]*", f"'{'|'.join(TAKE_OPTIONS)} --option'", Option
    ),
    "sections": Form("[a-z]+", "a word in small letters, such as 'plot'", str),
    "names": Form(r"[A-Za-z]\w*", "a name of Python", str),
    "stages": NAME,
    "corpora": NAME,
    "readers": SUFFIX,
    "inputs": NAME,
    "documents": SUFFIX,
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


HOOKS = Extension._fields[2:]  # all but name and version
# Hooks that take one target, such as "package.module:name", and no dictionary.
SINGLE = tuple(hook for hook in HOOKS if hook not in FORMS)
# Hooks on which the text of a translation depends.
CHANGE_RESULTS = ("stages", "masking", "quality", "shortlist", "operations", "engines")
BELONGS_TO = ("weights", "model", "text")  # what a sidecar does


def find_problem(name: str, declared: object) -> str:
    """Return what is wrong with the object behind an entry point of this name, or an empty string."""
    if not isinstance(declared, Extension):
        return f"must be an Extension, not {declared!r:.80}"
    if declared.name != name:
        return f"its name must be that of its entry point, and not {declared.name!r}"
    for hook in HOOKS:
        if problem := _find_problem(hook, getattr(declared, hook)):
            return f"{hook}: {problem}"
    return ""


def _find_problem(hook: str, declared: object) -> str:
    """Return what is wrong with the value of a hook, or an empty string."""
    if hook in SINGLE:
        return "" if isinstance(declared, str) else f"must be str, not {declared!r:.80}"
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
