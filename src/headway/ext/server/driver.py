"""The driver of the server: it runs the job of a request, and puts what the job asks for into the queue of all clients."""

from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import partial
from typing import Any, TypeVar

from headway.ext.server.jobs import load_of
from headway.ext.server.queue import TranslationQueue
from headway.ext.server.rejection import too_long
from headway.ext.server.text_threads import Account
from headway.translation import Job, Request, together

R = TypeVar("R")


async def run_jobs(
    jobs: Iterable[Job[R]],
    queue: TranslationQueue,
    account: Account,
    texts: int = 1,
    *,
    is_quick: bool = False,
    is_file: bool = False,
) -> list[R]:
    """Run jobs side by side to their end, and return their results; if the caller is cancelled, they are closed.

    Args:
        jobs: The jobs of a request.
        queue: The queue of all requests.
        account: What plain work on the texts may take.
        texts: Those of the request, as the queue counts them.
        is_quick: Whether plain work on the texts takes so little that the event loop does it.
        is_file: Whether the jobs are a part of a file, which is translated little by little and always finds room.

    Raises:
        Rejection: 429 if the queue is full, 400 if the request would never fit into it, 413 if plain work on its texts
            takes too long.
    """
    if not is_file:
        jobs = _bound(jobs, queue.config.queue_tokens)
    job, answers = together(jobs), None
    is_admitted = False  # a request that has found room is not rejected halfway
    try:
        while True:
            step = partial(_advance, job, answers)
            requests, result = step() if is_quick else await queue.threads.run(step, account)
            if requests is None:
                found: list[R] = result
                return found
            answers = await queue.ask(requests, texts, is_admitted, is_file)
            is_admitted = True
    finally:
        job.close()


def _bound(jobs: Iterable[Job[R]], most: int) -> Iterator[Job[R]]:
    """Yield jobs that end as soon as all of them have asked at first for more tokens than the queue may hold.

    What is never translated then takes neither time nor memory.

    Raises:
        Rejection: 400.
    """
    asked = 0

    def bound(job: Job[R]) -> Job[R]:
        nonlocal asked
        with closing(job):
            requests, result = _advance(job, None)
            asked += sum(load_of(request.tokens) for request in requests or ())
            if asked > most:
                raise too_long(asked, most)
            while requests is not None:
                requests, result = _advance(job, (yield requests))
            found: R = result
            return found

    return map(bound, jobs)


def _advance(job: Job[Any], answers: Any) -> tuple[list[Request] | None, Any]:
    """Return what a job asks for next, or None and its result if it has ended."""
    try:
        return job.send(answers), None
    except StopIteration as end:
        return None, end.value
