"""Tags of template engines and of PHP in HTML and Markdown: Jinja, Django, Liquid, Twig, Handlebars, Vue, Go, ERB."""

import re

from headway.documents.blocks import Part, make_kept

# No tag begins inside of another one of its kind, so that the time is linear. As text may speak of {{ and }}, no tag of
# HTML stands between them, and no line break.
TEMPLATE_SOURCE = r"""
    \{\{\{? (?:(?!\{\{|\}\}|<[a-zA-Z/!?])[^\n])*+ \}\}\}?
    | \{% (?s:(?!\{%|%\}).)*+ %\}
    | \{\# (?s:(?!\{\#|\#\}).)*+ \#\}
    | <% (?s:(?!<%|%>).)*+ %>
    | <\?(?:=|(?i:php)\b) (?s:(?!\?>).)*+ (?:\?>|\Z)
"""
TEMPLATE = re.compile(f"({TEMPLATE_SOURCE})", re.VERBOSE)
# What decides whether the text behind it is shown. That text must not leave its place.
_CONTROL = re.compile(
    r"""
    \{\{[-~]? \s* (?:[\#^/] | (?:if|else|end|range|with)\b)
    | \{%[-+]? \s* (?:if|unless|el|for|case|when|with|block|end)
    | <%(?![-=])
    | <\?php \s* (?:\} | (?:if|el|for|while|switch|case|end))
    """,
    re.VERBOSE | re.IGNORECASE,
)
_VALUE = re.compile(r"\{\{|<%[-=]|<\?(?:=|php\s+(?:echo|print)\b)", re.IGNORECASE)


def make_template(source: str) -> Part:
    """Return a tag of a template engine: texts end at a condition or a loop, and a value stands for a word."""
    if _CONTROL.match(source):
        return Part("break", source)
    return make_kept(source, " ".join(source.split()) if _VALUE.match(source) else "")
