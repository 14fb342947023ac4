"""Requests to LibreTranslate's addresses, and to those that Headway adds."""

import json
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlencode

from http_case import FORM, JSON, MULTIPART, Case, by_form, by_json, by_parts, get, post
from text_files import Input
from texts_and_pages import PAGES, TEXTS

LAMP = "The lamp is new."
GERMAN = "Die Lampe ist neu, und der Ingenieur arbeitet seit gestern nicht mehr in der Küche."
ENGLISH = "The lamp is new, and the engineer has not been working in the kitchen since yesterday."
PAIR = {"source": "en", "target": "de"}
GOOD: dict[str, Any] = {"q": LAMP} | PAIR
TERMS = "lamp\tLeuchte\nNora\t\tkeep\nhouse*\tHaus|Gebäude\n"
STATIC = (
    "/", "/page.css", "/words.js", "/server.js", "/panel.js", "/glossary.js", "/files.js", "/translate.js", "/icon.svg",
    "/attention.js", "/attention.css", "/index.html", "/favicon.ico", "/robots.txt",
)  # fmt: skip


def text_cases() -> list[Case]:
    """Return a request for each text."""
    return [by_json(f"text: {name}", "/translate", q=text, **PAIR) for name, text in TEXTS.items()]


def markup_cases() -> list[Case]:
    """Return a request for each page."""
    return [
        by_json(f"html: {name}", "/translate", q=page, format="html", **PAIR)
        for name, page in PAGES.items()
    ]


def structure_cases() -> list[Case]:
    """Return requests of which the answers keep the tags, whatever the translation."""
    fields: dict[str, dict[str, Any]] = {
        "all fields": {"alternatives": 2, "scores": True, "source": "auto"},
        "a list": {"q": [LAMP, "7"], "alternatives": 1, "scores": True},
        "quality": {"quality": True},
    }
    return [
        *(by_json(f"structure: {name}", "/translate", **GOOD | given) for name, given in fields.items()),
        by_json("structure: align", "/align", q="7 4", **PAIR),
        *markup_cases()[:50:2],
        *(by_json(f"xml: {name}", "/v2/translate", text=[page], target_lang="DE", tag_handling="xml")
          for name, page in (("a tag", "<a>7 <b>4</b></a>"), ("an empty tag", "7 <x/> 4"))),
    ]  # fmt: skip


def field_cases() -> Iterator[Case]:
    """Yield requests with each of the other fields."""
    rows: dict[str, dict[str, Any]] = {
        "alternatives 1": {"alternatives": 1},
        "alternatives 3": {"alternatives": 3},
        "alternatives 10": {"alternatives": 10},
        "alternatives of sentences": {"q": TEXTS["several sentences"], "alternatives": 2},
        "alternatives as a word": {"alternatives": "2"},
        "alternatives below 0": {"alternatives": -3},
        "alternatives of a digit": {"q": "7", "alternatives": 2},
        "scores": {"scores": True},
        "scores and alternatives": {"scores": True, "alternatives": 2},
        "scores of sentences": {"q": TEXTS["several sentences"], "scores": True},
        "scores of a digit": {"q": "7", "scores": True},
        "scores of html": {"q": PAGES["headings"], "format": "html", "scores": True},
        "quality": {"quality": True},
        "quality of sentences": {"q": TEXTS["several sentences"], "quality": True},
        "quality of lines": {"q": TEXTS["lines"], "quality": True},
        "quality of a repetition": {"q": TEXTS["a repetition"], "quality": True},
        "quality of numbers": {"q": "It is 102 miles from Basel to Milan in 1956.", "quality": True},
        "quality of a digit": {"q": "7", "quality": True},
        "quality of html": {"q": PAGES["headings"], "format": "html", "quality": True},
        "quality and alternatives": {"quality": True, "alternatives": 2, "scores": True},
        "a glossary": {"glossary": TERMS},
        "a glossary, several terms": {"glossary": TERMS, "q": "Nora sees the lamp in the houses."},
        "a glossary, no term": {"glossary": TERMS, "q": "Tina waters the flowers."},
        "a glossary, capitals": {"glossary": TERMS, "q": "THE LAMP IS NEW"},
        "a glossary, html": {"glossary": TERMS, "q": "<p>The <b>lamp</b> is new.</p>", "format": "html"},
        "a glossary, quality": {"glossary": TERMS, "quality": True},
        "a glossary with flags": {"glossary": "NEW\tNEU\tcase\n\\d+ lamps?\tLampen\tregex\n", "q": "5 lamps are NEW."},
        "a glossary with a header": {"glossary": "en\tde\nlamp\tLeuchte\n"},
        "an empty glossary": {"glossary": ""},
        "a list": {"q": [LAMP, "Nora sleeps."]},
        "a list of one": {"q": [LAMP]},
        "a list with everything": {"q": [LAMP, "7", "😀"], "alternatives": 1, "scores": True, "quality": True},
        "a list with an empty text": {"q": ["", LAMP]},
        "a list of html": {"q": [PAGES["bold"], PAGES["a link"]], "format": "html"},
        "a list, auto": {"q": [LAMP, ENGLISH], "source": "auto"},
        "auto": {"source": "auto"},
        "auto, German": {"q": GERMAN, "source": "auto"},
        "auto, html": {"q": PAGES["bold"], "source": "auto", "format": "html"},
        "auto, only emoji": {"q": "😀", "source": "auto"},
        "the same language": {"target": "en"},
        "capital codes": {"source": "EN", "target": "De"},
        "an empty format": {"format": ""},
        "flags as words": {"scores": "yes", "quality": "off"},
        "flags as digits": {"scores": "1", "quality": "0"},
        "unknown fields": {"model": "best", "": "x"},
        "a key where none is needed": {"api_key": "any"},
        "a deep field": {"more": {"a": [[1], {"b": [2]}]}},
    }  # fmt: skip
    for name, given in rows.items():
        yield by_json(f"fields: {name}", "/translate", **GOOD | given)


def encoding_cases() -> Iterator[Case]:
    """Yield the same requests in all the ways that clients use."""
    texts = {name: TEXTS[name] for name in ("a sentence", "accents", "line ends of Windows", "an emoji", "a placeholder")}  # fmt: skip
    for name, text in texts.items():
        fields = {"q": text} | PAIR
        yield by_form(f"form: {name}", "/translate", **fields)
        yield by_parts(f"parts: {name}", "/translate", **fields)
        yield get(f"query: {name}", "/translate", **fields)
        yield Case(f"query by POST: {name}", "POST", f"/translate?{urlencode(fields)}")
    for name, more in (("alternatives", {"alternatives": "2"}), ("html", {"format": "html"}), ("scores", {"scores": "true"})):  # fmt: skip
        yield by_form(f"form: {name}", "/translate", **GOOD | more)
        yield by_parts(f"parts: {name}", "/translate", **GOOD | more)
        yield get(f"query: {name}", "/translate", **GOOD | more)
    good = json.dumps(GOOD)
    yield by_parts("parts: a file as text", "/translate", ("q", "a.txt", LAMP.encode()), **PAIR)
    yield by_parts("parts: a glossary as a file", "/translate", ("glossary", "a.tsv", TERMS.encode()), **GOOD)  # fmt: skip
    yield post("parts: Latin-1", "/translate", f"{MULTIPART}; charset=iso-8859-1", by_parts("", "", **GOOD).body)  # fmt: skip
    yield post("raw: a byte order mark", "/translate", JSON, b"\xef\xbb\xbf" + good.encode())
    yield post("raw: spaces around JSON", "/translate", JSON, f" \n{good}\n ")
    yield post("raw: capitals in the type", "/translate", "Application/JSON; Charset=UTF-8", good)
    yield post("raw: a relative of JSON", "/translate", "application/vnd.api+json", good)
    yield post("raw: a field twice", "/translate", JSON, good[:-1] + ', "q": "Nora sleeps."}')
    yield post("raw: a form not in UTF-8", "/translate", FORM, b"q=caf%e9+%ff&source=en&target=de")
    yield by_form("form: q twice", "/translate", ("q", "Nora sleeps."), **GOOD)
    both = urlencode({"q": "Nora sleeps."} | PAIR)
    yield post("in the address and in a form", f"/translate?{both}", FORM, urlencode(GOOD))
    yield post("in the address and in JSON", f"/translate?{both}", JSON, good)


def word_cases() -> Iterator[Case]:
    """Yield requests about languages, words and attention."""
    for name, text in (
        ("English", ENGLISH), ("German", GERMAN), ("another language", "Где моя лампа?"), ("a word", "lamp"), ("a digit", "7"),
        ("an emoji", "😀"), ("a space", " "), ("a long text", ENGLISH * 40),
    ):  # fmt: skip
        yield by_json(f"detect: {name}", "/detect", q=text)
        if name != "a long text":
            yield by_form(f"detect form: {name}", "/detect", q=text)
    yield by_json("detect: a list", "/detect", q=[ENGLISH, GERMAN])
    for name in (
        "a sentence", "several sentences", "lines", "a placeholder", "an address", "an emoji", "a digit", "a heading",
        "spaces inside", "tags in text", "another script", "quotes", "a unit",
    ):  # fmt: skip
        yield by_json(f"align: {name}", "/align", q=TEXTS[name], **PAIR)
    yield by_json("align: a glossary", "/align", glossary=TERMS, **GOOD)
    yield by_json("align: auto", "/align", **GOOD | {"source": "auto"})
    yield by_form("align: form", "/align", **GOOD)
    for name in ("a sentence", "lines", "a placeholder", "a heading"):
        yield by_json(f"attention: {name}", "/attention", q=TEXTS[name], **PAIR)
    yield by_json(
        "attention: a translation", "/attention", translation="Die Lampe ist neu.", **GOOD
    )
    yield by_json("attention: another translation", "/attention", translation="Nora", **GOOD)


def stream_cases() -> Iterator[Case]:
    """Yield requests for streams."""
    for name in (
        "a sentence", "several sentences", "two paragraphs", "lines", "spaces around", "a placeholder", "placeholders",
        "an emoji", "a digit", "a space", "a heading", "a unit", "an entity", "a long sentence", "line ends of Windows",
    ):  # fmt: skip
        yield by_json(f"stream: {name}", "/stream", q=TEXTS[name], **PAIR)
    yield by_form("stream: form", "/stream", **GOOD)
    yield by_json("stream: auto", "/stream", **GOOD | {"source": "auto"})
    yield by_json("stream: the same language", "/stream", **GOOD | {"target": "en"})


def file_cases() -> Iterator[Case]:
    """Yield files, and then the requests that fetch their translations."""
    table = b'id,text,note\n1,The lamp is new.,x\n2,"Nora, who sleeps",y\n'
    files: dict[str, tuple[str, bytes, dict[str, str]]] = {
        "text": ("a.txt", b"The lamp is new.\n\nNora sleeps.\n", {}),
        "html": ("my page.html", PAGES["a whole page"].encode(), {}),
        "markdown": ("read me.md", b"# The lamp\n\nThe **lamp** is [new](x).\n\n- `code`\n", {}),
        "subtitles": ("a.srt", b"1\n00:00:01,000 --> 00:00:02,000\nThe lamp\n\n2\n00:00:03,000 --> 00:00:04,000\nis new.\n", {}),
        "json": ("a.json", b'{"title": "The lamp", "n": 5, "lang": "en"}', {}),
        "catalog": ("a.po", b'msgid ""\nmsgstr "Language: de\\n"\n\nmsgid "The lamp"\nmsgstr ""\n', {}),
        "table": ("a.csv", table, {"columns": "text"}),
        "table, two columns": ("a.csv", table, {"columns": "text,note"}),
        "auto": ("a.txt", ENGLISH.encode(), {"source": "auto"}),
        "quality": ("a.md", b"The lamp is new. Nora sleeps.\n\nIt is 102 miles.\n", {"quality": "true"}),
        "glossary": ("a.md", b"The lamp is new.\n", {"glossary": TERMS}),
        "a name with folders": ("../etc/pass wd.txt", b"The lamp is new.", {}),
        "nothing to translate": ("a.html", b"<p>5</p>", {}),
        "an empty text": ("a.txt", b"", {}),
        "the same language": ("a.txt", b"The lamp is new.", {"target": "en"}),
        "UTF-16": ("a.txt", "The lamp is new.\n".encode("utf-16"), {}),
        "Latin-1": ("a.html", "<meta charset=latin1><p>The caf\xe9 is new.".encode("latin-1"), {}),
    }  # fmt: skip
    for name, (file, content, fields) in files.items():
        case = f"file: {name}"
        yield by_parts(case, "/translate_file", ("file", file, content), **PAIR | fields)
        yield get(f"{case}, fetched", f"<translatedFileUrl of {case}>")
        if "quality" in fields:
            yield get(f"{case}, its quality", f"<qualityUrl of {case}>")
    yield by_parts("file: a glossary as a file", "/translate_file", ("file", "a.txt", b"The lamp is new.\n"), ("glossary", "t.tsv", TERMS.encode()), **PAIR)  # fmt: skip
    yield get("file: fetched again", "<translatedFileUrl of file: text>")


def document_cases(inputs: Iterable[Input]) -> Iterator[Case]:
    """Yield for each file the request that translates it, and the one that fetches the translation."""
    for each in inputs:
        case = f"document: {each.name}"
        more = {"columns": each.columns} if each.columns else {}
        yield by_parts(case, "/translate_file", ("file", each.name, each.content), **PAIR, **more)
        yield get(f"{case}, fetched", f"<translatedFileUrl of {case}>")


def page_files() -> Iterator[Case]:
    """Yield requests for the page and what belongs to it."""
    for path in STATIC:
        yield get(f"GET {path}", path)


def information() -> Iterator[Case]:
    """Yield requests for what the server says of itself; their answers do not depend on the processor."""
    for path in ("/languages", "/frontend/settings", "/health"):
        yield get(f"GET {path}", path)
    for path in ("/", "/health", "/languages", "/translate", "/v2/translate", "/spec"):
        yield Case(f"HEAD {path}", "HEAD", path)
        yield Case(f"OPTIONS {path}", "OPTIONS", path)


def descriptions() -> Iterator[Case]:
    """Yield requests for the description of the addresses and for the metrics, which are long."""
    yield get("GET /spec", "/spec")
    yield get("GET /metrics", "/metrics")


def errors() -> Iterator[Case]:
    """Yield requests that are rejected, or that need no translation."""
    rows: dict[str, Any] = {
        "no q": {"q": None}, "an empty q": {"q": ""}, "a q of a number": {"q": 5}, "a q of an object": {"q": {"a": 1}},
        "a q of numbers": {"q": [1, 2]}, "a q of null": {"q": [None]}, "an empty list": {"q": []}, "a list in a list": {"q": [[LAMP]]},
        "q true": {"q": True}, "q 0": {"q": 0},
        "no source": {"source": None}, "an empty source": {"source": ""}, "an unknown source": {"source": "xx"},
        "a source of a number": {"source": 5}, "a list of sources": {"source": ["en"]}, "a space before the source": {"source": " en"},
        "no target": {"target": None}, "an empty target": {"target": ""}, "an unknown target": {"target": "xx"},
        "a target of a number": {"target": 5}, "a long target": {"target": "x" * 3_000}, "auto as target": {"target": "auto"},
        "the wrong way": {"source": "de", "target": "en"}, "nothing": {"q": None, "source": None, "target": None},
        "an unknown format": {"format": "pdf"}, "a format of a number": {"format": 5}, "a format in capitals": {"format": "HTML"},
        "a format of a list": {"format": ["text"]},
        "alternatives of a word": {"alternatives": "x"}, "an alternative too many": {"alternatives": 11},
        "alternatives of a list": {"alternatives": [1]}, "alternatives, huge": {"alternatives": 10**30},
        "alternatives of an object": {"alternatives": {}}, "empty alternatives": {"alternatives": ""},
        "scores of a word": {"scores": "maybe"}, "scores of a list": {"scores": [True]}, "quality of a word": {"quality": "good"},
        "q too long": {"q": "x" * 10_001}, "a list too long": {"q": ["7"] * 65}, "a list with a text too long": {"q": ["7", "x" * 10_001]},
        "an unknown glossary": {"glossary": "animals"}, "a glossary of lines": {"glossary": "lamp,Leuchte\nhouse,Haus"},
        "a glossary with a wrong row": {"glossary": "lamp\tLeuchte\n\tHaus\n"}, "a glossary with a wrong flag": {"glossary": "lamp\tLeuchte\tloud\n"},
        "a glossary with a wrong pattern": {"glossary": "(lamp\tLeuchte\tregex\n"},
        "a glossary of a number": {"glossary": 5}, "a glossary of TBX": {"glossary": "<?xml version='1.0'?><tbx/>"},
        "a glossary too long": {"glossary": "lamp\tLeuchte\n" * 8_000},
        "a deep field": {"more": [[[[[[[[[1]]]]]]]]]}, "many values": {"more": [0] * 5_000},
        "a digit": {"q": "7"}, "only emoji": {"q": "😀"}, "dots": {"q": "..."}, "the same language": {"target": "en"},
        "html without letters": {"q": "<p>5</p>", "format": "html"},
    }  # fmt: skip
    for name, given in rows.items():
        fields = {key: value for key, value in (GOOD | given).items() if value is not None}
        yield by_json(f"error: {name}", "/translate", **fields)
    for path in ("/align", "/stream", "/attention", "/detect"):
        for name, given in (
            ("no q", {"q": ""}), ("a list", {"q": [LAMP]}), ("an unknown source", {"source": "xx"}), ("no target", {"target": ""}),
        ):  # fmt: skip
            if path == "/detect" and name != "no q":
                continue
            yield by_json(f"error: {path} {name}", path, **GOOD | given)
    yield by_json("error: /attention no letter", "/attention", **GOOD | {"q": "..."})
    yield by_json("error: /detect a number", "/detect", q=5)
    yield by_json("error: /suggest", "/suggest", q=LAMP, s="Die Lampe ist neu.", **PAIR)
    yield from _broken_bodies()
    yield from _wrong_files()
    for path in ("/nothing", "/translate/", "/Translate", "//translate", "/translate%00", "/download_file/x", "/v2", "/v2/nothing", "/static/x", "/page.css/"):  # fmt: skip
        yield get(f"error: address {path}", path)
    for path in ("/translate", "/detect", "/languages", "/health", "/stream", "/translate_file", "/v2/translate", "/v2/usage", "/"):  # fmt: skip
        for method in ("GET", "POST", "PUT", "DELETE", "PATCH"):
            yield Case(f"method: {method} {path}", method, path)
    origin = by_json("error: Origin of another site", "/translate", **GOOD | {"q": "7"})
    yield origin.with_header("Origin", "https://evil.example")
    two_hosts = get("error: two Hosts", "/health")
    yield two_hosts.with_header("Host", "localhost").with_header("Host", "example.org")
    yield get("error: an empty Host", "/health").with_header("Host", "")
    yield get("error: a foreign Host", "/health").with_header("Host", "evil.example")
    yield by_json("error: compressed", "/translate", **GOOD).with_header("Content-Encoding", "gzip")
    yield post("error: a length that is no number", "/translate", JSON, "").with_header("Content-Length", "x")  # fmt: skip
    yield get("error: a large header", "/health").with_header("X-Large", "x" * 20_000)


def _broken_bodies() -> Iterator[Case]:
    good = json.dumps(GOOD)
    rows: dict[str, tuple[str, bytes | str]] = {
        "a list": (JSON, "[1, 2]"), "a text": (JSON, '"text"'), "null": (JSON, "null"), "no body": (JSON, ""), "half": (JSON, '{"q": "x"'),
        "two objects": (JSON, '{"q": "x"} {"q": "y"}'), "single quotes": (JSON, "{'q': 'x'}"),
        "NaN": (JSON, good[:-1] + ', "more": NaN}'), "5,000 digits": (JSON, '{"q": ' + "9" * 5_000 + "}"),
        "deep": (JSON, "[" * 50_000), "not UTF-8": (JSON, b'{"q": "\xff"}'), "UTF-16": (JSON, good.encode("utf-16-le")),
        "a wrong second line": (JSON, '{"q": "x",\n "source": en}'),
        "JSON as text": ("text/plain", good), "JSON without a type": ("", good), "JSON as a form": (FORM, good), "a form as JSON": (JSON, urlencode(GOOD)),
        "a form without a type": ("", urlencode(GOOD)), "signs": (FORM, b"&&==&;=%%%"), "many fields": (FORM, "&".join(f"a{n}=1" for n in range(40))),
        "parts without a boundary": ("multipart/form-data", urlencode(GOOD)), "parts that are none": (MULTIPART, "nothing"),
        "parts of an unknown charset": (f"{MULTIPART}; charset=punycode", by_parts("", "", **GOOD).body),
        "XML": ("application/xml", "<q>text</q>"),
    }  # fmt: skip
    for name, (kind, body) in rows.items():
        yield post(f"body: {name}", "/translate", kind, body)


def _wrong_files() -> Iterator[Case]:
    rows: dict[str, tuple[str, bytes, dict[str, str]]] = {
        "an unknown kind": ("a.exe", b"x", {}), "a kind that can be converted": ("a.pdf", b"%PDF", {}), "YAML": ("a.yaml", b"a: b", {}),
        "no suffix": ("a", b"x", {}), "broken JSON": ("a.json", b"{", {}), "a broken package": ("a.docx", b"PK\3\4x", {}),
        "no package": ("a.docx", b"x", {}), "no book": ("a.epub", b"x", {}), "a table without columns": ("a.csv", b"a,b\n1,2\n", {}),
        "a table with an unknown column": ("a.csv", b"a,b\n1,2\n", {"columns": "c"}), "columns of a text": ("a.txt", b"x", {"columns": "a"}),
        "a wrong time": ("a.srt", b"1\n00:00 -> 00:01\nx\n", {}), "broken XML": ("a.xliff", b"<xliff><file>", {}),
        "a catalog of another language": ("a.po", b'msgid ""\nmsgstr "Language: fr\\n"\n\nmsgid "a"\nmsgstr ""\n', {}),
        "damaged UTF-8": ("a.md", "é\n".encode() * 40 + b"\xff\n", {}),
        "an unknown source": ("a.txt", b"x", {"source": "xx"}), "no target": ("a.txt", b"x", {"target": ""}),
        "an unknown glossary": ("a.txt", b"x", {"glossary": "animals"}),
    }  # fmt: skip
    for name, (file, content, fields) in rows.items():
        yield by_parts(
            f"file error: {name}", "/translate_file", ("file", file, content), **PAIR | fields
        )
    yield by_parts("file error: no file", "/translate_file", **PAIR)
    yield by_parts("file error: a text as file", "/translate_file", file="x", **PAIR)
    yield by_parts("file error: no name", "/translate_file", ("file", "", b"x"), **PAIR)
    yield by_json("file error: JSON", "/translate_file", file="x", **PAIR)


def limit_cases() -> Iterator[Case]:
    """Yield requests to a server with the settings in ``server.LIMITS``, each with a key of its own."""
    rows: dict[str, dict[str, Any]] = {
        "as long as allowed": {"q": "lamp " * 39 + "lamp."}, "one character too long": {"q": "x" * 201},
        "a list": {"q": ["7"] * 50}, "a list too long": {"q": ["7"] * 71}, "alternatives": {"alternatives": 3},
        "an alternative too many": {"alternatives": 4}, "a glossary by name": {"glossary": "tools"},
        "a glossary by name, html": {"glossary": "tools", "q": "<b>The lamp</b> is new.", "format": "html"},
        "a glossary by name, other columns": {"glossary": "places", "q": "Nora is in Rome."},
        "an unknown name": {"glossary": "laws"}, "a glossary too long": {"glossary": "lamp\tLeuchte\n" * 30},
        "a body too large": {"more": "x" * 6_000},
    }  # fmt: skip
    for number, (name, given) in enumerate(rows.items()):
        yield by_json(f"limit: {name}", "/translate", **GOOD | given).with_key(f"key-{number}")
    yield by_json("limit: align by name", "/align", glossary="tools", **GOOD).with_key("key-20")
    for name, size in (("a large file", 1_900), ("a file too large", 2_100), ("a file far too large", 9_000)):  # fmt: skip
        content = b"7\n" * (size // 2)
        yield by_parts(f"limit: {name}", "/translate_file", ("file", "a.txt", content), **PAIR).with_key("key-21")  # fmt: skip
    for path in ("/frontend/settings", "/spec", "/languages"):
        yield get(f"limit: {path}", path)
    full = by_json("rate: a list of all", "/translate", **GOOD | {"q": ["7"] * 60})
    yield full.with_key("key-22")
    yield by_json("rate: one too many", "/translate", **GOOD | {"q": "7"}).with_key("key-22")
    yield by_json("rate: a list too many", "/translate", **GOOD | {"q": ["7"] * 50}).with_key("key-22")  # fmt: skip
    yield by_json("rate: DeepL", "/v2/translate", text=["7"], target_lang="DE").with_key("key-22")
    yield by_json("rate: a question about the rate", "/detect", q="7").with_key("key-22")
    yield by_json("rate: another key", "/translate", **GOOD | {"q": "7"}).with_key("key-23")
    half = by_json("limit: half a body", "/translate", **GOOD).with_key("key-24")
    yield half.with_header("Content-Length", "500")


def key_cases() -> Iterator[Case]:
    """Yield requests with and without keys; the last ones use up the wrong keys that are allowed."""
    digit = GOOD | {"q": "7"}
    for path in (
        "/translate",
        "/detect",
        "/align",
        "/stream",
        "/attention",
        "/translate_file",
        "/suggest",
    ):
        yield by_json(f"key: none, {path}", path, **digit)
    yield by_json("key: none, /v2/translate", "/v2/translate", text=["7"], target_lang="DE")
    yield get("key: none, /v2/languages", "/v2/languages")
    yield get("key: none, GET /translate", "/translate", **digit)
    for name, absent in (("empty", ""), ("null", None)):
        yield by_json(f"key: {name}", "/translate", api_key=absent, **digit)
    yield by_json("key: in JSON", "/translate", api_key="key-30", **digit)
    yield by_form("key: in a form", "/translate", api_key="key-31", **digit)
    yield by_parts("key: in parts", "/translate", api_key="key-32", **digit)
    yield get("key: in the address", "/translate", api_key="key-33", **digit)
    yield by_json("key: Bearer", "/translate", **digit).with_key("key-34")
    yield by_json("key: DeepL's", "/translate", **digit).with_header("Authorization", "DeepL-Auth-Key key-35")  # fmt: skip
    yield by_json("key: small letters", "/translate", **digit).with_header("authorization", "bearer key-36")  # fmt: skip
    yield by_json("key: Basic", "/translate", **digit).with_header(
        "Authorization", "Basic a2V5LTM3"
    )
    yield get("key: usage of one", "/v2/usage").with_key("key-38")
    yield by_json("key: DeepL by one", "/v2/translate", text=["7", "8"], target_lang="DE").with_key("key-38")  # fmt: skip
    yield get("key: usage after two texts", "/v2/usage").with_key("key-38")
    yield get("key: usage of another", "/v2/usage").with_key("key-39")
    glossary = {"name": "a", "source_lang": "en", "target_lang": "de", "entries": "lamp\tLeuchte"}
    for number in range(3):
        made = by_json(f"key: glossary create {number}", "/v2/glossaries", **glossary)
        yield made.with_key("key-40")
    own = "/v2/glossaries/<glossary_id of key: glossary create 0>"
    yield get("key: glossary of the owner", own).with_key("key-40")
    yield get("key: glossary of another", own).with_key("key-41")
    yield get("key: glossaries of another", "/v2/glossaries").with_key("key-41")
    yield get("key: metrics without a token", "/metrics")
    yield get("key: metrics with a wrong token", "/metrics").with_key("wrong")
    yield get("key: metrics with its token", "/metrics").with_key("token-of-metrics")
    for name, wrong in (("wrong", "wrong"), ("a number", 5), ("a list", ["key-1"]), ("nearly", "key-"), ("signs", "ü\0'; --")):  # fmt: skip
        yield by_json(f"key: {name}", "/translate", api_key=wrong, **digit)
    yield by_json("key: wrong, DeepL", "/v2/translate", text=["7"], target_lang="DE").with_key(
        "wrong"
    )
    yield by_json("key: wrong, HTTP header", "/detect", q="7").with_key("wrong")


def several_cases() -> Iterator[Case]:
    """Yield requests to a server of German and English in both directions, and of German to French."""
    rows: dict[str, dict[str, Any]] = {
        "English to German": {}, "German to English": {"q": GERMAN, "source": "de", "target": "en"},
        "through German": {"target": "fr"}, "through German, alternatives": {"target": "fr", "alternatives": 2, "scores": True},
        "through German, html": {"target": "fr", "q": PAGES["nested inline tags"], "format": "html"},
        "through German, quality": {"target": "fr", "quality": True}, "through German, a glossary": {"target": "fr", "glossary": TERMS},
        "auto, English": {"q": ENGLISH, "source": "auto"}, "auto, German": {"q": GERMAN, "source": "auto", "target": "en"},
        "auto, German to German": {"q": GERMAN, "source": "auto"}, "auto, through German": {"q": ENGLISH, "source": "auto", "target": "fr"},
        "auto, a list": {"q": [ENGLISH, GERMAN], "source": "auto"}, "auto, html": {"q": f"<p>{GERMAN}</p>", "source": "auto", "target": "en", "format": "html"},
        "auto, only emoji": {"q": "😀", "source": "auto"}, "auto to nowhere": {"source": "auto", "target": "xx"},
        "no way": {"source": "fr", "target": "en"},
    }  # fmt: skip
    for name, given in rows.items():
        yield by_json(f"several: {name}", "/translate", **GOOD | given)
    yield by_json("several: align through German", "/align", **GOOD | {"target": "fr"})
    yield by_json("several: stream through German", "/stream", **GOOD | {"target": "fr"})
    yield by_json("several: attention through German", "/attention", **GOOD | {"target": "fr"})
    for name, text in (("English", ENGLISH), ("German", GERMAN), ("French", "La lampe est neuve et la maison est vieille."), ("a digit", "7")):  # fmt: skip
        yield by_json(f"several: detect {name}", "/detect", q=text)
    yield by_json(
        "several: DeepL detects", "/v2/translate", text=[ENGLISH, GERMAN, "7"], target_lang="DE"
    )
    yield by_json("several: DeepL, British", "/v2/translate", text=[GERMAN], target_lang="EN-GB")
    yield by_json("several: DeepL through German", "/v2/translate", text=[ENGLISH], source_lang="EN", target_lang="FR")  # fmt: skip
    yield by_json("several: DeepL, no way", "/v2/translate", text=[ENGLISH], source_lang="FR", target_lang="EN")  # fmt: skip
    yield by_parts("several: file, auto", "/translate_file", ("file", "a.html", f"<html lang=de><p>{GERMAN}".encode()), source="auto", target="en")  # fmt: skip
    yield get("several: file, fetched", "<translatedFileUrl of several: file, auto>")
    for path in ("/languages", "/frontend/settings", "/spec", "/health", "/v2/languages", "/v2/languages?type=target", "/v2/glossary-language-pairs"):  # fmt: skip
        yield get(f"several: {path}", path)
