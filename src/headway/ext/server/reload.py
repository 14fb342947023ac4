"""Reloads of models, keys and glossaries while the server runs."""

import asyncio
import gc
import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from headway.errors import HeadwayError
from headway.ext.server.glossaries import Glossaries
from headway.ext.server.models import Models, file_versions
from headway.ext.server.server import Server

R = TypeVar("R")
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

    async def reload(self) -> None:
        """Read the keys, the models and then the glossaries again; requests that have begun finish with the old ones."""
        if self.server.keys is not None:
            await self._read_again("keys", self.server.keys.read)
        await self.reload_models()

    async def reload_models(self) -> None:
        """Read the models and then the glossaries again."""
        async with self._lock:
            # A failed reload is tried again only when the files change again.
            self.loaded = file_versions(self.paths)
            models = await self._read_again("models", self.load)
            if models is not None:
                self.server.models = models
                # The old models were frozen by `freeze_garbage`, and refer to themselves. When the
                # last request that uses them has ended, they must be collected.
                gc.unfreeze()
                later = self.server.config.deadline + 1
                asyncio.get_running_loop().call_later(later, freeze_garbage)
            outcome = "failed" if models is None else "done"
            self.server.metrics.reloads.labels(outcome).inc()
            if setting := self.server.config.glossaries:
                # New models may translate other pairs of languages, which the glossaries are for.
                load = partial(Glossaries.load, setting, list(self.server.models.pairs))
                found = await self._read_again("glossaries", load)
                self.server.glossaries = found or self.server.glossaries

    async def _read_again(self, what: str, read: Callable[[], R]) -> R | None:
        """Return what a function reads, or None if it fails; the log says which."""
        try:
            found = await asyncio.to_thread(read)
        except Exception as error:  # torch has its own exceptions, such as for memory
            kind = "" if isinstance(error, HeadwayError) else f"{type(error).__name__}: "
            log.error("the %s stay as they are: %s%s", what, kind, error)
            return None
        log.info("the %s were read again", what)
        return found

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
