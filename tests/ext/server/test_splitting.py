"""A request's texts before the queue: how they are split and counted, and when they are rejected."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.testclient import TestClient

from headway.config import ServerConfig
from headway.ext.server.app import make_app
from headway.ext.server.metrics import Metrics
from headway.ext.server.models import Models, load_models
from headway.ext.server.queue import SHORT_REQUEST, TranslationQueue
from headway.ext.server.server import Server
from headway.ext.server.translation import TextTranslator
from headway.text.tokenizer import Tokenizer
from headway.translation import Segment, pipeline
from support.segments import cut, split_text
from support.toy_models import sentences as random_sentences
from support.toy_models import write_random_model


@pytest.fixture(scope="module")
def models(model_directory: Path) -> Models:
    return load_models([model_directory], overrides={"search.max-extra": "5"})


def ask(server: Server, **fields: Any) -> Any:
    with TestClient(make_app(server)) as client:
        return client.post("/translate", json={"source": "en", "target": "de", **fields})


def tokens(server: Server) -> float:
    return server.metrics.value("headway_tokens_total")


@pytest.mark.parametrize("form", ["text", "html"])
def test_a_list_that_never_fits_is_rejected_as_a_whole(models: Models, form: str) -> None:
    text = ". ".join(random_sentences(5, 3))
    length = len(cut(models.pairs["en", "de"], text)[0].ids)
    limits = ServerConfig(queue_tokens=3 * length, batch_tokens=length)
    server = Server(models, limits)
    answer = ask(server, q=[text] * 4, format=form)
    assert answer.status_code == 400
    assert answer.json()["error"].endswith(f"exceeds text limit ({3 * length})")
    assert tokens(server) == 0
    server = Server(models, limits)
    assert ask(server, q=[text] * 2, format=form).status_code == 200
    assert tokens(server) > 0


@pytest.mark.slow
def test_long_requests_are_split_in_a_thread_even_if_each_text_is_short(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    where: set[str] = set()
    split = pipeline.split_line

    def recorded(*arguments: Any) -> Iterator[Segment]:
        where.add(threading.current_thread().name.partition("_")[0])
        return split(*arguments)

    monkeypatch.setattr(pipeline, "split_line", recorded)
    text = ". ".join(random_sentences(10, 4))
    assert len(text) < SHORT_REQUEST < 30 * len(text)
    assert ask(Server(models), q=[text] * 30).status_code == 200
    assert where == {"text"}
    where.clear()
    assert ask(Server(models), q=text).status_code == 200
    assert "text" not in where


def test_a_rejected_request_is_not_tokenized(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = 0
    encode = Tokenizer.encode_source

    def counted(self: Tokenizer, texts: list[str]) -> list[list[int]]:
        nonlocal measured
        measured += len(texts)
        return encode(self, texts)

    monkeypatch.setattr(Tokenizer, "encode_source", counted)
    limits = ServerConfig(queue_tokens=300, batch_tokens=100)
    assert ask(Server(models, limits), q=["Hi a. " * 300] * 60).status_code == 400
    assert measured < 400  # of 18,000 sentences
    measured = 0
    server = Server(models, limits)
    waiting = SimpleNamespace(is_file=False, load=300, turn=0)
    server.queue.waiting.groups.append(waiting)  # type: ignore[arg-type]
    server.queue.waiting.tokens = 300  # others wait, and there is no room
    assert ask(server, q="Hi a. " * 400).status_code == 429
    assert measured == 0
    monkeypatch.setattr("headway.ext.server.translation.HtmlPage", pytest.fail)
    assert ask(server, q="<p>Hi a. " * 400, format="html").status_code == 429


def test_the_name_of_a_language_begins_every_sentence(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    def named(self: Tokenizer, text: str) -> str:
        return ">>deu<<" if text.startswith(">>deu<<") else ""

    monkeypatch.setattr(Tokenizer, "named_language", named)
    translator = models.pairs["en", "de"]
    text = " >>deu<< The cat sees. A dog runs.\n\n>>x<< !\nA tree"
    split = split_text(translator, text)
    segments = [segment for line in split.lines for segment in cut(translator, line)]
    sentences = ["The cat sees.", "A dog runs.", ">>x<< !", "A tree"]
    assert split.passage.sentences == sentences
    assert [segment.text for segment in segments] == sentences
    assert {segment.language_name for segment in segments} == {">>deu<<"}
    for sentence, start in zip(sentences, split.passage.starts(), strict=True):
        assert text[start + len(split.language_name) :].startswith(sentence)
    assert split.passage.join(["A", "B", "C", "D"], "de")[0] == "  A B\n\nC\nD"


@pytest.mark.parametrize("path", ["/translate", "/stream"])
def test_each_text_is_tokenized_once(
    models: Models, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenized: list[str] = []
    encode = Tokenizer.encode_source

    def recorded(self: Tokenizer, texts: list[str]) -> list[list[int]]:
        tokenized.extend(texts)
        return encode(self, texts)

    monkeypatch.setattr(Tokenizer, "encode_source", recorded)
    with TestClient(make_app(Server(models))) as client:
        fields = {"q": "The cat sees. A dog runs!", "source": "en", "target": "de"}
        assert client.post(path, json=fields).status_code == 200
    assert tokenized == ["The cat sees.", "A dog runs!"]


def test_texts_of_a_request_are_tokenized_no_further_when_its_client_has_left(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    portions = 0
    split = pipeline.split_line

    def counted(*arguments: Any) -> Iterator[Segment]:
        nonlocal portions
        portions += 1
        return split(*arguments)

    monkeypatch.setattr(pipeline, "split_line", counted)

    async def leave() -> None:
        queue = TranslationQueue(1, ServerConfig(), Metrics())
        texts = ["the cat sees a dog. " * 100] * 64
        translated = TextTranslator(queue).translate([models.pairs["en", "de"]], texts)
        task = asyncio.ensure_future(translated)
        while not portions:
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await queue.close()

    asyncio.run(leave())
    assert 0 < portions < 1_000  # of 6,400


@pytest.mark.slow
def test_no_client_waits_for_what_is_found_once(
    tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an imported model reads in the place of placeholders takes a second or two to find."""
    directory = write_random_model(tmp_path, tokenizer)
    translator = load_models([directory]).pairs["en", "de"]
    monkeypatch.setattr("headway.ext.protect.placeholder_words.find_copied", pytest.fail)
    assert cut(translator, "the {name} sees a dog")[0].masked_sources


def test_long_lines_are_admitted_with_the_short_ones(models: Models) -> None:
    """A long line is cut little by little, so that its searches come later than those of short lines."""
    length = len(cut(models.pairs["en", "de"], "the cat")[0].ids)
    server = Server(models, ServerConfig(queue_tokens=60 * length, batch_tokens=length))
    long = "the cat sees a dog and " * 40 * length
    answer = ask(server, q=["the cat", long])
    assert answer.status_code == 400
    assert "exceeds text limit" in answer.json()["error"]
    assert server.queue.waiting.groups == []
