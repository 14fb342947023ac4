"""`headway translate --workers N --part K/N`: always the bytes of one process."""

import argparse
import gzip
import multiprocessing
import os
import random
import signal
import threading
from pathlib import Path

import pytest
import torch

from headway.cli import file_translation
from headway.cli.file_plan import plan_file
from headway.cli.main import dispatch, main
from headway.errors import HeadwayError, UsageError
from headway.ext.native import decoding
from headway.translation import translator
from headway.translation.line_files import output_parts, resumable_output
from headway.translation.line_files.forked_workers import IS_SUPPORTED
from headway.translation.line_files.output_parts import OutputPart
from support.processes import fork
from support.toy_models import sentences

WINDOW = 5
needs_workers = pytest.mark.skipif(not IS_SUPPORTED, reason="workers are forked on Linux only")


class Killed(BaseException):
    """Stands for SIGKILL: nothing of the program may handle it."""


@pytest.fixture(autouse=True)
def _small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translator, "WINDOW", WINDOW)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "text.en"
    path.write_text("\n".join([*sentences(31, 4), "", *sentences(15, 5)]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def whole(model_directory: Path, source: Path, tmp_path: Path) -> bytes:
    """The output of one process."""
    run(model_directory, source, tmp_path / "whole.gz", "--workers", "1")
    return (tmp_path / "whole.gz").read_bytes()


def run(model: Path, source: Path, out: Path, *words: str) -> None:
    wanted = ["--search.max-extra", "7", "--search.beam", "2", *words]
    dispatch(["translate", str(model), "--input", str(source), "--output", str(out), *wanted])


def beside(out: Path) -> set[str]:
    """The files in the directory of an output that belong to it."""
    return {path.name for path in out.parent.iterdir() if path.name.startswith(out.name)}


@pytest.mark.slow
@needs_workers
@pytest.mark.parametrize("workers", ["1", "2", "3"])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_bytes_depend_on_neither_workers_nor_parts(
    workers: str, count: int, whole: bytes, model_directory: Path, source: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.gz"
    order = random.Random(count).sample(range(1, count + 1), count)
    for number in order:
        assert not out.exists()
        run(
            model_directory, source, out, "--workers", workers, "--part", f"{number}/{count}",
            "--threads", "2",
        )  # fmt: skip
    assert out.read_bytes() == whole
    assert beside(out) == {"out.gz"} | ({"out.gz.parts.json"} if count > 1 else set())


@pytest.mark.parametrize("total", [0, 1, 4, 5, 6, 47, 100])
def test_parts_begin_with_windows_and_cover_all_lines(total: int) -> None:
    for count in (1, 2, 5, 30):
        parts = [OutputPart(k, count).lines(total, WINDOW) for k in range(1, count + 1)]
        assert [line for part in parts for line in part] == list(range(total))
        assert all(part.start % WINDOW == 0 or not part for part in parts)


@pytest.mark.slow
def test_more_parts_than_windows_and_an_empty_input(
    whole: bytes, model_directory: Path, source: Path, tmp_path: Path
) -> None:
    for number in range(1, 13):
        run(model_directory, source, tmp_path / "many.gz", "--part", f"{number}/12")
    assert (tmp_path / "many.gz").read_bytes() == whole
    source.write_text("")
    for number in (2, 1):
        run(model_directory, source, tmp_path / "none.gz", "--part", f"{number}/2")
    assert (tmp_path / "none.gz").read_bytes() == gzip.compress(b"", mtime=0)


@pytest.mark.slow
@needs_workers
@pytest.mark.parametrize("is_repeated", [False, True])
def test_a_window_whose_worker_is_killed_is_done_again_once(
    is_repeated: bool,
    whole: bytes,
    model_directory: Path,
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out, marker, format_lines = (
        tmp_path / "out.gz",
        tmp_path / "marker",
        file_translation.format_lines,
    )
    killed = source.read_text().splitlines()[3 * WINDOW]

    def end(line, *rest):
        if line == killed and (is_repeated or not marker.exists()):
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return format_lines(line, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(file_translation, "format_lines", end)
        if is_repeated:
            with pytest.raises(
                HeadwayError, match=r"^two worker processes ended at the same lines"
            ):
                run(model_directory, source, out, "--workers", "2")
        else:
            run(model_directory, source, out, "--workers", "2")
    assert marker.exists()
    if is_repeated:
        run(model_directory, source, out, "--workers", "1")
    assert out.read_bytes() == whole
    assert beside(out) == {"out.gz"}


def run_until_killed(*arguments) -> None:
    """Translate a window, and kill this process."""
    append = resumable_output.ResumableOutput.append

    def append_and_end(output, text, lines):
        append(output, text, lines)
        os.kill(os.getpid(), signal.SIGKILL)

    resumable_output.ResumableOutput.append = append_and_end
    run(*arguments)


@pytest.mark.slow
@needs_workers
@pytest.mark.parametrize("part", [[], ["--part", "1/1"], ["--part", "2/2"]])
def test_a_parent_that_is_killed_goes_on_with_the_same_bytes(
    part: list[str],
    whole: bytes,
    model_directory: Path,
    source: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out.gz"
    words = [*part, "--workers", "2"]
    for _ in range(3):
        process = fork(run_until_killed, model_directory, source, out, *words)
        process.join()
        assert process.exitcode == -signal.SIGKILL
    run(model_directory, source, out, *words)
    name = f"{out}{'.2-of-2' if '2/2' in part else ''}"
    assert f"{name}: goes on after line {3 * WINDOW}\n" in capfd.readouterr().err
    if "2/2" in part:
        run(model_directory, source, out, "--part", "1/2")
    assert out.read_bytes() == whole


@pytest.mark.slow
@needs_workers
def test_control_c_ends_the_workers_and_the_same_command_goes_on(
    whole: bytes,
    model_directory: Path,
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out, append = tmp_path / "out.gz", resumable_output.ResumableOutput.append

    def append_twice(output, text, lines):
        if output.lines == 2 * WINDOW:
            raise KeyboardInterrupt
        append(output, text, lines)

    with monkeypatch.context() as patch:
        patch.setattr(resumable_output.ResumableOutput, "append", append_twice)
        with pytest.raises(KeyboardInterrupt):
            run(model_directory, source, out, "--workers", "3")
    assert not multiprocessing.active_children()
    assert f"{out}: stopped after line 10: the same command goes on" in capsys.readouterr().err
    run(model_directory, source, out, "--workers", "2")
    assert f"{out}: goes on after line 10\n" in capsys.readouterr().err
    assert out.read_bytes() == whole


@pytest.mark.slow
def test_a_join_that_is_killed_anywhere_is_done_again(
    whole: bytes,
    model_directory: Path,
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out, left = tmp_path / "out.gz", [0]
    with monkeypatch.context() as patch:
        patch.setattr(output_parts, "join_parts", lambda *_: ["-"])
        for number in (1, 2, 3):
            run(model_directory, source, out, "--part", f"{number}/3")
    parts = {path: path.read_bytes() for path in tmp_path.glob("out.gz.*")}
    assert len(parts) == 6

    def sometimes_killed(function):
        def call(*args, **options):
            left[0] -= 1
            if left[0] == 0:
                raise Killed
            return function(*args, **options)

        return call

    for owner, name in [(os, "fsync"), (Path, "replace"), (Path, "unlink")]:
        monkeypatch.setattr(owner, name, sometimes_killed(getattr(owner, name)))
    for moment in range(1, 100):
        out.unlink(missing_ok=True)
        for path, content in parts.items():
            path.write_bytes(content)
        left[0] = moment
        try:
            run(model_directory, source, out, "--part", "2/3")
            break
        except Killed:
            assert not out.exists() or out.read_bytes() == whole
            run(model_directory, source, out, "--part", "2/3")
        assert out.read_bytes() == whole
        assert beside(out) == {"out.gz", "out.gz.parts.json"}
    assert 14 < moment < 99


@pytest.mark.slow
def test_finished_parts_say_what_is_missing_and_a_finished_output_is_left_alone(
    whole: bytes,
    model_directory: Path,
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out.gz"
    run(model_directory, source, out, "--part", "3/3")
    assert f"{out}: part 3 of 3 is finished; unfinished: 1, 2\n" in capsys.readouterr().err
    run(model_directory, source, out, "--part", "1/3", "--scores")
    said = capsys.readouterr().err
    assert f"{out}: part 1 of 3 is finished; unfinished: 2, 3 (of another settings)\n" in said
    run(model_directory, source, out, "--part", "2/3")
    said = capsys.readouterr().err
    assert f"{out}: part 2 of 3 is finished; unfinished: 1 (of another settings)\n" in said
    assert not out.exists()
    run(model_directory, source, out, "--part", "1/3")
    said = capsys.readouterr().err
    assert f"{out}.1-of-3: starts again from line 1 (changed since: settings)" in said
    assert f"{out}: all 3 parts are joined\n" in said
    assert out.read_bytes() == whole
    with monkeypatch.context() as patch:
        patch.setattr(file_translation, "_translate_rest", None)
        run(model_directory, source, out, "--part", "1/3")
    assert f"{out}: is finished already\n" in capsys.readouterr().err
    run(model_directory, source, out, "--part", "1/3", "--search.alpha", "0.9")
    assert f"{out}: part 1 of 3 is finished; unfinished: 2, 3\n" in capsys.readouterr().err
    out.unlink()
    run(model_directory, source, out, "--part", "2/3")
    said = capsys.readouterr().err
    assert f"{out}: part 2 of 3 is finished; unfinished: 1 (of another settings), 3\n" in said


def test_a_part_that_was_interrupted_is_not_joined(tmp_path: Path) -> None:
    path = tmp_path / "out"
    for number in (1, 2):
        part = OutputPart(number, 2).suffix
        with resumable_output.ResumableOutput(path, {"model": "x"}, part) as output:
            output.append("a\n", 1)
            if number == 1:
                output.finish_part()
    assert output_parts.join_parts(path, {"model": "x"}, 2) == ["2"]
    assert not path.exists()


def test_a_part_that_begins_again_is_not_joined_as_it_was(tmp_path: Path) -> None:
    """Although it is killed before it has written anything."""
    path = tmp_path / "out"
    finish_parts(path, ["a\n", "b\n", "c\n"])
    part = OutputPart(1, 3).suffix
    with resumable_output.ResumableOutput(path, {"model": "y"}, part) as output:
        assert output.dropped == "changed since: model"
    assert output_parts.join_parts(path, {"model": "x"}, 3) == ["1"]
    finish_parts(path, ["a\n", "b\n", "c\n"])
    text, _ = resumable_output.unfinished_files(path, part)
    text.write_text("a")  # a disk that has lost what was written
    assert output_parts.join_parts(path, {"model": "x"}, 3) == ["1"]


def finish_parts(path: Path, texts: list[str]) -> None:
    for number, text in enumerate(texts, 1):
        part = OutputPart(number, len(texts)).suffix
        with resumable_output.ResumableOutput(path, {"model": "x"}, part) as output:
            output.append(text, text.count("\n"))
            output.finish_part()


def join(path: Path) -> None:
    assert output_parts.join_parts(path, {"model": "x"}, 3) == []


@pytest.mark.slow
def test_processes_that_join_at_the_same_time_do_no_harm(tmp_path: Path) -> None:
    path, texts = tmp_path / "out", [f"{number}\n" * 200_000 for number in range(3)]
    finish_parts(path, texts)
    for process in [fork(join, path) for _ in range(4)]:
        process.join()
        assert process.exitcode == 0
    assert path.read_text() == "".join(texts)
    assert beside(path) == {"out", "out.parts.json"}
    assert not list(tmp_path.glob(".tmp-*"))


def test_parts_that_are_joined_while_they_are_read_are_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, read = tmp_path / "out", resumable_output.State.read
    finish_parts(path, ["a\n", "b\n", "c\n"])

    def read_late(file: Path) -> resumable_output.State:
        monkeypatch.undo()
        join(path)
        return read(file)

    monkeypatch.setattr(resumable_output.State, "read", read_late)
    join(path)
    assert path.read_text() == "a\nb\nc\n"


@pytest.mark.slow
def test_a_join_waits_for_a_process_that_has_just_finished(tmp_path: Path) -> None:
    path = tmp_path / "out"
    finish_parts(path, ["a\n", "b\n", "c\n"])
    with resumable_output.ResumableOutput(path, {"model": "x"}, ".2-of-3"):
        joining = threading.Thread(
            target=join, args=(path,)
        )  # a forked process would hold the lock, too
        joining.start()
        joining.join(0.3)
        assert joining.is_alive()
        assert not path.exists()
    joining.join()
    assert path.read_text() == "a\nb\nc\n"


@pytest.mark.slow
def test_a_second_process_of_the_same_part_is_refused(
    model_directory: Path, source: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    with resumable_output.ResumableOutput(out, {}, ".1-of-2"):
        process = fork(run, model_directory, source, out, "--part", "1/2")
        process.join()
        assert process.exitcode == 1
        assert "out.1-of-2: another process is writing this file\n" in capfd.readouterr().err
        run(model_directory, source, out, "--part", "2/2")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--part", "5/4"], "--part: 5/4: must be K/N with K from 1 to N, such as 1/8"),
        (["--part", "0/4"], "--part: 0/4: must be"),
        (["--part", "1"], "--part: 1: must be"),
        (["--part", "1/2/3"], "--part: 1/2/3: must be"),
        (["--workers", "0"], "--workers 0: must be 1 or more"),
        (["--workers", "-2"], "--workers -2: must be 1 or more"),
    ],
)
def test_mistakes_are_named_once_before_the_model_is_loaded(
    words: list[str],
    message: str,
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(translator.Translator, "load", None)
    files = ["--input", str(source), "--output", str(tmp_path / "out")]
    with pytest.raises(SystemExit) as end:
        main(["translate", str(tmp_path), *files, *words])
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_a_gpu_has_one_process(source: Path, tmp_path: Path) -> None:
    args = argparse.Namespace(
        input=str(source), output=str(tmp_path / "out"), part=(2, 3), workers=None
    )
    plan = plan_file(args, 4, torch.device("cuda"))
    assert (plan.workers, plan.threads, plan.lines) == (1, 4, range(15, 30))
    args.workers = 2
    with pytest.raises(
        UsageError, match=r"^--workers 2: needs Linux and a processor: for each GPU"
    ):
        plan_file(args, 4, torch.device("cuda"))


@needs_workers
def test_workers_share_the_threads_and_each_has_a_window(source: Path, tmp_path: Path) -> None:
    args = argparse.Namespace(
        input=str(source), output=str(tmp_path / "out"), part=None, workers=None
    )
    plans = {threads: plan_file(args, threads, torch.device("cpu")) for threads in (1, 4, 64)}
    assert {t: (p.workers, p.threads) for t, p in plans.items()} == {
        1: (1, 1),
        4: (4, 1),
        64: (10, 6),
    }
    args.workers, args.part = 3, (4, 4)
    plan = plan_file(args, 8, torch.device("cpu"))
    assert (plan.workers, plan.threads, plan.lines) == (3, 2, range(35, 47))


@pytest.mark.slow
@needs_workers
def test_without_native_code_the_text_depends_on_the_threads(
    model_directory: Path,
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(decoding, "library", lambda: None)
    out = tmp_path / "out"
    for number, threads in [(1, "2"), (2, "1"), (1, "1")]:
        files = ["--part", f"{number}/2", "--workers", "1", "--threads", threads]
        run(model_directory, source, out, *files)
    said = capsys.readouterr().err
    assert "part 2 of 2 is finished; unfinished: 1 (of another threads)" in said
    assert "out.1-of-2: starts again from line 1 (changed since: threads)" in said
    assert "all 2 parts are joined" in said


@pytest.mark.parametrize("words", [["--workers", "2"], ["--part", "1/2"]])
def test_workers_and_parts_need_files(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        dispatch(["translate", ".", *words])
    assert end.value.code == 2
    assert f"{words[0]} needs --input and --output" in capsys.readouterr().err
