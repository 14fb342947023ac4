"""The loader of all settings: it accepts no unknown name and reports all mistakes at once."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from headway.config.bounds import raise_all
from headway.config.presets import PRESETS
from headway.config.sections import RUN_SECTIONS, SECTIONS, Config
from headway.errors import HeadwayError, suggest


def load(
    preset: str = "base",
    files: Sequence[str | Path] = (),
    overrides: Mapping[str, str] | None = None,
    *,
    shape: Config | None = None,
    sections: Sequence[str] = RUN_SECTIONS,
    variables: Mapping[str, tuple[str, str]] | None = None,
) -> Config:
    """Resolve a preset, TOML files, the environment and the command line, later ones winning.

    Args:
        preset: A name in `PRESETS`.
        files: TOML files; their tables are ``sections``.
        overrides: ``{"model.d-model": "256"}``; dashes and underscores are the same.
        shape: Settings whose sections text and model replace those of the preset.
        sections: The tables that the files may have.
        variables: Settings from the environment: ``{"server.char_limit": (variable, text)}``.

    Raises:
        HeadwayError: With one line for each mistake, naming its file or option and what is right.
    """
    if preset not in PRESETS:
        raise HeadwayError(
            f"--preset {preset}: not a preset{suggest(preset, PRESETS)};"
            f" there are {', '.join(PRESETS)}"
        )
    config = PRESETS[preset]
    if shape is not None:
        config = replace(config, text=shape.text, model=shape.model)
    problems: list[str] = []
    for path in files:
        try:
            config = merge_tables(config, read_toml(path), str(path), sections)
        except HeadwayError as error:
            problems += str(error).splitlines()
    texts = [(variable, key, text) for key, (variable, text) in (variables or {}).items()]
    command_line = [(f"--{option}", option, text) for option, text in (overrides or {}).items()]
    for given, where in ((texts, "environment"), (command_line, "command line")):
        try:
            config = _merge_texts(config, given, where)
        except HeadwayError as error:
            problems += str(error).splitlines()
    raise_all(problems)
    return config


def read_toml(path: str | Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        HeadwayError: If it is not UTF-8 or not TOML, with the line.
    """
    try:
        return tomllib.loads(Path(path).read_bytes().decode("utf-8"))
    except UnicodeDecodeError as error:
        raise HeadwayError(f"{path}: not UTF-8 at byte {error.start}") from None
    except tomllib.TOMLDecodeError as error:
        raise HeadwayError(f"{path}: not TOML: {error}") from None


def merge_tables(
    config: Config,
    values: Mapping[str, Any],
    where: str,
    sections: Sequence[str] = RUN_SECTIONS,
) -> Config:
    """Return ``config`` with the nested ``values`` set; ``where`` is their origin, for messages."""
    problems: list[str] = []
    changed: dict[str, Any] = {}
    for section, table in values.items():
        if section not in sections:
            problems.append(
                f"{where}: [{section}] is not a section here{suggest(section, sections)};"
                f" there is {', '.join(f'[{known}]' for known in sections)}"
            )
        elif not isinstance(table, Mapping):
            problems.append(f"{where}: {section} must be a table: write [{section}]")
        else:
            changes = {}
            hints = get_type_hints(SECTIONS[section])
            for name, value in table.items():
                key = name.replace("-", "_")
                if key not in hints:
                    problems.append(
                        f"{where}: {section}.{name} is not a setting{suggest(key, hints)}"
                    )
                    continue
                wrong = _mismatch(value, hints[key])
                if wrong:
                    problems.append(f"{where}: {section}.{key} {wrong}")
                else:
                    changes[key] = float(value) if hints[key] is float else value
            changed[section] = changes
    raise_all(problems)
    return _rebuild(config, changed, where)


def merge_overrides(config: Config, overrides: Mapping[str, str]) -> Config:
    """Return ``config`` with ``{"section.name": "text"}`` set, as written on a command line."""
    texts = [(f"--{option}", option, text) for option, text in overrides.items()]
    return _merge_texts(config, texts, "command line")


def _merge_texts(config: Config, texts: Iterable[tuple[str, str, str]], where: str) -> Config:
    """Set settings from (name in errors, ``section.name``, text)."""
    problems: list[str] = []
    sections: dict[str, dict[str, Any]] = {}
    known = setting_types(SECTIONS)
    for shown, option, text in texts:
        key = option.replace("-", "_")
        if key not in known:
            close = suggest(key, known).replace("_", "-").replace("'", "--", 1).replace("'", "")
            problems.append(f"{shown} is not a setting{close}")
            continue
        try:
            section, name = key.split(".")
            sections.setdefault(section, {})[name] = parse_setting(text, known[key])
        except ValueError as error:
            problems.append(f"{shown} {error}")
    raise_all(problems)
    return _rebuild(config, sections, where)


def setting_types(sections: Iterable[str]) -> dict[str, Any]:
    """Return the type of each setting, by its name as ``section.name``."""
    return {
        f"{s}.{f.name}": get_type_hints(SECTIONS[s])[f.name]
        for s in sections
        if s in SECTIONS
        for f in fields(SECTIONS[s])
    }


def from_dict(values: Mapping[str, Any], where: str) -> Config:
    """Return the `Config` stored in a run's ``config.json``."""
    return merge_tables(Config(), values, where)


def parse_setting(text: str, hint: Any) -> Any:
    """Turn an option's text into the type of its setting.

    Raises:
        ValueError: Saying what was expected.
    """
    if hint is bool:
        words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if text.lower() not in words:
            raise ValueError(f"must be true or false, not '{text}'")
        return words[text.lower()]
    if hint in (int, float):
        try:
            return hint(text)
        except ValueError:
            raise ValueError(f"must be {_name(hint)}, not '{text}'") from None
    wrong = _mismatch(text, hint)
    if wrong:
        raise ValueError(wrong)
    return text


def to_toml(config: Config, sections: Iterable[str] = RUN_SECTIONS) -> str:
    """Return the settings as a commented TOML file that `load` reads back to the same config."""
    lines: list[str] = []
    for section in sections:
        values, kind = getattr(config, section), SECTIONS[section]
        lines += [f"[{section}]  # {kind.__doc__.splitlines()[0]}"]
        hints = get_type_hints(kind, include_extras=True)
        for f in fields(kind):
            hint, doc = get_args(hints[f.name])[:2]
            choices = f" ({', '.join(get_args(hint))})" if get_origin(hint) is Literal else ""
            setting = f"{f.name} = {_toml(getattr(values, f.name))}"
            lines.append(f"{setting:<34} # {doc}{choices}")
        lines.append("")
    return "\n".join(lines)


def _rebuild(config: Config, sections: Mapping[str, Mapping[str, Any]], where: str) -> Config:
    """Replace settings of sections; messages begin with ``where``, the origin of the values."""
    problems: list[str] = []
    rebuilt: dict[str, Any] = {}
    for section, changes in sections.items():
        try:
            rebuilt[section] = replace(getattr(config, section), **changes)
        except HeadwayError as error:
            problems += [f"{where}: {section}.{line}" for line in str(error).splitlines()]
    raise_all(problems)
    return replace(config, **rebuilt)


def _mismatch(value: Any, hint: Any) -> str:
    """Return what is wrong with the type of a value, or an empty string."""
    if get_origin(hint) is Literal:
        choices = get_args(hint)
        if value in choices:
            return ""
        return f"must be one of {', '.join(choices)}, not {value!r}{suggest(str(value), choices)}"
    allowed = (int, float) if hint is float else hint
    if isinstance(value, allowed) and (hint is bool or not isinstance(value, bool)):
        return ""
    return f"must be {_name(hint)}, not {value!r}"


def _name(hint: type) -> str:
    return {int: "a whole number", float: "a number", bool: "true or false", str: "text"}[hint]


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else repr(value)
