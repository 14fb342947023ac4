"""Translation of the texts of a request, through one model or several, by way of the queue."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial

from headway.ext.documents import (
    HtmlPage,
    Page,
    SplitText,
    TextPipeline,
    TextTranslation,
    translate_page,
)
from headway.ext.protect import Glossary
from headway.ext.server.driver import Driver
from headway.ext.server.queue import SHORT_REQUEST, TranslationQueue
from headway.ext.server.rejection import too_much_work
from headway.translation import (
    Job,
    Piece,
    Pipeline,
    Translator,
    list_gaps,
    stream_tokens,
    together,
)

CHARACTERS_PER_TOKEN = 16  # at most, in almost all texts
MAX_TRIES = 1_000_000  # of a glossary's terms at places of texts: about two seconds


@dataclass(frozen=True)
class TextTranslator:
    """Translates the texts of a request.

    Attributes:
        queue: The queue of all requests.
        is_split: Translate each sentence of a line by itself.
    """

    queue: TranslationQueue
    is_split: bool = True

    async def translate(
        self,
        route: Sequence[Translator],
        texts: Sequence[str],
        alternatives: int = 0,
        align: bool = False,
        quality: bool = False,
    ) -> list[TextTranslation]:
        """Translate texts through the models of a route; an empty route changes nothing.

        Args:
            route: From `Models.find_route`.
            texts: Texts of any length; they are admitted or rejected together.
            alternatives: Further translations of each text, by the last model.
            align: Also link the words of text and translation.
            quality: Also rate the translations, and translate again what looks broken; the quality of a text
                is the lowest of all models.
        """
        pipeline = TextPipeline.of(
            route, alternatives=alternatives, align=align, quality=quality, is_split=self.is_split
        )
        await self._check_work(route, texts)
        job = together(map(pipeline.translate, texts))
        return await Driver(self.queue, len(texts)).run(job)

    async def translate_pages(
        self,
        route: Sequence[Translator],
        sources: Sequence[str],
        read: Callable[[str], Page] | None = None,
        *,
        quality: bool = False,
    ) -> list[TextTranslation]:
        """Translate the text of HTML documents or fragments, or of another markup.

        Args:
            route: From `Models.find_route`.
            sources: The documents.
            read: Reads the markup of a document; None: it is HTML, in which elements in other languages stay.
            quality: See `translate`.

        Returns:
            For each document its translation, with the sum of its paragraphs' scores and their mean quality.
        """
        pipeline = TextPipeline.of(
            route, align=True, quality=quality, is_split=self.is_split, is_document=True
        )
        if read is None and route:
            read = partial(HtmlPage, language=route[0].languages[0])
        if route:  # before the work of reading; how much of the markup is text is not known yet
            self.queue.reject_if_full(sum(map(len, sources)) // CHARACTERS_PER_TOKEN)
            await self._check_tries(route, sources)
        job = together(translate_page(pipeline, source, read or HtmlPage) for source in sources)
        return await Driver(self.queue, len(sources)).run(job)

    async def stream(self, route: Sequence[Translator], text: str) -> AsyncGenerator[str, None]:
        """Yield the parts of a translation as the last model of a route finds them, greedily.

        All models but the last translate as in `translate`.
        """
        if len(route) > 1:
            [middle] = await self.translate(route[:-1], [text])
            text = middle.text
        if not route:
            yield text
            return
        translator, driver = route[-1], Driver(self.queue, is_admitted=len(route) > 1)
        if not driver.is_admitted:
            await self._check_work(route, [text])
        pipeline = TextPipeline.of([translator], is_split=self.is_split)
        split, lines = await driver.run(_cut(pipeline, text))
        if not driver.is_admitted:  # as a whole, so that it is not rejected halfway
            self.queue.check_room(sum(len(piece.ids) for line in lines for piece in line))
        first, *others = split.passage.target_gaps(translator.languages)
        yield first
        for pieces, gap in zip(lines, others, strict=True):
            inner = list_gaps(pieces, translator.languages)
            for piece, following in zip(pieces, [*inner, gap], strict=True):
                async with aclosing(self._stream_piece(translator, piece)) as parts:
                    async for part in parts:
                        yield part
                yield following

    async def _stream_piece(
        self, translator: Translator, piece: Piece
    ) -> AsyncGenerator[str, None]:
        """Yield the parts of a piece's translation while a worker thread finds them."""
        loop = asyncio.get_running_loop()
        parts: asyncio.Queue[str | None] = asyncio.Queue()
        stop = threading.Event()

        def search() -> None:
            for part in stream_tokens(translator, piece):
                if stop.is_set():
                    return
                loop.call_soon_threadsafe(parts.put_nowait, part)

        task = asyncio.ensure_future(self.queue.run([search], [len(piece.ids)], is_admitted=True))
        task.add_done_callback(lambda _task: parts.put_nowait(None))
        try:
            while (part := await parts.get()) is not None:
                yield part
            await task
        finally:
            stop.set()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _check_work(self, route: Sequence[Translator], texts: Sequence[str]) -> None:
        """Check before texts are split that they can be translated now, and that their terms can be found soon.

        Raises:
            Rejection: 429 if the queue is full, 400 if this would never be possible.
        """
        characters = sum(map(len, texts))
        if route and characters >= SHORT_REQUEST:
            # A long request that will be rejected must not cost the others the time to split it.
            self.queue.check_room(characters // CHARACTERS_PER_TOKEN)
        await self._check_tries(route, texts)

    async def _check_tries(self, route: Sequence[Translator], texts: Sequence[str]) -> None:
        check = partial(check_tries, route, texts)
        await self.queue.run_text_work([check], sum(map(len, texts)))


def _cut(pipeline: TextPipeline, text: str) -> Job[tuple[SplitText, list[list[Piece]]]]:
    """Split a text into sentences, and cut each into pieces."""
    own: Pipeline = pipeline.route[0]
    split = yield from pipeline.split(own, text)
    lines = yield from together(map(own.cut, split.lines))
    return split, lines


def check_tries(route: Sequence[Translator], texts: Sequence[str]) -> None:
    """Check that the terms of a glossary are found soon.

    Raises:
        Rejection: 400 if this would take many seconds.
    """
    glossaries = [g for each in route if isinstance(g := each.glossary, Glossary)]
    tries = sum(glossary.count_tries(text) for glossary in glossaries for text in texts)
    if tries > MAX_TRIES:
        raise too_much_work()
