"""Terms that the search has not written stand where the words that they translate would stand."""

from dataclasses import replace

import pytest

from headway import Glossary, SearchConfig
from headway.ext.protect.glossary import Term
from headway.translation import link_words
from headway.translation.engines import constrained_decoding
from support.masked_texts import mask, word
from support.toy_models import sentences

SEARCH = SearchConfig(max_extra=7)
GLOSSARY = Glossary.of(
    {"cat": "Kater", "green house": ["Gewächshaus"], "dog": "Köter", "sees": "Hut"}
)


def place(translator, source, target, weights, *words, **terms):
    """Return a translation that lacks terms with them.

    Args:
        translator: Its tokenizer is used.
        source: A sentence.
        target: The translation.
        weights: How much each target word attends to each source word.
        words: What the model reads for placeholders.
        terms: The glossary.
    """
    tokenizer = translator.tokenizer
    glossary = Glossary.of({term.replace("_", " "): text for term, text in terms.items()})
    masked = mask(tokenizer, source, *words, glossary=glossary)
    [tokens] = tokenizer.encode_target([target])
    links = link_words(weights, masked.link_certain(tokenizer, tokens))
    assert masked.needs_links(tokenizer, tokens) == any(
        text not in target for text in terms.values()
    )
    return masked.write(tokenizer, tokens, links)


def test_a_text_that_is_a_term_is_translated_by_its_rendering(translator):
    terms = {
        "cat": "Kater",
        "green house": ["Hut", "Haus"],
        "dog": ["hund", "Köter"],
        "tree": "梯子",
    }
    kept = Term("Acme", (), is_kept=True)
    glossed = translator.with_glossary(Glossary([*Glossary.of(terms).terms, kept]))
    wanted = {
        "cat": "Kater",
        "cat.": "Kater.",
        "green  house": "Hut",
        "Dog!": "Hund!",
        "“cat”": "“Kater”",
        "<b>cat</b>": "<b>Kater</b>",
        "2) green house": "2) Hut",
        "Tree.": "梯子.",
        "Acme!": "Acme!",
    }
    found = [best for [best] in glossed.stream(wanted, search=SEARCH, align=True)]
    assert [translation.text for translation in found] == [*wanted.values()]
    assert all(translation.alignment for translation in found)
    n_best = replace(SEARCH, n_best=3, split_sentences=True)
    lists = {"dog.": ["hund.", "Köter."], "Dog!": ["Hund!", "Köter!"], "cat": ["Kater"]}
    for line, texts in lists.items():
        [each] = glossed.stream([line], n_best)
        assert [translation.text for translation in each] == texts
    # Beside a sentence it has the same rendering in each translation of the list.
    [each] = glossed.stream(["Cat. The dog sees it."], n_best)
    assert len({translation.text for translation in each}) == 3
    assert all(translation.text.startswith("Kater. ") for translation in each)
    sentence = glossed.translate("the cat sees it", search=SEARCH)
    assert "Kater" in sentence
    assert sentence != "Kater"


def test_a_rendering_takes_the_place_of_the_words_linked_to_its_term(translator):
    straight = {0: 0, 1: 1, 2: 2, 3: 3}
    for source, target, links, terms, expected in (
        ("the cat sees it", "die Katze mag es.", straight, {"cat": "Kater", "sees": "Hut"}, "die Kater Hut es."),
        ("the cat sees it", "die Katze sieht, es.", straight, {"cat": "Kater"}, "die Kater sieht, es."),
        ("a dog and a cat", "die Katze und Hund", {1: 4, 3: 1}, {"cat": "Kater", "dog": "Hut"}, "die Kater und Hut"),
        # The beginning of a sentence has a capital; only neighbors take the place of several words.
        ("Green house sees", "Ein Bau sieht das", {0: 0, 1: 1, 3: 1}, {"green_house": "haus"}, "Haus sieht das"),
        # A term that nothing translates keeps its relative place.
        ("the cat house", "die Katze sieht", {1: 1}, {"cat": "Kater", "house": "Hut"}, "die Kater Hut sieht"),
        # An article stays before its noun.
        ("cat sees it", "die Katze sieht es", {0: 0, 1: 0, 2: 1, 3: 2}, {"cat": "Kater"}, "die Kater sieht es"),
        # A translation that has the rendering stays.
        ("the cat", "यह किताब है", {1: 1}, {"cat": "किताब"}, "यह किताब है"),
        # Where no spaces separate words, each character is one.
        ("the cat", "犬が猫を見る", {2: 1}, {"cat": "Kater"}, "犬がKaterを見る"),
    ):  # fmt: skip
        size = len(target.split()) if " " in target else len(target)
        weights = [
            [float(links.get(n) == s) for s in range(len(source.split()))] for n in range(size)
        ]
        found = place(translator, source, target, weights, **terms)
        assert found == expected, found


def test_a_term_takes_no_place_of_a_placeholder(translator):
    """All words of the translation attend to the term most, and its first one stands for a placeholder."""
    dog = word(translator.tokenizer, "dog", "Hund")
    weights = [[0.1, 0.1, 0.1, 0.9] for _ in range(4)]
    found = place(
        translator, "{name} sees the cat", "Hund sieht die Katze", weights, dog, cat="Kater"
    )
    assert found.startswith("{name} ")
    assert found.count("Kater") == 1


def test_a_prefix_stays_and_terms_come_behind_it(translator, monkeypatch):
    monkeypatch.setattr(constrained_decoding, "NATURAL", -100.0)  # no term has a natural place
    own = translator.with_glossary(GLOSSARY)
    for [found] in own.stream(["the cat sees", "the dog and the cat"], SEARCH, prefix="die Katze"):
        assert found.text.startswith("die Katze")
        assert "Kater" in found.text.removeprefix("die Katze")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("search", "natural"),
    [
        (SEARCH, -100.0),
        (SEARCH, 0.0),
        (replace(SEARCH, mbr=True, candidates=4), 0.0),
        (replace(SEARCH, beam=1), 0.0),
        (replace(SEARCH, precision="int8", n_best=2), 10.0),
    ],
)
def test_every_term_is_in_the_translation_wherever_it_was_placed(
    translator, search, natural, monkeypatch
):
    monkeypatch.setattr(constrained_decoding, "NATURAL", natural)
    lines = sentences(5, 5)
    own = translator.with_glossary(GLOSSARY)
    together = [found[0].text for found in own.stream(lines, search)]
    for line, text in zip(lines, together, strict=True):
        for term in GLOSSARY.terms:
            assert text.count(term.renderings[0]) >= line.split().count(term.source), (line, text)
        assert own.translate(line, search) == text


def test_lines_with_placeholders_and_terms_have_both(translator):
    own = translator.with_glossary(GLOSSARY)
    for line in (
        "the cat {name} sees the dog",
        "{a}: the cat sees <b>the dog</b>. {b}",
        "5 km cat",
    ):
        text = own.translate(line, SEARCH)
        for kept in ("{name}", "{a}: ", "<b>", "</b>", "{b}", "5 km"):
            assert text.count(kept) == line.count(kept), text
        assert "Kater" in text
