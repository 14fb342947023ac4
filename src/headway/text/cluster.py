"""The workers of a Dask cluster, which are processes on other machines."""

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor
from contextlib import contextmanager
from pathlib import Path

from headway.errors import LostWorkersError

LARGE = "1GB"  # of a call: a range of text is larger than the 10 MB of which Dask warns
PATIENCE = 60.0  # seconds in which the first worker must come


@contextmanager
def connect_cluster(address: str) -> Iterator[tuple[Executor, Callable[[], int]]]:
    """Connect to a cluster. Dask gives the work of a worker that is lost to another one.

    Args:
        address: The address of the scheduler, such as ``tcp://node1:8786``, or the path of its file (``*.json``).

    Yields:
        An executor, and a function that counts the threads of all workers, which may come and go.

    Raises:
        LostWorkersError: If Dask is not installed, there is no such cluster, or it is lost.
    """
    try:
        import dask
        from distributed import Client, KilledWorker
    except ImportError:
        raise LostWorkersError("--cluster: needs Dask: pip install 'headway[cluster]'") from None
    if address.endswith(".json") and not Path(address).is_file():
        raise LostWorkersError(
            f"--cluster {address}: no such file: start dask scheduler --scheduler-file {address}"
        )
    place = {"scheduler_file": address} if address.endswith(".json") else {"address": address}
    try:
        client = Client(**place, set_as_default=False)
        client.wait_for_workers(1, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise LostWorkersError(f"--cluster {address}: {error}") from None
    try:
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": LARGE}):
            yield client.get_executor(pure=False), lambda: sum(client.nthreads().values())
    except (CancelledError, KilledWorker) as error:
        is_lost = isinstance(error, CancelledError)
        what = "the cluster is lost" if is_lost else "several workers ended at the same text"
        raise LostWorkersError(f"{what}; the same command goes on") from None
    finally:
        client.close()
