"""Elements of HTML: which are blocks, which are not translated, and where an element ends."""

from collections import Counter
from collections.abc import Sequence

from headway.documents.html.tokens import RAW_TEXT, Token

BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "br", "button", "caption", "center",
    "col", "colgroup", "dd", "details", "dialog", "div", "dl", "dt", "fieldset", "figcaption",
    "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hgroup",
    "hr", "html", "legend", "li", "link", "main", "menu", "meta", "nav", "ol", "optgroup",
    "option", "p", "section", "select", "summary", "table", "tbody", "td", "tfoot", "th", "thead",
    "title", "tr", "ul",
})  # fmt: skip
KEPT = (RAW_TEXT - {"title"}) | {
    "code", "kbd", "samp", "var", "pre", "svg", "math", "template", "object",
}  # fmt: skip
VOID = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
})  # fmt: skip

# Elements whose closing tag may be left out -> the opening tags that end them (13.1.2.4, 13.2.6).
_LIST, _CELL, _ROWS = frozenset({"dd", "dt"}), frozenset({"td", "th"}), {"tbody", "tfoot", "thead"}
_INSIDE_PARAGRAPH = {"body", "br", "button", "head", "html", "legend", "link", "meta", "optgroup",
                     "option", "select", "title"}  # fmt: skip
ENDED_BY = {
    "p": BLOCKS - _INSIDE_PARAGRAPH | {"pre", "xmp"},
    "li": frozenset({"li"}),
    **dict.fromkeys(_LIST, _LIST),
    **dict.fromkeys(_CELL, _CELL | _ROWS | {"tr"}),
    "tr": frozenset(_ROWS | {"tr"}),
    **dict.fromkeys(_ROWS, frozenset(_ROWS)),
    "option": frozenset({"hr", "optgroup", "option"}),
    "optgroup": frozenset({"hr", "optgroup"}),
}
SCOPES = ("dl", "menu", "ol", "select", "table", "ul")  # an opening tag inside ends nothing outside


def is_void(token: Token) -> bool:
    """Return whether an opening tag has no closing tag."""
    return token.is_closed or token.name in VOID


def is_kept(token: Token) -> bool:
    """Return whether a tag opens an element that is not translated.

    It is code or a picture, or has the attribute ``translate="no"`` or the class ``notranslate``.
    """
    if token.kind != "open" or is_void(token):
        return False
    if token.name in KEPT or token.attributes.get("translate", "").lower() == "no":
        return True
    return "notranslate" in token.attributes.get("class", "").split()


class OpenElements:
    """The elements that are open at a place of a document."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._counts: Counter[str] = Counter()

    def __contains__(self, name: str) -> bool:
        return self._counts[name] > 0

    def follow(self, token: Token) -> None:
        """Open or close the element of a tag; closing it closes what is open inside it."""
        if token.kind == "open" and not is_void(token):
            self._names.append(token.name)
            self._counts[token.name] += 1
        while token.kind == "close" and token.name in self:
            closed = self._names.pop()
            self._counts[closed] -= 1
            if closed == token.name:
                break


def find_element_end(tokens: Sequence[Token], start: int, around: OpenElements) -> int:
    """Return the number of the first token after an element.

    An element ends with its closing tag. Without one it ends before an opening tag that implies its
    end, before the closing tag of a block around it, or at the end of the document.

    Args:
        tokens: The tokens of the document.
        start: The number of the element's opening tag.
        around: The blocks that are open there.
    """
    name, inside = tokens[start].name, OpenElements()
    ended_by = ENDED_BY.get(name, frozenset())
    for number in range(start + 1, len(tokens)):
        token = tokens[number]
        if token.kind == "open" and token.name in ended_by:
            if not any(scope in inside for scope in SCOPES):
                return number
        elif token.kind == "close" and token.name not in inside:
            if token.name == name:
                return number + 1
            if token.name in BLOCKS and token.name in around:
                return number
        if token.name in BLOCKS or token.name == name:
            inside.follow(token)
    return len(tokens)
