"""The options that several verbs have."""

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.extension import collect, load, load_all

if TYPE_CHECKING:
    from headway.text.readers import FileForm


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add MODEL."""
    parser.add_argument(
        "model",
        metavar="MODEL",
        type=model_or_name,
        help="run or model directory, or a hub name: ORGANIZATION/NAME",
    )


def add_models(parser: argparse.ArgumentParser) -> None:
    """Add one or several MODELs that translate together."""
    parser.add_argument(
        "models",
        metavar="MODEL",
        nargs="+",
        type=_one_of_models,
        help="run or model directory, or hub name; several: ensemble",
    )


def add_backward(parser: argparse.ArgumentParser) -> None:
    """Add ``--backward``."""
    parser.add_argument(
        "--backward",
        metavar="MODEL",
        type=model_or_name,
        help="a model of the other direction, which helps to choose",
    )


def add_direction(parser: argparse.ArgumentParser) -> None:
    """Add ``--to``, ``--from`` and ``--zero-shot``, which `headway.cli.settings.choose_direction` reads."""
    parser.add_argument(
        "--to", metavar="CODE", help="target language, for a model of several languages"
    )
    parser.add_argument(
        "--from", dest="source_language", default="", metavar="CODE",
        help="source language, if the target has several",
    )  # fmt: skip
    parser.add_argument(
        "--zero-shot", action="store_true", help="allow a pair of languages that was not trained"
    )


def model_or_name(word: str) -> str:
    """Return the word; a document or a table in the place of a MODEL is a mistake."""
    if not Path(word).is_file():
        return word
    if any(kind.takes(word) for _, kind in load_all("inputs")):
        raise argparse.ArgumentTypeError(
            f"{word}: is a document, not a model"
            f" (headway translate MODEL --input {word} --output FILE translates it)"
        )
    return word


def _one_of_models(word: str) -> str:
    """Return the word; after a MODEL, a file of text is a mistake: its < was left out."""
    from headway.cli.downloads import is_of_other_program

    path = Path(model_or_name(word))
    if path.is_file() and not is_of_other_program(path):
        raise argparse.ArgumentTypeError(
            f"{word}: is a file, not a model (headway translate reads text from standard input: < {word})"
        )
    return word


def add_file_form(parser: argparse.ArgumentParser) -> None:
    """Add ``--encoding`` and ``--columns``, which `file_form` reads."""
    parser.add_argument(
        "--encoding",
        metavar="NAME",
        help="of text that is not UTF-8 or UTF-16, such as cp1252",
    )
    parser.add_argument(
        "--columns",
        nargs=2,
        metavar="COLUMN",
        help="source and target of a table: names, or numbers from 1",
    )


def file_form(args: argparse.Namespace) -> "FileForm":
    """Return how the files of the command line are written."""
    from headway.text.readers import FileForm

    columns = (args.columns[0], args.columns[1]) if args.columns else None
    return FileForm(args.encoding, columns)


def add_preset(parser: argparse.ArgumentParser, default: str = "base") -> None:
    """Add ``--preset`` and ``--config``, which `headway.cli.settings.settings_from` reads."""
    names = ("quick", "thorough", "tiny", "small", "medium", "base", "big")
    listed = [f"{name} (default)" if name == default else name for name in names]
    parser.add_argument(
        "--preset", metavar="NAME", help=f"{', '.join(listed[:-1])} or {listed[-1]}"
    )
    parser.add_argument("--config", metavar="FILE", help="a TOML file that changes the preset")


def add_cluster(parser: argparse.ArgumentParser) -> None:
    """Add ``--cluster``."""
    parser.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="scheduler of Dask, whose workers do it",
    )


def add_machine(parser: argparse.ArgumentParser) -> None:
    """Add ``--device`` and ``--threads``."""
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N")
    parser.add_argument("--threads", type=int, default=0, help="processor threads (default: all)")


def add_ranks(parser: argparse.ArgumentParser) -> None:
    """Add ``--ranks``."""
    parser.add_argument(
        "--ranks", type=int, default=0, metavar="N", help="processes (default: one a core or GPU)"
    )


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


def choose_language(args: argparse.Namespace) -> str:
    """Return the language of ``--language``, or that of the name of the reference; without both, say that it is en."""
    from headway.text.groups import language_from_name

    if language := args.language or language_from_name(args.reference):
        return str(language)
    print(
        f"{args.reference}: the name has no language code: tokenized as 'en'; --language CODE changes that",
        file=sys.stderr,
    )
    return "en"


def known_language(word: str) -> str:
    """Return the code of a language whose words and punctuation a metric must know."""
    from headway.text.languages import NAMES

    code = language_code(word)
    if re.split("[-_]", code)[0].lower() not in NAMES:
        raise argparse.ArgumentTypeError(
            f"{word}: no language that is known here: give the code of one with similar punctuation"
        )
    return code


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
