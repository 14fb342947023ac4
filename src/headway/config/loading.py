"""The loader of all settings, from TOML files, the environment and options: it accepts no unknown name and reports all mistakes at once."""

import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from headway.config.declaration import (
    Setting,
    check_setting,
    list_wrong_values,
    parse_setting,
    raise_all,
)
from headway.config.sections import PRESETS, SECTIONS, Config, setting_types
from headway.errors import HeadwayError, UsageError, suggest
from headway.extension import find_switched_off, require

COMMAND_LINE = "command line"
NOTHING: Mapping[str, Any] = MappingProxyType({})
MAX_PROBLEMS = 20  # lines of a message; looking for the name that was meant takes time
# Settings as ``section.name``, and of each where it comes from, with which messages begin, and its value.
Settings = dict[str, tuple[str, Setting]]


@dataclass(frozen=True)
class Changes:
    """Settings that files, the environment and a command line change; each is parsed and checked alone.

    Attributes:
        settings: The settings.
    """

    settings: Settings = field(default_factory=dict)

    @property
    def of_command_line(self) -> "Changes":
        """Those of the command line alone."""
        own = {key: change for key, change in self.settings.items() if change[0] == COMMAND_LINE}
        return Changes(own)

    @property
    def options(self) -> list[str]:
        """The settings of the command line, such as ``model.d-model``."""
        return [key.replace("_", "-") for key in self.of_command_line.settings]

    def __add__(self, later: "Changes") -> "Changes":
        """Return both, of which the second wins."""
        return Changes(self.settings | later.settings)

    def without_files(self, section: str) -> "Changes":
        """Return the changes of the command line, and those that files make to other sections than this one."""
        others = {k: v for k, v in self.settings.items() if not k.startswith(f"{section}.")}
        return Changes(others) + self.of_command_line

    def apply(self, config: Config) -> Config:
        """Return settings with the changes.

        Raises:
            UsageError: With a line for each value that does not fit.
        """
        return Config(**self.apply_to(config.sections()))

    def apply_to(self, sections: Mapping[str, Any]) -> dict[str, Any]:
        """Return sections, by their names, with the changes; see `apply`."""
        problems: list[str] = []
        rebuilt = dict(sections)
        of_sections: dict[str, Settings] = {}
        for key, change in self.settings.items():
            section, name = key.split(".")
            of_sections.setdefault(section, {})[name] = change
        for section, changes in of_sections.items():
            values = {name: value for name, (_, value) in changes.items()}
            try:
                rebuilt[section] = replace(sections[section], **values)
            except HeadwayError as error:
                problems += [_locate(line, section, changes) for line in str(error).splitlines()]
        raise_all(problems, UsageError)
        return rebuilt


NO_CHANGES = Changes()


def read_changes(
    files: Sequence[str | Path] = (),
    overrides: Mapping[str, str] = NOTHING,
    variables: Mapping[str, tuple[str, str]] = NOTHING,
    *,
    sections: Collection[str] = SECTIONS,
) -> Changes:
    """Read the changes of TOML files, the environment and the command line.

    Args:
        files: TOML files; their tables are sections.
        overrides: ``{"model.d-model": "256"}``; dashes and underscores are the same.
        variables: Settings from the environment: ``{"server.char_limit": (variable, text)}``.
        sections: The names of the sections that they may change.

    Raises:
        HeadwayError: With one line for each mistake, naming its file, variable or option and what is right.
    """
    problems: list[str] = []
    found: Settings = {}
    for path in map(str, files):
        try:
            found |= _check_tables(read_toml(path), path, sections, problems)
        except HeadwayError as error:
            problems.append(str(error))
    texts = [(variable, key, text) for key, (variable, text) in variables.items()]
    options = [(f"--{option}", option, text) for option, text in overrides.items()]
    for where, given in (("environment", texts), (COMMAND_LINE, options)):
        found |= _check(given, where, sections, parse_setting, problems)
    raise_all(problems, UsageError)
    return Changes(found)


def load(
    preset: str | Config = "base",
    files: Sequence[str | Path] = (),
    overrides: Mapping[str, str] = NOTHING,
) -> Config:
    """Resolve a preset, TOML files and the command line, later ones winning.

    Args:
        preset: A name in `PRESETS`, or the settings to begin with.
        files: TOML files; their tables are those of a run.
        overrides: ``{"model.d-model": "256"}``; dashes and underscores are the same.

    Raises:
        HeadwayError: With one line for each mistake, naming its file or option and what is right.
    """
    return read_changes(files, overrides).apply(find_preset(preset))


def load_section(
    name: str,
    files: Sequence[str | Path] = (),
    overrides: Mapping[str, str] = NOTHING,
    variables: Mapping[str, tuple[str, str]] = NOTHING,
) -> Any:
    """Resolve TOML files, the environment and the command line for a section of an extension, later ones winning.

    Args:
        name: The section, the only table of the files.
        files: TOML files.
        overrides: ``{"server.char-limit": "100"}``; dashes and underscores are the same.
        variables: Settings from the environment: ``{"server.char_limit": (variable, text)}``.

    Returns:
        An object of the section's class.

    Raises:
        HeadwayError: With one line for each mistake, naming its file, variable or option and what is right.
    """
    kind = require(f"[{name}]", "sections", name)
    changes = read_changes(files, overrides, variables, sections=(name,))
    return changes.apply_to({name: kind()})[name]


def find_preset(name: str | Config, shape: Config | None = None) -> Config:
    """Return the settings of a preset.

    Args:
        name: Its name, or its settings.
        shape: Settings whose sections text and model replace those of the preset.

    Raises:
        HeadwayError: If none has this name.
    """
    if isinstance(name, str) and name not in PRESETS:
        raise UsageError(
            f"--preset {name}: not a preset{suggest(name, PRESETS)}; there are {', '.join(PRESETS)}"
        )
    preset = PRESETS[name] if isinstance(name, str) else name
    return replace(preset, text=shape.text, model=shape.model) if shape else preset


def merge_overrides(config: Config, overrides: Mapping[str, str]) -> Config:
    """Return ``config`` with ``{"section.name": "text"}`` set, as written on a command line."""
    return read_changes(overrides=overrides).apply(config)


def _check_tables(
    tables: Mapping[str, object], where: str, sections: Collection[str], problems: list[str]
) -> Settings:
    """Check the names and types of nested settings, but not how they fit together.

    Args:
        tables: Section -> name -> value.
        where: Where they come from, with which messages begin.
        sections: The names of the sections that there are.
        problems: Receives a line for each mistake.
    """
    given: list[tuple[str, str, object]] = []
    for section, table in tables.items():
        if len(problems) == MAX_PROBLEMS:
            break
        homes = [name for name in sections if f"{name}.{section}" in setting_types([name])]
        if homes and not isinstance(table, Mapping):
            problems.append(f"{where}: {section:.60} is a setting: write it below [{homes[0]}]")
        elif section not in sections:
            known = ", ".join(f"[{name}]" for name in sections)
            near = suggest(section[:60], sections)
            other = f"is not a section here{near}; there is {known}"
            reason = find_switched_off("sections", section) or other
            problems.append(f"{where}: [{section:.60}] {reason}")
        elif not isinstance(table, Mapping):
            problems.append(f"{where}: {section} must be a table: write [{section}]")
        else:
            given += [
                (f"{where}: {section}.{name:.60}", f"{section}.{name}", value)
                for name, value in table.items()
            ]
    given_sections = [name for name in tables if name in sections]
    return _check(given, where, given_sections, check_setting, problems)


def _check(
    given: Iterable[tuple[str, str, Any]],
    where: str,
    sections: Iterable[str],
    read: Callable[[Any, object], Setting],
    problems: list[str],
) -> Settings:
    """Return settings in their types.

    Args:
        given: The words for a setting in a message, its name as ``section.name``, and its value.
        where: Where they come from.
        sections: The names of the sections that may have them.
        read: Returns a value in the type of its setting.
        problems: Receives a line for each mistake.
    """
    found: Settings = {}
    known = setting_types(sections)
    for shown, spelled, value in given:
        if len(problems) == MAX_PROBLEMS:
            break
        key = spelled.replace("-", "_")
        if key not in known:
            near = suggest(key[:60], known)
            near = near.replace("_", "-") if shown.startswith("--") else near
            problems.append(f"{shown} is not a setting{near}")
            continue
        try:
            found[key] = where, read(value, known[key])
        except ValueError as error:
            problems.append(f"{shown} {error}")
    return found


def from_dict(values: Mapping[str, object], where: str) -> Config:
    """Return the `Config` stored in the ``config.json`` of a run or model.

    Raises:
        HeadwayError: If a value is wrong, or above the limit for files.
    """
    problems: list[str] = []
    changes = Changes(_check_tables(values, where, SECTIONS, problems))
    raise_all(problems)
    try:
        config = changes.apply(Config())
    except UsageError as error:
        raise HeadwayError(str(error)) from None
    check_file_bounds(config, where)
    return config


def check_file_bounds(config: Config, where: str, kind: type[HeadwayError] = HeadwayError) -> None:
    """Check that a model's file may have these settings.

    Raises:
        HeadwayError: Of this kind, if a value is above the limit for files; its lines begin with ``where``.
    """
    problems = list_wrong_values(config.search, is_for_files=True)
    raise_all([f"{where}: search.{problem}" for problem in problems], kind)


def _locate(line: str, section: str, changes: Settings) -> str:
    """Put the origin of a value before a message such as ``beam = 0 must be more than 0``."""
    name, _, rest = line.partition(" = ")
    # A message without the name of a changed setting is about several.
    where, _ = changes.get(name) or [*changes.values()][-1]
    if where == COMMAND_LINE and name in changes:
        return f"--{section}.{name.replace('_', '-')} {rest}"
    return f"{where}: {section}.{line}"


def read_toml(path: str | Path) -> dict[str, object]:
    """Read a TOML file.

    Raises:
        HeadwayError: If it is not UTF-8 or not TOML, with the line.
    """
    try:
        return tomllib.loads(Path(path).read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise HeadwayError(f"{path}: not UTF-8 at byte {error.start}") from None
    except (ValueError, RecursionError) as error:
        # Also a number of too many digits, or too many brackets.
        raise HeadwayError(f"{path}: not TOML: {error}") from None
