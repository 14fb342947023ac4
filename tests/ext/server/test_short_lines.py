"""Plain texts of many short lines or sentences: the event loop does little of the work on them."""

import asyncio
import random
import time

from headway.ext.server.metrics import Metrics
from headway.ext.server.queue import TranslationQueue
from headway.ext.server.server_settings import ServerConfig
from headway.ext.server.translation import LONG, TextTranslator


def share_of_the_event_loop(route, texts):
    """Return the share of the processor's time that the event loop takes to translate texts."""

    async def run():
        queue = TranslationQueue(1, ServerConfig(queue_tokens=1_000_000), Metrics())
        translator = TextTranslator(queue)
        await translator.translate(route, ["a"])
        own, whole = time.thread_time(), time.process_time()
        found = await translator.translate(route, texts)
        own, whole = time.thread_time() - own, time.process_time() - whole
        assert len(found) == len(texts)
        await queue.close()
        return own / whole

    return asyncio.run(run())


def test_many_short_lines_and_sentences_are_cut_beside_the_event_loop(models):
    chooser, route = random.Random(1), models.find_route("en", "de")
    for _ in range(12):
        end = chooser.choice(("\n", ". ", "! ", "? ", ".\n"))
        unit = chooser.choice(("a", "the", "cat")) + end
        count = chooser.choice((1, 8, 64))
        text = unit * ((LONG - 1) // len(unit) // count)
        # The collection of all garbage may come at any time; it is not the work of this text.
        shares = (share_of_the_event_loop(route, [text] * count) for _ in range(3))
        assert any(share < 0.4 for share in shares), (unit, count)
