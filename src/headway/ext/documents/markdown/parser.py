"""The parser of Markdown, which also records where inline markup stands.

markdown-it says in which lines a paragraph is, but not at which characters its marks are. Every rule for
inline markup is wrapped, so that the tokens that it makes remember where the rule began and ended.

Lines that mean something to a program of documentation, such as MkDocs, Docusaurus, Jekyll or GitHub, are no part
of a paragraph; at most they have a title, which is text.
"""

import re
from collections.abc import Callable

from headway.errors import HeadwayError

try:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from mdit_py_plugins.deflist import deflist_plugin
    from mdit_py_plugins.footnote.index import footnote_def
except ImportError:
    raise HeadwayError(
        'Markdown needs markdown-it-py and mdit-py-plugins: pip install "headway[documents]"'
    ) from None

from headway.ext.documents.markdown.directives import push_text, read_directive, read_kept_lines
from headway.ext.documents.markdown.formulas import read_formula, read_formula_block, read_template

Rule = Callable[[StateInline, bool], bool]
_DELIMITERS = ("emphasis", "strikethrough")
_LONGEST_MARKER = 1000  # characters
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
    parser.inline.ruler.before("escape", "formula", read_formula)
    parser.inline.ruler.before("escape", "template", read_template)
    for rule in parser.inline.ruler.__rules__:
        rule.fn = _record(rule.name, rule.fn)
    return parser


def find_marker(line: str) -> re.Match[str] | None:
    """Return what a line without its indentation says to a program of documentation; None: it is text."""
    return _MARKER.match(line) if len(line) <= _LONGEST_MARKER else None


def _read_marker(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Read a line that is no part of a paragraph, and the lines in its box."""
    if state.is_code_block(first):
        return False
    line = state.src[state.bMarks[first] + state.tShift[first] : state.eMarks[first]]
    found = find_marker(line)
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
