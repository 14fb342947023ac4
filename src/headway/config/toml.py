"""Settings as TOML: read any file, and write the settings with their meanings."""

import json
import tomllib
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import get_args, get_type_hints

from headway.config.sections import RUN_SECTIONS, SECTIONS, Config
from headway.config.setting import Setting, list_choices, spell
from headway.errors import HeadwayError


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


def to_toml(config: Config, sections: Iterable[str] = RUN_SECTIONS) -> str:
    """Return the settings as a commented TOML file that `load` reads back to the same config."""
    lines: list[str] = []
    for section in sections:
        own, kind = getattr(config, section), SECTIONS[section]
        lines += [f"[{section}]  # {(kind.__doc__ or '').splitlines()[0]}"]
        hints = get_type_hints(kind, include_extras=True)
        for f in fields(kind):
            hint, doc = get_args(hints[f.name])[:2]
            choices = f" ({', '.join(values)})" if (values := list_choices(hint)) else ""
            setting = f"{f.name} = {_format(getattr(own, f.name))}"
            lines.append(f"{setting:<34} # {doc}{choices}")
        lines.append("")
    return "\n".join(lines)


def _format(value: Setting) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else spell(value)
