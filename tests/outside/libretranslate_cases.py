"""Requests that clients of LibreTranslate send, rightly and wrongly; for libretranslate.py."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urlencode

CHARACTERS, TEXTS, ALTERNATIVES = 300, 5, 4  # the limits that both servers get
KEY = "right-key"
ENCODINGS = ("json", "form", "multipart", "query")
BOUNDARY = "b0undary"
TYPES = {
    "json": "application/json",
    "form": "application/x-www-form-urlencoded",
    "multipart": f"multipart/form-data; boundary={BOUNDARY}",
}
ENGLISH = "A man in a blue shirt is standing on a ladder and cleaning a window."
GERMAN = "Ein Mann in einem blauen Hemd steht auf einer Leiter und putzt ein Fenster."
FRENCH = "Un homme en chemise bleue se tient sur une échelle et nettoie une fenêtre."
MARKUP = "<p>A <b>man</b> rides a <a href='x'>bike</a>.</p><br><ul><li>Two dogs</li></ul>"


class Case(NamedTuple):
    """A request.

    Args:
        name: Of the case; all are different.
        method: Of HTTP.
        path: With its query string.
        kind: Content type; empty: none.
        body: As sent.
    """

    name: str
    method: str
    path: str
    kind: str = ""
    body: bytes = b""


def encoded(name: str, path: str, fields: dict[str, Any], encoding: str) -> Case:
    """Put fields into a POST request, in one of the four ways that clients use."""
    name = f"{path} {encoding}: {name}"
    if encoding == "json":
        return Case(name, "POST", path, TYPES["json"], json.dumps(fields).encode())
    words = {key: str(value) for key, value in fields.items() if value is not None}
    if encoding == "query":
        return Case(name, "POST", f"{path}?{urlencode(words)}")
    if encoding == "form":
        return Case(name, "POST", path, TYPES["form"], urlencode(words).encode())
    parts = [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'
        for key, value in words.items()
    ]
    body = "".join([*parts, f"--{BOUNDARY}--\r\n"]).encode()
    return Case(name, "POST", path, TYPES["multipart"], body)


GOOD = {"q": "Two dogs run through the snow.", "source": "en", "target": "de"}
# What every encoding can say; None: the field is not there.
TRANSLATE: dict[str, dict[str, Any]] = {
    "a sentence": {},
    "several sentences": {"q": ENGLISH + " Two dogs run! Who is there?"},
    "lines": {"q": "A man.\nA woman.\n\nTwo dogs."},
    "line ends of Windows": {"q": "A man.\r\nA woman.\r\n"},
    "other scripts": {"q": "größe & 100 % + 日本 = \"x\" 'y' ; \U0001f600"},
    "one word": {"q": "dogs"},
    "a digit": {"q": "7"},
    "dots": {"q": "..."},
    "a smiley": {"q": "\U0001f600"},
    "smileys, auto": {"q": "\U0001f600 \U0001f601", "source": "auto"},
    "a space": {"q": " "},
    "a line end": {"q": "\n"},
    "a NUL": {"q": "a\0b"},
    "from auto, English": {"q": ENGLISH, "source": "auto"},
    "from auto, German": {"q": GERMAN, "source": "auto", "target": "en"},
    "from auto, same": {"q": GERMAN, "source": "auto", "target": "de"},
    "from auto, French without a way": {"q": FRENCH, "source": "auto", "target": "en"},
    "from auto, through a third": {"q": ENGLISH, "source": "auto", "target": "fr"},
    "from auto to nowhere": {"source": "auto", "target": "xx"},
    "the same language": {"target": "en"},
    "the same language, alternatives": {"target": "en", "alternatives": 2},
    "backwards": {"source": "de", "target": "en"},
    "through a third": {"target": "fr"},
    "no way": {"source": "fr", "target": "en"},
    "capital codes": {"source": "EN", "target": "De"},
    "capital auto": {"source": "AUTO"},
    "space around a code": {"source": " en"},
    "unknown source": {"source": "xx"},
    "unknown target": {"target": "xx"},
    "long code": {"target": "x" * 5_000},
    "unknown source, smiley": {"q": "\U0001f600", "source": "xx"},
    "unknown target, smiley": {"q": "\U0001f600", "target": "xx"},
    "no q": {"q": None},
    "no source": {"source": None},
    "no target": {"target": None},
    "nothing": {"q": None, "source": None, "target": None},
    "empty q": {"q": ""},
    "empty source": {"source": ""},
    "empty target": {"target": ""},
    "text": {"format": "text"},
    "html": {"format": "html", "q": MARKUP},
    "html of plain text": {"format": "html"},
    "html, broken": {"format": "html", "q": "<p>A <b>man</p> rides </i> a <bike"},
    "html, auto": {"format": "html", "q": MARKUP, "source": "auto"},
    "html, alternatives": {"format": "html", "q": MARKUP, "alternatives": 2},
    "html, the same language": {"format": "html", "q": MARKUP, "target": "en"},
    "empty format": {"format": ""},
    "unknown format": {"format": "pdf"},
    "capital format": {"format": "HTML"},
    "alternatives 0": {"alternatives": 0},
    "alternatives 1": {"alternatives": 1},
    "as many alternatives as allowed": {"alternatives": ALTERNATIVES},
    "one alternative too many": {"alternatives": ALTERNATIVES + 1},
    "alternatives below 0": {"alternatives": -3},
    "alternatives far below 0": {"alternatives": -(10**30)},
    "alternatives far above": {"alternatives": 10**30},
    "alternatives and auto": {"q": ENGLISH, "source": "auto", "alternatives": 3},
    "alternatives of a smiley": {"q": "\U0001f600", "alternatives": 3},
    "as long as allowed": {"q": ("dogs " * CHARACTERS)[: CHARACTERS - 1] + "."},
    "one character too long": {"q": "x" * (CHARACTERS + 1)},
    "as long as allowed, wide": {"q": "犬" * CHARACTERS},
    "far too long": {"q": "x" * 100_000},
    "a key where none is needed": {"api_key": "any"},
    "an empty key where none is needed": {"api_key": ""},
    "unknown fields": {"model": "best", "mode": "fast", "": "x"},
}
DETECT: dict[str, dict[str, Any]] = {
    "English": {"q": ENGLISH},
    "German": {"q": GERMAN},
    "French": {"q": FRENCH},
    "another language": {"q": "Ту мамо, де ти була вчора увечері?"},
    "short": {"q": "dog"},
    "a digit": {"q": "7"},
    "a smiley": {"q": "\U0001f600"},
    "dots": {"q": "..."},
    "a space": {"q": " "},
    "longer than a translation may be": {"q": ENGLISH * 20},
    "no q": {"q": None},
    "empty q": {"q": ""},
    "with source and target": {"q": ENGLISH, "source": "en", "target": "de"},
}
# Words of a form are words: these differ from the above where they are no number.
FORMS = {
    "alternatives, a word": {"alternatives": "x"},
    "alternatives, empty": {"alternatives": ""},
    "alternatives, a fraction": {"alternatives": "2.5"},
    "alternatives, spaces": {"alternatives": " 2 "},
    "alternatives, other digits": {"alternatives": "٢"},
    "alternatives, 5,000 digits": {"alternatives": "9" * 5_000},
}
# What only JSON can say.
TYPED: dict[str, Any] = {
    "q a list": {"q": ["A man.", "Two dogs."]},
    "q a list of one": {"q": ["A man."]},
    "q a full list": {"q": ["A man."] * TEXTS},
    "q a list too long": {"q": ["A man."] * (TEXTS + 1)},
    "q a list with a text too long": {"q": ["a", "x" * (CHARACTERS + 1)]},
    "q an empty list": {"q": []},
    "q a list of nothing": {"q": [""]},
    "q a list with nothing": {"q": ["", "A man."]},
    "q a list with a smiley": {"q": ["\U0001f600", "A man."]},
    "q a list of smileys, auto": {"q": ["\U0001f600", "\U0001f601"], "source": "auto"},
    "q a list, auto": {"q": [ENGLISH, ENGLISH], "source": "auto"},
    "q a list, alternatives": {"q": ["A man.", "Two dogs."], "alternatives": 2},
    "q a list, html": {"q": [MARKUP, "dogs"], "format": "html"},
    "q a list, html, alternatives": {"q": [MARKUP, "dogs"], "format": "html", "alternatives": 2},
    "q a list, all of it": {"q": [ENGLISH], "source": "auto", "alternatives": 1, "format": "text"},
    "q a list, the same language": {"q": ["A man."], "target": "en"},
    "q a list, no way": {"q": ["A man."], "source": "fr", "target": "en"},
    "q a number": {"q": 5},
    "q 0": {"q": 0},
    "q true": {"q": True},
    "q false": {"q": False},
    "q an object": {"q": {"a": 1}},
    "q an empty object": {"q": {}},
    "q numbers": {"q": [1, 2]},
    "q a list in a list": {"q": [["A man."]]},
    "q an empty list in a list": {"q": [[]]},
    "q a list with null": {"q": [None]},
    "q half a character": {"q": "a\ud800b"},
    "source a number": {"source": 5},
    "source a list": {"source": ["en"]},
    "source an object": {"source": {"a": 1}},
    "source true": {"source": True},
    "source null": {"source": None},
    "target a number": {"target": 5},
    "target a list": {"target": ["de"]},
    "target an empty list": {"target": []},
    "target null": {"target": None},
    "format a number": {"format": 5},
    "format null": {"format": None},
    "format a list": {"format": ["text"]},
    "format an empty list": {"format": []},
    "format true": {"format": True},
    "alternatives a word of digits": {"alternatives": "2"},
    "alternatives a word": {"alternatives": "x"},
    "alternatives empty": {"alternatives": ""},
    "alternatives a fraction": {"alternatives": 2.7},
    "alternatives a long fraction": {"alternatives": 2.0000000000000004440892},
    "alternatives true": {"alternatives": True},
    "alternatives false": {"alternatives": False},
    "alternatives null": {"alternatives": None},
    "alternatives a list": {"alternatives": [1]},
    "alternatives an object": {"alternatives": {}},
    "alternatives huge": {"alternatives": 1e300},
    "a key of another type": {"api_key": 5},
    "many more values": {"more": [0] * 5_000},
    "an object in objects": {"more": {"a": {"b": {"c": [1, [2, [3]]]}}}},
}
DETECT_TYPED: dict[str, Any] = {
    "q a list": {"q": [ENGLISH, ENGLISH]},
    "q a list of several languages": {"q": [ENGLISH, GERMAN, FRENCH]},
    "q a long list": {"q": [ENGLISH] * (TEXTS + 3)},
    "q an empty list": {"q": []},
    "q a list of nothing": {"q": [""]},
    "q a number": {"q": 5},
    "q numbers": {"q": [1, 2]},
    "q true": {"q": True},
    "q null": {"q": None},
    "q an object": {"q": {"a": 1}},
}
RAW: dict[str, tuple[str, bytes]] = {
    "a list": (TYPES["json"], b"[1, 2]"),
    "a text": (TYPES["json"], b'"text"'),
    "a number": (TYPES["json"], b"5"),
    "null": (TYPES["json"], b"null"),
    "no body": (TYPES["json"], b""),
    "half": (TYPES["json"], b'{"q": "x"'),
    "two": (TYPES["json"], b'{"q": "x"} {"q": "y"}'),
    "single quotes": (TYPES["json"], b"{'q': 'x'}"),
    "not a number": (TYPES["json"], json.dumps({**GOOD, "more": float("nan")}).encode()),
    "5,000 digits": (TYPES["json"], b'{"q": ' + b"9" * 5_000 + b"}"),
    "a list 100,000 deep": (TYPES["json"], b"[" * 100_000),
    "not UTF-8": (TYPES["json"], b'{"q": "\xff"}'),
    "a byte order mark": (TYPES["json"], b"\xef\xbb\xbf" + json.dumps(GOOD).encode()),
    "UTF-16": (TYPES["json"], json.dumps(GOOD).encode("utf-16-le")),
    "spaces around": (TYPES["json"], b" \n" + json.dumps(GOOD).encode() + b"\n "),
    "a name twice": (TYPES["json"], json.dumps(GOOD).encode()[:-1] + b', "q": "dogs"}'),
    "capitals in the type": ("Application/JSON; Charset=UTF-8", json.dumps(GOOD).encode()),
    "a relative of JSON": ("application/vnd.api+json", json.dumps(GOOD).encode()),
    "JSON that says it is text": ("text/plain", json.dumps(GOOD).encode()),
    "JSON without a type": ("", json.dumps(GOOD).encode()),
    "JSON that says it is a form": (TYPES["form"], json.dumps(GOOD).encode()),
    "a form that says it is JSON": (TYPES["json"], urlencode(GOOD).encode()),
    "a form without a type": ("", urlencode(GOOD).encode()),
    "a form not UTF-8": (TYPES["form"], b"q=%ff%fe&source=en&target=de"),
    "a form with q twice": (TYPES["form"], urlencode([*GOOD.items(), ("q", "dogs")]).encode()),
    "a form of signs": (TYPES["form"], b"&&==&;=%%%"),
    "parts without a boundary": ("multipart/form-data", urlencode(GOOD).encode()),
    "parts that are none": (TYPES["multipart"], b"nothing"),
    "an XML body": ("application/xml", b"<q>text</q>"),
}
PATHS = (
    *("/translate", "/detect", "/languages", "/frontend/settings", "/health", "/spec", "/suggest"),
    *("/translate_file", "/download_file/x", "/", "/metrics", "/nothing", "/translate/"),
    *("/languages/", "/Translate", "/translate%00", "//translate"),
)
METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS")


def cases() -> Iterator[Case]:
    """Yield the requests for servers that everybody may ask."""
    for path, rows in (("/translate", TRANSLATE), ("/detect", DETECT)):
        base = GOOD if path == "/translate" else {}
        for encoding in ENCODINGS:
            for name, changes in rows.items():
                fields = base | changes
                yield encoded(
                    name, path, {k: v for k, v in fields.items() if v is not None}, encoding
                )
    for encoding in ENCODINGS[1:]:
        for name, changes in FORMS.items():
            yield encoded(name, "/translate", GOOD | changes, encoding)
    for name, changes in TYPED.items():
        yield encoded(name, "/translate", GOOD | changes, "json")
    for name, fields in DETECT_TYPED.items():
        yield encoded(name, "/detect", fields, "json")
    for name, (kind, body) in RAW.items():
        yield Case(f"/translate raw: {name}", "POST", "/translate", kind, body)
    address = urlencode({"q": "Here.", "source": "en", "target": "de"})
    both = urlencode({"q": "There.", "source": "de", "target": "en"}).encode()
    yield Case("in the address and in a form", "POST", f"/translate?{address}", TYPES["form"], both)
    given = json.dumps(GOOD).encode()
    yield Case("in the address and in JSON", "POST", f"/translate?{address}", TYPES["json"], given)
    yield Case("GET with a form", "GET", "/languages", TYPES["form"], b"api_key=x")
    for path in PATHS:
        for method in METHODS:
            yield Case(f"{method} {path}", method, path)


def key_cases() -> Iterator[Case]:
    """Yield the requests for servers that want a key."""
    for encoding in ENCODINGS:
        for path in ("/translate", "/detect"):
            for name, key in (
                ("no key", None), ("an empty key", ""), ("a wrong key", "wrong"), ("its key", KEY),
                ("nearly its key", KEY[:-1]), ("a long key", "x" * 5_000), ("a key of signs", "ü\0'\"; --"),
            ):  # fmt: skip
                fields = GOOD if key is None else GOOD | {"api_key": key}
                yield encoded(name, path, fields, encoding)
        yield encoded("no key and no q", "/translate", {"source": "en"}, encoding)
        yield encoded("its key and no q", "/translate", {"source": "en", "api_key": KEY}, encoding)
    for name, value in (("a number", 5), ("null", None), ("a list", [KEY]), ("true", True)):
        yield encoded(f"key {name}", "/translate", GOOD | {"api_key": value}, "json")
    yield Case("keys, raw: a list", "POST", "/translate", TYPES["json"], b"[1]")
    yield Case("keys, raw: half", "POST", "/translate", TYPES["json"], b"{")
    for path in ("/languages", "/frontend/settings", "/health"):
        yield Case(f"keys, GET {path}", "GET", path)
    yield Case("keys, GET /detect", "GET", "/detect")


def rate_cases(limit: int) -> Iterator[Case]:
    """Yield the requests for servers that allow so many a minute: the last are too many."""
    for number in range(limit - 3):
        yield encoded(f"rate {number}", "/translate", GOOD, "json")
    yield encoded("rate, a list of three", "/translate", GOOD | {"q": ["A", "man", "dogs"]}, "json")
    for number in range(3):
        yield encoded(f"rate, too many {number}", "/translate", GOOD, ENCODINGS[number])
    yield Case("rate, GET /languages", "GET", "/languages")
