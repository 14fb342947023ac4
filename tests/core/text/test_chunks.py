"""Stages of chunks: the same results by any number of workers, and after any kill."""

import multiprocessing
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest

from headway.errors import HeadwayError, LostWorkersError
from headway.text.chunks import CAN_FORK, Stage, Workers, count_results, find_result, run_stage
from headway.text.work_directory import open_work
from support.processes import fork

forks = pytest.mark.skipif(not CAN_FORK, reason="closures reach workers by a fork only")
WAYS = [(1, 1), (1, 3), pytest.param(2, 1, marks=forks), pytest.param(5, 1, marks=forks)]


def write_square(number, directory):
    (directory / "square").write_text(str(number**2))


def read_squares(directory, count):
    folders = [find_result(directory / "squares", number) for number in range(count)]
    return [(folder / "square").read_text() for folder in folders]


@pytest.mark.parametrize(("workers", "threads"), WAYS)
def test_any_number_of_workers_writes_each_result_once(workers, threads, tmp_path):
    def refuse_to_repeat(number, directory):
        (tmp_path / f"done-{number}").touch(exist_ok=False)
        write_square(number, directory)

    for count in (0, 7, 12, 12):
        done = {int(path.name.removeprefix("done-")) for path in tmp_path.glob("done-*")}
        stage = Stage("squares", iter(range(count)), refuse_to_repeat)
        found = sorted(run_stage(stage, tmp_path, Workers(workers, threads)))
        assert found == [(number, number) for number in range(count) if number not in done]
    assert read_squares(tmp_path, 12) == [str(number**2) for number in range(12)]


@pytest.mark.parametrize(("workers", "threads"), WAYS)
def test_chunks_are_read_as_they_are_needed(workers, threads, tmp_path):
    read = []

    def chunks():
        for number in range(100):
            read.append(number)
            yield number

    for taken, _ in enumerate(
        run_stage(Stage("squares", chunks(), write_square), tmp_path, Workers(workers, threads))
    ):
        assert len(read) <= taken + 2 * max(workers, threads) + 2


@forks
def test_a_chunk_is_done_again_once_if_its_worker_is_killed(tmp_path):
    marker = tmp_path / "marker"

    def die_once(number, directory):
        if number == 3 and not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        write_square(number, directory)

    assert len([*run_stage(Stage("squares", range(9), die_once), tmp_path, Workers(2))]) == 9
    assert marker.exists()
    assert read_squares(tmp_path, 9) == [str(number**2) for number in range(9)]


@forks
def test_a_chunk_that_ends_its_workers_is_an_error_and_the_others_are_kept(tmp_path):
    def die(number, directory):
        if number == 3:
            os._exit(7)
        write_square(number, directory)

    with pytest.raises(LostWorkersError, match="the same command goes on"):
        list(run_stage(Stage("squares", range(100), die), tmp_path, Workers(2)))
    assert read_squares(tmp_path, 3) == ["0", "1", "4"]
    assert not multiprocessing.active_children()
    left = run_stage(Stage("squares", range(100), write_square), tmp_path, Workers(2))
    assert 3 in dict(left)


@pytest.mark.parametrize(("workers", "threads"), WAYS)
@pytest.mark.parametrize("error", [HeadwayError("a.en:3: wrong"), OSError(28, "No space", "x")])
def test_an_error_ends_the_stage_and_leaves_no_half_result(error, workers, threads, tmp_path):
    def fail(number, directory):
        write_square(number, directory)
        if number == 4:
            raise error

    with pytest.raises(type(error)) as problem:
        list(run_stage(Stage("squares", range(50), fail), tmp_path, Workers(workers, threads)))
    assert str(problem.value) == str(error)
    assert not find_result(tmp_path / "squares", 4).exists()
    assert not multiprocessing.active_children()


@forks
def test_a_stage_that_is_left_ends_its_workers_at_once(tmp_path):
    def wait(number, directory):
        time.sleep(60 if number else 0)

    began = time.monotonic()
    steps = run_stage(Stage("squares", range(9), wait), tmp_path, Workers(2))
    assert next(steps) == (0, 0)
    steps.close()
    assert not multiprocessing.active_children()
    assert time.monotonic() - began < 30


@forks
def test_workers_end_when_their_parent_is_killed(tmp_path):
    def write_number(number, directory):
        (tmp_path / f"worker-{os.getpid()}").touch()
        time.sleep(60)

    def run():
        list(run_stage(Stage("squares", range(2), write_number), tmp_path, Workers(2)))

    process = fork(run)
    while len(workers := [*tmp_path.glob("worker-*")]) < 2:
        time.sleep(0.01)
    process.kill()
    process.join()
    for worker in workers:
        number = int(worker.name.removeprefix("worker-"))
        deadline = time.monotonic() + 30
        with suppress(ProcessLookupError):
            while Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
                assert time.monotonic() < deadline
                time.sleep(0.01)
                os.kill(number, 0)


def do_some(work, count):
    for _ in run_stage(Stage("squares", range(count), write_square), work.directory):
        pass


def test_a_late_worker_of_other_work_changes_nothing(tmp_path):
    """A command of a cluster was killed, and its worker goes on while the next command has other options."""
    directory, out = tmp_path / "work", tmp_path / "out"
    with open_work(directory, out, {"beam": "4"}) as work:
        do_some(work, 1)
        late = work.directory
    with open_work(directory, out, {"beam": "1"}) as work:
        with pytest.raises(OSError, match="squares"):
            list(run_stage(Stage("squares", range(3), write_square), late))
        late.mkdir()  # or it is so late that nothing has been removed yet
        assert len([*run_stage(Stage("squares", range(3), write_square), late)]) == 3
        assert count_results(work.directory / "squares") == 0
        work.clear()
    assert not directory.exists()


def test_a_deletion_that_was_killed_anywhere_leaves_nothing_half(tmp_path, monkeypatch):
    directory, out = tmp_path / "work", tmp_path / "out"
    left, unlink = 0, os.unlink

    def unlink_or_die(path, *args, **options):
        nonlocal left
        left -= 1
        if not left:
            raise KeyboardInterrupt
        unlink(path, *args, **options)

    for moment in range(1, 100):
        with open_work(directory, out, {}) as work:
            do_some(work, 3)
        left = moment
        with monkeypatch.context() as patch:
            patch.setattr(os, "unlink", unlink_or_die)
            try:
                with open_work(directory, out, {"settings": "other"}):
                    break
            except KeyboardInterrupt:
                pass
        with open_work(directory, out, {}) as work:
            for number in range(count_results(work.directory / "squares")):
                assert (find_result(work.directory / "squares", number) / "square").exists()
    assert moment > 3


class OddError(Exception):
    """Cannot be made again from its arguments."""

    def __init__(self, one, two):
        super().__init__(f"{one} is not {two}")


@forks
def test_an_error_that_cannot_travel_is_told(tmp_path):
    def fail(number, directory):
        raise OddError(number, 2)

    with pytest.raises(RuntimeError, match="OddError: 1 is not 2"):
        list(run_stage(Stage("squares", [1], fail), tmp_path, Workers(2)))
