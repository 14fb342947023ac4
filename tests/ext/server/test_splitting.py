"""A request's texts before the queue: how they are split and counted, and when they are rejected."""

import asyncio
from types import SimpleNamespace

import pytest
from starlette.testclient import TestClient

from headway.ext.server.app import App
from headway.ext.server.metrics import Metrics
from headway.ext.server.queue import TranslationQueue
from headway.ext.server.server import Server
from headway.ext.server.server_settings import ServerConfig
from headway.ext.server.translation import TextTranslator
from headway.text.tokenizer import Tokenizer
from support.extended_pieces import split_text
from support.pieces import cut
from support.server import ask, client_of
from support.toy_models import sentences as random_sentences


def test_a_list_that_never_fits_is_rejected_as_a_whole(models):
    text = ". ".join(random_sentences(5, 3))
    length = len(cut(models.pairs["en", "de"], text)[0].ids)
    for form in ("text", "html"):
        server = Server(models, ServerConfig(queue_tokens=3 * length, batch_tokens=length))
        with TestClient(App(server)) as client:
            answer = ask(client, q=[text] * 4, format=form)
            assert answer.status_code == 400
            assert answer.json()["error"].endswith(f"exceeds text limit ({3 * length})")
            assert server.metrics.value("headway_tokens_total") == 0
            assert ask(client, q=[text] * 2, format=form).status_code == 200
            assert server.metrics.value("headway_tokens_total") > 0


def test_a_rejected_request_is_not_tokenized(models, tokenized, monkeypatch):
    server = Server(models, ServerConfig(queue_tokens=300, batch_tokens=100))
    client = TestClient(App(server))
    assert ask(client, q=["Hi a. " * 300] * 60).status_code == 400
    assert len(tokenized) < 400  # of 18,000 sentences
    tokenized.clear()
    waiting = SimpleNamespace(is_file=False, load=300, turn=0)
    server.queue.waiting.groups.append(waiting)
    server.queue.waiting.tokens = 300  # others wait, and there is no room
    assert ask(client, q="understanding " * 150).status_code == 429
    assert not tokenized
    monkeypatch.setattr("headway.ext.server.translation.HtmlPage", pytest.fail)
    assert ask(client, q="<p>Hi a. " * 400, format="html").status_code == 429


def test_the_name_of_a_language_begins_every_sentence(models, monkeypatch):
    def named(self, text):
        return ">>deu<<" if text.startswith(">>deu<<") else ""

    monkeypatch.setattr(Tokenizer, "named_language", named)
    translator = models.pairs["en", "de"]
    text = " >>deu<< The cat sees. A dog runs.\n\n>>x<< !\nA tree"
    split = split_text(translator, text)
    pieces = [piece for line in split.lines for piece in cut(translator, line)]
    sentences = ["The cat sees.", "A dog runs.", ">>x<< !", "A tree"]
    assert split.sentences == sentences
    assert [piece.text for piece in pieces] == sentences
    assert {piece.language_name for piece in pieces} == {">>deu<<"}
    for sentence, start in zip(sentences, split.starts(), strict=True):
        assert text[start:].startswith(sentence)
    assert split.join(["A", "B", "C", "D"], ("en", "de"))[0] == "  A B\n\nC\nD"


def test_texts_of_a_request_are_tokenized_no_further_when_its_client_has_left(models, tokenized):
    async def leave():
        queue = TranslationQueue(1, ServerConfig(), Metrics())
        texts = ["the cat sees a dog. " * 100] * 64
        translated = TextTranslator(queue).translate([models.pairs["en", "de"]], texts)
        task = asyncio.ensure_future(translated)
        while not tokenized:
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await queue.close()

    asyncio.run(leave())
    assert 0 < len(tokenized) < 1_000  # of 6,400


def test_long_lines_are_admitted_with_the_short_ones(models):
    length = len(cut(models.pairs["en", "de"], "the cat")[0].ids)
    with client_of(models, queue_tokens=60 * length, batch_tokens=length) as client:
        answer = ask(client, q=["the cat", "the cat sees a dog and " * 40 * length])
        assert answer.status_code == 400
        assert "exceeds text limit" in answer.json()["error"]
        assert client.get("/health").json()["queue"]["tokens"] == 0
