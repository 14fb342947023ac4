"""What Headway answers without a model, against ``tests/record/stored``."""

import importlib
import json
import sys
from difflib import unified_diff
from pathlib import Path

import pytest

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


def read_lines(folder):
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_text("utf-8").split("\n") for path in files}


@pytest.mark.parametrize("section", ["help", "prepared", "scores", "server"])
def test_answers_equal_the_stored_ones(load, section, tmp_path, monkeypatch):
    """After a change that is meant: ``python tests/record --store``, and its difference is part of the commit."""
    for name, value in load("answers").ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    load(section).record(tmp_path)
    stored, found = read_lines(RECORD / "stored" / section), read_lines(tmp_path)
    assert sorted(found) == sorted(stored)
    assert [
        line for name in found for line in unified_diff(stored[name], found[name], name, n=0)
    ] == []


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


def test_only_volatile_words_are_replaced(load):
    scrub = load("answers").scrub
    assert scrub("/tmp/x1/a.en:3: at 127.0.0.1:5001, headway 0.2.0, 12.5 s, 1,200 tokens/s") == (
        ".../a.en:3: at 127.0.0.1:PORT, headway VERSION, DURATION, NUMBER tokens/s"
    )
    kept = "POST /v2/document: 422 of 1,000 lines in a.tar, --beam 4, https://example.org/home/a"
    assert scrub(kept) == kept
