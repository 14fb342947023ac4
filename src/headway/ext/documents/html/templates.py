"""Tags of template engines and of PHP in HTML and Markdown: Jinja, Django, Liquid, Twig, Handlebars, Vue, Go, ERB."""

import re

from headway.ext.documents.blocks import Part, make_kept

# No tag begins inside of another one of its kind, so that the time is linear. As text may speak of {{, {% and {#, too,
# no tag of HTML stands between {{ and }}, and no line break; no element that begins before {% or {# ends before %} or #};
# and what follows {% is a name, what follows {# a space, unless all is in one line without tags.
TEMPLATE_SOURCE = r"""
    \{\{\{? (?:(?!\{\{|\}\}|<[a-zA-Z/!?])[^\n])*+ \}\}\}?
    | \{% [-+]?\s*+[^\W\d] (?s:"[^"{}%\n]*+"|'[^'{}%\n]*+'|(?!\{%|%\}|<[a-zA-Z/]).)*+ (?!</) (?s:(?!\{%|%\}).)*+ %\}
    | \{\# (?=[-+\s]) (?s:(?!\{\#|\#\}|<[a-zA-Z/]).)*+ (?!</) (?s:(?!\{\#|\#\}).)*+ \#\}
    | \{\# (?:(?!\#\})[^{}<\n])*+ \#\}
    | <% (?s:(?!<%|%>).)*+ %>
    | <\?(?:=|(?i:php)\b) (?s:(?!\?>).)*+ (?:\?>|\Z)
"""
TEMPLATE = re.compile(f"({TEMPLATE_SOURCE})", re.VERBOSE)
_MARKS = (
    (r"\{\{\{?", r"\}\}\}?"), (r"\{%", r"%\}"), (r"\{\#", r"\#\}"), (r"<%", r"%>"), (r"<\?(?:=|(?i:php)\b)", r"\?>"),
)  # fmt: skip
# In the templates of Go; {{ range }} is a value.
_GO_BLOCK = r"(?:block|define|if|range|with)\s+[^\s|}]"
# What decides whether the text behind it is shown. That text must not leave its place.
_CONTROL = re.compile(
    rf"""
    \{{\{{[-~]? \s* (?:[\#^/] | else\b | {_GO_BLOCK})
    | \{{%[-+]? \s* (?:if(?:changed|equal|notequal)?|unless|else(?:if)?|elif|elsif|for|case|when|with|block(?:trans(?:late)?)?|end[a-z]*)\b
    | <%(?![-=])
    | <\?php \s* (?:\}} | (?:if|else(?:if)?|for(?:each)?|while|switch|case|end[a-z]+)\b)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_VALUE = re.compile(r"\{\{|\{%|<%[-=]|<\?(?:=|php\s+(?:echo|print)\b)", re.IGNORECASE)
_GO_OPENING = re.compile(rf"\{{\{{-?\s*{_GO_BLOCK}")
_GO_END = re.compile(r"\{\{-?\s*end\s*-?\}\}")


def template_in_quotes(quote: str) -> str:
    """Return the pattern of a tag in a value between quotes, of which it may have some itself.

    As a value may speak of {{ or <?php, a tag has one line, no quote that ends the tag of HTML (``">``), and none just
    behind its beginning that ends the value (``"{{" ``).
    """
    return "|".join(
        rf"{start}(?!\s*{quote}[\s/>])(?:(?!{start}|{end})(?:[^{quote}\n]|{quote}(?!\s*/?>)))*+{end}"
        for start, end in _MARKS
    )


def make_template(source: str) -> Part:
    """Return a tag of a template engine, which stays: what prints something stands for a word."""
    is_value = _VALUE.match(source) and not _CONTROL.match(source)
    return make_kept(source, " ".join(source.split()) if is_value else "")


def is_control(source: str, with_go: bool) -> bool:
    """Return whether a tag is a condition, a loop or a block, or ends one.

    Args:
        source: The tag.
        with_go: Whether ``{{ end }}`` ends a block, as `has_go_blocks` says; elsewhere it is a value.
    """
    return bool(_CONTROL.match(source) or (with_go and _GO_END.match(source)))


def has_go_blocks(page: str) -> bool:
    """Return whether a page has conditions, loops or blocks of Go's templates, such as ``{{ if .Name }}``."""
    return _GO_OPENING.search(page) is not None
