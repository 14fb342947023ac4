"""Generated documents of every format, and translators whose result is known."""

import codecs
import html
import json
import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from headway.ext.documents.document_translation import KeptMarks
from headway.ext.documents.paragraph import Element, Paragraph, Translated
from headway.text.word_links import WordLinks
from support.grammar import make_text
from support.office_files import OFFICE_MAKERS
from support.office_packages import WORDS, sentence


def make_markdown(chooser: random.Random) -> str:
    """Return Markdown with headings, lists, quotes, tables, code, links, HTML and front matter."""

    def text(most: int = 6) -> str:
        return sentence(chooser, most).replace("<", "\\<")

    def inline() -> str:
        mark = chooser.choice(["**", "*", "~~", "***"])
        return " ".join(
            chooser.choice([
                lambda: text(),
                lambda: f"{mark}{text(3)}{mark}",
                lambda: f"`{chooser.choice(WORDS)}()`",
                lambda: f"[{text(3)}](http://a.example/x_y_z 'title')",
                lambda: f"[{text(2)}][one]",
                lambda: f"![{chooser.choice(WORDS[:6])}](a.png)",
                lambda: f"![{text(2)} {mark}{text(2)}{mark} [{text(1)}]](b.png)",
                lambda: "<https://a.example>",
                lambda: f"<b>{text(2)}</b>",
                lambda: f"{text(1)} <img src=a.png alt='{html.escape(text(2))}'>",
                lambda: f"<kbd>{chooser.choice(WORDS)}</kbd>",
                lambda: f"$x_{chooser.randrange(9)}^*$",
                lambda: "1 \\* 2 &amp; a\\_b snake_case",
                lambda: f"{text(2)}\n{text(2)}".replace("\n", "\n" + prefix[0]),
            ])()
            for _ in range(chooser.randint(1, 4))
        )  # fmt: skip

    prefix = [""]
    out = "---\ntitle: Cats\n---\n" if chooser.random() < 0.3 else ""
    for _ in range(chooser.randint(1, 8)):
        kind = chooser.randrange(10)
        prefix[0] = {1: "> ", 2: "  "}.get(kind, "")
        if kind == 0:
            out += f"## {text()}\n\n"
        elif kind == 1:
            out += f"> {inline()}\n\n"
        elif kind == 2:
            out += f"- {inline()}\n- [ ] {inline()}\n\n"
        elif kind == 3:
            out += f"| {text(3)} | {text(2)} |\n|---|:-:|\n| `x\\|y` | a \\| b {text(2)} |\n\n"
        elif kind == 4:
            out += "```python\nprint('a cat')\n```\n\n    code too\n\n"
        elif kind == 5:
            first, other = chooser.choice([("", ""), ("- ", "  "), ("> ", "> ")])
            out += f'{first}<div align="center">\n{other}<p title="{chooser.choice(WORDS[:9])}">{html.escape(sentence(chooser))}</p>\n{other}</div>\n\n'
        elif kind == 6:
            out += f"{inline()}\n$$\na_1 * b_2\n= c\n$$\n{inline()}\n\n"
        elif kind == 7:
            first = chooser.choice(["", "> "])
            out += (
                f"{text(3)}[^1] {text(3)}[^2]\n\n{first}[^1]: {text()}\n{first}[^2]: {text()}\n\n"
            )
        else:
            out += f"{inline()}  \n{inline()}\n\n"
    return out + "[one]: http://a.example/ 'T'\n"


def make_json(chooser: random.Random) -> str:
    """Return nested JSON."""

    def value(depth: int) -> Any:
        kind = chooser.randrange(7)
        if depth and kind < 2:
            return {f"k{n} {chooser.choice(WORDS)}": value(depth - 1) for n in range(3)}
        if depth and kind == 2:
            return [value(depth - 1) for _ in range(3)]
        return chooser.choice(
            [sentence(chooser), "", 3, None, True, '"q" \\ \n\t' + sentence(chooser)]
        )

    style: dict[str, Any] = chooser.choice([
        {"indent": 2}, {"indent": "\t"}, {}, {"separators": (",", ":")}
    ])  # fmt: skip
    return json.dumps({"a": value(3), "b": sentence(chooser)}, ensure_ascii=chooser.random() < 0.5, **style)  # fmt: skip


def make_table(chooser: random.Random) -> str:
    """Return a table whose columns ``title`` and ``body`` hold text."""
    delimiter, line_end = chooser.choice(",;\t"), chooser.choice(["\n", "\r\n"])

    def cell(text: str) -> str:
        special = any(each in text for each in (delimiter, '"', "\n"))
        if special or chooser.random() < 0.3:
            return '"' + text.replace('"', '""') + '"'
        return text

    rows = [
        [
            str(n),
            sentence(chooser, 3),
            sentence(chooser) + chooser.choice(["", '\nsay "hi"']),
            "keep me",
        ]
        for n in range(chooser.randint(1, 6))
    ]
    lines = [delimiter.join(map(cell, row)) for row in rows]
    header = delimiter.join(["id", "title", "body", "note"])
    return line_end.join([header, *lines]) + chooser.choice(["", line_end])


MAKERS: dict[str, Callable[[random.Random], str]] = {
    ".md": make_markdown,
    ".json": make_json,
    ".csv": make_table,
    **{
        suffix: partial(make_text, suffix)
        for suffix in (".html", ".srt", ".vtt", ".ass", ".sub", ".po", ".xlf")
    },
    ".txt": lambda chooser: "\r\n".join(sentence(chooser) for _ in range(4)),
}


def make_file(suffix: str, seed: int) -> bytes:
    """Return a generated document."""
    chooser = random.Random(f"{suffix} {seed}")
    if suffix in OFFICE_MAKERS:
        return OFFICE_MAKERS[suffix](chooser)
    text = MAKERS[suffix](chooser)
    if suffix == ".sub":  # {{ begins a rule
        text = text.replace("«", "{").replace("»", "}")
    if suffix not in (".xlf", ".po") and chooser.random() < 0.2:
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    mark = codecs.BOM_UTF8 if suffix not in (".po", ".vtt") and chooser.random() < 0.1 else b""
    return mark + text.encode()


def same(paragraph: Paragraph) -> Translated:
    """Return a paragraph as its own translation."""
    return Translated(paragraph.text, WordLinks.identity(paragraph.text))


def rotate(text: str) -> str:
    """Return a text in ROT13: every word changes, and nothing else."""
    return codecs.encode(text, "rot13")


def translate(paragraph: Paragraph, change: Callable[[str], str] = rotate) -> Translated:
    """Return a translation in which every word is changed, in its place, but no protected text."""
    marks = KeptMarks(paragraph)
    return marks.expand(Translated(change(marks.text), WordLinks.identity(marks.text)))


def expected_text(paragraph: Paragraph) -> str:
    """Return the text of a paragraph after `translate`: kept elements have not changed."""
    text = rotate(paragraph.text)

    def keep(elements: Sequence[Element], text: str) -> str:
        for element in elements:
            if element.is_kept:
                kept = paragraph.text[element.start : element.end]
                text = text[: element.start] + kept + text[element.end :]
            text = keep(element.inner, text)
        return text

    return keep(paragraph.elements, text)
