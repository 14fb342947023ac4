"""Attributes of HTML that a reader sees, and those that name the language."""

from collections.abc import Iterator

from headway.ext.documents.html.tokens import Token

LANGUAGES = ("lang", "xml:lang")
_SEEN = frozenset({
    "abbr", "alt", "aria-description", "aria-label", "aria-placeholder", "aria-roledescription",
    "aria-valuetext", "label", "placeholder", "summary", "title",
})  # fmt: skip
_BUTTONS = frozenset({"button", "reset", "submit"})
_METADATA = frozenset({
    "description", "keywords", "og:description", "og:image:alt", "og:title", "twitter:description",
    "twitter:image:alt", "twitter:title",
})  # fmt: skip


def find_language_attributes(token: Token) -> Iterator[str]:
    """Yield the names of those attributes of a tag whose value is the language of its text, or of the page."""
    yield from (name for name in LANGUAGES if name in token.attributes)
    if token.name == "meta" and "content" in token.attributes:
        is_header = token.attributes.get("http-equiv", "").lower() == "content-language"
        if is_header or is_locale(token):
            yield "content"


def is_locale(token: Token) -> bool:
    """Return whether a tag names the language of the page for social media, which write ``en_US``."""
    return token.attributes.get("property", "").lower() == "og:locale"


def find_names(token: Token) -> Iterator[str]:
    """Yield the names of the attributes of a tag that hold text."""
    attributes = token.attributes
    for name in attributes:
        is_button = name == "value" and attributes.get("type", "").lower() in _BUTTONS
        kind = attributes.get("name") or attributes.get("property") or ""
        is_metadata = name == "content" and token.name == "meta" and kind.lower() in _METADATA
        if name in _SEEN or is_button or is_metadata:
            yield name
