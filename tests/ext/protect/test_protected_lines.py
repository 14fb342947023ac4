"""Lines with tags, labels of lists, terms or capitals: what the model does not read is in the translation."""

import copy
import random
import re
import time
import unicodedata
from dataclasses import replace
from unicodedata import normalize

import pytest
import torch

from headway.config import SearchConfig
from headway.ext.protect import find_protected_text
from headway.ext.protect.capitals import (
    find_initials,
    is_in_capitals,
    to_capitals,
    to_small_letters,
)
from headway.ext.protect.glossary import Glossary, Term
from headway.ext.protect.line_pieces import find_list_label
from headway.model import Transformer
from headway.text.words import find_words
from headway.translation import Hypothesis, Translator
from headway.translation.engines import constrained_decoding
from headway.translation.pipeline import Found
from headway.translation.token_stream import stream_tokens
from support.cases import each_case, own_rows
from support.pieces import cut, find, join
from support.toy_models import normalizing_tokenizer, sentences, small_config

SEARCH = SearchConfig(max_extra=7)


def test_a_prefix_stands_behind_what_stays_before_the_sentence(translator):
    lines = ["<br>the cat sees", "{a}: the cat sees", "THE CAT SEES", "{a}", ""]
    found = [n_best[0].text for n_best in translator.stream(lines, SEARCH, prefix="die Katze")]
    expected = ["<br>die Katze", "{a}: die Katze", "DIE KATZE", "{a}", ""]
    assert [text[: len(start)] for text, start in zip(found, expected, strict=True)] == expected
    assert found[3:] == lines[3:]


@pytest.mark.parametrize(
    "label",
    ["1. ", "12)  ", "(3) ", "a) ", "(b) ", "[4] ", "iv) ", "II. ", "2.1. ", "- ", "\u2013 ", "* "],
)
def test_the_label_of_a_list_stays_and_is_not_read(translator, label):
    text, search = "The cat sees a dog", replace(SEARCH, split_sentences=True)
    expected = translator.translate(text, search)
    assert translator.translate(label + text, search) == label + expected
    assert translator.translate(f"{label}{text}<br>{label}{text}", search) == (
        f"{label}{expected}<br>{label}{expected}"
    )
    [piece], [plain] = (cut(translator, line, search) for line in (label + text, text))
    assert "".join(stream_tokens(translator, piece)) == label + "".join(
        stream_tokens(translator, plain)
    )
    [prefixed], [own] = (
        next(translator.stream([label + text], search, prefix=start))
        for start in (label + "die", "die")
    )
    assert prefixed.text == own.text
    pieces = cut(translator, label + text, replace(search, keep=False))
    assert [piece.before for piece in pieces] == [""] * len(pieces)
    # The words of the label are linked to themselves.
    words = len(find_words(label))
    [found], [alone] = (
        next(translator.stream([line], search, align=True)) for line in (label + text, text)
    )
    assert alone.alignment
    assert found.alignment == [
        *((word, word) for word in range(words)),
        *((s + words, t + words) for s, t in alone.alignment),
    ]


@each_case
def test_what_only_looks_like_the_label_of_a_list_is_read(text, language):
    assert not find_list_label(text, language, is_split=True)


def test_a_number_is_a_label_also_before_a_small_letter_where_no_rank_is_written_so():
    for language in ("en", "fr", "es", "it", "nl", "ru"):
        for label in ("1. ", "12. ", "IV. ", "1.2. "):
            assert find_list_label(f"{label}the cat", language, is_split=True) == label


def test_a_number_with_a_full_stop_is_no_label_where_lines_are_not_divided(translator):
    whole = replace(SEARCH, split_sentences=False)
    for line, before in (("1. the cat sees", ""), ("1) the cat sees", "1) ")):
        [piece] = cut(translator, line, whole)
        assert (piece.before, piece.before + piece.text) == (before, line)


def test_a_term_may_begin_in_what_looks_like_a_label(translator):
    glossary = Glossary.of({"c) cat": "Katze", "dog": "Hund"})
    found = translator.with_glossary(glossary).translate(["c) cat sees", "c) dog sees"], SEARCH)
    assert "Katze" in found[0]
    assert not found[0].startswith("c)")
    assert found[1].startswith("c) ")
    assert "Hund" in found[1]


NORMALIZED = [
    "The user {name} l´homme l´or l´art",
    "a\u200bb {x} the\u200bcat cat\u200bcat",
    "l´or ½ l´art",
]


@pytest.mark.parametrize("line", NORMALIZED)
def test_normalization_that_adds_or_removes_words_leaves_links_in_range(line):
    tokenizer = normalizing_tokenizer()
    for seed in range(8):
        torch.manual_seed(seed)
        model = Transformer(small_config(tokenizer).model)
        translator = Translator(model, tokenizer, replace(SEARCH, beam=1))
        glossary = Glossary.of({"l´or": "tree", "cat": "dog"})
        for each in (translator, translator.with_glossary(glossary)):
            [[found]] = each.stream([line], align=True)
            assert found.alignment is not None
            for source, target in found.alignment:
                assert source < len(find_words(line))
                assert target < len(find_words(found.text))


def test_streamed_tokens_have_the_tags_of_breaks(translator):
    search = replace(translator.default_search, beam=1)
    line = "<p> the cat sees<br> the dog</p><p>{x} sees THE CAT<br>THE CAT SEES</p>"
    pieces = cut(translator, line)
    streamed = ["".join(stream_tokens(translator, piece)) for piece in pieces]
    found = find(translator, pieces, search)
    pairs = zip(pieces, found, strict=True)
    assert streamed == [join(translator, [s], [n_best])[0].text for s, n_best in pairs]
    assert re.findall("<.*?>", "".join(streamed)) == re.findall("<.*?>", line)


def test_a_line_in_capitals_is_read_as_a_sentence(translator):
    small = ["The cats see the dog.", "The cats see {name}.", "The house. The dogs see {x}."]
    large = ["THE CATS SEE THE DOG.", "THE CATS SEE {name}.", "THE HOUSE. THE DOGS SEE {x}."]
    expected = [
        [to_capitals(each.text, "de") for each in n_best] for n_best in translator.stream(small)
    ]
    assert [[each.text for each in n_best] for n_best in translator.stream(large)] == expected
    assert "{name}" in expected[1][0]
    # As it is, the model reads something else.
    search = replace(translator.default_search, keep=False)
    [[raw]], [[read]] = translator.stream(large[:1], search), translator.stream(small[:1], search)
    assert raw.tokens != read.tokens


def test_terms_of_a_line_in_capitals_are_read_and_written_as_its_other_words(translator):
    terms = [Term("dogs", ("Baum",)), Term("FENCE", ("Hof",), is_case_sensitive=True)]
    own = translator.with_glossary(Glossary(terms))
    # The only long words are terms; without them, the lines may be abbreviations.
    assert [each.is_capital for line in ("THE DOGS", "FENCE") for each in cut(own, line)] == [
        True
    ] * 2
    lines = ["THE DOGS", "FENCE", "DOGS SEE THE FENCE."]
    found = own.translate(lines)
    assert all(text.isupper() for text in found)
    assert all(term in text for term, text in zip(("BAUM", "HOF", "BAUM"), found, strict=True))
    [piece] = cut(own, lines[0])
    [small] = cut(own, "The dogs")
    assert piece.masked_source.ids == small.masked_source.ids


def test_the_translation_of_capitals_is_in_capitals(translator):
    [tokens] = translator.tokenizer.encode_target(["the cat"])
    [small] = cut(translator, "The cat")
    [large] = cut(translator, "THE CATS")
    written = [
        join(translator, [piece], [[Hypothesis(tokens, 0.0, 0.0)]])[0].text
        for piece in (small, large)
    ]
    assert written == ["the cat", "THE CAT"]
    [tokens] = translator.tokenizer.encode_target(["a fish in it"])
    for target, expected in (("de", "A FISH IN IT"), ("tr", "A FİSH İN İT")):
        chosen = copy.copy(translator)
        chosen.languages = ("en", target)
        [joined] = join(chosen, [large], [[Hypothesis(tokens, 0.0, 0.0)]])
        assert joined.text == expected


def test_a_choice_among_translations_with_terms_is_as_long_as_asked_for(pair, monkeypatch):
    monkeypatch.setattr(constrained_decoding, "NATURAL", -100.0)  # no term has a natural place
    plain = Translator(pair.model, pair.tokenizer, languages=pair.languages)
    glossary = Glossary.of({"dog": "Baum"})
    lines = sentences(12, 3)
    search = replace(SEARCH, candidates=5)
    for translator, mbr in ((plain, True), (pair, False)):
        own = translator.with_glossary(glossary)
        first = own.stream(lines, replace(search, mbr=mbr))
        found = list(own.stream(lines, replace(search, mbr=mbr, n_best=3)))
        assert {len(n_best) for n_best in found} == {3}
        assert [n_best[0].text for n_best in found] == [best.text for [best] in first]


SPACES = [c for c in map(chr, range(0x3001)) if c.isspace() and c not in "\n\r"] + ["\u200b"]
# Controls, and Default_Ignorable_Code_Point of Unicode without the space of no width.
UNSEEN = [
    chr(c)
    for first, last in [
        (0x0, 0x8), (0xE, 0x1B), (0x7F, 0x84), (0x86, 0x9F), (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x200C, 0x200F),
        (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0),
        (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
    ]
    for c in range(first, last + 1)
]  # fmt: skip


def list_read(translator, line):
    """Return the token ids that a model reads for a line."""
    return [(piece.masked_source or piece).ids for piece in cut(translator, line)]


def test_every_invisible_character_is_read_as_nothing(translator):
    assert len(UNSEEN) > 4_000
    lines = ["The cat {x} sees 5 km of the house", "The cat sees the house."]
    plain = [list_read(translator, line) for line in lines]
    for unseen in UNSEEN:
        for put in (f"ho{unseen}use", f"{unseen} house"):
            changed = [line.replace("house", put) for line in lines]
            assert [list_read(translator, line) for line in changed] == plain, ascii(unseen)
        # A word does not end there, so that it is neither a unit nor a code.
        for text in (f"34 min{unseen}utes", f"The A4{unseen}b"):
            assert find_protected_text(text) == [], ascii(unseen)


def test_a_thousand_lines_of_decomposed_letters_are_read_as_composed_ones(translator):
    letters = [c for c in map(chr, range(0xC0, 0x2000)) if len(unicodedata.normalize("NFD", c)) > 1]
    letters += [chr(c) for c in range(0xAC00, 0xD7A4, 97)]
    letters = [c for c in letters if unicodedata.normalize("NFC", c) == c and c.isalpha()]
    assert len(letters) > 800
    chooser, lines = random.Random(4), 0
    for sentence in sentences(1_000, 8):
        words = sentence.split()
        for letter in chooser.choices(letters, k=3):
            place = chooser.randrange(len(words))
            words[place] = words[place][:1] + letter + words[place][1:]
        line = " ".join([*words[:2], *chooser.choices(["", "{x}", "5 km"], k=1), *words[2:]])
        apart = unicodedata.normalize("NFD", line)
        lines += apart != line
        assert list_read(translator, apart) == list_read(translator, line), line
    assert lines == 1_000


def test_white_space_is_a_space(translator):
    line = "The cat {x} sees 5 km of the house"
    plain = translator.translate(line)
    for space in SPACES:
        found = translator.translate(line.replace(" house", f"{space}house"))
        assert " ".join(found.split()) == " ".join(plain.split()), ascii(space)


def test_tabs_and_symbols_stand_between_the_same_words(translator):
    [tokens] = translator.tokenizer.encode_target(["die Katze sieht das Haus"])
    links = [(number, number) for number in range(5)]
    for mark, written in own_rows():
        pieces = cut(translator, f"The cat sees{mark}the house")
        [plain] = cut(translator, "The cat sees the house")
        assert pieces[0].masked_source.ids == plain.ids
        known = Found([Hypothesis(tokens, 0.0, 0.0, links=links)])
        [found] = translator.pipeline().join(pieces, [known])
        assert found.text == f"die Katze sieht{written}das Haus"


@each_case
def test_capitals_are_found(text, expected):
    assert is_in_capitals(text) == is_in_capitals(normalize("NFD", text)) == expected


@each_case
def test_small_letters_begin_with_a_capital(text, language, words, expected):
    """And the first word after a character that stands for a word."""
    assert to_small_letters(text, language, words) == expected
    if words:
        assert find_initials(text, words) == {*words, "A", "I"}


@each_case
def test_capitals_leave_what_is_kept(text, language, expected):
    assert to_capitals(text, language) == expected


def test_the_time_grows_with_the_length():
    started = time.process_time()
    to_small_letters(". " * 500_000, "en")
    assert time.process_time() - started < 5  # a square would be hours
