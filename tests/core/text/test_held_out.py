"""Validation text held out of the training text: disjoint, reproducible, alike in every format."""

import json

import pytest

from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.text.cleaning import Rule
from headway.text.preparation import prepare
from headway.text.readers import Pair
from support.extensions import needs
from support.numbered_text import units, write_tmx
from support.range_cleaning import clean
from support.toy_models import sentences, translate_words

CONFIG = TextConfig(vocab_size=331, max_ratio=0)
LANGUAGES = ("en", "de")
UNIQUE = [Pair(f"{n} s", f"{n} t", n) for n in range(1, 102)]
SHARED = [Pair(f"{n} s", "yes" if n % 2 else "YES ", n) for n in range(102, 163)]


def unique_pairs(count):
    return [(s, translate_words(s)) for s in sorted(set(sentences(count, seed=7)))]


def training_text(data):
    decode = data.tokenizer
    ids = (data.train.pair(i) for i in range(len(data.train)))
    return [(decode.decode_source(source), decode.decode(target)) for source, target in ids]


def validation_text(data):
    return list(zip(data.valid_source, data.valid_target, strict=True))


def write_two(folder, pairs):
    paths = [folder / "train.en", folder / "train.de"]
    for side, path in enumerate(paths):
        path.write_text("".join(f"{pair[side]}\n" for pair in pairs))
    return paths


def test_no_side_of_the_validation_text_is_in_the_training_text(tmp_path):
    pairs = unique_pairs(400)
    data = prepare(write_two(tmp_path, pairs), 53, tmp_path / "out", CONFIG)
    valid, train = validation_text(data), training_text(data)
    assert len(valid) == 53
    for side in (0, 1):
        assert not {pair[side] for pair in valid} & {pair[side] for pair in train}
    assert set(valid) <= set(pairs)
    assert valid == [pair for pair in pairs if pair in valid]  # in the order of the text
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["kept"] == len(train)
    assert report["dropped"][Rule.HELD_OUT]["count"] == 53
    assert json.loads((tmp_path / "out" / "data.json").read_text())["held_out"] == 53


@needs("corpora")
@pytest.mark.slow
def test_every_format_holds_out_the_same_pairs(tmp_path):
    pairs = unique_pairs(300)
    table = tmp_path / "train.tsv"
    table.write_text("".join(f"{a}\t{b}\n" for a, b in pairs))
    memory = write_tmx(tmp_path, units(pairs))
    files = [write_two(tmp_path, pairs), [table], [memory]]
    prepared = [
        prepare(paths, 31, tmp_path / f"{number}", CONFIG, LANGUAGES)
        for number, paths in enumerate(files)
    ]
    assert {len(data.valid) for data in prepared} == {31}
    assert len({data.fingerprint for data in prepared}) == 1


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
