"""The built-in corpus: deterministic, unambiguous, evenly mixed, and parallel in three languages."""

import hashlib
import inspect
import os
import subprocess
import sys
import unicodedata
from collections import Counter

import pytest

pytest.importorskip("babel")
pytest.importorskip("num2words")

from headway.errors import HeadwayError
from headway.ext.demo import Example, corpus, generate, split
from headway.ext.demo.kinds import KINDS

COUNT = 6007


@pytest.fixture(scope="module")
def examples():
    return list(generate("en", "de", COUNT, seed=5))


def digest(examples):
    return hashlib.sha256("\n".join("\t".join(e) for e in examples).encode()).hexdigest()


@pytest.mark.slow
def test_the_corpus_is_the_same_for_every_hash_seed_and_process(examples):
    script = (
        "import hashlib; from headway.ext.demo import generate;"
        "print(hashlib.sha256('\\n'.join('\\t'.join(e) for e in"
        " generate('en', 'de', 503, seed=5)).encode()).hexdigest())"
    )
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        printed = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True
        )
        assert printed.stdout.strip() == digest(examples[:503]), printed.stderr


def test_another_seed_gives_another_corpus(examples):
    other = list(generate("en", "de", 503, seed=6))
    assert len({e.source for e in other} & {e.source for e in examples[:503]}) < 100


def test_pairs_are_distinct_and_have_two_sides(examples):
    assert len(examples) == COUNT
    assert len({e.source.casefold() for e in examples}) == COUNT
    assert all(e.source and e.target and e.source != e.target for e in examples)
    assert not any(mark in e.source + e.target for e in examples for mark in "{}_\t\n")


def test_parts_of_a_split_share_no_source(examples):
    sides = split(examples)
    sources = [{e.source.casefold() for e in side} for side in sides]
    assert sources[0].isdisjoint(sources[1] | sources[2])
    assert sources[1].isdisjoint(sources[2])
    assert sum(map(len, sides)) == COUNT
    position = {e: i for i, e in enumerate(examples)}
    for side in sides:
        assert side == sorted(side, key=position.__getitem__)


def test_the_part_of_a_pair_depends_on_its_source_alone(examples):
    test = set(split(examples)[2])
    assert 0.03 < len(test) / COUNT < 0.05
    assert split(examples[1000:1500])[2] == [e for e in examples[1000:1500] if e in test]
    changed = [Example("other", e.source.upper(), "another target") for e in examples]
    assert [e.source for e in split(changed)[2]] == [
        e.source.upper() for e in examples if e in test
    ]


def test_each_kind_has_its_share_of_the_corpus(examples):
    shares = Counter(e.kind for e in examples)
    assert set(shares) == {*KINDS, "sentence"}
    assert len(KINDS) == 17
    assert shares.pop("sentence") > 0.33 * COUNT
    assert all(0.028 * COUNT < share < 0.05 * COUNT for share in shares.values()), shares


@pytest.mark.slow
def test_the_test_set_is_large_and_has_the_kinds_of_the_training_set():
    assert inspect.signature(generate).parameters["count"].default == 100_000
    train, valid, test = split(generate(count=50_000))  # half, which takes half the time
    assert len(test) >= 1800
    assert 250 <= len(valid) <= 550
    shares, training_shares = (Counter(e.kind for e in side) for side in (test, train))
    assert shares.pop("sentence") >= 0.3 * len(test)
    assert all(0.02 * len(test) < shares[kind] < 0.1 * len(test) for kind in KINDS), shares
    for kind in KINDS:
        assert abs(shares[kind] / len(test) - training_shares[kind] / len(train)) < 0.015


@pytest.mark.slow
@pytest.mark.parametrize("pair", [("en", "fr"), ("de", "en"), ("ja", "en")])
def test_a_source_has_one_target_in_every_corpus(pair):
    targets = {}
    for seed in (1, 2, 3):
        for example in generate(*pair, 1009, seed=seed):
            known = targets.setdefault(example.source.casefold(), example.target)
            assert known == example.target
    assert len(targets) < 3 * 1009, "no source occurs twice, so nothing was tested"


@pytest.mark.parametrize("pair", [("en", "de"), ("fr", "sv"), ("ar", "ja")])
def test_text_is_nfkc_with_plain_spaces(pair):
    for example in generate(*pair, 701):
        for text in example[1:]:
            assert text == unicodedata.normalize("NFKC", text)
            assert text == " ".join(text.split())
            assert not any(unicodedata.bidirectional(c) in ("LRM", "RLM") for c in text)
            assert "\u200f" not in text


def test_intervals_have_the_same_years_and_numbers_the_same_digits(examples):
    for e in examples:
        if e.kind == "interval":
            years = [{word for word in text.split() if len(word) == 4 and word.isdigit()}
                     for text in (e.source, e.target)]  # fmt: skip
            assert years[0] == years[1], e
        if e.kind in ("percent", "unit"):
            digits = ["".join(filter(str.isdigit, text)) for text in (e.source, e.target)]
            assert digits[0] == digits[1], e


@pytest.mark.slow
def test_sentences_end_as_sentences_and_do_not_repeat_a_filling():
    for pair in (("de", "fr"), ("fr", "en")):
        for e in generate(*pair, 2003):
            if e.kind == "sentence":
                for text in e[1:]:
                    assert text[-1] in ".?"
                    assert text[0].isupper() or text[0].isdigit()
                assert "{" not in e.source + e.target
    for e in generate("en", "de", 2003):
        if "speaks fluent" in e.source:
            first, second = e.source.rstrip(".").split("fluent ")[1].split(" and ")
            assert first != second


@pytest.mark.slow
def test_locales_without_frames_have_all_seventeen_kinds():
    for pair in (("es", "pt_BR"), ("en", "zh-Hant"), ("af", "el")):
        shares = Counter(e.kind for e in generate(*pair, 1511))
        assert set(shares) == set(KINDS)
        assert min(shares.values()) > 0.035 * 1511


def test_other_kinds_continue_when_one_is_exhausted(monkeypatch):
    small = {
        "weekday": lambda rng, catalog: (lambda day: (lambda fmt: fmt.weekday(day),))(
            rng.randrange(7)
        )
    }
    monkeypatch.setattr(corpus, "has_frames", lambda formatter: False)
    monkeypatch.setattr(corpus, "KINDS", small)
    assert len(list(generate("en", "de", 100))) == 7
    monkeypatch.setattr(corpus, "KINDS", {**small, "date": KINDS["date"]})
    shares = Counter(e.kind for e in generate("en", "de", 100))
    assert shares == {"weekday": 7, "date": 93}


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (("en", "dee"), "'dee' is not a CLDR locale (did you mean '"),
        (("pt_BRR", "en"), "did you mean 'pt_BR'?"),
        (("", "en"), "'' is not a CLDR locale"),
        (("de-DE-de-DE-de", "en"), "is not a CLDR locale"),
        (("de", "de"), "both de"),
    ],
)
def test_a_wrong_locale_gives_a_message_of_one_line(pair, message):
    with pytest.raises(HeadwayError) as caught:
        next(generate(*pair))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("package", ["babel", "num2words"])
def test_a_missing_package_is_named(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(HeadwayError, match=rf"{package}.*pip install 'headway\[demo\]'"):
        next(generate())
