"""Models that cannot be read again, for whatever reason."""

import asyncio
import logging

import pytest

from headway.serving import running
from headway.serving.metrics import Metrics


class Waiting:
    """What a reload changes of a server."""

    keys = None
    models = "old"

    def __init__(self) -> None:
        self.metrics = Metrics()


def test_any_failure_leaves_the_models_and_the_watch_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    stamp, tries = [0], []

    def fail(*_arguments: object) -> None:
        tries.append(stamp[0])
        raise RuntimeError("can't allocate memory")

    monkeypatch.setattr(running, "stamp", lambda _paths: stamp[0])
    monkeypatch.setattr(running, "load_models", fail)
    server = Waiting()

    async def main() -> None:
        reloader = running.Reloader(server, ["a"], "", "cpu", {})  # type: ignore[arg-type]
        watching = asyncio.create_task(reloader.watch(0.01))
        for change in (1, 2):
            stamp[0] = change
            async with asyncio.timeout(5):
                while change not in tries:
                    await asyncio.sleep(0.01)
        assert not watching.done()
        watching.cancel()

    with caplog.at_level(logging.ERROR):
        asyncio.run(main())
    assert tries == [1, 2]
    assert server.models == "old"
    labels = (("outcome", "failed"),)
    assert server.metrics.counters["headway_reloads_total", labels] == 2
    assert "the models stay as they are: RuntimeError: can't allocate memory" in caplog.text
