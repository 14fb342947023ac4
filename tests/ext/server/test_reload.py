"""Models and glossaries that are read again, or cannot be."""

import asyncio
import logging
from types import SimpleNamespace

from starlette.requests import Request

from headway.ext.server import reload
from headway.ext.server.models import file_versions
from headway.ext.server.server import Context, Server
from headway.ext.server.server_settings import ServerConfig

EN_DE, DE_EN = ("en", "de"), ("de", "en")


def models_of(*pairs):
    return SimpleNamespace(pairs=dict.fromkeys(pairs))


def test_a_change_of_any_file_of_a_model_is_seen(tmp_path):
    for name in ("target.model", "shortlist.safetensors", "config.json"):
        (tmp_path / name).write_bytes(b"one")
        before = file_versions([tmp_path])
        (tmp_path / name).write_bytes(b"other")
        assert file_versions([tmp_path]) != before


def renderings(server, pair):
    return server.glossaries.find("pets", pair).terms[0].renderings


def test_glossaries_are_read_again_with_the_models(tmp_path, monkeypatch, caplog):
    file = tmp_path / "pets.tsv"
    file.write_text("cat\tKatze\n", encoding="utf-8")
    server = Server(models_of(EN_DE), ServerConfig(glossaries=f"pets={file}"))
    monkeypatch.setattr(logging.getLogger("headway.ext.server"), "propagate", True)

    def reload_models(models):
        asyncio.run(reload.Reloader(server, [], lambda: models or 1 / 0).reload_models())

    earlier = Context(server, Request({"type": "http"}))
    assert renderings(server, EN_DE) == ("Katze",)
    file.write_text("cat\tKater\n", encoding="utf-8")
    reload_models(None)
    assert "the models stay as they are: ZeroDivisionError" in caplog.text
    reload_models(models_of(EN_DE, DE_EN))
    assert renderings(server, EN_DE) == renderings(server, DE_EN) == ("Kater",)
    assert earlier.glossaries.find("pets", EN_DE).terms[0].renderings == ("Katze",)
    file.write_text("cat\n", encoding="utf-8")
    reload_models(models_of(EN_DE))
    assert renderings(server, EN_DE) == ("Kater",)
    assert f"the glossaries stay as they are: {file}:1: 'cat' has no target" in caplog.text
