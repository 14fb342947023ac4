"""The built-in corpus: deterministic, unambiguous, evenly mixed, and parallel in three languages."""

import inspect
import json
import os
import re
import subprocess
import sys
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

from headway.ext.demo.frames import SLOT, built_in_frames

pytest.importorskip("babel")
pytest.importorskip("num2words")

from headway.ext.demo import Example, corpus, generate, split
from headway.ext.demo.frames import slot_names
from headway.ext.demo.kinds import KINDS

COUNT = 4001


@pytest.fixture(scope="module")
def examples():
    return list(generate("en", "de", COUNT, seed=5))


def test_the_corpus_is_the_same_for_every_hash_seed_and_process(examples):
    script = (
        "import json; from headway.ext.demo import generate;"
        "print(json.dumps(list(generate('en', 'de', 203, seed=5))))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
    )
    assert [Example(*e) for e in json.loads(printed.stdout)] == examples[:203], printed.stderr


def test_another_seed_gives_another_corpus(examples):
    other = list(generate("en", "de", 503, seed=6))
    assert len({e.source for e in other} & {e.source for e in examples[:503]}) < 100


def test_pairs_are_distinct_and_have_two_sides(examples):
    assert len({e.source.casefold() for e in examples}) == len(examples) == COUNT
    assert all(e.source and e.target and e.source != e.target for e in examples)
    assert not any(mark in e.source + e.target for e in examples for mark in "{}_\t\n")


def test_the_part_of_a_pair_depends_on_its_source_alone(examples):
    sides = split(examples)
    assert sorted(e for side in sides for e in side) == sorted(examples)
    position = {e: i for i, e in enumerate(examples)}
    assert all(side == sorted(side, key=position.__getitem__) for side in sides)
    test = set(sides[2])
    assert 0.03 < len(test) / COUNT < 0.05
    assert 0.005 < len(sides[1]) / COUNT < 0.015
    assert split(examples[1000:1500])[2] == [e for e in examples[1000:1500] if e in test]
    changed = [Example("other", e.source.upper(), "another target") for e in examples]
    assert [e.source for e in split(changed)[2]] == [
        e.source.upper() for e in examples if e in test
    ]


def test_each_kind_has_its_share_of_the_corpus(examples):
    assert inspect.signature(generate).parameters["count"].default == 100_000
    assert len(KINDS) == 17
    for side, least, most in ((examples, 0.028, 0.05), (split(examples)[2], 0.005, 0.1)):
        shares = Counter(e.kind for e in side)
        assert set(shares) == {*KINDS, "sentence"}
        assert shares.pop("sentence") > 0.3 * len(side)
        assert all(least < share / len(side) < most for share in shares.values()), shares


@pytest.mark.parametrize("pair", [("en", "fr"), ("ja", "en")])
def test_a_source_has_one_target_in_every_corpus(pair):
    targets = {}
    for seed in (1, 2):
        for example in generate(*pair, 1009, seed=seed):
            known = targets.setdefault(example.source.casefold(), example.target)
            assert known == example.target
    assert len(targets) < 2 * 1009, "no source occurs twice, so nothing was tested"


@pytest.mark.parametrize("pair", [("fr", "sv"), ("ar", "ja")])
def test_text_is_nfkc_with_plain_spaces(pair):
    for example in generate(*pair, 401):
        for text in example[1:]:
            assert text == " ".join(unicodedata.normalize("NFKC", text).split())
            assert not {"\u200e", "\u200f"} & set(text)


def test_intervals_have_the_same_years_and_numbers_the_same_digits(examples):
    for e in examples:
        if e.kind == "interval":
            years = [
                {word for word in text.split() if len(word) == 4 and word.isdigit()}
                for text in (e.source, e.target)
            ]
            assert years[0] == years[1], e
        if e.kind in ("percent", "unit"):
            digits = ["".join(filter(str.isdigit, text)) for text in (e.source, e.target)]
            assert digits[0] == digits[1], e


def test_sentences_end_as_sentences_and_do_not_repeat_a_filling(examples):
    others = [e for pair in (("de", "fr"), ("fr", "en")) for e in generate(*pair, 701)]
    for e in [*examples, *others]:
        if e.kind == "sentence":
            for text in e[1:]:
                assert text[-1] in ".?"
                assert text[0].isupper() or text[0].isdigit()
        if "speaks fluent" in e.source:
            first, second = e.source.rstrip(".").split("fluent ")[1].split(" and ")
            assert first != second


def test_locales_without_frames_have_all_seventeen_kinds():
    for pair in (("es", "pt_BR"), ("en", "zh-Hant")):
        shares = Counter(e.kind for e in generate(*pair, 801))
        assert set(shares) == set(KINDS)
        assert min(shares.values()) > 0.03 * 801


def test_other_kinds_continue_when_one_is_exhausted(monkeypatch):
    monkeypatch.setattr(corpus, "has_frames", lambda formatter: False)
    days = [lambda fmt, day=day: fmt.weekday(day) for day in range(7)]
    small = {"weekday": lambda rng, catalog: [rng.choice(days)], "date": KINDS["date"]}
    monkeypatch.setattr(corpus, "KINDS", small)
    assert Counter(e.kind for e in generate("en", "de", 100)) == {"weekday": 7, "date": 93}
    monkeypatch.setattr(corpus, "KINDS", {"weekday": small["weekday"]})
    assert len(list(generate("en", "de", 100))) == 7


LANGUAGES = ["en", "de", "fr"]
DATA = built_in_frames()


def forms(word, language):
    """Return the forms of a word; a text is its only form."""
    return {"": word[language]} if isinstance(word[language], str) else word[language]


def test_every_frame_has_the_same_slots_in_every_language():
    assert len(DATA.sentences) >= 100
    for name, texts in DATA.sentences.items():
        assert list(texts) == LANGUAGES, f"frames.toml: [{name}]"
        for language, sentence in texts.items():
            place = f"frames.toml: [{name}]: {language}"
            assert slot_names(sentence) == slot_names(texts["en"]), place
            assert not set(SLOT.sub("", sentence)) & set("{}"), f"{place}: a brace outside a slot"
            assert re.search(r"[.?]$", sentence), place


def test_no_sentence_occurs_in_two_frames():
    for language in LANGUAGES:
        sentences = {SLOT.sub("{}", texts[language]) for texts in DATA.sentences.values()}
        assert len(sentences) == len(DATA.sentences)


def test_every_form_that_a_slot_names_exists():
    for name, texts in DATA.sentences.items():
        for language, sentence in texts.items():
            for slot in SLOT.finditer(sentence):
                words = DATA.tables.get(slot["name"], {}).values()
                known = {form for word in words for form in forms(word, language)}
                place = f"frames.toml: [{name}]: {language}: {slot[0]}"
                assert not slot["form"] or slot["form"] in known, place


def test_all_words_of_a_table_have_the_same_forms():
    for name, table in DATA.tables.items():
        first = next(iter(table.values()))
        for key, word in table.items():
            assert list(word) == LANGUAGES, f"words/{name}.toml: {key}"
            for language in LANGUAGES:
                place = f"words/{name}.toml: {key}: {language}"
                found = forms(word, language)
                assert found.keys() == forms(first, language).keys(), place
                empty = [form for form, text in found.items() if not text]
                # Only the ending of a French masculine participle is empty.
                assert empty in ([], ["e"]), place


ROOT = Path(__file__).parents[3]
FILES = [
    ROOT / "README.md",
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "docs" / "walk").glob("*.py"),
    *(ROOT / "src" / "headway").rglob("verbs/*.py"),
]
# A sentence beside the name of the demo's model, in a command or in a few lines of Python.
SENTENCES = re.compile(
    r'picture runs/demo "([^"]+)"|echo "([^"]+)" \| headway translate runs/demo'
    r'|load\("runs/demo"\)\n(?:.*\n)?.*?\.(?:translate|stream)\(\[?"([^"]+)"'
    r"|'q=([^']+)' -d source=en -d target=de"
)
EXAMPLES = sorted(
    {
        (str(file.relative_to(ROOT)), next(filter(None, groups)))
        for file in FILES
        for groups in SENTENCES.findall(file.read_text(encoding="utf-8"))
    }
)


def pattern_of(sentence):
    """Return a pattern of all that a frame's sentence can become; what a rule fills may be anything."""
    tables = built_in_frames().tables
    pattern, end = "", 0
    for slot in SLOT.finditer(sentence):
        forms = [word["en"] for word in tables.get(slot["name"], {}).values()]
        texts = {t for form in forms for t in ([form] if isinstance(form, str) else form.values())}
        pattern += re.escape(sentence[end : slot.start()])
        pattern += f"({'|'.join(map(re.escape, texts)) or '.+'})"
        end = slot.end()
    return pattern + re.escape(sentence[end:])


def test_every_example_is_a_sentence_of_the_corpus():
    files = {file for file, _ in EXAMPLES}
    assert {"README.md", "docs/serving.md", "docs/library.md", "docs/pictures.md"} <= files
    frames = built_in_frames().sentences.values()
    pattern = re.compile("|".join(pattern_of(texts["en"]) for texts in frames))
    assert not [example for example in EXAMPLES if not pattern.fullmatch(example[1])]
