"""A preparation has the same bytes whoever does its tasks, in whatever order, and however often it is killed."""

import os
import random
import shutil
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.text.groups import make_groups
from headway.text.preparation import plan, preparing, selection
from headway.text.preparation.plan import Plan
from headway.text.preparation.preparing import Preparation, prepare
from headway.text.prepared import PreparedData
from support.cases import each_case
from support.processes import fork
from support.toy_models import sentences, translate_words, write_pairs

CONFIG = TextConfig(vocab_size=331, max_ratio=0, sample_lines=97, max_tokens=23)
LANGUAGES = ("en", "de")


@pytest.fixture(autouse=True, scope="module")
def small_ranges():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "RANGE", 37)
        patch.setattr(selection, "PARTITION_RANGES", 3)
        patch.setattr(preparing, "WORKER_BYTES", 1000)
        yield


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Text with every kind of fault."""
    draw = random.Random(5)
    rows = []
    for line in sentences(200, seed=1):
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
    path = tmp_path_factory.mktemp("text") / "train.tsv"
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return [path]


@pytest.fixture(scope="module")
def whole(table, small_ranges, tmp_path_factory):
    """What one process makes of the text, of which it holds 31 pairs out."""
    out = tmp_path_factory.mktemp("whole") / "whole"
    prepare(table, 31, out, CONFIG, LANGUAGES)
    return read_bytes(out)


def read_bytes(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.mark.parametrize("held_out", [True, False])
def test_ranges_give_what_one_pass_in_order_gives(held_out, table, tmp_path, monkeypatch):
    test = write_pairs(tmp_path, "test", sentences(29, seed=1)[7:])
    valid = 31 if held_out else write_pairs(tmp_path, "valid", sentences(13, seed=1))
    config = CONFIG if held_out else replace(CONFIG, copies=3, drop_leaks=False, joint_vocab=False)

    def made(name, workers):
        prepare(table, valid, tmp_path / name, config, LANGUAGES, [test], workers=workers)
        return read_bytes(tmp_path / name)

    with monkeypatch.context() as patch:
        patch.setattr(plan, "RANGE", 10**6)
        expected = made("in-order", 1)
    report = expected["report.txt"].decode()
    assert len(report.splitlines()) > 9
    assert "more than max_tokens" in report
    train = PreparedData.open(tmp_path / "in-order").train
    longest = np.maximum(train.source_lengths, train.target_lengths).max()
    assert longest == config.max_tokens  # and not one token less
    assert made("ranges", 1) == made("workers", 3) == expected
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


class Killed(BaseException):
    """Stands for SIGKILL: nothing in the program catches it."""


def test_a_preparation_that_is_killed_at_any_commit_goes_on(table, whole, tmp_path, monkeypatch):
    replace_path, draw = Path.replace, random.Random(7)

    def replace_or_die(path, target):
        assert not target.is_dir(), f"{target} is done twice"
        if draw.random() < 0.15:
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
    assert read_bytes(tmp_path / "out") == whole


def start(train, valid, out, given=Path(os.devnull)):
    """Start a process that prepares text by two workers, and has a file as standard input."""

    def work():
        os.dup2(os.open(given, os.O_RDONLY), 0)
        sys.stdin = open(0)  # noqa: SIM115
        prepare(train, valid, out, CONFIG, LANGUAGES, workers=2)

    return fork(work)


def interrupt(preparation, tasks):
    steps = preparation.run()
    for _ in range(tasks):
        next(steps)
    steps.close()


def test_changed_text_or_settings_are_named_and_start_again(table, tmp_path):
    table = [Path(shutil.copy(table[0], tmp_path))]
    interrupt(Preparation(Plan.make(table, 31, CONFIG, LANGUAGES), tmp_path / "out"), 3)
    same = Preparation(Plan.make(table, 31, CONFIG, LANGUAGES), tmp_path / "out")
    interrupt(same, 4)
    assert (same.notice, len(list(same.work.glob("*/clean/0*/0*")))) == ("", 5)
    table[0].write_text(table[0].read_text() + "one more\tnoch eine\n")
    changed = Preparation(Plan.make(table, 31, CONFIG, LANGUAGES), tmp_path / "out")
    interrupt(changed, 3)
    assert f"changed since: {table[0]}" in changed.notice
    config = replace(CONFIG, vocab_size=330)
    other = Preparation(Plan.make(table, 31, config, LANGUAGES), tmp_path / "out")
    assert list(other.run())
    assert "changed since: text.vocab_size" in other.notice
    assert other.notice.count("\n") == 0
    prepare(table, 31, tmp_path / "whole", config, LANGUAGES)
    assert read_bytes(tmp_path / "out") == read_bytes(tmp_path / "whole")


def test_one_of_several_files_may_be_standard_input(tmp_path):
    """The first process reads it; a worker process would wait for a standard input of its own."""
    files = write_pairs(tmp_path, "train", sentences(200, seed=1))
    files += write_pairs(tmp_path, "valid", sentences(13, seed=2))
    prepare(files[:2], files[2:], tmp_path / "whole", CONFIG, LANGUAGES)
    expected = read_bytes(tmp_path / "whole")
    for place in (1, 2):
        words = [*files]
        words[place] = "-"
        out = tmp_path / f"out-{place}"
        process = start(words[:2], words[2:], out, files[place])
        process.join(60)
        assert process.exitcode == 0
        made = read_bytes(out)
        assert made.keys() == expected.keys()
        assert all(made[name] == expected[name] for name in made if name != "data.json")


@each_case
def test_standard_input_is_not_given_twice(train, valid, tests):
    with pytest.raises(HeadwayError, match=r"^-: standard input can be read only once") as problem:
        make_groups(train, valid, tests, LANGUAGES)
    assert "\n" not in str(problem.value)
