"""Training on several ranks: processes on the cores of one machine, its GPUs, or several machines.

Each rank computes the gradients of some micro-batches of every step. A run with one rank needs no
other process, and every function here but `exchange` returns at once. If a rank has ended, the
functions that exchange numbers raise a `LostRankError` in the others.
"""

import hashlib
import importlib
import os
import socket
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path

import torch
from torch import Tensor, distributed

from headway.errors import HeadwayError, LostRankError, is_out_of_memory

# A rank that ends closes its connections, which the others notice at once. Connections to a machine that
# vanishes are given up after a minute (`probe_connections`). Only what is stuck otherwise takes so long:
LIMIT = timedelta(minutes=10)
PATIENCE = timedelta(days=30)  # of ranks that wait while the first one works alone
_patient: list[distributed.ProcessGroup] = []
PROBED_AFTER = 20  # seconds without a message
PROBE_EVERY = 10  # seconds
UNANSWERED = 60  # seconds without an answer until a connection is given up


def join() -> None:
    """Join the other ranks if a launcher has started this process as one of several.

    Raises:
        HeadwayError: If the ranks could not connect to each other.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) > 1 and not distributed.is_initialized():
        # torch.distributed.nn.functional keeps the process group that exists when it is imported,
        # and sharding imports it. A group that is kept has threads that outlive `leave`, and
        # some of them end the process with SIGABRT. So it is imported before there is a group.
        importlib.import_module("torch.distributed.nn.functional")
        # Numbers travel by gloo; gradients on CUDA by nccl.
        cuda = torch.cuda.is_available() and distributed.is_nccl_available()
        try:
            distributed.init_process_group(
                "cpu:gloo,cuda:nccl" if cuda else "gloo",
                init_method=os.environ.get("HEADWAY_RENDEZVOUS", "env://"),
                rank=int(os.environ["RANK"]),
                world_size=int(os.environ["WORLD_SIZE"]),
                timeout=LIMIT,
            )
            _patient.append(distributed.new_group(backend="gloo", timeout=PATIENCE))
        except (RuntimeError, ValueError) as error:
            raise HeadwayError(
                "this rank could not connect to the others (MASTER_ADDR and MASTER_PORT say where they meet, and"
                " GLOO_SOCKET_IFNAME names the network interface, if it is not the one of this machine's name):"
                f" {str(error).splitlines()[0]}"
            ) from None
        probe_connections()


def leave() -> None:
    """Leave the other ranks."""
    if distributed.is_initialized():
        _patient.clear()
        distributed.destroy_process_group()


def world_size() -> int:
    """Return how many ranks train together."""
    return distributed.get_world_size() if distributed.is_initialized() else 1


def rank() -> int:
    """Return this process's rank; rank 0 writes all files."""
    return distributed.get_rank() if distributed.is_initialized() else 0


def wait() -> None:
    """Wait for the other ranks."""
    if world_size() > 1:
        with explain_lost_rank():
            distributed.barrier()


def wait_for_first() -> None:
    """Wait for the other ranks, of which the first may be busy for hours."""
    if world_size() > 1:
        with explain_lost_rank():
            distributed.barrier(_patient[0])


def gather(values: Tensor) -> Tensor:
    """Return the tensors of all ranks, which have one shape, one after the other."""
    if world_size() == 1:
        return values[None]
    found = values.new_empty(world_size(), *values.shape)
    with explain_lost_rank():
        distributed.all_gather(list(found), values)
    return found


def maximum(numbers: Sequence[int]) -> list[int]:
    """Return the largest of the ranks' numbers, for each of several."""
    return [int(number) for number in gather(torch.tensor(numbers)).amax(0).tolist()]


def find_differences(values: Mapping[str, str]) -> list[str]:
    """Return the names of the values that are not the same in all ranks, which pass the same names."""
    hashes = [hashlib.sha256(value.encode()).digest()[:6] for value in values.values()]
    rows = gather(torch.tensor([int.from_bytes(digest) for digest in hashes]))
    are_same = (rows == rows[0]).all(0).tolist()
    return [name for name, is_same in zip(values, are_same, strict=True) if not is_same]


def sum_counts(numbers: Sequence[int]) -> list[int]:
    """Sum whole numbers over all ranks."""
    return [int(number) for number in sum_disjoint(torch.tensor(numbers)).tolist()]


def sum_disjoint(values: Tensor) -> Tensor:
    """Sum tensors of which each element is zero in all ranks but one, or a whole number; exactly."""
    return gather(values).sum(0)


def exchange(sent: Iterable[tuple[int, Tensor]], received: Iterable[tuple[int, Tensor]]) -> None:
    """Send tensors to other ranks, and receive tensors from them.

    Args:
        sent: Ranks, and what is sent to them; a rank may occur several times.
        received: Ranks, and the tensors that are filled; those of a rank in the order in which it
            sends them.
    """
    operations = [distributed.P2POp(distributed.isend, tensor, rank) for rank, tensor in sent]
    operations += [distributed.P2POp(distributed.irecv, tensor, rank) for rank, tensor in received]
    with explain_lost_rank():
        for work in distributed.batch_isend_irecv(operations):
            work.wait()


@contextmanager
def explain_lost_rank() -> Iterator[None]:
    """Turn the error of an exchange with a rank that has ended into a message of one line."""
    try:
        yield
    except RuntimeError as error:
        if not _is_of_a_connection(error):
            raise
        raise LostRankError(
            "another rank of this training has ended, or its machine does not answer: its own message says why; if"
            " there is none, the same command goes on from the last checkpoint"
        ) from error


def _is_of_a_connection(error: RuntimeError) -> bool:
    """Return whether an error is of an exchange and not of a mistake in the program; gloo raises plain ones."""
    if is_out_of_memory(error):
        return False
    said = str(error).lower()
    words = ("gloo", "connection", "timed out", "broken pipe")
    return isinstance(error, distributed.DistError) or any(word in said for word in words)


def probe_connections() -> None:
    """Let the kernel probe this process's TCP connections to other machines, and give up dead ones.

    A machine without power, or behind a broken cable, does not close its connections. The libraries that
    exchange numbers have no option for this, so it is set on the connections that they have made.
    """
    if sys.platform != "linux":
        return
    for path in list(Path("/proc/self/fd").iterdir()):
        with suppress(OSError):  # closed already, or no connection
            connection = socket.socket(fileno=int(path.name))
            try:
                _probe(connection)
            finally:
                connection.detach()  # it belongs to the library


def _probe(connection: socket.socket) -> None:
    """Let the kernel probe a connection if it is a TCP connection to another machine."""
    has_address = connection.family in (socket.AF_INET, socket.AF_INET6)
    if has_address and connection.getsockname()[0] != connection.getpeername()[0]:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in (
            (socket.TCP_KEEPIDLE, PROBED_AFTER),
            (socket.TCP_KEEPINTVL, PROBE_EVERY),
            (socket.TCP_USER_TIMEOUT, UNANSWERED * 1000),
        ):
            connection.setsockopt(socket.IPPROTO_TCP, option, value)
