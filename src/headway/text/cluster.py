"""Run calls on the workers of a Dask cluster, which are processes on other machines."""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

from headway.errors import LostWorkersError

LARGE = "1GB"  # of a call: a range of text is larger than the 10 MB of which Dask warns
PATIENCE = 60.0  # seconds in which the first worker must come
GOES_ON = "the same command goes on"


class ClusterExecutor(Executor):
    """The workers of a cluster. Dask gives the work of a worker that is lost to another one.

    Args:
        address: The address of the scheduler, such as ``tcp://node1:8786``, or the path of its file (``*.json``).

    Raises:
        LostWorkersError: If Dask is not installed, or there is no such cluster.
    """

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise LostWorkersError(
                "--cluster: needs Dask: pip install 'headway[cluster]'"
            ) from None
        if address.endswith(".json") and not Path(address).is_file():
            raise LostWorkersError(
                f"--cluster {address}: no such file: start dask scheduler --scheduler-file {address}"
            )
        place = {"scheduler_file": address} if address.endswith(".json") else {"address": address}
        try:
            self._client = Client(**place, set_as_default=False)
            self._client.wait_for_workers(1, timeout=PATIENCE)
        except (OSError, ValueError) as error:
            raise LostWorkersError(f"--cluster {address}: {error}") from None
        self._executor = self._client.get_executor(pure=False)

    def count_threads(self) -> int:
        """Return the number of threads of all workers, which may come and go."""
        return sum(self._client.nthreads().values())

    def submit(self, function: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        """Do a call on a worker."""
        import dask

        found: Future[Any] = Future()
        found.set_running_or_notify_cancel()
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": LARGE}):
            call = self._executor.submit(function, *args, **options)
        call.add_done_callback(lambda done: _pass_on(done, found))
        return found

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster; work in progress is dropped."""
        self._client.close()


def _pass_on(done: Future[Any], found: Future[Any]) -> None:
    """Give the outcome of a call to a future, in which the loss of a cluster is a user's error."""
    from distributed import KilledWorker

    if done.cancelled():
        found.set_exception(LostWorkersError(f"the cluster is lost; {GOES_ON}"))
    elif isinstance(error := done.exception(), KilledWorker):
        found.set_exception(LostWorkersError(f"several workers ended at the same text; {GOES_ON}"))
    elif error is not None:
        found.set_exception(error)
    else:
        found.set_result(done.result())
