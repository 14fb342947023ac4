"""Raw text becomes training data: whole or not at all, reproducible, and without test text."""

import errno
import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random
from string import ascii_lowercase

import pytest

from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.text.cleaning import Rule
from headway.text.groups import languages_from_names
from headway.text.preparation.preparing import prepare
from headway.text.prepared import PreparedData
from headway.text.readers import Pair
from headway.text.shards import Corpus
from support.cases import each_case, own_rows
from support.range_cleaning import clean
from support.toy_models import sentences, translate_words, write_pairs

CONFIG = TextConfig(vocab_size=331, max_ratio=0)


def write(directory, name, lines):
    path = directory / name
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def files(tmp_path):
    train, valid = sentences(200, 1), sentences(31, 2)
    return write_pairs(tmp_path, "train", train), write_pairs(tmp_path, "valid", valid)


@each_case
def test_validation_text_may_look_like_the_beginning_of_a_document(first, files, tmp_path):
    second = "00:00:01,000 --> 00:00:02,000"
    pairs = [(first, "Das ist der erste Satz."), (second, first), ("a dog", "ein Hund")]
    valid = tmp_path / "valid.jsonl"
    rows = ({"source": source, "target": target} for source, target in pairs)
    valid.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    prepare(files[0], [valid], tmp_path / "out", CONFIG, ("en", "de"))
    data = PreparedData.open(tmp_path / "out")
    expected = [tuple(" ".join(side.split("\r")).strip(" ") for side in pair) for pair in pairs]
    assert [*zip(data.valid_source, data.valid_target, strict=True)] == expected


def test_further_copies_are_the_same_text_in_other_subwords(files, tmp_path):
    once = prepare(*files, tmp_path / "once", CONFIG)
    thrice = prepare(*files, tmp_path / "thrice", replace(CONFIG, copies=3))
    again = prepare(*files, tmp_path / "again", replace(CONFIG, copies=3))
    assert thrice.fingerprint == again.fingerprint
    count = len(once.train)
    assert len(thrice.train) == 3 * count
    assert json.loads((tmp_path / "thrice" / "report.json").read_text())["kept"] == count
    decode = (thrice.tokenizer.decode_source, thrice.tokenizer.decode)
    drawn = set()
    for i in range(3 * count):
        pair, best = thrice.train.pair(i), once.train.pair(i % count)
        for side in (0, 1):
            assert decode[side](pair[side]) == decode[side](best[side])
            if pair[side].tolist() != best[side].tolist():
                drawn.add((i // count, side))
    assert drawn == {
        (1, 0),
        (1, 1),
        (2, 0),
        (2, 1),
    }  # the first copy has the subwords that translation uses
    assert thrice.valid.fingerprint == once.valid.fingerprint


def test_prepared_data_holds_the_tokens_of_the_text(files, tmp_path):
    train, valid = files
    data = prepare(train, valid, tmp_path / "out", CONFIG)
    assert data.languages == ("en", "de")
    assert data.valid_source == valid[0].read_text().splitlines()
    assert data.valid_target == valid[1].read_text().splitlines()
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert len(data.train) == report["kept"]
    sources = {data.tokenizer.decode_source(data.train.pair(i)[0]) for i in range(len(data.train))}
    lines = set(train[0].read_text().splitlines())
    assert sources <= lines
    # The sides agree word by word, so no line was shifted.
    for i in range(len(data.train)):
        source, target = data.train.pair(i)
        text = translate_words(data.tokenizer.decode_source(source))
        assert data.tokenizer.decode(target) == text
    assert not sources & set(data.valid_source)
    assert [data.tokenizer.decode(data.valid.pair(i)[1]) for i in range(31)] == data.valid_target


def test_test_text_is_kept_out_of_training(files, tmp_path):
    train, valid = files
    test = [write(tmp_path, f"test.{p.suffix[1:]}", p.read_text().splitlines()[:17]) for p in train]
    free = prepare(train, valid, tmp_path / "a", CONFIG)
    held = prepare(train, valid, tmp_path / "b", CONFIG, tests=[test])
    assert len(free.train) - len(held.train) == 17


def test_a_full_disk_names_the_directory_and_the_same_preparation_goes_on(
    files, tmp_path, monkeypatch
):
    def write(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    def learn(*_):
        raise AssertionError("the subwords are learned again")

    expected = prepare(*files, tmp_path / "whole", CONFIG)
    before = set(tmp_path.iterdir())
    work = tmp_path / ".preparing-out"
    with monkeypatch.context() as patch:
        patch.setattr("headway.text.preparation.stages.write_prepared", write)
        with pytest.raises(OSError, match=r"No space left .*; the same command goes on") as error:
            prepare(*files, tmp_path / "out", CONFIG)
    assert error.value.filename == str(tmp_path / "out")
    assert str(work) in str(error.value)
    assert set(tmp_path.iterdir()) == {*before, work}
    monkeypatch.setattr("headway.text.preparation.stages.learn_model", learn)
    assert prepare(*files, tmp_path / "out", CONFIG).fingerprint == expected.fingerprint
    assert set(tmp_path.iterdir()) == {*before, tmp_path / "out"}


def test_a_full_disk_leaves_nothing_of_standard_input(files, tmp_path, monkeypatch):
    """It cannot be read again."""

    def write(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("headway.text.preparation.stages.write_prepared", write)
    before = set(tmp_path.iterdir())
    train, valid = files
    with train[0].open() as file:
        monkeypatch.setattr("sys.stdin", file)
        with pytest.raises(OSError, match="No space left on device: ") as error:
            prepare(["-", train[1]], valid, tmp_path / "out", CONFIG, ("en", "de"))
    assert error.value.filename == str(tmp_path / "out")
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize("size", [None, 0, 0.5])
def test_every_missing_or_truncated_file_gives_a_message_of_one_line(files, tmp_path, size):
    prepare(*files, tmp_path / "whole", CONFIG)
    parts = [path for path in (tmp_path / "whole").rglob("*") if path.is_file()]
    parts = [path for path in parts if not path.name.startswith("report.")]
    assert len(parts) == 14
    for number, part in enumerate(parts):
        copy = tmp_path / f"{number}"
        shutil.copytree(tmp_path / "whole", copy)
        damaged = copy / part.relative_to(tmp_path / "whole")
        data = damaged.read_bytes()
        damaged.unlink()
        if size is not None:
            damaged.write_bytes(data[: int(size * len(data))])
        with pytest.raises(
            HeadwayError, match=rf"^{re.escape(str(copy))}[^\n]*: prepare the data again$"
        ):
            PreparedData.open(copy)


def test_files_of_two_preparations_are_rejected(files, tmp_path):
    prepare(*files, tmp_path / "a", CONFIG)
    prepare(*files, tmp_path / "b", replace(CONFIG, vocab_size=330))
    (tmp_path / "b" / "tokenizer.model").replace(tmp_path / "a" / "tokenizer.model")
    with pytest.raises(HeadwayError, match="from different preparations"):
        PreparedData.open(tmp_path / "a")
    with pytest.raises(HeadwayError, match=r"data\.json"):
        PreparedData.open(tmp_path)


def test_languages_are_read_from_the_names_of_the_files():
    assert languages_from_names(["a/train.en.gz", "b/x.de"]) == ("en", "de")
    assert languages_from_names(["t.pt_BR", "t.fr"]) == ("pt_BR", "fr")
    assert languages_from_names(["t.zh_Hant", "t.nso"]) == ("zh_Hant", "nso")
    for names in own_rows():
        with pytest.raises(HeadwayError, match="--languages"):
            languages_from_names(names)
    with pytest.raises(HeadwayError, match=r"^nowhere: "):
        languages_from_names(["train.en", "nowhere"])


PEAK_MEMORY = """
import os, re, sys
from pathlib import Path
from headway.cli.main import dispatch
from headway.text import shards
from headway.text.preparation import plan, stages

os.fsync = lambda descriptor: None
plan.RANGE = stages.CHUNK = shards.FLUSH = shards.DIGESTED = 50
options = "--valid=7 --text.sample-lines=200 --text.vocab-size=1200"
for folder in sys.argv[1:]:
    files = [f"{folder}/train.{language}" for language in ("en", "de")]
    assert dispatch(["prepare", f"{folder}/out", "--train", *files, *options.split()]) == 0
    status = Path("/proc/self/status").read_text()
    print(re.search(r"VmHWM:\\s+(\\d+) kB", status)[1])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux")
def test_memory_does_not_grow_with_the_corpus(tmp_path):
    """Lines of many characters and few tokens, in a process that reads few pairs at a time."""
    random = Random(1)
    words = ["".join(random.choices(ascii_lowercase, k=47)) for _ in range(11)]
    folders = [tmp_path / "few", tmp_path / "many"]
    for folder, count in zip(folders, (400, 3_000), strict=True):
        source = [" ".join(random.choices(words, k=31)) for _ in range(count)]
        folder.mkdir()
        one_side = write(folder, "train.en", source).stat().st_size / 1024
        write(folder, "train.de", [line[::-1] for line in source])
    result = subprocess.run(
        [sys.executable, "-c", PEAK_MEMORY, *folders], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert len(Corpus(folders[1] / "out" / "train")) == 3_000 - 7
    few, many = map(int, result.stdout.split())
    assert many - few < 0.75 * one_side


LANGUAGES = ("en", "de")
UNIQUE = [Pair(f"{n} s", f"{n} t", n) for n in range(1, 102)]
SHARED = [Pair(f"{n} s", "yes" if n % 2 else "YES ", n) for n in range(102, 163)]


def write_two(folder, pairs):
    paths = [folder / "train.en", folder / "train.de"]
    for side, path in enumerate(paths):
        path.write_text("".join(f"{pair[side]}\n" for pair in pairs))
    return paths


def hold_out(pairs, count):
    return clean(pairs, CONFIG, count=count, range_pairs=37)


def test_pairs_that_share_no_side_are_preferred():
    kept, chosen, report = hold_out(SHARED + UNIQUE, 61)
    assert set(chosen) < set(UNIQUE)
    assert len(kept) == report.kept == 101


def test_pairs_that_share_a_side_with_validation_text_are_dropped():
    kept, chosen, report = hold_out(SHARED + UNIQUE[:3], 5)
    assert set(UNIQUE[:3]) < set(chosen)
    assert kept == []  # all others have the target "yes"
    assert report.kept == 0
    assert {rule: found.count for rule, found in report.dropped.items()} == {
        Rule.HELD_OUT: 5,
        Rule.SIBLING: 59,
    }


def test_the_choice_does_not_depend_on_the_order_of_the_text():
    chosen = {*hold_out(UNIQUE, 17)[1]}
    assert chosen == {*hold_out(UNIQUE[::-1], 17)[1]}
    grown = hold_out([*UNIQUE, Pair("new", "neu", 200)], 17)[1]
    assert len(chosen & {*grown}) >= 16


@pytest.mark.parametrize("count", [0, 51, 10**9])
def test_more_than_half_of_the_text_is_not_held_out(count, tmp_path):
    files = write_two(tmp_path, [pair[:2] for pair in UNIQUE])
    with pytest.raises(
        HeadwayError, match=f"--valid {count}: must be from 1 to 50, half of the 101 "
    ):
        prepare(files, count, tmp_path / "out", CONFIG)
    assert not (tmp_path / "out").exists()
