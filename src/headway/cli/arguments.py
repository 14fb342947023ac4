"""Parse the arguments of a verb, and report mistakes in them."""

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from itertools import chain
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

from headway.cli.verbs import list_verbs
from headway.errors import UsageError, find_closest
from headway.extension import find_switched_off

if TYPE_CHECKING:
    from _typeshed import SupportsWrite


def parse(verb: str, module: ModuleType, arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments of a verb; settings (``--section.name value``) go to ``overrides``.

    Raises:
        UsageError: With a line for each mistake.
    """
    parser = make_parser(verb, module)
    words, overrides = split_settings(arguments) if parser.sections else (arguments, {})
    namespace, unknown = parser.parse_known_args(words)
    if unknown:
        parser.refuse(unknown[0])
    _check_names(parser, namespace)
    if parser.sections:
        from headway.config import find_preset, read_changes

        if preset := getattr(namespace, "preset", None):
            find_preset(preset)
        namespace.overrides = overrides
        namespace.changes = read_changes(overrides=overrides, sections=parser.sections)
    return namespace


def make_parser(verb: str, module: ModuleType) -> "Parser":
    """Return the parser of a verb, which also prints its help."""
    settings: tuple[str, ...] = getattr(module, "SETTINGS", ())
    examples = "\n".join(f"  {line}" for line in module.EXAMPLE.splitlines())
    note = ""
    if settings:
        names = "  ".join(f"--{section}.NAME" for section in settings)
        note = f"settings, each followed by its value (headway config prints all):\n  {names}\n\n"
    summary = list_verbs()[verb]
    parser = Parser(
        prog=f"headway {verb}",
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=f"{note}example:\n{examples}",
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    module.configure(parser)
    parser.sections = settings
    return parser


def _check_names(parser: "Parser", namespace: argparse.Namespace) -> None:
    """Report a name that no file or directory can have here.

    An empty one, such as ``"$MODEL"`` gives if the shell does not know MODEL, and one of a model that is not UTF-8: the
    library that reads and writes weights (safetensors) opens no other.
    """
    for action in parser._actions:
        names: list[Any] = [getattr(namespace, action.dest, None)]
        while names and isinstance(names[0], list):  # several names, or given several times
            names = list(chain.from_iterable(names))
        option = "/".join(action.option_strings) or action.metavar
        for name in names if action.metavar in FILES else ():
            if name == "":
                parser.error(f"{option}: the name is empty")
            if action.metavar in MODELS and name and NO_UTF8.search(name):
                parser.error(f"{option} {name!r}: the name is not UTF-8: rename it")


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Shows in the first line only what a command must have; all options follow with their meaning."""

    def add_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: "Iterable[argparse._MutuallyExclusiveGroup]",
        prefix: str | None = None,
    ) -> None:
        """Add the line ``usage: ...``."""
        needed = [a for a in actions if a.required or not a.option_strings]
        super().add_usage(usage, needed, [], prefix)


# What the help writes for the name of a file or of a directory.
FILES = ("A", "B", "DIR", "FILE", "HYPOTHESIS", "MODEL", "OUT", "PATH", "REFERENCE", "RUN")
MODELS = ("MODEL", "OUT", "RUN")  # those that have weights
NO_UTF8 = re.compile("[\ud800-\udfff]")  # what Python makes of such bytes on the command line


class Parser(argparse.ArgumentParser):
    """An `argparse` parser that reports a mistake in one line and suggests the closest option.

    Attributes:
        sections: Sections of settings that the verb takes besides its options.
    """

    sections: tuple[str, ...] = ()

    def error(self, message: str) -> NoReturn:
        """Report a mistake."""
        raise UsageError(f"{message.removeprefix('argument ')}; see {self.prog} --help")

    def refuse(self, word: str) -> NoReturn:
        """Report an argument that the verb does not have."""
        if not word.startswith("-"):
            takes_file = any("--input" in action.option_strings for action in self._actions)
            self.error(f"{word}: one argument too many{'; give a file by --input' * takes_file}")
        option = word.partition("=")[0]
        owner = find_switched_off("options", f"{self.prog.split()[-1]} {option}")
        self.error(f"{option}: {owner or f'no such option{self._suggest(option)}'}")

    def print_help(self, file: "SupportsWrite[str] | None" = None) -> None:
        """Print the help; unlike `argparse`, report it if standard output cannot be written."""
        print(self.format_help(), end="", file=file)
        sys.stdout.flush()

    def _suggest(self, word: str) -> str:
        """Suggest an option, or a setting whose section was left out."""
        from headway.config import setting_types

        # Compare without dashes: all options have them.
        options = [option for action in self._actions for option in action.option_strings]
        known = {option.lstrip("-"): option for option in options}
        known |= {
            name.partition(".")[2].replace("_", "-"): "--" + name.replace("_", "-")
            for name in setting_types(self.sections)
        }
        near = find_closest(word.lstrip("-").replace("_", "-"), known)
        return f" (did you mean {known[near]!r}?)" if near else ""


def split_settings(arguments: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Split the arguments into options, and settings such as ``--section.name value``."""
    rest: list[str] = []
    overrides: dict[str, str] = {}
    words = iter(arguments)
    for word in words:
        name, equals, value = word.removeprefix("--").partition("=")
        if not (word.startswith("--") and "." in name):
            rest.append(word)
            continue
        if not equals:
            value = next(words, "")
            if not value or value.startswith("--"):
                raise UsageError(f"--{name} needs a value")
        overrides[name] = value
    return rest, overrides
