"""Sentence frames and word tables are complete in every language, and fit together."""

import re

import pytest

pytest.importorskip("babel")
pytest.importorskip("num2words")

from headway.ext.demo.fillers import FILLERS
from headway.ext.demo.frames import SLOT, built_in_frames, slot_names

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


def test_every_slot_is_a_rule_or_a_word_table():
    slots = {slot for texts in DATA.sentences.values() for slot in slot_names(texts["en"])}
    assert {slot.removesuffix("2") for slot in slots} == FILLERS.keys() | DATA.tables.keys()
    assert not FILLERS.keys() & DATA.tables.keys()


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
