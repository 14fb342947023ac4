"""From texts to translations, through the batcher: paragraphs, pivots, alternatives, alignments."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from headway.config import SearchConfig
from headway.serving.batcher import Batcher
from headway.serving.models import Models
from headway.serving.passages import Links, Passage
from headway.translation import Hypothesis, Translation, Translator
from headway.translation.growing import grow

SHORT = 2_000  # characters that the event loop may cut up itself, in about a millisecond


@dataclass
class Rendering:
    """A text's translation.

    Attributes:
        text: The best.
        score: What the n best are ranked by, summed over the sentences.
        alternatives: (text, score) of the next best.
        links: Words that belong together; None unless asked for.
    """

    text: str
    score: float = 0.0
    alternatives: list[tuple[str, float]] = field(default_factory=list)
    links: Links | None = None


class Interpreter:
    """Translates texts of any length in any served direction.

    Args:
        models: The models of the moment; a request keeps those it began with.
        batcher: Where all requests meet.
        split: Whether each sentence of a line is translated by itself.
    """

    def __init__(self, models: Models, batcher: Batcher, split: bool = True) -> None:
        self.models, self.batcher, self.split = models, batcher, split

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
            step = await asyncio.gather(
                *(self._text(translator, search, r.text, align) for r in found)
            )
            for before, after in zip(found, step, strict=True):
                if number and before.links and after.links:
                    after.links = before.links.then(after.links)
            found = step
        return found

    async def _text(
        self, translator: Translator, search: SearchConfig, text: str, align: bool
    ) -> Rendering:
        passage, cuts = await self._prepare(translator, search, text)
        parts = [part for cut in cuts for part in cut]
        if not parts:
            return Rendering(text, links=Links.same(text) if align else None)
        hypotheses = await self.batcher.find(translator, search, parts)
        lines: list[list[Translation]] = []
        at = 0
        jobs: list[Callable[[], list[Translation]]] = []
        for cut in cuts:
            here = hypotheses[at : at + len(cut)]
            at += len(cut)

            def join(
                cut: list[str] = cut, here: list[list[Hypothesis]] = here
            ) -> list[Translation]:
                return translator.join(cut, here, align)

            jobs.append(join)
        if align:
            lock = self.models.locks[id(translator)]
            lines = await self.batcher.call(lambda: locked(lock, jobs))
        else:
            lines = [job() for job in jobs]
        return compose(passage, text, lines, translator.languages[1], align)

    async def _prepare(
        self, translator: Translator, search: SearchConfig, text: str
    ) -> tuple[Passage, list[list[str]]]:
        def prepare() -> tuple[Passage, list[list[str]]]:
            passage = Passage.of(text, translator.languages[0], self.split)
            return passage, [translator.cut(core, search) for core in passage.cores]

        return prepare() if len(text) < SHORT else await asyncio.to_thread(prepare)

    async def stream(self, route: Sequence[Translator], text: str) -> AsyncGenerator[str, None]:
        """Yield a translation bit by bit: greedy, and through the last model of the route only."""
        if len(route) > 1:
            [found] = await self.translate(route[:-1], [text])
            text = found.text
        if not route:
            yield text
            return
        translator = route[-1]
        passage, cuts = await self._prepare(translator, translator.search, text)
        loop = asyncio.get_running_loop()
        gaps = passage.gaps(translator.languages[1])
        yield gaps[0]
        for cut, gap in zip(cuts, gaps[1:], strict=True):
            for index, part in enumerate(cut):
                bits: asyncio.Queue[str | None] = asyncio.Queue()
                stop = threading.Event()

                def work(
                    part: str = part,
                    bits: asyncio.Queue[str | None] = bits,
                    stop: threading.Event = stop,
                ) -> None:
                    for bit in grow(translator, part):
                        if stop.is_set():
                            return
                        loop.call_soon_threadsafe(bits.put_nowait, bit)

                task = asyncio.ensure_future(
                    self.batcher.call(work, translator.length(part.strip()))
                )
                task.add_done_callback(partial(_end, bits))
                try:
                    while (bit := await bits.get()) is not None:
                        yield bit
                    await task
                finally:
                    stop.set()
                    task.cancel()
                    await asyncio.gather(task, return_exceptions=True)
                if index + 1 < len(cut) and (part[-1:].isspace() or cut[index + 1][:1].isspace()):
                    yield " "
            yield gap


def _end(bits: asyncio.Queue[str | None], _task: asyncio.Future[None]) -> None:
    bits.put_nowait(None)


def locked(
    lock: threading.Lock, jobs: Sequence[Callable[[], list[Translation]]]
) -> list[list[Translation]]:
    """Do some jobs that watch a model, alone with it."""
    with lock:
        return [job() for job in jobs]


def compose(
    passage: Passage, text: str, lines: list[list[Translation]], language: str, align: bool
) -> Rendering:
    """Put a text together from its sentences' translations, best with best.

    Args:
        passage: The text, taken apart.
        text: The same, whole.
        lines: For each core its n best.
        language: Code of the translation.
        align: Whether they are aligned.
    """
    versions = []
    for rank in range(max(len(line) for line in lines)):
        # A sentence with fewer versions keeps its last.
        chosen = [line[min(rank, len(line) - 1)] for line in lines]
        joined, starts = passage.join([t.text for t in chosen], language)
        versions.append((joined, sum(t.score for t in chosen), starts))
    best, score, begins = versions[0]
    others: dict[str, float] = {}
    for version, value, _ in versions[1:]:
        if version.strip() and version != best:
            others.setdefault(version, value)
    links = None
    if align:
        links = Links.between(text, best)
        for core, start, line, begin in zip(
            passage.cores, passage.starts(), lines, begins, strict=True
        ):
            links.add(core, start, line[0].text, begin, line[0].alignment or [])
    return Rendering(best, score, list(others.items()), links)
