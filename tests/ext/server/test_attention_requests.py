"""Alignments and attention maps while other requests use the model."""

import threading
import time

import pytest
import torch
from starlette.testclient import TestClient

from headway.ext.server.app import App
from headway.ext.server.server import Server
from headway.ext.server.server_settings import ServerConfig
from headway.model import watch
from headway.translation import alignment
from support.server import ask


def test_a_thread_sees_its_own_forwards_only(translator):
    model = translator.model
    ours, theirs = (torch.tensor([ids]) for ids in ([5, 6, 7, 2], [8, 9, 2]))
    with watch(model) as seen:
        model(ours, ours)
        other = threading.Thread(target=lambda: model(theirs, theirs))
        other.start()
        other.join()
    assert seen.outputs["encoder.layers.0"].shape[1] == 4
    assert all(weights.shape[2:] == (4, 4) for weights in seen.attention.values())


@pytest.mark.slow
def test_an_alignment_ends_with_its_request(models, monkeypatch):
    """Few sentences are aligned at a time, and the rest is not begun."""
    aligned = []
    weigh = alignment.weigh_words

    def slow(tokenizer, text, *others):
        aligned.append(text)
        time.sleep(0.2)
        return weigh(tokenizer, text, *others)

    monkeypatch.setattr(alignment, "weigh_words", slow)
    server = Server(models, ServerConfig(deadline=2.0))
    with TestClient(App(server)) as client:
        for path, more in (("/align", {}), ("/translate", {"format": "html"})):
            aligned.clear()
            assert ask(client, path, q="The cat sees. " * 60, **more).status_code == 503
            limit = time.monotonic() + 10
            while not server.queue.idle_workers and time.monotonic() < limit:
                time.sleep(0.02)
            assert server.queue.idle_workers == 1
            assert server.queue.waiting.groups == []
            assert 0 < len(aligned) < 30
            aligned.clear()
            assert ask(client, path, q="The cat sees. A dog runs.", **more).is_success
            assert sorted(aligned) == ["A dog runs.", "The cat sees."]
