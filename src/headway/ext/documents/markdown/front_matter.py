"""What stands before the text of a Markdown file for a program of documentation; its titles are text."""

import json
import re
from collections.abc import Iterator

from headway.ext.documents.edited_file import TextEntry
from headway.text import is_translatable

# YAML, TOML or JSON. A line --- with an empty one behind it is a rule, unless a key of YAML follows.
FRONT_MATTER = re.compile(
    r"""
    \A (?: ---[ \t]*\r?\n (?=[ \t]*\S|\s*[\w-]+:) .*? ^(?:---|\.\.\.)
      | \+\+\+[ \t]*\r?\n .*? ^\+\+\+
      | \{[ \t]*\r?\n \s*"[^"\n]*"[ \t]*: .*? ^\}
    ) [ \t]*(?:\r?\n|\Z)
    """,
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
# Of a program that a reader sees; a value in several lines, or with a template, stays.
_TITLE = re.compile(
    r"""
    ^(?:[ \t]*")? (?:title|subtitle|description|summary|abstract|excerpt|linkTitle|sidebar_label) "?[ \t]*+ [:=] [ \t]*+
    (?P<value> "(?:[^"\\\n]|\\.)*+" | '(?:[^'\n]|\'\')*+' | [^\s"'\[\]{}|>&*!%@`#,:-][^\r\n]*?(?<![ \t]) )
    [ \t]*+ (?:,[ \t]*+|(?<=[ ])\#[^\r\n]*)? (?:\r?$|\Z)
    """,
    re.MULTILINE | re.VERBOSE,
)
# Of YAML without quotes: what would end it, or would be no text.
_NO_PLAIN = re.compile(
    r":(?:\s|\Z)|\s#|\A[\s\"'\[\]{}|>&*!%@`#,?:-]|\s\Z|\A(?:true|false|yes|no|on|off|null|~|[-+.\d][\d.:eE_+-]*)\Z",
    re.IGNORECASE,
)
_TEMPLATE = re.compile(r"\{[{%]")


class _FrontTitle(TextEntry):
    """A title in front matter."""

    def write(self, text: str) -> str:
        """Return a title as YAML, TOML and JSON read it."""
        is_plain = self.end - self.start == len(self.text)
        if is_plain and not _NO_PLAIN.search(text):
            return text
        return json.dumps(text, ensure_ascii=False)


def find_titles(text: str, end: int) -> Iterator[_FrontTitle]:
    """Yield the titles and descriptions in front matter.

    Args:
        text: The file.
        end: Where its front matter ends.
    """
    for found in _TITLE.finditer(text, 0, end):
        value = found["value"]
        if value[0] == '"':
            try:
                value = json.loads(value)
            except ValueError:  # an escape of YAML or TOML
                continue
        elif value[0] == "'":
            value = value[1:-1].replace("''", "'")
        elif _NO_PLAIN.search(value):
            continue
        if is_translatable(value) and not _TEMPLATE.search(value):
            yield _FrontTitle(*found.span("value"), value)
