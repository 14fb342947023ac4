"""Formulas and templates in Markdown, which stay as they are: rules for the parser.

They are read before emphasis and links, because ``*`` and ``_`` mean something else in them.
"""

import re

from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

_NAME = r"\{\w[^{}\\^\n]*\}"  # of a placeholder such as ${name}
_NO_FORMULA = rf"""
    {_NAME}
    | \d[\d.,]*+\s++[^\W\d_]{{2}} | \d[^$\\]*\s[^\W\d_]{{3,}}[\s,;]  # prices: $5 and 7$
    | [A-Za-z]{{2}}[^$\\]*+\$[A-Za-z_]  # variables: $HOME/bin:$PATH
"""
# As in Pandoc: no space stands behind the first $ or before the last one, and no digit behind that. The next $
# decides, so that no text is read twice: $HOME and $PATH are two words. The $ in %1$s begins and ends nothing.
_FORMULA = re.compile(
    rf"""
    \\\( ((?:[^\\`]|\\[^()])++) \\\)
    | \$\$ (?!{_NAME}) (?:[^$\\]|\\.|\$(?!\$))++ \$\$
    | (?<!%\d)(?<!%\d\d) \$ (?![\s$]|{_NO_FORMULA}) (?:[^$\\]|\\.)++ (?<!\s)(?<!%\d)(?<!%\d\d) \$ (?!\d|{_NAME})
    """,
    re.DOTALL | re.VERBOSE,
)
_TEMPLATE = re.compile(r"\{[#.:%{][^{}\n]*\}+|\{ *(?:[.#]|\w+=)[^{}\n]*\}")  # and attributes
_COMMAND = re.compile(r"\\[a-zA-Z]+|\{[^{}]*\}")
_WORDS = re.compile(r"[^\W\d_]{3}[\s,;:]++[^\W\d_]{3}")
_WORD = re.compile(r"[^\W\d_]{3}|[\u3040-\u9fff\uac00-\ud7af]")
_BLOCK_START = re.compile(r"\$\$|\\\[|\\begin\{(\w+\*?)\}")
_ENDS = {"$$": "$$", r"\[": r"\]"}
# A label can follow; behind a bracket with a backslash, it is a number.
_DOLLARS_END = re.compile(r"[ \t]*+(?:\([^()]*\)|\{[^{}]*\})?[ \t]*+\Z")
_BRACKET_END = re.compile(r"[ \t]*+(?:\(\d[^()\s]*\)|\{[^{}]*\})?[ \t]*+\Z")
# Of a block that begins with a backslash, because its end is looked for from every such beginning.
_MOST_LINES = 100


def read_formula(state: StateInline, silent: bool) -> bool:
    """Read a formula between ``$``, ``$$``, or ``\\(`` and ``\\)``."""
    return _read_kept(state, silent, "formula", _FORMULA)


def read_template(state: StateInline, silent: bool) -> bool:
    """Read a template such as ``{{ page.title }}``, or attributes such as ``{ .class }``."""
    return _read_kept(state, silent, "template", _TEMPLATE)


def _read_kept(state: StateInline, silent: bool, kind: str, pattern: re.Pattern[str]) -> bool:
    found = pattern.match(state.src, state.pos, state.posMax)
    if found is None or (found.lastindex and _is_text(found[1])):
        return False
    if not silent:
        state.push(kind, "", 0)
    state.pos = found.end()
    return True


def read_formula_block(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Read the lines of a formula: from ``$$`` at the start of a line to ``$$`` at the end of one, or between ``\\[`` and
    ``\\]``, or ``\\begin{equation}`` and ``\\end{equation}``.

    There are empty lines in a formula only if its first line has no more than its beginning.
    """
    start, end = state.bMarks[first] + state.tShift[first], state.eMarks[first]
    found = _BLOCK_START.match(state.src, start, end)
    if found is None or state.is_code_block(first):
        return False
    start, is_alone = found.end(), not state.src[found.end() : end].strip()
    ending = _ENDS.get(found[0], f"\\end{{{found[1]}}}")
    if ending != "$$":
        last = min(last, first + _MOST_LINES)
    elif state.src.find(ending, start, end) >= 0:  # a formula in a line of text
        return False
    for line in range(first, last):
        if state.isEmpty(line):
            if not is_alone:
                return False
        elif state.sCount[line] < state.blkIndent:  # behind the list item
            return False
        at = state.src.find(ending, max(start, state.bMarks[line]), state.eMarks[line])
        if at >= 0:
            behind = at + len(ending)
            is_text = found[0] == r"\[" and _is_text(state.src[start:at])
            pattern = _DOLLARS_END if ending == "$$" else _BRACKET_END
            is_end = not is_text and bool(pattern.match(state.src, behind, state.eMarks[line]))
            if is_end and not silent:
                state.line = line + 1
            return is_end
    return False


def _is_text(source: str) -> bool:
    """Return whether brackets hold text, because programs write a backslash before such brackets, too.

    Two words side by side are text, but for those in braces: ``\\[see the notes\\]``. So is one word, if nothing beside
    it looks like a formula.
    """
    plain = _COMMAND.sub(" ", source)
    if _WORDS.search(plain):
        return True
    return bool(_WORD.search(plain)) and plain == source and not set("=^_") & set(plain)
