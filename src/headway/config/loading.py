"""The loader of all settings, from TOML files, the environment and options: it accepts no unknown name and reports all mistakes at once."""

import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_type_hints

from headway.config.sections import PRESETS, SECTIONS, Config, find_section, setting_types
from headway.config.setting import (
    Setting,
    check_setting,
    list_broken_bounds,
    parse_setting,
    raise_all,
)
from headway.config.text import TextConfig
from headway.errors import HeadwayError, suggest
from headway.extension import find_switched_off, require

COMMAND_LINE = "command line"
NOTHING: Mapping[str, Any] = MappingProxyType({})
MAX_PROBLEMS = 20  # lines of a message; looking for the name that was meant takes time
# Settings that change, section -> name -> value.
Changes = dict[str, dict[str, Setting]]
Origin = tuple[Changes, str]  # and where they come from, with which messages begin


def load(
    preset: str | Config = "base",
    files: Sequence[str | Path] = (),
    overrides: Mapping[str, str] = NOTHING,
    *,
    shape: Config | None = None,
    text: TextConfig | None = None,
) -> Config:
    """Resolve a preset, TOML files and the command line, later ones winning.

    Args:
        preset: A name in `PRESETS`, or the settings to begin with.
        files: TOML files; their tables are those of a run.
        overrides: ``{"model.d-model": "256"}``; dashes and underscores are the same.
        shape: Settings whose sections text and model replace those of the preset.
        text: The settings of text that is prepared already: no preset and no file changes them.

    Raises:
        HeadwayError: With one line for each mistake, naming its file or option and what is right.
    """
    if isinstance(preset, str):
        check_preset(preset)
        preset = PRESETS[preset]
    config = preset
    if shape is not None:
        config = replace(config, text=shape.text, model=shape.model)
    if text is not None:
        config = replace(config, text=text)
    fixed = () if text is None else ("text",)
    return Config(**_resolve(config.sections(), files, overrides, fixed=fixed))


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
    return _resolve({name: kind()}, files, overrides, variables)[name]


def _resolve(
    sections: Mapping[str, Any],
    files: Sequence[str | Path],
    overrides: Mapping[str, str],
    variables: Mapping[str, tuple[str, str]] = NOTHING,
    *,
    fixed: Collection[str] = (),
) -> dict[str, Any]:
    """Return sections with the changes of files, the environment and the command line; files do not change those in ``fixed``."""
    problems: list[str] = []
    origins: list[Origin] = []
    for path in files:
        try:
            origins.append((_check_tables(read_toml(path), str(path), sections), str(path)))
        except HeadwayError as error:
            problems += str(error).splitlines()
    for changes, _ in origins:
        for section in fixed:
            changes.pop(section, None)
    texts = [(variable, key, text) for key, (variable, text) in variables.items()]
    for given, where in ((texts, "environment"), (_named(overrides), COMMAND_LINE)):
        try:
            origins.append((_parse_texts(given, sections), where))
        except HeadwayError as error:
            problems += str(error).splitlines()
    raise_all(problems)
    return _rebuild(sections, origins)


def check_preset(preset: str) -> None:
    """Check that a preset has this name.

    Raises:
        HeadwayError: If not.
    """
    if preset not in PRESETS:
        raise HeadwayError(
            f"--preset {preset}: not a preset{suggest(preset, PRESETS)};"
            f" there are {', '.join(PRESETS)}"
        )


def check_overrides(overrides: Mapping[str, str]) -> None:
    """Check the names and types of settings from a command line, but not how they fit together.

    Raises:
        HeadwayError: With one line for each mistake.
    """
    named = {name.partition(".")[0]: None for name in overrides}
    _parse_texts(_named(overrides), {**SECTIONS, **named})


def merge_overrides(config: Config, overrides: Mapping[str, str]) -> Config:
    """Return ``config`` with ``{"section.name": "text"}`` set, as written on a command line."""
    return Config(
        **_rebuild(config.sections(), [(_parse_texts(_named(overrides), SECTIONS), COMMAND_LINE)])
    )


def merge_tables(
    config: Config,
    values: Mapping[str, object],
    where: str,
    *,
    fixed: Sequence[str] = (),
) -> Config:
    """Return settings with nested values set.

    Args:
        config: The settings.
        values: Section -> name -> value.
        where: Their origin, for messages.
        fixed: Sections whose values are checked and not set.
    """
    changes = _check_tables(values, where, SECTIONS)
    for section in fixed:
        changes.pop(section, None)
    return Config(**_rebuild(config.sections(), [(changes, where)]))


def _check_tables(values: Mapping[str, object], where: str, sections: Collection[str]) -> Changes:
    """Check the names and types of nested settings, but not how they fit together."""
    problems: list[str] = []
    changes: Changes = {}
    for section, table in values.items():
        if len(problems) == MAX_PROBLEMS:
            break
        if section not in sections:
            problems.append(
                f"{where}: [{section:.60}] "
                + (find_switched_off("sections", section) or _not_here(section, sections))
            )
        elif not isinstance(table, Mapping):
            problems.append(f"{where}: {section} must be a table: write [{section}]")
        else:
            changes[section] = {}
            hints = get_type_hints(find_section(section))
            for name, value in table.items():
                if len(problems) == MAX_PROBLEMS:
                    break
                key = name.replace("-", "_")
                if key not in hints:
                    problems.append(
                        f"{where}: {section}.{name:.60} is not a setting{suggest(key[:60], hints)}"
                    )
                    continue
                if key in changes[section]:
                    problems.append(f"{where}: {section}.{name:.60} is given twice")
                    continue
                try:
                    changes[section][key] = check_setting(value, hints[key])
                except ValueError as error:
                    problems.append(f"{where}: {section}.{key} {error}")
    raise_all(problems)
    return changes


def _not_here(section: str, sections: Collection[str]) -> str:
    known = ", ".join(f"[{name}]" for name in sections)
    return f"is not a section here{suggest(section[:60], sections)}; there is {known}"


def from_dict(values: Mapping[str, object], where: str) -> Config:
    """Return the `Config` stored in the ``config.json`` of a run or model.

    Raises:
        HeadwayError: If a value is wrong, or above the limit for files.
    """
    config = merge_tables(Config(), values, where)
    check_file_bounds(config, where)
    return config


def check_file_bounds(config: Config, where: str) -> None:
    """Check that a model's file may have these settings.

    Raises:
        HeadwayError: If a value is above the limit for files; its lines begin with ``where``.
    """
    problems = list_broken_bounds(config.search, is_for_files=True)
    raise_all([f"{where}: search.{problem}" for problem in problems])


def _named(overrides: Mapping[str, str]) -> list[tuple[str, str, str]]:
    return [(f"--{option}", option, text) for option, text in overrides.items()]


def _parse_texts(texts: Iterable[tuple[str, str, str]], sections: Iterable[str]) -> Changes:
    """Parse settings of some sections: (name in errors, ``section.name``, text)."""
    problems: list[str] = []
    changes: Changes = {}
    known = setting_types(sections)
    for shown, option, text in texts:
        key = option.replace("-", "_")
        if key not in known:
            close = suggest(key, known).replace("_", "-").replace("'", "--", 1).replace("'", "")
            problems.append(f"{shown} is not a setting{close}")
            continue
        try:
            section, name = key.split(".")
            changes.setdefault(section, {})[name] = parse_setting(text, known[key])
        except ValueError as error:
            problems.append(f"{shown} {error}")
    raise_all(problems)
    return changes


def _rebuild(sections: Mapping[str, Any], origins: Sequence[Origin]) -> dict[str, Any]:
    """Replace settings of sections, later ones winning; only what results must fit together.

    Args:
        sections: The sections by name.
        origins: Changes, each with its origin, with which messages begin.
    """
    problems: list[str] = []
    rebuilt = dict(sections)
    for section in dict.fromkeys(section for changes, _ in origins for section in changes):
        values: dict[str, Setting] = {}
        places: dict[str, str] = {}
        for changes, where in origins:
            for name, value in changes.get(section, {}).items():
                values[name], places[name] = value, where
        try:
            rebuilt[section] = replace(sections[section], **values)
        except HeadwayError as error:
            problems += [_locate(line, section, places) for line in str(error).splitlines()]
    raise_all(problems)
    return rebuilt


def _locate(line: str, section: str, places: Mapping[str, str]) -> str:
    """Put the origin of a value before a message such as ``beam = 0 must be more than 0``."""
    name, _, rest = line.partition(" = ")
    # A message without the name of a changed setting is about several.
    where = places.get(name) or [*places.values()][-1]
    if where == COMMAND_LINE and name in places:
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
