"""``headway completion``: print a script with which a shell completes verbs, options, settings and presets."""

import argparse
from collections.abc import Mapping
from typing import Any

from headway.cli.arguments import make_parser
from headway.cli.options import Argument, add_options
from headway.cli.verbs import list_verbs, load_verb

SHELLS = ("bash", "zsh", "fish")
# Each pair of lines works in an account that is new.
EXAMPLE = (
    "mkdir -p ~/.local/share/bash-completion/completions    # for bash-completion\n"
    "headway completion bash > ~/.local/share/bash-completion/completions/headway\n"
    "mkdir -p ~/.zfunc  # .zshrc: fpath+=(~/.zfunc); autoload -U compinit; compinit\n"
    "headway completion zsh > ~/.zfunc/_headway\n"
    "mkdir -p ~/.config/fish/completions\n"
    "headway completion fish > ~/.config/fish/completions/headway.fish"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_options(parser, Argument("SHELL", "bash, zsh or fish", {"choices": SHELLS}))


def run(args: argparse.Namespace) -> None:
    """Print the script, which shtab makes."""
    import shtab

    print(shtab.complete(make_whole_parser(shtab.FILE), args.shell))


def make_whole_parser(files: Mapping[str, Any]) -> argparse.ArgumentParser:
    """Return a parser that has a subcommand for each verb, and an option for each setting.

    Args:
        files: For each shell, its function that completes names of files.
    """
    from headway.config.sections import PRESETS

    parser = argparse.ArgumentParser("headway")
    parser.add_argument("-V", "--version", action="store_true", help="print the version")
    verbs = parser.add_subparsers()
    for verb, summary in list_verbs().items():
        own = make_parser(verb, load_verb(verb))
        for section in own.sections:
            _add_settings(own, section)
        for action in own._actions:
            if action.dest == "preset":
                action.choices = tuple(PRESETS)
            elif action.choices is None and action.nargs != 0:
                action.complete = files  # type: ignore[attr-defined]
        # A subparser with the arguments of the verb's own parser.
        verbs.add_parser(verb, help=summary, parents=[own], add_help=False)
    return parser


def _add_settings(parser: argparse.ArgumentParser, section: str) -> None:
    from headway.config.declaration import list_choices, meanings_of
    from headway.config.sections import find_section, setting_types

    hints = setting_types([section])
    for name, meaning in meanings_of(find_section(section)).items():
        hint = hints[f"{section}.{name}"]
        parser.add_argument(
            f"--{section}.{name.replace('_', '-')}",
            choices=("true", "false") if hint is bool else tuple(list_choices(hint)) or None,
            help=meaning.replace("%", "%%"),
        )
