"""Work on several items at once, in threads, with the results in order."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_ahead(
    function: Callable[[Item], Result], items: Iterator[Item], at_once: int
) -> Iterator[tuple[Item, Result]]:
    """Yield each item with its result, in order.

    While a GPU works on one item, the processor may prepare the next one.

    Args:
        function: Called in a thread of its own; with ``at_once`` 1 in the thread of the caller.
        items: Read as far ahead as items are worked on.
        at_once: Items that are worked on at the same time.
    """
    if at_once == 1:
        yield from ((item, function(item)) for item in items)
        return
    pending: deque[tuple[Item, Future[Result]]] = deque()
    pool = ThreadPoolExecutor(at_once)
    try:
        for item in items:
            pending.append((item, pool.submit(function, item)))
            if len(pending) == at_once:
                first, result = pending.popleft()
                yield first, result.result()
        while pending:
            first, result = pending.popleft()
            yield first, result.result()
    finally:
        pool.shutdown(cancel_futures=True)
