"""Reloads of models, keys and glossaries while the server runs."""

import asyncio
import gc
import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from headway.errors import HeadwayError
from headway.ext.server.glossaries import Glossaries
from headway.ext.server.models import Models, file_versions
from headway.ext.server.server import Server

log = logging.getLogger("headway.ext.server")


class Reloader:
    """Reads models, keys and glossaries again; the old ones stay if that fails.

    Args:
        server: The server whose models are replaced.
        paths: The directories whose files change when a model does.
        load: Reads the models.
    """

    def __init__(
        self, server: Server, paths: Sequence[str | Path], load: Callable[[], Models]
    ) -> None:
        self.server, self.paths, self.load = server, paths, load
        self.loaded = file_versions(paths)
        self._lock = asyncio.Lock()

    def reload_keys(self) -> None:
        """Read the keys again."""
        if self.server.keys is None:
            return
        try:
            self.server.keys.read()
        except (HeadwayError, OSError) as error:
            log.error("the keys stay as they are: %s", error)
        else:
            log.info("the keys were read again")

    async def reload_models(self) -> bool:
        """Read the models and then the glossaries again; requests that have begun finish with the old ones.

        Returns:
            Whether the models were replaced.
        """
        async with self._lock:
            found = file_versions(self.paths)
            try:
                models = await asyncio.to_thread(self.load)
            except Exception as error:  # torch has its own exceptions, such as for memory
                kind = "" if isinstance(error, HeadwayError) else f"{type(error).__name__}: "
                log.error("the models stay as they are: %s%s", kind, error)
                outcome = "failed"
            else:
                self.server.models = models
                # The old models were frozen by `freeze_garbage`, and refer to themselves. When the
                # last request that uses them has ended, they must be collected.
                gc.unfreeze()
                later = self.server.config.deadline + 1
                asyncio.get_running_loop().call_later(later, freeze_garbage)
                log.info("the models were read again")
                outcome = "done"
            # A failed reload is tried again only when the files change again.
            self.loaded = found
            self.server.metrics.reloads.labels(outcome).inc()
            # New models may translate other pairs of languages, which the glossaries are for.
            await self._reload_glossaries()
            return outcome == "done"

    async def _reload_glossaries(self) -> None:
        setting = self.server.config.glossaries
        if not setting:
            return
        pairs = list(self.server.models.pairs)
        try:
            self.server.glossaries = await asyncio.to_thread(Glossaries.load, setting, pairs)
        except HeadwayError as error:
            log.error("the glossaries stay as they are: %s", error)
        else:
            log.info("the glossaries were read again")

    async def watch(self, seconds: float) -> None:
        """Reload the models when their files have changed and changed no more since the last look."""
        last = self.loaded
        while True:
            await asyncio.sleep(seconds)
            now = file_versions(self.paths)
            if now != self.loaded and now == last:
                await self.reload_models()
            last = now


def freeze_garbage() -> None:
    """Exclude all objects of now from garbage collection.

    To visit torch's objects takes a third of a second, in which nobody gets an answer.
    """
    gc.collect()
    gc.freeze()
