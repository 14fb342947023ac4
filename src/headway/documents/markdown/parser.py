"""The parser of Markdown, which also records where inline markup stands.

markdown-it says in which lines a paragraph is, but not at which characters its marks are. Every rule for
inline markup is wrapped, so that the tokens that it makes remember where the rule began and ended.
"""

from collections.abc import Callable

from headway.errors import HeadwayError

try:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
except ImportError:
    raise HeadwayError('Markdown needs markdown-it-py: pip install "headway[documents]"') from None

Rule = Callable[[StateInline, bool], bool]
_DELIMITERS = ("emphasis", "strikethrough")


def make_parser() -> MarkdownIt:
    """Return a parser whose inline tokens have their place in ``meta``.

    ``meta["span"]`` is where a token starts and ends in the text of its paragraph. Of a link or an image,
    ``meta["label"]`` is where its label starts and ends.
    """
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable("text_join")
    for rule in parser.inline.ruler.__rules__:
        rule.fn = _record(rule.name, rule.fn)
    return parser


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
