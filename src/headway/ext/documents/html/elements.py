"""Elements of HTML: at which a text ends, which are not translated, and where an element ends."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from headway.ext.documents.html.tokens import RAW_TEXT, Token
from headway.ext.documents.language_codes import is_foreign
from headway.ext.protect import BREAKS

BLOCKS = BREAKS | {
    "address", "body", "caption", "details", "dialog", "figure", "form", "head", "html", "legend",
    "link", "main", "menu", "meta", "summary", "title", "xmp",
}  # fmt: skip
# What stands in a line, but apart from the text beside it: controls of forms, embedded objects, and what browsers
# without scripts show.
CONTROLS = frozenset({
    "audio", "button", "canvas", "embed", "iframe", "input", "label", "meter", "noscript", "object",
    "optgroup", "option", "progress", "select", "textarea", "video",
})  # fmt: skip
BORDERS = BLOCKS | CONTROLS  # a text ends at their tags
READINGS = frozenset({"rp", "rt", "rtc"})  # how the word before them is pronounced
_CODE = frozenset({"code", "kbd", "samp", "var"})  # unless they have translate="yes"
KEPT = (RAW_TEXT - {"title"}) | READINGS | _CODE | {"pre", "svg", "math", "template", "object"}
# Their text is not seen, or not as a part of the text around them.
HIDDEN = RAW_TEXT | {"svg", "template", "object"}
EMBEDDED = ("iframe", "object", "svg", "textarea")  # kept, but not their attributes
VOID = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
})  # fmt: skip

WHOLE = ("html", "body")

# At their tags an element ends that stays as it is and has no closing tag, as the standard lets authors leave out.
_ENDS = BORDERS | READINGS | {"rb", "ruby"}


def is_void(token: Token) -> bool:
    """Return whether an opening tag has no closing tag."""
    return token.is_closed or token.name in VOID


def is_untranslated(token: Token, language: str) -> bool:
    """Return whether a tag has ``translate="no"``, the class ``notranslate``, or another language than the document.

    Args:
        token: The tag.
        language: Language code of the document; "" if it is not known.
    """
    attributes = token.attributes
    if attributes.get("translate", "").lower() == "no":
        return True
    if "notranslate" in attributes.get("class", "").split():
        return True
    # Of a whole page the user knows the language.
    return token.name not in WHOLE and is_foreign(find_code(token), language)


def find_code(token: Token) -> str:
    """Return the language code that a tag names; "" if it names none."""
    return next(filter(None, (token.attributes.get(name) for name in LANGUAGES)), "")


def is_kept(token: Token, language: str) -> bool:
    """Return whether an opening tag begins an element that stays as it is; see `is_untranslated`."""
    if token.kind != "open" or is_void(token):
        return False
    is_text = token.name in _CODE and token.attributes.get("translate", "no").lower() in ("", "yes")
    return (token.name in KEPT and not is_text) or is_untranslated(token, language)


def find_closing_tags(tokens: Sequence[Token]) -> dict[int, int]:
    """Return the number of the closing tag of each opening tag that has one; it also ends what is open inside."""
    closing: dict[int, int] = {}
    opened, counts = list[int](), Counter[str]()
    for number, token in enumerate(tokens):
        if token.kind == "open" and not is_void(token):
            opened.append(number)
            counts[token.name] += 1
        while token.kind == "close" and counts[token.name]:
            last = opened.pop()
            counts[tokens[last].name] -= 1
            if tokens[last].name == token.name:
                closing[last] = number
                break
    return closing


def find_element_end(tokens: Sequence[Token], start: int, closing: Mapping[int, int]) -> int:
    """Return the number of the first token behind an element; without a closing tag it ends where a text does.

    Args:
        tokens: The tokens of the document.
        start: The number of the element's opening tag.
        closing: From `find_closing_tags`.
    """
    if start in closing:
        return closing[start] + 1
    ends = (number for number in range(start + 1, len(tokens)) if tokens[number].name in _ENDS)
    return next(ends, len(tokens))


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
