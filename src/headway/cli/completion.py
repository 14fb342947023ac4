"""The parser of the whole command with all settings, from which shtab makes scripts for shells."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from headway.cli.arguments import make_parser
from headway.cli.verbs import list_verbs, load_verb

SHELLS = ("bash", "zsh", "fish")


def make_script(shell: str) -> str:
    """Return the script with which a shell completes verbs, options, settings and their values.

    Args:
        shell: A name in `SHELLS`.
    """
    import shtab

    return shtab.complete(make_whole_parser(shtab.FILE), shell)


def make_whole_parser(files: Mapping[str, Any]) -> argparse.ArgumentParser:
    """Return a parser that has a subcommand for each verb, and an option for each setting.

    Args:
        files: For each shell, its function that completes names of files.
    """
    parser = argparse.ArgumentParser("headway")
    parser.add_argument("-V", "--version", action="store_true", help="print the version")
    verbs = parser.add_subparsers()
    for verb, summary in list_verbs().items():
        own = make_parser(verb, load_verb(verb))
        _add_settings(own, own.sections)
        for action in own._actions:
            _complete_values(action, files)
        # A subparser with the arguments of the verb's own parser.
        verbs.add_parser(verb, help=summary, parents=[own], add_help=False)
    return parser


def _add_settings(parser: argparse.ArgumentParser, sections: Sequence[str]) -> None:
    from headway.config import setting_types
    from headway.config.sections import find_section

    for section in sections:
        kind = find_section(section)
        assert kind is not None, "the verb has been loaded, and its extension with it"
        types = setting_types([section])
        for own in fields(kind):
            parser.add_argument(
                f"--{section}.{own.name.replace('_', '-')}",
                choices=_list_values(types[f"{section}.{own.name}"]),
                help=own.metadata["meaning"].replace("%", "%%"),
            )


def _list_values(kind: object) -> tuple[str, ...] | None:
    """Return the values that a setting of this type may have; None: too many."""
    from headway.config.declaration import list_choices

    if kind is bool:
        return ("true", "false")
    return tuple(list_choices(kind)) or None


def _complete_values(action: Any, files: Mapping[str, Any]) -> None:
    """Say what the values of an argument are: names of presets, or files."""
    from headway.config.sections import PRESETS

    if action.dest == "preset":
        action.choices = tuple(PRESETS)
    elif action.choices is None and action.nargs != 0:
        action.complete = files
