"""``headway serve`` as a process: clients of LibreTranslate, slow clients, reloads, signals."""

import io
import json
import re
import shutil
import signal
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from headway.cli.main import dispatch, main
from headway.errors import HeadwayError
from headway.ext.server.process import reserve_address
from headway.translation import Translator
from support.server import SHORT, Running
from support.toy_models import sentences

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(model_directory: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    limits: tuple[str, ...] = ("--server.idle-seconds", "1", "--server.body-limit", "20000")
    folder = tmp_path_factory.mktemp("server")
    browser = folder / "browser"
    browser.write_text(
        f'#!/bin/sh\nprintf %s "$1" > {folder}/opened.tmp\nmv {folder}/opened.tmp {folder}/opened\n'
    )
    browser.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BROWSER", f"{browser} %s")
        (folder / "pets.tsv").write_text("cat\tQuarkz\ndog\tHund\n")
        limits += ("--server.glossaries", f"pets={folder / 'pets.tsv'}")
        found = Running(folder / "log", str(model_directory), *SHORT, *limits, "--open")
    yield found
    found.stop()


def test_libretranslatepy_works_unchanged(server: Running, translator: Translator) -> None:
    from libretranslatepy import LibreTranslateAPI

    api = LibreTranslateAPI(server.url)
    assert api.languages()[0] == {"code": "en", "name": "English", "targets": ["en", "de"]}
    expected = server.post("/translate", q="the cat sees")[1]["translatedText"]
    assert api.translate("the cat sees", "en", "de") == expected
    assert api.detect("das ist ein Haus und ein Garten")[0]["language"] == "de"
    with pytest.raises(urllib.error.HTTPError) as caught:
        api.translate("the cat", "en", "xx")
    assert caught.value.code == 400
    caught.value.close()


def test_deep_translator_works_unchanged(server: Running) -> None:
    from deep_translator import LibreTranslator
    from deep_translator.exceptions import RequestError

    translator = LibreTranslator("en", "de", api_key="any", custom_url=server.url + "/")
    for text in ["the cat sees", "größe & 100 %"]:
        expected = server.post("/translate", q=text)[1]["translatedText"]
        assert translator.translate(text) == expected
    with pytest.raises((RequestError, Exception)):
        LibreTranslator("en", "fr", api_key="x", custom_url=server.url + "/").translate("the cat")


def test_the_client_of_deepl_works_unchanged(server: Running) -> None:
    import deepl

    client = deepl.DeepLClient("any", server_url=server.url)
    expected = server.post("/translate", q="the cat sees")[1]["translatedText"]
    found = client.translate_text("the cat sees", source_lang="EN", target_lang="DE")
    assert (found.text, found.detected_source_lang, found.billed_characters) == (expected, "EN", 12)
    several = client.translate_text(iter(["the cat sees", "a dog"]), target_lang="DE")
    assert len(several) == 2
    options = {"tag_handling": "xml", "ignore_tags": ["x"], "preserve_formatting": True}
    tagged = client.translate_text(
        "the <b>cat</b> <x>sees</x>", source_lang="EN", target_lang="DE", context="pets",
        split_sentences=deepl.SplitSentences.OFF, formality=deepl.Formality.PREFER_MORE, **options,
    )  # fmt: skip
    assert tagged.text.count("<b>") == tagged.text.count("<x>sees</x>") == 1
    assert [each.code for each in client.get_source_languages()] == ["EN"]
    assert [each.code for each in client.get_target_languages()] == ["DE"]
    assert client.get_usage().character.count > 12
    assert not client.get_usage().any_limit_reached
    with pytest.raises(deepl.DeepLException, match="'formality' is not supported"):
        client.translate_text("the cat", target_lang="DE", formality="more")
    with pytest.raises(deepl.DeepLException, match="'target_lang' not supported"):
        client.translate_text("the cat", target_lang="FR")


def test_the_client_of_deepl_uses_glossaries_and_sends_documents(server: Running) -> None:
    import deepl

    client = deepl.DeepLClient("any", server_url=server.url)
    [found] = client.list_glossaries()
    assert (found.name, found.entry_count) == ("pets", 2)
    assert "Quarkz" in client.translate_text_with_glossary("the cat", found).text
    handle = client.translate_document_upload(
        b"the cat\n", filename="a.txt", source_lang="EN", target_lang="DE", glossary="pets"
    )
    server.wait(lambda: client.translate_document_get_status(handle).done)
    document = io.BytesIO()
    client.translate_document_download(handle, document)
    assert "Quarkz" in document.getvalue().decode()
    for change in (
        lambda: client.create_glossary("new", "en", "de", {"cat": "Katze"}),
        lambda: client.delete_glossary(found),
    ):
        with pytest.raises(deepl.DeepLException, match="come from the settings of this server"):
            change()


def answer_to(server: Running, *packets: bytes, pause: float = 0.0) -> tuple[bytes, float]:
    """Send bytes; return what the server sends until it closes the connection, and the seconds."""
    started = time.monotonic()
    with server.connect() as connection:
        found = b""
        try:
            for packet in packets:
                connection.sendall(packet)
                time.sleep(pause)
            while chunk := connection.recv(65536):
                found += chunk
        except (ConnectionError, TimeoutError):
            pass
    return found, time.monotonic() - started


def test_slow_connections_are_closed(server: Running) -> None:
    """No header, half a header, half a second header, half a body, a body byte by byte."""
    head = b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    for packets in [
        (),
        (b"GET /health HT",),
        (b"GET /health HTTP/1.1\r\nHost: x\r\nX-A: ", *[b"a"] * 12),
        (b"GET /health HTTP/1.1\r\nHost: x\r\n\r\nGET /he",),
    ]:
        answer, seconds = answer_to(server, *packets, pause=0.15)
        assert 0.8 < seconds < 15, packets
        assert (b"200 OK" in answer) == (len(packets) == 1 and b"\r\n\r\n" in packets[0])
    for packets in [
        (head + b"Content-Length: 100\r\n\r\n{",),
        (head + b"Content-Length: 100\r\n\r\n", *[b"{"] * 5),
        (head + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",),
    ]:
        answer, seconds = answer_to(server, *packets, pause=0.15)
        assert answer.startswith(b"HTTP/1.1 408 "), packets
        assert b'{"error": ' in answer
        assert seconds < 15
    assert server.get("/health")["status"] == "ok"


def test_a_request_has_one_host_header(server: Running) -> None:
    for hosts, version, status in [
        (b"Host: x\r\n", b"1.1", 200),
        (b"", b"1.1", 400),
        (b"", b"1.0", 200),
        (b"Host: x\r\nHost: y\r\n", b"1.1", 400),
        (b"Host: x\r\nhOST: x\r\n", b"1.0", 400),
    ]:
        request = b"GET /health HTTP/%s\r\n%sConnection: close\r\n\r\n" % (version, hosts)
        answer, _ = answer_to(server, request)
        assert int(answer[9:12]) == status, request


def test_large_and_compressed_bodies_are_rejected_before_they_take_memory(server: Running) -> None:
    head = b"POST /translate HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    before = server.metric("process_resident_memory_bytes")
    for kind in (b"application/json", b"application/x-www-form-urlencoded", b"text/plain"):
        head_of_kind = head + b"Content-Type: " + kind + b"\r\n"
        announced, _ = answer_to(server, head_of_kind + b"Content-Length: 999999999\r\n\r\n")
        assert announced.startswith(b"HTTP/1.1 413 ")
        chunk = b"8000\r\n" + b"x" * 0x8000 + b"\r\n"
        counted, seconds = answer_to(
            server, head_of_kind + b"Transfer-Encoding: chunked\r\n\r\n", *[chunk] * 300
        )
        assert counted.startswith(b"HTTP/1.1 413 ") or not counted  # closed while we were sending
        assert seconds < 15
    packed, _ = answer_to(server, head + b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\n1234")
    assert packed.startswith(b"HTTP/1.1 415 ")
    fields = b"&".join(b"q%d=1" % i for i in range(1500))
    form = head + b"Content-Type: application/x-www-form-urlencoded\r\n"
    many, _ = answer_to(server, form + b"Content-Length: %d\r\n\r\n" % len(fields) + fields)
    assert many.startswith(b"HTTP/1.1 400 ")
    header, _ = answer_to(server, head + b"X: " + b"x" * 70_000 + b"\r\n\r\n")
    assert header.startswith(b"HTTP/1.1 4") or not header
    assert server.metric("process_resident_memory_bytes") - before < 20e6


@pytest.mark.parametrize(
    "raw",
    [
        b"\x00\xff\x16\x03\x01", b"GET", b"POST /translate HTTP/9.9\r\n\r\n", b"\r\n\r\n\r\n",
        b"GET /%ff%00/../../etc HTTP/1.1\r\nHost: x\r\n\r\n", b"GET / HTTP/1.1\r\nHost\r\n\r\n",
        b"POST /translate?q=%ff&source=%00&target=%ed%a0%80 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
        b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
        b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data\r\nContent-Length: 1\r\n\r\nx",
        b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=\xff; charset=\x00\r\nContent-Length: 8\r\n\r\n--\xff\r\n\r\nx",
        b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 60\r\n\r\n--b\r\nContent-Disposition: form-data; name=q; filename=f\r\n\r\nx",
    ],
    ids=lambda raw: repr(raw[:24]),
)  # fmt: skip
def test_malformed_requests_get_400_or_no_answer(server: Running, raw: bytes) -> None:
    answer, seconds = answer_to(server, raw)
    assert answer == b"" or re.match(rb"HTTP/1.1 4\d\d ", answer), answer
    assert seconds < 15


def test_the_work_for_clients_that_left_stops(model_directory: Path, tmp_path: Path) -> None:
    endless = ("--search.max-extra", "100000", "--server.batch-limit", "50", "--threads", "1")
    server = Running(tmp_path / "log", str(model_directory), *endless)
    head = b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    try:
        for path, q, waiting in [(b"/translate", ["the cat"] * 9, 27), (b"/stream", "the cat", 3)]:
            sent = json.dumps({"q": q, "source": "en", "target": "de"}).encode()
            connections = [server.connect() for _ in range(3)]
            for connection in connections:
                connection.sendall(head % path + b"Content-Length: %d\r\n\r\n" % len(sent) + sent)
            server.wait(partial(server.texts_are, waiting))
            for connection in connections:
                connection.close()
            server.wait(lambda: server.metric("headway_queue_texts") == 0, 5)
            server.wait(lambda: server.metric("headway_queue_tokens") == 0, 5)
        assert server.metric("headway_cancelled_total") >= 4
        with server.connect() as connection:  # the client leaves within its body
            connection.sendall(head % b"/translate" + b"Content-Length: 100\r\n\r\n{")
        server.wait(lambda: server.metric("process_open_fds") < 40, 5)
    finally:
        assert server.stop() == 0
    assert "ERROR" not in server.text()
    assert "POST /translate 499 " in server.text()


def test_memory_does_not_grow_with_the_number_of_requests(server: Running) -> None:
    texts = sentences(40, 5)

    def ask(count: int) -> tuple[float, float]:
        for number in range(count):
            text = texts[number % len(texts)]
            assert server.post("/translate", q=f"{text} {text}")[0] == 200
        return (
            server.metric("process_resident_memory_bytes"),
            server.metric("process_open_fds"),
        )

    ask(200)  # caches fill up
    memory, files = ask(100)
    grown, files_then = ask(500)
    assert grown - memory < 500 * 4_000  # the campaign, with 100,000 requests, finds 100 bytes each
    assert abs(files_then - files) <= 5


def test_models_are_read_again_without_a_lost_request(
    model_directory: Path, tmp_path: Path
) -> None:
    from safetensors.torch import load_file, save_file

    directory = tmp_path / "model"
    shutil.copytree(model_directory, directory)
    server = Running(tmp_path / "log", str(directory), *SHORT, "--server.watch-seconds", "0.1")
    texts = sentences(10, 3)
    found: list[tuple[int, Any]] = []
    stop = threading.Event()

    def client() -> None:
        while not stop.is_set():
            found.append(server.post("/translate", q=texts))

    threads = [threading.Thread(target=client) for _ in range(3)]
    try:
        before = server.post("/translate", q=texts)[1]["translatedText"]
        for thread in threads:
            thread.start()
        weights = load_file(directory / "model.safetensors")
        changed = {name: value * -1.0 for name, value in weights.items()}
        save_file(changed, directory / "new")
        (directory / "new").replace(directory / "model.safetensors")
        server.wait(lambda: server.metric('headway_reloads_total{outcome="done"}') == 1)
        after = server.post("/translate", q=texts)[1]["translatedText"]
        assert after != before
        # If the new model is damaged, the old one stays.
        (directory / "model.safetensors").write_bytes(b"nothing")
        server.wait(lambda: server.metric('headway_reloads_total{outcome="failed"}') >= 1)
        assert server.post("/translate", q=texts)[1]["translatedText"] == after
        save_file(weights, directory / "model.safetensors")
        server.process.send_signal(signal.SIGHUP)
        server.wait(lambda: server.post("/translate", q=texts)[1]["translatedText"] == before)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        server.stop()
    assert len(found) > 5
    assert {status for status, _ in found} == {200}
    assert all(
        answer["translatedText"] in (before, after) for _, answer in found
    )  # never a mixture
    assert "the models stay as they are: " in server.text()


def test_a_stopped_server_answers_the_requests_it_has_accepted(
    model_directory: Path, tmp_path: Path
) -> None:
    server = Running(tmp_path / "log", str(model_directory), "--search.max-extra", "150")
    texts = sentences(60, 4)
    answers: list[tuple[int, Any]] = []
    threads = [
        threading.Thread(target=lambda: answers.append(server.post("/translate", q=texts)))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    server.wait(lambda: server.metric("headway_queue_texts") > 100)
    started = time.monotonic()
    assert server.stop() == 0
    for thread in threads:
        thread.join()
    assert [(status, len(a["translatedText"])) for status, a in answers] == [(200, 60)] * 3
    assert time.monotonic() - started < 20
    came, answered = map(
        int, re.findall(r"received (\d+) requests, answered (\d+)", server.text())[0]
    )
    assert came == answered


def test_a_stopped_server_gives_a_file_the_time_of_other_requests(
    model_directory: Path, tmp_path: Path
) -> None:
    limits = ("--search.max-extra", "100000", "--server.deadline", "2")
    server = Running(tmp_path / "log", str(model_directory), *limits)
    parts = [
        ("source", "", b"en"),
        ("target", "", b"de"),
        ("file", '; filename="a.txt"', b"the cat\n" * 99),
    ]
    body = b"".join(
        b'--x\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n%s\r\n' % (name.encode(), more.encode(), value)
        for name, more, value in parts
    ) + b"--x--\r\n"  # fmt: skip
    head = b"POST /translate_file HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: multipart/form-data; boundary=x\r\n"
    with server.connect() as connection:
        connection.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        connection.settimeout(30)
        server.wait(lambda: server.metric("headway_pending_requests") == 1)
        server.process.send_signal(signal.SIGTERM)
        answer = b""
        while chunk := connection.recv(65536):
            answer += chunk
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert answer.endswith(b'{"error": "The server is stopping, try again later"}')
    assert server.stop() == 0
    assert "Traceback" not in server.text()
    assert "received" in server.text()


def test_it_listens_on_this_machine_only_and_names_a_port_in_use(
    server: Running, model_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert server.url.startswith("http://127.0.0.1:")
    monkeypatch.setattr("headway.ext.server.process.run_server", lambda *_, **__: None)
    with pytest.raises(HeadwayError, match=f"^--host 127.0.0.1 --port {server.port}: "):
        dispatch(["serve", str(model_directory), "--port", str(server.port)])


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (
            ["MODEL", "--server.char-limits", "5"],
            2,
            "--server.char-limits is not a setting (did you mean --server.char-limit?)",
        ),
        (["nowhere", "--search.beam", "none"], 2, "search.beam"),  # before a model is looked for
        (["MODEL", "MODEL"], 1, "translates en to de, as"),
        (
            ["MODEL", "--pivot", "fr"],
            1,
            "headway: --pivot fr: no model translates this language; there are en, de\n",
        ),
    ],
)
def test_wrong_options_are_named(
    words: list[str],
    code: int,
    said: str,
    model_directory: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("headway.ext.server.process.reserve_address", lambda host, port: None)
    named = [str(model_directory) if word == "MODEL" else word for word in words]
    with pytest.raises(SystemExit) as end:
        main(["serve", *named])
    assert end.value.code == code
    assert said in capsys.readouterr().err.splitlines(keepends=True)[-1]


def test_the_page_opens_in_a_browser(server: Running) -> None:
    opened = server.log.with_name("opened")
    server.wait(opened.exists)
    assert opened.read_text() == server.url


def test_a_port_in_use_is_named_with_another_one():
    with reserve_address("127.0.0.1", 0) as first:
        first.listen()
        port = first.getsockname()[1]
        said = f"--port {port}: .*in use: give another, such as --port {port + 1}"
        with pytest.raises(HeadwayError, match=said):
            reserve_address("127.0.0.1", port)
