"""An executor whose workers are those of a cluster of Dask: other machines, as Slurm or Kubernetes give them."""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

from headway.errors import HeadwayError, LostWorkersError

PATIENCE = 60.0  # seconds in which the first worker must come
GOES_ON = "the same command goes on"


class ClusterExecutor(Executor):
    """The workers of a cluster. Dask gives the work of a worker that is lost to another one.

    Args:
        address: The address of the scheduler, such as ``tcp://node1:8786``, or the path of its file (``*.json``).

    Attributes:
        count: The number of threads of all workers.

    Raises:
        HeadwayError: If Dask is not installed, or there is no such cluster.
    """

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise HeadwayError("--cluster: needs Dask: pip install 'headway[cluster]'") from None
        place = {"scheduler_file": address} if address.endswith(".json") else {"address": address}
        try:
            self._client = Client(**place, set_as_default=False)
            self._client.wait_for_workers(1, timeout=PATIENCE)
        except (OSError, ValueError) as error:
            raise HeadwayError(f"--cluster {address}: {error}") from None
        self.count = sum(self._client.nthreads().values())
        self._executor = self._client.get_executor(pure=False)

    def submit(self, function: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        """Do a call on a worker."""
        found: Future[Any] = Future()
        found.set_running_or_notify_cancel()
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
