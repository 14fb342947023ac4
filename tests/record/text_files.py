"""Files of text formats that are translated, by their names; and damaged ones."""

from collections.abc import Iterable
from dataclasses import dataclass

from texts_and_pages import PAGES, TEXTS

CATALOG = 'msgid ""\nmsgstr ""\n"Language: de\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n\n'
XLIFF_1 = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">\n'
    '<file source-language="en" target-language="de" datatype="{}" original="x"><body>\n{}</body></file></xliff>\n'
)
XLIFF_2 = (
    '<xliff version="2.0" srcLang="en" trgLang="de" xmlns="urn:oasis:names:tc:xliff:document:2.0">'
    '<file id="f">{}</file></xliff>'
)


@dataclass(frozen=True)
class Input:
    """A file to translate.

    Args:
        name: Of the file; the suffix is its format.
        content: Its bytes.
        columns: Of a table.
    """

    name: str
    content: bytes
    columns: str = ""


def text_files() -> list[Input]:
    """Return the files of text formats."""
    return [
        *_pages(),
        *_markdown(),
        *_subtitles(),
        *_catalogs(),
        *_xliff(),
        *_json(),
        *_tables(),
        *_plain(),
    ]


def _made(suffix: str, contents: dict[str, str]) -> Iterable[Input]:
    return [Input(f"{name}{suffix}", content.encode()) for name, content in contents.items()]


def _pages() -> Iterable[Input]:
    groups = [[*PAGES][start : start + 12] for start in range(0, len(PAGES), 12)]
    for number, names in enumerate(groups):
        body = "\n".join(f"<section id=s{place}>{PAGES[name]}</section>" for place, name in enumerate(names))  # fmt: skip
        yield Input(f"page {number}.html", f"<!DOCTYPE html>\n<html lang=en><head><title>The lamp</title></head><body>{body}</body></html>\n".encode())  # fmt: skip
    yield Input("latin.htm", "<meta charset=iso-8859-1><p>The caf\xe9 “is” new.".encode("cp1252"))
    yield Input("wide.html", "<p>The <b>lamp</b> is new.".encode("utf-16"))
    yield Input("mark.html", b"\xef\xbb\xbf<p>The lamp\r\nis new.</p>\r\n")
    yield Input("strict.xhtml", (
        b'<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en"><body><p>The <![CDATA[<lamp>]]> is new.</p>'
        b"<br/></body></html>"))  # fmt: skip
    yield Input("head.html", (
        b'<html lang="en-US"><head><meta http-equiv="Content-Language" content="en"><meta property="og:locale" content="en_US">'
        b'<meta property="og:title" content="The lamp"><meta name="keywords" content="lamp, house"><title>The lamp</title></head>'
        b"<body lang=en><p>Nora sleeps.</p></body></html>"))  # fmt: skip


def _markdown() -> Iterable[Input]:
    return _made(".md", {
        "paragraphs": "# The lamp\n\nThe lamp is **new** and *useful*. The\nhouse is ~~old~~ `x`.\n\nHouse\n=====\n\nNora sleeps.  \nTina works.\\\nPeter too.\n",
        "links": "[The lamp](http://a.example/x_y 'the title') and [the house][one] and ![a lamp](a.png). See <https://a.example>.\n\n[one]: b.html \"The house\"\n\n[![The lamp](a.png)](b)\n",
        "own links": "# The old lamp\n\nSee [the lamp](#the-old-lamp) and [x](#own).\n\n## The house {#own}\n\n## The old lamp\n\n[again](#the-old-lamp-1)\n",
        "lists": "- The lamp\n- [ ] The house\n  - nested **lamp**\n\n    a paragraph\n1. One lamp\n2) Two\n\n* x\n+ The garden\n",
        "quotes": "> The lamp is new.\n> The house\n>\n> > is *old*.\n\n> [!NOTE]\n> Nora sleeps.\n\n> [!tip]- The title\n> The lamp\n",
        "table": "| The lamp | Price |\n|---|:-:|\n| `x\\|y` new | 5 |\n| **The house** | a \\| b |\n\nThe end.\n",
        "code": "```python\nprint('The lamp')\n```\n\n    the lamp\n\n~~~\nThe house\n~~~\n\nRun `ls` now.\n",
        "formulas": "The sum $x_1^2$ is new, and \\(y\\) too. It costs $5 and $7.\n\n$$\na_1 * b\n$$\n\n\\begin{equation}\nx\n\\end{equation}\n\nThe house.\n",
        "front matter": "---\ntitle: The lamp\ntags: [a]\n---\n\n# The lamp\n",
        "front matter in TOML": "+++\ntitle = 'The lamp'\n+++\nThe lamp\n",
        "html": "<div align=center>\n<p title='the lamp'>The <b>house</b></p>\n</div>\n\nThe <kbd>Ctrl</kbd> lamp <img src=a alt='the lamp'>.<br>\n\n<!-- The lamp -->\n\n<div translate=no>\n\nThe lamp\n\n</div>\n\nThe house\n",
        "escapes": "1 \\* 2 &amp; a\\_b snake_case, \\[see below\\], 5 * 3 and a<b.\n",
        "footnotes": "The lamp[^1] is new.[^two]\n\n[^1]: The house is old.\n[^two]: Nora\n    sleeps.\n\n*[HTML]: The language\n\nLamp\n: A useful thing.\n",
        "boxes": "!!! note \"The lamp\"\n    The house is old.\n\n=== \"The garden\"\n    Nora\n\n:::note[The title]\nThe lamp\n:::\n\n::: tip The house\nNora\n:::\n",
        "directives": ":::{admonition} The lamp\n:class: tip\nThe house\n:::\n\n```{note}\nNora sleeps.\n```\n\n```{figure} a.png\n:alt: The lamp\n:width: 5\nThe caption\n```\n\n(label)=\n# The garden\n",
        "wiki": "[[Page]] of the ==new== lamp, :smile: @nora ++ctrl+c++.\n\n{% raw %}The lamp{% endraw %}\n\n{{< figure src=a title=\"The lamp\" >}}\n\n[TOC]\n\n-8<- \"a.md\"\n\n{% highlight c %}\nThe lamp\n{% endhighlight %}\n",
        "citations": "As [@smith2020, p. 5] and @smith2020 say, the lamp [@anna look here] is new.\n",
        "templates": "Hello {{ name }}, the {% if a %}lamp{% endif %} is new: {name}, %s and ${x}.\n",
        "sentences": "Dr. Bell has the lamp. It is 5 km to Basel! \"Has he?\" Nora asked... Yes.\n\n" + TEXTS["several sentences"] + "\n",
        "emphasis": "**The lamp is new. The house** is *old*. ***All*** of_it_ and __strong__ **a**b.\n",
    })  # fmt: skip


def _subtitles() -> Iterable[Input]:
    return [
        *_made(".srt", {
            "cues": "1\n00:00:01,000 --> 00:00:02,000\nThe engineer is looking\n\n2\n00:00:03,000 --> 00:00:04,500\nfor the lamp. Nora sleeps.\n\n3\n00:00:05,000 --> 00:00:06,000\n<i>The house</i>\nis old.\n",
            "speakers": "1\n00:00:01,000 --> 00:00:02,000\n- The lamp?\n- Yes, the lamp.\n\n2\n00:00:03,000 --> 00:00:04,000\nMan: The house\n\n3\n00:00:05,000 --> 00:00:06,000\n[laughing] Nora sleeps.\n\n4\n00:00:07,000 --> 00:00:08,000\n{\\an8}>> THE LAMP\\NIS NEW\n\n5\n00:00:09,000 --> 00:00:10,000\n♪ The garden ♪\n",
            "windows": "\ufeff1\r\n00:00:01,000 --> 00:00:02,000 X1:5\r\n<font color=\"#ff0000\">The lamp</font> is new.\r\n\r\n",
        }),
        *_made(".vtt", {
            "cues": "WEBVTT - lamps\nX: y\n\nSTYLE\n::cue { color: red }\n\nNOTE The lamp\n\nintro\n00:01.000 --> 00:02.000 align:start\n<v Bob>The lamp &amp; the house</v>\n\n00:03.000 --> 00:04.000\n<c.red>is new</c> <00:03.500>now.\n\n00:05.000 --> 00:06.000\n<ruby>lamp<rt>x</rt></ruby> is new\n",
        }),
    ]  # fmt: skip


def _catalogs() -> Iterable[Input]:
    return [
        *_made(".po", {
            "entries": CATALOG + '#: a.c:1\nmsgctxt "menu"\nmsgid "The lamp"\nmsgstr ""\n\n# a note\nmsgid "Done"\nmsgstr "Fertig"\n\n#, fuzzy, c-format\n#| msgid "old"\nmsgid "%d lamps are new."\nmsgstr "alt"\n\n#~ msgid "The house"\n#~ msgstr ""\n',
            "plurals": CATALOG.replace("\n\n", '\n"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n\n') + 'msgid "One lamp"\nmsgid_plural "%d lamps"\nmsgstr[0] ""\nmsgstr[1] ""\n\nmsgid "A house"\nmsgid_plural "Houses"\nmsgstr[0] "Ein Haus"\nmsgstr[1] ""\n',
            "plurals without a header": 'msgid "One lamp"\nmsgid_plural "%d lamps"\nmsgstr[0] ""\nmsgstr[1] ""\n',
            "lines": CATALOG + 'msgid ""\n"The lamp is new.\\n"\n"The house is old.\\n"\nmsgstr ""\n\nmsgid "\\nA tab\\there \\"quoted\\""\nmsgstr ""\n\nmsgid "caf\\303\\251"\nmsgstr ""\n',
            "mnemonics": CATALOG + 'msgid "&Open the lamp"\nmsgstr ""\n\nmsgid "_Save the house"\nmsgstr ""\n\nmsgid "E&xit"\nmsgstr ""\n\nmsgid "R&D && Drag&drop"\nmsgstr ""\n\nmsgid "file_name"\nmsgstr ""\n',
            "messages": CATALOG + 'msgid "You have {n, plural, one {# new message} other {# new messages}}."\nmsgstr ""\n\nmsgid "{g, select, male {He} other {They}} bought {n, plural, =0 {no lamp} one {a lamp} other {# lamps}}."\nmsgstr ""\n\nmsgid "{n, plural, offset:1 one {a} other {b}}"\nmsgstr ""\n',
            "placeholders": CATALOG + 'msgid "Hello {name}, %(count)s of %1$s"\nmsgstr ""\n\nmsgid "<b>The lamp</b> of <a href=\\"x\\">Nora</a>"\nmsgstr ""\n',
        }),
        *_made(".pot", {"template": 'msgid ""\nmsgstr "Language: \\n"\n\nmsgid "The lamp is new."\nmsgstr ""\n'}),
    ]  # fmt: skip


def _xliff() -> Iterable[Input]:
    unit = '<trans-unit id="{}"{}>\n <source>{}</source>{}\n</trans-unit>\n'
    first = "".join(unit.format(number, *row) for number, row in enumerate((
        ("", "The lamp is new.", ""), ("", "The house", "<target>Das Haus</target>"), ("", "Nora sleeps.", '\n <target state="new"/>'),
        (' translate="no"', "The garden", ""), ("", 'The <g id="1">new</g> lamp<x id="2"/> is here.', ""),
        ("", 'The <bpt id="3">&lt;b></bpt>lamp<ept id="3">&lt;/b></ept> of <ph id="4">{0}</ph>', "<note>a note</note>"),
        ("", 'Hello <x id="INTERPOLATION" equiv-text="{{name}}"/>!', ""), ("", 'One line<x id="1" ctype="lb"/>another line', ""),
        (' xml:space="preserve"', "The lamp\n is new.", ""), ("", "&amp;Open the {n, plural, one {lamp} other {# lamps}}", ""),
    )))  # fmt: skip
    segments = (
        '<trans-unit id="s"><source>The lamp. The house.</source>\n<seg-source><mrk mtype="seg" mid="0">The lamp.</mrk> '
        '<mrk mtype="seg" mid="1">The <g id="1">house</g>.</mrk></seg-source></trans-unit>\n'
    )
    second = (
        '<unit id="1"><notes><note>x</note></notes><segment>\n <source>The <pc id="1">new</pc> lamp<ph id="2"/>.</source></segment>'
        '<ignorable><source> </source></ignorable><segment><source>The house</source><target></target></segment></unit>\n'
        '<unit id="2"><segment state="final"><source>Done</source><target>Fertig</target></segment></unit>\n'
        '<unit id="3" translate="no"><segment><source>The garden</source></segment></unit>\n'
        '<unit id="4"><segment><source>The <mrk id="m1" translate="no">Acme</mrk> <mrk id="m2" type="term">lamp</mrk> '
        '<sc id="3"/>is<ec startRef="3"/> <cp hex="0007"/>new.</source></segment></unit>\n'
        '<unit id="5"><originalData><data id="d1">%s</data></originalData><segment><source>Hello <ph id="1" dataRef="d1" disp="%s"/>.</source></segment></unit>\n'
    )  # fmt: skip
    return [
        *_made(".xlf", {"first": XLIFF_1.format("plaintext", first), "segments": XLIFF_1.format("html", segments)}),
        *_made(".xliff", {"second": XLIFF_2.format(second), "no target language": XLIFF_2.format(second).replace(' trgLang="de"', "")}),
    ]  # fmt: skip


def _json() -> Iterable[Input]:
    return [
        *_made(".json", {
            "nested": '{\n  "title": "The lamp",\n  "list": ["The house", 5, null, true, {"a": "Nora sleeps."}],\n  "empty": "",\n  "key": "page.title"\n}\n',
            "escapes": '{"a": "The \\"lamp\\" \\u00e9 \\n The house\\t\\/", "b":"x","c" : "caf\\u00e9 is new"}',
            "languages": '{"lang": "en", "code": "en-US", "site_locale": "de", "text": "en", "camel": "pageTitle"}',
            "messages": '{"n": "{n, plural, one {# lamp} other {# lamps}}", "v": "a lamp | {n} lamps", "p": "Hello {name} and {{x}} and %{y}", "q": "it\'\'s \'{name}\'", "o": "{n, plural, offset:1 one {a lamp} other {lamps}}"}',
            "html": '{"a": "The <b>lamp</b> is <br/>new &amp; old.", "b": "https://a.example", "c": "The lamp is new. The house is old."}',
        }),
        *_made(".arb", {"flutter": '{\n  "@@locale": "en",\n  "hello": "Hello {name}, the lamp is new.",\n  "@hello": {"description": "The lamp", "placeholders": {"name": {"type": "String"}}},\n  "n": "{count, plural, =0{No lamp} =1{One lamp} other{{count} lamps}}"\n}\n'}),
    ]  # fmt: skip


def _tables() -> Iterable[Input]:
    return [
        Input("commas.csv", b'id,text,note\n1,The lamp is new.,keep\n2,"Nora, who sleeps, says ""yes"".",keep\n3,,x\n4,"Two\nlines",x\n', "text"),
        Input("semicolons.csv", b"sep=;\r\nid;text\r\n1;The lamp\r\n2;The house is old.\r\n", "text"),
        Input("two columns.csv", b"title,body,note\nThe lamp,The house is old.,x\nNora,5,y\n", "title,body"),
        Input("numbers.csv", b"The lamp,5\nThe house,6\n", "1"),
        Input("messages.csv", b'key,text\na,"{n, plural, one {# lamp} other {# lamps}}"\nb,Hello {name}\n', "text"),
        Input("tabs.tsv", b"id\ttext\n1\tThe lamp is new.\n2\t\"The\thouse\"\n", "text"),
        Input("wide.tsv", "id\ttext\n1\tThe café is new.\n".encode("utf-16"), "text"),
    ]  # fmt: skip


def _plain() -> Iterable[Input]:
    lines = "".join(f"{text}\n" for text in TEXTS.values() if not set("\n\0\ud800") & {*text} and len(text) < 500)  # fmt: skip
    return [Input("lines.txt", lines.encode()), Input("windows.txt", b"The lamp is new.\r\n\r\nThe house\r\n"), Input("empty.txt", b"")]  # fmt: skip


def damaged_text_files() -> list[Input]:
    """Return files that are refused."""
    found = {
        "broken.json": b"{", "half.json": b'{"a": "x"\n "b": 1}', "deep.json": b"[" * 3_000, "digits.json": b"[" + b"9" * 5_000 + b"]",
        "zero.md": b"a\0b", "damaged.md": "é\n".encode() * 40 + b"\xff\n", "marks.md": b"*" * 1_000_001, "encoding.html": b"<meta charset=klingon><p>x",
        "parts.html": b"<b>" * 50_001, "time.srt": b"1\n00:00:01,000 -> 00:00:02,000\nThe lamp\n", "mistyped.srt": b"1\n00:00:01,000 --> 00:00:02,000\nThe lamp\n\n2\n00:00:03,000 -> 00:00:04,000\nThe house\n",
        "head.vtt": b"00:01.000 --> 00:02.000\nThe lamp\n", "line.po": b'msgid "a"\nmsgstr ""\nThe lamp\n', "entry.po": b'msgid "a"\n\nmsgid "b"\nmsgstr ""\n',
        "none.po": b"# x\n", "other.po": CATALOG.replace(": de", ": fr").encode() + b'msgid "a"\nmsgstr ""\n', "latin.po": CATALOG.replace("UTF-8", "ASCII").encode() + b'msgid "The lamp"\nmsgstr "\xff"\n',
        "cut.xlf": b'<xliff version="1.2"><file>', "version.xlf": b"<xliff/>", "entity.xlf": b'<!DOCTYPE x [<!ENTITY a "b">]><xliff version="1.2"/>',
        "other.xlf": XLIFF_1.format("x", "").replace('"de"', '"fr"').encode(), "source.xlf": XLIFF_1.format("x", "").replace('"en"', '"it"').encode(),
        "no columns.csv": b"a,b\n1,2\n", "empty.csv": b"", "a.pdf": b"%PDF", "a.yaml": b"a: b", "a.tex": b"x", "a.ipynb": b"{}", "a.exe": b"x", "a.doc": b"x",
    }  # fmt: skip
    tables = [
        Input("unknown column.csv", b"id,text\n1,x\n", "body"), Input("column 3.csv", b"The lamp,5\nThe house,6\n", "3"),
        Input("quote.csv", b'id,text\n1,"The" lamp\n2,\\"x\n', "text"), Input("long row.csv", b"id,text\n1,The lamp, new\n", "text"),
    ]  # fmt: skip
    return [*(Input(name, content) for name, content in found.items()), *tables]
