"""A Markdown file: its paragraphs, headings, list items and cells, and the HTML blocks in it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from headway.ext.documents.blocks import Block, Part, make_block
from headway.ext.documents.html.parsing import read_parts as read_html
from headway.ext.documents.markdown.anchors import HeadingNames
from headway.ext.documents.markdown.inline import read_parts
from headway.ext.documents.markdown.kept_elements import leave_out_elements
from headway.ext.documents.markdown.parser import make_parser
from headway.ext.documents.markdown.text_block import TextBlock
from headway.ext.documents.paragraph import DocumentOptions, Paragraph, Translated
from headway.ext.documents.text_file import apply_edits, check_count, read_text_file
from headway.text import Span

LARGEST = 1_000_000  # characters
MOST_MARKS = 50_000  # the parser takes a second for as many
_MARKS = re.compile(r"[\n\r\[\]*_`<&\\|$~]")
# YAML, TOML or JSON. A line --- with an empty one behind it is a rule, unless a key of YAML follows.
_FRONT_MATTER = re.compile(
    r"""
    \A (?: ---[ \t]*\r?\n (?=[ \t]*\S|\s*[\w-]+:) .*? ^(?:---|\.\.\.)
      | \+\+\+[ \t]*\r?\n .*? ^\+\+\+
      | \{[ \t]*\r?\n \s*"[^"\n]*"[ \t]*: .*? ^\}
    ) [ \t]*(?:\r?\n|\Z)
    """,
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
_FOOTNOTE = "\ue000\ue001"  # is parsed instead of the beginning of one
_OWN_NAME = re.compile(r"\{[^{}\n#]*#[^{}\n]*\}\s*\Z")  # of a heading: {#name .class}
_LABEL_END = re.compile(r"(?<!\\)\]:")
_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")


class MarkdownDocument:
    """A Markdown file.

    Args:
        data: The content of the file.
        options: What is known about the translation.

    Raises:
        HeadwayError: If the file is too large.
    """

    def __init__(self, data: bytes, options: DocumentOptions) -> None:
        self._file = read_text_file(data, options.source)
        check_count(len(self._file.text), "characters", LARGEST)
        check_count(len(_MARKS.findall(self._file.text)), "lines and marks", MOST_MARKS)
        self._blocks = _read_blocks(self._file.text, options.source)

    @property
    def paragraphs(self) -> Sequence[Paragraph[None] | Block]:
        """The blocks of text and the attributes of HTML tags, in the order of the file."""
        return [each for block in self._blocks for each in block.paragraphs]

    def write(self, translations: Sequence[Translated]) -> bytes:
        """Return the file with its text replaced."""
        found = iter(translations)
        edits = [block.replace(found) for block in self._blocks]
        names = HeadingNames(
            (
                block.read(self._file.text[edit.start : edit.end]).text,
                block.read(edit.replacement).text,
            )
            for block, edit in zip(self._blocks, edits, strict=True)
            if block.names_itself
        )
        edits = [edit._replace(replacement=names.follow(edit.replacement)) for edit in edits]
        return self._file.encode(apply_edits(self._file.text, edits))


def _read_blocks(text: str, language: str) -> list[TextBlock]:
    front = _FRONT_MATTER.match(text)
    skipped = front.end() if front else 0
    lines = [found.span(1) for found in _LINE.finditer(text, skipped)]
    parsed = _hide_footnotes(text)
    parser, links = make_parser(), dict[str, Any]()  # the definitions of links

    def read(written: str) -> Block:
        written = written.replace("\r\n", "\n")
        [token] = parser.parseInline(_hide_footnotes(written), links)
        return make_block(
            read_parts(token.children or [], range(len(written) + 1), written, language)
        )

    blocks: list[TextBlock] = []
    is_cell, is_heading, at = False, False, 0
    for token in leave_out_elements(parser.parse(parsed[skipped:], links), language):
        if token.map and token.type == "definition":
            start, end = lines[token.map[0]][0], lines[token.map[1] - 1][1]
            if found := _LABEL_END.search(text, start, end):
                part = Part("close", text[found.start() : end], name="definition")
                blocks.append(TextBlock("text", found.start(), [part], language, read))
        if token.map and token.content and token.type in ("html_block", "inline"):
            content = token.content.removesuffix("\n")
            places = _find_places(parsed, lines[slice(*token.map)], content, at if is_cell else -1)
            if places and token.type == "html_block":
                html = _keep_first_line([*read_html(content.replace(_FOOTNOTE, "[^"), language)])
                parts = [*_locate(html, places, text)]
                blocks.append(TextBlock("html", places[0], parts, language, read))
            elif places:
                parts = read_parts(token.children or [], places, text, language)
                kind: Literal["cell", "text"] = "cell" if is_cell else "text"
                names_itself = is_heading and not _OWN_NAME.search(content)
                blocks.append(TextBlock(kind, places[0], parts, language, read, names_itself))
                at = places[-1]
        is_cell = token.type in ("td_open", "th_open")
        is_heading = token.type == "heading_open"
    return blocks


def _hide_footnotes(text: str) -> str:
    """Return a text without footnotes: CommonMark takes ``[^1]: note`` for the address of a link."""
    return re.sub(r"(?<!\\)\[\^", _FOOTNOTE, text)


def _keep_first_line(parts: Sequence[Part]) -> Sequence[Part]:
    """Return the parts of an HTML block with a break behind a tag that is alone in the first line.

    Such a tag makes the lines an HTML block only if the text does not stand in its line.
    """
    if len(parts) < 2 or parts[1].kind != "text":
        return parts
    tag, source, text = parts[0], parts[1].source, parts[1].text
    spaces = source[: len(source) - len(source.lstrip())]
    if "\n" not in spaces:
        return parts
    rest = Part("text", source.removeprefix(spaces), text.removeprefix(" "))  # for the line break
    return [tag, Part("break", spaces), rest, *parts[2:]]


def _locate(parts: Iterable[Part], places: Sequence[int], text: str) -> Iterator[Part]:
    """Yield the parts of an HTML block as they stand in the file, where marks of quotes are between its lines."""
    start = 0
    for part in parts:
        end = start + len(part.source)
        yield part._replace(source=text[places[start] : places[end]])
        start = end


def _find_places(text: str, lines: Sequence[Span], content: str, start: int) -> list[int]:
    """Return where each character of a paragraph is in the file, and where the paragraph ends.

    Args:
        text: The text of the file.
        lines: Where the lines of the paragraph start and end.
        content: The paragraph, without what stands before and after its lines.
        start: Where the search for a cell starts; -1: the paragraph is no cell.

    Returns:
        Nothing if the paragraph is written in a way that cannot be found.
    """
    if start >= 0:
        (a, b), *_ = lines
        pattern = re.escape(content).replace(r"\|", r"\\?\|")  # a cell has \| for |
        found = re.compile(pattern).search(text, max(a, start), b)
        if found is None:
            return []
        return [at for at in range(*found.span()) if text[at : at + 2] != "\\|"] + [found.end()]
    places: list[int] = []
    for (a, b), line in zip(lines, content.split("\n"), strict=False):
        stripped = line.lstrip()
        at = text.rfind(stripped, a, b)
        if at < 0:
            return []
        places += [at] * (len(line) - len(stripped))
        places += range(at, at + len(stripped) + 1)
    return places if len(places) == len(content) + 1 else []
