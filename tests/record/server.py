"""Section ``server``: requests to ``headway serve``, and its answers with their headers."""

import http.client
import io
import json
import re
import shutil
import socket
import time
import zipfile
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote_plus

from documents import read_inputs
from side import scrub, write_json
from texts import CASES

from support.http_requests import Case, make_cases, read_requests, read_texts
from support.proxies import copy_model, free_port, serving

GOLDEN = Path(__file__).parents[1] / "golden" / "0.2" / "model"
KEYS = 60
# What the server makes by itself: the record has ``<FIELD of CASE>`` instead.
OWN_VALUES = ("document_id", "document_key", "glossary_id", "creation_time", "translatedFileUrl", "qualityUrl")  # fmt: skip
TRANSLATED_ATTRIBUTES = r"""\b(alt|title|placeholder|aria-label|content|value|lang|descr|tooltip|name|displayText|prompt\w*|error\w*)=("[^"]*"|'[^']*'|[^\s>]+)"""
# A busy machine must change no answer.
PATIENT = ("--server.deadline", "300", "--server.idle-seconds", "60")
# The length depends on how JSON is written; clients of `tests/ext/server` read whole answers by it.
VOLATILE_HEADERS = ("date", "server", "content-length")
LIMITS = """\
[server]
char_limit = 200
batch_limit = 70
alternatives_limit = 3
body_limit = 6000
file_limit = 2000
glossary_limit = 300
req_limit = 6
deadline = 300.0
idle_seconds = 5.0
metrics_token = "token-of-metrics"
glossaries = "tools=tools.tsv@en-de,places=places.csv"
"""


class Reply(NamedTuple):
    """What a server answered: a status, headers in lower case, and the body."""

    status: int
    headers: dict[str, str]
    body: bytes


def record(side, model, out):
    """Record the answers of three servers: one with its defaults but for times, one with limits and keys, one with several models."""
    requests = read_requests(CASES / "requests.jsonl")
    with recording(side, out / "plain", model, *PATIENT) as recorder:
        recorder.record("texts", make_translations("text", read_texts()["texts"]))
        recorder.record("markup", make_translations("html", read_texts()["pages"], format="html"))
        for name in ("fields", "encodings", "words", "streams", "files", "deepl"):
            recorder.record(name, requests[name])
        recorder.record("errors", [*requests["errors"], *requests["deepl_errors"]])
        for name in ("information", "page", "descriptions"):
            recorder.record(name, requests[name])
    with recording(side, out / "limited", model, *limits(out / "limited")) as recorder:
        recorder.record("limits", requests["limits"])
        recorder.record("keys", requests["keys"])
    models = copy_model(model, out / "models", ("en-de", "de-en", "de-fr"))
    with recording(side, out / "several", *models, "--pivot", "de", *PATIENT) as recorder:
        recorder.record("several", requests["several"])
    shutil.rmtree(out / "models")


def record_stored(side, out):
    """Record what does not depend on the processor: errors, descriptions, and the structure of translations."""
    requests, inputs = read_requests(CASES / "requests.jsonl"), read_inputs()[::4]
    pages = make_translations("html", read_texts()["pages"], format="html")[:50:2]
    with recording(
        side, out, GOLDEN, *PATIENT, "--search.beam", "1", "--search.max-extra", "3"
    ) as recorder:
        recorder.record("errors", [*requests["errors"], *requests["deepl_errors"]])
        recorder.record("information", requests["information"])
        recorder.record("page", requests["page"], is_structure=True)
        structures = [*requests["structure"], *requests["encodings"], *pages]
        recorder.record("structure", structures, is_structure=True)
        recorder.record("files", translate_files(inputs))
    rows = [
        json.loads(line) for line in (out / "files.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    for source, row in zip(inputs, rows[1::2], strict=True):
        if row["body"]:
            written = out / row["body"]["file"]
            row["body"] = kept_parts(source.content, written.read_bytes())
            written.unlink()
    write_json(out / "files.jsonl", rows)


def make_translations(kind, texts, **more):
    """Return a request for the translation of each text."""
    common = {"path": "/translate", "base": more | {"source": "en", "target": "de"}}
    rows = [
        common | {"name": f"{kind}: {name}", "json": {"q": text}} for name, text in texts.items()
    ]
    return [case for row in rows for case in make_cases(row)]


def translate_files(inputs):
    """Yield for each file the request that translates it, and the one that fetches the translation."""
    for each in inputs:
        case = f"document: {each.name}"
        fields = {"source": "en", "target": "de"} | (
            {"columns": each.columns} if each.columns else {}
        )
        files = [("file", each.name, each.content)]
        yield from make_cases(
            {"name": case, "path": "/translate_file", "multipart": fields, "files": files}
        )
        yield Case(f"{case}, fetched", "GET", f"<translatedFileUrl of {case}>")


def limits(folder):
    """Write the settings, keys and glossaries of a server with limits, and return its options."""
    folder.mkdir()
    (folder / "limits.toml").write_text(LIMITS, encoding="utf-8")
    keys = "".join(f"key-{number}\n" for number in range(KEYS))
    (folder / "keys.txt").write_text(f"# keys\n\n{keys}", encoding="utf-8")
    (folder / "tools.tsv").write_text("lamp\tLeuchte\nhouse\tHaus|Gebäude\n", encoding="utf-8")
    (folder / "places.csv").write_text('de,en\n"Rom, Italien",Rome\n', encoding="utf-8")
    return "--config", "limits.toml", "--keys", "keys.txt"


@contextmanager
def recording(side, folder, *arguments):
    """Run a server while its answers are recorded, then stop it and record its exit code and its log."""
    folder.mkdir(parents=True, exist_ok=True)
    given = [path for path in folder.iterdir() if path.is_file()]
    port, log = free_port(), folder / "log"
    command = side.command("serve", *arguments, "--port", str(port))
    with serving(command, f"http://127.0.0.1:{port}/health", log, side.environment()) as process:
        yield Recorder(port, folder)
    lines = log.read_text(encoding="utf-8").splitlines()
    for path in (log, *given):
        path.unlink()
    write_json(folder / "log.jsonl", [{"exit code": process.returncode}, *_summarize(lines)])


def _summarize(lines):
    """Return the lines of a log that are not about one request, and the kinds of those that are, sorted."""
    bare = [re.sub(r"^[\d-]+ [\d:,]+ ", "", line) for line in lines]
    bare = [
        line for line in bare if not line.endswith("requests answered with 429")
    ]  # one a second
    # A client that waits for a document asks a different number of times.
    bare = [re.sub(r"received (\d+) requests, answered \1$", "answered all requests", line) for line in bare]  # fmt: skip
    request = re.compile(r"(INFO [A-Z]+ \S+ \d+) [\d.]+ ms")
    kinds = {found[1] for line in bare if (found := request.fullmatch(line))}
    return [*(scrub(line) for line in bare if not request.fullmatch(line)), *sorted(kinds)]


class Recorder:
    """Sends requests to a server and writes its answers.

    Args:
        port: Of the server, on this machine.
        folder: Where the answers go.
    """

    def __init__(self, port, folder):
        self.port, self.folder = port, folder
        self._own: dict[str, str] = {}  # what stands for a value of the server: the value

    def record(self, name, cases, *, is_structure=False):
        """Send requests one after the other and write their answers, each in a line.

        Args:
            name: Of the file.
            cases: The requests.
            is_structure: Whether the texts of the answers are left out.
        """
        rows = [self._describe(case, self._ask(case)) for case in cases]
        write_json(self.folder / f"{name}.jsonl", map(structure, rows) if is_structure else rows)

    def _ask(self, case):
        deadline = time.monotonic() + 120
        while True:
            reply = self._send(case)
            if (
                not case.ends
                or reply.status != 200
                or json.loads(reply.body)["status"] in case.ends
            ):
                return reply
            if time.monotonic() > deadline:
                raise RuntimeError(f"{case.name}: {reply.body!r}")
            time.sleep(0.05)

    def _send(self, case):
        """Send a request on a connection of its own."""
        names = {name.lower() for name, _ in case.headers}
        headers = [(name, self._fill(value)) for name, value in case.headers]
        body = self._fill(case.body.decode("latin-1")).encode("latin-1")
        if "host" not in names:
            headers.insert(0, ("Host", f"127.0.0.1:{self.port}"))
        if "content-length" not in names and (body or case.method == "POST"):
            headers.append(("Content-Length", str(len(body))))
        lines = [f"{case.method} {self._fill(case.path)} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]  # fmt: skip
        data = "\r\n".join([*lines, "", ""]).encode("latin-1") + body
        with socket.create_connection(("127.0.0.1", self.port), 120) as connection:
            connection.sendall(data)
            response = http.client.HTTPResponse(connection, method=case.method)
            response.begin()
            return Reply(response.status, {name.lower(): value for name, value in response.getheaders()}, response.read())  # fmt: skip

    def _fill(self, text):
        for label, value in self._own.items():
            text = text.replace(label, value).replace(quote_plus(label), quote_plus(value))
        return text

    def _describe(self, case, reply):
        """Return a row of the record."""
        body = self._read_body(case, reply)
        headers = dict(sorted(reply.headers.items()))
        for name in VOLATILE_HEADERS:
            headers.pop(name, None)
        if "retry-after" in headers:
            headers["retry-after"] = "SECONDS"
        text = json.dumps(
            {"case": case.name, "status": reply.status, "body": body, "headers": headers}
        )
        for label, value in self._own.items():
            text = text.replace(json.dumps(value)[1:-1], json.dumps(label)[1:-1])
        text = text.replace(f"127.0.0.1:{self.port}", "127.0.0.1:PORT")
        row: dict[str, Any] = json.loads(text)
        return row

    def _read_body(self, case, reply):
        kind = reply.headers.get("content-type", "")
        path = case.path.partition("?")[0]
        if not reply.body:
            return None
        if kind == "application/json":
            values = json.loads(reply.body)
            if isinstance(values, dict):
                self._keep_own(case, values)
            if reply.status == 200 and path == "/spec":
                return self._keep_description(values)
            if reply.status == 200 and path == "/health":
                values["version"] = "VERSION"
            if reply.status == 200 and path == "/attention":
                return _shorten_attention(values)
            return values
        text = reply.body.decode("utf-8", "replace")
        if kind.startswith("text/event-stream"):
            return [event.split("\n") for event in text.split("\n\n")]
        if path == "/metrics":
            names = {line.rpartition(" ")[0] for line in text.splitlines() if line[0] != "#"}
            return sorted(name for name in names if not re.match("process_|python_|.*_(bucket|created)", name))  # fmt: skip
        if kind.startswith("text/tab-separated-values"):
            return text
        if "content-disposition" in reply.headers:
            suffix = Path(reply.headers["content-disposition"]).suffix
            file = f"{re.sub('[^A-Za-z0-9]+', '-', case.name)}{suffix}"
            (self.folder / file).write_bytes(reply.body)
            return {"file": file}
        return {"sha256": sha256(reply.body).hexdigest()}

    def _keep_own(self, case, values):
        for name in OWN_VALUES:
            value = values.get(name)
            label = f"<{name} of {case.name}>"
            if isinstance(value, str):
                own = re.sub(r"^http://[^/]+", "", value)
                if own not in self._own.values():
                    self._own[label] = own

    def _keep_description(self, values):
        values["info"]["version"] = "VERSION"
        text = json.dumps(values, indent=1, ensure_ascii=False)
        (self.folder / "spec.json").write_text(scrub(text), encoding="utf-8", newline="\n")
        return {"file": "spec.json"}


def _shorten_attention(values):
    """Return an answer of ``/attention`` with digests instead of weights and drawings."""

    def shorten(value):
        if isinstance(value, dict):
            return {
                name: _digest(each) if name in ("weights", "layouts") else shorten(each)
                for name, each in value.items()
            }
        return value

    return {name: shorten(value) for name, value in values.items()}


def _digest(value):
    return sha256(json.dumps(value).encode()).hexdigest()[:16]


def structure(row):
    """Return a row without what depends on the translation: of texts only the tags, sorted, are left."""

    def reduce(value):
        if isinstance(value, dict):
            return {name: reduce(each) for name, each in value.items()}
        if isinstance(value, list):
            return [reduce(each) for each in value]
        if isinstance(value, str):
            return sorted(_tags(value))
        return type(value).__name__

    return row | {"body": reduce(row["body"])}


def kept_parts(source, written):
    """Return what of a file has not changed: lines of a text, and of a package members, or the tags in them."""
    if written[:2] == b"PK":
        packages = [zipfile.ZipFile(io.BytesIO(content)) for content in (source, written)]
        before, after = ({name: each.read(name) for name in each.namelist()} for each in packages)
        return {
            name: "same" if before.get(name) == content else sorted({*_tags(content.decode())})
            for name, content in after.items()
        }
    lines = [content.decode("utf-8", "replace").split("\n") for content in (source, written)]
    return [line if line in lines[0] else "" for line in lines[1]]


def _tags(text):
    """Return the tags of a text without the values of attributes that are translated."""
    return [re.sub(TRANSLATED_ATTRIBUTES, r"\1", tag) for tag in re.findall(r"<[^<>]*>", text)]
