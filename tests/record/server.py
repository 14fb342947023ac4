"""Section ``server``: requests to ``headway serve``, and its answers with their headers."""

import http.client
import io
import json
import logging
import os
import re
import socket
import zipfile
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from answers import scrub, write_json
from documents import read_inputs
from texts import CASES

from headway.cli.main import main
from support.http_requests import Case, make_cases, read_requests, read_texts
from support.processes import Forked
from support.proxies import answering, free_port

GOLDEN = Path(__file__).parents[1] / "golden" / "0.2" / "model"
TRANSLATED_ATTRIBUTES = r"""\b(alt|title|placeholder|aria-label|content|value|lang|descr|tooltip|name|displayText|prompt\w*|error\w*)=("[^"]*"|'[^']*'|[^\s>]+)"""
# A busy machine must change no answer.
PATIENT = ("--server.deadline", "300", "--server.idle-seconds", "60")
# The length depends on how JSON is written; clients of `tests/ext/server` read whole answers by it.
VOLATILE_HEADERS = ("date", "server", "content-length")


class Reply(NamedTuple):
    """What a server answered: a status, headers in lower case, and the body."""

    status: int
    headers: dict[str, str]
    body: bytes


def record(out):
    """Record what does not depend on the processor: errors, descriptions, and the structure of translations."""
    requests = read_requests(CASES / "requests.jsonl")
    pages = make_translations("html", read_texts()["pages"], format="html")[:50:2]
    with recording(
        out, GOLDEN, *PATIENT, "--search.beam", "1", "--search.max-extra", "3"
    ) as recorder:
        recorder.record("errors", [*requests["errors"], *requests["deepl_errors"]])
        recorder.record("information", requests["information"])
        recorder.record("page", requests["page"], is_structure=True)
        structures = [*requests["structure"], *requests["encodings"], *pages]
        recorder.record("structure", structures, is_structure=True)
        recorder.record_files("files", read_inputs())


def make_translations(kind, texts, **more):
    """Return a request for the translation of each text."""
    common = {"path": "/translate", "base": more | {"source": "en", "target": "de"}}
    rows = [
        common | {"name": f"{kind}: {name}", "json": {"q": text}} for name, text in texts.items()
    ]
    return [case for row in rows for case in make_cases(row)]


@contextmanager
def recording(folder, *arguments):
    """Run a server while its answers are recorded, then stop it and record its exit code and its log."""
    port, log = free_port(), folder / "log"

    def work():
        logging.getLogger().handlers.clear()  # those of pytest
        os.chdir(folder)
        main(["serve", *map(str, arguments), "--port", str(port)])

    process = Forked(work, log)
    with answering(process, f"http://127.0.0.1:{port}/health", log):
        yield Recorder(port, folder)
    lines = log.read_text(encoding="utf-8").splitlines()
    log.unlink()
    write_json(folder / "log.jsonl", [{"exit code": process.returncode}, *_summarize(lines)])


def _summarize(lines):
    """Return the lines of a log that are not about one request, and the kinds of those that are, sorted."""
    bare = [re.sub(r"^[\d-]+ [\d:,]+ ", "", line) for line in lines]
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

    def record(self, name, cases, *, is_structure=False):
        """Send requests one after the other and write their answers, each in a line.

        Args:
            name: Of the file.
            cases: The requests.
            is_structure: Whether the texts of the answers are left out.
        """
        rows = []
        for case in cases:
            reply = self._send(case)
            rows.append(describe(case.name, reply, read_body(reply)))
        write_json(self.folder / f"{name}.jsonl", map(structure, rows) if is_structure else rows)

    def record_files(self, name, inputs):
        """Translate files, and write the answers and what of each file has not changed."""
        rows = []
        for file, content, columns in inputs:
            fields = {"source": "en", "target": "de"} | ({"columns": columns} if columns else {})
            [case] = make_cases({
                "name": f"document: {file}", "path": "/translate_file", "multipart": fields, "files": [("file", file, content)],
            })  # fmt: skip
            sent = self._send(case)
            if sent.status != 200:
                rows.append(describe(case.name, sent, read_body(sent)))
                continue
            address = urlsplit(json.loads(sent.body)["translatedFileUrl"]).path
            fetched = self._send(Case(f"{case.name}, fetched", "GET", address))
            kept = kept_parts(content, fetched.body) if fetched.body else None
            rows.append(describe(case.name, sent, {"translatedFileUrl": "ADDRESS"}))
            rows.append(describe(f"{case.name}, fetched", fetched, kept))
        write_json(self.folder / f"{name}.jsonl", rows)

    def _send(self, case):
        """Send a request on a connection of its own."""
        names = {name.lower() for name, _ in case.headers}
        headers = [*case.headers]
        if "host" not in names:
            headers.insert(0, ("Host", f"127.0.0.1:{self.port}"))
        if "content-length" not in names and (case.body or case.method == "POST"):
            headers.append(("Content-Length", str(len(case.body))))
        lines = [f"{case.method} {case.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]  # fmt: skip
        data = "\r\n".join([*lines, "", ""]).encode("latin-1") + case.body
        with socket.create_connection(("127.0.0.1", self.port), 120) as connection:
            connection.sendall(data)
            response = http.client.HTTPResponse(connection, method=case.method)
            response.begin()
            return Reply(response.status, {name.lower(): value for name, value in response.getheaders()}, response.read())  # fmt: skip


def describe(name, reply, body):
    """Return a row of the record."""
    headers = {key: value for key, value in sorted(reply.headers.items()) if key not in VOLATILE_HEADERS}  # fmt: skip
    if "retry-after" in headers:
        headers["retry-after"] = "SECONDS"
    return {"case": name, "status": reply.status, "body": body, "headers": headers}


def read_body(reply):
    """Return what is recorded of a body."""
    if not reply.body:
        return None
    if reply.headers.get("content-type", "") != "application/json":
        return {"sha256": sha256(reply.body).hexdigest()}
    values = json.loads(reply.body)
    return values | {"version": "VERSION"} if "api" in values else values


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
