"""Alignments and attention maps while other requests use the model."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from starlette.testclient import TestClient

from headway.config import ServerConfig
from headway.ext.server.app import make_app
from headway.ext.server.models import Models, load_models
from headway.ext.server.server import Server
from headway.model import watch
from headway.text.tokenizer import Tokenizer
from headway.translation import Translator, alignment


def test_a_thread_sees_its_own_forwards_only(translator: Translator) -> None:
    model = translator.model
    ours, theirs = (torch.tensor([ids]) for ids in ([5, 6, 7, 2], [8, 9, 2]))
    with watch(model) as seen:
        model(ours, ours)
        other = threading.Thread(target=lambda: model(theirs, theirs))
        other.start()
        other.join()
    assert seen.outputs["encoder.layers.0"].shape[1] == 4
    assert all(weights.shape[2:] == (4, 4) for weights in seen.attention.values())


@pytest.fixture
def models(model_directory: Path) -> Models:
    return load_models([model_directory], overrides={"search.max-extra": "5"})


@pytest.mark.slow
@pytest.mark.parametrize("fields", [{}, {"format": "html"}])
def test_an_alignment_ends_with_its_request(
    models: Models, fields: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few sentences are aligned at a time, and the rest is not begun."""
    aligned: list[str] = []
    weigh = alignment.weigh_words

    def slow(tokenizer: Tokenizer, text: str, *others: Any) -> Any:
        aligned.append(text)
        time.sleep(0.05)
        return weigh(tokenizer, text, *others)

    monkeypatch.setattr(alignment, "weigh_words", slow)
    server = Server(models, ServerConfig(deadline=1.0))
    path = "/translate" if fields else "/align"
    with TestClient(make_app(server)) as client:
        asked = {"source": "en", "target": "de", **fields}
        answer = client.post(path, json={"q": "The cat sees. " * 60, **asked})
        assert answer.status_code == 503
        time.sleep(0.2)
        assert 0 < len(aligned) < 30
        assert server.queue.waiting.groups == []
        assert server.queue.idle_workers == 1
        aligned.clear()
        assert client.post(path, json={"q": "The cat sees. A dog runs.", **asked}).is_success
        assert sorted(aligned) == ["A dog runs.", "The cat sees."]


def test_maps_show_the_translation_of_the_queue(models: Models) -> None:
    server = Server(models)
    with TestClient(make_app(server)) as client:
        asked = {"q": "the cat sees. a dog", "source": "en", "target": "de"}
        answer = client.post("/attention", json=asked)
    # As one line, in the queue, and then drawn.
    assert answer.json()["target"] == models.pairs["en", "de"].translate("the cat sees. a dog")
    assert server.metrics.value("headway_segments_total") == 2
