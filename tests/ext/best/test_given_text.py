"""The text of a recipe: what is counted, imported, held out and joined."""

import itertools
import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from headway.config import TextConfig
from headway.errors import HeadwayError, UsageError
from headway.ext.best.estimates import list_stages
from headway.ext.best.execution import Processors, make_plan
from headway.ext.best.facts import TextFacts, count_tokens, learn_vocabulary, look_at
from headway.ext.best.given import GivenText, check_files
from headway.ext.best.recipe import begin_recipe
from headway.ext.best.recipe_numbers import Choices, choose_scale
from headway.ext.best.recipe_plan import Options
from headway.ext.best.text_work import ImportLines, ImportText, JoinPairs, KeepShort, PairFiles
from headway.ext.exchange.other_programs import OtherPrograms
from headway.text.preparation import prepare
from headway.text.tokenizer import Tokenizer
from support.toy_models import SOURCE_WORDS, sentences, translate_words

SOURCES = list(dict.fromkeys(sentences(60, 7)))


def write(path: Path, lines: list[str]) -> str:
    path.write_text("".join(f"{line}\n" for line in lines))
    return str(path)


def files(folder: Path, name: str) -> PairFiles:
    return PairFiles(source=folder / f"{name}.en", target=folder / f"{name}.de")


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def given(folder: Path, extra: list[tuple[str, str]] = [], **changes) -> GivenText:  # noqa: B006
    """Distinct pairs, with some others after them."""
    pairs = [(text, translate_words(text)) for text in SOURCES] + extra
    train = [
        write(folder / "train.en", [pair[0] for pair in pairs]),
        write(folder / "train.de", [pair[1] for pair in pairs]),
    ]
    return GivenText(**{"train": train, "valid": 7, "languages": ("en", "de")} | changes)


def imported(folder: Path, text: GivenText) -> tuple[PairFiles, PairFiles]:
    train, valid = files(folder / "text", "train"), files(folder / "text", "valid")
    ImportText(given=text, train=train, valid=valid, teacher=folder / "text" / "teacher.de").run()
    return train, valid


def facts_of(text: GivenText) -> TextFacts:
    facts, _ = look_at(text)
    return facts


@pytest.mark.slow
@pytest.mark.parametrize("drop_duplicates", [True, False])
def test_the_text_is_divided_as_by_a_preparation(drop_duplicates, tmp_path):
    """Pairs that share no side are held out first, and a shared side is recognized in other letter case."""
    extra = [(f"open file {n % 5}", f"Datei {n % 5} auf Weise {n // 5}") for n in range(80)]
    extra += [
        ("Open file 2", "Datei 2 auf Weise 3"),
        *extra[:9],
        ("a dog", ""),
        ("a\x01dog", "ein Hund"),
    ]
    rules = TextConfig(vocab_size=330, drop_duplicates=drop_duplicates)
    settings = {"text.drop-duplicates": str(drop_duplicates).lower()}
    for count in (9, 66):  # of 66 pairs, some share a side
        text = given(tmp_path, extra, valid=count, settings=settings)
        train, valid = imported(tmp_path, text)
        data = tmp_path / f"data-{count}"
        corpora = prepare(text.train, count, data, rules)
        held_out = (data / "valid.source", data / "valid.target")
        assert [lines(valid.source), lines(valid.target)] == [*map(lines, held_out)]
        assert len(lines(train.source)) == len(corpora.train)
        facts, report = facts_of(text), json.loads((data / "report.json").read_text())
        dropped = {rule: found["count"] for rule, found in report["dropped"].items()}
        assert dropped.pop("held out as validation text") >= count
        assert (facts.read, facts.kept) == (report["read"], len(lines(train.source)))
        assert facts.dropped == dropped
        assert (facts.validation, len(lines(valid.target))) == (count, count)
        if count == 9:  # about, if the held-out pairs are few
            characters = sum(map(len, lines(train.source)))
            assert 0.8 * characters < facts.source_characters < 1.2 * characters
    assert facts.dropped["one side is also in the held-out validation text"] > 0


def test_validation_files_are_copied_and_their_pairs_are_dropped_from_the_training_text(tmp_path):
    valid = [write(tmp_path / "valid.en", SOURCES[:3])]
    valid.append(write(tmp_path / "valid.de", [translate_words(text) for text in SOURCES[:3]]))
    text = given(tmp_path, valid=valid)
    train, copied = imported(tmp_path, text)
    assert lines(copied.source) == SOURCES[:3]
    assert lines(train.source) == SOURCES[3:]
    assert facts_of(text).dropped == {"also in validation or test text": 3}


def test_the_lines_of_a_teacher_stay_with_their_pairs(tmp_path):
    extra = [("a dog", ""), (SOURCES[1], translate_words(SOURCES[1])), ("a cat", "eine Katze")]
    count = len(SOURCES) + len(extra)
    teacher = write(tmp_path / "teacher.de", [f"teacher {n}" for n in range(count)])
    text = given(tmp_path, extra, teacher=teacher)
    train, _ = imported(tmp_path, text)
    numbers = {
        source: n for n, source in reversed([*enumerate([*SOURCES, *(e[0] for e in extra)])])
    }
    expected = [f"teacher {numbers[source]}" for source in lines(train.source)]
    assert lines(tmp_path / "text" / "teacher.de") == expected


@pytest.mark.parametrize("difference", [-2, 1])
def test_a_teacher_of_another_length_is_refused(difference, tmp_path):
    count = len(SOURCES) + difference
    teacher = write(tmp_path / "teacher.de", ["ein Hund"] * count)
    with pytest.raises(HeadwayError, match=f"has {count} lines, but .* {len(SOURCES)} pairs"):
        look_at(given(tmp_path, teacher=teacher))


def test_a_text_without_pairs_is_refused_with_its_file_and_the_reason(tmp_path):
    some, none = write(tmp_path / "a.de", ["ein Hund"] * 3), write(tmp_path / "none.en", [])
    text = GivenText(train=[none, none], valid=[some, some], languages=("en", "de"), teacher=some)
    with pytest.raises(HeadwayError, match=r"a\.de has 3 lines, but .* 0 pairs"):
        look_at(text)
    with pytest.raises(HeadwayError, match=r"none\.en: has no pairs: give training text"):
        look_at(replace(text, teacher=None))
    copied = replace(text, train=[some, some], teacher=None)
    with pytest.raises(HeadwayError, match=r"a\.de: 3 of 3 .* --text\.compare-sides false"):
        look_at(copied)
    with pytest.raises(HeadwayError, match=r"none\.en: has no pairs: give validation text"):
        look_at(given(tmp_path, valid=[none, none]))
    own = given(tmp_path)
    spoiled = [write(tmp_path / "c.en", ["a\x01", "b"]), write(tmp_path / "c.de", ["ein Hund", ""])]
    reason = r"c\.en: none of 2 training pairs is left \(1: .*, 1: a side is empty\)"
    with pytest.raises(HeadwayError, match=reason):
        look_at(replace(own, train=spoiled, valid=[some, some]))


def test_text_that_can_be_read_only_once_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in (str(tmp_path / "pipe"), str(tmp_path / "-")):
        with pytest.raises(UsageError, match=rf"{name}: text is read several times"):
            check_files(given(tmp_path, mono_source=[name]))
    with pytest.raises(UsageError, match=r"is a directory: give a file$"):
        check_files(given(tmp_path, mono_source=[str(tmp_path)]))
    check_files(given(tmp_path, mono_source=["missing"]))  # its reader says so


@pytest.mark.slow
@pytest.mark.parametrize("sample", [0, 11])
def test_a_vocabulary_that_the_first_training_could_not_learn_is_refused(sample, tmp_path):
    """Held-out pairs and duplicates count as little as they do there."""
    text = given(tmp_path, [(SOURCES[0], translate_words(SOURCES[0]))] * 9, valid=25)
    train, valid = imported(tmp_path, text)
    _, decisions = look_at(text)

    def prepare_with(size: int) -> None:
        rules = TextConfig(vocab_size=size, sample_lines=sample)
        data = tmp_path / f"data-{size}"
        prepare([train.source, train.target], [valid.source, valid.target], data, rules)

    def check_with(size: int) -> None:
        learn_vocabulary(text, decisions, TextConfig(vocab_size=size, sample_lines=sample))

    with pytest.raises(HeadwayError, match=r"vocab_size = 5000 is too large .* --text") as refused:
        check_with(5000)
    largest = int(re.search(r"set it to (\d+) or less", str(refused.value))[1])
    for function in (check_with, prepare_with):
        function(largest)
        with pytest.raises(HeadwayError, match=f"vocab_size = {largest + 1} is too large"):
            function(largest + 1)


@pytest.mark.parametrize("sample", [10_000, 20])
def test_tokens_are_those_of_the_first_training_which_drops_long_pairs(
    sample, tmp_path, monkeypatch
):
    monkeypatch.setattr("headway.ext.best.facts.SAMPLE", sample)
    rules = TextConfig(vocab_size=300, max_tokens=14)
    text = given(tmp_path)
    train, valid = imported(tmp_path, text)
    facts, decisions = look_at(text)
    counted = count_tokens(text, facts, decisions, learn_vocabulary(text, decisions, rules), 14)
    data = prepare(
        [train.source, train.target], [valid.source, valid.target], tmp_path / "data", rules
    )
    few = 1e-9 if sample > len(SOURCES) else 0.25  # by a part of the pairs
    assert 10 < len(data.train) < facts.kept - 10
    assert counted.kept == pytest.approx(len(data.train), rel=few)
    assert counted.source_tokens == pytest.approx(data.train.source_tokens, rel=few)
    assert counted.target_tokens == pytest.approx(data.train.target_tokens, rel=few)
    assert counted.dropped == {**facts.dropped, "more than max_tokens": facts.kept - counted.kept}
    assert counted.source_characters / counted.kept < facts.source_characters / facts.kept
    with pytest.raises(
        HeadwayError, match=r"every training pair is longer .* = 1: divide its lines"
    ):
        count_tokens(text, facts, decisions, learn_vocabulary(text, decisions, rules), 1)


def test_monolingual_lines_are_measured(tmp_path):
    """Each of them once, as the import takes them."""
    mono = write(tmp_path / "mono.en", ["a dog sees a cat"] * 3 + ["a cat " * 40])
    facts = facts_of(given(tmp_path, mono_source=[mono]))
    assert (facts.mono_source, facts.mono_target) == (2, 0)
    assert facts.mono_source_characters == 16 + 240 - 1
    mean = facts.source_characters / facts.kept
    assert facts.compare_lengths("source") == pytest.approx(255 / 2 / mean)


def test_many_monolingual_lines_are_counted_by_a_part_of_them(tmp_path, monkeypatch):
    mono = write(tmp_path / "mono.en", [f"line {n} of many" for n in range(20_000)] * 2)
    exact = facts_of(given(tmp_path, mono_source=[mono]))
    assert exact.mono_source == 20_000
    monkeypatch.setattr("headway.ext.best.facts.MOST_DIGESTS", 3_000)
    about = facts_of(given(tmp_path, mono_source=[mono]))
    assert about.mono_source == pytest.approx(20_000, rel=0.1)
    assert about.mono_source_characters == pytest.approx(exact.mono_source_characters, rel=0.1)


@pytest.mark.parametrize(("sample", "exact"), [(10_000, 1e-9), (300, 0.2)])
def test_monolingual_lines_that_are_too_long_are_no_part_of_a_plan(
    sample, exact, tmp_path, monkeypatch
):
    monkeypatch.setattr("headway.ext.best.facts.SAMPLE", sample)
    short = [f"a dog {n}" for n in range(1_000)]
    mono = write(tmp_path / "mono.de", [*short, *(f"{n} dog" + " a dog" * 20 for n in range(500))])
    text = given(tmp_path, mono_target=[mono])
    facts, decisions = look_at(text)
    tokenizer = learn_vocabulary(text, decisions, TextConfig(vocab_size=300))
    counted = count_tokens(text, facts, decisions, tokenizer, 20)
    assert (facts.mono_target, counted.mono_source) == (1_500, 0)
    assert counted.mono_target == pytest.approx(1_000, rel=exact)
    assert counted.mono_target_characters == pytest.approx(sum(map(len, short)), rel=exact)
    long = write(tmp_path / "long.de", [" ".join(["a dog"] * 30)])
    with pytest.raises(HeadwayError, match=r"long\.de: every line is longer than .* = 20: divide"):
        count_tokens(replace(text, mono_target=[long]), facts, decisions, tokenizer, 20)


def planned(train: Sequence[str]) -> Options:
    return Options(train=train, valid=100, languages=("en", "de"))


@pytest.mark.slow
def test_vocabulary_and_settings_are_checked_before_a_plan_of_many_pairs_too(tmp_path):
    pairs = itertools.islice(itertools.product(SOURCE_WORDS, repeat=4), 10_101)
    sources = [" ".join(words) for words in pairs]
    train = [
        write(tmp_path / "many.en", sources),
        write(tmp_path / "many.de", [translate_words(text) for text in sources]),
    ]
    options = planned(train)
    with pytest.raises(HeadwayError, match="vocab_size = 8000 is too large"):
        make_plan(tmp_path / "out", options, Processors(0, 0))
    options = replace(options, settings={"model.d-model": "256"})
    with pytest.raises(UsageError, match=r"headway best itself sets --model\.num-heads 6"):
        make_plan(tmp_path / "out", options, Processors(0, 0))


def test_pairs_that_are_too_long_choose_the_settings_with_the_others(tmp_path):
    """The settings must be known before the tokens are counted."""
    text = given(tmp_path)
    facts, decisions = look_at(text)
    rules = TextConfig(vocab_size=300)
    counted = count_tokens(text, facts, decisions, learn_vocabulary(text, decisions, rules), 14)
    assert counted.kept < facts.kept == counted.cleaned == facts.cleaned
    many = replace(counted, kept=9_990, dropped={"more than max_tokens": 20, "occurs before": 5})
    options = replace(planned(text.train), valid=7)
    for found, is_wide in ((many, True), (replace(many, dropped={}), False)):
        stages = list_stages(begin_recipe(tmp_path, options, found, Choices()))
        training = next(stage for stage in stages if stage.run)
        assert ("--model.d-model" in training.commands[0].words) == is_wide


def test_held_out_pairs_that_leave_no_training_pair_are_refused(tmp_path):
    pairs = [(f"{source} {n}", f"target {n % 2}") for n, source in enumerate(SOURCES)]
    train = [
        write(tmp_path / "a.en", [source for source, _ in pairs]),
        write(tmp_path / "a.de", [target for _, target in pairs]),
    ]
    with pytest.raises(
        HeadwayError, match="--valid 9: each training pair has a side of a held-out"
    ):
        imported(tmp_path, GivenText(train=train, valid=9, languages=("en", "de")))


def test_too_many_or_no_held_out_pairs_are_refused(tmp_path):
    for count in (0, 40):
        with pytest.raises(HeadwayError, match=f"--valid {count}: must be from 1 to "):
            look_at(given(tmp_path, valid=count))
    extra = [(SOURCES[0], translate_words(SOURCES[0]))] * (20 * len(SOURCES))
    with pytest.raises(HeadwayError, match=r"--valid 40: .*--text\.drop-duplicates false keeps"):
        look_at(given(tmp_path, extra, valid=40))


def save_vocabulary(folder: Path, *, joint: bool = True) -> Tokenizer:
    """As in the run directory of a model."""
    pairs = [(text, translate_words(text)) for text in SOURCES]
    tokenizer = Tokenizer.learn(pairs, TextConfig(vocab_size=290, joint_vocab=joint))
    tokenizer.save(folder)
    return tokenizer


@pytest.mark.parametrize("joint", [True, False])
def test_pairs_that_are_too_long_to_train_on_are_not_translated(joint, tmp_path, monkeypatch):
    monkeypatch.setattr("headway.ext.best.text_work.BATCH", 7)
    monkeypatch.setattr("headway.ext.best.facts.BATCH", 3)
    tokenizer = save_vocabulary(tmp_path, joint=joint)
    text = given(tmp_path)
    real = PairFiles(source=Path(text.train[0]), target=Path(text.train[1]))
    valid = [write(tmp_path / "valid.en", ["another"]), write(tmp_path / "valid.de", ["text"])]
    data = prepare(
        list(text.train), valid, tmp_path / "data", TextConfig(max_tokens=14), tokenizer=tokenizer
    )
    short = files(tmp_path / "text", "short")
    KeepShort(pairs=real, model=tmp_path, most=14, output=short).run()
    kept = [*short.read()]
    assert 10 < len(kept) == len(data.train) < len(SOURCES) - 10
    assert kept == [pair for pair in real.read() if pair in kept]
    sources, targets = zip(*kept, strict=True)
    assert sum(map(len, tokenizer.encode_source(sources))) == data.train.source_tokens
    assert sum(map(len, tokenizer.encode_target(targets))) == data.train.target_tokens


@pytest.mark.parametrize("share", [0.25, 2.0])
def test_monolingual_lines_are_taken_once_and_from_the_whole_text(share, tmp_path, monkeypatch):
    monkeypatch.setattr("headway.ext.best.text_work.BATCH", 7)
    save_vocabulary(tmp_path)
    all_lines = ["line\r 4001", *(f"line {n}" for n in range(4001))]
    file = write(tmp_path / "mono.en", [*all_lines, "", "a\x01b", "line " * 20, *all_lines[:100]])
    output = tmp_path / "text" / "mono.en"
    valid = tmp_path / "valid.en"
    # Case and white space do not matter, and only \n ends a line.
    valid.write_bytes(b"Line  7\nnothing\nline \r 4001\n")
    test = [write(tmp_path / "test.en", ["line 9"]), write(tmp_path / "test.de", ["line 11"])]
    ImportLines(
        given=given(tmp_path, test=test), side="source", files=[file], share=share, valid=valid, model=tmp_path,
        most=12, output=output,
    ).run()  # fmt: skip
    all_lines.remove("line\r 4001")
    all_lines.remove("line 7")
    all_lines.remove("line 9")
    taken = lines(output)
    assert len(taken) == len(set(taken))
    if share > 1:
        assert taken == all_lines
    else:
        assert abs(len(taken) - 1000) < 100
        parts = [sum(int(t.split()[1]) // 1001 == part for t in taken) for part in range(4)]
        assert min(parts) > 200


def test_joined_texts_stay_parallel(tmp_path):
    text = given(tmp_path)
    real = PairFiles(source=Path(text.train[0]), target=Path(text.train[1]))
    output = files(tmp_path / "text", "all")
    JoinPairs(given=text, parts=[(real, 3), (real.reversed, 1)], output=output).run()
    pairs = [*zip(lines(real.source), lines(real.target), strict=True)]
    expected = [*itertools.chain(pairs, pairs, pairs, [pair[::-1] for pair in pairs])]
    assert [*zip(lines(output.source), lines(output.target), strict=True)] == expected


def test_no_training_sees_the_test_text(tmp_path):
    held_out = [SOURCES[0].upper(), "something else"]  # case does not matter
    translated = [translate_words(SOURCES[0]), "y"]
    test = [write(tmp_path / "test.en", held_out), write(tmp_path / "test.de", translated)]
    text = given(tmp_path, test=test)
    assert facts_of(text).dropped == {"also in validation or test text": 1}
    train, _ = imported(tmp_path, text)
    assert SOURCES[0] not in lines(train.source)
    # Nor by a teacher, whose line is the reference of a test pair that the user translates otherwise.
    write(tmp_path / "test.en", SOURCES[:2])
    write(tmp_path / "test.de", ["Ein Hund", "eine Katze"])
    others = [f"teacher {n}" for n in range(2, len(SOURCES))]
    teacher = write(tmp_path / "teacher.de", ["ein  hund", "another", *others])
    text = given(tmp_path, test=test, teacher=teacher)
    assert facts_of(text).dropped == {"also in validation or test text": 1}
    train, _ = imported(tmp_path, text)
    assert SOURCES[0] not in lines(train.source)
    assert "ein  hund" not in lines(tmp_path / "text" / "teacher.de")


def test_no_training_sees_a_pair_of_the_test_text_that_a_translation_made(tmp_path):
    sources, targets = SOURCES[:4], ["one", "two", "three", "four"]
    own = PairFiles(source=tmp_path / "own.source", target=tmp_path / "own.target")
    write(own.source, sources)
    write(own.target, targets)
    test = [
        write(tmp_path / "test.en", [sources[1].upper(), sources[2]]),
        write(tmp_path / "test.de", ["Two", "3"]),
    ]
    output = files(tmp_path, "all")
    for drop_leaks, kept in (("true", [0, 2, 3]), ("false", [0, 1, 2, 3])):
        text = given(tmp_path, test=test, settings={"text.drop-leaks": drop_leaks})
        work = JoinPairs(given=text, parts=[(own, 2)], output=output)
        work.run()
        assert lines(output.source) == [sources[n] for n in kept] * 2
        assert lines(output.target) == [targets[n] for n in kept] * 2
        assert work.reads == (test if drop_leaks == "true" else [])


def test_the_text_of_a_recipe_is_joined_whatever_it_looks_like(tmp_path):
    strange = ["<html><head/>", "\ufeffa\r", "", "a\u2028b\x85c", "PK\x03\x04"]
    part = PairFiles(source=tmp_path / "own.source", target=tmp_path / "own.target")
    text = "".join(f"{line}\n" for line in strange).encode()
    part.source.write_bytes(text)
    part.target.write_bytes(text)
    output = files(tmp_path, "all")
    JoinPairs(given=given(tmp_path), parts=[(part, 1)], output=output).run()
    assert output.source.read_bytes() == output.target.read_bytes() == text
    part.target.write_bytes(text + b"one more\n")
    with pytest.raises(HeadwayError, match=r"own\.source and .*own\.target: were changed"):
        JoinPairs(given=given(tmp_path), parts=[(part, 1)], output=output).run()


def test_text_in_another_encoding_is_read_with_it_and_refused_without(tmp_path):
    words = ["Ein Hund läuft.", "Die Bäume blühen.", "Öl schwimmt oben."] * 9
    (tmp_path / "train.de").write_bytes("\n".join(words).encode("cp1252"))
    sources = [f"a dog runs {n}" for n in range(27)]
    train = [write(tmp_path / "train.en", sources), str(tmp_path / "train.de")]
    (tmp_path / "mono.de").write_bytes("\n".join(words[:3]).encode("cp1252"))
    teacher = mono = str(tmp_path / "mono.de")
    text = GivenText(train=train, valid=1, languages=("en", "de"))
    with pytest.raises(
        HeadwayError, match=r"train\.de: 27 of 27 pairs cannot be read.*--encoding cp1252"
    ):
        look_at(text)
    assert facts_of(replace(text, encoding="cp1252", mono_target=[mono])).mono_target == 3
    fit = replace(given(tmp_path), mono_target=[mono])
    with pytest.raises(HeadwayError, match=r"mono\.de:1: .*--encoding cp1252"):
        look_at(replace(fit, mono_target=[], teacher=teacher))
    (tmp_path / "mono.de").write_bytes("\n".join(words).encode("cp1252"))
    with pytest.raises(HeadwayError, match=r"mono\.de: 27 of 27 lines cannot be read"):
        look_at(fit)
    empty = write(tmp_path / "empty.en", ["", " "])
    with pytest.raises(HeadwayError, match=r"empty\.en: no line is left after cleaning"):
        look_at(replace(fit, mono_target=[], mono_source=[empty]))


@pytest.mark.parametrize("busy", [0.5, 0.7])
def test_a_plan_says_how_busy_other_programs_were_while_this_machine_was_measured(
    busy, tmp_path, monkeypatch, capsys
):
    said_before = []

    def measure(*_: object) -> float:
        said_before.append(capsys.readouterr().err)
        return 1e12

    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(OtherPrograms, "busy_cores", lambda self: busy)
    monkeypatch.setattr("headway.ext.best.recipe_numbers.LEAST_PAIRS", 1)
    monkeypatch.setattr(Processors, "run", lambda *_: 0)
    monkeypatch.setattr("headway.ext.best.estimates.read_speed", measure)
    options = replace(planned(given(tmp_path).train), valid=7, settings={"text.vocab-size": "300"})
    make_plan(tmp_path / "out", options, Processors(0, 0))
    assert "other programs" not in said_before[0]
    is_said = "other programs kept 0.7 of 2 cores busy meanwhile" in capsys.readouterr().err
    assert is_said == (busy > 0.6)


def test_only_a_plan_with_a_sweep_needs_its_larger_vocabulary(tmp_path, monkeypatch):
    sweep = ({"text.vocab-size": "300"}, {"text.vocab-size": "30000"})
    scale = replace(choose_scale(20_000), sweep=sweep)
    monkeypatch.setattr("headway.ext.best.recipe_numbers.choose_scale", lambda pairs: scale)
    monkeypatch.setattr("headway.ext.best.recipe_numbers.LEAST_PAIRS", 1)
    monkeypatch.setattr(Processors, "run", lambda *_: 0)
    monkeypatch.setattr("headway.ext.best.estimates.read_speed", lambda output: 1e12)
    options = replace(planned(given(tmp_path).train), valid=7)
    plan = make_plan(tmp_path / "out", replace(options, hours=1e-4), Processors(0, 0))
    assert not plan.choices.sweep
    with pytest.raises(HeadwayError, match="vocab_size = 30000 is too large"):
        make_plan(tmp_path / "out", replace(options, hours=1e4), Processors(0, 0))
