"""Settings as a TOML file, each with its meaning."""

import json
from collections.abc import Mapping
from typing import Any, get_type_hints

from headway.config.declaration import Setting, list_choices, meanings_of, spell


def to_toml(sections: Mapping[str, Any]) -> str:
    """Return sections, by their names, as a commented TOML file that `load` reads back to the same settings."""
    lines: list[str] = []
    for section, own in sections.items():
        kind = type(own)
        lines += [f"[{section}]  # {(kind.__doc__ or '').splitlines()[0]}"]
        hints = get_type_hints(kind)
        for name, meaning in meanings_of(kind).items():
            choices = f" ({', '.join(values)})" if (values := list_choices(hints[name])) else ""
            setting = f"{name} = {_format(getattr(own, name))}"
            lines.append(f"{setting:<34} # {meaning}{choices}")
        lines.append("")
    return "\n".join(lines)


def _format(value: Setting) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else spell(value)
