"""Jobs, which are generators; the requests that they yield; and the driver of the command and the library.

A job yields a list of requests, is sent a list with the answer to each, and returns its result. It calls no engine and has
no thread and no queue: a driver decides how requests share batches, so that the same job runs from the command and on a
server. An error in an answer is not thrown into the job: it ends the driver, which closes the job. Jobs compose by ``yield
from`` and by `together`. What runs between two requests is plain work on text, which a server does in a thread of its own.
"""

from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from headway.config import SearchConfig

if TYPE_CHECKING:
    from headway.translation.engines.protocols import GivenTarget, LayerChoice
    from headway.translation.search.constraints import Constraints
    from headway.translation.token_search import TokenSearch

R = TypeVar("R")
READ_AT_ONCE = 4  # translations on a server, so that the work stops soon if their client leaves
IsWanted = Callable[[int], bool]  # whether the answer to the request of this number is still wanted


class Find(NamedTuple):
    """Asks for the n best translations of a source, or for n samples; the answer is a list of hypotheses.

    Attributes:
        model: What searches.
        search: Search settings.
        ids: Source token ids, ``</s>`` last.
        prefix: Token ids that each translation starts with.
        constraints: What each translation must contain.
    """

    model: "TokenSearch"
    search: SearchConfig
    ids: list[int]
    prefix: Sequence[int] = ()
    constraints: "Constraints" = ()

    @property
    def key(self) -> Hashable:
        """What requests have in common that may share a batch."""
        return Find, self.model, self.search

    @property
    def tokens(self) -> int:
        """How long the source is."""
        return len(self.ids)

    def batch_limits(self, tokens: int) -> tuple[int, int]:
        """Return how many tokens a batch may have, and how many each request counts besides its own."""
        return self.model.batch_limits(self.search, tokens)

    @staticmethod
    def answer(requests: "Sequence[Find]") -> list[Any]:
        """Answer any number of requests of one key, on all threads."""
        first, rows = requests[0], _rows(requests)
        return first.model.search(*rows[:2], first.search, rows[2])

    @staticmethod
    def answer_batch(requests: "Sequence[Find]", is_wanted: IsWanted) -> list[Any]:
        """Answer requests of one key as one batch, in the calling thread; what is no longer wanted stops."""
        first, rows = requests[0], _rows(requests)
        return first.model.search_batch(*rows[:2], first.search, is_wanted, rows[2])


def _rows(
    requests: Sequence[Find],
) -> "tuple[list[list[int]], list[list[int]], list[Constraints]]":
    """Return the ids, the prefixes and the constraints of requests."""
    return (
        [request.ids for request in requests],
        [[*request.prefix] for request in requests],
        [request.constraints for request in requests],
    )


class Read(NamedTuple):
    """Asks what a model makes of a translation that is given; the answer is what ``measure`` makes of that.

    Attributes:
        model: What reads.
        search: Gives the precision and the size of a batch.
        source: Token ids, ``</s>`` last.
        target: Token ids, ``</s>`` last.
        measure: Its result alone is kept.
        layers: The layers whose attention is wanted; None: none is.
        is_scored: Whether the probabilities of the tokens are wanted.
    """

    model: "TokenSearch"
    search: SearchConfig
    source: Sequence[int]
    target: Sequence[int]
    measure: "Callable[[GivenTarget], Any]"
    layers: "LayerChoice | None" = None
    is_scored: bool = True

    @property
    def key(self) -> Hashable:
        """What requests have in common that may share a batch."""
        return Read, self.model, self.search, self.layers, self.is_scored

    @property
    def tokens(self) -> int:
        """How long the source is."""
        return len(self.source)

    def batch_limits(self, tokens: int) -> tuple[int, int]:
        """Return how many tokens a batch may have, and how many each request counts besides its own."""
        return tokens, 0

    @staticmethod
    def answer(requests: "Sequence[Read]") -> list[Any]:
        """Answer any number of requests of one key, on all threads."""
        from headway.translation.given_translations import read_targets

        first = requests[0]
        return read_targets(
            first.model, [each.source for each in requests], [each.target for each in requests],
            first.search, [each.measure for each in requests],
            is_scored=first.is_scored, layers=first.layers,
        )  # fmt: skip

    @staticmethod
    def answer_batch(requests: "Sequence[Read]", is_wanted: IsWanted) -> list[Any]:
        """Answer requests of one key, a few at a time; what is no longer wanted is left out, and its answer is None."""
        answers: list[Any] = [None] * len(requests)
        for start in range(0, len(requests), READ_AT_ONCE):
            some = range(start, min(start + READ_AT_ONCE, len(requests)))
            wanted = [number for number in some if is_wanted(number)]
            found = Read.answer([requests[number] for number in wanted]) if wanted else []
            for number, answer in zip(wanted, found, strict=True):
                answers[number] = answer
        return answers


Request = Find | Read
Job = Generator[list[Request], list[Any], R]


def together(jobs: Iterable[Job[R]], window: int | None = None) -> Job[list[R]]:
    """Run jobs side by side: what they ask for at one time becomes one list, so that it can share batches.

    Args:
        jobs: They are started when their turn comes.
        window: How many run at a time; None: all.
    """
    jobs, results = iter(jobs), []
    while taken := list(islice(jobs, window)):
        results += yield from _run_all(taken)
    return results


def _run_all(jobs: list[Job[R]]) -> Job[list[R]]:
    results: dict[int, R] = {}
    answers: list[list[Any] | None] = [None] * len(jobs)
    running = list(range(len(jobs)))
    try:
        while running:
            asked: list[Request] = []
            counts: list[tuple[int, int]] = []
            for number in running:
                try:
                    requests = jobs[number].send(answers[number])  # type: ignore[arg-type]
                except StopIteration as end:
                    results[number] = end.value
                    continue
                counts.append((number, len(requests)))
                asked += requests
            running = [number for number, _ in counts]
            if running:
                found = iter((yield asked))
                for number, count in counts:
                    answers[number] = list(islice(found, count))
    finally:
        for job in jobs:  # those that have not ended, because one has failed, or nobody waits
            job.close()
    return [results[number] for number in range(len(jobs))]


def answer(requests: Sequence[Request]) -> list[Any]:
    """Answer requests at once; those that may share batches are answered together."""
    numbers: dict[Hashable, list[int]] = {}
    for number, request in enumerate(requests):
        numbers.setdefault(request.key, []).append(number)
    answers: list[Any] = [None] * len(requests)
    for group in numbers.values():
        some: list[Any] = [requests[number] for number in group]
        for number, found in zip(group, some[0].answer(some), strict=True):
            answers[number] = found
    return answers


def run(job: Job[R]) -> R:
    """Run a job to its end, and return its result: the driver of the command and the library."""
    answers: Any = None
    with closing(job):
        while True:
            try:
                requests = job.send(answers)
            except StopIteration as end:
                result: R = end.value
                return result
            answers = answer(requests)


def run_each(jobs: Iterable[Job[R]], window: int) -> Iterator[R]:
    """Yield the results of jobs, of which so many run at a time."""
    jobs = iter(jobs)
    while taken := list(islice(jobs, window)):
        yield from run(together(taken))
