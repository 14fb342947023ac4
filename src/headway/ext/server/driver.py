"""The driver of the server: it runs the job of a request, and puts what the job asks for into the queue of all clients."""

from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from headway.ext.server.queue import TranslationQueue
from headway.ext.server.text_threads import Account
from headway.translation import Job, Request

R = TypeVar("R")


@dataclass
class Driver:
    """Runs the jobs of one request, one after the other.

    Attributes:
        queue: The queue of all requests.
        texts: Texts of the request, as the queue counts them.
        account: What plain work on the texts may take.
        is_quick: Whether plain work on the texts takes so little that the event loop does it.
        is_file: Whether the jobs are some of a file, which is translated little by little and never rejected for want of
            room.
        is_admitted: Whether the request has found room in the queue; it is not rejected halfway.
    """

    queue: TranslationQueue
    texts: int = 1
    account: Account = field(default_factory=Account)
    is_quick: bool = False
    is_file: bool = False
    is_admitted: bool = False

    async def run(self, job: Job[R]) -> R:
        """Run a job to its end, and return its result; if the caller is cancelled, the job is closed.

        Raises:
            Rejection: 429 if the queue is full, 400 if the request would never fit into it, 413 if plain work on its texts
                takes too long.
        """
        answers: list[Any] | None = None
        try:
            while True:
                step = partial(_advance, job, answers)
                if self.is_quick:
                    requests, result = step()
                else:
                    requests, result = await self.queue.threads.run(step, self.account)
                if requests is None:
                    found: R = result
                    return found
                answers = await self.queue.ask(requests, self.texts, self.is_admitted, self.is_file)
                self.is_admitted = True
        finally:
            job.close()


def _advance(job: Job[Any], answers: Any) -> tuple[list[Request] | None, Any]:
    """Return what a job asks for next, or None and its result if it has ended."""
    try:
        return job.send(answers), None
    except StopIteration as end:
        return None, end.value
