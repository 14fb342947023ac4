"""Blocks that begin and end with a line for a program of documentation: directives of MyST, and code and comments of Jekyll and Hugo."""

import re

from markdown_it.rules_block import StateBlock

_LONGEST_LINE = 1000  # characters
_DIRECTIVE = re.compile(r"(:{3,}|`{3,}|~{3,})[ ]*\{([\w:-]+)\}(?:[ ]++([^`]*))?\Z")
_RULE = r"---[ \t]*\Z"
_OPTION = re.compile(r":([\w-]++):(?:[ ]++(.*))?\Z")
_SEEN_OPTIONS = frozenset({"alt", "caption", "footer", "header", "title"})
# Directives with text in them. Of others between colons, too, the body is text unless it is known to be none; between
# backticks it is code, as in ```{python}.
_TEXTS = frozenset({
    "admonition", "aside", "attention", "card", "caution", "danger", "deprecated", "dropdown", "epigraph", "error", "figure",
    "figure-md", "glossary", "grid", "grid-item", "grid-item-card", "hint", "important", "list-table", "margin", "note",
    "rubric", "seealso", "sidebar", "tab-item", "tab-set", "table", "tip", "topic", "versionadded", "versionchanged",
    "warning",
})  # fmt: skip
_NO_TEXTS = frozenset({
    "bibliography", "code", "code-block", "code-cell", "csv-table", "eval-rst", "graphviz", "image", "include", "index",
    "literalinclude", "math", "mermaid", "plantuml", "raw", "sourcecode", "toctree",
})  # fmt: skip
_WITH_ADDRESS = ("figure", "figure-md")
_OPENING = re.compile(r"\{%-?[ ]*(highlight|comment)\b[^{}]*%\}[ ]*\Z|\{\{[<%][ ]*(highlight)\b[^{}]*[>%]\}\}[ ]*\Z")  # fmt: skip


def read_directive(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Read a directive of MyST: its title and the options that a reader sees, and its body if that is text."""
    found = _match(_DIRECTIVE, state, first)
    if silent or not found:
        return bool(found)
    fence, name, title = found.groups()
    is_text = name in _TEXTS or (fence[0] == ":" and name not in _NO_TEXTS)
    if is_text and name not in _WITH_ADDRESS:
        push_text(state, first, title and title.rstrip(" "))
    ending = rf"{fence[0]}{{{len(fence)},}}[ \t]*\Z"
    start = _read_options(state, first + 1, last, ending)
    if is_text and fence[0] == ":":
        state.line = start  # the line of colons that ends it stays by itself
        return True
    end, behind = _find_end(state, start, last, re.compile(ending))
    if is_text:
        outside = state.lineMax
        state.lineMax, state.level = end, state.level + 1
        state.md.block.tokenize(state, start, end)
        state.lineMax, state.level = outside, state.level - 1
    state.line = behind
    return True


def read_kept_lines(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Read code or a comment of Jekyll or Hugo, from ``{% highlight ruby %}`` to ``{% endhighlight %}``."""
    found = _match(_OPENING, state, first)
    if silent or not found:
        return bool(found)
    liquid, hugo = found.groups()
    ending = rf".*\{{%-?[ ]*end{liquid}\b" if liquid else rf".*\{{\{{[<%][ ]*/[ ]*{hugo}\b"
    _, state.line = _find_end(state, first + 1, last, re.compile(ending))
    return True


def push_text(state: StateBlock, line: int, text: str | None) -> None:
    """Add a text that is a part of a line, if there is one."""
    if text:
        token = state.push("inline", "", 0)
        token.content, token.map, token.children = text, [line, line + 1], []


def _read_options(state: StateBlock, first: int, last: int, ending: str) -> int:
    """Read the options of a directive, ``:key: value`` or YAML between ``---``, and return the line behind them."""
    if first < last and _is_rule(state, first):
        end, behind = _find_end(state, first + 1, last, re.compile(rf"{_RULE}|{ending}"))
        return behind if end < behind and _is_rule(state, end) else first
    while first < last and (found := _OPTION.match(_get_line(state, first))):
        if found[1] in _SEEN_OPTIONS:
            push_text(state, first, found[2])
        first += 1
    return first


def _is_rule(state: StateBlock, line: int) -> bool:
    return re.match(_RULE, _get_line(state, line)) is not None


def _match(pattern: re.Pattern[str], state: StateBlock, line: int) -> re.Match[str] | None:
    """Return what a pattern finds in a line that is no code and not very long."""
    text = _get_line(state, line)
    return None if state.is_code_block(line) or len(text) > _LONGEST_LINE else pattern.match(text)


def _find_end(state: StateBlock, first: int, last: int, ending: re.Pattern[str]) -> tuple[int, int]:
    """Return the line with which a block ends, and the one behind it; without it, the block ends with what is around it."""
    for number in range(first, last):
        if state.sCount[number] < state.blkIndent and not state.isEmpty(number):
            return number, number
        if not state.is_code_block(number) and ending.match(_get_line(state, number)):
            return number, number + 1
    return last, last


def _get_line(state: StateBlock, number: int) -> str:
    """Return a line without its indentation."""
    return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]]
