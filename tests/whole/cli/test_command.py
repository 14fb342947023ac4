"""The command line: quick help that fits a screen, mistakes in one line with the right exit code."""

import json
import os
import shlex
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from headway.cli.main import dispatch, main
from headway.cli.verbs import list_verbs
from support.command import BIN, fork_headway, headway
from support.processes import fork


def test_help_takes_less_than_a_third_of_a_second():
    times = []
    for _ in range(5):
        start = os.times()
        assert headway("--help").returncode == 0
        end = os.times()  # processor time, because other processes may run too
        times.append(sum(end[2:4]) - sum(start[2:4]))
    assert statistics.median(times) < 0.3


@pytest.mark.parametrize("verb", list_verbs())
def test_every_verbs_help_fits_a_screen_and_shows_an_example(verb, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as end:
        main([verb, "--help"])
    shown = capsys.readouterr().out
    assert end.value.code == 0
    assert len(shown.splitlines()) <= 40
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert f"headway {verb}" in shown.split("example:")[1]


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from headway.cli.main import dispatch\n"
        "for verb in sys.argv[1:]:\n"
        "    try: dispatch([verb, '--help'])\n"
        "    except SystemExit: pass\n"
        "    heavy = {'torch', 'numpy', 'sacrebleu', 'sentencepiece', 'rich', 'babel'} & set(sys.modules)\n"
        "    assert not heavy, (verb, heavy)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, *list_verbs()], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        # Mistakes with names in UTF-8 are in tests/record/cases/mistakes.txt.
        ("lm x --generate 1 --prompt '\udcff'", 2, "--prompt: is not UTF-8"),
        ("info 'a\udcff'", 2, "MODEL 'a\\udcff': the name is not UTF-8"),
        ("train 'a\udcff' --train a", 2, "RUN 'a\\udcff': the name is not UTF-8"),
    ],
)
def test_a_name_that_is_not_utf8_gives_an_error_of_one_line(line, code, says, capsys):
    with pytest.raises(SystemExit) as end:
        main(shlex.split(line))
    printed = capsys.readouterr()
    assert end.value.code == code, printed.err
    assert says in printed.err
    assert len(printed.err.strip().splitlines()) == 1
    assert printed.out == ""


def test_a_mistake_is_reported_before_torch_is_imported():
    mistakes = [
        (["train", "run", "--preset", "tinny"], 2),
        (["train", "run", "--training.sed", "5"], 2),
        (["train", "run", "--init", "nowhere"], 1),
        (["translate", "nowhere"], 1),
        (["translate", "runs/nowhere"], 1),
        (["translate", "nowhere", "--search.beem", "5"], 2),
        (["evaluate", "runs/nowhere", "--source", "a", "--reference", "b"], 1),
        (["evaluate", ".", "--source", "a", "--reference", "b"], 1),
        (["serve", "runs/nowhere"], 1),
        (["encode", ".", "--out", "vectors.txt"], 2),
        (["heads", ".", "--source", "a", "--reference", "b", "--pairs", "0"], 2),
        (["export", ".", "out", "--to", "argos", "--reference", "b"], 2),
        (["check", ".", "--source", "a"], 1),
    ]
    program = (
        "import sys; from headway.cli.main import main\n"
        f"for words, code in {mistakes!r}:\n"
        "    try: main(words)\n"
        "    except SystemExit as end: assert end.code == code, (words, end.code)\n"
        "    assert 'torch' not in sys.modules, words\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert len(result.stderr.splitlines()) == len(mistakes)


@pytest.mark.parametrize(("output", "said"), [("", "is closed"), ("/dev/full", ": No space")])
@pytest.mark.parametrize("words", ["config", "translate MODEL", "--help", "config --help"])
def test_a_standard_output_that_takes_nothing_is_named(words, output, said, model_directory):
    words = words.replace("MODEL", str(model_directory))
    result = fork_headway(*words.split(), text="the cat\n", output=output)
    assert result.returncode == 1
    notices = ("compiling ",)  # of native code that is not there yet
    [line] = [line for line in result.stderr.splitlines() if not line.startswith(notices)]
    assert line.startswith("headway: standard output")
    assert said in line


def test_a_command_that_prints_nothing_needs_no_standard_output(model_directory, tmp_path):
    path = tmp_path / "out.npy"
    words = ["encode", str(model_directory), "--out", str(path)]
    result = fork_headway(*words, text="the cat\n", output="")
    assert result.returncode == 0, result.stderr
    assert path.read_bytes()


def test_a_reader_that_has_ended_as_head_does_is_no_error():
    done = subprocess.run(f"{BIN} config | head -1", shell=True, capture_output=True, check=False)
    assert done.stderr == b""


def test_without_a_standard_error_messages_do_not_join_the_output():
    result = subprocess.run(
        f"{BIN} nope 2>&-", shell=True, capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stdout) == (2, "")


def test_a_signal_ends_an_export_without_a_trace(model_directory, tmp_path):
    out = tmp_path / "out"
    words = ["export", str(model_directory), str(out), "--to", "ctranslate2", "--no-verify"]

    def export():
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup, it would be ignored
        main(words)

    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
        process = fork(export)
        assert process.pid
        while process.is_alive() and not list(tmp_path.iterdir()):
            time.sleep(0.0002)
        os.kill(process.pid, number)
        process.join()
        assert process.exitcode == (-number if number == signal.SIGKILL else 128 + number)
        assert len(list(tmp_path.iterdir())) == (number == signal.SIGKILL)
    assert dispatch(words) == 0
    assert list(tmp_path.iterdir()) == [out]


def test_a_file_whose_name_is_not_utf8_is_scored(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(b"\xff.de")
    Path(name).write_text("ein Haus am See\n")
    result = fork_headway("score", name, name, "--only", "bleu", "--json")
    assert json.loads(result.stdout)["hypothesis"] == name


def test_a_translation_says_why_native_code_is_missing(
    model_directory, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr("headway.ext.native.decoding.load_library", lambda name: None)
    monkeypatch.setattr("headway.ext.native.library.failure_reason", lambda name: f"no {name} here")
    (tmp_path / "text").write_text("the cat\n")
    files = ["--input", str(tmp_path / "text"), "--output", str(tmp_path / "out")]
    assert dispatch(["translate", str(model_directory), *files, "--device", "cpu"]) == 0
    assert "no decoding here" in capsys.readouterr().err
