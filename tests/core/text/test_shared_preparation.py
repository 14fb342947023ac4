"""A preparation has the same bytes whoever does its tasks, in whatever order, and however often it is killed."""

import errno
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.text.groups import make_groups
from headway.text.preparation import plan, preparation, repeats
from headway.text.preparation.preparation import Preparation, prepare
from support.prepare_in_order import LANGUAGES, prepare_in_order
from support.toy_models import sentences, translate_words

CONFIG = TextConfig(vocab_size=331, max_ratio=0, sample_lines=97, max_tokens=23)


@pytest.fixture(autouse=True)
def small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "RANGE", 37)
    monkeypatch.setattr(repeats, "PARTITION_RANGES", 3)
    monkeypatch.setattr(preparation, "WORKER_BYTES", 1000)


@pytest.fixture
def table(tmp_path: Path) -> list[Path]:
    """Text with every kind of fault."""
    draw = random.Random(5)
    rows = []
    for line in sentences(400, seed=1):
        rows.append(f"{line}\t{translate_words(line)}")
        if draw.random() < 0.3:
            faults = [
                "\tx",
                "same\tsame",
                "only one",
                "a\0b\tc",
                " ".join(["tree"] * 25) + "\tBaum",
            ]
            faults += [draw.choice(rows), f"{line}\tanders", f"{line} \t {translate_words(line)}"]
            rows.append(draw.choice(faults))
    path = tmp_path / "train.tsv"
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return [path]


def write_two(folder: Path, name: str, lines: Sequence[str]) -> list[Path]:
    paths = [folder / f"{name}.{language}" for language in LANGUAGES]
    for path, side in zip(paths, (lines, map(translate_words, lines)), strict=True):
        path.write_text("".join(f"{line}\n" for line in side), encoding="utf-8")
    return paths


def read_bytes(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.mark.slow
@pytest.mark.parametrize("held_out", [True, False])
def test_ranges_give_what_one_pass_in_order_gives(
    held_out: bool, table: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    test = write_two(tmp_path, "test", sentences(29, seed=1)[7:])
    valid = 31 if held_out else write_two(tmp_path, "valid", sentences(13, seed=1))
    config = CONFIG if held_out else replace(CONFIG, copies=3, drop_leaks=False, joint_vocab=False)
    expected = tmp_path / "in-order"
    prepare_in_order(table, valid, expected, config, [test])
    report = (expected / "report.txt").read_text()
    assert len(report.splitlines()) > 9
    assert "more than max_tokens" in report

    for workers in (1, 2, 5):
        out = tmp_path / f"by-{workers}"
        prepare(table, valid, out, config, LANGUAGES, [test], workers=workers)
        assert read_bytes(out) == read_bytes(expected)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


class Killed(BaseException):
    """Stands for SIGKILL: nothing in the program catches it."""


@pytest.mark.slow
def test_a_preparation_that_is_killed_at_any_commit_goes_on(
    table: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(table, 31, tmp_path / "whole", CONFIG, LANGUAGES)
    replace_path, draw = Path.replace, random.Random(7)

    def replace_or_die(path: Path, target: Path) -> Path:
        assert not target.is_dir(), f"{target} is done twice"
        if draw.random() < 0.1:
            raise Killed
        return replace_path(path, target)

    monkeypatch.setattr(Path, "replace", replace_or_die)
    kills = 0
    while not (tmp_path / "out").exists():
        with suppress(Killed):
            prepare(table, 31, tmp_path / "out", CONFIG, LANGUAGES)
            break
        kills += 1
    assert kills > 3
    assert read_bytes(tmp_path / "out") == read_bytes(tmp_path / "whole")


COMMAND = """
import sys
from headway.config import TextConfig
from headway.text.preparation import plan, preparation as module
plan.RANGE, module.WORKER_BYTES = 37, 1000
preparation = module.Preparation(
    [sys.argv[1]], 31, sys.argv[2], TextConfig(vocab_size=331, max_ratio=0, sample_lines=97, max_tokens=23),
    ("en", "de"),
)
for _ in preparation.run(2):
    pass
"""


def start(table: list[Path], out: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", COMMAND, str(table[0]), str(out)])


def children(process: int) -> list[int]:
    with suppress(OSError):
        words = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        return [int(word) for word in words]
    return []


def count_results(out: Path) -> int:
    return len(list(out.with_name(".preparing-out").glob("*/[a-z]*/0*/0*")))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux")
def test_killed_commands_and_workers_change_no_byte(table: list[Path], tmp_path: Path) -> None:
    prepare(table, 31, tmp_path / "whole", CONFIG, LANGUAGES)
    out, kills = tmp_path / "out", 0
    for tasks, kills_command in ((2, True), (9, False), (15, True), (10**9, False)):
        process = start(table, out)
        victims: list[int] = []
        while process.poll() is None and (count_results(out) < tasks or not victims):
            time.sleep(0.002)
            victims = [process.pid] if kills_command else children(process.pid)[:1]
        for victim in victims:
            with suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
                kills += 1
        assert process.wait(60) in (0, -signal.SIGKILL)
        if out.exists():
            break
    assert kills  # on a busy machine a command may finish before its turn
    assert read_bytes(out) == read_bytes(tmp_path / "whole")
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def interrupt(preparation: Preparation, tasks: int) -> None:
    steps = preparation.run()
    for _ in range(tasks):
        next(steps)
    steps.close()


@pytest.mark.slow
def test_changed_text_or_settings_are_named_and_start_again(
    table: list[Path], tmp_path: Path
) -> None:
    interrupt(Preparation(table, 31, tmp_path / "out", CONFIG, LANGUAGES), 5)
    same = Preparation(table, 31, tmp_path / "out", CONFIG, LANGUAGES)
    interrupt(same, 5)
    assert (same.notice, len(list(same.work.glob("*/clean/0*/0*")))) == ("", 5)
    table[0].write_text(table[0].read_text() + "one more\tnoch eine\n")
    changed = Preparation(table, 31, tmp_path / "out", CONFIG, LANGUAGES)
    interrupt(changed, 3)
    assert f"changed since: {table[0]}" in changed.notice
    config = replace(CONFIG, vocab_size=330)
    other = Preparation(table, 31, tmp_path / "out", config, LANGUAGES)
    assert list(other.run())
    assert "text.vocab_size was 331 and is now 330" in other.notice
    assert other.notice.count("\n") == 0
    prepare(table, 31, tmp_path / "whole", config, LANGUAGES)
    assert read_bytes(tmp_path / "out") == read_bytes(tmp_path / "whole")


@pytest.mark.slow
def test_a_preparation_in_another_process_is_named(table: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    steps = Preparation(table, 31, out, CONFIG, LANGUAGES).run()
    next(steps)
    with pytest.raises(HeadwayError, match=f"^{out}: process {os.getpid()} is at work here"):
        prepare(table, 31, out, CONFIG, LANGUAGES)
    assert list(steps)
    with pytest.raises(HeadwayError, match="exists already"):
        prepare(table, 31, out, CONFIG, LANGUAGES)


@pytest.mark.slow
def test_a_killed_deletion_of_the_work_directory_is_finished(
    table: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(_: Path) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(preparation, "sync", die)  # the result has its name
        with pytest.raises(Killed):
            prepare(table, 31, tmp_path / "out", CONFIG, LANGUAGES)
    assert (tmp_path / ".preparing-out").exists()
    again = prepare(table, 31, tmp_path / "out", CONFIG, LANGUAGES)
    assert len(again.valid) == 31
    assert not (tmp_path / ".preparing-out").exists()


@pytest.mark.slow
def test_worker_processes_read_standard_input_and_name_a_mistake(
    table: list[Path], tmp_path: Path
) -> None:
    prepare(table, 31, tmp_path / "whole", CONFIG, LANGUAGES)
    code = COMMAND.replace("[sys.argv[1]]", "['-']")
    words = [sys.executable, "-c", code, "", str(tmp_path / "out")]
    with table[0].open("rb") as file:
        subprocess.run(words, stdin=file, check=True)
    same = read_bytes(tmp_path / "whole")
    assert {
        n: b
        for n, b in read_bytes(tmp_path / "out").items()
        if n not in ("data.json", "report.txt")
    } == {n: b for n, b in same.items() if n not in ("data.json", "report.txt")}
    with pytest.raises(HeadwayError, match=r"text\.vocab_size = 90000 is too large"):
        prepare(table, 31, tmp_path / "b", replace(CONFIG, vocab_size=90_000), LANGUAGES, workers=2)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


COMMAND_OF_TWO_FILES = COMMAND.replace("[sys.argv[1]], 31", "sys.argv[1:3], sys.argv[3:5]").replace(
    "argv[2]", "argv[5]"
)


@pytest.mark.slow
@pytest.mark.parametrize("place", [0, 1, 2])
def test_one_of_several_files_may_be_standard_input(place: int, tmp_path: Path) -> None:
    """The first process reads it; a worker process would wait for a standard input of its own."""
    lines = sentences(400, seed=1)
    files = write_two(tmp_path, "train", lines) + write_two(
        tmp_path, "valid", sentences(13, seed=2)
    )
    prepare(files[:2], files[2:], tmp_path / "whole", CONFIG, LANGUAGES)
    words = [str(file) for file in files]
    words[place] = "-"
    with files[place].open("rb") as file:
        command = [sys.executable, "-c", COMMAND_OF_TWO_FILES, *words, str(tmp_path / "out")]
        subprocess.run(command, stdin=file, check=True, timeout=120)
    made, expected = (read_bytes(tmp_path / name) for name in ("out", "whole"))
    assert made.keys() == expected.keys()
    assert all(made[name] == expected[name] for name in made if name != "data.json")


@pytest.mark.parametrize(
    ("train", "valid", "tests"),
    [
        (["-"], ["-"], []),
        (["-", "a.de"], ["b.en", "-"], []),
        (["a.en", "a.de"], ["-"], [["-"]]),
        (["-"], 31, [["-"]]),
    ],
)
def test_standard_input_is_not_given_twice(train, valid, tests) -> None:
    with pytest.raises(HeadwayError, match=r"^-: standard input can be read only once") as problem:
        make_groups(train, valid, tests, LANGUAGES)
    assert "\n" not in str(problem.value)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_a_full_disk_is_named_and_the_work_goes_on(
    workers: int, table: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr("headway.text.preparation.stages.write_token_range", write)
        with pytest.raises(OSError, match="the same command goes on") as problem:
            prepare(table, 31, out, CONFIG, LANGUAGES, workers=workers)
    assert problem.value.filename == str(out)
    with monkeypatch.context() as patch:
        patch.setattr("headway.text.preparation.stages.clean_range", write)  # is done
        prepare(table, 31, out, CONFIG, LANGUAGES, workers=workers)
    prepare(table, 31, tmp_path / "whole", CONFIG, LANGUAGES)
    assert read_bytes(out) == read_bytes(tmp_path / "whole")
