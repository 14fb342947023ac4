"""Files that the server translates."""

import asyncio
import io
import logging
import random
import re
import subprocess
import sys
import threading
import time
import zipfile
from urllib.parse import unquote

import pytest
from starlette.requests import Request

from headway.ext.documents.document_translation import (
    translate_document as translate_on_command_line,
)
from headway.ext.documents.document_translation import write_document
from headway.ext.documents.opening import open_document
from headway.ext.documents.paragraph import DocumentOptions
from headway.ext.documents.texts import finish_sentence
from headway.ext.server.answers import file_response
from headway.ext.server.file_translation import translate_upload
from headway.ext.server.files import (
    KEPT_FILES,
    KEPT_SECONDS,
    FileJob,
    Files,
    TranslatedFile,
    Upload,
)
from headway.ext.server.handlers import translate_file
from headway.ext.server.messages import FileRequest
from headway.ext.server.models import load_models
from headway.ext.server.rejection import Rejection
from headway.ext.server.server import Context, Server
from headway.ext.server.server_settings import ServerConfig
from support import reading_files
from support.documents import make_file
from support.server import ask, client_of, fetch, send_document, send_file
from support.toy_models import sentences, write_random_model

PAGE = "<html lang=en><p title='the cat'>the <b>dog</b></p><code>the</code></html>"


def test_a_file_is_translated_and_fetched(models):
    with client_of(models) as client:
        answer = send_file(client, "../Отчёт за май.html", PAGE.encode())
        assert answer.status_code == 200, answer.text
        [(name, url)] = answer.json().items()
        assert name == "translatedFileUrl"
        assert url.startswith("http://testserver/download_file/")
        assert url.isascii()
        fetched = fetch(client, answer)
        shown = unquote(fetched.headers["content-disposition"].rpartition("''")[2])
        assert shown == "Отчёт_за_май.de.html"
        assert '; filename="_.de.html"; ' in fetched.headers["content-disposition"]
        assert "html" not in fetched.headers["content-type"]
        page = fetched.text
        assert page.startswith('<html lang="de"><p title=\'')
        assert page.count("<b>") == page.count("</b>") == 1
        assert page.endswith("<code>the</code></html>")
        assert page != PAGE
        word = ask(client).json()["translatedText"]
        assert f"title='{finish_sentence('the cat', word, 'de')}'" in page
        settings = client.get("/frontend/settings").json()
        assert settings["filesTranslation"] is True
        assert {".html", ".md", ".srt", ".po"} <= set(settings["supportedFilesFormat"])


@pytest.mark.parametrize("seed", range(50))
def test_the_header_of_a_file_has_its_name_and_nothing_else(seed):
    name = "".join(random.Random(seed).choices("aZ09._- \"\\\r\n;=*'%/äß文\0", k=20))
    header = file_response(TranslatedFile(name, b"")).headers["content-disposition"]
    found = re.fullmatch(r"attachment; filename=\"([\w.-]+)\"; filename\*=UTF-8''([\w.%~-]+)", header, re.ASCII)  # fmt: skip
    assert found[1] == re.sub(r"[^A-Za-z0-9.-]+", "_", name)
    assert unquote(found[2]) == name


def test_a_client_says_what_is_finished_in_a_catalog(models):
    data = b'msgid "the cat"\nmsgstr ""\n'
    with client_of(models) as client:
        for finished, is_fuzzy in (("", True), ("0", False)):
            answer = send_file(client, "a.po", data, finished=finished)
            assert ("fuzzy" in fetch(client, answer).text) == is_fuzzy
        for name, finished in (("a.po", "x"), ("a.po", "1.5"), ("a.po", "0.5"), ("a.txt", "0")):
            answer = send_file(client, name, data, finished=finished)
            assert answer.status_code == 400
            assert answer.json()["error"].startswith("Invalid request: finished ")


def test_a_file_has_a_limit_of_its_own(models):
    with client_of(models, file_limit=5_000, body_limit=3_000) as client:
        for size, status in ((5_000, 200), (5_001, 413)):
            page = b"<p>the cat</p>".ljust(size)
            assert send_document(client, "a.html", page).status_code == status
            answer = send_file(client, "a.html", page)
            assert answer.status_code == status
        assert answer.json() == {"error": "The file is larger than 5000 bytes"}


def test_a_glossary_may_be_sent_as_a_file(models):
    fields = {"q": "the cat", "source": "en", "target": "de"}
    with client_of(models) as client:
        for rows, message in (
            (b"\xef\xbb\xbfcat\tQuarkz\r\n", ""),
            (b"de\ten\nQuarkz\tcat\n", ""),
            (b"cat,Quarkz\ndog,Hund\n", "is not a glossary; send the name of one, or rows of a source, a tab and a target"),
            (b"\xef\xbb\xbf<?xml version='1.0'?>\n<tbx>\n\t<text/>", "glossary:1: '<?xml version='1.0'?>' has no target"),
            (b"fr\ten\nQuarkz\tcat\n", "the first row names fr and en, and the translation is from en to de"),
            (b"PK\x03\x04\x14\x00\xff", "not UTF-8: send text, such as a .tsv file, and no workbook"),
        ):  # fmt: skip
            files = {"file": ("a.txt", b"the cat\n"), "glossary": ("terms.tsv", rows)}
            for path in ("/translate_file", "/translate"):
                answer = client.post(path, files=files, data=fields)
                assert answer.status_code == (400 if message else 200), answer.text
                is_file = path.endswith("file") and not message
                text = fetch(client, answer).text if is_file else answer.text
                assert (message or "Quarkz") in text


def keep(files, *contents):
    """Keep the files of a job, and return their addresses."""
    job = FileJob("")
    job.files = [TranslatedFile(name, data) for name, data in zip(NAMES, contents, strict=False)]
    files.keep(job)
    return [job.address_of(file) for file in job.files]


NAMES = ("a.de.txt", "a.de.txt.quality.tsv")


def test_files_take_turns_and_go(monkeypatch):
    files = Files(ServerConfig(file_jobs=1, file_limit=10))

    async def use():
        async with files.processes.take(waits=False):
            with pytest.raises(Rejection) as raised:
                async with files.processes.take(waits=False):
                    pass
            assert raised.value.status == 429
        async with files.processes.take(waits=False):
            pass
        await files.close()

    asyncio.run(use())
    rated = [keep(files, b"x" * 10, b"y" * 10) for _ in range(KEPT_FILES + 1)]
    assert files.find_file(rated[-1][0]) == TranslatedFile(NAMES[0], b"x" * 10)
    assert files.find_file(rated[-1][1]) == TranslatedFile(NAMES[1], b"y" * 10)
    assert files.find_file(rated[1][0])
    for gone in (*rated[0], rated[1][0] + "x", rated[1][0].partition(".")[0]):
        with pytest.raises(Rejection, match="if there is room"):
            files.find_file(gone)
    room = files._room
    for large in ([b"x" * (room + 1)], [b"x", b"x" * room]):
        with pytest.raises(Rejection) as raised:
            keep(files, *large)
        assert raised.value.status == 413
    assert files.find_file(rated[1][0])
    clock = time.monotonic() + KEPT_SECONDS + 1
    monkeypatch.setattr("headway.ext.server.files.time.monotonic", lambda: clock)
    with pytest.raises(Rejection):
        files.find_file(rated[-1][0])


def test_the_address_of_a_file_cannot_be_guessed():
    files = Files(ServerConfig())

    def names():
        random.seed(1)
        return [keep(files, b"x")[0].partition(".")[0] for _ in range(50)]

    found = names() + names()
    assert len({name[:8] for name in found}) == len(found)
    assert min(map(len, found)) >= 32  # 128 bits in digits of base 16


@pytest.mark.slow
def test_a_file_of_a_detected_language_is_that_of_a_named_one(tokenizer, tmp_path):
    """Arabic is read from right to left, which a file says in many places."""
    path = write_random_model(tmp_path / "ar", tokenizer, ("en", "ar"), 10)
    with client_of(load_models([path], overrides={"search.max-extra": "2"})) as client:
        for suffix in (".docx", ".xlsx", ".epub", ".html"):
            is_html = suffix == ".html"
            data = b"<p>the cat and the dog</p>" if is_html else make_file(suffix, 1)
            answers = [
                send_file(client, f"a{suffix}", data, source=source, target="ar")
                for source in ("en", "auto")
            ]
            named, detected = (fetch(client, answer).content for answer in answers)
            if is_html:
                assert named == detected
                continue
            parts = [zipfile.ZipFile(io.BytesIO(each)) for each in (named, detected)]
            for name in parts[0].namelist():
                assert parts[0].read(name) == parts[1].read(name), name


@pytest.mark.slow
@pytest.mark.parametrize("file", [b"the cat sees a dog\n" * 150, b"The cat sees a dog. " * 150])
def test_a_long_file_is_not_rejected_halfway_but_lets_others_pass(models, file):
    with client_of(models, queue_tokens=200, batch_tokens=100) as client:
        sent = []
        upload = threading.Thread(target=lambda: sent.append(send_file(client, "a.txt", file)))
        upload.start()
        others = 0
        while upload.is_alive():
            answer = ask(client)
            assert answer.status_code == 200, answer.text
            others += upload.is_alive()
        assert others > 2
        [answer] = sent
        assert answer.status_code == 200, answer.text
        assert fetch(client, answer).text.count("\n") == file.count(b"\n")


LONG = ". ".join(sentences(12, 2)) + "\n\n" + " ".join(sentences(20, 3)) + "\n" * 99 + "a\n" * 99


async def translate_text(models, text):
    server, job = Server(models), FileJob("")
    order = FileRequest(file=Upload("a.txt", text.encode()), source="en", target="de")
    try:
        await translate_upload(order, job, Context(server, Request({"type": "http"})))
        return job.files[0].data
    finally:
        await server.close()


@pytest.mark.slow
def test_a_translation_does_not_depend_on_the_portions_of_the_file(models, monkeypatch):
    found = []
    for portion, chunk in ((1, 1), (50, 100), (1_000_000, 1_000_000)):
        monkeypatch.setattr("headway.ext.server.file_translation.WINDOW", portion)
        monkeypatch.setattr("headway.ext.server.file_translation.CHUNK", chunk)
        found.append(asyncio.run(translate_text(models, LONG)))
    translator = models.pairs["en", "de"]
    document = open_document(LONG.encode(), "a.txt", DocumentOptions("en", "de"))
    expected = write_document(document, translate_on_command_line(translator, document))
    assert found == [expected] * 3


def test_a_file_frees_its_place_at_once_when_its_client_leaves(models, monkeypatch):
    monkeypatch.setattr("headway.ext.server.file_process.serve", reading_files.run_endlessly)

    async def leave():
        server = Server(models, ServerConfig(file_jobs=1))
        request = FileRequest(file=Upload("a.txt", b"the cat"), source="en", target="de")
        context = Context(server, Request({"type": "http"}))
        running = asyncio.ensure_future(translate_file(request, context))
        await asyncio.sleep(0.3)
        with pytest.raises(Rejection, match="try again"):
            async with server.files.processes.take(waits=False):
                pass
        running.cancel()
        started = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await running
        async with server.files.processes.take(waits=False) as process:
            assert process.is_running
        assert time.monotonic() - started < 0.5
        await server.close()

    asyncio.run(leave())


@pytest.mark.parametrize(
    "serve", [reading_files.loop, reading_files.take_memory, reading_files.crash]
)
def test_a_file_that_takes_too_much_is_rejected_and_the_next_one_is_read(
    models, monkeypatch, serve
):
    with client_of(models) as client:
        with monkeypatch.context() as patch:
            patch.setattr("headway.ext.server.file_process.serve", serve)
            answer = send_file(client, "a.txt", b"the cat")
        assert answer.status_code == 413, answer.text
        assert "too much time or memory" in answer.json()["error"]
        assert send_file(client, "a.txt", b"the cat").status_code == 200


def test_a_fault_of_a_reader_is_no_text_in_the_log(models, monkeypatch, caplog):
    monkeypatch.setattr("headway.ext.server.file_process.serve", reading_files.fail)
    logging.getLogger("headway.ext.server").propagate = True
    with client_of(models) as client:
        answer = send_file(client, "a.txt", b"the cat")
    assert (answer.status_code, "secret" in answer.text + caplog.text) == (500, False)
    assert "ValueError at " in caplog.text


def test_a_process_for_files_needs_no_pytorch():
    """Otherwise it takes two seconds to start, and 200 MB of memory."""
    program = (
        "import sys; import headway.ext.server.file_process as read; from headway.ext.documents import DocumentOptions;"
        "options = DocumentOptions('en', 'de');"
        "[read.open_document(b'<p>cat', name, options) for name in ('a.txt', 'a.html', 'a.md')];"
        "print('torch' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert found.stdout == "False\n", found.stderr
