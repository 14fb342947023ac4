"""A request's texts before they wait: where they are cut, how they are counted, who is refused."""

import threading
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from conftest import sentences
from headway.inference import Segment, Translator
from headway.serving.app import Server, make_app
from headway.serving.batcher import SHORT
from headway.serving.cutting import cut_texts
from headway.serving.models import Models, load_models
from headway.serving.settings import ServerConfig
from headway.text.tokenizer import Tokenizer


@pytest.fixture(scope="module")
def models(model_directory: Path) -> Models:
    return load_models([model_directory], overrides={"search.max-extra": "5"})


def ask(server: Server, **fields: Any) -> Any:
    with TestClient(make_app(server)) as client:
        return client.post("/translate", json={"source": "en", "target": "de", **fields})


def tokens(server: Server) -> float:
    return server.metrics.counters["headway_tokens_total", ()]


@pytest.mark.parametrize("form", ["text", "html"])
def test_a_list_that_never_fits_is_refused_as_a_whole(models: Models, form: str) -> None:
    text = ". ".join(sentences(5, 3))
    length = len(models.pairs["en", "de"].split(text)[0].ids)
    limits = ServerConfig(queue_tokens=3 * length, batch_tokens=length)
    server = Server(models, limits)
    answer = ask(server, q=[text] * 4, format=form)
    assert answer.status_code == 400
    assert answer.json()["error"].endswith(f"exceeds text limit ({3 * length})")
    assert tokens(server) == 0
    server = Server(models, limits)
    assert ask(server, q=[text] * 2, format=form).status_code == 200
    assert tokens(server) > 0


def test_long_requests_are_cut_aside_even_if_each_text_is_short(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    where: set[str] = set()
    split = Translator.split

    def told(self: Translator, line: str, search: Any = None) -> list[Segment]:
        where.add(threading.current_thread().name.partition("_")[0])
        return split(self, line, search)

    monkeypatch.setattr(Translator, "split", told)
    text = ". ".join(sentences(10, 4))
    assert len(text) < SHORT < 30 * len(text)
    assert ask(Server(models), q=[text] * 30).status_code == 200
    assert where == {"desk"}
    where.clear()
    assert ask(Server(models), q=text).status_code == 200
    assert "desk" not in where


def test_who_cannot_come_in_is_not_cut(models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
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
    server.batcher.queue.append(None)  # type: ignore[arg-type]
    server.batcher.tokens = 300  # while others wait and there is no room, not one is
    assert ask(server, q="Hi a. " * 400).status_code == 429
    assert measured == 0


def test_a_language_that_is_named_begins_every_sentence(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    def named(self: Tokenizer, text: str) -> str:
        return ">>deu<<" if text.startswith(">>deu<<") else ""

    monkeypatch.setattr(Tokenizer, "named_language", named)
    translator = models.pairs["en", "de"]
    text = " >>deu<< The cat sees. A dog runs.\n\n>>x<< !\nA tree"
    [cut] = cut_texts(translator, translator.search, [text], True, 1000)
    cores = ["The cat sees.", "A dog runs.", ">>x<< !", "A tree"]
    assert cut.passage.cores == cores
    assert [part.text for part in cut.parts] == [f">>deu<<{core}" for core in cores]
    assert cut.tokens == [len(part.ids) for part in cut.parts]
    for core, start in zip(cores, cut.passage.starts(), strict=True):
        assert text[start + len(cut.named) :].startswith(core)
    assert cut.passage.join(["A", "B", "C", "D"], "de")[0] == "  A B\n\nC\nD"
