"""A Markdown file: its paragraphs, headings, list items and cells, and the HTML blocks in it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from headway.ext.documents.blocks import Block, Part, make_block
from headway.ext.documents.edited_file import EditedFile
from headway.ext.documents.html.parsing import read_parts as read_html
from headway.ext.documents.markdown.anchors import HeadingNames
from headway.ext.documents.markdown.front_matter import FRONT_MATTER, find_titles
from headway.ext.documents.markdown.inline import read_parts
from headway.ext.documents.markdown.kept_elements import leave_out_elements
from headway.ext.documents.markdown.parser import make_parser
from headway.ext.documents.markdown.text_block import TextBlock
from headway.ext.documents.paragraph import DocumentOptions, Translated
from headway.ext.documents.text_file import Edit, check_count, read_text_file
from headway.text import Span

LARGEST = 1_000_000  # characters
MOST_MARKS = 50_000  # the parser takes a second for as many
_MARKS = re.compile(r"[\n\r\[\]*_`<&\\|$~]")
_OWN_NAME = re.compile(r"\{[^{}\n#]*#[^{}\n]*\}\s*\Z")  # of a heading: {#name .class}
_LABEL_END = re.compile(r"(?<!\\)\]:")
_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")


class MarkdownDocument(EditedFile):
    """A Markdown file.

    Args:
        data: The content of the file.
        options: What is known about the translation.

    Raises:
        HeadwayError: If the file is too large.
    """

    def __init__(self, data: bytes, options: DocumentOptions) -> None:
        file = read_text_file(data, options.source)
        check_count(len(file.text), "characters", LARGEST)
        check_count(len(_MARKS.findall(file.text)), "lines and marks", MOST_MARKS)
        front = FRONT_MATTER.match(file.text)
        skipped = front.end() if front else 0
        self._blocks = _read_blocks(file.text, skipped, options.source)
        super().__init__(file, [*find_titles(file.text, skipped), *self._blocks])

    def _list_edits(self, translations: Sequence[Translated]) -> list[Edit]:
        """Return what changes in the file; links to its headings follow them."""
        edits = {edit.start: edit for edit in super()._list_edits(translations)}
        text = self._file.text
        changed = ((block, edits[block.start]) for block in self._blocks if block.names_itself)
        names = HeadingNames(
            (
                block.read(text[edit.start : edit.end]).text,
                block.read(edit.replacement).text,
            )
            for block, edit in changed
        )
        return [
            edit._replace(replacement=names.follow(edit.replacement)) for edit in edits.values()
        ]


def _read_blocks(text: str, skipped: int, language: str) -> list[TextBlock]:
    lines = [found.span(1) for found in _LINE.finditer(text, skipped)]
    parser, links = make_parser(), dict[str, Any]()  # the definitions of links and notes

    def read(written: str) -> Block:
        written = written.replace("\r\n", "\n")
        [token] = parser.parseInline(written, links)
        return make_block(
            read_parts(token.children or [], range(len(written) + 1), written, language)
        )

    blocks: list[TextBlock] = []
    is_cell, is_heading, at = False, False, 0
    for token in leave_out_elements(parser.parse(text[skipped:], links), language):
        if token.map and token.type == "definition":
            start, end = lines[token.map[0]][0], lines[token.map[1] - 1][1]
            if found := _LABEL_END.search(text, start, end):
                part = Part("close", text[found.start() : end], name="definition")
                blocks.append(TextBlock("text", found.start(), [part], language, read))
        if token.map and token.content and token.type in ("html_block", "inline"):
            content = token.content.removesuffix("\n")
            first, last = token.map  # of the term before a definition, they are the same
            own = lines[first : max(last, first + 1)]
            places = _find_places(text, own, content, at if is_cell else -1)
            if places and token.type == "html_block":
                html = _keep_first_line([*read_html(content, language)])
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
