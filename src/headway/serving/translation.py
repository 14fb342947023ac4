"""Translation of texts of any length, through one model or several, by way of the queue."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial

from headway.config import UNLIMITED, SearchConfig
from headway.inference import Hypothesis, Segment, Translator
from headway.inference.alignment import WordPairs
from headway.inference.quality.quality_model import Rating
from headway.inference.text_translation import TextTranslation
from headway.inference.token_stream import stream_tokens
from headway.serving.queue import SHORT_REQUEST, TranslationQueue
from headway.serving.rejection import too_long
from headway.serving.tokenized_texts import (
    Tokenization,
    TokenizedText,
    count_tries,
)
from headway.text.word_links import WordLinks

CHARACTERS_PER_TOKEN = 16  # at most, in almost all texts
PORTION = 500  # tokens that are taken of a long text at once: of a file, they wait in the queue


def keeps_text(route: Sequence[Translator]) -> bool:
    """Return whether all models of a route keep placeholders and the like."""
    return all(translator.default_search.keep for translator in route)


@dataclass
class _Found:
    """What a model has found for segments.

    Attributes:
        hypotheses: For each segment its n best ones.
        ratings: For each segment those of its hypotheses, if they were requested.
        links: For each segment the word links of its best hypothesis, if they were requested.
    """

    hypotheses: list[list[Hypothesis]] = field(default_factory=list)
    ratings: list[list[Rating]] = field(default_factory=list)
    links: list[WordPairs] = field(default_factory=list)

    def add(self, other: "_Found") -> None:
        """Add what was found for the segments that follow."""
        self.hypotheses += other.hypotheses
        self.ratings += other.ratings
        self.links += other.links


@dataclass(frozen=True)
class _Step:
    """What a model of a route does with the segments of a request; see `TextTranslator.translate`."""

    queue: TranslationQueue
    translator: Translator
    search: SearchConfig
    align: bool
    quality: bool
    is_file: bool
    is_admitted: bool
    count: int

    async def translate(self, segments: Sequence[Segment]) -> _Found:
        """Translate segments; also rate and link them, if the request asks for it."""
        found = _Found()
        if not segments:
            return found
        translator, search = self.translator, self.search
        found.hypotheses = await self.queue.translate(
            translator, search, segments, self.count, self.is_admitted, self.is_file
        )
        sizes = [len(segment.ids) for segment in segments]
        run = partial(
            self.queue.run, sizes=sizes, is_admitted=True, is_file=self.is_file, texts=self.count
        )
        if self.quality:
            both = zip(segments, found.hypotheses, strict=True)
            rated = await run(
                [partial(translator.rate, segment, n_best, search) for segment, n_best in both]
            )
            found.hypotheses = [each.hypotheses for each in rated]
            found.ratings = [each.ratings for each in rated]
        if self.align:
            both = zip(segments, found.hypotheses, strict=True)
            found.links = await run(
                [partial(translator.align, segment, best) for segment, (best, *_) in both]
            )
        return found


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
        is_file: bool = False,
        count: int = 0,
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
            is_file: The texts are some of a file, which is translated little by little and never rejected for
                want of room.
            count: Texts of the request, as the queue counts them; 0: those that are given. A page of HTML is one.
        """
        if not route:
            return await self.queue.run_text_work(
                sum(map(len, texts)), partial(_keep_texts, texts, align), is_file
            )
        found: list[TextTranslation] = []
        count = count or len(texts)
        for number, translator in enumerate(route):
            n_best = 1 + (alternatives if number + 1 == len(route) else 0)
            beam = max(translator.default_search.beam, n_best)
            search = replace(translator.default_search, n_best=n_best, beam=beam)
            step = _Step(self.queue, translator, search, align, quality, is_file, number > 0, count)
            before, found = found, await self._translate_step(step, texts, is_document)
            texts = [translation.text for translation in found]
            if before:
                _join_steps(before, found)
        return found

    async def _translate_step(
        self, step: "_Step", texts: Sequence[str], is_document: bool
    ) -> list[TextTranslation]:
        """Translate all texts of a request by one model; they are admitted or rejected together."""
        if step.is_file:
            tokenized, found = await self._translate_portions(step, texts, is_document)
        else:
            tokenized = await self._tokenize(
                step.translator, step.search, texts, is_document, step.is_admitted
            )
            segments = [segment for text in tokenized for segment in text.segments]
            found = await step.translate(segments)

        def join() -> list[TextTranslation]:
            joined, at = [], 0
            for text in tokenized:
                here = slice(at, at + len(text.segments))
                at = here.stop
                links = found.links[here] if step.align else None
                ratings = found.ratings[here] if step.quality else None
                hypotheses = found.hypotheses[here]
                joined.append(text.join(step.translator, hypotheses, links, ratings, is_document))
            return joined

        return await self.queue.run_text_work(sum(map(len, texts)), join, step.is_file)

    async def _translate_portions(
        self, step: "_Step", texts: Sequence[str], is_document: bool
    ) -> "tuple[list[TokenizedText], _Found]":
        """Tokenize and translate a few sentences at a time, so that little work remains if the client leaves."""
        tokenization = Tokenization(step.translator, step.search, texts, self.is_split, is_document)
        take = partial(tokenization.take, PORTION)
        found = _Found()
        while segments := await self.queue.run_file_work(take):
            found.add(await step.translate(segments))
        return tokenization.texts, found

    async def _tokenize(
        self,
        translator: Translator,
        search: SearchConfig,
        texts: Sequence[str],
        is_document: bool,
        is_admitted: bool,
    ) -> list[TokenizedText]:
        characters, glossary = sum(map(len, texts)), translator.glossary
        tries = await self.queue.run_text_work(characters, partial(count_tries, glossary, texts))
        work = characters + tries * (glossary.most_renderings if glossary else 0)
        if characters >= SHORT_REQUEST and not is_admitted:
            # A long request that will be rejected must not cost the others the time to split it.
            self.queue.check_room(characters // CHARACTERS_PER_TOKEN)
        max_tokens = UNLIMITED if is_admitted else self.queue.config.queue_tokens
        tokenization = Tokenization(translator, search, texts, self.is_split, is_document)
        take, total = partial(tokenization.take, PORTION), 0
        # Little by little, so that little work remains if the client leaves.
        while segments := await self.queue.run_text_work(work, take):
            total += sum(len(segment.ids) for segment in segments)
            if total > max_tokens:
                raise too_long(total, max_tokens)
        return tokenization.texts

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


def _join_steps(before: Sequence[TextTranslation], found: Sequence[TextTranslation]) -> None:
    """Let translations of translations link to the words of the first source, and be no better than what they translate."""
    for earlier, later in zip(before, found, strict=True):
        later.quality = min(earlier.quality, later.quality)
        if earlier.links and later.links:
            later.links = earlier.links.then(later.links)


def _keep_texts(texts: Sequence[str], align: bool) -> list[TextTranslation]:
    """Return texts as their own translations."""
    return [
        TextTranslation(text, links=WordLinks.identity(text) if align else None) for text in texts
    ]
