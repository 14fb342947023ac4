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
# Programs that write Markdown put a backslash before brackets of text: \[see the notes\]. That is no formula.
_WORDS = r"(?:[^=^_{}\\]|\\[^a-zA-Z()\[\]])"
_TEXT = rf"(?>{_WORDS}*?(?:[^\W\d_]{{3}}|[\u3040-\u9fff\uac00-\ud7af])){_WORDS}*+"
# As in Pandoc: no space stands behind the first $ or before the last one, and no digit behind that. The next $
# decides, so that no text is read twice: $HOME and $PATH are two words. The $ in %1$s begins and ends nothing.
_FORMULA = re.compile(
    rf"""
    \\\( (?!{_TEXT}\\\)) (?:[^\\]|\\[^()])++ \\\)
    | \$\$ (?!{_NAME}) (?:[^$\\]|\\.|\$(?!\$))++ \$\$
    | (?<!%\d)(?<!%\d\d) \$ (?![\s$]|{_NO_FORMULA}) (?:[^$\\]|\\.)++ (?<!\s)(?<!%\d)(?<!%\d\d) \$ (?!\d|{_NAME})
    """,
    re.DOTALL | re.VERBOSE,
)
_TEMPLATE = re.compile(r"\{[#.:%{][^{}\n]*\}+|\{ *(?:[.#]|\w+=)[^{}\n]*\}")  # and attributes
_TEXT_IN_BRACKETS = re.compile(_TEXT)
_BLOCK_START = re.compile(r"\$\$|\\\[|\\begin\{(\w+\*?)\}")
_ENDS = {"$$": "$$", r"\[": r"\]"}
_BLOCK_END = re.compile(r"[ \t]*(?:\([^()]*\)|\{[^{}]*\})?[ \t]*\Z")  # a label can follow
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
    if found is None:
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
            is_text = found[0] == r"\[" and _TEXT_IN_BRACKETS.fullmatch(state.src, start, at)
            is_end = not is_text and bool(_BLOCK_END.match(state.src, behind, state.eMarks[line]))
            if is_end and not silent:
                state.line = line + 1
            return is_end
    return False
