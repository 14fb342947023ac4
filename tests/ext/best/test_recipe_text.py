"""The text of a recipe: prepared as by ``headway prepare``, and written as plain files."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest

from headway.config import load
from headway.errors import HeadwayError
from headway.ext.best import recipe_numbers, recipe_text
from headway.ext.best.recipe_options import Options
from headway.ext.best.recipe_text import PairFiles, prepare_text
from headway.ext.best.stage import JoinedText
from headway.text import PreparedData
from headway.text.preparation.preparing import prepare
from support.toy_models import sentences, translate_words

SOURCES = list(dict.fromkeys(sentences(60, 7)))
SETTINGS = {"text.vocab-size": "300"}


@pytest.fixture(autouse=True)
def _little_text(monkeypatch):
    monkeypatch.setattr(recipe_numbers, "LEAST_PAIRS", 1)


def write(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines))
    return str(path)


def lines(path):
    return path.read_text().splitlines()


def given(folder, extra=[], **changes):  # noqa: B006
    """Distinct pairs, with some others after them."""
    pairs = [(text, translate_words(text)) for text in SOURCES] + extra
    train = [
        write(folder / "train.en", [pair[0] for pair in pairs]),
        write(folder / "train.de", [pair[1] for pair in pairs]),
    ]
    usual = {"train": train, "valid": 7, "languages": ("en", "de"), "settings": SETTINGS}
    return Options(**usual | changes)


@pytest.fixture
def prepared(tmp_path):
    """Prepare the text of some options; return the facts and the folder."""
    numbers = itertools.count()

    def prepare_it(options):
        folder = tmp_path / f"plan-{next(numbers)}"
        folder.mkdir()
        return prepare_text(options.check(), folder, 1), folder

    return prepare_it


@pytest.mark.parametrize(
    "settings", [{}, {"text.drop-duplicates": "false", "text.max-tokens": "14"}]
)
@pytest.mark.parametrize("count", [9, 66])  # of 66 pairs, some share a side
def test_the_text_is_the_one_that_a_preparation_makes(settings, count, prepared, tmp_path):
    extra = [(f"open file {n % 5}", f"Datei {n % 5} auf Weise {n // 5}") for n in range(80)]
    extra += [*extra[:9], ("a dog", ""), ("a\x01dog", "ein Hund")]
    options = given(tmp_path, extra, valid=count, settings=SETTINGS | settings)
    facts, folder = prepared(options)
    rules = load("quick", (), {**SETTINGS, **settings}).text
    data = prepare(options.train, count, tmp_path / "data", rules)
    own = PreparedData.open(folder / "data")
    assert own.fingerprint == data.fingerprint
    assert own.text == rules
    report = json.loads((tmp_path / "data" / "report.json").read_text())
    assert json.loads((folder / "data" / "report.json").read_text()) == report
    long = report["dropped"].get("more than max_tokens", {"count": 0})["count"]
    assert (facts.kept, facts.cleaned) == (len(data.train), len(data.train) + long)
    assert bool(long) == (count == 9 and "text.max-tokens" in settings)
    assert facts.validation == count
    assert (facts.source_tokens, facts.target_tokens) == (
        data.train.source_tokens,
        data.train.target_tokens,
    )
    # The plain files have the same pairs.
    pairs = [*PairFiles.named(folder, "train").read()]
    encode = own.tokenizer.encode_source, own.tokenizer.encode_target
    ids = [encode[n]([pair[n] for pair in pairs]) for n in (0, 1)]
    for number, side in enumerate(zip(*ids, strict=True)):
        assert [row.tolist() for row in data.train.pair(number)] == [*side]
    assert {path.name for path in folder.iterdir()} == {"data", "train.source", "train.target"}


def test_the_lines_of_a_teacher_stay_with_their_pairs(prepared, tmp_path, monkeypatch):
    monkeypatch.setattr("headway.text.preparation.plan.RANGE", 13)
    extra = [("a dog", ""), (SOURCES[1], translate_words(SOURCES[1])), ("a cat", "eine Katze")]
    extra.append(extra[0])
    count = len(SOURCES) + len(extra)
    teacher = write(tmp_path / "teacher.de", [f"teacher {n}" for n in range(count)])
    _, folder = prepared(given(tmp_path, extra, teacher=teacher))
    numbers = {
        source: n for n, source in reversed([*enumerate([*SOURCES, *(e[0] for e in extra)])])
    }
    sources = lines(folder / "train.source")
    assert lines(folder / "teacher.source") == sources
    assert lines(folder / "teacher.target") == [f"teacher {numbers[source]}" for source in sources]


@pytest.mark.parametrize("difference", [-2, 1])
def test_a_teacher_of_another_length_is_refused(difference, prepared, tmp_path):
    count = len(SOURCES) + difference
    teacher = write(tmp_path / "teacher.de", ["ein Hund"] * count)
    with pytest.raises(HeadwayError, match=f"has {count} lines, but .* {len(SOURCES)} pairs"):
        prepared(given(tmp_path, teacher=teacher))


def test_copies_of_the_text_do_not_count(prepared, tmp_path):
    (usual, _), (copied, _) = (
        prepared(given(tmp_path, settings=SETTINGS | {"text.copies": count})) for count in "13"
    )
    assert copied.kept == usual.kept
    assert copied.target_tokens == pytest.approx(usual.target_tokens, rel=0.1)


def test_the_number_of_cleaned_pairs_chooses_the_settings(prepared, tmp_path, monkeypatch):
    """Also those that are too long: the settings must be known before the tokens are counted."""
    small, large = (
        replace(recipe_numbers.SCALES[0], most_pairs=most, common={"text.vocab-size": size})
        for most, size in ((len(SOURCES) - 7, "300"), (1e9, "310"))
    )
    monkeypatch.setattr(recipe_numbers, "SCALES", (small, large))
    for extra, size in (([], 300), ([("one more", "noch eins")], 310)):
        options = given(tmp_path, [*extra, *extra], settings={"text.max-tokens": "14"})
        facts, folder = prepared(options)
        assert PreparedData.open(folder / "data").text.vocab_size == size
        assert facts.kept < facts.cleaned == len(SOURCES) - 7 + len(extra)


@pytest.mark.parametrize("weight", [0.5, 99.0])
def test_monolingual_lines_are_taken_once_and_from_the_whole_text(
    weight, prepared, tmp_path, monkeypatch
):
    monkeypatch.setattr(recipe_text, "BATCH", 7)
    monkeypatch.setattr(recipe_text, "HELD", 100)
    monkeypatch.setattr(recipe_numbers, "MONO_WEIGHT", weight)
    all_lines = ["line\r 4001", *(f"line {n}" for n in range(1001))]
    bad = ["", "a\x01b", "line " * 40]
    file = write(tmp_path / "mono.en", [*all_lines, *bad, *all_lines[:100], "LINE  3"])
    test = [write(tmp_path / "test.en", ["line 9"]), write(tmp_path / "test.de", ["line 11"])]
    settings = SETTINGS | {"text.max-tokens": "20"}
    facts, folder = prepared(given(tmp_path, mono_source=[file], test=test, settings=settings))
    taken = (folder / "mono.source").read_bytes().decode().split("\n")[:-1]
    all_lines.remove("line 9")
    if weight > 1:
        assert taken == all_lines
    else:
        assert len(taken) == len(set(taken)) == pytest.approx(weight * facts.kept, abs=1)
        places = [all_lines.index(line) for line in taken]
        assert places == sorted(places)
        assert 300 < np.mean(places) < 700
    encode = PreparedData.open(folder / "data").tokenizer.encode_source
    assert facts.mono_lines == {"source": len(taken)}
    assert facts.mono_tokens == {"source": sum(map(len, encode(taken)))}


def test_joined_texts_stay_parallel_whatever_they_look_like(tmp_path):
    strange = ["<html><head/>", "\ufeffa\r", "", "a\u2028b\x85c", "PK\x03\x04"]
    part = PairFiles.named(tmp_path, "own")
    part.write(zip(strange, strange[::-1], strict=True))
    output = PairFiles.named(tmp_path, "all")
    JoinedText([(part, 2), (part.reversed, 1)], output, None).run()
    pairs = [*zip(strange, strange[::-1], strict=True)]
    assert [*output.read()] == [*pairs, *pairs, *(pair[::-1] for pair in pairs)]
    with part.target.open("a") as file:
        file.write("one more\n")
    with pytest.raises(HeadwayError, match=r"own\.source and .*own\.target: were changed"):
        JoinedText([(part, 1)], output, None).run()


def test_no_training_sees_the_test_text(prepared, tmp_path):
    held_out = [SOURCES[0].upper(), "something else"]  # case does not matter
    translated = [translate_words(SOURCES[0]), "y"]
    test = [write(tmp_path / "test.en", held_out), write(tmp_path / "test.de", translated)]
    _, folder = prepared(given(tmp_path, test=test))
    assert SOURCES[0] not in lines(folder / "train.source")
    assert [*PairFiles.named(folder, "test").read()] == [*zip(held_out, translated, strict=True)]


def test_no_training_sees_a_pair_of_the_test_text_that_a_translation_made(tmp_path):
    own, test = PairFiles.named(tmp_path, "own"), PairFiles.named(tmp_path, "test")
    own.write(zip(SOURCES[:4], ["one", "two", "three", "four"], strict=True))
    test.write([(SOURCES[1].upper(), "Two"), (SOURCES[2], "3")])
    output = PairFiles.named(tmp_path, "all")
    for held_out, kept in ((test, [0, 2, 3]), (None, [0, 1, 2, 3])):
        JoinedText([(own, 2)], output, held_out).run()
        assert lines(output.source) == [SOURCES[n] for n in kept] * 2


def test_text_in_another_encoding_is_read_with_it_and_refused_without(prepared, tmp_path):
    words = ["Ein Hund läuft.", "Die Bäume blühen.", "Öl schwimmt oben."] * 9
    (tmp_path / "mono.de").write_bytes("\n".join(words[:3]).encode("cp1252"))
    mono = str(tmp_path / "mono.de")
    facts, _ = prepared(given(tmp_path, encoding="cp1252", mono_target=[mono]))
    assert facts.mono_lines == {"target": 3}
    (tmp_path / "mono.de").write_bytes("\n".join(words).encode("cp1252"))
    with pytest.raises(HeadwayError, match=r"mono\.de: 27 of 27 lines cannot be read"):
        prepared(given(tmp_path, mono_target=[mono]))
    with pytest.raises(HeadwayError, match=r"mono\.de:1: .*--encoding cp1252"):
        prepared(given(tmp_path, teacher=mono))
    empty = write(tmp_path / "empty.en", ["", " "])
    with pytest.raises(HeadwayError, match=r"empty\.en: no line is left after cleaning"):
        prepared(given(tmp_path, mono_source=[empty]))
