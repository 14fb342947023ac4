"""Models that cannot be read again."""

import asyncio
import logging
from pathlib import Path

import pytest

from headway.config import ServerConfig
from headway.ext.server import reload
from headway.ext.server.metrics import Metrics
from headway.ext.server.models import file_versions


class FakeServer:
    """The parts of a server that a reload changes."""

    keys = None
    models = "old"
    config = ServerConfig()

    def __init__(self) -> None:
        self.metrics = Metrics()


def test_any_failure_leaves_the_models_and_the_watch_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    version, tries = [0], []

    def fail(*_arguments: object) -> None:
        tries.append(version[0])
        raise RuntimeError("can't allocate memory")

    monkeypatch.setattr(reload, "file_versions", lambda _paths: version[0])
    monkeypatch.setattr(reload, "load_models", fail)
    server = FakeServer()

    async def main() -> None:
        reloader = reload.Reloader(server, ["a"], "", "cpu", {})  # type: ignore[arg-type]
        watching = asyncio.create_task(reloader.watch(0.01))
        for change in (1, 2):
            version[0] = change
            async with asyncio.timeout(5):
                while change not in tries:
                    await asyncio.sleep(0.01)
        assert not watching.done()
        watching.cancel()

    with caplog.at_level(logging.ERROR):
        asyncio.run(main())
    assert tries == [1, 2]
    assert server.models == "old"
    assert server.metrics.value("headway_reloads_total", outcome="failed") == 2
    assert "the models stay as they are: RuntimeError: can't allocate memory" in caplog.text


@pytest.mark.parametrize("name", ["target.model", "shortlist.safetensors", "config.json"])
def test_a_change_of_any_file_of_a_model_is_seen(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"one")
    before = file_versions([tmp_path])
    (tmp_path / name).write_bytes(b"other")
    assert file_versions([tmp_path]) != before
