"""A request whose answer is known, in the place of a search, for tests of jobs."""

from collections.abc import Callable
from typing import Any, NamedTuple


class Asked(NamedTuple):
    """Asks for what a function returns."""

    function: Callable[[], Any]
    key: str = "asked"
    tokens: int = 1

    def batch_limits(self, tokens):
        """Return how many tokens a batch may have, and how many each request counts besides its own."""
        return tokens, 0

    @staticmethod
    def answer(requests):
        """Call the functions."""
        return [request.function() for request in requests]

    @staticmethod
    def answer_batch(requests, is_wanted):
        """Call the functions."""
        return Asked.answer(requests)


def count_up(name, steps, seen):
    """Ask for as many answers at each step as steps have been, and return all of them: a job."""
    found: list[int] = []
    for step in range(steps):
        seen.append((name, step))
        found += yield [Asked(lambda step=step, n=n: 10 * step + n) for n in range(step + 1)]
    return found
