"""Parse the arguments of a verb, and report mistakes in them."""

import argparse
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

from headway.cli.error_messages import print_error
from headway.cli.verbs import list_verbs
from headway.errors import HeadwayError, find_closest, suggest
from headway.extension import find_switched_off

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

    from headway.config import Changes


def parse(verb: str, module: ModuleType, arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments of a verb; settings (``--section.name value``) go to ``overrides``."""
    parser = make_parser(verb, module)
    parser.words, overrides = split_settings(arguments, parser.sections)
    namespace = parser.parse_args(parser.words)
    _check_names(parser, namespace)
    if parser.sections:
        namespace.overrides = overrides
        namespace.changes = _parse_settings(getattr(namespace, "preset", None), overrides)
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
        while names and isinstance(
            names[0], list
        ):  # of an option with several names, or given several times
            names = list(chain.from_iterable(names))
        if action.metavar not in FILES:
            continue
        option = "/".join(action.option_strings) or action.metavar
        if "" in names:
            parser.error(f"{option}: the name is empty")
        for name in names:
            if action.metavar in MODELS and name and NO_UTF8.search(name):
                parser.error(f"{option} {name!r}: the name is not UTF-8: rename it")


def _parse_settings(preset: str | None, overrides: Mapping[str, str]) -> "Changes":
    """Return the settings of a command line; mistakes are reported before a verb imports torch."""
    from headway.config import find_preset, read_changes
    from headway.config.sections import SECTIONS

    try:
        if preset:
            find_preset(preset)
        sections = dict.fromkeys([*SECTIONS, *(name.partition(".")[0] for name in overrides)])
        return read_changes(overrides=overrides, sections=sections)
    except HeadwayError as error:
        usage_error(str(error))


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
# Messages of argparse.
CHOICE = r"argument (\S+): invalid choice: '(.*)' \(choose from (.*)\)"
NO_NUMBER = r"argument (\S+): invalid (int|float) value: '(.*)'"


class Parser(argparse.ArgumentParser):
    """An `argparse` parser that reports a mistake in one line and suggests the closest option.

    Attributes:
        sections: Sections of settings that the verb takes besides its options.
        words: The arguments that are parsed, for messages.
    """

    sections: tuple[str, ...] = ()
    words: Sequence[str] = ()

    def error(self, message: str) -> NoReturn:
        """Print the mistake and exit with 2."""
        if choice := re.fullmatch(CHOICE, message):
            option, word, known = choice.groups()
            names = re.findall(r"[\w-]+", known)
            option = f"{option} " if option.startswith("-") else ""
            choices = f"{', '.join(names[:-1])} or {names[-1]}"
            message = f"{option}{word}: must be {choices}{suggest(word, names)}"
        if number := re.fullmatch(NO_NUMBER, message):
            kind = "whole number" if number[2] == "int" else "number"
            message = f"{number[1]} {number[3]}: must be a {kind}"
        message = message.removeprefix("argument ")
        unknown, _, words = message.partition("unrecognized arguments: ")
        if not unknown and words:
            # The first of the words, which argparse joins by spaces; it may contain spaces itself.
            starts = [w for w in self.words if f"{words} ".startswith(f"{w} ")]
            word = max(starts, key=len, default=words)
            if word.startswith("-"):
                option = word.partition("=")[0]
                owner = find_switched_off("options", f"{self.prog.split()[-1]} {option}")
                message = f"{option}: {owner or f'no such option{self._suggest(option)}'}"
            else:
                hint = " (text is read from standard input: < FILE)"
                reads_text = self.prog.split()[-1] in ("classify", "encode", "parse")
                message = f"{word}: one argument too many{self._option_before(word) or (hint if reads_text else '')}"
        print_error(f"{self.prog}: {message}; see {self.prog} --help")
        raise SystemExit(2)

    def print_help(self, file: "SupportsWrite[str] | None" = None) -> None:
        """Print the help; unlike `argparse`, report it if standard output cannot be written."""
        print(self.format_help(), end="", file=file)
        sys.stdout.flush()

    def _known_options(self) -> Mapping[str, argparse.Action]:
        """Return the options by name, for hints; argparse has no public way to list them."""
        return getattr(self, "_option_string_actions", {})

    def _option_before(self, word: str) -> str:
        """Name the option that a superfluous argument follows, if it takes a fixed number."""
        before = [w for w in self.words[: self.words.index(word)] if w.startswith("--")]
        action = self._known_options().get(before[-1]) if before else None
        count = action.nargs if action else None
        return f" ({before[-1]} takes {count})" if isinstance(count, int) else ""

    def _suggest(self, word: str) -> str:
        """Suggest an option, or a setting whose section was left out."""
        from headway.config import setting_types

        # Compare without dashes: all options have them.
        known = {option.lstrip("-"): option for option in self._known_options()}
        known |= {
            name.partition(".")[2].replace("_", "-"): "--" + name.replace("_", "-")
            for name in setting_types(self.sections)
        }
        near = find_closest(word.lstrip("-").replace("_", "-"), known)
        return f" (did you mean {known[near]!r}?)" if near else ""


def split_settings(
    arguments: Sequence[str], sections: Sequence[str]
) -> tuple[list[str], dict[str, str]]:
    """Split the arguments into options, and settings such as ``--section.name value``."""
    rest: list[str] = []
    overrides: dict[str, str] = {}
    words = iter(arguments)
    for word in words:
        name, equals, value = word.removeprefix("--").partition("=")
        if not (word.startswith("--") and "." in name and sections):
            rest.append(word)
            continue
        section = name.partition(".")[0]
        if section not in sections:
            near = find_closest(section, sections)
            meant = f" (did you mean '--{near}{name.removeprefix(section)}'?)" if near else ""
            known = ", ".join(f"--{s}.NAME" for s in sections)
            usage_error(f"--{name}: no such option{meant}; settings here: {known}")
        if not equals:
            value = next(words, "")
            if not value or value.startswith("--"):
                usage_error(f"--{name} needs a value")
        overrides[name] = value
    return rest, overrides


def usage_error(message: str) -> NoReturn:
    """Print the mistakes, one a line, and exit with 2."""
    print_error("\n".join(f"headway: {line}" for line in message.splitlines()))
    raise SystemExit(2)
