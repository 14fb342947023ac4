"""Requests to DeepL's addresses."""

from collections.abc import Iterator
from typing import Any

from http_case import Case, by_form, by_json, by_parts, get, post
from texts_and_pages import PAGES, TEXTS

GOOD: dict[str, Any] = {"text": ["The lamp is new."], "target_lang": "DE"}
ENGLISH = {"source_lang": "EN"}
XML = {
    "a tag": "<p>The lamp is new.</p>",
    "bold": "<p>The <b>lamp</b> is new.</p>",
    "nested": "<a>The <b>old <i>lamp</i></b> is <c/>new.</a>",
    "two sentences": "<p>The lamp is new. The house is old.</p><p>Nora sleeps.</p>",
    "an empty element": "The lamp<x/> is <y/>new.",
    "attributes": "<p a='1' b=\"2\">The <b c='x &amp; y'>lamp</b> is new.</p>",
    "entities": "<p>Tom &amp; Nora &lt; 5 &#8211; x</p>",
    "a comment": "<p>The <!-- old --> lamp is new.</p>",
    "CDATA": "<p>The <![CDATA[<lamp>]]> is new.</p>",
    "an instruction": "<?x y?><p>The lamp is new.</p>",
    "names with a prefix": "<x:p xmlns:x='u'>The <x:b>lamp</x:b> is new.</x:p>",
    "spaces": "<p>  The <b> lamp </b>\n is new. </p>\n",
    "no tag": "The lamp is new.",
    "an element without text beside it": "<par>The lamp</par><par>The house</par>",
    "only tags": "<a><b/></a>",
    "a placeholder": "<p>Hello <b>{name}</b>, the lamp is new.</p>",
}


def deepl_cases() -> Iterator[Case]:
    """Yield requests in the order of a client's work."""
    for name in (
        "a sentence", "several sentences", "two paragraphs", "lines", "spaces around", "a placeholder", "an emoji", "a digit",
        "a heading", "accents", "an address", "no full stop",
    ):  # fmt: skip
        yield by_json(f"deepl: {name}", "/v2/translate", **GOOD | ENGLISH | {"text": [TEXTS[name]]})
    rows: dict[str, dict[str, Any]] = {
        "a text": {"text": "The lamp is new."}, "two texts": {"text": ["The lamp is new.", "Nora sleeps."]}, "no source": {"source_lang": None},
        "small letters": {"source_lang": "en", "target_lang": "de"}, "a region": {"source_lang": "en-US", "target_lang": "de-AT"},
        "one sentence": {"split_sentences": "0", "text": [TEXTS["several sentences"]]}, "no new lines": {"split_sentences": "nonewlines", "text": [TEXTS["lines"]]},
        "lines, one sentence": {"split_sentences": "0", "text": [TEXTS["lines"]]}, "split as usual": {"split_sentences": "1", "text": [TEXTS["lines"]]},
        "prefer more": {"formality": "prefer_more"}, "prefer less": {"formality": "prefer_less"}, "billed": {"show_billed_characters": True},
        "fields without effect": {"context": "x", "preserve_formatting": True, "model_type": "quality_optimized", "style_id": "x"},
        "fifty texts": {"text": ["7"] * 50}, "an empty text": {"text": ["", "7"]}, "the same language": {"target_lang": "EN-GB"},
        "html": {"tag_handling": "html", "text": [PAGES["nested inline tags"]]}, "html, translate=no": {"tag_handling": "html", "text": [PAGES["translate=no"]]},
        "html, a page": {"tag_handling": "html", "text": [PAGES["a whole page"]]},
        "html, no new lines": {"tag_handling": "html", "split_sentences": "nonewlines", "text": ["<p>The lamp\nis new.</p>"]},
    }  # fmt: skip
    for name, given in rows.items():
        fields = {
            key: value for key, value in (GOOD | ENGLISH | given).items() if value is not None
        }
        yield by_json(f"deepl: {name}", "/v2/translate", **fields)
    yield by_form("deepl form: two texts", "/v2/translate", ("text", "The lamp is new."), ("text", "7"), target_lang="DE", source_lang="EN")  # fmt: skip
    yield by_form("deepl form: tags", "/v2/translate", ("text", XML["bold"]), target_lang="DE", tag_handling="xml", ignore_tags="b,c")  # fmt: skip
    yield by_parts(
        "deepl parts: a text", "/v2/translate", text="The lamp is new.", target_lang="DE"
    )
    for name, text in XML.items():
        yield by_json(f"deepl xml: {name}", "/v2/translate", tag_handling="xml", **GOOD | ENGLISH | {"text": [text]})  # fmt: skip
    options: dict[str, dict[str, Any]] = {
        "ignored": {"ignore_tags": ["b"]}, "ignored, commas": {"ignore_tags": "b, i"}, "splitting": {"splitting_tags": ["b"]},
        "not splitting": {"non_splitting_tags": ["par"]}, "no outline": {"outline_detection": False}, "outline as a word": {"outline_detection": "0"},
        "no outline, splitting": {"outline_detection": False, "splitting_tags": ["par"]},
    }  # fmt: skip
    for name, given in options.items():
        text = "<par>The lamp <b>is new</b>. <i>Nora</i> sleeps.</par><par>The house</par>"
        yield by_json(f"deepl xml: {name}", "/v2/translate", tag_handling="xml", **GOOD | ENGLISH | given | {"text": [text]})  # fmt: skip
    for path in (
        "/v2/languages",
        "/v2/languages?type=source",
        "/v2/languages?type=target",
        "/v2/usage",
    ):
        yield get(f"deepl: GET {path}", path)
    yield from _glossaries()
    yield from _documents()
    yield from _browsers()


def _glossaries() -> Iterator[Case]:
    """Yield the life of two glossaries; ``glossary use`` are the cases that only need one to be there."""
    fields = {
        "name": "My terms",
        "source_lang": "en",
        "target_lang": "de",
        "entries": "lamp\tLeuchte\nhouse\tGebäude",
    }
    yield get("glossary pairs", "/v2/glossary-language-pairs")
    yield get("glossary list: none", "/v2/glossaries")
    yield by_json("glossary create", "/v2/glossaries", **fields, entries_format="tsv")
    yield by_json("glossary create csv", "/v2/glossaries", **fields | {"entries": 'lamp,Leuchte,en,de\n"a, b",c'}, entries_format="csv")  # fmt: skip
    yield by_form("glossary create form", "/v2/glossaries", **fields)
    for name, given in {
        "no name": {"name": ""}, "no entries": {"entries": ""}, "a wrong row": {"entries": "lamp"}, "a term twice": {"entries": "lamp\tx\nlamp\ty"},
        "an empty target": {"entries": "lamp\t"}, "a wrong format": {"entries_format": "xls"}, "the wrong way": {"source_lang": "de", "target_lang": "en"},
        "an unknown language": {"source_lang": "xx"}, "a long name": {"name": "x" * 1_025}, "a long term": {"entries": "x" * 1_100 + "\ty"},
        "a control character": {"entries": "lamp\x01\ty"}, "too many entries": {"entries": "".join(f"a{n}\tb\n" for n in range(5_001))},
    }.items():  # fmt: skip
        yield by_json(f"glossary create error: {name}", "/v2/glossaries", **fields | given)
    made = "<glossary_id of glossary create>"
    yield get("glossary list: three", "/v2/glossaries")
    yield get("glossary get", f"/v2/glossaries/{made}")
    yield get("glossary entries", f"/v2/glossaries/{made}/entries")
    yield get(
        "glossary entries of csv", "/v2/glossaries/<glossary_id of glossary create csv>/entries"
    )
    for name, text in (("a term", "The lamp is new."), ("two terms", "The lamp is in the house."), ("no term", "Nora sleeps."), ("a heading", "THE LAMP")):  # fmt: skip
        yield by_json(
            f"glossary use: {name}",
            "/v2/translate",
            glossary_id=made,
            **GOOD | ENGLISH | {"text": [text]},
        )
    yield by_json("glossary use: html", "/v2/translate", glossary_id=made, tag_handling="html", **GOOD | ENGLISH | {"text": [PAGES["bold"]]})  # fmt: skip
    yield by_json("glossary use: no source", "/v2/translate", glossary_id=made, **GOOD)
    unknown = "12345678-1234-1234-1234-123456789abc"
    yield by_json("glossary use: unknown", "/v2/translate", glossary_id=unknown, **GOOD | ENGLISH)
    yield by_json("glossary use: no identifier", "/v2/translate", glossary_id="x", **GOOD | ENGLISH)
    yield by_parts("glossary use: document", "/v2/document", ("file", "a.txt", b"The lamp is new.\n"), source_lang="EN", target_lang="DE", glossary_id=made)  # fmt: skip
    yield from _fetch("glossary use: document")
    yield get("glossary get: unknown", f"/v2/glossaries/{unknown}")
    yield get("glossary get: no identifier", "/v2/glossaries/x")
    yield get("glossary entries: unknown", f"/v2/glossaries/{unknown}/entries")
    yield Case("glossary delete", "DELETE", f"/v2/glossaries/{made}")
    yield Case("glossary delete again", "DELETE", f"/v2/glossaries/{made}")
    yield get("glossary get: deleted", f"/v2/glossaries/{made}")
    yield by_json("glossary use: deleted", "/v2/translate", glossary_id=made, **GOOD | ENGLISH)
    yield get("glossary list: two", "/v2/glossaries")


def _fetch(name: str) -> Iterator[Case]:
    """Yield the requests that wait for a document and fetch it."""
    address, key = f"/v2/document/<document_id of {name}>", f"<document_key of {name}>"
    yield by_form(f"{name}, state", address, document_key=key)._replace(ends=("done", "error"))
    yield by_form(f"{name}, result", f"{address}/result", document_key=key)


def _documents() -> Iterator[Case]:
    pair = {"source_lang": "EN", "target_lang": "DE"}
    files: dict[str, tuple[str, bytes, dict[str, str]]] = {
        "text": ("a.txt", b"The lamp is new.\n\nNora sleeps.\n", pair), "html": ("a.html", PAGES["a whole page"].encode(), pair),
        "no source": ("a.txt", b"The lamp is new, and the engineer works in the kitchen.", {"target_lang": "DE"}),
        "another name": ("x", b"# The lamp\n", pair | {"filename": "b.md"}), "output format": ("a.md", b"# The lamp\n", pair | {"output_format": "md"}),
        "a table": ("a.csv", b"id,text\n1,The lamp\n", pair | {"columns": "text"}), "terms": ("a.txt", b"The lamp is new.", pair | {"glossary": "lamp\tLeuchte\n"}),
        "quality": ("a.txt", b"The lamp is new. Nora sleeps.\n", pair | {"quality": "true"}), "damaged": ("a.json", b"{", pair),
        "a table without columns": ("a.csv", b"a,b\n1,2\n", pair),
    }  # fmt: skip
    for name, (file, content, fields) in files.items():
        case = f"document: {name}"
        yield by_parts(case, "/v2/document", ("file", file, content), **fields)
        yield from _fetch(case)
        if "quality" in fields:
            yield by_json(f"{case}, table", f"/v2/document/<document_id of {case}>/quality", document_key=f"<document_key of {case}>")  # fmt: skip
    first = "/v2/document/<document_id of document: text>"
    key = "<document_key of document: text>"
    yield by_json("document: state as JSON", first, document_key=key)
    yield by_json("document: no quality", f"{first}/quality", document_key=key)
    yield by_json("document: wrong key", first, document_key="x")
    yield by_json("document: no key", first)
    yield by_json("document: wrong key, result", f"{first}/result", document_key="x")
    yield by_json("document: cancel", f"{first}/cancel", document_key=key)
    yield by_json("document: cancelled", first, document_key=key)


def _browsers() -> Iterator[Case]:
    """Yield requests as browsers send them for pages."""
    headers = {
        "the same site": (("Sec-Fetch-Site", "same-origin"),), "the user": (("Sec-Fetch-Site", "none"),), "another site": (("Sec-Fetch-Site", "cross-site"),),
        "another port": (("Sec-Fetch-Site", "same-site"), ("Origin", "http://127.0.0.1:1")), "a foreign Origin": (("Origin", "https://evil.example"),),
        "no Origin": (("Origin", "null"),), "an extension": (("Origin", "chrome-extension://abc"),),
        "another site with an Origin": (("Sec-Fetch-Site", "cross-site"), ("Origin", "https://evil.example")),
        "a foreign Host": (("Host", "evil.example"),), "localhost": (("Host", "localhost"),), "IPv6": (("Host", "[::1]"),), "a Host with a port": (("Host", "127.0.0.2:80"),),
    }  # fmt: skip
    for name, given in headers.items():
        yield by_json(f"browser: {name}", "/v2/translate", **GOOD | {"text": ["7"]})._replace(
            headers=(("Content-Type", "application/json"), *given)
        )
        yield get(f"browser: {name}, GET", "/v2/languages")._replace(headers=given)


def deepl_errors() -> Iterator[Case]:
    """Yield requests that are rejected."""
    rows: dict[str, dict[str, Any]] = {
        "no text": {"text": None}, "an empty list": {"text": []}, "a number": {"text": 5}, "numbers": {"text": [5]}, "too many texts": {"text": ["7"] * 51},
        "no target": {"target_lang": None}, "an unknown target": {"target_lang": "XX"}, "a target of a number": {"target_lang": 5},
        "an unknown source": {"source_lang": "XX"}, "the wrong way": {"source_lang": "DE", "target_lang": "EN"}, "formality": {"formality": "more"},
        "less formality": {"formality": "less"}, "an unknown formality": {"formality": "x"}, "unknown tags": {"tag_handling": "tex"},
        "unknown splitting": {"split_sentences": "2"}, "a flag": {"outline_detection": "x"}, "tags of numbers": {"ignore_tags": [5]},
        "XML that is broken": {"tag_handling": "xml", "text": ["<p>The lamp"]}, "XML with a crossed tag": {"tag_handling": "xml", "text": ["<a><b></a></b>"]},
        "XML with an ampersand": {"tag_handling": "xml", "text": ["Tom & Nora"]}, "XML with a type": {"tag_handling": "xml", "text": ["<!DOCTYPE a><a/>"]},
        "XML with an unknown entity": {"tag_handling": "xml", "text": ["<a>&x;</a>"]}, "an unknown glossary": {"source_lang": "EN", "glossary_id": "12345678-1234-1234-1234-123456789abc"},
        "text too long": {"text": ["x" * 10_001]}, "a digit": {"text": ["7"]},
    }  # fmt: skip
    for name, given in rows.items():
        fields = {
            key: value for key, value in (GOOD | ENGLISH | given).items() if value is not None
        }
        yield by_json(f"deepl error: {name}", "/v2/translate", **fields)
    yield by_json("deepl error: languages", "/v2/languages")._replace(method="GET")
    yield get("deepl error: kind of languages", "/v2/languages", type="x")
    yield post("deepl error: broken JSON", "/v2/translate", "application/json", "{")
    yield Case("deepl error: GET", "GET", "/v2/translate")
    pair = {"source_lang": "EN", "target_lang": "DE"}
    rows_of_files: dict[str, tuple[str, dict[str, str]]] = {
        "an unknown kind": ("a.exe", pair), "another format": ("a.md", pair | {"output_format": "docx"}), "formality": ("a.md", pair | {"formality": "more"}),
        "an unknown target": ("a.md", {"target_lang": "XX"}), "no target": ("a.md", {}), "the same language": ("a.md", {"source_lang": "EN", "target_lang": "EN-GB"}),
        "a glossary without a source": ("a.md", {"target_lang": "DE", "glossary_id": "x"}), "an unknown glossary": ("a.md", pair | {"glossary": "x"}),
    }  # fmt: skip
    for name, (file, given) in rows_of_files.items():
        yield by_parts(
            f"document error: {name}", "/v2/document", ("file", file, b"The lamp\n"), **given
        )
    yield by_parts("document error: no file", "/v2/document", **pair)
    yield by_json("document error: unknown", "/v2/document/ABC", document_key="x")
    yield get("document error: GET", "/v2/document/ABC")
