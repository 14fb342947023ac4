"""``headway serve`` as a process: clients of LibreTranslate, slow clients, reloads, signals."""

import asyncio
import errno
import io
import os
import re
import shutil
import signal
import socket
import threading
import time
import urllib.error
from concurrent.futures import ThreadPoolExecutor

import pytest

from headway.cli.main import dispatch
from headway.errors import HeadwayError
from headway.ext.server.draining import drain
from support.server import SHORT, Running
from support.toy_models import sentences

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(model_directory, tmp_path_factory):
    limits = ("--server.idle-seconds", "1", "--server.body-limit", "20000")
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


def test_libretranslatepy_works_unchanged(server):
    from libretranslatepy import LibreTranslateAPI

    api = LibreTranslateAPI(server.url)
    assert api.languages()[0] == {
        "code": "en", "name": "English", "targets": ["en", "de"], "aliases": [],
    }  # fmt: skip
    expected = server.post("/translate", q="the cat sees")[1]["translatedText"]
    assert api.translate("the cat sees", "en", "de") == expected
    assert api.detect("das ist ein Haus und ein Garten")[0]["language"] == "de"
    with pytest.raises(urllib.error.HTTPError) as caught:
        api.translate("the cat", "en", "xx")
    assert caught.value.code == 400
    caught.value.close()


def test_deep_translator_works_unchanged(server):
    from deep_translator import LibreTranslator

    translator = LibreTranslator("en", "de", api_key="any", custom_url=server.url + "/")
    for text in ["the cat sees", "größe & 100 %"]:
        expected = server.post("/translate", q=text)[1]["translatedText"]
        assert translator.translate(text) == expected


def test_the_client_of_deepl_works_unchanged(server):
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
    with pytest.raises(deepl.DeepLException, match="target_lang must be one of"):
        client.translate_text("the cat", target_lang="FR")


def test_the_client_of_deepl_uses_glossaries_and_sends_documents(server):
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


def answer_to(server, *packets, pause=0.0, ends=False):
    """Send bytes, and nothing more if this ends them; return what comes until the connection closes, and the seconds."""
    started = time.monotonic()
    with server.connect() as connection:
        found = b""
        try:
            for packet in packets:
                connection.sendall(packet)
                time.sleep(pause)
            if ends:
                connection.shutdown(socket.SHUT_WR)
            while chunk := connection.recv(65536):
                found += chunk
        except (ConnectionError, TimeoutError):
            pass
    return found, time.monotonic() - started


def test_slow_connections_are_closed(server):
    """No header, half a header, half a second header, half a body, a body byte by byte."""
    head = b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    of_headers = [
        (),
        (b"GET /health HT",),
        (b"GET /health HTTP/1.1\r\nHost: x\r\nX-A: ", *[b"a"] * 12),
        (b"GET /health HTTP/1.1\r\nHost: x\r\n\r\nGET /he",),
    ]
    of_bodies = [
        (head + b"Content-Length: 100\r\n\r\n{",),
        (head + b"Content-Length: 100\r\n\r\n", *[b"{"] * 5),
        (head + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",),
    ]
    clients = [*of_headers, *of_bodies]
    with ThreadPoolExecutor(len(clients)) as pool:  # they all wait at the same time
        answers = list(pool.map(lambda packets: answer_to(server, *packets, pause=0.15), clients))
    for packets, (answer, seconds) in zip(clients, answers, strict=True):
        if packets in of_headers:
            assert 0.8 < seconds < 15, packets
            assert (b"200 OK" in answer) == (packets == of_headers[-1])
        else:
            assert answer.startswith(b"HTTP/1.1 408 "), packets
            assert b'{"error":' in answer
            assert seconds < 15
    assert server.get("/health")["status"] == "ok"


def test_a_request_has_one_host_header(server):
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


def test_large_and_compressed_bodies_are_rejected_before_they_take_memory(server):
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


def test_malformed_requests_get_400_or_no_answer(server):
    multipart = b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data"
    part = b"--b\r\nContent-Disposition: form-data; name=q; filename=f\r\n\r\nx"
    for raw in (
        b"\x00\xff\x16\x03\x01",
        b"GET",
        b"POST /translate HTTP/9.9\r\n\r\n",
        b"GET /%ff%00/../../etc HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost\r\n\r\n",
        b"POST /translate?q=%ff&source=%00&target=%ed%a0%80 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
        b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
        multipart + b"\r\nContent-Length: 1\r\n\r\nx",
        multipart + b"; boundary=\xff; charset=\x00\r\nContent-Length: 8\r\n\r\n--\xff\r\n\r\nx",
        multipart + b"; boundary=b\r\nContent-Length: %d\r\n\r\n" % len(part) + part,
    ):
        answer, seconds = answer_to(server, raw, ends=True)
        assert answer == b"" or re.match(rb"HTTP/1.1 4\d\d ", answer), answer
        assert seconds < 15
    assert server.get("/health")["status"] == "ok"


def test_memory_does_not_grow_with_the_number_of_requests(server):
    def ask(count):
        for number in range(count):
            assert server.post("/translate", q=f"the cat {number % 40}")[0] == 200
        return (
            server.metric("process_resident_memory_bytes"),
            server.metric("process_open_fds"),
        )

    memory, files = ask(80)  # caches fill up
    grown, files_then = ask(160)
    assert grown - memory < 2e6  # the campaign, with 100,000 requests, finds 100 bytes each
    assert abs(files_then - files) <= 5


def test_it_listens_on_this_machine_only_opens_the_page_and_names_a_port_in_use(
    server, model_directory, monkeypatch
):
    assert server.url.startswith("http://127.0.0.1:")
    opened = server.log.with_name("opened")
    server.wait(opened.exists)
    assert opened.read_text() == server.url
    monkeypatch.setattr("headway.ext.server.process.run_server", lambda *_, **__: None)
    with pytest.raises(HeadwayError, match=f"^--host 127.0.0.1 --port {server.port}: "):
        dispatch(["serve", str(model_directory), "--port", str(server.port)])


def test_models_and_keys_are_read_again_without_a_lost_request(
    model_directory, tmp_path, monkeypatch
):
    from safetensors.torch import load_file, save_file

    directory, keys = shutil.copytree(model_directory, tmp_path / "model"), tmp_path / "keys"
    for name, value in (("HOST", "localhost"), ("CHAR_LIMIT", "99"), ("URL_PREFIX", "/translations")):  # fmt: skip
        monkeypatch.setenv(f"LT_{name}", value)
    os.mkfifo(keys)  # the server waits here for a writer
    (tmp_path / "later").write_text("second\n")

    def change_keys(process):
        with keys.open("w") as pipe:
            (tmp_path / "later").replace(keys)
            process.send_signal(signal.SIGHUP)  # while the server starts
            pipe.write("first\n")

    options = (*SHORT, "--keys", str(keys), "--server.watch-seconds", "0.1")
    server = Running(tmp_path / "log", str(directory), *options, while_starting=change_keys)
    texts = sentences(5, 3)

    def post(key="second", q=texts):
        return server.post("/translate", q=q, api_key=key)

    def reloads(outcome):
        return server.metric(f'headway_reloads_total{{outcome="{outcome}"}}')

    found = []
    stop = threading.Event()

    def client():
        while not stop.is_set():
            found.append(post())

    threads = [threading.Thread(target=client) for _ in range(3)]
    try:
        server.wait(lambda: reloads("done") == 1)
        before = post()[1]["translatedText"]
        assert post("first")[0] == 403
        for thread in threads:
            thread.start()
        keys.write_text("second\nthird\n")
        server.process.send_signal(signal.SIGHUP)
        server.wait(lambda: post("third")[0] == 200)
        assert post("third", "0123456789" * 10)[0] == 400
        weights = load_file(directory / "model.safetensors")
        changed = {name: value * -1.0 for name, value in weights.items()}
        save_file(changed, directory / "new")
        (directory / "new").replace(directory / "model.safetensors")
        server.wait(lambda: post()[1]["translatedText"] != before)
        after = post()[1]["translatedText"]
        # If the new model or the file of keys is damaged, the old ones stay.
        (directory / "model.safetensors").write_bytes(b"nothing")
        keys.write_text("")
        server.process.send_signal(signal.SIGHUP)
        server.wait(lambda: reloads("failed") >= 1)
        answer = post("third")
        assert (answer[0], answer[1]["translatedText"]) == (200, after)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        server.stop()
    assert len(found) > 5
    assert {status for status, _ in found} == {200}
    answers = [answer["translatedText"] for _, answer in found]
    assert all(answer in (before, after) for answer in answers)  # never a mixture
    said = server.text()
    assert "the models stay as they are: " in said
    assert f"the keys stay as they are: {keys}: holds no key" in said
    assert server.url.startswith("http://127.0.0.1:")
    assert said.count("not used here: LT_URL_PREFIX; see docs/serving.md") == 1


def test_a_stopped_server_answers_the_requests_it_has_accepted(model_directory, tmp_path):
    limits = ("--search.max-extra", "50")
    server = Running(tmp_path / "log", str(model_directory), *limits)
    texts = sentences(30, 4)
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(server.post("/translate", q=texts)))
        for _ in range(2)
    ]
    fields = (b'source"\r\n\r\nen', b'target"\r\n\r\nde', b'file"; filename="a.txt"\r\n\r\n' + b"the cat\n" * 50_000)  # fmt: skip
    part = b'--x\r\nContent-Disposition: form-data; name="%s\r\n'
    body = b"".join(part % field for field in fields) + b"--x--\r\n"
    head = b"POST /translate_file HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: multipart/form-data; boundary=x\r\n"
    with server.connect() as connection:
        connection.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        connection.settimeout(30)
        for thread in threads:
            thread.start()
        server.wait(lambda: server.metric("headway_pending_requests") == 3)
        started = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        answer = connection.makefile("rb").read()
    for thread in threads:
        thread.join()
    assert server.stop() == 0
    assert time.monotonic() - started < 8  # a file alone may take 600 s
    assert [(status, len(a["translatedText"])) for status, a in answers] == [(200, 30)] * 2
    # A file gets the time of other requests.
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert answer.endswith(b'{"error":"The server is stopping, try again later"}')
    assert "Traceback" not in server.text()
    [(came, answered)] = re.findall(r"received (\d+) requests, answered (\d+)", server.text())
    assert came == answered


def test_a_server_that_stops_answers_on_every_connection_that_was_made(model_directory, tmp_path):
    """Also on those that it has not accepted yet, here because it may have two at a time."""
    options = (*SHORT, "--server.connections", "2")
    server = Running(tmp_path / "log", str(model_directory), *options)
    idle = [server.connect() for _ in range(2)]
    for one in idle:
        one.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        assert one.recv(65536).startswith(b"HTTP/1.1 200 ")
    waiting = [server.connect() for _ in range(9)]
    for one in waiting:
        one.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
    server.process.send_signal(signal.SIGTERM)
    time.sleep(0.3)
    with pytest.raises(TimeoutError):  # no more can be made
        socket.create_connection(("127.0.0.1", server.port), 0.2)
    for one in idle:
        one.close()
    for one in waiting:
        with one, one.makefile("rb") as answer:  # the server closes it
            found = answer.read()
        assert found.startswith(b"HTTP/1.1 200 ")
        assert b"connection: close" in found.lower()
    assert server.stop() == 0


def test_a_server_ends_where_the_system_has_no_packet_filter():
    class Refusing(socket.socket):
        def setsockopt(self, *_):
            raise OSError(errno.ENOPROTOOPT, "Protocol not available")

    with Refusing() as listener:
        started = time.monotonic()
        asyncio.run(drain(listener))
        assert time.monotonic() - started < 0.1
