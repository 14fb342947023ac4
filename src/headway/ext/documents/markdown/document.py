"""A Markdown file: its paragraphs, headings, list items and cells, and the HTML blocks in it."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Literal
from urllib.parse import unquote

from headway.ext.documents.edited_file import EditedFile, TextEntry
from headway.ext.documents.html.page import read_parts as read_html
from headway.ext.documents.html.page import write_html
from headway.ext.documents.markdown.inline import make_text, read_parts
from headway.ext.documents.markdown.parser import make_parser
from headway.ext.documents.markdown.writing import write_markdown
from headway.ext.documents.marked_text import MarkedEntry, Part, make_paragraph
from headway.ext.documents.paragraph import DocumentOptions, Paragraph, Translated
from headway.ext.documents.text_file import Edit, TextFile, check_count, read_text_file
from headway.text import Span, is_translatable

# YAML, TOML or JSON. A line --- with an empty one behind it is a rule, unless a key of YAML follows.
FRONT_MATTER = re.compile(
    r"""
    \A (?: ---[ \t]*\r?\n (?=[ \t]*\S|\s*[\w-]+:) .*? ^(?:---|\.\.\.)
      | \+\+\+[ \t]*\r?\n .*? ^\+\+\+
      | \{[ \t]*\r?\n \s*"[^"\n]*"[ \t]*: .*? ^\}
    ) [ \t]*(?:\r?\n|\Z)
    """,
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
# Of a program that a reader sees; a value in several lines, or with a template, stays.
_TITLE = re.compile(
    r"""
    ^(?:[ \t]*")? (?:title|subtitle|description|summary|abstract|excerpt|linkTitle|sidebar_label) "?[ \t]*+ [:=] [ \t]*+
    (?P<value> "(?:[^"\\\n]|\\.)*+" | '(?:[^'\n]|\'\')*+' | [^\s"'\[\]{}|>&*!%@`#,:-][^\r\n]*?(?<![ \t]) )
    [ \t]*+ (?:,[ \t]*+|(?<=[ ])\#[^\r\n]*)? (?:\r?$|\Z)
    """,
    re.MULTILINE | re.VERBOSE,
)
# Of YAML without quotes: what would end it, or would be no text.
_NO_PLAIN = re.compile(
    r":(?:\s|\Z)|\s#|\A[\s\"'\[\]{}|>&*!%@`#,?:-]|\s\Z|\A(?:true|false|yes|no|on|off|null|~|[-+.\d][\d.:eE_+-]*)\Z",
    re.IGNORECASE,
)
_TEMPLATE = re.compile(r"\{[{%]")


class _FrontTitle(TextEntry):
    """A title in front matter."""

    def write(self, text: str) -> str:
        """Return a title as YAML, TOML and JSON read it."""
        is_plain = self.end - self.start == len(self.text)
        if is_plain and not _NO_PLAIN.search(text):
            return text
        return json.dumps(text, ensure_ascii=False)


def find_titles(text: str, end: int) -> Iterator[_FrontTitle]:
    """Yield the titles and descriptions in front matter.

    Args:
        text: The file.
        end: Where its front matter ends.
    """
    for found in _TITLE.finditer(text, 0, end):
        value = found["value"]
        if value[0] == '"':
            try:
                value = json.loads(value)
            except ValueError:  # an escape of YAML or TOML
                continue
        elif value[0] == "'":
            value = value[1:-1].replace("''", "'")
        elif _NO_PLAIN.search(value):
            continue
        if is_translatable(value) and not _TEMPLATE.search(value):
            yield _FrontTitle(*found.span("value"), value)


# The address in a link, in the definition of one, or in a tag of HTML.
_ADDRESS = re.compile(
    r"""((?:\]\(|\]:)\s*<?#|<a\s[^<>]*?href=["']?#)([^\s()<>"']+)""", re.IGNORECASE
)
_NO_NAME = re.compile(r"[^\w\- ]")


def _make_names(headings: Iterable[str]) -> list[str]:
    """Return the names of headings as GitHub makes them: one that another heading has gets a number."""
    counts = Counter[str]()
    names = []
    for heading in headings:
        name = _NO_NAME.sub("", heading.strip().lower()).replace(" ", "-")
        names.append(f"{name}-{counts[name]}" if counts[name] else name)
        counts[name] += 1
    return names


LARGEST = 1_000_000  # characters
MOST_MARKS = 40_000  # of any kind, as many take less than four seconds
_MARKS = re.compile(r"[\n\r\[\]*_`<&\\|$~]")
_OWN_NAME = re.compile(r"\{[^{}\n#]*#[^{}\n]*\}\s*\Z")  # of a heading: {#name .class}
_LABEL_END = re.compile(r"(?<!\\)\]:")
_END_OF_CELL = re.compile(r"(?<!\\)((?:\\\\)*)\|")
_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")


def read_markdown(data: bytes, options: DocumentOptions) -> EditedFile:
    """Read a Markdown file.

    Args:
        data: The content of the file.
        options: What is known about the translation.

    Raises:
        HeadwayError: If the file is too large.
    """
    file = read_text_file(data, options.source)
    check_count(len(file.text), "characters", LARGEST)
    check_count(len(_MARKS.findall(file.text)), "lines and marks", MOST_MARKS)
    return _MarkdownFile(file, options.source)


def _finish_cell(written: str) -> str:
    """Return the Markdown of a cell of a table, which a bare ``|`` would end."""
    return _END_OF_CELL.sub(r"\1\\|", written)


class _MarkdownFile(EditedFile):
    """A Markdown file, with its language code; "" if it is not known."""

    def __init__(self, file: TextFile, language: str) -> None:
        self._parser, self._language = make_parser(), language
        self._links = dict[str, Any]()  # the definitions of links and notes
        # Where those headings start whose text is their name in links of the file.
        self._headings: list[int] = []
        front = FRONT_MATTER.match(file.text)
        skipped = front.end() if front else 0
        super().__init__(file, [*find_titles(file.text, skipped), *self._read(file.text, skipped)])

    def _list_edits(self, translations: Sequence[Translated]) -> list[Edit]:
        """Return what changes in the file; links to its headings follow them."""
        edits = {edit.start: edit for edit in super()._list_edits(translations)}
        if not any(_ADDRESS.search(edit.replacement) for edit in edits.values()):
            return [*edits.values()]
        headings = [edits[start] for start in self._headings]
        before = (self._file.text[start:end] for start, end, _ in headings)
        after = (edit.replacement for edit in headings)
        own, new = (
            _make_names(self._read_block(source).text for source in sources)
            for sources in (before, after)
        )
        names = dict(zip(own, new, strict=True))

        def follow(found: re.Match[str]) -> str:
            name = unquote(found[2])
            return found[0] if names.get(name, name) == name else found[1] + names[name]

        return [
            edit._replace(replacement=_ADDRESS.sub(follow, edit.replacement))
            for edit in edits.values()
        ]

    def _read_block(self, written: str) -> Paragraph:
        """Read a single block."""
        written = written.replace("\r\n", "\n")
        [token] = self._parser.parseInline(written, self._links)
        places = range(len(written) + 1)
        return make_paragraph(read_parts(token.children or [], places, written, self._language))

    def _make_entry(
        self, kind: Literal["text", "cell", "html"], start: int, parts: Sequence[Part]
    ) -> MarkedEntry:
        end = start + sum(len(part.source) for part in parts)
        write = write_html if kind == "html" else partial(write_markdown, read=self._read_block)
        text = make_text(parts, self._language, write)
        return MarkedEntry(start, end, text, _finish_cell if kind == "cell" else str)

    def _read(self, text: str, skipped: int) -> Iterator[MarkedEntry]:
        """Yield the texts behind front matter."""
        lines = [found.span(1) for found in _LINE.finditer(text, skipped)]
        tokens = self._parser.parse(text[skipped:], self._links)
        is_cell, is_heading, at = False, False, 0
        for token in tokens:
            if token.map and token.type == "definition":
                start, end = lines[token.map[0]][0], lines[token.map[1] - 1][1]
                if found := _LABEL_END.search(text, start, end):
                    part = Part("close", text[found.start() : end], name="definition")
                    yield self._make_entry("text", found.start(), [part])
            if token.map and token.content and token.type in ("html_block", "inline"):
                content = token.content.removesuffix("\n")
                first, last = token.map  # of the term before a definition, they are the same
                own = lines[first : max(last, first + 1)]
                places = _find_places(text, own, content, at if is_cell else -1)
                if places and token.type == "html_block":
                    html = _keep_first_line([*read_html(content, self._language)])
                    yield self._make_entry("html", places[0], [*_locate(html, places, text)])
                elif places and not _is_drawn(content):
                    parts = read_parts(token.children or [], places, text, self._language)
                    yield self._make_entry("cell" if is_cell else "text", places[0], parts)
                    if is_heading and not _OWN_NAME.search(content):
                        self._headings.append(places[0])
                    at = places[-1]
            is_cell = token.type in ("td_open", "th_open")
            is_heading = token.type == "heading_open"


def _is_drawn(content: str) -> bool:
    """Return whether a paragraph is a table drawn in lines of ``+`` and ``|``, as Pandoc's grids are."""
    lines = content.split("\n")
    return len(lines) > 1 and all(line.lstrip().startswith(("+", "|")) for line in lines)


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
