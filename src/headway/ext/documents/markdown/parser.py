"""The parser of Markdown, which also records where inline markup stands.

markdown-it says in which lines a paragraph is, but not at which characters its marks are. So each rule of inline markup
writes into its tokens where it began and ended.

Lines that mean something to a program of documentation, such as MkDocs, Docusaurus, Jekyll or GitHub, are no part
of a paragraph; at most they have a title, which is text.
"""

import re
from collections.abc import Callable

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote.index import footnote_def

_LONGEST_LINE = 1000  # characters
_MARKS = (*"!?=:[*{;-(",)  # with which lines begin that are no part of a paragraph
_OPENING = re.compile(
    r"(?P<fence>:{3,})\{[\w:-]+\}[^\n]*\Z|\{%-?[ ]*(?P<liquid>highlight|comment)\b[^{}]*%\}[ ]*\Z|\{\{[<%][ ]*highlight\b[^{}]*[>%]\}\}[ ]*\Z"
)


def read_kept_lines(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Read what stays: a directive of MyST between colons (one between backticks is code), and code or a comment of Jekyll or Hugo,
    from ``{% highlight ruby %}`` to ``{% endhighlight %}``.
    """
    found = _match(_OPENING, state, first)
    if silent or not found:
        return bool(found)
    if found["fence"]:
        ending = rf"{found['fence']}:*[ \t]*\Z"
    elif found["liquid"]:
        ending = rf".*\{{%-?[ ]*end{found['liquid']}\b"
    else:
        ending = r".*\{\{[<%][ ]*/[ ]*highlight\b"
    state.line = _find_end(state, first + 1, last, re.compile(ending))
    return True


def _match(pattern: re.Pattern[str], state: StateBlock, line: int) -> re.Match[str] | None:
    """Return what a pattern finds in a line that is no code and not very long, and begins with a mark."""
    start, end = state.bMarks[line] + state.tShift[line], state.eMarks[line]
    if not state.src.startswith(_MARKS, start) or end - start > _LONGEST_LINE:
        return None
    return None if state.is_code_block(line) else pattern.match(state.src[start:end])


def _find_end(state: StateBlock, first: int, last: int, ending: re.Pattern[str]) -> int:
    """Return the line behind the one with which a block ends; without it, the block ends with what is around it."""
    for number in range(first, last):
        if state.sCount[number] < state.blkIndent and not state.isEmpty(number):
            return number
        line = state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]]
        if not state.is_code_block(number) and ending.match(line):
            return number + 1
    return last


_NAME = r"\{\w[^{}\\^\n]*\}"  # of a placeholder such as ${name}
_NO_FORMULA = rf"""
    {_NAME}
    | \d[\d.,]*+\s++[^\W\d_]{{2}} | \d[^$\\]*\s[^\W\d_]{{3,}}[\s,;]  # prices: $5 and 7$
    | [A-Za-z]{{2}}[^$\\]*+\$[A-Za-z_]  # variables: $HOME/bin:$PATH
"""
# As in Pandoc: no space stands behind the first $ or before the last one, and no digit behind that. The next $
# decides, so that no text is read twice: $HOME and $PATH are two words. The $ in %1$s begins and ends nothing.
_KEPT = re.compile(
    rf"""
    \\\( (?:[^\\`]|\\[^()])++ \\\)
    | \$\$ (?!{_NAME}) (?:[^$\\]|\\.|\$(?!\$))++ \$\$
    | (?<!%\d)(?<!%\d\d) \$ (?![\s$]|{_NO_FORMULA}) (?:[^$\\]|\\.)++ (?<!\s)(?<!%\d)(?<!%\d\d) \$ (?!\d|{_NAME})
    | \{{[#.:%{{][^{{}}\n]*\}}+ | \{{[ ]*(?:[.\#]|\w+=)[^{{}}\n]*\}}  # templates and attributes
    """,
    re.DOTALL | re.VERBOSE,
)
_BLOCK_START = re.compile(r"\$\$|\\\[|\\begin\{(\w+\*?)\}")
_ENDS = {"$$": "$$", r"\[": r"\]"}
# A number or a label can follow.
_BLOCK_END = re.compile(r"[ \t]*+(?:\([^()]*\)|\{[^{}]*\})?[ \t]*+\Z")
# Of a block that begins with a backslash, because its end is looked for from every such beginning.
_MOST_LINES = 100


def _read_kept(state: StateInline, silent: bool) -> bool:
    """Read what stays: a formula between ``$``, ``$$``, or ``\\(`` and ``\\)``, a template such as ``{{ page.title }}``, or attributes."""
    found = _KEPT.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        state.push("kept", "", 0)
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
            is_end = bool(_BLOCK_END.match(state.src, behind, state.eMarks[line]))
            if is_end and not silent:
                state.line = line + 1
            return is_end
    return False


Rule = Callable[[StateInline, bool], bool]


def _record(rule: Rule) -> Rule:
    """Return a rule of inline markup that writes into its tokens where they stand.

    A rule for delimiters makes a token for each, behind the text before them.
    """

    def read(state: StateInline, silent: bool) -> bool:
        start, count = state.pos, len(state.tokens)
        if not rule(state, silent):
            return False
        at = state.pos
        for token in reversed(state.tokens[count:]):
            if state.src[start] in "*_~":
                if at > start:
                    token.meta["span"] = at - len(token.content), at
                at -= len(token.content)
            elif token.type != "text" and "span" not in token.meta:
                token.meta["span"] = start, state.pos
                if state.src[start] in "[!":
                    label = start + (1 if state.src[start] == "[" else 2)
                    token.meta["label"] = label, state.md.helpers.parseLinkLabel(state, label - 1)
        return True

    return read


_DEEPEST_BOX = 80  # columns; there is code in deeper ones
_MARKER = re.compile(
    r"""
    (?P<box>!!!|\?\?\?\+?|===[!+]?)(?:[ ]+[\w-]+)*(?:[ ]+"(?P<box_title>[^"\n]*)")?[ ]*\Z  # MkDocs: a box around indented lines
    | :{3,}[ ]*(?:\{.*\}|[\w-]+\[(?P<title_in_brackets>[^\[\]]*)\]|[\w-]*(?:[ ]+(?P<bare_title>[^\s{}][^{}]*?))?)?(?:[ ]*\{.*\})?[ ]*\Z  # other boxes
    | \[![\w-]+\][+-]?(?:[ ]+(?P<note_title>\S.*))?\Z  # GitHub and Obsidian
    | \*\[[^\[\]]+\]:[ ]+(?P<meaning>\S.*)  # an abbreviation
    | (?:\{%.*%\}|\{\{[<%].*[>%]\}\}|\{:?[ ]*[.\#][^{}]*\}|;?-+8<-+.*|\[TOC\]|\[\[_TOC_\]\]|\([\w:.-]+\)=)[ ]*\Z
    """,
    re.VERBOSE,
)
_TITLES = ("box_title", "title_in_brackets", "bare_title", "note_title", "meaning")


def make_parser() -> MarkdownIt:
    """Return a parser whose inline tokens have their place in ``meta``.

    A definition of a link is a token, too. ``meta["span"]`` is where a token starts and ends in the text of its paragraph. Of a link or an image,
    ``meta["label"]`` is where its label starts and ends.
    """
    parser = (
        MarkdownIt("commonmark", {"inline_definitions": True})
        .enable(["table", "strikethrough"])
        .disable("text_join")
        .use(deflist_plugin)
    )
    ended = ["paragraph", "reference", "blockquote", "list"]
    for read in (read_kept_lines, _read_marker, read_formula_block):
        parser.block.ruler.before("fence", read.__name__, read, {"alt": ended})
    # The plugin's rule for marks in the text takes quadratic time; `inline` finds them.
    parser.block.ruler.before(
        "reference", "footnote_def", footnote_def, {"alt": ["paragraph", "reference"]}
    )
    rules = parser.inline.ruler
    rules.before("escape", "kept", _read_kept)
    for rule in rules.__rules__:
        rules.at(rule.name, _record(rule.fn))
    return parser


def find_marker(line: str) -> re.Match[str] | None:
    """Return what a line without its indentation says to a program of documentation; None: it is text."""
    return _MARKER.match(line) if len(line) <= _LONGEST_LINE else None


def _read_marker(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Read a line that is no part of a paragraph, and the lines in its box."""
    found = _match(_MARKER, state, first)
    if silent or not found:
        return bool(found)
    end = first + 1
    if title := next(filter(None, found.group(*_TITLES)), ""):
        token = state.push("inline", "", 0)
        token.content, token.map, token.children = title, [first, end], []
    if found["box"] and state.blkIndent < _DEEPEST_BOX:
        while end < last and (state.isEmpty(end) or state.sCount[end] >= state.blkIndent + 4):
            end += 1
        outside = state.lineMax
        state.lineMax, state.blkIndent = end, state.blkIndent + 4
        state.md.block.tokenize(state, first + 1, end)
        state.lineMax, state.blkIndent = outside, state.blkIndent - 4
    state.line = end
    return True
