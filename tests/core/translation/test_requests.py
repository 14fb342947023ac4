"""Jobs side by side: what they ask for at one time is one list, and each gets its own answers."""

import random
from collections.abc import Callable
from typing import NamedTuple

import pytest

from headway.config import SearchConfig
from headway.translation.requests import Find, Read, answer, run, run_each, together


class Asked(NamedTuple):
    """A request whose answer is known: what a function returns."""

    function: Callable
    key: str = "asked"

    @staticmethod
    def answer(requests):
        return [request.function() for request in requests]


def count_up(name, steps, seen):
    """Ask for as many answers at each step as steps have been, and return all of them: a job."""
    found = []
    for step in range(steps):
        seen.append((name, step))
        found += yield [Asked(lambda step=step, n=n: 10 * step + n) for n in range(step + 1)]
    return found


def expected(steps):
    return [10 * step + n for step in range(steps) for n in range(step + 1)]


def test_jobs_run_side_by_side_and_keep_their_order():
    seen = []
    jobs = [count_up(name, steps, seen) for name, steps in (("a", 3), ("b", 0), ("c", 1), ("d", 2))]
    assert run(together(jobs)) == [expected(3), [], expected(1), expected(2)]
    assert seen == [("a", 0), ("c", 0), ("d", 0), ("a", 1), ("d", 1), ("a", 2)]
    assert run(together([])) == []


def test_jobs_of_jobs_give_what_they_give_alone():
    chooser = random.Random(1)
    steps = [[chooser.randrange(4) for _ in range(chooser.randrange(5))] for _ in range(20)]
    for window in (None, 1, 3):
        nested = together((together(count_up("", n, []) for n in some) for some in steps), window)
        assert run(nested) == [[expected(n) for n in some] for some in steps]
    jobs = (count_up("", n, []) for some in steps for n in some)
    assert list(run_each(jobs, 4)) == [expected(n) for some in steps for n in some]


def test_a_window_starts_jobs_when_their_turn_comes():
    started = []

    def job(number):
        started.append(number)
        asked = [Asked(lambda: number)]
        return (yield asked)[0]

    found = run_each(map(job, range(7)), 3)
    assert next(found) == 0
    assert started == [0, 1, 2]
    assert list(found) == [1, 2, 3, 4, 5, 6]


def test_an_error_closes_all_jobs():
    closed = []

    def job(number):
        try:
            for divisor in (number, number - 1):
                asked = [Asked(lambda divisor=divisor: 1 // divisor)]
                yield asked
            return number
        finally:
            closed.append(number)

    with pytest.raises(ZeroDivisionError):
        run(together([job(3), job(1), job(2)]))
    assert sorted(closed) == [1, 2, 3]


class Model:
    """Answers with the tokens that it gets."""

    def __init__(self):
        self.batches = []

    def search(self, sources, prefixes, search, constraints):
        self.batches.append(sources)
        return [[*source, *prefix, *some] for source, prefix, some in zip(sources, prefixes, constraints, strict=True)]  # fmt: skip


def test_requests_of_one_model_and_one_setting_are_answered_together():
    one, other = Model(), Model()
    plain, wide = SearchConfig(), SearchConfig(beam=9)
    asked = [
        Find(one, plain, [1]),
        Asked(lambda: "called"),
        Find(other, plain, [2], (7,)),
        Find(one, plain, [3], (), (8,)),
        Find(one, wide, [4]),
    ]
    assert answer(asked) == [[1], "called", [2, 7], [3, 8], [4]]
    assert (one.batches, other.batches) == ([[[1], [3]], [[4]]], [[[2]]])
    assert asked[0].key != Read(one, plain, [], [], len).key
