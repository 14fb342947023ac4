"""A text with tags of XML, of any vocabulary: every tag comes back once, around the translations of its words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from headway.ext.documents.blocks import Part, make_kept, make_nodes
from headway.ext.documents.html.html_page import Page
from headway.ext.documents.xml_tokens import (
    XmlToken,
    find_ends,
    find_parents,
    read_text,
    tokenize_xml,
)

_BEGINNING, _END = "<text>", "</text>"


@dataclass(frozen=True)
class XmlTags:
    """What the tags of a text mean.

    Attributes:
        splitting: Names of elements that stand between sentences.
        inline: Names of elements that stand inside sentences.
        ignored: Names of elements whose text is not translated.
        is_outlined: Whether other elements count as splitting where no text stands beside them.
    """

    splitting: frozenset[str] = frozenset()
    inline: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    is_outlined: bool = True


class XmlText(Page):
    """A text with tags of XML.

    Args:
        source: A text with tags, or a whole document.
        tags: What the tags mean.

    Raises:
        HeadwayError: If the text is not well-formed, declares entities, or has too many tags.
    """

    def __init__(self, source: str, tags: XmlTags) -> None:
        if source.lstrip().startswith(("<?xml", "<!DOCTYPE")):
            tokens = tokenize_xml(source)
        else:
            tokens = tokenize_xml(_BEGINNING + source + _END)[1:-1]
        super().__init__(make_nodes(_read_parts(tokens, tags)))


def _read_parts(tokens: Sequence[XmlToken], tags: XmlTags) -> Iterator[Part]:
    """Yield text and tags; splitting tags, which stay as they are, are breaks."""
    splitting, ends = _find_splitting(tokens, tags), find_ends(tokens)
    at = 0
    while at < len(tokens):
        token, end = tokens[at], at + 1
        if token.kind == "open" and token.name in tags.ignored:
            end = ends[at]
        source = "".join(each.source for each in tokens[at:end])
        if token.is_text:
            yield Part("text", source, token.text)
        elif at in splitting:
            yield Part("break", source)
        elif token.kind == "open" and end == at + 1:
            yield Part("open", source, name=token.name)
        elif token.kind == "close":
            yield Part("close", source, name=token.name)
        else:
            yield make_kept(source, read_text(tokens[at:end]))
        at = end


def _find_splitting(tokens: Sequence[XmlToken], tags: XmlTags) -> set[int]:
    """Return the numbers of the tags that split."""
    parents, found = find_parents(tokens), set[int]()
    # The elements in which text stands, not counting the text of their elements; -1 is the text itself.
    both = zip(tokens, parents, strict=True)
    with_text = {parent for token, parent in both if token.is_text and token.text.strip()}
    for number, (token, parent) in enumerate(zip(tokens, parents, strict=True)):
        if token.kind in ("open", "empty"):
            is_outlined = tags.is_outlined and parent not in with_text
            is_outlined = is_outlined and (parent < 0 or parent in found)
            if token.name in tags.splitting or (is_outlined and token.name not in tags.inline):
                found.add(number)
        elif token.kind == "close" and parent in found:
            found.add(number)
    return found
