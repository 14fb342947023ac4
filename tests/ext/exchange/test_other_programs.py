"""How busy other programs are, from the processor time that Linux counts."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from headway.ext.exchange import other_programs
from headway.ext.exchange.other_programs import OtherPrograms

TICKS = os.sysconf("SC_CLK_TCK")


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Returns a function that lets seconds pass: wall clock, all programs, this one and its children."""
    stat = tmp_path / "stat"
    now = {"clock": 100.0, "all": 5000.0, "own": 7.0, "children": 3.0}

    def advance(**seconds: float) -> None:
        for name, more in seconds.items():
            now[name] += more
        busy, idle = round(now["all"] * TICKS / 6), 10**9
        stat.write_text(
            f"cpu  {busy} {busy} {busy} {idle} {idle} {busy} {busy} {busy} 0 0\ncpu0 1\n"
        )

    advance()
    monkeypatch.setattr(other_programs, "STAT", stat)
    monkeypatch.setattr(time, "monotonic", lambda: now["clock"])
    own = lambda: (now["own"], 0.0, 0.0, now["children"], now["clock"])  # noqa: E731
    monkeypatch.setattr(os, "times", own)
    return advance


@pytest.mark.parametrize(
    ("passed", "busy"),
    [
        ({"clock": 10, "all": 0}, 0.0),
        ({"clock": 10, "all": 15}, 1.5),
        ({"clock": 10, "all": 15, "own": 9}, 0.6),
        ({"clock": 10, "all": 15, "own": 4, "children": 11}, 0.0),
        ({"clock": 10, "all": 3, "own": 4}, 0.0),  # clocks of the system are coarse
    ],
)
def test_what_this_program_and_its_children_have_used_is_not_counted(machine, passed, busy):
    others = OtherPrograms()
    machine(**passed)
    assert others.busy_cores() == pytest.approx(busy, abs=0.01)


def test_work_before_is_not_counted(machine):
    machine(clock=60, all=120)
    others = OtherPrograms()
    machine(clock=10)
    assert others.busy_cores() == 0


def test_a_system_that_does_not_count_names_no_other_programs(machine, tmp_path):
    (tmp_path / "stat").unlink()
    others = OtherPrograms()
    machine(clock=10)
    (tmp_path / "stat").unlink()
    assert others.busy_cores() == 0


@pytest.mark.slow
@pytest.mark.skipif(not other_programs.STAT.exists(), reason="needs the counters of Linux")
def test_a_program_that_runs_is_counted():
    code = "import time\nwhile True: time.process_time()"
    with subprocess.Popen([sys.executable, "-c", code]) as child:
        try:
            before = other_programs._count_others()
            used = _read_seconds(child.pid)
            while _read_seconds(child.pid) < used + 0.3:
                time.sleep(0.01)
            assert other_programs._count_others() - before > 0.2
        finally:
            child.kill()


def _read_seconds(pid: int) -> float:
    """Return how much processor time a process has used."""
    with Path(f"/proc/{pid}/stat").open() as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS
