"""Processes that tests start, and what other processes do, as Linux shows it."""

import faulthandler
import multiprocessing
import os
import signal
import sys
import time
import traceback
import warnings
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import torch

from headway.errors import HeadwayError

NOBODY = 65534  # a user without rights


def fork(function, *arguments):
    """Call a function in a new process that has everything of this one."""

    def work():
        use_one_core()
        function(*arguments)

    process = multiprocessing.get_context("fork").Process(target=work)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of the threads of this process
        process.start()
    return process


def spawn(work, log, user=0):
    """Do some work in a forked process, which has all modules already, and return the process.

    Args:
        work: Its exit code is that of a ``SystemExit``, 99 after another error, or else 0.
        log: What it prints is added to this file; after SIGUSR1, what it is doing.
        user: The user whose rights it gets, instead of root's.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the threads of this process, and all in the new one
        child = os.fork()
        if not child:
            _be_child(work, log, user)
        return child


def use_one_core():
    """Let a forked process compute with one thread: the others of its parent's OpenMP are missing, and it would wait for them forever."""
    torch.set_num_threads(1)
    if sys.platform == "linux":
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[os.getpid() % len(cores)]})


def _be_child(work, log, user):
    code = 99
    try:
        with log.open("a") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        # Commands replace standard output; the file must stay open then.
        sys.stdout, sys.stderr = (os.fdopen(number, "w", closefd=False) for number in (1, 2))
        faulthandler.register(signal.SIGUSR1)
        use_one_core()
        # A shell starts background commands with SIGINT ignored, and children inherit that.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if user and not os.geteuid():
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
        work()
        code = 0
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def wait(child, seconds):
    """Return a child's exit code, negative for a signal; None if it takes longer."""
    deadline = time.monotonic() + seconds
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            return None
        time.sleep(0.001)


class Forked:
    """A process that `spawn` makes, used as those of ``subprocess`` are."""

    def __init__(self, work, log):
        log.touch()
        self.pid = spawn(work, log)
        self.returncode: int | None = None

    def poll(self):
        if self.returncode is None:
            self.returncode = wait(self.pid, 0)
        return self.returncode

    def wait(self, seconds=60):
        if self.returncode is None:
            self.returncode = wait(self.pid, seconds)
        assert self.returncode is not None, f"process {self.pid} has not ended"
        return self.returncode

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self):
        self.send_signal(signal.SIGTERM)

    def kill(self):
        self.send_signal(signal.SIGKILL)


def fail_or_sleep(seconds):
    """Be a rank: the first one ends with an error, and the others do not notice it."""
    if os.environ["RANK"] == "0":
        raise HeadwayError("the first rank has failed")
    time.sleep(seconds)
    return 0


def is_running(process):
    """Return whether a process runs; one that nobody has waited for yet is a zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def children(process):
    """Return the processes that a process has started and that run."""
    file = Path(f"/proc/{process}/task/{process}/children")
    with suppress(OSError):
        return [child for child in map(int, file.read_text().split()) if is_running(child)]
    return []


@contextmanager
def start_cluster(folder, workers):
    """Start a scheduler of Dask and its workers, which end with the block; yield the scheduler's file.

    All are forked, so that they have all modules. A nanny would fork its worker beside threads of its own, and
    such a worker may wait forever for a lock that one of them held.
    """
    from dask.__main__ import main

    file = folder / "scheduler.json"
    options = ["--scheduler-file", str(file), "--no-dashboard"]
    worker = ["worker", *options, "--no-nanny", "--nthreads", "1", "--local-directory", str(folder)]

    def start(*words):
        sys.argv = ["dask", *words]
        main()

    processes = []
    try:
        for words in (
            ["scheduler", "--port", "0", "--host", "127.0.0.1", *options],
            *[worker] * workers,
        ):
            processes.append(spawn(partial(start, *words), folder / "log"))
            while not file.exists():
                time.sleep(0.05)
        yield str(file)
    finally:
        for process in reversed(processes):
            os.kill(process, signal.SIGTERM)
            wait(process, 30)


def command_line(process):
    """Return the words of a process, each with a NUL behind it; of a process that has ended, nothing."""
    with suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_text()
    return ""


def read_memory(name, process="self"):
    """Return a figure of a process's memory in bytes, such as VmRSS, or VmHWM, the most; 0 if it has ended."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return 1024 * int(line.split()[1])
    return 0
