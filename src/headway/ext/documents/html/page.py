"""HTML as text: every tag comes back once, around the translations of its words.

Inline tags follow the alignment of words. Tags between blocks, and elements that are not for
translation, stay as they are. Nothing is validated: what is not a tag is text.
"""

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby, pairwise

from headway.ext.documents.html.elements import (
    BORDERS,
    EMBEDDED,
    HIDDEN,
    READINGS,
    WHOLE,
    find_closing_tags,
    find_code,
    find_element_end,
    find_language_attributes,
    find_names,
    is_kept,
    is_locale,
    is_untranslated,
    is_void,
)
from headway.ext.documents.html.tokens import (
    Token,
    decode_text,
    make_template,
    read_templates,
    tokenize,
)
from headway.ext.documents.language_codes import LanguagePair
from headway.ext.documents.marked_text import (
    Kind,
    MarkedEntry,
    MarkedText,
    Part,
    find_partners,
    make_kept,
    write_paragraph,
)
from headway.ext.documents.paragraph import Paragraph, Translated

_UNDIRECTED = ("bdo", "svg")  # a direction of its own, and none


def find_inner_texts(token: Token, language: LanguagePair) -> Iterator[MarkedEntry]:
    """Yield the texts in an opening tag, and what names the language or the direction of the translation.

    Args:
        token: Any token.
        language: The languages of the translation.
    """
    if token.kind != "open" or is_untranslated(token, language.source):
        return
    if is_kept(token, language.source) and token.name not in EMBEDDED:
        return
    for name in find_names(token):
        parts = [*read_templates(token.attributes[name], html.unescape)]
        yield _find_attribute(token, name, parts)
    yield from _find_direction(token, language)
    for name in find_language_attributes(token):
        if language.replaces(html.unescape(token.attributes[name])):
            code = language.target.replace("-", "_") if is_locale(token) else language.target
            yield _find_attribute(token, name, [Part("break", code)])


def _find_attribute(token: Token, name: str, parts: Sequence[Part]) -> MarkedEntry:
    """Return an attribute of a tag, with what it becomes; it gets quotes if it has none."""
    start, end = token.spans[name]
    before = token.text[start - 1]
    finish = str if before in "\"'" else '"{}"'.format
    return MarkedEntry(start, end, _make_text(parts, before), finish)


def _make_text(parts: Sequence[Part], before: str) -> MarkedText:
    """Return a text; ``before`` is the character before its attribute's value, "": it is in none."""
    escape = partial(_escape, before=before)
    return MarkedText(parts, partial(write_paragraph, escape=escape))


def _escape(text: str, before: str) -> str:
    """Return the source of a text; see `_make_text`."""
    escaped = html.escape(text, quote=False)
    if before == "'":
        return escaped.replace("'", "&#39;")
    return escaped.replace('"', "&quot;") if before else escaped


def _find_direction(token: Token, language: LanguagePair) -> Iterator[MarkedEntry]:
    """Yield what gives a tag the direction of the translation.

    The whole page gets it, and elements of the text's language. Others get it if they name the direction from right to
    left: the other one may belong to numbers and code.
    """
    if token.kind != "open" or token.name in _UNDIRECTED or language.becomes_rtl is None:
        return
    before, after = ("ltr", "rtl") if language.becomes_rtl else ("rtl", "ltr")
    names_language = language.replaces(find_code(token))
    is_own = names_language or token.name in WHOLE or before == "rtl"
    if "dir" in token.spans:
        if is_own and token.attributes["dir"].strip().lower() == before:
            yield _find_attribute(token, "dir", [Part("break", after)])
    elif names_language or (token.name == "html" and not find_code(token)):
        place = 1 + len(token.name)
        yield MarkedEntry(place, place, _make_text([Part("break", f' dir="{after}"')], ""))


_SIGN = re.compile("[|·•]")  # it stands between links, but not in sentences
_BETWEEN = re.compile(r"[\s|·•/–—›»]*")


def find_gaps(run: Sequence[Part]) -> Iterator[range]:
    """Yield the parts between two links that are seen apart: tags, white space and signs; a gap may be empty.

    These are the links of a list, such as a menu, which has no other text, and elsewhere those with nothing or a sign
    between them. So are elements that a page defines itself. Numbers of footnotes have no words, and superscripts belong
    to the word before them.
    """
    partner = find_partners(run)
    opened = [n for n, part in enumerate(run) if n in partner and _is_apart(part)]
    links = [
        range(start, partner[start])
        for start, following in pairwise([*opened, len(run)])
        if partner[start] < following
    ]
    inside = {number for link in links for number in link}
    is_list = all(
        number in inside or _BETWEEN.fullmatch(part.text) for number, part in enumerate(run)
    )
    for link, following in pairwise(links):
        gap = range(link.stop + 1, following.start)
        text = "".join(run[number].text for number in gap)
        is_divided = run[following.start].name == "a" and (not text or _SIGN.search(text))
        if (
            (is_list or is_divided)
            and _BETWEEN.fullmatch(text)
            and _has_words(run[link.start : link.stop])
            and _has_words(run[following.start : following.stop])
            and not any(part.name == "sup" for part in run[gap.start : following.stop])
        ):
            yield gap


def _is_apart(part: Part) -> bool:
    """Return whether an element may be seen apart: a link, or one that a page defines itself."""
    return part.kind == "open" and (part.name == "a" or "-" in part.name)


def _has_words(parts: Sequence[Part]) -> bool:
    return any(map(str.isalpha, "".join(part.text for part in parts)))


def read_parts(
    source: str, language: str = "", document: LanguagePair | None = None
) -> Iterator[Part]:
    """Yield text and tags; tags at which texts end are breaks.

    Args:
        source: The HTML.
        language: Its language code; what is in another language is kept. "": it is not known.
        document: The languages of a document whose attributes are translated; None: they stay.
    """
    tokens, end = [*tokenize(source)], 0
    closing = find_closing_tags(tokens)
    for number, token in enumerate(tokens):
        if number < end:
            continue
        is_whole = is_kept(token, language)
        end = find_element_end(tokens, number, closing) if is_whole else number + 1
        raw, name = "".join(each.text for each in tokens[number:end]), token.name
        if token.kind == "text":
            yield Part("text", raw, decode_text(token))
            continue
        if token.kind == "template":
            yield make_template(raw)
            continue
        if name in BORDERS or raw[:9].lower() == "<!doctype":
            part = Part("break", raw)
        elif is_whole and name in READINGS:
            part = Part("dropped", raw)
        elif is_whole or token.kind == "other":
            part = make_kept(raw, "" if name in HIDDEN else _read_text(tokens[number:end]))
        else:
            kind: Kind = "close" if token.kind == "close" else "point" if is_void(token) else "open"
            part = Part(kind, raw, name=name)
        inner = find_inner_texts(token, document) if document else ()
        yield part._replace(inner=(*inner,))


def _read_text(tokens: Sequence[Token]) -> str:
    return "".join(decode_text(token) for token in tokens if token.kind in ("text", "template"))


def set_apart(parts: Iterable[Part]) -> Iterator[Part]:
    """Yield parts with breaks between links and other elements that are seen apart, and around each text between breaks:
    tags of elements that begin before it or end behind it do not move with its words.
    """
    for is_break, group in groupby(parts, key=lambda part: part.kind == "break"):
        run, at = [*group], 0
        for gap in () if is_break else find_gaps(run):
            yield from _trim(run[at : gap.start])
            yield Part("break", "")
            yield from (part._replace(kind="break") for part in run[gap.start : gap.stop])
            at = gap.stop
        yield from run if is_break else _trim(run[at:])


def _trim(run: Sequence[Part]) -> Iterator[Part]:
    """Yield parts in which the tags without a partner at both ends are breaks."""
    partner = find_partners(run)
    start = _count_outer(run, partner, range(len(run)))
    end = len(run) - _count_outer(run, partner, range(len(run) - 1, start - 1, -1))
    for number, part in enumerate(run):
        yield part if start <= number < end else part._replace(kind="break")


def _count_outer(run: Sequence[Part], partner: Mapping[int, int], numbers: Sequence[int]) -> int:
    """Return how many parts, in an order, end with a tag without a partner before anything else than such tags."""
    count = 0
    for place, number in enumerate(numbers, 1):
        part = run[number]
        if part.kind in ("open", "close") and number not in partner:
            count = place
        elif part.kind != "text" or part.source.strip():
            break
    return count


_SPACES = " \t\n\f\r"


class HtmlPage(MarkedText):
    """A document or a fragment of HTML.

    Args:
        source: HTML; any text is.
        language: Its language code; elements in other languages stay. "": it is not known.
        document: Of a whole document, whose attributes are translated, too: its languages.
    """

    def __init__(
        self, source: str, language: str = "", document: LanguagePair | None = None
    ) -> None:
        parts = [*set_apart(read_parts(source, language, document))]
        super().__init__(parts, write_page_paragraph)


def write_page_paragraph(block: Paragraph, translated: Translated) -> str:
    """Return the HTML of a translated block with the white space of its source at each end where that has a line break."""
    source, written = block.source, write_html(block, translated)
    before = source[: len(source) - len(source.lstrip(_SPACES))]
    after = source[len(source.rstrip(_SPACES)) :]
    if "\n" in before or "\r" in before:
        written = before + written.lstrip(_SPACES)
    if "\n" in after or "\r" in after:
        written = written.rstrip(_SPACES) + after
    return written


def write_html(block: Paragraph, translated: Translated) -> str:
    """Return the HTML of a translated block; see `write_paragraph`."""
    return write_paragraph(block, translated, partial(html.escape, quote=False))
