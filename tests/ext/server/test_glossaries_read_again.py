"""The glossaries of the server's settings follow their files and the models."""

import asyncio
import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from headway.config import ServerConfig
from headway.ext.server import reload
from headway.ext.server.server import Server

EN_DE, DE_EN = ("en", "de"), ("de", "en")


def models_of(*pairs: tuple[str, str]) -> Any:
    return SimpleNamespace(pairs=dict.fromkeys(pairs))


def renderings(server: Server, pair: tuple[str, str]) -> tuple[str, ...]:
    return server.context.glossaries.find("pets", pair).terms[0].renderings


def test_glossaries_are_read_again_with_the_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "pets.tsv"
    file.write_text("cat\tKatze\n", encoding="utf-8")
    server = Server(models_of(EN_DE), ServerConfig(glossaries=f"pets={file}"))
    reloader = reload.Reloader(server, [], "", "cpu", {})
    monkeypatch.setattr(logging.getLogger("headway.ext.server"), "propagate", True)

    def reload_models(models: Any) -> None:
        monkeypatch.setattr(reload, "load_models", lambda *_: models)
        asyncio.run(reloader.reload_models())

    earlier = server.context
    assert renderings(server, EN_DE) == ("Katze",)
    file.write_text("cat\tKater\n", encoding="utf-8")
    reload_models(models_of(EN_DE, DE_EN))
    assert renderings(server, EN_DE) == renderings(server, DE_EN) == ("Kater",)
    assert earlier.glossaries.find("pets", EN_DE).terms[0].renderings == ("Katze",)
    file.write_text("cat\n", encoding="utf-8")
    reload_models(models_of(EN_DE))
    assert renderings(server, EN_DE) == ("Kater",)
    assert f"the glossaries stay as they are: {file}:1: 'cat' has no target" in caplog.text
