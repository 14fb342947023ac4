"""How busy other programs are, from the processor time that Linux counts."""

import os
import time

import pytest

from headway.ext.best import other_programs
from headway.ext.best.other_programs import OtherPrograms


@pytest.mark.parametrize(
    ("passed", "busy"),
    [
        ({"clock": 10, "all": 15}, 1.5),
        ({"clock": 10, "all": 15, "own": 4, "children": 5}, 0.6),
        ({"clock": 10, "all": 3, "own": 4}, 0.0),  # clocks of the system are coarse
    ],
)
def test_what_this_program_and_its_children_have_used_is_not_counted(
    passed, busy, tmp_path, monkeypatch
):
    stat = tmp_path / "stat"
    now = {"clock": 100.0, "all": 5000.0, "own": 7.0, "children": 3.0}

    def let_pass(**seconds):
        for name, more in seconds.items():
            now[name] += more
        ticks, idle = round(now["all"] * os.sysconf("SC_CLK_TCK") / 6), 10**9
        used = f"cpu  {ticks} {ticks} {ticks} {idle} {idle} {ticks} {ticks} {ticks} 0 0"
        stat.write_text(f"{used}\ncpu0 1\n")

    monkeypatch.setattr(other_programs, "STAT", stat)
    monkeypatch.setattr(time, "monotonic", lambda: now["clock"])
    times = lambda: (now["own"], 0.0, 0.0, now["children"], now["clock"])  # noqa: E731
    monkeypatch.setattr(os, "times", times)
    let_pass()
    others = OtherPrograms()
    let_pass(**passed)
    assert others.busy_cores() == pytest.approx(busy, abs=0.01)
    stat.unlink()  # a system that does not count
    others = OtherPrograms()
    let_pass(clock=10)
    stat.unlink()
    assert others.busy_cores() == 0
