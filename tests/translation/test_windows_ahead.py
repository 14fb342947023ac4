"""Items that are worked on at once give their results in order, and few are read ahead."""

import threading
from collections.abc import Iterator

import pytest

from headway.translation.line_files.windows_ahead import map_ahead


@pytest.mark.parametrize("at_once", [1, 2, 5])
def test_results_come_in_order_and_few_items_are_read_ahead(at_once: int) -> None:
    read: list[int] = []

    def items() -> Iterator[int]:
        for number in range(7):
            read.append(number)
            yield number

    for done, (item, result) in enumerate(map_ahead(lambda n: n * n, items(), at_once)):
        assert (item, result) == (done, done * done)
        assert len(read) <= done + at_once


def test_two_items_are_worked_on_together() -> None:
    meeting = threading.Barrier(2, timeout=10)
    found = map_ahead(lambda item: (meeting.wait(), item)[1], iter(range(6)), 2)
    assert [result for _, result in found] == list(range(6))


def test_an_error_ends_the_work() -> None:
    done: list[int] = []

    def work(item: int) -> int:
        if item == 2:
            raise ValueError("two")
        done.append(item)
        return item

    with pytest.raises(ValueError, match="two"):
        list(map_ahead(work, iter(range(100)), 2))
    assert len(done) < 6
