"""The arguments of verbs, each declared as the help shows it; those that several verbs have stand here once."""

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from headway.extension import collect, load

if TYPE_CHECKING:
    from headway.text.readers import FileForm


def language_code(word: str) -> str:
    """Return a language code from the command line; the name of a language is no code."""
    from headway.text.languages import NAMES, is_code

    if not is_code(word):
        known = [code for code, name in NAMES.items() if name.lower() == word.lower()]
        example = f"{word} is {known[0]}" if known else "such as en, de or pt-BR"
        raise argparse.ArgumentTypeError(
            f"{word}: must be a language code of two letters ({example})"
        )
    return word


def known_language(word: str) -> str:
    """Return the code of a language whose words and punctuation a metric must know."""
    from headway.text.languages import NAMES, base_code

    code = language_code(word)
    if base_code(code) not in NAMES:
        raise argparse.ArgumentTypeError(
            f"{word}: no language that is known here: give the code of one with similar punctuation"
        )
    return code


class Argument(NamedTuple):
    """An argument of a verb.

    Args:
        usage: The argument as the help shows it, such as ``--input FILE``; ``FILE...`` stands for one or more values.
        meaning: What it does.
        form: What `argparse` must know besides.
    """

    usage: str
    meaning: str
    form: Mapping[str, Any] = {}


# The type of a value, by the word that the help has for it.
TYPES = {"N": int, "STEP": int, "THREADS": int, "M": float}
REPEATED = {"action": "append"}
REQUIRED = {"required": True}
# The arguments that several verbs have.
SHARED = (
    Argument("MODEL", "run or model directory, or a hub name: ORGANIZATION/NAME"),
    Argument("MODEL...", "run or model directory, or hub name; several: ensemble"),
    Argument("--backward MODEL", "a model of the other direction, which helps to choose"),
    Argument("--to CODE", "target language, for a model of several languages"),
    Argument(
        "--from CODE",
        "source language, if the target has several",
        {"dest": "source_language", "default": ""},
    ),
    Argument("--zero-shot", "allow a pair of languages that was not trained"),
    Argument(
        "--languages CODE CODE",
        "codes of source and target (default: from the names)",
        {"type": language_code},
    ),
    Argument("--encoding NAME", "of text that is not UTF-8 or UTF-16, such as cp1252"),
    Argument("--columns COLUMN COLUMN", "source and target of a table: names, or numbers from 1"),
    Argument("--preset NAME", "quick, thorough, tiny, small, medium, base (default) or big"),
    Argument("--config FILE", "a TOML file that changes the preset"),
    Argument("--cluster ADDRESS", "scheduler of Dask, whose workers do it"),
    Argument("--device DEVICE", "auto, cpu, cuda or cuda:N", {"default": "auto"}),
    Argument("--threads THREADS", "processor threads (default: all)", {"default": 0}),
    Argument("--ranks N", "processes (default: one a core or GPU)", {"default": 0}),
    Argument(
        "--language CODE",
        "target language (default: the suffix of REFERENCE)",
        {"type": known_language},
    ),
    Argument("--resamples N", "bootstrap resamples (default: 1000)", {"default": 1000}),
    Argument("--seed N", "seed of the bootstrap (default: 12345)", {"default": 12345}),
    Argument("--json", "print JSON"),
)
FILE_FORM = ("--encoding NAME", "--columns COLUMN COLUMN")  # `file_form` reads them
DIRECTION = ("--to CODE", "--from CODE", "--zero-shot")  # `choose_direction` reads them
MACHINE = ("--device DEVICE", "--threads THREADS")
PRESET = ("--preset NAME", "--config FILE")  # `settings_from` reads them


def add_options(parser: "argparse._ActionsContainer", *options: Argument | str) -> None:
    """Add arguments to the parser of a verb.

    Args:
        parser: The parser, or a group of it.
        options: The arguments; the usage alone stands for one in `SHARED`.
    """
    shared = {argument.usage: argument for argument in SHARED}
    for option in options:
        usage, meaning, form = shared[option] if isinstance(option, str) else option
        name, *values = usage.removesuffix("...").split()
        is_option, several = name.startswith("--"), usage.endswith("...")
        given: dict[str, Any] = {"action": "store_true"}
        if values or not is_option:
            metavar = values[0] if is_option else name
            given = {"metavar": metavar, "type": TYPES.get(metavar)}
        if several or len(values) > 1:
            given["nargs"] = "+" if several else len(values)
        word = name if is_option else name.lower() + "s" * several
        parser.add_argument(word, help=meaning, **given | dict(form))


def file_form(args: argparse.Namespace) -> "FileForm":
    """Return how the files of the command line are written."""
    from headway.text.readers import FileForm

    columns = (args.columns[0], args.columns[1]) if args.columns else None
    return FileForm(args.encoding, columns)


def add_extension_options(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the options that extensions have for a verb; `use_extension_options` uses them."""
    taken = [f"{verb} {name}" for action in parser._actions for name in action.option_strings]
    targets = {}
    for key, (extension, option) in collect("options", taken).items():
        if key.startswith(f"{verb} "):
            form: dict[str, Any] = {"metavar": option.metavar}
            if option.metavar is None:
                form = {"action": "store_const", "const": True}
            meaning = option.help.replace("%", "%%")
            parser.add_argument(key.split()[1], dest=key, help=meaning, **form)
            targets[key] = extension, option.target
    parser.set_defaults(of_extensions=targets)


def list_extension_options(args: argparse.Namespace) -> list[str]:
    """Return the options of extensions that are given, such as ``--diagram``."""
    return [key.split()[1] for key in args.of_extensions if getattr(args, key) is not None]


def use_extension_options(args: argparse.Namespace, *facts: Any) -> bool:
    """Call the function of each given option of an extension with its value and what the verb knows.

    Returns:
        Whether one was given.
    """
    for key, (extension, target) in args.of_extensions.items():
        if getattr(args, key) is not None:
            load(extension, target)(getattr(args, key), *facts)
    return bool(list_extension_options(args))
