"""Workers of trials: each training has one, and they are stopped together."""

import os
import runpy
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from headway.errors import HeadwayError
from headway.ext.paper.running import workers
from headway.ext.paper.running.trial_run import run_trial
from headway.ext.paper.running.workers import run_together
from headway.locks import DirectoryLock
from support.processes import Forked


class FakeWorker:
    """A worker that fails if it is the first; the others run until they are terminated."""

    started: dict[str, "FakeWorker"]

    def __init__(self, command, **options):
        self.name, self.is_terminated = Path(command[-1]).name, threading.Event()
        if self.name == "c":  # which the thread of the failed one has taken
            assert self.started["b"].is_terminated.wait(20)
        self.started[self.name] = self

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def terminate(self):
        self.is_terminated.set()

    def wait(self):
        if self.name == "a":
            while "b" not in self.started:
                pass
            return 1
        return -15 if self.is_terminated.wait(5) else 0


def test_no_worker_runs_on_when_another_has_failed(tmp_path, monkeypatch):
    monkeypatch.setattr(FakeWorker, "started", {}, raising=False)
    monkeypatch.setattr(workers.subprocess, "Popen", FakeWorker)
    places = [tmp_path / name for name in "abcd"]
    for place in places:
        place.mkdir()
    with pytest.raises(HeadwayError, match="/a: the worker ended with 1"):
        list(run_together(run_trial, places, 2))
    assert all(worker.is_terminated.is_set() for worker in FakeWorker.started.values())
    assert "d" not in FakeWorker.started


class ForkedWorker(Forked):
    """A worker that need not import torch; it is forked in the place of a new process."""

    def __init__(self, command, stdout, **options):
        ours, self.input = os.pipe()

        def work():
            os.setpgid(0, 0)
            os.dup2(ours, 0)
            os.close(self.input)
            sys.argv = command[2:]
            runpy.run_module(command[2], run_name="__main__", alter_sys=True)

        super().__init__(work, Path(str(stdout.name)))
        os.close(ours)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        os.close(self.input)


# In place of the module `subprocess`.
FORKING = SimpleNamespace(Popen=ForkedWorker, PIPE=subprocess.PIPE)


@pytest.mark.slow
def test_a_second_process_says_so_in_one_line_and_leaves_the_log_of_the_first(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(workers, "subprocess", FORKING)
    directory = tmp_path / "a"
    directory.mkdir()
    (directory / "log.txt").write_text("step 1\n")
    lock = DirectoryLock(directory)
    lock.acquire()
    with pytest.raises(HeadwayError) as found:
        list(run_together(run_trial, [directory], 1))
    assert str(found.value).startswith(f"{directory}: process {os.getpid()} is at work here")
    log = (directory / "log.txt").read_text().splitlines()
    assert log == ["step 1", str(found.value)]
    lock.release()
