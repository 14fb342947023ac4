"""Ranks train together what one process trains, bit for bit, and end together."""

import os
import shutil
import signal
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest
import torch
from torch.distributed.launcher.api import elastic_launch
from torch.distributed.run import config_from_args, parse_args

from headway.cli import launch
from headway.cli.main import dispatch, main
from headway.errors import HeadwayError, UsageError
from headway.training import parallel
from headway.training.run import run_to_end
from headway.training.steps import gradient_sum
from headway.training.steps.gradient_sum import (
    Subtree,
    add_halves,
    share_of,
)
from headway.training.steps.trainer import StepReport
from headway.training.storage.run_directory import RunDirectory
from support.processes import children, fail_or_sleep, fork, use_one_core
from support.ranks import in_ranks
from support.runs import assert_equal_runs, command, metrics, opened

# Four micro-batches in a step, so that up to four ranks can share it. Muon's work is shared, too.
FOUR = {"training__batch_tokens": 280, "training__max_steps": 9, "training__optimizer": "muon"}


@pytest.fixture(scope="module")
def alone(corpus, tmp_path_factory):
    """A run of one process."""
    path = tmp_path_factory.mktemp("alone") / "run"
    assert dispatch(command(path, corpus, **FOUR)) == 0
    return path


def ranks_command(path, corpus, ranks, **changes):
    return [*command(path, corpus, **FOUR | changes), "--ranks", str(ranks)]


def start_ranks(words):
    """Be ``torchrun --standalone`` with two ranks, which are forked: start a command in each."""
    options = ["--nproc-per-node=2", "--rdzv-backend=c10d", "--rdzv-endpoint=localhost:0"]
    config, *_ = config_from_args(parse_args([*options, "command"]))
    config.start_method = "fork"
    codes = elastic_launch(config, run_command)(words)
    assert codes == {0: 0, 1: 0}


def run_command(words):
    """In a rank: run a command to its end."""
    use_one_core()
    code = dispatch(words)
    # If a thread of the library still runs when the interpreter ends, the process may end with SIGABRT.
    threads = []
    for file in Path("/proc/self/task").glob("*/comm"):
        with suppress(OSError):  # the thread has ended in this moment
            threads.append(file.read_text())
    assert "gloo" not in str(threads)
    return code


def test_ranks_train_the_weights_of_one_process_bit_for_bit_and_leave_no_thread_behind(
    corpus, alone, tmp_path
):
    path = tmp_path / "run"
    process = fork(start_ranks, command(path, corpus, **FOUR, training__threads=2))
    process.join(200)
    assert process.exitcode == 0
    assert_equal_runs(path, alone)
    assert RunDirectory(path).record().identity == RunDirectory(alone).record().identity


def test_a_killed_rank_costs_one_interval_and_another_number_of_ranks_goes_on(
    corpus, alone, tmp_path, capfd, forked_ranks
):
    """One rank at first, then two of which one is killed, then the restarted two."""
    path = tmp_path / "run"
    assert dispatch(command(path, corpus, **FOUR | {"training__max_steps": 4})) == 0
    process = fork(main, ["train", str(path), "--ranks", "2", "--training.max-steps", "9"])
    deadline = time.monotonic() + 120
    while metrics(path)[-1]["step"] < 6 and time.monotonic() < deadline:
        time.sleep(0.01)
    ranks = children(process.pid)
    assert len(ranks) == 2
    os.kill(ranks[1], signal.SIGKILL)
    process.join(200)
    assert not process.is_alive()
    said = capfd.readouterr().err
    assert process.exitcode == 0, said
    assert "a rank of this training was ended by SIGKILL; the training goes on" in said
    assert_equal_runs(path, alone)


def test_an_exchange_with_a_lost_rank_gives_a_message_of_one_line(monkeypatch):
    def fail(*args, **kwargs):
        raise RuntimeError("Connection reset by peer")

    names = ("all_gather", "barrier", "batch_isend_irecv")
    for name in names:
        monkeypatch.setattr(parallel.distributed, name, fail)
    monkeypatch.setattr(parallel, "world_size", lambda: 2)
    monkeypatch.setattr(parallel, "_patient", [None])
    for exchange in (
        parallel.wait,
        parallel.wait_for_first,
        lambda: parallel.maximum([1]),
        lambda: parallel.sum_counts([1]),
        lambda: parallel.exchange([], []),
    ):
        with pytest.raises(HeadwayError, match="another rank of this training has ended"):
            exchange()


SHAPES = [torch.Size([3, 5]), torch.Size([16]), torch.Size([]), torch.Size([2])]


def sum_gradients(counts, kinds):
    """In a rank: sum random gradients of a few steps of so many micro-batches, by exchanges of these kinds."""
    found = []
    differences = parallel.find_differences(
        {"same": "ä", "other": str(parallel.rank() % 2), "": ""}
    )
    assert differences == (["other"] if parallel.world_size() > 1 else [])
    for count in counts:
        for kind in kinds:
            may_share = kind != "messages"
            exchange = gradient_sum.connect(SHAPES, count, torch.device("cpu"), may_share=may_share)
            if parallel.world_size() > 1:
                assert exchange.__self__.is_shared == may_share
            found.append([sum_step(exchange, step) for step in range(count, 0, -1)])
    return found


def sum_step(exchange, count):
    def compute(number):
        torch.manual_seed(1000 * count + number)
        return [torch.randn(shape) * 1e3 for shape in SHAPES]

    share = share_of(parallel.rank(), parallel.world_size(), count)
    parts = add_halves((Subtree(number, 1), compute(number)) for number in share)
    return [tensor.tolist() for tensor in exchange(parts, count)]


def test_shared_memory_and_messages_give_the_same_sums():
    counts = 3, 8
    first, *others = in_ranks(3, sum_gradients, counts, ("shared", "messages"))
    alone = sum_gradients(counts, ("alone",))
    assert first == [sums for sums in alone for _ in ("shared", "messages")]
    assert others == [first] * 2


def test_more_ranks_than_micro_batches_are_refused(corpus, tmp_path, monkeypatch):
    message = r"^5 ranks: a step has 4 micro-batches .* start 4 ranks or fewer"
    with pytest.raises(UsageError, match=message):
        dispatch(ranks_command(tmp_path / "run", corpus, 5))
    monkeypatch.setenv("WORLD_SIZE", "5")  # as a launcher sets it
    with pytest.raises(UsageError, match=message):
        dispatch(command(tmp_path / "run", corpus, **FOUR))
    assert not (tmp_path / "run").exists()


def test_the_mistake_of_a_user_is_printed_once(corpus, tmp_path, capfd, forked_ranks):
    path = tmp_path / "run"
    shutil.copy(corpus[2], tmp_path / "empty.de")
    (tmp_path / "empty.de").write_text("")
    words = ranks_command(path, [corpus[0], corpus[1], str(tmp_path / "empty.de"), *corpus[3:]], 2)
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 1
    said = capfd.readouterr().err
    assert said.startswith("headway: "), said
    assert str(tmp_path / "empty.de") in said
    assert len(said.splitlines()) == 1, said
    assert not RunDirectory(path).started


def test_a_rank_that_does_not_notice_the_error_of_another_is_ended(capfd, forked_ranks):
    started = time.monotonic()
    assert launch.launch(fail_or_sleep, (60.0,), 2) == 1
    assert time.monotonic() - started < 30
    assert capfd.readouterr().err == "headway: the first rank has failed\n"


def test_ranks_that_differ_are_named(monkeypatch, corpus, tmp_path):
    monkeypatch.setattr(parallel, "find_differences", lambda values: list(values)[1:3])
    with pytest.raises(
        HeadwayError, match="differ in the version of PyTorch, the native code: all"
    ):
        dispatch(command(tmp_path / "run", corpus))


def test_a_rank_that_stops_alone_saves_nothing(monkeypatch, corpus, tmp_path):
    run = opened(tmp_path / "run", command(tmp_path / "run", corpus))
    for event in (events := run_to_end(run)):
        if isinstance(event, StepReport) and event.step == 4:
            break
    monkeypatch.setattr(parallel, "world_size", lambda: 2)
    events.close()
    run.directory.unlock()
    assert run.directory.steps()[-1] == 3


def test_ranks_that_cannot_connect_end_with_one_line(monkeypatch):
    variables = {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "9"}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(parallel, "LIMIT", timedelta(seconds=1))
    with pytest.raises(HeadwayError, match=r"could not connect .* GLOO_SOCKET_IFNAME") as found:
        parallel.join()
    assert "\n" not in str(found.value)
    monkeypatch.delenv("MASTER_ADDR")
    with pytest.raises(HeadwayError, match="environment variable MASTER_ADDR expected"):
        parallel.join()
