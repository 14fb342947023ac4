"""Translation of the texts of a request, through one model or several, by way of the queue."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial

from headway.ext.documents import (
    HtmlPage,
    MarkedText,
    SplitText,
    TextPipeline,
    TextTranslation,
    translate_page,
)
from headway.ext.server.driver import run_jobs
from headway.ext.server.jobs import Call, load_of
from headway.ext.server.queue import TranslationQueue
from headway.ext.server.text_threads import LONG, Account
from headway.translation import (
    Piece,
    Pipeline,
    Translator,
    is_plain,
    list_gaps,
    stream_tokens,
)

QUICK_ENDS = 40  # of lines or sentences, with which a text is quickly translated
CHARACTERS_PER_TOKEN = 16  # at most, in almost all texts


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
        pipeline = TextPipeline(
            route, alternatives=alternatives, align=align, quality=quality, is_split=self.is_split
        )
        characters = sum(map(len, texts))
        self._check_room(route, characters)
        # What stays in a text and what must come into it are looked for in a thread, as is much text.
        is_quick = (
            characters < LONG
            and sum(text.count(end) for text in texts for end in "\n.!?") <= QUICK_ENDS
            and not any(translator.glossary for translator in route)
            and all(is_plain(line) for text in texts for line in text.split("\n") if line)
        )
        jobs = map(pipeline.translate, texts)
        account = Account.for_characters(characters)
        return await run_jobs(jobs, self.queue, account, len(texts), is_quick=is_quick)

    async def translate_pages(
        self,
        route: Sequence[Translator],
        sources: Sequence[str],
        read: Callable[[str], MarkedText] | None = None,
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
        pipeline = TextPipeline(
            route, align=True, quality=quality, is_split=self.is_split, is_document=True
        )
        if read is None and route:
            read = partial(HtmlPage, language=route[0].languages[0])
        characters = sum(map(len, sources))
        self._check_room(route, characters)
        jobs = (translate_page(pipeline, source, read or HtmlPage) for source in sources)
        account = Account.for_characters(characters)
        return await run_jobs(jobs, self.queue, account, len(sources))

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
        translator = route[-1]
        pipeline = TextPipeline([translator], is_split=self.is_split)
        cut = partial(_cut, pipeline, text)
        split, lines = await self.queue.threads.run(cut, Account.for_characters(len(text)))
        if len(route) == 1:  # as a whole, so that it is not rejected halfway
            self.queue.check_room(sum(load_of(len(piece.ids)) for line in lines for piece in line))
        first, *others = split.target_gaps(translator.languages)
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

        task = asyncio.ensure_future(
            self.queue.ask([Call(search, len(piece.ids))], is_admitted=True)
        )
        task.add_done_callback(lambda _task: parts.put_nowait(None))
        try:
            while (part := await parts.get()) is not None:
                yield part
            await task
        finally:
            stop.set()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def _check_room(self, route: Sequence[Translator], characters: int) -> None:
        """Reject a long request that finds no room: it must not cost the others the time to split it.

        How many tokens it has is not known yet, nor how much of it is text.

        Raises:
            Rejection: 429.
        """
        if route and characters >= LONG:
            most = self.queue.config.queue_tokens
            self.queue.check_room(min(most, characters // CHARACTERS_PER_TOKEN))


def _cut(pipeline: TextPipeline, text: str) -> tuple[SplitText, list[list[Piece]]]:
    """Split a text into sentences, and cut each into pieces."""
    own: Pipeline = pipeline.route[0]
    split = pipeline.split(own, text)
    return split, [own.cut(line) for line in split.lines]
