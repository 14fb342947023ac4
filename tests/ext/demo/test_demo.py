"""How ``headway demo`` ends: with the page, only where a person sits before a screen."""

import io
import signal

import pytest

from headway.cli.main import dispatch
from headway.cli.verbs import train
from headway.ext.demo import screen
from headway.ext.demo.verbs import demo
from support.cases import each_case


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def sit_before(monkeypatch):
    """Set whether this process has a terminal, and its variables."""

    def set_up(*, is_terminal, **variables):
        stream = Terminal if is_terminal else io.StringIO
        for name in ("stdin", "stdout"):
            monkeypatch.setattr(f"sys.{name}", stream())
        for name in ("DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION", "SSH_TTY"):
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr("sys.platform", "linux")

    return set_up


@each_case
def test_a_screen_is_one_before_which_a_person_sits(is_terminal, variables, expected, sit_before):
    sit_before(is_terminal=is_terminal, **variables)
    assert screen.has_screen() is expected


@pytest.mark.parametrize(
    ("words", "variables", "opens"),
    [([], {"DISPLAY": ":0"}, True), (["--no-browser"], {"DISPLAY": ":0"}, False), ([], {}, False)],
)
def test_the_demo_ends_with_the_page_if_there_is_a_screen(
    words, variables, opens, sit_before, monkeypatch, tmp_path
):
    pytest.importorskip("granian")
    commands = []

    def run_child(command):
        commands.append(command)
        return 128 + signal.SIGINT  # the user ends the server with Ctrl-C

    monkeypatch.setattr("headway.cli.run_child", run_child)
    monkeypatch.setattr(train, "run", lambda args: 0)
    monkeypatch.setattr(demo, "make_corpus", lambda *_: tmp_path)
    monkeypatch.setattr(demo, "show", lambda *_: None)
    sit_before(is_terminal=True, **variables)
    assert dispatch(["demo", str(tmp_path / "run"), *words]) == 0
    assert [command[:2] for command in commands] == opens * [["serve", str(tmp_path / "run")]]
    assert all("--open" in command for command in commands)
