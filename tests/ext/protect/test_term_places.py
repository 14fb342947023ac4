"""Terms that have no natural place stand where the words that they translate would stand."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from headway.config import SearchConfig
from headway.ext.protect.glossary import Glossary
from headway.ext.protect.marked_text import MarkedText
from headway.ext.protect.masked_source import PlacedTerm, PlaceholderWord
from headway.ext.protect.masking import ProtectedTextMasking
from headway.ext.protect.source_masker import SourceMasker
from headway.ext.protect.term_places import _CORE, _has_rendering, _write_terms, place_terms
from headway.translation import Translator
from headway.translation.engines import constrained_decoding
from headway.translation.requests import Job, Read, answer
from headway.translation.search.beam_search import Hypothesis
from headway.translation.search.constraints import spell_words
from headway.translation.splitting import Segment
from support.toy_models import sentences

SEARCH = SearchConfig(max_extra=7)
GLOSSARY = Glossary.of(
    {"cat": "Kater", "green house": ["Gewächshaus"], "dog": "Köter", "sees": "Hut"}
)


def write(
    translator: Translator, source: str, glossary: Glossary, target: str, links: dict[int, int]
) -> str | None:
    """Put the terms of a source into its translation, as `place_terms` does.

    Args:
        translator: Its tokenizer is used.
        source: A sentence.
        glossary: Has the terms.
        target: The translation without them.
        links: For target words (by number) the source word that they attend to most.
    """
    tokenizer = translator.tokenizer
    marked = MarkedText(source, tokenizer, keep=True, glossary=glossary)
    [masked] = SourceMasker(marked, tokenizer).mask(marked.text)
    words = len(masked.text.split())
    weights = [[0.1] * words for _ in target.split()]
    for word, own in links.items():
        weights[word][own] = 0.9
    tokens = tokenizer.encode_target([target])[0]
    written = _write_terms(translator.token_search, masked, tokens, weights)
    return None if written is None else tokenizer.decode(written)


def drive(
    job: Job[list[Hypothesis]],
    weights: list[list[float]],
    score: Callable[[Sequence[int]], float] = len,
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
    links = {0: 0, 1: 1, 2: 2, 3: 3}
    assert write(translator, "the cat sees it", GLOSSARY, "die Katze mag es.", links) == (
        "die Kater Hut es."
    )
    glossary = Glossary.of({"cat": "Kater", "dog": "Hut"})
    assert write(translator, "the cat sees it", glossary, "die Katze sieht, es.", links) == (
        "die Kater sieht, es."
    )
    assert write(translator, "a dog and a cat", glossary, "die Katze und Hund", {1: 4, 3: 1}) == (
        "die Kater und Hut"
    )
    # The beginning of a sentence has a capital; only neighbors take the place of several words.
    small = Glossary.of({"green house": "haus"})
    assert write(
        translator, "Green house sees", small, "Ein Bau sieht das", {0: 0, 1: 1, 3: 1}
    ) == ("Haus sieht das")


def test_terms_that_nothing_translates_come_before_the_nearest_word(translator: Translator) -> None:
    glossary = Glossary.of({"cat": "Kater", "house": "Hut"})
    assert write(translator, "cat house", glossary, "Katze sieht", {0: 0}) == "Hut Kater sieht"


def test_a_term_is_not_placed_where_no_spaces_separate_words(translator: Translator) -> None:
    glossary = Glossary.of({"cat": "Kater"})
    assert write(translator, "the cat", glossary, "犬が猫を見る", {0: 1}) is None
    glossary = Glossary.of({"猫": "Kater"})
    assert write(translator, "犬が猫を見る", glossary, "Hund Katze", {0: 0}) is None


def test_a_prefix_stays_before_terms(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The word that attends to the term's is the first of a prefix."""
    tokenizer = translator.tokenizer
    marked = MarkedText("the cat", tokenizer, keep=True, glossary=Glossary.of({"cat": "Kater"}))
    masked_sources = tuple(SourceMasker(marked, tokenizer).mask(marked.text))
    segment = Segment("the cat", [*masked_sources[0].ids], masked_sources)
    tokens, without, prefix, taken = tokenizer.encode_target(
        ["Hund sieht Kater", "Hund sieht", "Hund", "Kater sieht"]
    )
    found = [Hypothesis(tokens, -2.0, -2.0, without_terms=Hypothesis(without, -1.0, -1.0))]

    def place(prefix: list[int]) -> list[int]:
        job = place_terms(
            ProtectedTextMasking(), translator.token_search, segment, found, prefix, SearchConfig()
        )
        return drive(job, [[0.1, 0.9], [0.9, 0.1]])[0].tokens

    assert place([]) == taken
    assert place(prefix[:-1]) == tokens
    [part] = tokenizer.encode_target(["Kate"])  # which the whole word does not begin with
    assert part[:-1] != taken[: len(part) - 1]
    assert place(part[:-1]) == taken


def test_where_attention_leads_to_a_name_the_likeliest_place_is_taken(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All words of the translation attend to the term most, and its first one stands for a placeholder."""
    tokenizer = translator.tokenizer
    glossary = Glossary.of({"cat": "Kater"})
    marked = MarkedText("{name} sees the cat", tokenizer, keep=True, glossary=glossary)
    placeholder_word = PlaceholderWord("dog", spell_words(tokenizer, ["Hund"]))
    masked = SourceMasker(marked, tokenizer).write(marked.text, [placeholder_word])
    segment = Segment("{name} sees the cat", masked.ids, (masked,))
    tokens, without = tokenizer.encode_target(
        ["Hund sieht die Katze Kater", "Hund sieht die Katze"]
    )
    found = [Hypothesis(tokens, -2.0, -2.0, without_terms=Hypothesis(without, -1.0, -1.0))]
    weights = [[0.1, 0.1, 0.1, gain] for gain in (0.9, 0.7, 0.6, 0.5)]
    tried: list[str] = []

    def score(target: Sequence[int]) -> float:
        tried.append(tokenizer.decode([*target]))
        return float(tried[-1].endswith("die Kater"))

    job = place_terms(
        ProtectedTextMasking(), translator.token_search, segment, found, [], SearchConfig()
    )
    n_best = drive(job, weights, score)
    assert tokenizer.decode(n_best[0].tokens) == "Hund sieht die Kater"
    assert tried == ["Hund Kater die Katze", "Hund sieht Kater Katze", "Hund sieht die Kater"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "search",
    [
        SEARCH,
        replace(SEARCH, mbr=True, candidates=4),
        replace(SEARCH, beam=1),
        replace(SEARCH, precision="int8", n_best=2),
    ],
)
@pytest.mark.parametrize("natural", [-100.0, 0.0, 10.0])
def test_every_term_is_in_the_translation_wherever_it_was_placed(
    translator: Translator, search: SearchConfig, natural: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constrained_decoding, "NATURAL", natural)
    lines = sentences(30, 5)
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


def test_signs_of_vowels_are_parts_of_words() -> None:
    assert [core[0] for core in _CORE.finditer("„किताबें“")] == ["किताबें"]
    term = PlacedTerm(0, 1, ("किताब",))
    assert _has_rendering("यह किताब है", term)
    assert not _has_rendering("ये किताबें हैं", term)
