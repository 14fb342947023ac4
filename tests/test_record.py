"""What Headway answers without a model, against ``tests/record/stored``, and the comparison itself."""

import importlib
import json
import logging
import os
import sys
import warnings
import zipfile
from contextlib import contextmanager
from itertools import chain, repeat
from pathlib import Path

import pytest

from headway.cli.main import main
from support.cases import each_case
from support.processes import Forked
from support.proxies import answering

RECORD = Path(__file__).parent / "record"


@pytest.fixture
def load(monkeypatch):
    """Import a module of the record; they are scripts beside each other, and one is called help."""
    monkeypatch.syspath_prepend(RECORD)
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(RECORD)):
            del sys.modules[name]


def answer_here(load, side, section, monkeypatch):
    """Let a side run its commands in forks of this process, which imports most of what they need."""
    for name, value in side.environment().items():
        monkeypatch.setenv(name, value)
    forks = load("forks")
    forks.import_all()

    def run_each(_, cases, cwd, stdin=()):
        given = zip(cases, chain(stdin, repeat(b"")), strict=False)
        rows = [([*map(str, case)], str(cwd), text.decode("latin-1")) for case, text in given]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = forks.answer_in_turn(rows)
        answer = load("side").Answer
        return [
            answer(out.encode("latin-1"), err.encode("latin-1"), code) for out, err, code in found
        ]

    @contextmanager
    def serving(command, url, log, environment):
        def work():
            logging.getLogger().handlers.clear()  # those of pytest
            os.chdir(log.parent)
            main(command[command.index("serve") :])

        process = Forked(work, log)
        with answering(process, url, log):
            yield process

    monkeypatch.setattr(type(side), "run_each", run_each)
    monkeypatch.setattr(load("server"), "serving", serving)


@pytest.mark.parametrize("section", ["help", "prepared", "scores", "server"])
def test_answers_equal_the_stored_ones(load, section, tmp_path, monkeypatch):
    """After a change that is meant: ``python tests/record --store``, and its difference is part of the commit."""
    (tmp_path / section).mkdir()
    side = load("side").Side("after", RECORD.parents[1])
    answer_here(load, side, section, monkeypatch)
    load(section).record_stored(side, tmp_path / section)
    assert load("compare").report(RECORD / "stored", tmp_path, [section], []) == []


def test_a_mistake_gives_an_error_of_one_line():
    """With 2 for a mistake in an option, and 1 for another error; a wrong file of settings has a line for each mistake."""
    rows = (RECORD / "stored" / "help" / "mistakes.jsonl").read_text("utf-8").splitlines()
    mistakes = [row for row in map(json.loads, rows) if row["code"]]
    assert len(mistakes) > 150
    for row in mistakes:
        lines = [line for line in row["err"].splitlines() if line.startswith("headway: ")]
        assert len(lines) == (2 if "wrong.toml" in row["case"] else 1), row
        assert row["err"].endswith(f"{lines[-1]}\n"), row
        assert (row["code"] in (1, 2), row["out"]) == (True, ""), row


@pytest.fixture
def sides(tmp_path):
    """Two equal directories of answers."""
    for side in ("before", "after"):
        folder = tmp_path / side / "lines"
        folder.mkdir(parents=True)
        (folder / "beam.txt").write_text("Ein Haus .\nZwei Häuser\nDrei\n", encoding="utf-8")
        (folder / "weights.bin").write_bytes(b"\0\1\2")
        with zipfile.ZipFile(folder / "a.docx", "w") as archive:
            archive.writestr("word/document.xml", "<p>Haus</p>\n")
    return tmp_path / "before", tmp_path / "after"


def test_equal_answers_have_no_difference(load, sides):
    assert load("compare").report(*sides, ["lines"], []) == []


@each_case
def test_a_difference_is_seen(load, sides, name, content, says):
    (sides[1] / "lines" / name).write_text(content, encoding="utf-8")
    [line] = load("compare").report(*sides, ["lines"], [])
    assert line.startswith(says)


def test_a_difference_in_a_file_of_an_archive_is_seen(load, sides):
    with zipfile.ZipFile(sides[1] / "lines" / "a.docx", "w") as archive:
        archive.writestr("word/document.xml", "<p>House</p>\n")
    [line] = load("compare").report(*sides, ["lines"], [])
    assert line.startswith("lines/a.docx/word/document.xml:1: ")


def test_a_missing_file_is_seen(load, sides):
    (sides[1] / "lines" / "beam.txt").unlink()
    assert len(load("compare").report(*sides, ["lines"], [])) == 4


def test_a_listed_change_is_no_difference_and_must_occur(load, sides):
    compare = load("compare")
    meant = compare.Change("lines/*.txt", "no space before a full stop", r"Haus \.$", r"Haus\.$")
    (sides[1] / "lines" / "beam.txt").write_text("Ein Haus.\nZwei Häuser\nVier\n", encoding="utf-8")
    [line] = compare.report(*sides, ["lines"], [meant])
    assert line.startswith("lines/beam.txt:3: ")
    (sides[1] / "lines" / "beam.txt").write_text(
        "Ein Haus .\nZwei Häuser\nDrei\n", encoding="utf-8"
    )
    stale = compare.Change("lines/*.txt", "no space before a full stop", r"Haus \.$", r"Haus\.$")
    [line] = compare.report(*sides, ["lines"], [stale])
    assert line.endswith("no longer occurs")
    assert compare.report(*sides, ["help"], [stale]) == []


def test_only_volatile_words_are_replaced(load):
    scrub = load("side").scrub
    assert scrub("/tmp/x1/a.en:3: at 127.0.0.1:5001, headway 0.2.0, 12.5 s, 1,200 tokens/s") == (
        ".../a.en:3: at 127.0.0.1:PORT, headway VERSION, DURATION, NUMBER tokens/s"
    )
    kept = "POST /v2/document: 422 of 1,000 lines in a.tar, --beam 4, https://example.org/home/a"
    assert scrub(kept) == kept
