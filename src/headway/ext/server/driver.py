"""The driver of the server: it runs the job of a request, and puts what the job asks for into the queue of all clients."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from headway.ext.server.queue import TranslationQueue
from headway.ext.server.rejection import too_long, too_much_work
from headway.translation import LONG, Call, Find, Job, Read, Request

R = TypeVar("R")
# Of one call, in characters; a paragraph has a million at most, and each try of a term's renderings counts as one.
MAX_WORK = 2_000_000
AT_ONCE = 100  # answers that a job is given in the event loop


@dataclass
class Driver:
    """Runs the jobs of one request, one after the other.

    Attributes:
        queue: The queue of all requests.
        texts: Texts of the request, as the queue counts them.
        is_file: Whether the jobs are some of a file, which is translated little by little and never rejected for want of
            room.
        is_admitted: Whether the request has found room in the queue; it is not rejected halfway.
        key: Of its first searches.
        tokens: Of these.
    """

    queue: TranslationQueue
    texts: int = 1
    is_file: bool = False
    is_admitted: bool = False
    key: Hashable = None
    tokens: int = 0

    async def run(self, job: Job[R]) -> R:
        """Run a job to its end, and return its result; if the caller is cancelled, the job is closed.

        Raises:
            Rejection: 429 if the queue is full, 400 if the request would never fit into it.
        """
        answers: Any = None
        try:
            while True:
                step = partial(_step, job, answers)
                size = LONG if answers and len(answers) > AT_ONCE else 0
                if size:  # much is done with so many answers
                    done = await self.queue.run_text_work([step], size, self.is_file, waits=True)
                    [(requests, is_over)] = done
                else:
                    requests, is_over = step()
                if is_over:
                    result: R = requests
                    return result
                answers = await self._answer(requests)
        finally:
            job.close()

    async def _answer(self, requests: Sequence[Request]) -> list[Any]:
        """Return the answer to each request."""
        calls = [each for each in requests if isinstance(each, Call)]
        others = [each for each in requests if not isinstance(each, Call)]
        called, found = iter(()), iter(())
        if calls:
            if max(each.size for each in calls) > MAX_WORK:
                raise too_much_work()
            size = sum(each.size for each in calls)
            functions = [each.function for each in calls]
            called = iter(await self.queue.run_text_work(functions, size, self.is_file))
        if others:
            self._count(others)
            found = iter(await self.queue.ask(others, self.texts, self.is_admitted, self.is_file))
            self.is_admitted = True
        return [next(called if isinstance(each, Call) else found) for each in requests]

    def _count(self, requests: Sequence[Find | Read]) -> None:
        """Add to the tokens that the request has searched for: a long line is cut in several rounds, after the first check.

        Raises:
            Rejection: 400 if they would never fit into the queue together.
        """
        searches = [each for each in requests if isinstance(each, Find)]
        if self.is_file or not searches:
            return
        if self.key is None:  # what comes later is of other models, or repairs
            self.key = searches[0].key
        self.tokens += sum(each.tokens for each in searches if each.key == self.key)
        if self.tokens > self.queue.config.queue_tokens:
            raise too_long(self.tokens, self.queue.config.queue_tokens)


def _step(job: Job[Any], answers: Any) -> tuple[Any, bool]:
    """Return what a job asks for next, or its result, and whether it has ended."""
    try:
        return job.send(answers), False
    except StopIteration as end:
        return end.value, True
