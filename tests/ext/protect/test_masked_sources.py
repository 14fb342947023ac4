"""What must stay is in every translation exactly as often as in its source, whatever else is asked for."""

import random
import re
from dataclasses import replace
from itertools import product

import pytest

from headway import Glossary, SearchConfig, Translator
from headway.config import TextConfig
from headway.errors import UsageError
from headway.ext.documents.texts import SplitText
from headway.ext.protect import placeholder_words
from headway.ext.protect.glossary import Term
from headway.ext.protect.line_pieces import MOST_CONSTRAINTS
from headway.ext.protect.masking import ProtectedTextMasking
from headway.ext.protect.placeholder_words import (
    NO_GAP,
    NOTHING,
    LearnedPhrases,
    PlaceholderWord,
    SteadyPhrase,
)
from headway.ext.protect.restoring import link_parts
from headway.text import Tokenizer, WordLinks
from headway.translation import link_words, run, together
from headway.translation.engines import constrained_decoding
from headway.translation.splitting import is_plain
from headway.translation.token_stream import stream_tokens
from support.bounds import bounded
from support.cases import each_case, own_rows
from support.masked_texts import mark, mask, word
from support.pieces import cut
from support.toy_models import sentences

SEARCH = SearchConfig(max_extra=7)
PLACEHOLDERS = (
    "{name} {{a.b}} ${x} $VAR %1$s %d https://example.org/a?b=c joe@example.org `ls` /etc/hosts"
)
PROTECTED = [*PLACEHOLDERS.split(), "{name}"]
TAGS = [("<b>", "</b>"), ('<x id="1"/>', ""), ("<g id='2'>", "</g>")]
PARTS = "{a} ({b}) https://x.org (https://x.org) &amp; &hellip; <b> </b> ♪ house"
# What tells plain lines from others.
PIECES = (
    "the Cat DOG NATO é I a) (b) - – “dog” cat's sees, dog. it. Mr. km EUR e.g. https www. co-op 5 {x} a:b no: ! II."
    " IV. I. ... … «Hund» (the dog) 日本 a/b a_b # ü\u0308 '"
)
DOG = SteadyPhrase("dog", "dog", ["Hund"], 1, {}, {})
# Links of words that stand in the same order.
STRAIGHT = [(0, 0), (1, 1), (2, 2), (3, 3)]


def strings(count, seed):
    """Sentences with placeholders and tags in random places."""
    chooser, found = random.Random(seed), []
    for sentence in sentences(count, seed):
        words = sentence.split()
        for each in chooser.choices(PROTECTED, k=chooser.randrange(4)):
            words.insert(chooser.randrange(len(words) + 1), each)
        if chooser.random() < 0.4:
            before, after = chooser.choice(TAGS)
            at = chooser.randrange(len(words))
            words[at] = f"{before}{words[at]}{after}"
        found.append(" ".join(words))
    return found


def count_protected(text):
    """How often each of the placeholders and tags occurs; a random model may invent others."""
    return [
        text.count(each) for each in (*PROTECTED, *(tag for pair in TAGS for tag in pair if tag))
    ]


def write(tokenizer, source, links, *words, translation="die Katze sieht Haus."):
    """Return the translation of a masked source with what the source protects."""
    [tokens] = tokenizer.encode_target([translation])
    return mask(tokenizer, source, *words).restore(tokenizer, tokens, [*links]).text


@pytest.mark.parametrize(
    "search",
    [
        SEARCH,
        replace(SEARCH, beam=1, max_tokens=6),
        replace(SEARCH, precision="int8", n_best=3),
        replace(SEARCH, sample=True, n_best=2),
        replace(SEARCH, mbr=True, candidates=3),
    ],
    ids=["beam", "split", "int8", "samples", "mbr"],
)
def test_placeholders_and_tags_are_kept(translator, search):
    lines = strings(8, 3)
    for line, found in zip(lines, translator.stream(lines, search, align=True), strict=True):
        for translation in found:
            kept, expected = count_protected(translation.text), count_protected(line)
            if search.sample:  # a sample of a random model may spell a placeholder by chance
                kept = [min(pair) for pair in zip(kept, expected, strict=True)]
            assert kept == expected, (line, translation.text)
            counts = len(line.split()), len(translation.text.split())
            assert all(s < counts[0] and t < counts[1] for s, t in translation.alignment or [])


def test_a_line_with_placeholders_does_not_depend_on_other_lines(translator):
    own = translator.with_glossary(Glossary.of({"cat": "Kater", "green house": ["Hund"]}))
    lines = strings(10, 4)
    assert [own.translate(line, SEARCH) for line in lines] == own.translate(lines, SEARCH)


def test_lines_that_have_nothing_to_keep_get_the_same_bits(translator):
    lines = sentences(10, 6)
    mixed = [line for pair in zip(lines, strings(10, 7), strict=True) for line in pair]
    own = translator.with_glossary(Glossary.of({"absent": "x"}))
    free = [*translator.stream(lines, replace(SEARCH, keep=False))]
    assert [*own.stream(mixed, SEARCH)][::2] == free


@pytest.mark.parametrize("rest", ["dog.", "<b>{name}</b>."])
def test_characters_of_line_breaks_are_read_as_common_ones(translator, rest):
    line = f"the\u00a0cat se\u00ades\u202fa green\u2011house and {rest}"
    plain = f"the cat sees a green-house and {rest}"
    [piece], [expected] = cut(translator, line), cut(translator, plain)
    assert piece.text == line
    assert piece.ids == expected.ids
    assert (piece.masked_source or piece).ids == (expected.masked_source or expected).ids
    found, same = translator.stream([line, plain], SEARCH, align=True)
    assert found == same
    assert translator.score(line, "die Katze") == translator.score(plain, "die Katze")


def test_the_words_of_a_rendering_are_linked_to_those_of_its_term_only(translator):
    terms = Glossary.of({"cat": "Kater", "green house": "Gewächshaus", "hears": "hört gut"}).terms
    own = translator.with_glossary(Glossary([*terms, Term("big red dog", (), is_kept=True)]))
    expected = {
        "the cat, hears a green house.": {
            (1, "Kater"), (2, "hört"), (2, "gut"), (4, "Gewächshaus"), (5, "Gewächshaus"),
        },
        "a big red dog, sees the cat": {(1, "big"), (2, "red"), (3, "dog"), (6, "Kater")},
    }  # fmt: skip
    found = own.stream([*expected], SEARCH, align=True)
    for links, [translation] in zip(expected.values(), found, strict=True):
        words = [word.strip(".,") for word in translation.text.split()]
        terms_linked, renderings = ({link[side] for link in links} for side in (0, 1))
        pairs = {(source, words[target]) for source, target in translation.alignment or []}
        assert {p for p in pairs if p[0] in terms_linked or p[1] in renderings} == links


def test_a_word_of_which_a_term_is_a_part_has_other_links_too():
    assert link_parts("a cat-like dog", "ein Kater-artiger Hund", [((2, 5), (4, 9))]) == []
    assert link_parts("(cat)", "„Kater“!", [((1, 4), (1, 6))]) == [(0, 0)]
    assert link_parts("der Kanal zum Meer", "the sea canal", [((4, 18), (4, 13))]) == [
        *product((1, 2, 3), (1, 2))
    ]


def test_ensembles_keep_terms(translator, tokenizer):
    two = Translator(translator.model, tokenizer, others=[translator.model])
    text = two.translate("the cat sees {name}", SEARCH, glossary=Glossary.of({"cat": "Kater"}))
    assert "Kater" in text
    assert text.count("{name}") == 1


def test_samples_cannot_follow_a_glossary(translator):
    with pytest.raises(UsageError, match=r"search\.sample"):
        translator.translate("a", replace(SEARCH, sample=True), glossary=Glossary.of({"a": "b"}))


def test_a_streamed_translation_keeps_placeholders(translator):
    for line in strings(6, 5):
        for piece in cut(translator, line):
            parts = "".join(stream_tokens(translator, piece))
            assert count_protected(parts) == count_protected(piece.text)


def test_tags_stand_around_the_translations_of_their_words(tokenizer):
    for source, links, text in own_rows():
        assert write(tokenizer, source, map(tuple, links)) == text
    marks = write(tokenizer, "the <b>cat</b>.", [(1, 0)], translation="किताबें।")
    assert marks == "<b>किताबें</b>।"  # a sign of a vowel is no mark
    both = [(0, 0), (1, 1), (1, 3), (2, 2), (3, 3)]
    crossed = write(tokenizer, "the <0>cat</0> <1>sees</1> house.", both)
    assert re.sub("<[^>]*>", "", crossed).split() == ["die", "Katze", "sieht", "Haus."]
    assert "".join(re.findall("</?[01]>", crossed)) in ("<0></0><1></1>", "<1></1><0></0>")
    text = write(tokenizer, "<b>the</b> <i>cat sees</i> house.", [(0, 0), (1, 1), (0, 2), (2, 3)])
    assert text.index("</b>") <= text.index("<i>") or text.index("</i>") < text.index("</b>")


def test_no_tag_comes_into_a_number_with_its_unit():
    pairs = [(f"{text} USD 20 50 %", f"{text} USD 20 50 %") for text in sentences(400, 1)]
    tokenizer = Tokenizer.learn(pairs, TextConfig(vocab_size=361))
    for source, written, links, text in own_rows():
        assert write(tokenizer, source, links, translation=written) == text


def test_protected_text_apart_from_the_sentence_stays_where_it_is(tokenizer):
    crossing = [(0, 3), (1, 2), (2, 1), (3, 0)]
    for source in own_rows():
        assert mask(tokenizer, source).text.strip() == "the cat sees house."
        text = source.replace("the cat sees house", "die Katze sieht Haus")
        assert write(tokenizer, source, crossing) == text


def test_names_that_are_not_read_keep_their_order_and_their_tags(tokenizer):
    for source, text in own_rows():
        assert write(tokenizer, source, STRAIGHT, NOTHING) == text
    # A punctuation mark is read at its word.
    read = mask(tokenizer, "the cat sees house {a} ({url}).", NOTHING).text
    assert read == "the cat sees house."
    # Whatever attention says, names stay in their tags.
    for links in ([(0, 3), (1, 2), (2, 1), (3, 0)], [], [(1, 3)], [(2, 0)]):
        text = write(tokenizer, "the <b>cat {a}</b> sees house.", links, NOTHING)
        assert re.search("<b>.*{a}.*</b>", text), text
        assert not re.search(r"\w{a}|{a}\w", text), text


def test_no_two_spaces_stand_beside_protected_text(tokenizer):
    [[space, *_]] = tokenizer.encode_target(["\u0416"])  # no subword begins with this letter
    assert tokenizer.decode([space, space]) == " "
    before, name, after = (
        tokenizer.encode_target([text])[0][:-1] for text in ("die Katze", "Hund", "sieht")
    )
    # The translation already has a space before the placeholder word.
    masked = mask(tokenizer, "the cat {a} sees", PlaceholderWord(DOG, (tuple(name),)))
    restored = masked.restore(tokenizer, [*before, space, *name, *after], [])
    assert restored.text == "die Katze {a} sieht"
    # So it does at the end, where the name comes with a space.
    masked = mask(tokenizer, "the cat sees {a}", NOTHING)
    restored = masked.restore(tokenizer, [*before, *after, space], [])
    assert restored.text == "die Katze sieht {a}"


def test_a_mark_that_is_one_subword_with_a_sign_stays_behind_what_is_kept():
    pairs = [(f"it costs £{n}.", f"das kostet {n} £.") for n in range(10, 99)]
    tokenizer = Tokenizer.learn(pairs, TextConfig(vocab_size=310))
    [tokens] = tokenizer.encode_target(["das kostet 65 £."])
    assert "▁£." in tokenizer.target_subwords(tokens)
    price = word(tokenizer, "£65", "65 £")
    before_mark, within = (
        mask(tokenizer, f"it costs {{a}}{rest}", price) for rest in (".", " now")
    )
    assert before_mark.restore(tokenizer, tokens, []).text == "das kostet {a}."
    counts = [len(each.constraints[0].alternatives) for each in (before_mark, within)]
    assert counts[0] > counts[1]


def test_references_are_read_as_their_characters(tokenizer):
    source = "the&nbsp;cat &amp; house&hellip; <b>&lt;sees&gt;</b>"
    masked = mask(tokenizer, source)
    assert masked.text == "the\u00a0cat & house… <sees>"
    assert masked.ids == tokenizer.encode_source(["the cat & house… <sees>"])[0]
    [tokens] = tokenizer.encode_target(["die Katze & Haus… <sieht>"])
    restored = masked.restore(tokenizer, tokens, [(n, n) for n in range(5)])
    assert restored.text == "die Katze &amp; Haus&hellip; <b>&lt;sieht&gt;</b>"
    assert (masked.words, restored.words) == ([0, 0, 1, 2, 3], [0, 1, 2, 3, 4])


def test_a_masked_source_says_where_its_piece_has_what_is_protected(tokenizer):
    chooser = random.Random(7)
    parts = [*PARTS.split(), "5 km", "the cat"]
    for _ in range(200):
        source = "the " + "".join(
            chooser.choice(parts) + chooser.choice([" ", " ", "", ", ", ". "]) for _ in range(6)
        )
        for each in (word(tokenizer, "the old dog", "Hund"), NOTHING):
            masked = mask(tokenizer, source, each)
            for name in masked.find("name"):
                assert source[slice(*name.own_span)] == name.source
                assert masked.text[slice(*name.span)] == each.phrase.text
    for line, last in (
        ("Ask {name} (https://example.org), the cat", ["the", "cat"]),
        ("the `a b` cat <x/> sees 5 km {a}", ["cat", "sees"]),
    ):
        masked = mask(tokenizer, line, word(tokenizer, "the old man", "Hund"))
        own, words = line.split(), masked.text.split()
        linked = {own[number]: words[n] for n, number in enumerate(masked.words)}
        assert [linked[each] for each in last] == last


def test_a_model_that_has_learned_no_phrases_reads_words_that_it_copies(translator, monkeypatch):
    copied = [SteadyPhrase(name, name, [name], 0, {}, {}) for name in ("cat", "Hund")]
    monkeypatch.setattr(placeholder_words, "COPIED", LearnedPhrases(copied, NO_GAP))
    own = Translator(translator.model, translator.tokenizer, languages=translator.languages)
    for text, read in (("{name}'s cat", "Hund's cat"), ("the {a} sees {b}", "the cat sees Hund")):
        [piece] = cut(own, text)
        assert piece.masked_source.text == read
        assert own.translate(text, SEARCH).count("{") == text.count("{")


def test_a_piece_of_which_nothing_is_read_is_copied(translator):
    search = replace(SEARCH, split_sentences=True)
    found = translator.translate("the cat sees. {name}. {other}", search)
    assert found.endswith("{name}. {other}")


@pytest.mark.parametrize("term", ["COVID-19", "A4 paper", "5 km", "the H2O"])
def test_a_term_may_contain_codes_and_numbers_with_units(tokenizer, term):
    glossary = Glossary.of({term: "Haus", "name": "x", "COVID": "x", "5": "x"})
    text = f"the cat sees {term} and COVID-20 at {{name}} 5 kg"
    marked = mark(tokenizer, text, glossary=glossary)
    found = [(mark.source, mark.kind) for mark in marked.marks.values()]
    others = [("COVID-20", "literal"), ("{name}", "name"), ("5 kg", "literal")]
    assert found == [(term, "term"), *others]


@each_case
def test_only_the_first_word_of_a_sentence_in_capitals_gets_one(tokenizer, line, expected):
    glossary = Glossary.of({"dogs": "Baum", "fence": "Hof"})
    marked = mark(tokenizer, line, word(tokenizer, "Hund", "Hund"), glossary=glossary)
    marked.to_small_letters("en")
    masked = marked.mask(marked.text)
    assert masked is not None
    assert masked.text == expected


def test_text_without_words_stays_as_it_is(translator):
    lines = ["{name}", " <br/> ", "{a}: {b}", "https://example.org/ (5 km)", "%d %%", " *** "]
    lines.append(r"\t{name}\n 5")
    assert translator.translate(lines) == lines
    assert not any(SplitText.divide(line, "en").sentences for line in lines if "5 km" not in line)


def test_a_text_of_a_line_ends_at_tags_of_breaks_and_blocks_and_at_escapes(translator, monkeypatch):
    """Each text is translated as it is alone, and what divides them stays between them."""
    search = replace(SEARCH, max_tokens=6)  # so that some texts have several pieces
    texts = ["the cat", "a {name} sees a <b>big</b> cat in the park", "DOG"]
    alone = [*translator.stream(texts, search, align=True)]
    name = ">>xx<<"
    for gaps in own_rows():
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
            pieces = cut(translator, name + line, SEARCH)
        assert all(piece.language_name == name for piece in pieces)
        assert line == "".join(s.before + s.text + s.after for s in pieces)


def test_the_search_links_the_words_of_texts_with_tags(model_directory):
    """In its batch and its precision: who writes the translation, such as a server, runs no model."""
    translator = Translator.load(model_directory)
    search = replace(SEARCH, precision="int8")
    texts = ["the <b>cat</b> sees {name}", "the cat", "<i>a</i> dog"]
    pieces = [piece for text in texts for piece in cut(translator, text, search)]
    pipeline = translator.pipeline(search)
    found = run(together(map(pipeline.find, pieces)))
    assert [each.hypotheses[0].links is None for each in found] == [False, True, False]
    assert list(translator.token_search._engines) == ["int8"]
    assert found == [run(pipeline.find(piece)) for piece in pieces]
    [[aligned]] = translator.stream([texts[0]], search)
    [written] = pipeline.join(pieces[:1], found[:1])
    assert (written.text, written.alignment) == (aligned.text, None)
    assert written.text.count("<b>") == written.text.count("{name}") == 1


def test_a_text_with_private_use_characters_may_have_many_placeholders(translator, monkeypatch):
    """Between any two of these characters are fewer free ones than placeholders."""
    own = "".join(chr(0xF0000 + 180 * number) for number in range(729))
    text = "{a} b " * 363 + own
    assert "".join(each.text for each in cut(translator, text)) == text
    taken = "".join(map(chr, range(0xF0001, 0xF0001 + 20_000, 2)))
    with bounded(1):
        marked = mark(translator.tokenizer, f"{{a}} {taken} {{b}}")
    assert not marked.marks.keys() & set(taken)
    # More placeholders than free characters: the last ones are read as text.
    monkeypatch.setattr("headway.ext.protect.text_masking._FREE", range(0xF0000, 0xF0002))
    marked = mark(translator.tokenizer, "{a} b {c} d {e}")
    assert marked.text == "\U000f0000 b \U000f0001 d {e}"
    assert marked.restore(marked.text) == "{a} b {c} d {e}"


@pytest.mark.parametrize("part", ["A%s", "{a} b ", "a dog %d <b>and</b> ", "%s%s%s"])
def test_a_piece_has_few_constraints_however_many_placeholders_a_text_has(part, translator):
    text = part * 100
    pieces = cut(translator, f"x {text}")
    assert "".join(each.text for each in pieces) == f"x {text}".rstrip()
    counts = [len(each.masked_source.constraints) for each in pieces if each.masked_source]
    assert counts
    assert max(counts) <= MOST_CONSTRAINTS
    [few] = cut(translator, f"x {part * 3}")  # a text with few is not divided
    assert few.text == f"x {part * 3}".rstrip()


def test_the_renderings_of_a_term_are_tokenized_once_for_a_text(translator, monkeypatch):
    glossary = Glossary([Term("dog", tuple(map("".join, product("aehinrst", repeat=2))))])
    encode, counted = Tokenizer.encode_target, 0

    def count(self, texts):
        nonlocal counted
        counted += len(texts)
        return encode(self, texts)

    monkeypatch.setattr(Tokenizer, "encode_target", count)
    pieces = cut(translator.with_glossary(glossary), "a dog sees a dog " * 200)
    assert any(each.masked_source.find("term") for each in pieces)
    assert 3 * 64 <= counted < 4 * 64  # alone, after a space and after a bracket


def test_a_line_of_words_and_common_marks_is_cut_as_every_line(translator):
    """Such a line goes a shorter way, which must change nothing."""
    chooser = random.Random(3)
    pieces = [*PIECES.split(), "x" * 90, "  ", "\u00a0", "et al."]
    taken = 0
    for split in (True, False):
        lines = translator.pipeline(replace(SEARCH, split_sentences=split))
        for _ in range(600):
            some = pieces[: chooser.choice((6, 18, 60))]
            line = " ".join(chooser.choices(some, k=chooser.randrange(1, 7)))
            stripped = line.strip()
            expected = [*lines.masking.split(lines, stripped)]
            assert lines.cut(line) == expected, line
            taken += is_plain(stripped)
    assert 100 < taken < 1_100


def test_a_plain_line_enters_no_stage_of_masking(translator, monkeypatch):
    lines = [line for line in sentences(40, 4) if is_plain(line)]
    assert len(lines) > 30
    expected = translator.translate(lines)

    def stop(*_, **__):
        raise AssertionError("a plain line is masked")

    methods = [name for name, each in vars(ProtectedTextMasking).items() if callable(each)]
    for name in {*methods} - {"__init__"}:
        monkeypatch.setattr(ProtectedTextMasking, name, stop)
    assert translator.translate(lines) == expected
    with pytest.raises(AssertionError, match="is masked"):
        translator.translate("the cat {x}")


GLOSSARY = Glossary(
    [
        *Glossary.of(
            {"cat": ["Kater", "Mieze"], "green house": "Gewächshaus", "sees": "梯子"}
        ).terms,
        Term("dog", (), is_kept=True),
    ]
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
    wanted = dict(own_rows())
    found = [best for [best] in glossed.stream(wanted, search=SEARCH, align=True)]
    assert [translation.text for translation in found] == [*wanted.values()]
    assert all(translation.alignment for translation in found)
    n_best = replace(SEARCH, n_best=3, split_sentences=True)
    lists = {"dog.": ["hund.", "Köter."], "Dog!": ["Hund!", "Köter!"], "cat": ["Kater"]}
    # Several terms with marks between them need no model, either.
    lists |= {"cat, dog; cat": ["Kater, hund; Kater"], "dog, cat": ["hund, Kater", "Köter, Kater"]}
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
    for source, target, links, terms, expected in own_rows():
        size = len(target.split()) if " " in target else len(target)
        weights = [
            [float(links.get(str(n)) == s) for s in range(len(source.split()))] for n in range(size)
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
def test_every_term_is_in_the_translation_as_whole_words_wherever_it_was_placed(
    translator, search, natural, monkeypatch
):
    monkeypatch.setattr(constrained_decoding, "NATURAL", natural)
    lines = [*sentences(4, 5), *strings(3, 5)]
    own = translator.with_glossary(GLOSSARY)
    for line, found in zip(lines, own.stream(lines, search), strict=True):
        assert own.translate(line, search) == found[0].text
        for text in (each.text for each in found):
            assert count_protected(text) == count_protected(line), (line, text)
            for term in GLOSSARY.terms:
                words = "|".join(term.renderings or [term.source])
                written = re.findall(rf"(?<![a-zß-ü])(?:{words})(?![a-zß-ü])", text, re.I)
                assert len(written) >= len(re.findall(rf"\b{term.source}\b", line)), (line, text)
