"""The table ``patterns.tsv``: regular expressions of what a translation must keep, and of the formats of messages."""

import re
from importlib.resources import files
from typing import NamedTuple

from headway.text import UNSEEN

_DEFINED = re.compile(r"\{([A-Z][A-Z0-9_]*)\}")


class Pattern(NamedTuple):
    """A row of the table.

    Attributes:
        kind: How what it matches stands in a sentence, see `headway.ext.protect.protected_text`; or "format".
        name: What it matches; of a format, the flags of gettext, with spaces between them.
        expression: The regular expression; the group ``index`` of a format takes part if a directive names its value, or
            takes none.
        escaped: Of a format, the character that is written twice where it means itself; "": there is none.
        numbered: "numbered" if a directive of a format may have the number of its value, as in ``%2$s``.
    """

    kind: str
    name: str
    expression: str
    escaped: str = ""
    numbered: str = ""


def _read_table() -> tuple[dict[str, str], list[Pattern]]:
    """Return the definitions by their names, and the patterns in the order of the table."""
    definitions, patterns = {"UNSEEN": f"[{UNSEEN}]"}, list[Pattern]()
    for line in (files(__package__) / "patterns.tsv").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            kind, name, raw, *others = line.split("\t")
            expression = _DEFINED.sub(lambda found: definitions[found[1]], raw)
            if kind == "define":
                definitions[name] = expression
            else:
                patterns.append(Pattern(kind, name, expression, *others))
    return definitions, patterns


DEFINITIONS, PATTERNS = _read_table()
BREAKS = frozenset(DEFINITIONS["BREAKS"].split("|"))  # names of tags at which a text ends
BREAK_TAG = DEFINITIONS["BREAK_TAG"]
