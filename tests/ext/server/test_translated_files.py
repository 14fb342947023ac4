"""Files that the server translates."""

import asyncio
import importlib
import io
import random
import threading
import time
import zipfile
from contextlib import nullcontext, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from starlette.testclient import TestClient

from headway.config import ServerConfig
from headway.ext.documents.document_translation import (
    translate_document as translate_on_command_line,
)
from headway.ext.documents.document_translation import write_document
from headway.ext.documents.opening import open_document
from headway.ext.documents.paragraph import DocumentOptions
from headway.ext.documents.texts import finish_sentence
from headway.ext.server.app import make_app
from headway.ext.server.file_translation import TranslatedDocument, translate_document
from headway.ext.server.files import KEPT_FILES, KEPT_SECONDS, FileStore, Upload
from headway.ext.server.handlers import translate_file
from headway.ext.server.messages import FileRequest
from headway.ext.server.metrics import Metrics
from headway.ext.server.models import Models, load_models
from headway.ext.server.queue import TranslationQueue
from headway.ext.server.rejection import Rejection
from headway.ext.server.server import Server
from headway.text.tokenizer import Tokenizer
from support.documents import make_file
from support.toy_models import sentences, write_random_model

PAGE = "<html lang=en><p title='the cat'>the <b>dog</b></p><code>the</code></html>"


@pytest.fixture(scope="module")
def models(model_directory: Path) -> Models:
    return load_models([model_directory], overrides={"search.max-extra": "5"})


def client_of(models: Models, **limits: Any) -> TestClient:
    return TestClient(make_app(Server(models, ServerConfig(**limits))))


def post(client: TestClient, name: str, data: bytes, **fields: str) -> Any:
    values = {"source": "en", "target": "de", **fields}
    return client.post("/translate_file", files={"file": (name, data)}, data=values)


def test_a_file_is_translated_and_fetched(models: Models) -> None:
    with client_of(models) as client:
        answer = post(client, "../my page.html", PAGE.encode())
        assert answer.status_code == 200, answer.text
        [(name, url)] = answer.json().items()
        assert name == "translatedFileUrl"
        assert url.startswith("http://testserver/download_file/")
        fetched = client.get(urlsplit(url).path)
        assert fetched.headers["content-disposition"].endswith("''my_page.de.html")
        assert "html" not in fetched.headers["content-type"]
        page = fetched.text
        assert page.startswith('<html lang="de"><p title=\'')
        assert page.count("<b>") == page.count("</b>") == 1
        assert page.endswith("<code>the</code></html>")
        assert page != PAGE
        word = client.post("/translate", data={"q": "the cat", "source": "en", "target": "de"})
        title = finish_sentence("the cat", word.json()["translatedText"], "de")
        assert f"title='{title}'" in page
        settings = client.get("/frontend/settings").json()
        assert settings["filesTranslation"] is True
        assert {".html", ".md", ".srt", ".po"} <= set(settings["supportedFilesFormat"])
        paths = client.get("/spec").json()["paths"]
        content = paths["/translate_file"]["post"]["requestBody"]["content"]
        assert [*content] == ["multipart/form-data"]
        assert "/download_file/{name}" in paths


def test_addresses_of_files_are_ascii_whatever_their_names(models: Models) -> None:
    with client_of(models) as client:
        url = post(client, "Отчёт за май.txt", b"the cat\n").json()["translatedFileUrl"]
        assert url.isascii()
        fetched = client.get(urlsplit(url).path)
        assert fetched.is_success
        name = unquote(fetched.headers["content-disposition"].rpartition("'")[2])
        assert name == "Отчёт_за_май.de.txt"


def test_a_table_needs_columns_and_other_mistakes_have_one_line(models: Models) -> None:
    table = b"id,text\n1,the cat\n"
    with client_of(models, file_limit=5_000, body_limit=1_000) as client:
        answer = post(client, "a.csv", table, columns="text")
        fetched = client.get(urlsplit(answer.json()["translatedFileUrl"]).path)
        assert fetched.text.startswith("id,text\n1,")
        for name, data, status, message in (
            ("a.csv", table, 400, "a.csv: give columns to translate, separated by commas"),
            ("a.exe", b"x", 400, "a.exe: is no document"),
            ("a.json", b"{", 400, "a.json: is no JSON"),
            ("a.txt", b"the cat", 400, "columns needs a table (.csv or .tsv) as file"),
            ("a.html", b"x" * 9_000, 413, "larger than 6000 bytes"),
        ):
            columns = {"columns": "text"} if name == "a.txt" else {}
            answer = post(client, name, data, **columns)
            assert (answer.status_code, [*answer.json()]) == (status, ["error"])
            assert message in answer.json()["error"]
            assert "\n" not in answer.json()["error"]
        assert client.post("/translate_file", data={"source": "en"}).status_code == 400
        assert post(client, "a.txt", b"x", target="xx").status_code == 400
        assert client.get("/download_file/nothing.txt").status_code == 404
    with client_of(models, file_limit=0) as client:
        assert post(client, "a.txt", b"the cat").status_code == 403
        assert client.get("/frontend/settings").json()["supportedFilesFormat"] == []


@pytest.mark.parametrize(("size", "status"), [(5_000, 200), (5_001, 413)])
def test_a_file_has_a_limit_of_its_own(models: Models, size: int, status: int) -> None:
    page = b"<p>the cat</p>".ljust(size)
    with client_of(models, file_limit=5_000, body_limit=3_000) as client:
        answer = post(client, "a.html", page)
        assert answer.status_code == status
        if status == 413:
            assert answer.json() == {"error": "The file is larger than 5000 bytes"}
        fields = {"source_lang": "EN", "target_lang": "DE"}
        answer = client.post("/v2/document", files={"file": ("a.html", page)}, data=fields)
        assert answer.status_code == status


def test_a_glossary_holds_in_files(models: Models) -> None:
    with client_of(models) as client:
        answer = post(client, "a.txt", b"the cat\n", glossary="cat\tQuarkz")
        fetched = client.get(urlsplit(answer.json()["translatedFileUrl"]).path)
        assert "Quarkz" in fetched.text
        assert post(client, "a.txt", b"the cat\n", glossary="nothing").status_code == 400


@pytest.mark.slow
def test_a_glossary_may_be_sent_as_a_file(models: Models) -> None:
    fields = {"q": "the cat", "source": "en", "target": "de"}
    for rows, status, message in (
        (b"\xef\xbb\xbfcat\tQuarkz\r\n", 200, "Quarkz"),
        *((rows, 400, "no rows with tabs: send rows of a source, a tab and a target, such as a .tsv file, and no .csv or .tbx")
          for rows in (b"cat,Quarkz\ndog,Hund\n", b"cat,Quarkz", b"cat;Quarkz\n", b"\xef\xbb\xbf<?xml version='1.0'?>\n<tbx>\n\t<text/>")),
        (b"de\ten\nQuarkz\tcat\n", 200, "Quarkz"),
        (b"fr\ten\nQuarkz\tcat\n", 400, "the first row names fr and en, and the translation is from en to de"),
        (b"caf\xe9\tCaf\xe9\n", 400, "glossary parameter is not UTF-8"),
        (b"PK\x03\x04\x14\x00\xff", 400, "not UTF-8: send text, such as a .tsv file, and no workbook"),
    ):  # fmt: skip
        files = {"file": ("a.txt", b"the cat\n"), "glossary": ("terms.tsv", rows)}
        with client_of(models) as client:
            answer = client.post("/translate_file", files=files, data=fields)
            text = answer.text
            if answer.status_code == 200:
                text = client.get(urlsplit(answer.json()["translatedFileUrl"]).path).text
            assert (answer.status_code, message in text) == (status, True), text
            other = client.post("/translate", files=files, data=fields)
            assert (other.status_code, message in other.text) == (status, True), other.text


def test_two_files_are_rejected(models: Models) -> None:
    files = [("file", ("a.txt", b"the cat\n")), ("file", ("b.txt", b"the dog\n"))]
    with client_of(models) as client:
        answer = client.post("/translate_file", files=files, data={"source": "en", "target": "de"})
        assert answer.status_code == 400
        assert answer.json() == {"error": "Invalid request: send one file at a time"}


def test_a_file_of_another_kind_is_named_as_on_the_command_line(models: Models) -> None:
    with client_of(models) as client:
        for address in ("/translate_file", "/v2/document"):
            for name, advice in (
                ("a.doc", "a.doc: an old Word document: convert it to .docx"),
                ("a.pdf", "a.pdf: a PDF document: convert it to .docx"),
                ("a.yaml", "a.yaml: a YAML file: convert it to .json"),
                ("../a.exe", ": a.exe: is no document that can be translated"),
            ):
                fields = {"source": "en", "target": "de", "target_lang": "DE"}
                answer = client.post(address, files={"file": (name, b"x")}, data=fields)
                assert answer.status_code == 400
                assert advice in answer.text


def test_files_take_turns_and_go(monkeypatch: pytest.MonkeyPatch) -> None:
    store = FileStore(ServerConfig(file_jobs=1, file_limit=10))

    async def use() -> None:
        async with store.reserve():
            with pytest.raises(Rejection) as raised:
                async with store.reserve():
                    pass
            assert raised.value.status == 429
        async with store.reserve():
            pass

    asyncio.run(use())
    addresses = [store.add(b"x" * 10, "a.de.txt")[0] for _ in range(KEPT_FILES + 1)]
    assert len(set(addresses)) == len(addresses)
    assert store.find(addresses[-1]).name == "a.de.txt"
    with pytest.raises(Rejection):
        store.find(addresses[0])
    room = KEPT_FILES * store.config.file_limit
    for large in ((b"x" * (room + 1), None), (b"x", b"x" * (room + 1))):
        with pytest.raises(Rejection) as raised:
            store.add(large[0], "a.txt", large[1])
        assert raised.value.status == 413
    # Reports do not drive out files.
    rated = [store.add(b"x", "a.de.txt", b"x" * room) for _ in range(3)]
    assert store.find(rated[-1][1]).name == "a.de.txt.quality.tsv"
    for gone in rated[:2]:
        assert store.find(gone[0]).name == "a.de.txt"
        with pytest.raises(Rejection, match="if there is room"):
            store.find(gone[1])
    assert store.find(addresses[-1])
    clock = store.find(addresses[-1]).made_at + KEPT_SECONDS + 1
    monkeypatch.setattr("headway.ext.server.files.time.monotonic", lambda: clock)
    with pytest.raises(Rejection):
        store.find(addresses[-1])


def test_the_address_of_a_file_cannot_be_guessed() -> None:
    store = FileStore(ServerConfig())

    def names() -> list[str]:
        random.seed(1)
        return [store.add(b"x", "a.txt")[0].partition(".")[0] for _ in range(50)]

    found = names() + names()
    assert len({name[:8] for name in found}) == len(found)
    assert min(map(len, found)) >= 22  # 128 bits in letters, digits, - and _


def test_a_look_for_a_file_does_not_visit_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headway.ext.server.files.MOST_FILES", 1_000)
    store = FileStore(ServerConfig())
    kept = [store.add(b"x", "a.de.txt", b"y") for _ in range(1_007)]
    for number, (file, report) in enumerate(kept):
        for address in (file, report):
            with nullcontext() if number >= 7 else pytest.raises(Rejection):
                store.find(address)
    looks = 0

    def look() -> float:
        nonlocal looks
        looks += 1
        return time.monotonic()

    monkeypatch.setattr("headway.ext.server.files.time", SimpleNamespace(monotonic=look))
    store.find(kept[-1][1])
    store.add(b"x", "a.de.txt", b"y")
    assert looks < 10


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".docx", ".xlsx", ".epub", ".html"])
def test_a_file_of_a_detected_language_is_that_of_a_named_one(
    tokenizer: Tokenizer, tmp_path: Path, suffix: str
) -> None:
    """Arabic is read from right to left, which a file says in many places."""
    path = write_random_model(tmp_path / "ar", tokenizer, ("en", "ar"), 10)
    data = b"<p>the cat and the dog</p>" if suffix == ".html" else make_file(suffix, 1)
    with client_of(load_models([path], overrides={"search.max-extra": "5"})) as client:
        found = []
        for source in ("en", "auto"):
            answer = post(client, f"a{suffix}", data, source=source, target="ar")
            found.append(client.get(urlsplit(answer.json()["translatedFileUrl"]).path).content)
    if suffix == ".html":
        assert found[0] == found[1]
        return
    parts = [zipfile.ZipFile(io.BytesIO(each)) for each in found]
    for name in parts[0].namelist():
        assert parts[0].read(name) == parts[1].read(name), name


@pytest.mark.slow
@pytest.mark.parametrize("file", [b"the cat sees a dog\n" * 300, b"The cat sees a dog. " * 300])
def test_a_long_file_is_not_rejected_halfway_but_lets_others_pass(
    models: Models, file: bytes
) -> None:
    with client_of(models, queue_tokens=200, batch_tokens=100) as client:
        sent: list[Any] = []
        upload = threading.Thread(target=lambda: sent.append(post(client, "a.txt", file)))
        upload.start()
        others = 0
        while upload.is_alive():
            fields = {"q": "the cat", "source": "en", "target": "de"}
            answer = client.post("/translate", json=fields)
            assert answer.status_code == 200, answer.text
            others += upload.is_alive()
        assert others > 2
        [answer] = sent
        assert answer.status_code == 200, answer.text
        fetched = client.get(urlsplit(answer.json()["translatedFileUrl"]).path)
        assert fetched.text.count("\n") == file.count(b"\n")


LONG = ". ".join(sentences(30, 2)) + "\n\n" + " ".join(sentences(60, 3)) + "\n" * 300 + "a\n" * 300


async def translate_text(models: Models, text: str) -> TranslatedDocument:
    queue = TranslationQueue(1, ServerConfig(), Metrics())
    document = open_document(text.encode(), "a.txt", DocumentOptions("en", "de"))
    route = [models.pairs["en", "de"]]
    try:
        return await translate_document(queue, route, document)
    finally:
        await queue.close()


@pytest.mark.slow
def test_a_translation_does_not_depend_on_the_portions_of_the_file(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for portion, chunk in ((1, 1), (50, 100), (1_000_000, 1_000_000)):
        monkeypatch.setattr("headway.ext.server.file_translation.WINDOW", portion)
        monkeypatch.setattr("headway.ext.server.file_translation.CHUNK", chunk)
        found.append(asyncio.run(translate_text(models, LONG)).data)
    translator = models.pairs["en", "de"]
    document = open_document(LONG.encode(), "a.txt", DocumentOptions("en", "de"))
    expected = write_document(document, translate_on_command_line(translator, document))
    assert found == [expected] * 3


@pytest.mark.slow
def test_the_work_for_a_long_paragraph_stops_at_the_next_portion(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenized = 0
    encode = Tokenizer.encode_source

    def counted(self: Tokenizer, texts: list[str]) -> list[list[int]]:
        nonlocal tokenized
        tokenized += 1
        return encode(self, texts)

    monkeypatch.setattr(Tokenizer, "encode_source", counted)

    async def leave() -> None:
        task = asyncio.ensure_future(translate_text(models, "the cat sees a dog and " * 20_000))
        while not tokenized:
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(leave())
    assert 0 < tokenized < 5_000  # of 100,000 words


@pytest.mark.parametrize("slow", ["open", "write"])
def test_a_file_has_its_place_until_its_thread_has_ended(
    models: Models, monkeypatch: pytest.MonkeyPatch, slow: str
) -> None:
    is_entered, is_open, threads = threading.Event(), threading.Event(), []

    def wait(work: str) -> None:
        if work == slow:
            threads.append(threading.current_thread().name)
            is_entered.set()
            is_open.wait(5)

    class SlowDocument:
        paragraphs = ()

        def __init__(self, *_: object) -> None:
            wait("open")

        def write(self, _: object) -> bytes:
            wait("write")
            return b""

    monkeypatch.setattr("headway.ext.server.file_translation.open_document", SlowDocument)

    async def leave() -> None:
        server = Server(models, ServerConfig(file_jobs=1))
        request = FileRequest(file=Upload("a.txt", b"the cat"), source="en", target="de")
        running = asyncio.ensure_future(translate_file(request, server.context))
        assert await asyncio.to_thread(is_entered.wait, 5)
        running.cancel()
        await asyncio.sleep(0.01)
        with pytest.raises(Rejection, match="try again"):
            async with server.files.reserve():
                pass
        is_open.set()
        with pytest.raises(asyncio.CancelledError):
            await running
        async with server.files.reserve():
            pass
        await server.queue.close()

    asyncio.run(leave())
    [name] = threads
    assert name.startswith("file")  # these have a lower priority


@pytest.mark.slow
def test_the_event_loop_leaves_the_text_of_a_file_to_threads(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_loop: list[str] = []

    def watch(place: str) -> None:
        module, _, name = place.rpartition(".")
        called = getattr(importlib.import_module(module), name)

        def watched(*arguments: Any) -> Any:
            with suppress(RuntimeError):
                asyncio.get_running_loop()
                on_loop.append(name)
            return called(*arguments)

        monkeypatch.setattr(place, watched)

    for name in ("KeptMarks", "expand_kept"):
        watch(f"headway.ext.documents.paragraph_translation.{name}")
    watch("headway.text.word_links.find_words")
    watch("headway.ext.documents.passages.split_sentences")
    asyncio.run(translate_text(models, LONG))
    asyncio.run(translate_text(models, "The cat. The dog.\n"))
    assert on_loop == []


def test_the_work_of_a_glossary_is_bounded_in_each_sentence_of_a_file(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headway.ext.server.driver.MAX_WORK", 250)
    rows = "\n".join(f"cat {n}\tK" for n in range(11))
    with client_of(models) as client:
        for text, status in (("cat " * 20, 400), ("cat " * 15 + "\n", 200), ("cat\n" * 50, 200)):
            answer = post(client, "a.txt", text.encode(), glossary=rows)
            assert answer.status_code == status, answer.text
            assert ("begin alike" in answer.text) == (status == 400)
