"""Call a function in several processes that are ranks of each other."""

import multiprocessing
import os
import pickle
import tempfile
from pathlib import Path

from headway.training import parallel
from support.processes import fork


def in_ranks(count, function, *arguments):
    """Return what the function returns in each rank."""
    with tempfile.TemporaryDirectory() as directory:
        queue = multiprocessing.get_context("fork").SimpleQueue()
        processes = [
            fork(_run, rank, count, directory, queue, function, arguments) for rank in range(count)
        ]
        found = dict(pickle.loads(queue.get()) for _ in processes)
        for process in processes:
            process.join()
    for result in found.values():
        if isinstance(result, Exception):
            raise result
    return [found[rank] for rank in range(count)]


def _run(rank, count, directory, queue, function, arguments):
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": str(count), "LOCAL_WORLD_SIZE": str(count)}
    os.environ["HEADWAY_RENDEZVOUS"] = (Path(directory) / "ranks").as_uri()
    parallel.join()
    try:
        result = function(*arguments)
    except Exception as error:
        result = error
    try:
        # As bytes: the memory of a tensor in the queue would be lost if this rank ended first.
        queue.put(pickle.dumps((rank, result)))
    finally:
        parallel.leave()
