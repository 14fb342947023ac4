"""Pages of the reference: the commands and their options, and the settings."""

import argparse

from headway.cli.arguments import Parser, make_parser
from headway.cli.verbs import list_groups, load_verb
from headway.config.sections import SECTIONS, find_section
from headway.config.toml import to_toml
from headway.extension import collect

HEAD = """# Command line

Every verb with its arguments and options, as `headway VERB --help` prints them. In capitals stands what you fill in. A verb that
takes [settings](settings.md) accepts each as an option: `--training.max-steps 2000`.
"""
SETTINGS_HEAD = """# Settings

Every setting with its default and its meaning, as `headway config` prints them. `headway config --preset quick > mine.toml` prints
those of a preset. To change a setting, give it as an option (`--training.max-steps 2000`), or write it to a TOML file and give that
(`--config mine.toml`).
"""


def command_line_page() -> str:
    """Return the page of all verbs, in the groups of the help."""
    parts = [HEAD]
    for group, verbs in list_groups().items():
        parts.append(f"## {group[0].upper()}{group[1:]}\n")
        parts += [_describe_verb(verb) for verb in verbs]
    return "\n".join(parts)


def _describe_verb(verb: str) -> str:
    module = load_verb(verb)
    parser = make_parser(verb, module)
    usage = " ".join(parser.format_usage().removeprefix("usage: ").split())
    parts = [f"### headway {verb}\n", f"{parser.description}\n", f"```\n{usage}\n```\n"]
    arguments = [a for a in parser._actions if not a.option_strings]
    options = [a for a in parser._actions if a.option_strings and "--help" not in a.option_strings]
    for heading, actions in (("argument", arguments), ("option", options)):
        if actions:
            rows = "".join(_write_row(parser, action) for action in actions)
            parts.append(f"| {heading} | meaning |\n|---|---|\n{rows}")
    if parser.sections:
        listed = ", ".join(f"[`--{name}.NAME`](settings.md#{name})" for name in parser.sections)
        parts.append(f"Settings: {listed}\n")
    return "\n".join([*parts, f"Example:\n\n```\n{module.EXAMPLE}\n```\n"])


def _write_row(parser: Parser, action: argparse.Action) -> str:
    """Return the row of a table: an argument or option with what follows it, and its meaning."""
    formatter = parser._get_formatter()
    values = "" if action.nargs == 0 else formatter._format_args(action, _placeholder(action))
    name = f"{', '.join(action.option_strings)} {values}".strip()
    meaning = formatter._expand_help(action) if action.help else ""
    return f"| `{name}` | {meaning} |\n".replace("<", "&lt;")


def _placeholder(action: argparse.Action) -> str:
    return action.dest.upper() if action.option_strings else action.dest


def settings_page() -> str:
    """Return the page of all settings: a block of TOML for each section."""
    parts = [SETTINGS_HEAD]
    for name in (*SECTIONS, *collect("sections")):
        kind = find_section(name)
        assert kind
        parts.append(f"## {name}\n\n```toml\n{to_toml({name: kind()}).strip()}\n```\n")
    return "\n".join(parts)
