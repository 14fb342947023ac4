"""What must stay is in every translation exactly as often as in its source, whatever else is asked for."""

import random
import re
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import pytest

from headway.config import SearchConfig, TextConfig
from headway.errors import UsageError
from headway.ext.documents.passages import Passage
from headway.ext.protect.glossary import Glossary, Term
from headway.ext.protect.line_splitting import split_protected
from headway.ext.protect.marked_text import MarkedText
from headway.ext.protect.masked_source import NOTHING, MaskedSource, PlaceholderWord, ProtectedTag
from headway.ext.protect.protected_places import _find_marks, restore_protected
from headway.ext.protect.rendered_words import link_parts
from headway.ext.protect.source_masker import SourceMasker, _spell_phrase
from headway.text.tokenizer import Tokenizer
from headway.text.word_links import WordLinks
from headway.text.words import find_words
from headway.translation import Translator
from headway.translation.requests import run, together
from headway.translation.splitting import is_plain
from headway.translation.token_stream import stream_tokens
from support.bounds import bounded
from support.segments import cut, find, join
from support.toy_models import sentences

SEARCH = SearchConfig(max_extra=7)
KEPT = [
    "{name}", "{{a.b}}", "${x}", "$VAR", "%1$s", "%d", "https://example.org/a?b=c", "joe@example.org",
    "`ls -l`", "/etc/hosts", "{name}",
]  # fmt: skip
TAGS = [("<b>", "</b>"), ('<x id="1"/>', ""), ("<g id='2'>", "</g>")]


def strings(count: int, seed: int) -> list[str]:
    """Sentences with placeholders and tags in random places."""
    chooser, found = random.Random(seed), []
    for sentence in sentences(count, seed):
        words = sentence.split()
        for kept in chooser.choices(KEPT, k=chooser.randrange(4)):
            words.insert(chooser.randrange(len(words) + 1), kept)
        if chooser.random() < 0.4:
            before, after = chooser.choice(TAGS)
            at = chooser.randrange(len(words))
            words[at] = f"{before}{words[at]}{after}"
        found.append(" ".join(words))
    return found


def kept_in(text: str) -> list[int]:
    """How often each of the placeholders and tags occurs; a random model may invent others."""
    return [text.count(each) for each in (*KEPT, *(tag for pair in TAGS for tag in pair if tag))]


@pytest.mark.slow
@pytest.mark.parametrize(
    "search",
    [
        SEARCH,
        replace(SEARCH, beam=1),
        replace(SEARCH, precision="int8", n_best=3),
        replace(SEARCH, sample=True, n_best=2),
        replace(SEARCH, mbr=True, candidates=5),
        replace(SEARCH, max_tokens=6),
    ],
    ids=["beam", "greedy", "int8", "samples", "mbr", "split"],
)
def test_placeholders_and_tags_are_kept(translator: Translator, search: SearchConfig) -> None:
    lines = strings(20, 3)
    for line, found in zip(lines, translator.stream(lines, search, align=True), strict=True):
        for translation in found:
            kept, expected = kept_in(translation.text), kept_in(line)
            if search.sample:  # a sample of a random model may spell a placeholder by chance
                kept = [min(pair) for pair in zip(kept, expected, strict=True)]
            assert kept == expected, (line, translation.text)
            counts = len(line.split()), len(translation.text.split())
            for pair in translation.alignment or []:
                assert pair[0] < counts[0]
                assert pair[1] < counts[1]


@pytest.mark.slow
def test_a_line_with_placeholders_does_not_depend_on_other_lines(translator: Translator) -> None:
    glossary = Glossary.of({"cat": "Kater", "green house": ["Hund"]})
    lines = strings(40, 4)
    together = translator.translate(lines, SEARCH, glossary=glossary)
    assert [translator.translate(line, SEARCH, glossary=glossary) for line in lines] == together


@pytest.mark.slow
def test_lines_that_have_nothing_to_keep_get_the_same_bits(translator: Translator) -> None:
    lines = [*sentences(30, 6), "1.5%", "1,000 kg – 3 m"]
    mixed = [line for pair in zip(lines, strings(32, 7), strict=True) for line in pair]
    glossary = Glossary.of({"absent": "x"})
    free = list(translator.stream(lines, replace(SEARCH, keep=False)))
    assert list(translator.with_glossary(glossary).stream(mixed, SEARCH))[::2] == free


@pytest.mark.parametrize("rest", ["dog.", "{name}.", "<b>dog</b>."])
def test_characters_of_line_breaks_are_read_as_common_ones(
    translator: Translator, rest: str
) -> None:
    line = f"the\u00a0cat se\u00ades\u202fa green\u2011house and {rest}"
    plain = f"the cat sees a green-house and {rest}"
    [segment], [expected] = cut(translator, line), cut(translator, plain)
    assert segment.text == line
    assert segment.ids == expected.ids
    assert [r.ids for r in segment.masked_sources] == [r.ids for r in expected.masked_sources]
    [[found]] = translator.stream([line], SEARCH, align=True)
    [[same]] = translator.stream([plain], SEARCH, align=True)
    assert found == same
    assert translator.score(line, "die Katze") == translator.score(plain, "die Katze")


def test_terms_are_rendered_as_whole_words(translator: Translator) -> None:
    glossary = Glossary(
        [
            Term("cat", ("Kater", "Mieze")),
            Term("green house", ("Gewächshaus",)),
            Term("dog", (), is_kept=True),
            Term("tree", ("梯子",)),
            Term("hears", ("sieht",)),
        ]
    )
    lines = [
        "the cat runs under a green house",
        "the dog sees the tree",
        "a cat hears a cat",
        "the a",
    ]
    for search in (SEARCH, replace(SEARCH, beam=1, precision="int8"), replace(SEARCH, n_best=4)):
        for line, found in zip(
            lines, translator.with_glossary(glossary).stream(lines, search), strict=True
        ):
            for translation in found:
                words = re.findall(r"\w+", translation.text)
                assert words.count("Kater") + words.count("Mieze") >= line.split().count("cat")
                assert words.count("Gewächshaus") >= line.count("green house")
                assert words.count("dog") == line.split().count("dog")
                assert ("梯子" in translation.text) == ("tree" in line)
                assert words.count("sieht") >= line.split().count("hears")


def test_the_words_of_a_rendering_are_linked_to_those_of_its_term_only(
    translator: Translator,
) -> None:
    glossary = Glossary(
        [
            Term("cat", ("Kater",)),
            Term("green house", ("Gewächshaus",)),
            Term("hears", ("hört gut",)),
            Term("big red dog", (), is_kept=True),
        ]
    )
    expected = {
        "the cat, hears a green house.": {
            (1, "Kater"), (2, "hört"), (2, "gut"), (4, "Gewächshaus"), (5, "Gewächshaus"),
        },
        "a big red dog, sees the cat": {(1, "big"), (2, "red"), (3, "dog"), (6, "Kater")},
    }  # fmt: skip
    found = translator.with_glossary(glossary).stream([*expected], SEARCH, align=True)
    for links, [translation] in zip(expected.values(), found, strict=True):
        words = [word.strip(".,") for word in translation.text.split()]
        terms, renderings = ({link[side] for link in links} for side in (0, 1))
        pairs = {(source, words[target]) for source, target in translation.alignment or []}
        assert {p for p in pairs if p[0] in terms or p[1] in renderings} == links


def test_a_tag_behind_the_mark_of_a_sentence_stays_behind_it(tokenizer: Tokenizer) -> None:
    for line, expected in (
        ("the cat sees a dog.<x/>", "die Katze hat den Hund gesehen.<x/>"),
        ("the cat sees a dog<x/>.", "die Katze hat den Hund<x/> gesehen."),
    ):
        marked = MarkedText(line, tokenizer, keep=True, glossary=None)
        [masked] = SourceMasker(marked, tokenizer).mask(marked.text)
        [tokens] = tokenizer.encode_target(["die Katze hat den Hund gesehen."])
        assert restore_protected(tokenizer, masked, tokens, [(4, 4)]).text == expected


def test_a_word_of_which_a_term_is_a_part_has_other_links_too() -> None:
    assert link_parts("a cat-like dog", "ein Kater-artiger Hund", [((2, 5), (4, 9))]) == []
    assert link_parts("(cat)", "„Kater“!", [((1, 4), (1, 6))]) == [(0, 0)]
    assert link_parts("der Kanal zum Meer", "the sea canal", [((4, 18), (4, 13))]) == [
        *product((1, 2, 3), (1, 2))
    ]


def test_ensembles_plain_engines_and_shortlists_keep_terms(
    translator: Translator, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    line, glossary = "the cat sees {name}", Glossary.of({"cat": "Kater"})
    model = translator.model
    for other in (
        Translator(model, tokenizer, others=[model]),
        Translator(model.to(model.source_embedding.weight.dtype), tokenizer),
    ):
        text = other.translate(line, SEARCH, glossary=glossary)
        assert "Kater" in text
        assert text.count("{name}") == 1


def test_samples_cannot_follow_a_glossary(translator: Translator) -> None:
    with pytest.raises(UsageError, match=r"search\.sample: samples cannot follow a glossary"):
        translator.translate("a", replace(SEARCH, sample=True), glossary=Glossary.of({"a": "b"}))


@pytest.mark.slow
def test_a_streamed_translation_keeps_placeholders(translator: Translator) -> None:
    for line in strings(20, 5):
        for segment in cut(translator, line):
            parts = "".join(stream_tokens(translator, segment))
            assert kept_in(parts) == kept_in(segment.text)


def test_tags_stand_around_the_translations_of_their_words(tokenizer: Tokenizer) -> None:
    tokens = tokenizer.encode_target(["die Katze sieht Haus."])[0]

    def place(source: str, links: list[tuple[int, int]]) -> str:
        marked = MarkedText(source, tokenizer, keep=True, glossary=None)
        masked = SourceMasker(marked, tokenizer).write(marked.text, ())
        return restore_protected(tokenizer, masked, tokens, links).text

    straight = [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert place("the <b>cat sees</b> house.", straight) == "die <b>Katze sieht</b> Haus."
    assert place("the cat sees <b>house</b>.", straight) == "die Katze sieht <b>Haus</b>."
    assert place("the cat sees <b>house.</b>", straight) == "die Katze sieht <b>Haus.</b>"
    # Elements change places with their words, without a full stop that they do not have in the source.
    swapped = [(0, 0), (1, 3), (2, 2), (3, 1)]
    assert (
        place("the <0>cat</0> sees <1>house</1>.", swapped) == "die <1>Katze</1> sieht <0>Haus</0>."
    )
    assert place("the <0>cat</0> <1>sees</1> <2>house</2>.", swapped) == (
        "die <2>Katze</2> <1>sieht</1> <0>Haus</0>."
    )
    # Two elements with the same word: neither crosses the other, nor begins where the other ends.
    assert place("the <0>cat</0> <1>sees</1> house.", [(1, 1), (2, 0), (2, 1)]) == (
        "<1>die</1> <0>Katze</0> sieht Haus."
    )
    both = [(0, 0), (1, 1), (1, 3), (2, 2), (3, 3)]
    crossed = place("the <0>cat</0> <1>sees</1> house.", both)
    assert re.sub("<[^>]*>", "", crossed).split() == ["die", "Katze", "sieht", "Haus."]
    assert re.findall("</?[01]>", crossed) in (
        ["<0>", "</0>", "<1>", "</1>"], ["<1>", "</1>", "<0>", "</0>"],
    )  # fmt: skip
    assert (
        place("<b>the <i>cat</i></b> sees house.", straight)
        == "<b>die <i>Katze</i></b> sieht Haus."
    )
    assert place("the <x/> cat sees house.", straight) == "die <x/> Katze sieht Haus."
    # One link far away does not make an element swallow the words between.
    far = [(0, 0), (0, 2), (1, 3), (2, 1)]
    assert place("<b>the cat</b> <i>sees</i> house.", far) == "die <i>Katze</i> <b>sieht Haus</b>."
    crossing = [(0, 0), (1, 1), (0, 2), (2, 3)]
    text = place("<b>the</b> <i>cat sees</i> house.", crossing)
    assert text.index("</b>") <= text.index("<i>") or text.index("</i>") < text.index("</b>")


def test_no_tag_comes_into_a_number_with_its_unit() -> None:
    pairs = [(f"{text} USD 20 50 %", f"{text} USD 20 50 %") for text in sentences(400, 1)]
    tokenizer = Tokenizer.learn(pairs, TextConfig(vocab_size=361))
    for source, written, links, text in (
        ("<b>USD 20 red</b> cat", "USD 20 Katze", [(2, 0), (3, 2)], "<b>USD 20</b> Katze"),
        ("red <b>USD 20</b> cat", "rot USD 20 Katze", [(0, 0), (2, 2), (3, 3)], "rot <b>USD 20</b> Katze"),
        ("<b>50 %</b>, the cat", "50 %, die Katze", [(0, 0), (1, 1), (2, 2)], "<b>50 %</b>, die Katze"),
        ("a cat<x/> sees USD 20.", "USD 20. Katze", [(1, 0), (2, 2)], "USD 20.<x/> Katze"),
    ):  # fmt: skip
        marked = MarkedText(source, tokenizer, keep=True, glossary=None)
        masked = SourceMasker(marked, tokenizer).write(marked.text, ())
        [tokens] = tokenizer.encode_target([written])
        assert restore_protected(tokenizer, masked, tokens, links).text == text


def test_signs_of_vowels_are_no_punctuation() -> None:
    texts = ("किताबें।", "किताबें", "house?!", "❤\ufe0f", "")
    assert [*map(_find_marks, texts)] == ["।", "", "?!", "❤\ufe0f", ""]
    assert _spell_phrase("ये किताबें, A") == " ये किताबें a "


def test_protected_text_apart_from_the_sentence_stays_where_it_is(tokenizer: Tokenizer) -> None:
    tokens = tokenizer.encode_target(["die Katze sieht Haus."])[0]
    crossing = [(0, 3), (1, 2), (2, 1), (3, 0)]
    for source, text in (
        ("{name}: the cat sees house.", "{name}: die Katze sieht Haus."),
        ("<b>{a}</b>: the cat sees house.", "<b>{a}</b>: die Katze sieht Haus."),
        ("the cat sees house. {name}", "die Katze sieht Haus. {name}"),
        ("<br/> the cat sees house.", "<br/> die Katze sieht Haus."),
        ("{a}, {b}: the cat sees house.", "{a}, {b}: die Katze sieht Haus."),
        ("- {a} - the cat sees house.", "- {a} - die Katze sieht Haus."),
        ("the cat sees house. {a}, {b}", "die Katze sieht Haus. {a}, {b}"),
        ("the cat sees house. <b>{a}</b>", "die Katze sieht Haus. <b>{a}</b>"),
    ):
        marked = MarkedText(source, tokenizer, keep=True, glossary=None)
        [masked] = SourceMasker(marked, tokenizer).mask(marked.text)
        assert masked.text.strip() == "the cat sees house."
        assert restore_protected(tokenizer, masked, tokens, crossing).text == text


def test_marks_are_characters_that_the_text_does_not_have(tokenizer: Tokenizer) -> None:
    taken = "".join(map(chr, range(0xF0001, 0xF0001 + 20_000, 2)))
    with bounded(1):
        marked = MarkedText(f"{{a}} {taken} {{b}}", tokenizer, keep=True, glossary=None)
    assert len(marked.marks) == 2
    assert not marked.marks.keys() & set(taken)
    assert marked.restore(marked.text) == f"{{a}} {taken} {{b}}"


def test_a_punctuation_mark_is_read_at_its_word(tokenizer: Tokenizer) -> None:
    tokens = tokenizer.encode_target(["die Katze sieht Haus."])[0]
    source = "the cat sees house ({url})."
    marked = MarkedText(source, tokenizer, keep=True, glossary=None)
    [masked] = SourceMasker(marked, tokenizer).mask(marked.text)
    assert masked.text == "the cat sees house."
    assert "".join(original for _, original in masked.pieces) == source
    straight = [(0, 0), (1, 1), (2, 2), (3, 3)]
    restored = restore_protected(tokenizer, masked, tokens, straight)
    assert restored.text == "die Katze sieht Haus ({url})."


def test_names_beside_each_other_keep_their_order(tokenizer: Tokenizer) -> None:
    tokens = tokenizer.encode_target(["die Katze sieht Haus."])[0]
    straight = [(0, 0), (1, 1), (2, 2), (3, 3)]
    for source, text in (
        ("the cat sees house {a} {b} {c}.", "die Katze sieht Haus {a} {b} {c}."),
        ("the cat {a} {b} sees house.", "die Katze {a} {b} sieht Haus."),
    ):
        marked = MarkedText(source, tokenizer, keep=True, glossary=None)
        masked = SourceMasker(marked, tokenizer).write(marked.text, [NOTHING])
        assert masked.text.split() == ["the", "cat", "sees", "house."]
        assert "".join(original for _, original in masked.pieces) == source
        assert restore_protected(tokenizer, masked, tokens, straight).text == text


def test_no_two_spaces_stand_beside_kept_text(tokenizer: Tokenizer) -> None:
    [[space, *_]] = tokenizer.encode_target(["\u0416"])  # no subword begins with this letter
    assert tokenizer.decode([space, space]) == " "
    before, name, after = (
        tokenizer.encode_target([text])[0][:-1] for text in ("die Katze", "Hund", "sieht")
    )
    dog = PlaceholderWord("dog", (tuple(name),))

    def write(source: str, placeholder_word: PlaceholderWord, tokens: list[int]) -> str:
        marked = MarkedText(source, tokenizer, keep=True, glossary=None)
        masked = SourceMasker(marked, tokenizer).write(marked.text, [placeholder_word])
        return restore_protected(tokenizer, masked, tokens, []).text

    # The translation already has a space before the placeholder word.
    tokens = [*before, space, *name, *after]
    assert write("the cat {a} sees", dog, tokens) == "die Katze {a} sieht"
    # So it does at the end, where the name comes with a space.
    tokens = [*before, *after, space]
    assert write("the cat sees {a}", NOTHING, tokens) == "die Katze sieht {a}"


def test_tags_stay_around_names_that_are_not_read(tokenizer: Tokenizer) -> None:
    tokens = tokenizer.encode_target(["die Katze sieht Haus."])[0]
    straight = [(0, 0), (1, 1), (2, 2), (3, 3)]
    for source, text in (
        ("the cat sees house <b>{a}</b>.", "die Katze sieht Haus <b>{a}</b>."),
        ("the <b>cat {a}</b> sees house.", "die <b>Katze {a}</b> sieht Haus."),
        ("the cat ({a}, sees) house.", "die Katze sieht {a} Haus."),
    ):
        marked = MarkedText(source, tokenizer, keep=True, glossary=None)
        masked = SourceMasker(marked, tokenizer).write(marked.text, [NOTHING])
        assert restore_protected(tokenizer, masked, tokens, straight).text == text
    # Whatever attention says, names stay in their tags.
    source = "the <b>cat {a}</b> sees house."
    marked = MarkedText(source, tokenizer, keep=True, glossary=None)
    masked = SourceMasker(marked, tokenizer).write(marked.text, [NOTHING])
    for links in ([(0, 3), (1, 2), (2, 1), (3, 0)], [], [(1, 3)], [(2, 0)]):
        restored = restore_protected(tokenizer, masked, tokens, links)
        assert re.search("<b>.*{a}.*</b>", restored.text), restored.text
        assert not re.search(r"\w{a}|{a}\w", restored.text), restored.text


def test_references_are_read_as_their_characters(tokenizer: Tokenizer) -> None:
    source = "the&nbsp;cat &amp; house&hellip; <b>&lt;sees&gt;</b>"
    marked = MarkedText(source, tokenizer, keep=True, glossary=None)
    [masked] = SourceMasker(marked, tokenizer).mask(marked.text)
    assert masked.text == "the\u00a0cat & house… <sees>"
    assert masked.ids == tokenizer.encode_source(["the cat & house… <sees>"])[0]
    assert "".join(original for _, original in masked.pieces) == source
    assert masked.words == (0, 0, 1, 2, 3)
    tokens = tokenizer.encode_target(["die Katze & Haus… <sieht>"])[0]
    restored = restore_protected(tokenizer, masked, tokens, [(n, n) for n in range(5)])
    assert restored.text == "die Katze &amp; Haus&hellip; <b>&lt;sieht&gt;</b>"
    assert restored.words == [0, 1, 2, 3, 4]


@pytest.mark.slow
def test_the_sources_of_a_masked_source_are_the_segment(tokenizer: Tokenizer) -> None:
    chooser = random.Random(7)
    parts = ["{a}", "({b})", "https://x.org", "(https://x.org)", "&amp;", "&hellip;", "<b>", "</b>", "♪", "5 km", "the cat", "house"]  # fmt: skip
    placeholder_words = [
        PlaceholderWord("the old dog", ((5,),)),
        PlaceholderWord("Hund", ((6,),)),
        NOTHING,
    ]
    for _ in range(500):
        source = "the " + "".join(
            chooser.choice(parts) + chooser.choice([" ", " ", "", ", ", ". "]) for _ in range(6)
        )
        marked = MarkedText(source, tokenizer, keep=True, glossary=None)
        writer = SourceMasker(marked, tokenizer)
        for placeholder_word in placeholder_words:
            masked = writer.write(marked.text, [placeholder_word])
            assert masked.source == source
            for name in masked.names:  # what is kept is where the masked source says it is
                assert source[slice(*name.source)] == name.text
                assert masked.text[slice(*name.read)] == placeholder_word.text


def test_words_behind_protected_text_with_a_mark_have_their_own_places(
    tokenizer: Tokenizer,
) -> None:
    line = "Ask {name} (https://example.org), the cat"
    marked = MarkedText(line, tokenizer, keep=True, glossary=None)
    old = PlaceholderWord("the old man", ((5,),))
    masked = SourceMasker(marked, tokenizer).write(marked.text, [old])
    read, own = ([text[slice(*span)] for span in find_words(text)] for text in (masked.text, line))
    assert [own[number] for number in masked.words[-2:]] == read[-2:] == ["the", "cat"]


def test_a_name_that_a_word_continues_is_always_read(translator: Translator) -> None:
    for text, count in (("{name}'s cat", 3), ("a{n}", 3), ("cat-{n} sees", 3), ("the cat {n}", 4)):
        [segment] = cut(translator, text)
        assert len(segment.masked_sources) == count, text


def test_a_segment_of_which_nothing_is_read_is_copied(translator: Translator) -> None:
    search = replace(SEARCH, split_sentences=True)
    found = translator.translate("the cat sees. {name}. {other}", search)
    assert found.endswith("{name}. {other}")


def test_a_sentence_is_also_read_without_its_names(translator: Translator) -> None:
    """The likeliest of its masked sources is taken, and every one of them keeps the name."""
    [segment] = cut(translator, "the cat {name} sees the dog.")
    texts = [masked.text.split() for masked in segment.masked_sources]
    assert texts[-1] == ["the", "cat", "sees", "the", "dog."]
    assert all(len(words) == 6 for words in texts[:-1])
    for masked in segment.masked_sources:
        alone = segment._replace(masked_sources=(masked,))
        [n_best] = find(translator, [alone], SEARCH)
        assert join(translator, [alone], [n_best])[0].text.count("{name}") == 1


def test_a_masked_source_maps_its_words_to_those_of_the_segment(tokenizer: Tokenizer) -> None:
    line = "the `a b` cat <x/> sees 5 km"
    marked = MarkedText(line, tokenizer, keep=True, glossary=None)
    masked = SourceMasker(marked, tokenizer).write(marked.text, ())
    assert isinstance(masked, MaskedSource)
    assert marked.restore(marked.text) == line
    words, own = line.split(), masked.text.split()
    assert [words[number] for number in masked.words] == own
    assert masked.tags == (ProtectedTag("<x/>", 4, False, False),)
    [placeholder_word] = [PlaceholderWord("Hund", ((5,),))]
    masked = SourceMasker(marked, tokenizer).write(marked.text, [placeholder_word])
    assert masked.text == "the Hund cat  sees Hund"  # the vocabulary has no digits
    assert masked.words == (0, 1, 3, 5, 6)


@pytest.mark.parametrize("term", ["COVID-19", "A4 paper", "5 km", "10 €", "the H2O", "A4"])
def test_a_term_may_contain_codes_and_numbers_with_units(tokenizer: Tokenizer, term: str) -> None:
    glossary = Glossary.of({term: "Haus", "name": "x", "COVID": "x", "5": "x"})
    text = f"the cat sees {term} and COVID-20 at {{name}} 5 kg"
    marked = MarkedText(text, tokenizer, keep=True, glossary=glossary)
    found = [(mark.source, mark.kind) for mark in marked.marks.values()]
    kept = [
        ("COVID-20", "name"),
        ("{name}", "name"),
        ("5 kg", "name"),
    ]  # no digits in the vocabulary
    assert found == [(term, "term"), *kept]


def test_placeholders_in_addresses_are_kept(translator: Translator) -> None:
    kept = [
        "https://example.org/users/{id}", "https://example.org/?q={{query}}", "www.example.org/${id}",
        "(https://example.org){name}", "https://example.org/a[0]", "https://example.org/a_(b)",
    ]  # fmt: skip
    for each in kept:
        found = translator.translate(f"the cat sees {each} and the dog.", SEARCH)
        assert [found.count(part) for part in (each, *"{}()[]")] == [1, *map(each.count, "{}()[]")]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("DOGS SEE THE FENCE. FENCE!", "Dogs see the fence. Fence!"),
        ("“DOGS” SEE <b>FENCE</b>", "“Dogs” see fence"),
        ("<b>THE DOGS</b> SEE", "The dogs see"),
        ("{NAME} SEES DOGS. {NAME} SEES", "Hund sees dogs. Hund sees"),
        ("3 kg SEES THE DOGS", "Hund sees the dogs"),
        ("&Auml;RGER SIEHT DOGS", "Ärger sieht dogs"),
        ("&quot;GUTEN TAG&quot;", '"Guten tag"'),
    ],
)
def test_only_the_first_word_of_a_sentence_in_capitals_gets_one(
    tokenizer: Tokenizer, line: str, expected: str
) -> None:
    glossary = Glossary.of({"dogs": "Baum", "fence": "Hof"})
    marked = MarkedText(line, tokenizer, keep=True, glossary=glossary)
    marked.to_small_letters("en")
    placeholder_word = PlaceholderWord("Hund", ((5,),))
    assert SourceMasker(marked, tokenizer).write(marked.text, [placeholder_word]).text == expected


def test_text_without_words_stays_as_it_is(translator: Translator) -> None:
    for line in (
        "{name}",
        " <br/> ",
        "{a}: {b}",
        "https://example.org/ (5 km)",
        "%d %%",
        "...",
        " *** ",
        "— ?!",
        r"\n",
        r"\t{name}\n 5",
    ):
        assert translator.translate(line) == line
        assert len(Passage.split(line, "en").sentences) == 0


def test_a_text_of_a_line_ends_at_tags_of_breaks_and_blocks_and_at_escapes(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each text is translated as it is alone, and what divides them stays between them."""
    search = replace(SEARCH, max_tokens=6)  # so that some texts have several segments
    texts = ["the cat", "a {name} sees a <b>big</b> cat in the park", "DOG"]
    alone = [*translator.stream(texts, search, align=True)]
    name = ">>xx<<"
    for gaps in (
        ("", "<br>", "<br/>", ""),
        ("<ul> <li>", " </li><li class='x'>", "</li>\t<li> ", "</li></ul>"),
        ("", " <p>{x}</p> ", "<BR />", "<hr>"),
        (r"\t\n", r"\n\n", r" \n", r"\t\n"),
        ("", r"\r\n", r"\n<li>", ""),
    ):
        line = gaps[0] + "".join(t + gap for t, gap in zip(texts, gaps[1:], strict=True))
        [[found, *_]] = translator.stream([line], search, align=True)
        expected, at = gaps[0], len(gaps[0])
        links = WordLinks.between(line, found.text)
        for text, (best, *_), gap in zip(texts, alone, gaps[1:], strict=True):
            pairs = best.alignment or []
            links.add_sentence(text, at, best.text, len(expected), pairs)
            at += len(text + gap)
            expected += best.text + gap.rstrip() + " " * gap[-1:].isspace()
        assert found.text == expected
        assert found.alignment is not None
        assert set(found.alignment) == set(links.pairs)  # several links of one word may be the same
        total = sum(best.log_probability for best, *_ in alone)
        assert found.log_probability == pytest.approx(total)
        with monkeypatch.context() as patch:
            patch.setattr(Tokenizer, "named_language", lambda _, text: name * (name in text))
            segments = cut(translator, name + line, SEARCH)
        assert all(segment.language_name == name for segment in segments)
        assert line == "".join(s.before + s.text + s.after for s in segments)


def test_the_search_links_the_words_of_texts_with_tags(model_directory: Path) -> None:
    """In its batch and its precision: who writes the translation, such as a server, runs no model."""
    translator = Translator.load(model_directory)
    search = replace(SEARCH, precision="int8")
    texts = ["the <b>cat</b> sees {name}", "the cat", "<i>a</i> dog"]
    segments = [segment for text in texts for segment in cut(translator, text, search)]
    pipeline = translator.pipeline(search)
    found = run(together(map(pipeline.find, segments)))
    assert [each.hypotheses[0].links is None for each in found] == [False, True, False]
    assert list(translator.token_search._engines) == ["int8"]
    assert found == [run(pipeline.find(segment)) for segment in segments]
    [[aligned]] = translator.stream([texts[0]], search)
    assert aligned.alignment is None
    [written] = pipeline.join(segments[:1], found[:1])
    assert (written.text, written.alignment) == (aligned.text, None)
    assert written.text.count("<b>") == written.text.count("{name}") == 1


def test_a_text_with_private_use_characters_may_have_many_placeholders(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between any two of these characters are fewer free ones than placeholders."""
    own = "".join(chr(0xF0000 + 180 * number) for number in range(729))
    text = "{a} b " * 363 + own
    marked = MarkedText(text, translator.tokenizer, keep=True, glossary=None)
    assert (len(marked.marks), marked.restore(marked.text)) == (363, text)
    parts = marked.parts(marked.text)
    assert "".join(part if mark is None else mark.source for part, mark in parts) == text
    assert "".join(each.text for each in cut(translator, text)) == text
    # More placeholders than free characters: the last ones are read as text.
    monkeypatch.setattr("headway.ext.protect.marked_text._FREE", range(0xF0000, 0xF0002))
    marked = MarkedText("{a} b {c} d {e}", translator.tokenizer, keep=True, glossary=None)
    assert marked.text == "\U000f0000 b \U000f0001 d {e}"
    assert marked.restore(marked.text) == "{a} b {c} d {e}"


def test_the_renderings_of_a_term_are_tokenized_once_for_a_text(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    glossary = Glossary([Term("dog", tuple(map("".join, product("aehinrst", repeat=2))))])
    encode, counted = Tokenizer.encode_target, 0

    def count(self: Tokenizer, texts: list[str]) -> list[list[int]]:
        nonlocal counted
        counted += len(texts)
        return encode(self, texts)

    monkeypatch.setattr(Tokenizer, "encode_target", count)
    segments = cut(translator.with_glossary(glossary), "a dog sees a dog " * 200)
    assert any(masked.terms for each in segments for masked in each.masked_sources)
    assert 3 * 64 <= counted < 4 * 64  # alone, after a space and after a bracket


@pytest.mark.slow
def test_a_line_of_words_and_common_marks_is_cut_as_every_line(translator: Translator) -> None:
    """Such a line goes a shorter way, which must change nothing."""
    chooser = random.Random(3)
    pieces = [
        "the",
        "Cat",
        "DOG",
        "NATO",
        "é",
        "I",
        "a)",
        "(b)",
        "-",
        "–",
        "“dog”",
        "cat's",
        "sees,",
        "dog.",
    ]
    pieces += [
        "it.",
        "Mr.",
        "km",
        "EUR",
        "e.g.",
        "https",
        "www.",
        "co-op",
        "5",
        "{x}",
        "a:b",
        "no:",
        "x" * 90,
        "  ",
    ]
    pieces += [
        "!",
        "II.",
        "IV.",
        "I.",
        "...",
        "…",
        "«Hund»",
        "(the",
        "dog)",
        "日本",
        "a/b",
        "a_b",
        "#",
        "ü\u0308",
        "\u00a0",
        "'",
        "et al.",
    ]
    taken = 0
    for _ in range(3_000):
        line = " ".join(
            chooser.choices(pieces[: chooser.choice((6, 18, 60))], k=chooser.randrange(1, 7))
        )
        for split in (True, False):
            splitter = translator.pipeline(replace(SEARCH, split_sentences=split)).splitter
            stripped = line.strip()
            placeholder_words = partial(splitter.masking.placeholder_words, splitter)
            expected = (
                list(split_protected(splitter, stripped, placeholder_words)) if stripped else []
            )
            assert list(splitter.split(line)) == expected, line
            taken += is_plain(stripped)
    assert 500 < taken < 5_500
