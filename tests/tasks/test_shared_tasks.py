"""Processes share tasks: each result is whole, a dead process loses its claims, and nobody waits for it."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from headway.errors import HeadwayError
from headway.tasks import work as loop
from headway.tasks.claims import Claims
from headway.tasks.ledger import Ledger, task_name
from headway.tasks.members import LEASE, Member
from headway.tasks.processes import WorkerProcesses
from headway.tasks.work import Task, work


class Squares:
    """A job: the squares of a few numbers, and then their sum."""

    def __init__(self, ledger: Ledger, count: int = 7) -> None:
        self.ledger, self.count = ledger, count

    @property
    def is_complete(self) -> bool:
        return self.ledger.is_done("sum/000000")

    def list_ready(self) -> list[Task]:
        done = self.ledger.list_done("square")
        numbers = [n for n in range(self.count) if n not in done]
        if numbers:
            return [
                Task(task_name("square", n), lambda path, n=n: self.square(path, n))
                for n in numbers
            ]
        return [Task(task_name("sum"), self.sum)]

    def square(self, path: Path, number: int) -> None:
        (path / "value").write_text(str(number**2))

    def sum(self, path: Path) -> None:
        values = [self.ledger.result("square", n) / "value" for n in range(self.count)]
        (path / "value").write_text(str(sum(int(value.read_text()) for value in values)))


def dead_process() -> int:
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def test_a_result_appears_whole_and_the_first_one_stays(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, "a-1-x")
    with pytest.raises(FileNotFoundError), ledger.commit("square/000003") as path:
        (path / "value" / "no directory").write_text("half")
    assert list(tmp_path.iterdir()) == []
    for text in ("9", "other"):
        with ledger.commit("square/000003") as path:
            (path / "value").write_text(text)
            assert ledger.is_done("square/000003") == (text == "other")
    assert ledger.list_done("square") == {3}
    assert (ledger.result("square", 3) / "value").read_text() == "9"
    assert [entry.name for entry in tmp_path.iterdir()] == ["square"]


def test_a_task_has_one_owner_until_it_is_released(tmp_path: Path) -> None:
    with Member(tmp_path) as first, Member(tmp_path) as second:
        one, two = Claims(tmp_path, first), Claims(tmp_path, second)
        assert one.take("square/000001")
        assert not two.take("square/000001")
        assert second.list_others() == [first.name]
        one.release("square/000001")
        assert two.take("square/000001")
    assert list((tmp_path / "members").iterdir()) == []


@pytest.mark.parametrize(("machine", "age", "is_dead"), [
    ("here", 0, True), ("elsewhere", 0, False), ("elsewhere", LEASE - 20, False), ("elsewhere", LEASE + 20, True),
])  # fmt: skip
def test_a_claim_of_a_dead_process_is_taken_over(
    machine: str, age: float, is_dead: bool, tmp_path: Path
) -> None:
    with Member(tmp_path) as member:
        here = member.name.rsplit("-", 2)[0]
        other = f"{here if machine == 'here' else machine}-{dead_process()}-abc"
        file = tmp_path / "members" / other
        file.touch()
        then = file.stat().st_mtime - age
        os.utime(file, (then, then))
        claims = Claims(tmp_path, member)
        (tmp_path / "claims" / "square-000001").symlink_to(other)
        (tmp_path / f".tmp-{other}+square-000001").mkdir()
        assert claims.take("square/000001") == is_dead
        assert bool(member.list_others()) != is_dead
        Ledger(tmp_path, member.name).remove_unfinished(member)
        assert (tmp_path / f".tmp-{other}+square-000001").exists() != is_dead


def test_a_job_is_done_although_another_process_finishes_a_task_first(tmp_path: Path) -> None:
    with Member(tmp_path) as member:
        ledger = Ledger(tmp_path, member.name)
        job = Squares(ledger)
        names = []
        for task in work(job, ledger, Claims(tmp_path, member)):
            names.append(task.name)
            if len(names) == 2:
                with ledger.commit("square/000005") as path:
                    (path / "value").write_text("25")
        assert len(names) == 7
        assert (ledger.result("sum") / "value").read_text() == str(sum(n * n for n in range(7)))


def test_a_failure_ends_every_process_and_a_removed_ledger_ends_the_work(tmp_path: Path) -> None:
    with Member(tmp_path) as member:
        ledger = Ledger(tmp_path, member.name)
        claims = Claims(tmp_path, member)
        Ledger(tmp_path, "other").record_failure("text.vocab_size is too large")
        with pytest.raises(HeadwayError, match=r"text\.vocab_size is too large"):
            list(work(Squares(ledger), ledger, claims))
        ledger.remove_failure()
        steps = work(Squares(ledger), ledger, claims)
        next(steps)
        tmp_path.rename(tmp_path.with_name("gone"))
        assert list(steps) == []
        tmp_path.with_name("gone").rename(tmp_path)


def test_a_waiting_process_takes_over_the_task_of_a_killed_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "LONGEST", 0.05)
    sleeper = subprocess.Popen(["sleep", "60"])
    with Member(tmp_path) as member:
        here = member.name.rsplit("-", 2)[0]
        other = f"{here}-{sleeper.pid}-abc"
        (tmp_path / "members" / other).touch()
        ledger, claims = Ledger(tmp_path, member.name), Claims(tmp_path, member)
        (tmp_path / "claims" / "square-000002").symlink_to(other)
        names = []
        for task in work(Squares(ledger), ledger, claims):
            names.append(task.name)
            if len(names) == 6:  # all that nobody has claimed
                sleeper.kill()  # it is not reaped, as a process of another command is not
        sleeper.wait()
    assert names[-2:] == ["square/000002", "sum/000000"]


def test_machines_that_write_a_file_at_the_same_time_leave_each_other_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (Ledger(tmp_path, f"{name}-1-x") for name in "ab")  # of equal process numbers
    replace = Path.replace

    def write_meanwhile(path: Path, target: Path) -> Path:
        monkeypatch.setattr(Path, "replace", replace)
        second.write_text("plan.json", "second")
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", write_meanwhile)
    first.write_text("plan.json", "first")
    assert (tmp_path / "plan.json").read_text() == "first"
    assert len(list(tmp_path.iterdir())) == 1


def serve(folder: str, way: str) -> None:
    """Run as a worker process of the next test."""
    from headway.tasks.parent import end_with_standard_input

    end_with_standard_input()
    (Path(folder) / str(os.getpid())).touch()
    if way != "sleep":
        sys.exit({"error": 3, "full": errno.ENOSPC}[way])
    time.sleep(60)


def wait_for(folder: Path, count: int) -> list[int]:
    for _ in range(1000):
        if len(found := list(folder.iterdir())) == count:
            return [int(entry.name) for entry in found]
        time.sleep(0.01)
    raise AssertionError(f"{len(found)} processes instead of {count}")


def keep_running(processes: WorkerProcesses, progress: int) -> None:
    for _ in range(500):
        processes.keep_running(progress)
        time.sleep(0.01)


@pytest.mark.slow
def test_worker_processes_are_replaced_while_the_work_goes_on_and_end_with_the_block(
    tmp_path: Path,
) -> None:
    with WorkerProcesses(2, __name__, [str(tmp_path), "sleep"]) as processes:
        processes.keep_running(0)
        first = wait_for(tmp_path, 2)
        for pid in first:
            os.kill(pid, signal.SIGKILL)
        with pytest.raises(HeadwayError, match=r"worker process ended \(SIGKILL\)"):
            keep_running(processes, 0)
        processes.keep_running(1)
        wait_for(tmp_path, 4)
        pids = [int(entry.name) for entry in tmp_path.iterdir()]
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.slow
def test_a_worker_process_that_fails_ends_the_command(tmp_path: Path) -> None:
    with WorkerProcesses(1, __name__, [str(tmp_path), "error"]) as processes:
        processes.keep_running(0)
        wait_for(tmp_path, 1)
        with pytest.raises(HeadwayError, match="exit code 3"):
            keep_running(processes, 1)


@pytest.mark.slow
def test_an_error_of_the_disk_that_ends_a_worker_process_is_one_of_the_command(
    tmp_path: Path,
) -> None:
    with WorkerProcesses(1, __name__, [str(tmp_path), "full"]) as processes:
        processes.keep_running(0)
        wait_for(tmp_path, 1)
        with pytest.raises(OSError, match=r"\[Errno 28\] No space left on device"):
            keep_running(processes, 1)


def test_clocks_of_machines_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a process still writes to its file is decided by the clock of the disk, because clocks of machines differ."""
    with Member(tmp_path) as member:
        other = tmp_path / "members" / "another-machine-17-abc"
        other.touch()
        for hours in (-1, 1):
            now = time.time() + 3600 * hours
            with monkeypatch.context() as patch:
                patch.setattr(time, "time", lambda now=now: now)
                assert member.is_alive(other.name)
        os.utime(other, (other.stat().st_atime, other.stat().st_mtime - 2 * LEASE))
        assert not member.is_alive(other.name)
