"""Terms that have no natural place stand where the words that they translate would stand."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from headway import Glossary, SearchConfig, Translator
from headway.ext.protect.marked_text import MarkedText
from headway.ext.protect.masked_source import PlaceholderWord
from headway.ext.protect.masking import ProtectedTextMasking
from headway.ext.protect.source_masker import SourceMasker
from headway.ext.protect.term_places import place_terms
from headway.translation import Hypothesis, Job, Piece, Read, spell_words
from headway.translation.engines import constrained_decoding
from headway.translation.requests import answer
from support.toy_models import sentences

SEARCH = SearchConfig(max_extra=7)
GLOSSARY = Glossary.of(
    {"cat": "Kater", "green house": ["Gewächshaus"], "dog": "Köter", "sees": "Hut"}
)


def place(
    translator: Translator,
    source: str,
    target: str,
    links: dict[int, int],
    *words: PlaceholderWord,
    prefix: Sequence[int] = (),
    score: Callable[[Sequence[int]], float] = len,
    **terms: str,
) -> str:
    """Return what `place_terms` makes of a translation without the terms.

    The search has put them behind its end.

    Args:
        translator: Its tokenizer is used.
        source: A sentence.
        target: The translation.
        links: For target words (by number) the source word that they attend to most.
        words: What the model reads for placeholders.
        prefix: The tokens with which the translation begins.
        score: Of a translation, as the model would give it.
        terms: The glossary.
    """
    tokenizer = translator.tokenizer
    glossary = Glossary.of({term.replace("_", " "): text for term, text in terms.items()})
    marked = MarkedText(source, tokenizer, keep=True, glossary=glossary)
    masked = SourceMasker(marked, tokenizer).write(marked.parts(marked.text), words)
    weights = [[0.1] * len(masked.text.split()) for _ in target.split()]
    for word, own in links.items():
        weights[word][own] = 0.9 - 0.1 * word
    behind = " ".join([target, *terms.values()])
    tokens, without = tokenizer.encode_target([behind, target])
    found = [Hypothesis(tokens, -2.0, -2.0, without_terms=Hypothesis(without, -1.0, -1.0))]
    piece = Piece(source, masked.ids, (masked,))
    job = place_terms(ProtectedTextMasking(), translator.token_search, piece, found, prefix, SEARCH)
    return tokenizer.decode(drive(job, weights, score)[0].tokens)


def drive(
    job: Job[list[Hypothesis]], weights: list[list[float]], score: Callable[[Sequence[int]], float]
) -> list[Hypothesis]:
    """Answer the requests of a job: attention by weights, and the probabilities of translations by a function."""
    answers: Any = None
    while True:
        try:
            requests = job.send(answers)
        except StopIteration as end:
            return list(end.value)
        answers = [
            score(each.target) if isinstance(each, Read) and each.is_scored
            else weights if isinstance(each, Read)
            else answer([each])[0]
            for each in requests
        ]  # fmt: skip


def test_a_rendering_takes_the_place_of_the_words_linked_to_its_term(
    translator: Translator,
) -> None:
    straight = {0: 0, 1: 1, 2: 2, 3: 3}
    for source, target, links, terms, expected in (
        ("the cat sees it", "die Katze mag es.", straight, {"cat": "Kater", "sees": "Hut"}, "die Kater Hut es."),
        ("the cat sees it", "die Katze sieht, es.", straight, {"cat": "Kater"}, "die Kater sieht, es."),
        ("a dog and a cat", "die Katze und Hund", {1: 4, 3: 1}, {"cat": "Kater", "dog": "Hut"}, "die Kater und Hut"),
        # The beginning of a sentence has a capital; only neighbors take the place of several words.
        ("Green house sees", "Ein Bau sieht das", {0: 0, 1: 1, 3: 1}, {"green_house": "haus"}, "Haus sieht das"),
        # A term that nothing translates comes before the nearest word.
        ("cat house", "Katze sieht", {0: 0}, {"cat": "Kater", "house": "Hut"}, "Hut Kater sieht"),
        # A translation that has the rendering stays.
        ("the cat", "यह किताब है", {1: 1}, {"cat": "किताब"}, "यह किताब है"),
        # Where no spaces separate words, it stays where the search has put it.
        ("the cat", "犬が猫を見る", {0: 1}, {"cat": "Kater"}, "犬が猫を見る Kater"),
    ):  # fmt: skip
        found = place(translator, source, target, links, **terms)
        assert found == expected, found


def test_a_prefix_stays_before_terms(translator: Translator) -> None:
    """The word that attends to the term's is the first of a prefix."""
    [prefix], [part] = (translator.tokenizer.encode_target([text]) for text in ("Hund", "Kate"))
    for tokens, expected in (
        ((), "Kater sieht"),
        (prefix[:-1], "Hund sieht Kater"),
        (part[:-1], "Kater sieht"),  # which the whole word does not begin with
    ):
        found = place(translator, "the cat", "Hund sieht", {0: 1}, prefix=tokens, cat="Kater")
        assert found == expected


def test_where_attention_leads_to_a_name_the_likeliest_place_is_taken(
    translator: Translator,
) -> None:
    """All words of the translation attend to the term most, and its first one stands for a placeholder."""
    tokenizer = translator.tokenizer
    word = PlaceholderWord("dog", spell_words(tokenizer, ["Hund"]))
    tried: list[str] = []

    def score(target: Sequence[int]) -> float:
        tried.append(tokenizer.decode([*target]))
        return float(tried[-1].endswith("die Kater"))

    links = dict.fromkeys(range(4), 3)
    found = place(
        translator, "{name} sees the cat", "Hund sieht die Katze", links, word, score=score, cat="Kater"
    )  # fmt: skip
    assert found == "Hund sieht die Kater"
    assert tried == ["Hund Kater die Katze", "Hund sieht Kater Katze", "Hund sieht die Kater"]


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
    translator: Translator, search: SearchConfig, natural: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constrained_decoding, "NATURAL", natural)
    lines = sentences(5, 5)
    own = translator.with_glossary(GLOSSARY)
    together = [found[0].text for found in own.stream(lines, search)]
    for line, text in zip(lines, together, strict=True):
        for term in GLOSSARY.terms:
            assert text.count(term.renderings[0]) >= line.split().count(term.source), (line, text)
        assert own.translate(line, search) == text


def test_lines_with_placeholders_and_terms_have_both(translator: Translator) -> None:
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
