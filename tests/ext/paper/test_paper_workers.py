"""Workers of trials: each training has one, and they are stopped together."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from headway.errors import HeadwayError
from headway.ext.paper.running import workers
from headway.ext.paper.running.trial_run import run_trial
from headway.ext.paper.running.workers import run_together
from headway.locks import DirectoryLock
from headway.training.storage.run_directory import RunDirectory


class FakeWorker:
    """A worker that fails if it is the first; the others run until they are terminated."""

    started: dict[str, "FakeWorker"]

    def __init__(self, command: list[str], **options: object) -> None:
        self.name, self.is_terminated = Path(command[-1]).name, threading.Event()
        if self.name == "c":  # which the thread of the failed one has taken
            assert self.started["b"].is_terminated.wait(20)
        self.started[self.name] = self

    def __enter__(self) -> "FakeWorker":
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def terminate(self) -> None:
        self.is_terminated.set()

    def wait(self) -> int:
        if self.name == "a":
            while "b" not in self.started:
                pass
            return 1
        return -15 if self.is_terminated.wait(5) else 0


def test_no_worker_runs_on_when_another_has_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeWorker, "started", {}, raising=False)
    monkeypatch.setattr(workers.subprocess, "Popen", FakeWorker)
    places = [tmp_path / name for name in "abcd"]
    for place in places:
        place.mkdir()
    with pytest.raises(HeadwayError, match="/a: the worker ended with 1"):
        list(run_together(run_trial, places, 2))
    assert all(worker.is_terminated.is_set() for worker in FakeWorker.started.values())
    assert "d" not in FakeWorker.started


@pytest.mark.slow
def test_a_second_process_says_so_in_one_line_and_leaves_the_log_of_the_first(
    tmp_path: Path,
) -> None:
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


INTERRUPTED = """\
import signal
import sys
from dataclasses import replace
from headway.config import TextConfig
from headway.ext.paper.running.bitext import Bitext
from headway.ext.paper.running.planned_trial import PlannedTrial
from headway.ext.paper.running.work import Study
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background inherits none
pairs = tuple((f"a b {c}", f"d e {c}") for c in "fghijklmnopqrstuvwxyz")
work = Study(sys.argv[1], "toy", corpus=Bitext("text", pairs[1:], pairs[:1], pairs[:1], ("en", "de")))
training = replace(work.base.training, max_steps=10**6)
work.run_trials([PlannedTrial("x", replace(work.base, text=TextConfig(vocab_size=300), training=training))])
"""


@pytest.mark.slow
def test_a_training_is_saved_at_control_c(tmp_path: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path)],
        stderr=subprocess.PIPE, start_new_session=True, text=True,
    )  # fmt: skip

    def list_steps() -> list[int]:
        texts = [path.read_text() for path in tmp_path.glob("trials/*/run/metrics.jsonl")]
        whole = [text.rpartition("\n")[0] for text in texts]  # the last line may be unfinished
        events = [json.loads(line) for text in whole for line in text.splitlines()]
        return [event["step"] for event in events if event["event"] == "step"]

    try:
        while len(list_steps()) < 2:
            assert parent.poll() is None
            time.sleep(0.05)
        os.killpg(parent.pid, signal.SIGINT)  # as a terminal does
        assert "KeyboardInterrupt" in parent.communicate(timeout=60)[1]
    finally:
        parent.kill()
    [run] = tmp_path.glob("trials/*/run")
    [saved] = RunDirectory(run).steps()
    assert saved == list_steps()[-1]
    assert "Traceback" not in (run.parent / "log.txt").read_text()
