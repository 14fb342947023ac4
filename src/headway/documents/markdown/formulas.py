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
    \$\$ (?!{_NAME}) (?:[^$\\]|\\.|\$(?!\$))++ \$\$
    | (?<!%\d)(?<!%\d\d) \$ (?![\s$]|{_NO_FORMULA}) (?:[^$\\]|\\.)++ (?<!\s)(?<!%\d)(?<!%\d\d) \$ (?!\d|{_NAME})
    """,
    re.DOTALL | re.VERBOSE,
)
_TEMPLATE = re.compile(r"\{[#.:%{][^{}\n]*\}+|\{ *(?:[.#]|\w+=)[^{}\n]*\}")  # and attributes
_BLOCK_END = re.compile(r"\$\$[ \t]*(?:\([^()]*\)|\{[^{}]*\})?[ \t]*\Z")  # a label can follow


def read_formula(state: StateInline, silent: bool) -> bool:
    """Read a formula between ``$`` or ``$$``."""
    return _read_kept(state, silent, "formula", _FORMULA)


def read_template(state: StateInline, silent: bool) -> bool:
    """Read a template such as ``{{ page.title }}``, or attributes such as ``{ .class }``."""
    return _read_kept(state, silent, "template", _TEMPLATE)


def _read_kept(state: StateInline, silent: bool, kind: str, pattern: re.Pattern[str]) -> bool:
    found = pattern.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        state.push(kind, "", 0)
    state.pos = found.end()
    return True


def read_formula_block(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Read the lines of a formula, from one that begins with ``$$`` to one that ends with ``$$``.

    There are empty lines in a formula only if ``$$`` stands alone in its first line.
    """
    start, end = state.bMarks[first] + state.tShift[first], state.eMarks[first]
    if state.is_code_block(first) or not state.src.startswith("$$", start, end):
        return False
    if state.src.find("$$", start + 2, end) >= 0:
        return False
    is_alone = not state.src[start + 2 : end].strip()
    for line in range(first + 1, last):
        if state.isEmpty(line):
            if not is_alone:
                return False
        elif state.sCount[line] < state.blkIndent:  # behind the list item
            return False
        at = state.src.find("$$", state.bMarks[line], state.eMarks[line])
        if at >= 0:
            is_end = _BLOCK_END.match(state.src, at, state.eMarks[line]) is not None
            if is_end and not silent:
                state.line = line + 1
            return is_end
    return False
