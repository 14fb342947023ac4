"""Translation of texts of any length, through one model or several, by way of the queue."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial

from headway.config import UNLIMITED, SearchConfig
from headway.inference import Segment, Translator
from headway.inference.quality.quality_model import Rating
from headway.inference.text_translation import TextTranslation
from headway.inference.token_stream import stream_tokens
from headway.inference.translation import WordPairs
from headway.serving.queue import SHORT_REQUEST, TranslationQueue
from headway.serving.rejection import Rejection
from headway.serving.tokenized_texts import TokenizedText, tokenize_texts
from headway.text.word_links import WordLinks

MAX_TRIES = 1_000_000  # of a glossary's terms at places of a request's texts: about two seconds
CHARACTERS_PER_TOKEN = 16  # at most, in almost all texts


def keeps_text(route: Sequence[Translator]) -> bool:
    """Return whether all models of a route keep placeholders and the like."""
    return all(translator.default_search.keep for translator in route)


class TextTranslator:
    """Translates the texts of a request.

    Args:
        queue: The queue of all requests.
        is_split: Translate each sentence of a line by itself.
    """

    def __init__(self, queue: TranslationQueue, is_split: bool = True) -> None:
        self.queue, self.is_split = queue, is_split

    async def translate(
        self,
        route: Sequence[Translator],
        texts: Sequence[str],
        alternatives: int = 0,
        align: bool = False,
        quality: bool = False,
        is_document: bool = False,
        is_admitted: bool = False,
    ) -> list[TextTranslation]:
        """Translate texts through the models of a route; an empty route changes nothing.

        Args:
            route: From `Models.find_route`.
            texts: Texts of any length.
            alternatives: Further translations of each text, by the last model.
            align: Also link the words of text and translation.
            quality: Also rate the translations, and translate again what looks broken; the quality of a text
                is the lowest of all models.
            is_document: The texts are of a document; see `finish_sentence`.
            is_admitted: The request has been admitted before, and is not rejected halfway.
        """
        found = [
            TextTranslation(text, links=WordLinks.identity(text) if align else None)
            for text in texts
        ]
        for number, translator in enumerate(route):
            n_best = 1 + (alternatives if number + 1 == len(route) else 0)
            beam = max(translator.default_search.beam, n_best)
            search = replace(translator.default_search, n_best=n_best, beam=beam)
            sources = [translation.text for translation in found]
            step = await self._translate_step(
                translator, search, sources, align, quality, is_document, is_admitted or number > 0
            )
            for before, after in zip(found, step, strict=True):
                after.quality = min(before.quality, after.quality)
                if number and before.links and after.links:
                    after.links = before.links.then(after.links)
            found = step
        return found

    async def _translate_step(
        self,
        translator: Translator,
        search: SearchConfig,
        texts: Sequence[str],
        align: bool,
        quality: bool,
        is_document: bool,
        is_admitted: bool,
    ) -> list[TextTranslation]:
        """Translate all texts of a request by one model; they are admitted or rejected together."""
        tokenized = await self._tokenize(translator, search, texts, is_document, is_admitted)
        segments = [segment for text in tokenized for segment in text.segments]
        found = []
        if segments:
            found = await self.queue.translate(
                translator, search, segments, len(texts), is_admitted
            )
        sizes = [len(segment.ids) for segment in segments]
        ratings: list[list[Rating]] | None = None
        if quality:
            rate = [
                partial(translator.rate, segment, n_best, search)
                for segment, n_best in zip(segments, found, strict=True)
            ]
            rated = await self.queue.run(rate, sizes, is_admitted=True)
            found, ratings = [r.hypotheses for r in rated], [r.ratings for r in rated]
        links: list[WordPairs] | None = None
        if align:
            both = zip(segments, found, strict=True)
            calls = [partial(translator.align, segment, best) for segment, (best, *_) in both]
            links = await self.queue.run(calls, sizes, is_admitted=True)

        def join() -> list[TextTranslation]:
            joined, at = [], 0
            for text in tokenized:
                here = slice(at, at + len(text.segments))
                at = here.stop
                linked = None if links is None else links[here]
                rated_here = None if ratings is None else ratings[here]
                joined.append(text.join(translator, found[here], linked, rated_here, is_document))
            return joined

        return await self.queue.run_text_work(sum(map(len, texts)), join)

    async def _tokenize(
        self,
        translator: Translator,
        search: SearchConfig,
        texts: Sequence[str],
        is_document: bool,
        is_admitted: bool,
    ) -> list[TokenizedText]:
        characters = sum(map(len, texts))
        work = characters + await self._check_glossary(translator, texts, is_admitted)
        if characters >= SHORT_REQUEST and not is_admitted:
            # A long request that will be rejected must not cost the others the time to split it.
            self.queue.check_room(characters // CHARACTERS_PER_TOKEN)
        max_tokens = UNLIMITED if is_admitted else self.queue.config.queue_tokens
        tokenize = partial(
            tokenize_texts, translator, search, texts, self.is_split, max_tokens, is_document
        )
        return await self.queue.run_text_work(work, tokenize)

    async def _check_glossary(
        self, translator: Translator, texts: Sequence[str], is_admitted: bool
    ) -> int:
        """Return about how many terms will be compared with the texts.

        Raises:
            Rejection: 400 if this would take many seconds.
        """
        glossary = translator.glossary
        if glossary is None:
            return 0
        tries = await self.queue.run_text_work(
            sum(map(len, texts)), lambda: sum(map(glossary.count_tries, texts))
        )
        if tries > MAX_TRIES and not is_admitted:
            raise Rejection(
                400,
                "Invalid request: too many terms of the glossary begin alike for so long a text;"
                " send less text at once",
            )
        return tries

    async def stream(self, route: Sequence[Translator], text: str) -> AsyncGenerator[str, None]:
        """Yield the parts of a translation as the last model of a route finds them, greedily.

        All models but the last translate as in `translate`.
        """
        is_admitted = len(route) > 1
        if is_admitted:
            [middle] = await self.translate(route[:-1], [text])
            text = middle.text
        if not route:
            yield text
            return
        translator = route[-1]
        search = translator.default_search
        [tokenized] = await self._tokenize(translator, search, [text], False, is_admitted)
        if not is_admitted:  # as a whole, so that it is not rejected halfway
            self.queue.check_room(sum(len(segment.ids) for segment in tokenized.segments))
        gaps = tokenized.split.passage.target_gaps(translator.languages[1])
        yield gaps[0]
        for segments, gap in zip(tokenized.lines, gaps[1:], strict=True):
            for number, segment in enumerate(segments):
                async with aclosing(self._stream_segment(translator, segment)) as parts:
                    async for part in parts:
                        yield part
                following = segments[number + 1].text if number + 1 < len(segments) else ""
                if following and (segment.text[-1:].isspace() or following[:1].isspace()):
                    yield " "
            yield gap

    async def _stream_segment(
        self, translator: Translator, segment: Segment
    ) -> AsyncGenerator[str, None]:
        """Yield the parts of a segment's translation while a worker thread finds them."""
        loop = asyncio.get_running_loop()
        parts: asyncio.Queue[str | None] = asyncio.Queue()
        stop = threading.Event()

        def search() -> None:
            for part in stream_tokens(translator, segment):
                if stop.is_set():
                    return
                loop.call_soon_threadsafe(parts.put_nowait, part)

        task = asyncio.ensure_future(self.queue.run([search], [len(segment.ids)], is_admitted=True))
        task.add_done_callback(lambda _task: parts.put_nowait(None))
        try:
            while (part := await parts.get()) is not None:
                yield part
            await task
        finally:
            stop.set()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
