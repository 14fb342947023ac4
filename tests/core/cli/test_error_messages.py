"""The ranks of a launcher print an error once, and end with its exit code."""

import sys
import time

import pytest

from headway.cli import error_messages
from headway.cli.error_messages import print_error
from headway.cli.main import main


def test_the_first_rank_of_a_machine_prints_at_once(monkeypatch, capsys):
    monkeypatch.setattr(error_messages, "PATIENCE", 1000.0)
    monkeypatch.setenv("LOCAL_RANK", "0")
    print_error("a mistake")
    assert capsys.readouterr().err == "a mistake\n"


def test_a_rank_that_the_launcher_does_not_end_prints_later(monkeypatch, capsys):
    monkeypatch.setattr(error_messages, "PATIENCE", 0.1)
    monkeypatch.setenv("LOCAL_RANK", "3")
    started = time.monotonic()
    print_error("a mistake of its own")
    assert capsys.readouterr().err == "a mistake of its own\n"
    assert time.monotonic() - started >= 0.1


def test_a_rank_that_has_lost_another_one_lets_that_one_print_first(monkeypatch, capsys):
    seconds = []
    monkeypatch.setattr(error_messages.time, "sleep", seconds.append)
    monkeypatch.setenv("LOCAL_RANK", "1")
    print_error("a mistake of its own")
    monkeypatch.setenv("LOCAL_RANK", "0")
    print_error("another rank has ended", is_lost_rank=True)
    assert seconds[0] < seconds[1]
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_a_rank_that_the_launcher_ends_is_silent_and_keeps_the_exit_code(monkeypatch, capsys):
    def end(_):
        sys.exit(143)  # as the handler of SIGTERM does

    monkeypatch.setattr(error_messages.time, "sleep", end)
    monkeypatch.setenv("LOCAL_RANK", "1")
    with pytest.raises(SystemExit) as ending:
        main(["no-verb"])
    assert (ending.value.code, capsys.readouterr().err) == (2, "")
