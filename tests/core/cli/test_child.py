"""Commands that a command runs: they get its signals, and end when it ends."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from headway.cli.launch import run_child
from headway.cli.main import main
from support.processes import children, fork, is_running
from support.runs import command


def run_in_child(words):
    sys.exit(run_child(words))


def train_in_ranks(words):
    main([*words, "--ranks", "2"])


def end_both(parent, number, thread=0):
    """Send a signal to a thread of a process that has started others; check that all end, and return its exit code."""
    started = children(parent.pid)
    assert started
    threads = sorted(int(each.name) for each in Path(f"/proc/{parent.pid}/task").iterdir())
    os.kill(threads[thread], number)
    parent.join(60)
    parent.kill()
    end = time.monotonic() + 10
    while any(map(is_running, started)) and time.monotonic() < end:
        time.sleep(0.01)
    assert not any(map(is_running, started))
    return parent.exitcode


# Any thread may receive what has arrived while a process was stopped.
@pytest.mark.parametrize(
    ("number", "thread", "code"), [(signal.SIGKILL, 0, -signal.SIGKILL), (signal.SIGTERM, -1, 143)]
)
def test_a_child_ends_with_the_command(number, thread, code, tmp_path):
    """While it waits for text; to compare texts needs no PyTorch."""
    text = tmp_path / "text"
    os.mkfifo(text)
    parent = fork(run_in_child, ["score", str(text), __file__])
    writer = None
    while writer is None:
        assert parent.is_alive()
        time.sleep(0.01)
        with suppress(OSError):  # the child has not opened it yet
            writer = os.open(text, os.O_WRONLY | os.O_NONBLOCK)
    assert end_both(parent, number, thread) == code
    os.close(writer)


def test_ranks_save_and_end_with_the_command(corpus, tmp_path):
    parent = fork(train_in_ranks, command(tmp_path / "run", corpus, training__max_steps=100_000))
    log = tmp_path / "run" / "metrics.jsonl"
    end = time.monotonic() + 60
    while not (log.exists() and log.stat().st_size) and time.monotonic() < end:
        time.sleep(0.01)
    assert end_both(parent, signal.SIGTERM, -1) == 143
    assert len(list((tmp_path / "run" / "checkpoints").glob("step-*"))) > 1


def test_a_child_does_not_import_from_the_directory_where_it_is_started(tmp_path):
    (tmp_path / "headway.py").write_text("raise SystemExit(99)")
    output = tmp_path / "output"
    program = (
        "import sys; from pathlib import Path; from headway.cli.launch import run_child;"
        f"sys.exit(run_child(['--version'], Path({str(output)!r})))"
    )
    source = str(Path(__file__).parents[3] / "src")
    code = f"import sys; sys.path[0] = {source!r}; {program}"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=dict(os.environ), check=False
    )
    assert done.returncode == 0
    assert output.read_text().startswith("headway ")
