"""Generated documents of every format, and translators whose result is known."""

import codecs
import html
import json
import random
from collections.abc import Callable
from typing import Any

from headway.ext.documents.kept_marks import KeptMarks
from headway.ext.documents.paragraph import Element, Paragraph, Translated
from headway.text.word_links import WordLinks
from support.office_files import OFFICE_MAKERS
from support.office_packages import WORDS, sentence


def make_html(chooser: random.Random) -> str:
    """Return an HTML document with inline tags, attributes, lists, tables and what is not translated."""

    def inline(depth: int = 2) -> str:
        parts = []
        for _ in range(chooser.randint(1, 4)):
            text = html.escape(sentence(chooser, 4))
            name = chooser.choice(["b", "i", "a href='?x=1&y=2'", 'span class="q"'])
            kind = chooser.randrange(6)
            if kind == 0 and depth:
                parts.append(f"<{name}>{inline(depth - 1)}</{name.split()[0]}>")
            elif kind == 1:
                parts.append(f'<img src=a.png alt="{html.escape(sentence(chooser, 3))}">')
            elif kind == 2:
                parts.append(f"<code>{text}</code>")
            else:
                parts.append(text)
        return " ".join(parts)

    body = "".join(
        chooser.choice([
            lambda: f"<p title='{html.escape(sentence(chooser, 3))}'>{inline()}</p>\n",
            lambda: f"<ul><li>{inline()}<li>{inline()}</ul>\r\n",
            lambda: f"<table><tr><th>{inline()}<td>{inline()}</table>",
            lambda: "<script>if (a < b) {'Say'}</script><!-- a note -->",
            lambda: f"<input placeholder={chooser.choice(WORDS[:8])} type=text><br>{inline()}",
            lambda: f"<p translate=no>{inline()}</p><pre>\n x  y\n</pre>",
            lambda: f"<h2 lang='en'>{inline()} &nbsp;&eacute; &#8211; x</h2>",
        ])()
        for _ in range(chooser.randint(1, 8))
    )  # fmt: skip
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(sentence(chooser))}</title>'
        f'<meta name="description" content="{html.escape(sentence(chooser))}"></head>\n<body>{body}</body></html>\n'
    )


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


def make_subtitles(chooser: random.Random, *, is_vtt: bool = False) -> str:
    """Return subtitles with sentences across cues, two speakers, tags, positions and notes."""
    out = "WEBVTT - cats\n\nSTYLE\n::cue { color: red }\n\nNOTE a cat --\n\n" if is_vtt else ""
    point = "." if is_vtt else ","

    def text(most: int) -> str:
        found = sentence(chooser, most)
        return html.escape(found, quote=False) if is_vtt else found.replace("<", "")

    for number in range(1, chooser.randint(2, 9)):
        first = text(6)
        if chooser.random() < 0.4:
            first = first[:-1]
        body = chooser.choice([
            first,
            f"<i>{first}</i>",
            f"{first}\n{text(4)}",
            f"- {first}\n- {text(4)}",
            f"<b>{first}\n{text(3)}</b>",
            f"<v Bob>{first}" if is_vtt else f"{{\\an8}}{first}",
            f"<c.red>{first}</c> <00:01.500>now" if is_vtt else f'<font color="#ff0000">{first}</font>',
        ])  # fmt: skip
        settings = " align:start" if is_vtt and chooser.random() < 0.5 else ""
        times = [f"00:{number:02}:0{at}{point}000" for at in (1, 5)]
        out += f"{number}\n{times[0]} --> {times[1]}{settings}\n{body}\n\n"
    return out


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


def make_po(chooser: random.Random) -> str:
    """Return a message catalog: contexts, plurals, guesses, translations and obsolete entries."""
    out = (
        'msgid ""\nmsgstr ""\n"Language: de\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
        '"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n\n'
    )

    def literal(text: str) -> str:
        return json.dumps(text, ensure_ascii=False)

    for number in range(chooser.randint(1, 8)):
        text = f"{number} {sentence(chooser)}"
        kind = chooser.randrange(7)
        if kind == 0:
            out += f'#: a.c:{number}\nmsgctxt "menu"\nmsgid {literal(text)}\nmsgstr ""\n\n'
        elif kind == 1:
            out += f'msgid {literal(text)}\nmsgid_plural {literal(text + "s")}\nmsgstr[0] ""\nmsgstr[1] ""\n\n'
        elif kind == 2:
            out += f'#, fuzzy, c-format\n#| msgid "old"\nmsgid {literal(text)}\nmsgstr "alt"\n\n'
        elif kind == 3:
            out += f'msgid {literal(text)}\nmsgstr "fertig"\n\n'
        elif kind == 4:
            out += f'#~ msgid {literal(text)}\n#~ msgstr "weg"\n\n'
        elif kind == 5:
            out += (
                f'msgid ""\n{literal(text + chr(10))}\n{literal("more" + chr(10))}\nmsgstr ""\n\n'
            )
        else:
            out += f'# a note\nmsgid {literal(text)}\nmsgstr ""\n\n'
    return out


def make_xliff(chooser: random.Random) -> str:
    """Return XLIFF 1.2 or 2.0 with inline elements, segments, notes, translations and other targets."""
    is_first = chooser.random() < 0.5

    def text() -> str:
        return html.escape(sentence(chooser, 4), quote=False)

    def inline() -> str:
        first = [
            lambda: f'<g id="1">{text()}</g>', lambda: '<x id="2"/>', lambda: f'<mrk mtype="seg" mid="0">{text()}</mrk>',
            lambda: f'<bpt id="3">&lt;b></bpt>{text()}<ept id="3">&lt;/b></ept>', lambda: '<ph id="4">{0}</ph>',
        ]  # fmt: skip
        second = [
            lambda: f'<pc id="1">{text()}</pc>', lambda: '<ph id="2"/>', lambda: f'<mrk id="m1" type="term">{text()}</mrk>',
            lambda: f'<sc id="3"/>{text()}<ec startRef="3"/>', lambda: '<mrk id="m2" translate="no">Acme</mrk>',
        ]  # fmt: skip
        kinds: list[Callable[[], str]] = first if is_first else second
        return " ".join([text(), *(chooser.choice([text, *kinds])() for _ in range(3))])

    def unit(number: int) -> str:
        kind = chooser.randrange(4)
        if is_first:
            target = {0: "", 1: '\n<target state="new"/>', 2: "<target>Fertig</target>", 3: ""}[
                kind
            ]
            keep = ' translate="no"' if kind == 3 else ""
            source = f"<source>{inline()}</source>"
            if chooser.random() < 0.3:
                parts = [text(), f'<g id="1">{text()}</g> {text()}']
                divided = "".join(
                    f'<mrk mtype="seg" mid="{n}">{part}</mrk> ' for n, part in enumerate(parts)
                )
                source = f"<source>{' '.join(parts)} </source>\n<seg-source>{divided}</seg-source>"
            return f'<trans-unit id="{number}"{keep}>\n {source}{target}\n<note>a cat</note></trans-unit>\n'
        target = {0: "", 1: "<target></target>", 2: "<target>Fertig</target>", 3: ""}[kind]
        keep = ' translate="no"' if kind == 3 else ""
        return (
            f'<unit id="u{number}"{keep}><notes><note>a cat</note></notes><segment>\n <source>{inline()}</source>{target}'
            "</segment><ignorable><source> </source></ignorable></unit>\n"
        )

    units = "".join(map(unit, range(chooser.randint(1, 6))))
    if is_first:
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">\n'
            '<file source-language="en" target-language="de" datatype="plaintext" original="x"><body>\n'
            f"{units}</body></file></xliff>\n"
        )
    return (
        '<xliff version="2.0" srcLang="en" trgLang="de" xmlns="urn:oasis:names:tc:xliff:document:2.0">'
        f'<file id="f">{units}</file></xliff>'
    )


MAKERS: dict[str, Callable[[random.Random], str]] = {
    ".html": make_html,
    ".md": make_markdown,
    ".srt": make_subtitles,
    ".vtt": lambda chooser: make_subtitles(chooser, is_vtt=True),
    ".json": make_json,
    ".csv": make_table,
    ".po": make_po,
    ".xlf": make_xliff,
    ".txt": lambda chooser: "\r\n".join(sentence(chooser) for _ in range(4)),
}


def make_file(suffix: str, seed: int) -> bytes:
    """Return a generated document."""
    chooser = random.Random(f"{suffix} {seed}")
    if suffix in OFFICE_MAKERS:
        return OFFICE_MAKERS[suffix](chooser)
    text = MAKERS[suffix](chooser)
    if suffix not in (".xlf", ".po") and chooser.random() < 0.2:
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    mark = codecs.BOM_UTF8 if suffix not in (".po", ".vtt") and chooser.random() < 0.1 else b""
    return mark + text.encode()


def same(paragraph: Paragraph[Any]) -> Translated:
    """Return a paragraph as its own translation."""
    return Translated(paragraph.text, WordLinks.identity(paragraph.text))


def rotate(text: str) -> str:
    """Return a text in ROT13: every word changes, and nothing else."""
    return codecs.encode(text, "rot13")


def translate(paragraph: Paragraph[Any], change: Callable[[str], str] = rotate) -> Translated:
    """Return a translation in which every word is changed, in its place, but no protected text."""
    marks = KeptMarks(paragraph)
    return marks.expand(Translated(change(marks.text), WordLinks.identity(marks.text)))


def expected_text(paragraph: Paragraph[Any]) -> str:
    """Return the text of a paragraph after `translate`: kept elements have not changed."""
    text = rotate(paragraph.text)

    def keep(elements: list[Element[Any]], text: str) -> str:
        for element in elements:
            if element.is_kept:
                kept = paragraph.text[element.start : element.end]
                text = text[: element.start] + kept + text[element.end :]
            text = keep(element.inner, text)
        return text

    return keep(paragraph.elements, text)
