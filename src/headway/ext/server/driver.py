"""The driver of the server: it runs the job of a request, and puts what the job asks for into the queue of all clients."""

from functools import partial
from typing import Any, TypeVar

from headway.ext.server.queue import TranslationQueue
from headway.ext.server.text_threads import Account
from headway.translation import Job, Request

R = TypeVar("R")


async def run_job(
    job: Job[R],
    queue: TranslationQueue,
    account: Account,
    texts: int = 1,
    *,
    is_quick: bool = False,
    is_file: bool = False,
) -> R:
    """Run a job to its end, and return its result; if the caller is cancelled, the job is closed.

    Args:
        job: The job.
        queue: The queue of all requests.
        account: What plain work on the texts may take.
        texts: Those of the request, as the queue counts them.
        is_quick: Whether plain work on the texts takes so little that the event loop does it.
        is_file: Whether the job is a part of a file, which is translated little by little and always finds room.

    Raises:
        Rejection: 429 if the queue is full, 400 if the request would never fit into it, 413 if plain work on its texts
            takes too long.
    """
    answers: list[Any] | None = None
    is_admitted = False  # a request that has found room is not rejected halfway
    try:
        while True:
            step = partial(_advance, job, answers)
            requests, result = step() if is_quick else await queue.threads.run(step, account)
            if requests is None:
                found: R = result
                return found
            answers = await queue.ask(requests, texts, is_admitted, is_file)
            is_admitted = True
    finally:
        job.close()


def _advance(job: Job[Any], answers: Any) -> tuple[list[Request] | None, Any]:
    """Return what a job asks for next, or None and its result if it has ended."""
    try:
        return job.send(answers), None
    except StopIteration as end:
        return None, end.value
