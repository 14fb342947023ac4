"""From texts to translations, through the batcher: paragraphs, pivots, alternatives, alignments."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from functools import partial

from headway.config import SearchConfig
from headway.inference import Hypothesis, Segment, Translator
from headway.inference.token_stream import stream_tokens
from headway.inference.translation import WordPairs
from headway.serving.batcher import SHORT, Batcher
from headway.serving.cutting import DENSE, Cut, cut_texts
from headway.serving.passages import Links
from headway.serving.rendering import Rendering, compose
from headway.serving.settings import MOST


class Interpreter:
    """Translates texts of any length in any served direction.

    Args:
        batcher: Where all requests meet.
        split: Whether each sentence of a line is translated by itself.
    """

    def __init__(self, batcher: Batcher, split: bool = True) -> None:
        self.batcher, self.split = batcher, split

    async def translate(
        self,
        route: Sequence[Translator],
        texts: Sequence[str],
        alternatives: int = 0,
        align: bool = False,
    ) -> list[Rendering]:
        """Translate texts through the models of a route; without any they stay as they are.

        Args:
            route: From `Models.ways`.
            texts: Of any length.
            alternatives: Wanted of each text, from the last model.
            align: Whether to link words.
        """
        found = [Rendering(text, links=Links.same(text) if align else None) for text in texts]
        for number, translator in enumerate(route):
            wanted = alternatives if number + 1 == len(route) else 0
            search = replace(
                translator.search,
                n_best=wanted + 1,
                beam=max(translator.search.beam, wanted + 1),
            )
            step = await self._step(translator, search, [r.text for r in found], align, number > 0)
            for before, after in zip(found, step, strict=True):
                if number and before.links and after.links:
                    after.links = before.links.then(after.links)
            found = step
        return found

    async def _step(
        self,
        translator: Translator,
        search: SearchConfig,
        texts: Sequence[str],
        align: bool,
        begun: bool,
    ) -> list[Rendering]:
        """Translate all texts of a request through one model: let in, or refused, together."""
        cuts = await self._cut(translator, search, texts, begun)
        parts = [part for cut in cuts for part in cut.parts]
        tokens = [count for cut in cuts for count in cut.tokens]
        found: list[list[Hypothesis]] = []
        if parts:
            found = await self.batcher.find(translator, search, parts, tokens, len(texts), begun)
        links: list[WordPairs] | None = None
        if align:
            both = zip(parts, found, strict=True)
            jobs = [partial(translator.align, part, best) for part, (best, *_) in both]
            links = await self.batcher.work(jobs, tokens, begun=True)

        def put_together() -> list[Rendering]:
            renderings, at = [], 0
            for cut in cuts:
                here = slice(at, at + len(cut.tokens))
                at += len(cut.tokens)
                linked = None if links is None else links[here]
                renderings.append(compose(translator, cut, found[here], linked))
            return renderings

        return await self.batcher.aside(sum(map(len, texts)), put_together)

    async def _cut(
        self, translator: Translator, search: SearchConfig, texts: Sequence[str], begun: bool
    ) -> list[Cut]:
        size = sum(map(len, texts))
        if size >= SHORT and not begun:
            self.batcher.check(size // DENSE)  # else whoever is refused would cost the others
        most = MOST if begun else self.batcher.limits.queue_tokens
        cut = partial(cut_texts, translator, search, texts, self.split, most)
        return await self.batcher.aside(size, cut)

    async def stream(self, route: Sequence[Translator], text: str) -> AsyncGenerator[str, None]:
        """Yield a translation bit by bit: greedy, and through the last model of the route only."""
        if len(route) > 1:
            [found] = await self.translate(route[:-1], [text])
            text = found.text
        if not route:
            yield text
            return
        translator = route[-1]
        begun = len(route) > 1
        [cut] = await self._cut(translator, translator.search, [text], begun)
        loop = asyncio.get_running_loop()
        gaps, tokens = cut.passage.gaps(translator.languages[1]), iter(cut.tokens)
        yield gaps[0]
        for line, gap in zip(cut.lines, gaps[1:], strict=True):
            for index, part in enumerate(line):
                bits: asyncio.Queue[str | None] = asyncio.Queue()
                stop = threading.Event()

                def work(
                    part: Segment = part,
                    bits: asyncio.Queue[str | None] = bits,
                    stop: threading.Event = stop,
                ) -> None:
                    for bit in stream_tokens(translator, part):
                        if stop.is_set():
                            return
                        loop.call_soon_threadsafe(bits.put_nowait, bit)

                task = asyncio.ensure_future(self.batcher.work([work], [next(tokens)], begun))
                begun = True
                task.add_done_callback(partial(_end, bits))
                try:
                    while (bit := await bits.get()) is not None:
                        yield bit
                    await task
                finally:
                    stop.set()
                    task.cancel()
                    await asyncio.gather(task, return_exceptions=True)
                if index + 1 < len(line) and (
                    part.text[-1:].isspace() or line[index + 1].text[:1].isspace()
                ):
                    yield " "
            yield gap


def _end(bits: asyncio.Queue[str | None], _task: asyncio.Future[list[None]]) -> None:
    bits.put_nowait(None)
