"""`headway translate --input --output`: killed at any moment, it goes on to the same bytes."""

import codecs
import gzip
import json
import multiprocessing
import os
import random
import shutil
import time
from contextlib import redirect_stderr
from pathlib import Path

import pytest
import torch

from headway.cli import file_translation
from headway.cli.main import dispatch
from headway.cli.progress import LineProgress
from headway.errors import HeadwayError, UsageError
from headway.ext.cuda.fixed_engine import FixedEngine
from headway.ext.native import decoding
from headway.text.chunks import CAN_FORK
from headway.text.lines import open_bytes, read_lines
from headway.text.work_directory import WorkDirectory
from headway.translation import token_search, translator
from support.processes import fork
from support.toy_models import sentences

needs_workers = pytest.mark.skipif(not CAN_FORK, reason="workers are forked on Linux only")
WINDOW = 5  # lines that are translated together here, so that a small file has many windows
MODES = ([], ["--scores"], ["--json", "--search.n-best", "2"], ["--alignment", "--prefix", "die"])


class Killed(BaseException):
    """Stands for SIGKILL: nothing of the program may handle it."""


@pytest.fixture(autouse=True)
def _small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_translation, "WINDOW", WINDOW)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "text.en"
    lines = [*sentences(31, 4), "", *sentences(17, 5)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def run(model: Path, source: Path, out: Path, *words: str) -> None:
    wanted = ["--search.max-extra", "7", "--threads", "1", *words]
    dispatch(["translate", str(model), "--input", str(source), "--output", str(out), *wanted])


def beside(out: Path) -> set[str]:
    """The files in the directory of an output, but for input and output."""
    return {path.name for path in out.parent.iterdir()} - {out.name, "text.en", "whole", "log"}


def test_plain_output_has_as_many_lines_for_each_line(
    model_directory: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = ["the cat sees", "", "{a}: {b}", "the dog"]
    source, out = tmp_path / "text.en", tmp_path / "out"
    source.write_text("\n".join(lines) + "\n")
    run(model_directory, source, out, "--search.n-best", "3")
    written = out.read_text().split("\n")
    assert len(written) == 3 * len(lines) + 1
    assert written[3:9] == [""] * 3 + ["{a}: {b}"] * 3
    assert len(set(written[:3])) == len(set(written[9:12])) == 3
    with source.open() as file:
        monkeypatch.setattr("sys.stdin", file)
        words = ["--search.max-extra", "7", "--threads", "1", "--search.n-best", "3"]
        dispatch(["translate", str(model_directory), *words])
    assert capsys.readouterr().out.split("\n") == written


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES, ids=" ".join)
def test_an_output_that_was_interrupted_anywhere_has_the_bytes_of_an_uninterrupted_one(
    mode: list[str],
    model_directory: Path,
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole, out = tmp_path / "whole", tmp_path / "out"
    run(model_directory, source, whole, *mode)
    chooser, calls = random.Random(3), [0]

    def sometimes_killed(function):
        def call(*args, **options):
            calls[0] -= 1
            if calls[0] == 0:
                raise Killed
            return function(*args, **options)

        return call

    # Kill before a write, between text and state, in the middle of the state, and before the renaming.
    monkeypatch.setattr(os, "fsync", sometimes_killed(os.fsync))
    monkeypatch.setattr(Path, "replace", sometimes_killed(Path.replace))
    kills = 0
    while not out.exists():
        calls[0] = chooser.randrange(1, 12)
        try:
            run(model_directory, source, out, *mode)
        except Killed:
            kills += 1
    assert kills > 2
    assert out.read_bytes() == whole.read_bytes()
    assert not beside(out)


@pytest.mark.slow
@needs_workers
def test_the_bytes_do_not_depend_on_workers(
    model_directory: Path, source: Path, tmp_path: Path
) -> None:
    whole, out = tmp_path / "whole.gz", tmp_path / "out.gz"
    run(model_directory, source, whole, "--workers", "1")
    for workers in ("2", "3", "64"):
        run(model_directory, source, out, "--workers", workers, "--threads", "2")
        assert out.read_bytes() == whole.read_bytes()
        out.unlink()
    source.write_text("")
    run(model_directory, source, out, "--workers", "2")
    assert out.read_bytes() == gzip.compress(b"", mtime=0)


@pytest.mark.slow
@needs_workers
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_process_that_is_killed_goes_on_where_it_was(
    workers: str, model_directory: Path, source: Path, tmp_path: Path
) -> None:
    whole, out = tmp_path / "whole.gz", tmp_path / "out.gz"
    source.write_text(source.read_text() * 8)
    run(model_directory, source, whole, "--workers", workers)
    log = tmp_path / "log"

    def run_with_log() -> None:
        with log.open("w", buffering=1) as file, redirect_stderr(file):
            run(model_directory, source, out, "--workers", workers)

    chooser, done = random.Random(7), [0]
    for _ in range(3):
        process = fork(run_with_log)
        while process.is_alive() and not count_windows(out) > done[-1]:
            time.sleep(0.002)
        time.sleep(chooser.uniform(0, 0.05))
        process.kill()
        process.join()
        said = log.read_text()
        lines = f"{done[-1] * WINDOW:,} of 392 lines are done\n"
        assert (f"goes on, {lines}" in said) == (done[-1] > 0), said
        if out.exists():
            break
        done.append(count_windows(out))
    run(model_directory, source, out, "--workers", workers)
    assert len(done) > 2
    assert out.read_bytes() == whole.read_bytes()
    assert not beside(out) - {"whole.gz"}


def count_windows(out: Path) -> int:
    """How many windows of an unfinished output are finished."""
    return len([*out.with_name(f".translating-{out.name}").glob("*/lines/0*/[0-9]*")])


@pytest.mark.slow
@needs_workers
def test_control_c_ends_the_workers_and_the_same_command_goes_on(
    model_directory: Path, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(model_directory, source, tmp_path / "whole")
    out = tmp_path / "out"
    interrupt(monkeypatch, model_directory, source, out, "--workers", "3")
    assert not multiprocessing.active_children()
    run(model_directory, source, out, "--workers", "2")
    assert out.read_bytes() == (tmp_path / "whole").read_bytes()


def test_a_gpu_has_one_process() -> None:
    count = file_translation.count_processes
    assert count(None, 4, torch.device("cuda")) == 1
    with pytest.raises(UsageError, match=r"^--workers 2: needs Linux and a processor"):
        count(2, 4, torch.device("cuda"))


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
    interrupt(monkeypatch, model_directory, source, out, "--workers", "1", "--threads", "2")
    run(model_directory, source, out, "--workers", "1", "--threads", "1")
    assert "starts again from line 1 (threads was 2 and is now 1)" in capsys.readouterr().err


def interrupt(
    monkeypatch: pytest.MonkeyPatch, model: Path, source: Path, out: Path, *words: str
) -> None:
    """Translate two windows of the input."""
    update = LineProgress.update

    def update_once(progress: LineProgress, done: int, words: int) -> None:
        update(progress, done, words)
        if done >= 2 * WINDOW:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(LineProgress, "update", update_once)
        with pytest.raises(KeyboardInterrupt):
            run(model, source, out, *words)


@pytest.mark.slow
def test_an_older_output_stays_until_the_new_one_is_complete(
    model_directory: Path, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    out.write_text("older")
    interrupt(monkeypatch, model_directory, source, out)
    assert out.read_text() == "older"
    run(model_directory, source, out)
    assert out.read_text().count("\n") == source.read_text().count("\n")


def test_control_c_says_that_the_same_command_goes_on(
    model_directory: Path,
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    interrupt(monkeypatch, model_directory, source, out)
    assert (
        f"{out}: stopped, 10 of 49 lines are done: the same command goes on"
        in capsys.readouterr().err
    )
    run(model_directory, source, out)
    said = capsys.readouterr().err
    assert f"{out}: goes on, 10 of 49 lines are done\n" in said
    assert "49 lines, " in said
    assert " words/s\n" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("input", "changed since: input"),
        ("settings", "changed since: settings"),
        ("model", "changed since: model"),
        ("identity", "is damaged"),
    ],
)
def test_an_output_of_something_else_starts_again_and_says_so(
    change: str,
    said: str,
    model_directory: Path,
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out, whole, mode = tmp_path / "out", tmp_path / "whole", []
    model = tmp_path.parent / f"{tmp_path.name}-model"
    model.mkdir()
    for file in model_directory.iterdir():
        (model / file.name).write_bytes(file.read_bytes())
    interrupt(monkeypatch, model, source, out)
    if change == "input":
        source.write_text("a dog runs\n" + source.read_text().partition("\n")[2])
    elif change == "settings":
        mode = ["--search.alpha", "0.9"]
    elif change == "model":
        config = json.loads((model / "config.json").read_bytes())
        (model / "config.json").write_text(json.dumps(config))
    else:
        (tmp_path / ".translating-out" / "identity.json").write_text('{"input": 5')
    capsys.readouterr()
    run(model, source, out, *mode)
    err = capsys.readouterr().err
    assert f"{out}: starts again from line 1 (" in err
    assert said in err
    run(model, source, whole, *mode)
    assert out.read_bytes() == whole.read_bytes()
    assert not beside(out)


@pytest.mark.slow
def test_windows_that_are_translated_at_once_give_the_same_file(
    model_directory: Path, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(model_directory, source, tmp_path / "whole")
    monkeypatch.setattr(file_translation, "windows_at_once", lambda device: 3)
    monkeypatch.setattr(token_search, "make_engine", lambda model, name: FixedEngine(model))
    out = tmp_path / "text.de"
    run(model_directory, source, out)
    assert out.read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".zst"])
def test_compressed_files_hold_the_same_text(
    suffix: str, model_directory: Path, source: Path, tmp_path: Path
) -> None:
    whole, out = tmp_path / "whole", tmp_path / f"out{suffix}"
    run(model_directory, source, whole)
    packed = tmp_path / "packed.en.gz"
    packed.write_bytes(gzip.compress(source.read_bytes()))
    run(model_directory, packed, out)
    assert list(read_lines(out)) == list(read_lines(whole))
    source.write_text("")
    run(model_directory, source, out)
    with open_bytes(out) as file:
        assert file.read() == b""


@pytest.mark.slow
def test_the_byte_order_mark_and_the_line_ends_stay(
    model_directory: Path, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, out = tmp_path / "plain", tmp_path / "out.txt"
    run(model_directory, source, plain)
    expected = codecs.BOM_UTF8 + plain.read_bytes().replace(b"\n", b"\r\n")
    marked = tmp_path / "marked.txt"
    marked.write_bytes(codecs.BOM_UTF8 + source.read_bytes().replace(b"\n", b"\r\n"))
    interrupt(monkeypatch, model_directory, marked, out)
    run(model_directory, marked, out)
    assert out.read_bytes() == expected
    run(model_directory, marked, out, "--json")
    assert out.read_bytes().startswith(b'{"source"')
    assert b"\r" not in out.read_bytes()


def test_a_second_process_is_refused(
    model_directory: Path, source: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    with WorkDirectory(tmp_path / ".translating-out", out, {}):
        process = fork(run, model_directory, source, out)
        process.join()
    assert process.exitcode == 1
    assert f"{out}: process {os.getpid()} is at work here already" in capfd.readouterr().err


@pytest.mark.parametrize("workers", ["0", "-2"])
def test_a_wrong_number_of_workers_is_named_before_the_model_is_loaded(
    workers: str,
    model_directory: Path,
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(translator.Translator, "load", None)
    with pytest.raises(UsageError, match=f"^--workers {workers}: must be 1 or more"):
        run(model_directory, source, tmp_path / "out", "--workers", workers)


@pytest.mark.parametrize("words", [["--input", "a"], ["--output", "a"], ["--workers", "2"]])
def test_input_and_output_need_each_other(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        dispatch(["translate", ".", *words])
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert "standard input is translated" in said or "--workers needs --input and" in said


def test_an_input_that_is_a_directory_is_named_before_the_model_is_loaded(
    model_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(translator.Translator, "load", None)
    for name in ("texts", "texts.docx"):
        (tmp_path / name).mkdir()
        with pytest.raises(UsageError, match=f"^--input .*{name}: is a directory: give the name"):
            run(model_directory, tmp_path / name, tmp_path / f"out-{name}")


def test_an_output_that_cannot_be_written_is_named_before_the_model_is_loaded(
    model_directory: Path, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(translator.Translator, "load", None)
    (tmp_path / "directory").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    for out, problem in [
        (tmp_path / "directory", "directory: is a directory: give the name of a file"),
        (tmp_path / "none" / "out.txt", "none is no directory: make it first"),
        (source, "must be another file than --input"),
        (tmp_path / "pipe", "pipe: is a device or a pipe"),
        (tmp_path / "link", f"link: is a link: give the file that it leads to, {tmp_path}/file"),
    ]:
        with pytest.raises(UsageError, match=f"--output .*{problem}"):
            dispatch(
                ["translate", str(model_directory), "--input", str(source), "--output", str(out)]
            )


@pytest.mark.parametrize("suffix", [".txt", ".md"])
def test_write_protection_is_respected_before_the_model_is_loaded(
    suffix: str,
    model_directory: Path,
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(translator.Translator, "load", None)
    text = Path(shutil.copy(source, tmp_path / f"in{suffix}"))
    finished, folder = tmp_path / f"finished{suffix}", tmp_path / "folder"
    finished.write_text("finished")
    folder.mkdir()

    def refuse(out: Path, problem: str, *words: str) -> None:
        with pytest.raises(UsageError, match=f"^--output {out}[^ ]*: {problem}"):
            run(model_directory, text, out, *words)

    finished.chmod(0o444)  # also if the user is root, who may write it
    refuse(finished, "is write-protected: give another name")
    finished.chmod(0o644)
    if suffix == ".md":
        report = tmp_path / "a.md.quality.tsv"
        report.touch(0o444)
        refuse(tmp_path / "a.md", "is write-protected", "--quality")

    def access(path: Path, _mode: int) -> bool:
        return path not in (folder, finished)

    monkeypatch.setattr(os, "access", access)  # for a user who is not root
    refuse(finished, "is write-protected")
    refuse(folder / f"out{suffix}", f"no file can be written in {folder}$")
    assert finished.read_text() == "finished"
    assert not [*folder.iterdir()]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--output", "{source}"], "must be another file than --source"),
        (["--output", "{reference}"], "must be another file than --reference"),
        (["--per-line", "--output", "x"], "--output: has no effect with --per-line"),
        (["--per-line", "--search.beam", "2"], "--search.beam: has no effect with --per-line"),
        (["--per-line", "--calibrate"], "--calibrate: has no effect with --per-line"),
        (["--calibrate", "--json"], "--json: has no effect with --calibrate"),
    ],
)
def test_evaluate_overwrites_no_text_and_ignores_no_option(
    model_directory: Path, source: Path, tmp_path: Path, words: list[str], problem: str
) -> None:
    reference = Path(shutil.copy(source, tmp_path / "reference.txt"))
    texts = {"source": source, "reference": reference}
    options = ["--source", str(source), "--reference", str(reference)]
    with pytest.raises(UsageError, match=problem):
        dispatch(["evaluate", str(model_directory), *options, *(w.format(**texts) for w in words)])
    assert reference.read_bytes() == source.read_bytes() != b""


def test_an_evaluation_names_files_in_the_wrong_order(
    model_directory: Path, source: Path, tmp_path: Path
) -> None:
    german = str(shutil.copy(source, tmp_path / "test.de"))
    english = str(shutil.copy(source, tmp_path / "test.en"))
    for files, message in (
        ((german, english), r"test\.de: its name says de, but this text must be in en"),
        ((english, english), r"test\.en: its name says en, but this text must be in de"),
    ):
        with pytest.raises(HeadwayError, match=message):
            dispatch(
                ["evaluate", str(model_directory), "--source", files[0], "--reference", files[1]]
            )


@pytest.mark.slow
def test_a_stopped_evaluation_leaves_an_older_file_as_it_was(
    model_directory: Path, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "text.de"
    out.write_text("older\n")
    reference = str(shutil.copy(source, tmp_path / "reference.txt"))
    words = ["evaluate", str(model_directory), "--source", str(source), "--reference", reference]

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(translator.Translator, "stream", stop)
        with pytest.raises(KeyboardInterrupt):
            dispatch([*words, "--output", str(out)])
    assert {file.name: file.read_text() for file in tmp_path.glob("*.de")} == {"text.de": "older\n"}
    assert dispatch([*words, "--output", str(out)]) == 0
    assert len(list(read_lines(out))) == len(list(read_lines(source)))
    (tmp_path / "link").symlink_to(out)
    with pytest.raises(UsageError, match=r"--output .*link: is a link"):
        dispatch([*words, "--output", str(tmp_path / "link")])


@pytest.mark.slow
@pytest.mark.parametrize("words", [[], ["--workers", "2"]], ids=" ".join)
def test_a_glossary_without_a_term_of_the_text_is_named(
    words: list[str],
    model_directory: Path,
    source: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terms = tmp_path / "terms.tsv"
    last = [*read_lines(source)][-1].split()[-1]
    (tmp_path / "a.md").write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "empty").write_text("\n")
    where = (
        f"no term of {terms} occurs in the text: terms of the source language stand in the first"
    )
    for row, expected in (("zzz\ta", 1), (f"zzz\ta\n{last}\tb", 0)):
        terms.write_text(row)
        run(model_directory, source, tmp_path / f"out{expected}", "--glossary", str(terms), *words)
        assert capfd.readouterr().err.count(where) == expected
        if not words:
            run(model_directory, tmp_path / "a.md", tmp_path / "b.md", "--glossary", str(terms))
            assert capfd.readouterr().err.count("no term of") == expected
            with source.open() as text:
                monkeypatch.setattr("sys.stdin", text)
                dispatch(["translate", str(model_directory), "--glossary", str(terms)])
            assert capfd.readouterr().err.count("no term of") == expected
            run(model_directory, tmp_path / "empty", tmp_path / "c", "--glossary", str(terms))
            assert "no term of" not in capfd.readouterr().err


@pytest.mark.slow
def test_a_glossary_decides_terms_and_belongs_to_what_a_resume_checks(
    model_directory: Path, source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    terms, out = tmp_path / "terms.tsv", tmp_path / "text.de"
    terms.write_text("cat\tKater\ndog\t\tkeep\n", encoding="utf-8")
    run(model_directory, source, out, "--glossary", str(terms))
    pairs = zip(read_lines(source), read_lines(out), strict=True)
    for line, translation in pairs:
        assert translation.split().count("dog") == line.split().count("dog")
        assert ("Kater" in translation) >= ("cat" in line.split())
    capsys.readouterr()
    terms.write_text("# terms\nsource\ttarget\n", encoding="utf-8")
    run(model_directory, source, tmp_path / "plain", "--glossary", str(terms))
    assert f"{terms}: has no terms\n" in capsys.readouterr().err
    terms.write_text("cat\tKater\ndog\n", encoding="utf-8")
    with pytest.raises(HeadwayError, match=r"terms\.tsv:2: 'dog' has no target"):
        run(model_directory, source, tmp_path / "other", "--glossary", str(terms))
    with pytest.raises(SystemExit):
        run(model_directory, source, out, "--glossary", str(terms), "--search.sample", "true")
    assert "samples cannot follow a glossary" in capsys.readouterr().err
