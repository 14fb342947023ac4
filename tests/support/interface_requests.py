"""Generated requests for DeepL's addresses and for files, sound and damaged, and what their answers must be."""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from support.http_requests import ENCODINGS, TYPES, write_multipart

WORDS = [
    "the",
    "cat",
    "sees",
    "a",
    "dog",
    "walls.",
    "Two!",
    "naïve",
    "日本",
    "{name}",
    "42",
    "🐶",
    "A&B",
]
STRANGE: list[Any] = [
    "", None, 0, -1, 1e300, 10**30, True, [], [[]], {}, {"a": [1]}, ["a"] * 60, [None], "a" * 12_000, "\x00\x1b",
    "\ud800", "<b", "]]>", "%s%n", "../../etc/passwd", "nonewlines", "EN", "xx", "\u202e", "a\tb", ["a", 1],
]  # fmt: skip
MARKUP = ["the <b>cat</b> sees", "<x>a</x> dog &amp; cat", "<p>One.</p><p>Two.</p>", "no tags"]
DOCUMENTS = {
    "a.txt": "the cat\nsees a dog\n", "a.md": "# the *cat*\n", "a.html": "<p>the <b>cat</b></p>",
    "a.srt": "1\n00:00:01,000 --> 00:00:02,000\nthe cat\n", "a.json": '{"a": "the cat"}', "a.po": 'msgid "cat"\nmsgstr ""\n',
}  # fmt: skip
Answer = tuple[int, dict[str, str], bytes]
Send = Callable[[str, str, dict[str, str], bytes], Answer]


@dataclass
class Call:
    """A request.

    Attributes:
        method: GET, POST or DELETE.
        path: The address as the description has it, with names in braces.
        named: The values of these names.
        fields: What the body or the query string says.
        kind: How the fields are written: json, form, multipart or query.
        is_sound: Whether the answer must be a success.
        change: Changes the body after it is written.
    """

    method: str
    path: str
    fields: dict[str, Any] = field(default_factory=dict)
    kind: str = "json"
    named: dict[str, str] = field(default_factory=dict)
    is_sound: bool = True
    headers: dict[str, str] = field(default_factory=dict)
    change: Callable[[bytes], bytes] = bytes

    def write(self) -> tuple[str, dict[str, str], bytes]:
        """Return the address, the headers and the body."""
        address, headers, body = self.path.format_map(self.named), {}, b""
        if self.kind in TYPES:
            headers["content-type"] = TYPES[self.kind]
        if self.kind == "query":
            address += "?" + urlencode(self.fields, doseq=True, errors="replace")
        elif self.kind == "json":
            body = json.dumps(self.fields).encode()
        elif self.kind == "form":
            body = urlencode(self.fields, doseq=True, errors="replace").encode()
        else:
            files = {name: value for name, value in self.fields.items() if isinstance(value, tuple)}
            rest = {name: value for name, value in self.fields.items() if name not in files}
            body = write_multipart(rest, [(name, *file) for name, file in files.items()])
        return address, headers | self.headers, self.change(body)


class Conversation:
    """Sends generated requests to a server that translates EN to DE, and checks the answers.

    Args:
        send: Sends a request.
        seed: Of the requests.
    """

    def __init__(self, send: Send, seed: int) -> None:
        self.send, self.random = send, random.Random(seed)
        self.spec = json.loads(send("GET", "/spec", {}, b"")[2])
        listed = json.loads(send("GET", "/v2/glossaries", {}, b"")[2])["glossaries"]
        self.glossaries = [each["glossary_id"] for each in listed]
        self.documents: list[dict[str, str]] = []
        self.statuses: dict[tuple[str, str, int], int] = {}

    def ask(self) -> None:
        """Send one request and check its answer.

        Raises:
            AssertionError: If the answer is not as the server's description says.
        """
        call = self._make_call()
        if self.random.random() < 0.5:
            call = self._damage(call)
        address, headers, body = call.write()
        status, answered, content = self.send(call.method, address, headers, body)
        key = call.method, call.path, status
        self.statuses[key] = self.statuses.get(key, 0) + 1
        shown = f"{call} -> {status} {content[:300]!r}"
        is_waiting = status == 503 and call.path.startswith("/v2/document/")
        assert status < 500 or is_waiting, shown
        if call.is_sound:
            assert status < 300 or (status in (404, 503) and call.named), shown
        operation = self.spec["paths"][call.path][call.method.lower()]
        is_known = str(status) in operation["responses"] or status in (404, 405)
        assert is_known, shown
        self._check_content(operation, call, status, answered.get("content-type", ""), content)
        self._remember(call, status, content)

    def _check_content(
        self, operation: Any, call: Call, status: int, kind: str, content: bytes
    ) -> None:
        shown = f"{call} -> {status} {kind} {content[:300]!r}"
        if status >= 400:
            name = "message" if call.path.startswith("/v2/") else "error"
            found = json.loads(content)
            assert list(found) == [name], shown
            assert found[name], shown
            assert "\n" not in found[name], shown
            return
        described = operation["responses"][str(status)].get("content", {})
        if not described:
            assert not content, shown
            return
        assert kind.partition(";")[0] in described, shown
        if kind == "application/json":
            self._check_schema(described[kind]["schema"], json.loads(content), shown)

    def _check_schema(self, schema: Any, value: Any, shown: str) -> None:
        """Check the parts of JSON schemas that the description uses for answers."""
        if "$ref" in schema:
            schema = self.spec["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        kinds: dict[str, Any] = {
            "object": dict, "array": list, "string": str, "integer": int, "number": (int, float),
            "boolean": bool,
        }  # fmt: skip
        if "type" in schema:
            assert isinstance(value, kinds[schema["type"]]), shown
        if "enum" in schema:
            assert value in schema["enum"], shown
        for name in schema.get("required", ()):
            assert name in value, shown
        if isinstance(value, dict) and "properties" in schema:
            assert value.keys() <= schema["properties"].keys(), shown
            for name, each in value.items():
                self._check_schema(schema["properties"][name], each, shown)
        if isinstance(value, list):
            for each in value:
                self._check_schema(schema["items"], each, shown)

    def _remember(self, call: Call, status: int, content: bytes) -> None:
        if call.path == "/v2/document" and status == 200:
            self.documents = [*self.documents[-9:], json.loads(content)]
        elif call.path.endswith("/cancel") and status == 204:
            self.documents.remove(call.named)

    def _make_call(self) -> Call:
        """Return a sound request."""
        pick, rng = self.random.choice, self.random
        pair = {"source_lang": pick(["EN", "en", "en-US"]), "target_lang": pick(["DE", "de"])}
        fields: dict[str, Any]
        match rng.randrange(9):
            case 0 | 1 | 2:
                return self._make_text(pair)
            case 3:
                kind = pick(["query", "form", "json"])
                return Call("GET", "/v2/languages", {"type": pick(["source", "target"])}, kind)
            case 4:
                paths = ["/v2/usage", "/v2/glossaries", "/v2/glossary-language-pairs"]
                return Call("GET", pick(paths))
            case 5:
                fields = {
                    "file": pick(list(DOCUMENTS.items())),
                    "quality": pick(["true", "true", "true", ""]),
                    **pair,
                }
                return Call("POST", "/v2/document", fields, "multipart")
            case 6:
                document = pick(self.documents or [{"document_id": "A", "document_key": "B"}])
                part = pick(["", "/result", "/quality", "/cancel"])
                fields = {"document_key": document["document_key"]}
                kind = pick(["json", "form"])
                return Call("POST", f"/v2/document/{{document_id}}{part}", fields, kind, document)
            case 7:
                fields = {"q": self._text(), "source": "en", "target": "de"}
                return Call("GET", "/translate", fields, "query")
            case _:
                fields = {"file": pick(list(DOCUMENTS.items())), "source": "en", "target": "de"}
                if rng.random() < 0.5:
                    fields["glossary"] = "cat\tKatze"
                return Call("POST", "/translate_file", fields, "multipart")

    def _make_text(self, pair: dict[str, str]) -> Call:
        pick, rng = self.random.choice, self.random
        tags = pick(["", "", "xml", "html"])
        texts = [pick(MARKUP) if tags else self._text() for _ in range(rng.randint(1, 4))]
        fields: dict[str, Any] = {"text": texts, **pair}
        optional = {
            "split_sentences": pick(["0", "1", "nonewlines"]), "show_billed_characters": pick(["1", "0"]),
            "formality": pick(["default", "prefer_less"]), "context": self._text(),
            "ignore_tags": "x,k", "splitting_tags": "p", "non_splitting_tags": "b",
            "outline_detection": "0", "model_type": "quality_optimized",
        }  # fmt: skip
        if self.glossaries:
            optional["glossary_id"] = pick(self.glossaries)
        for name in rng.sample(list(optional), k=rng.randint(0, 4)):
            fields[name] = optional[name]
        if tags:
            fields["tag_handling"] = tags
        return Call("POST", "/v2/translate", fields, pick(["json", "form"]))

    def _text(self) -> str:
        return " ".join(self.random.choices(WORDS, k=self.random.randint(1, 12)))

    def _damage(self, call: Call) -> Call:
        """Return the request with one thing wrong, or just strange."""
        call.is_sound = False
        rng = self.random
        name = rng.choice(list(call.fields) or ["text"])
        match rng.randrange(8):
            case 0 | 1 | 2:
                call.fields[name] = rng.choice(STRANGE)
            case 3:
                call.fields.pop(name, None)
            case 4:
                call.kind = rng.choice(ENCODINGS)
                call.fields = {
                    k: v[1] if isinstance(v, tuple) else v for k, v in call.fields.items()
                }
            case 5:
                call.headers["content-type"] = rng.choice(["text/plain", *TYPES.values()])
            case 6:
                cut = rng.random()
                call.change = lambda body: body[: int(cut * len(body))]
            case _:
                call.headers |= rng.choice(
                    [
                        {"content-encoding": "gzip"},
                        {"accept": "image/png"},
                        {"authorization": "DeepL-Auth-Key x"},
                    ]
                )
        return call
