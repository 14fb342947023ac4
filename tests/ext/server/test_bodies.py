"""Bodies of requests, made at random: what is read of them, and that a long one does not hold up the event loop."""

import asyncio
import json
import random
import re
import time
from urllib.parse import parse_qsl

import pytest
from starlette.requests import Request

from headway.ext.server.files import LONGEST_NAME, Upload
from headway.ext.server.messages import FileRequest, TranslateRequest
from headway.ext.server.rejection import Rejection
from headway.ext.server.requests import read_fields
from headway.ext.server.server_settings import ServerConfig
from headway.ext.server.text_threads import TextThreads
from headway.ext.server.validation import RequestParser
from support.server import client_of, make_scope

PARSER = RequestParser(TranslateRequest, ServerConfig())
FILES = RequestParser(FileRequest, ServerConfig())
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
PARTS, PART = (
    "multipart/form-data; boundary=x",
    b"--x\r\nContent-Disposition: form-data; name=q\r\n\r\n",
)


def read(body, kind, parser=PARSER):
    """Return the fields of a body, and the time of the processor that the event loop and the whole process have taken."""

    async def run():
        threads = TextThreads()
        own, whole = time.thread_time(), time.process_time()
        try:
            fields = await read_fields(
                Request(make_scope("/", kind)), body, ServerConfig(), parser, threads
            )
        except Rejection as error:
            fields = error
        finally:
            own, whole = time.thread_time() - own, time.process_time() - whole
            threads.close()
        return fields, own, whole

    return asyncio.run(run())


def make_text(chooser):
    signs = ("a", "é", "漢", "😀", "\\", '"', "/", "\n", "\ud800", "\udc00", "u", "\0", "{", "[")
    return "".join(chooser.choices(signs, k=chooser.randint(0, 12)))


def test_json_is_read_as_python_reads_it_and_halves_of_characters_are_replaced():
    chooser = random.Random(1)
    for _ in range(400):
        scalars = (make_text(chooser), chooser.randint(-9, 9), chooser.random(), True, None)
        given = {
            name: chooser.choice([*scalars, [*scalars], []])
            for name in chooser.sample([*PARSER.types, "unknown"], 4)
        }
        unknown = {"unknown": [[{"a": make_text(chooser)}]]}
        is_ascii = chooser.random() < 0.7
        if not is_ascii:
            given = json.loads(re.sub(r"\\ud[89a-f]..", "?", json.dumps(given)))
        body = json.dumps(unknown | given, ensure_ascii=is_ascii).encode("utf-8", "replace")
        halves = re.compile("[\ud800-\udfff]")
        whole = halves.sub("\ufffd", json.dumps(json.loads(body), ensure_ascii=False))
        expected = json.loads(whole)
        known = {n: expected[n] for n in PARSER.types if expected.get(n) is not None}
        assert read(body, JSON)[0] == known, body


def test_lists_and_objects_where_none_can_be_are_refused_however_deep_they_are():
    for depth in (2, 300, *range(880, 1000, 7), 5_000, 200_000):
        for begin, end in (("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")):
            value = begin * depth + "1" + end * depth
            for name in ("q", "source", "alternatives", "api_key", "unknown"):
                found, *_ = read(f'{{"{name}": {value}}}'.encode(), JSON)
                if name == "unknown" and not isinstance(found, Rejection):
                    assert found == {}
                else:
                    assert found.status == 400
                    assert len(found.message) < 200


@pytest.mark.parametrize("kind", [FORM, "text/plain", ""])
def test_json_that_is_not_called_so_is_refused_with_the_way_out(kind):
    found, _, _ = read(b' {"q": "a dog", "source": "en"}', kind)
    assert (found.status, found.message[-16:]) == (400, "application/json")


def test_a_form_is_read_as_python_reads_it():
    chooser = random.Random(1)
    signs = (*"ab=&+%;", "%41", "%C3%A9", "%c3", "%zz", "é", "漢", "q=", "source=")
    for _ in range(1_000):
        body = "".join(chooser.choices(signs, k=chooser.randint(0, 25)))
        fields = {}
        for name, value in parse_qsl(body, keep_blank_values=True):
            fields.setdefault(name, value)
        expected = {n: fields[n] for n in PARSER.types if n in fields}
        assert read(body.encode(), FORM)[0] == expected, body


def test_the_parts_of_any_form_are_read_or_refused():
    chooser = random.Random(1)
    signs = (
        b"--x", b"--x--", b"\r\n", b"\r\n\r\n", b"--", b"\r", b"\n", b"a", b"\xff", b"\0", b'"', b";", b"=", b":", b"--x\r\n",
        b"Content-Disposition: form-data; name=q", b'Content-Disposition: form-data; name="file"; filename="a"',
        b"Content-Transfer-Encoding: base64", b"Content-Transfer-Encoding: quoted-printable", b"=C3=A9", b"6Q==",
    )  # fmt: skip
    seen = {"read": 0, "refused": 0}
    for number in range(2_000):
        parts = [chooser.choice(signs) for _ in range(chooser.randint(0, 12))]
        if number % 2:  # half of them begin as a part does
            parts[:0] = [b"--x\r\n", chooser.choice(signs[-6:-4]), b"\r\n\r\n"]
        if number % 3:
            parts += [b"\r\n--x--\r\n"]
        kind = (
            PARTS
            if number % 7
            else chooser.choice(["multipart/form-data", PARTS + "\0", PARTS + '"'])
        )
        fields, *_ = read(b"".join(parts), kind, FILES)
        seen["refused" if isinstance(fields, Rejection) else "read"] += 1
        if isinstance(fields, Rejection):
            assert fields.status == 400
    assert min(seen.values()) > 300, seen


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (JSON, b'{"q":[' + b"[]," * 320_000 + b"0]}"),
        (JSON, b'{"unknown":[' + b"[]," * 320_000 + b"0]}"),
        (JSON, b'{"q":[' + b",".join([b"1" * 4_300] * 230) + b"]}"),
        (JSON, b'{"q":"' + b"\\ud800" * 160_000 + b'"}'),
        (FORM, b"q=%41" + "aé".encode() * 320_000),
        (FORM, b"q=" + b"%41" * 330_000),
        (PARTS, PART + b"a\r\n-" * 200_000 + b"\r\n--x--\r\n"),
        (PARTS, (PART + b"\r\n") * 10_000),
    ],
)
def test_a_long_body_is_read_beside_the_event_loop(kind, body):
    _, own, whole = read(body, kind)
    assert own < max(0.02, 0.5 * whole)


def test_the_time_to_read_the_name_of_a_file_does_not_depend_on_its_length():
    for name in ("a/" * 2_000_000 + "b.txt", "a." + "b" * 4_000_000, "\\" * 4_000_000):
        started = time.process_time()
        assert len(Upload(name, b"").name) <= LONGEST_NAME
        assert time.process_time() - started < 0.05
    assert Upload("../c/a b.txt", b"").name == "a b.txt"


def test_only_a_form_with_files_may_have_the_size_of_one(models):
    with client_of(models, body_limit=1_000, file_limit=2_000) as client:
        for kind, status in ((JSON, 413), (FORM, 413), ("", 413)):
            answer = client.post(
                "/translate_file", content=b"x" * 1_500, headers={"content-type": kind}
            )
            assert answer.status_code == status, kind
    assert RequestParser(FileRequest, ServerConfig()).has_file
