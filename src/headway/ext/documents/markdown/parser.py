"""The parser of Markdown, which also records where inline markup stands.

markdown-it says in which lines a paragraph is, but not at which characters its marks are. Every rule for
inline markup is wrapped, so that the tokens that it makes remember where the rule began and ended.

Lines that mean something to a program of documentation, such as MkDocs, Docusaurus, Jekyll or GitHub, are no part
of a paragraph; at most they have a title, which is text.
"""

import re
from collections.abc import Callable
from functools import partial

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote.index import footnote_def

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


def _read_kept(state: StateInline, silent: bool, kind: str, pattern: re.Pattern[str]) -> bool:
    """Read what stays: a formula between ``$``, ``$$``, or ``\\(`` and ``\\)``, a template such as ``{{ page.title }}``, or attributes."""
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


Rule = Callable[[StateInline, bool], bool]
_DELIMITERS = ("emphasis", "strikethrough")
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
    for read in (read_directive, read_kept_lines, _read_marker, read_formula_block):
        parser.block.ruler.before("fence", read.__name__, read, {"alt": ended})
    # The plugin's rule for marks in the text takes quadratic time; `inline` finds them.
    parser.block.ruler.before(
        "reference", "footnote_def", footnote_def, {"alt": ["paragraph", "reference"]}
    )
    for kind, pattern in (("formula", _FORMULA), ("template", _TEMPLATE)):
        kept = partial(_read_kept, kind=kind, pattern=pattern)
        parser.inline.ruler.before("escape", kind, kept)
    for rule in parser.inline.ruler.__rules__:
        rule.fn = _record(rule.name, rule.fn)
    return parser


def find_marker(line: str) -> re.Match[str] | None:
    """Return what a line without its indentation says to a program of documentation; None: it is text."""
    return _MARKER.match(line) if len(line) <= _LONGEST_LINE else None


def _read_marker(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Read a line that is no part of a paragraph, and the lines in its box."""
    found = _match(_MARKER, state, first)
    if silent or not found:
        return bool(found)
    push_text(state, first, next(filter(None, found.group(*_TITLES)), ""))
    end = first + 1
    if found["box"] and state.blkIndent < _DEEPEST_BOX:
        while end < last and (state.isEmpty(end) or state.sCount[end] >= state.blkIndent + 4):
            end += 1
        outside = state.lineMax
        state.lineMax, state.blkIndent = end, state.blkIndent + 4
        state.md.block.tokenize(state, first + 1, end)
        state.lineMax, state.blkIndent = outside, state.blkIndent - 4
    state.line = end
    return True


def _record(name: str, rule: Rule) -> Rule:
    """Return a rule that also records the places of its tokens."""

    def recorded(state: StateInline, silent: bool) -> bool:
        start, count, has_text = state.pos, len(state.tokens), bool(state.pending)
        if not rule(state, silent):
            return False
        if silent or len(state.tokens) == count:
            return True
        tokens = state.tokens[count:]
        if name in _DELIMITERS:  # one token for each mark, after the text before them
            at = start
            for token in tokens[1 if has_text else 0 :]:
                token.meta["span"] = at, at + len(token.content)
                at += len(token.content)
            return True
        for token in tokens:
            if token.type != "text" and "span" not in token.meta:
                token.meta["span"] = start, state.pos
                if name in ("link", "image"):
                    label = start + (1 if name == "link" else 2)
                    token.meta["label"] = label, state.md.helpers.parseLinkLabel(state, label - 1)
        return True

    return recorded
