"""Elements of a paragraph in its translation, and sentences divided among subtitles."""

import random
import re
import time
from typing import Any

import pytest

from headway.ext.documents.dividing import divide
from headway.ext.documents.divisible import divide_elements
from headway.ext.documents.html.page import HtmlPage
from headway.ext.documents.kept_marks import KeptMarks
from headway.ext.documents.opening import open_document
from headway.ext.documents.paragraph import Element, Paragraph, Translated
from headway.ext.documents.placing import Placed, place
from headway.text.word_links import WordLinks
from headway.text.words import find_words
from support.bounds import grows_less
from support.documents import make_file


def show(parts: list[str | Placed[str]]) -> str:
    return "".join(
        part if isinstance(part, str) else f"<{part.element.content}:{show(part.inner)}>"
        for part in parts
    )


def linked(text: str, target: str, *pairs: tuple[int, int]) -> Translated:
    return Translated(target, WordLinks(find_words(text), find_words(target), list(pairs)))


def show_kept(paragraph: Paragraph[str], target: str, *pairs: tuple[int, int]) -> str:
    """Return the elements in a translation with `{0}`, `{1}` ... for the kept texts."""
    marks = KeptMarks(paragraph)
    target = target.format(*re.findall("[\ue000-\uf8ff]", marks.text))
    return show(place(paragraph, marks.expand(linked(marks.text, target, *pairs))))


def test_elements_of_an_unchanged_text_stay_at_their_characters() -> None:
    text = "reload it"
    paragraph = Paragraph(text, [Element(0, 2, "b", [Element(1, 1, "x")]), Element(8, 9, "i")])
    assert show(place(paragraph, Translated(text))) == "<b:r<x:>e>load i<i:t>"


def test_what_stands_at_the_beginning_stays_there() -> None:
    paragraph = Paragraph("1\ta b", [Element(0, 0, "x"), Element(0, 5, "link")])
    # Numbers between sentences have no links.
    assert show(place(paragraph, linked("1\ta b", "1\tB A", (1, 2), (2, 1)))) == "<x:><link:1\tB A>"
    paragraph = Paragraph("a b", [Element(3, 3, "note"), Element(3, 3, "x", kind="end")])
    assert show(place(paragraph, linked("a b", "B A", (0, 1), (1, 0)))) == "B<note:> A<x:>"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I paid the bill.{} You slept.", "ich die rechnung bezahlt hab.<n:> du schliefst."),
        ("I paid the bill.”{} You slept.", "ich die rechnung bezahlt hab.<n:> du schliefst."),
        ("I paid the bill{}. You slept.", "ich die rechnung<n:> bezahlt hab. du schliefst."),
        ("I paid the{} bill. You slept.", "ich die<n:> rechnung bezahlt hab. du schliefst."),
        ("I paid the bill. You slept.{}", "ich die rechnung bezahlt hab. du schliefst.<n:>"),
        ("I paid approx.{} bill. You slept.", "ich die<n:> rechnung bezahlt hab. du schliefst."),
    ],
)
def test_a_note_behind_the_mark_of_a_sentence_stays_behind_the_sentence(
    text: str, expected: str
) -> None:
    paragraph = Paragraph(text.format(""), [Element(text.index("{"), text.index("{"), "n")])
    target = "ich die rechnung bezahlt hab. Du schliefst."
    pairs = (0, 0), (1, 3), (2, 1), (3, 2), (4, 5), (5, 6)
    assert show(place(paragraph, linked(paragraph.text, target, *pairs))).lower() == expected
    # Without a mark, the translation of the sentence ends before the first word of the next one.
    if text == "I paid the bill.{} You slept.":
        found = linked(paragraph.text, target.replace("hab.", "hab"), *pairs)
        assert show(place(paragraph, found)) == "ich die rechnung bezahlt hab<n:> Du schliefst."


def test_kept_text_stays_wherever_the_translation_has_it() -> None:
    text = "print the list in list and list"
    code = [Element(18, 22, "a", is_kept=True), Element(27, 31, "b", is_kept=True)]
    paragraph = Paragraph(text, code)
    # In the first place it is a word, which has been translated, or has not.
    for word in ("Liste", "list"):
        found = f"druck die {word} in <a:list> und <b:list>"
        assert show_kept(paragraph, f"druck die {word} in {{0}} und {{1}}") == found
    assert show_kept(paragraph, "erst {1}, dann {0}!") == "erst <b:list>, dann <a:list>!"
    assert show_kept(paragraph, "") == "<a:list><b:list>"


def test_kept_text_may_be_a_part_of_a_word() -> None:
    paragraph = Paragraph("the tests are", [Element(4, 8, "c", is_kept=True)])
    assert show_kept(paragraph, "Das sind die {0}s", (1, 3)) == "Das sind die <c:test>s"
    paragraph = Paragraph("Page7 ends", [Element(0, 4, "b"), Element(4, 5, "n", is_kept=True)])
    assert show_kept(paragraph, "Seite{0} endet", (0, 0), (1, 1)) == "<b:Seite><n:7> endet"


def test_kept_text_of_which_the_translation_does_not_say_where_it_is_takes_the_place_of_its_link() -> (
    None
):
    text = "run a b now and b"
    paragraph = Paragraph(
        text, [Element(4, 7, "c", is_kept=True), Element(16, 17, "d", is_kept=True)]
    )
    pairs = [(0, 0), (1, 1), (2, 2), (4, 3), (5, 4)]
    found = linked(text, "JETZT A B UND X", *pairs)
    assert show(place(paragraph, found)) == "JETZT <c:a b> UND <d:b>"
    unlinked = linked(text, "JETZT A B UND X", *pairs[:4])
    assert show(place(paragraph, unlinked)).replace("<d:b>", "").split() == [
        "JETZT",
        "<c:a",
        "b>",
        "UND",
        "X",
    ]


def test_kept_text_does_not_replace_words_that_translate_other_words() -> None:
    paragraph = Paragraph("7 tea,", [Element(0, 1, "n", is_kept=True)])
    # The only word of the translation would be lost, whatever it is linked to.
    assert show(place(paragraph, linked("7 tea,", "Sessa,", (0, 0)))) == "<n:7> Sessa,"
    assert show(place(paragraph, linked("7 tea,", "Tee,", (0, 0), (1, 0)))) == "<n:7> Tee,"
    assert show(place(paragraph, linked("7 tea,", "Nr Tee,", (0, 0), (1, 1)))) == "<n:7> Tee,"
    last = Paragraph("tea 7", [Element(4, 5, "n", is_kept=True)])
    assert show(place(last, linked("tea 7", "Tee so", (0, 0), (0, 1), (1, 1)))) == "Tee <n:7> so"


@pytest.mark.slow
def test_the_time_for_kept_text_grows_with_the_length() -> None:
    def place_all(count: int) -> None:
        text = " ".join(f"a{n}" for n in range(count))
        spans = find_words(text)
        paragraph = Paragraph(text, [Element(*span, "n", is_kept=True) for span in spans])
        place(paragraph, linked(text, text.upper(), *((n, n) for n in range(count))))

    assert grows_less(place_all, 1000, 10)


def test_a_part_of_a_word_stays_a_part_of_it_if_the_word_stays() -> None:
    paragraph = Paragraph("4 m2 here", [Element(3, 4, "sup")])
    found = linked("4 m2 here", "hier 4 m2", (0, 1), (1, 2), (2, 0))
    assert show(place(paragraph, found)) == "hier 4 m<sup:2>"
    found = linked("4 m2 here", "hier 4 m²", (0, 1), (1, 2), (2, 0))
    assert show(place(paragraph, found)) == "hier 4 <sup:m²>"


def test_kept_text_in_a_word_takes_nothing_of_the_word() -> None:
    paragraph = Paragraph("the XYcat", [Element(4, 6, "n", is_kept=True)])
    found = linked("the XYcat", "die Katze", (0, 0), (1, 1))
    assert show(place(paragraph, found)) == "die <n:XY>Katze"


def test_kept_text_beside_a_dash_takes_nothing_of_the_word_behind_it() -> None:
    text = "run make--but how"
    paragraph = Paragraph(text, [Element(4, 8, "c", is_kept=True)])
    found = linked(text, "mach los--aber wie", (0, 0), (1, 1), (2, 2))
    assert show(place(paragraph, found)) == "mach <c:make> los--aber wie"


def test_a_mark_of_the_next_word_is_not_one_of_the_element() -> None:
    paragraph = Paragraph("Oh no.  (so)", [Element(3, 7, "b")])
    found = linked("Oh no.  (so)", "Ach nein.  (so)", (0, 0), (1, 1), (2, 2))
    assert show(place(paragraph, found)) == "Ach <b:nein.>  (so)"


def test_marks_at_the_ends_of_an_element_are_replaced_with_it() -> None:
    for text, before, after in (("«Name», dear", "", ", "), ("as (Doe).", "as ", "."), ("(«a»)", "(", ")")):  # fmt: skip
        start = text.index("«" if "«" in text else "(")
        end = text.index("»" if "»" in text else ")") + 1
        kept = Paragraph(text, [Element(start, end, "k", is_kept=True)])
        spans = find_words(text)
        target = text.upper().replace("«", "„").replace("»", "“")
        found = linked(text, target, *((n, n) for n in range(len(spans))))
        assert show(place(kept, found)).startswith(f"{before.upper()}<k:{text[start:end]}>{after}")


def test_an_element_apart_from_words_does_not_stick_to_one() -> None:
    for text, mark in (("I paid the bill ", "."), ("I paid the bill ", " ,")):
        paragraph = Paragraph(text + mark, [Element(len(text), len(text), "x")])
        found = linked(text + mark, f"die rechnung bezahlt hab{mark}", (0, 2), (4, 3))
        assert show(place(paragraph, found)) == f"die rechnung bezahlt <x:> hab{mark}"
    # In a word, or behind one, it does.
    paragraph = Paragraph("un do it", [Element(2, 2, "x"), Element(5, 5, "y")])
    found = linked("un do it", "es un tu", (0, 1), (1, 2), (2, 0))
    assert show(place(paragraph, found)) == "es un<x:> tu<y:>"


@pytest.mark.parametrize(
    ("text", "target", "expected"),
    [
        ("for *€4.17* in Rome", "für 4,17 € in Rom", "für <i:4,17 €> in Rom"),
        ("*for $4.17* in Rome", "für 4,17\u00a0$ in Rom", "<i:für 4,17\u00a0$> in Rom"),
        ("for *EUR 4.17* in Rome", "für 4,17 EUR in Rom", "für <i:4,17 EUR> in Rom"),
        ("in Rome *100 €*.", "in Rom €100.", "in Rom <i:€100>."),
        ("by *5%*, for him", "um 5 %, für ihn", "um <i:5 %>, für ihn"),
        # The number alone, without its sign.
        ("for €*4.17* in Rome", "für 4,17 € in Rom", "für <i:4,17> € in Rom"),
        ("for *4* € in Rome", "für 4 € in Rom", "für <i:4> € in Rom"),
    ],
)
def test_an_element_around_a_number_with_its_sign_is_around_both(
    text: str, target: str, expected: str
) -> None:
    before, inside, after = text.split("*")
    text = before + inside + after
    paragraph = Paragraph(text, [Element(len(before), len(before + inside), "i")])
    # The sign has no link where only one of both languages writes it apart.
    words, others = text.split(), target.split()
    number = next(n for n, word in enumerate(words) if any(map(str.isdigit, word)))
    other = next(n for n, word in enumerate(others) if any(map(str.isdigit, word)))
    pairs = [(n, n) for n in range(len(words)) if n < min(number, other) and words[n] != "EUR"]
    assert show(place(paragraph, linked(text, target, *pairs, (number, other)))) == expected


def test_elements_among_spaces_stay_among_them() -> None:
    paragraph = Paragraph("a   b", [Element(2, 2, "x"), Element(3, 3, "y")])
    found = linked("a   b", "A   B", (0, 0), (1, 1))
    assert show(place(paragraph, found)) == "A <x:> <y:> B"


def test_the_mark_that_ends_the_text_is_not_in_an_element_that_moves_there() -> None:
    text = "I saw the cat today."
    cat = Paragraph(text, [Element(10, 13, "b")])
    found = linked(text, "Heute sah ich eine Katze.", (0, 2), (1, 1), (2, 3), (3, 4), (4, 0))
    assert show(place(cat, found)) == "Heute sah ich eine <b:Katze>."
    all_of_it = Paragraph(text, [Element(0, 20, "b")])
    assert show(place(all_of_it, found)) == "<b:Heute sah ich eine Katze.>"
    unended = linked(text[:-1], "Heute sah ich eine Katze!", (3, 4))
    assert show(place(Paragraph(text[:-1], cat.elements), unended)).endswith("<b:Katze!>")


def test_the_mark_that_ends_a_sentence_is_not_in_an_element_that_moves_there() -> None:
    text, target = (
        "A man plays guitar here. Two dogs run.",
        "Ein Mann spielt hier Gitarre. Zwei Hunde rennen.",
    )
    pairs = [(0, 0), (1, 1), (2, 2), (3, 4), (4, 3), (5, 5), (6, 6), (7, 7)]
    guitar = [Element(12, 18, "b")]
    expected = "Ein Mann spielt hier <b:Gitarre>. Zwei Hunde rennen."
    assert show(place(Paragraph(text, guitar), linked(text, target, *pairs))) == expected
    # The first word of the next sentence may have no link; and a comma is a mark, too.
    assert (
        show(place(Paragraph(text, guitar), linked(text, target, *pairs[:5], *pairs[6:])))
        == expected
    )
    commas = [each.replace(". ", ", ") for each in (text, target, expected)]
    assert show(place(Paragraph(commas[0], guitar), linked(*commas[:2], *pairs))) == commas[2]
    # A mark that the text has nowhere between belongs to the element: an abbreviation.
    doctor = Paragraph("The doctor Smith sings.", [Element(4, 10, "b")])
    found = linked(doctor.text, "Dr. Smith singt.", (1, 0), (2, 1), (3, 2))
    assert show(place(doctor, found)) == "<b:Dr.> Smith singt."


def test_elements_are_around_single_characters_where_no_spaces_separate_words() -> None:
    text, target = "the dog sees a cat.", "犬は子猫を見る。"
    pairs = [(1, 0), (0, 1), (4, 2), (4, 3), (2, 4), (2, 5), (2, 6)]
    animals = [Element(4, 7, "b"), Element(15, 18, "i")]
    found = linked(text, target, *pairs)
    assert show(place(Paragraph(text, animals), found)) == "<b:犬>は<i:子猫>を見る。"
    note = [Element(18, 18, "n")]
    assert show(place(Paragraph(text, note), found)) == "犬は子猫<n:>を見る。"
    # And the other way round.
    back = linked(target, text, *((t, s) for s, t in pairs))
    elements = [Element(0, 1, "b"), Element(2, 4, "i"), Element(4, 4, "n")]
    expected = "the <b:dog> sees a <i:cat>.<n:>"
    assert show(place(Paragraph(target, elements), back)) == expected


def test_a_sentence_without_spaces_is_divided() -> None:
    texts = ["the dog", "sees a cat"]
    found = linked(" ".join(texts), "犬は、猫を見る。", (0, 0), (1, 0), (4, 2), (2, 4), (2, 5))
    assert [part.text for part in divide(texts, found)] == ["犬は、", "猫を見る。"]


def test_a_sentence_is_divided_where_its_links_say() -> None:
    texts = ["A man in a shirt stands", "on a ladder."]
    target = "Auf einer Leiter steht er, ein Mann im Hemd."
    source = " ".join(texts)
    straight = linked(source, target, *((n, n) for n in range(8)))
    assert [part.text for part in divide(texts, straight)] == [
        "Auf einer Leiter steht er,", "ein Mann im Hemd.",
    ]  # fmt: skip
    for part, text in zip(divide(texts, straight), texts, strict=True):
        assert part.links is not None
        assert all(text[a:b].strip() for a, b in part.links.source)
        assert all(part.text[a:b].strip() for a, b in part.links.target)


def test_divided_words_come_back_in_their_order_however_few_they_are() -> None:
    for words in range(7):
        target = " ".join("abcdefg"[:words])
        for texts in (["x y", "z"], ["x", "y z", "u v w"], ["a b c d e f", "g"]):
            parts = divide(texts, Translated(target))
            assert len(parts) == len(texts)
            assert " ".join(part.text for part in parts).split() == target.split()
            assert words < len(texts) or all(part.text for part in parts)


def test_without_links_the_parts_have_the_proportions_of_their_texts() -> None:
    parts = divide(["one two three four", "five"], Translated("AAA BBB CCCCC DDDD EEEE"))
    assert [part.text for part in parts] == ["AAA BBB CCCCC DDDD", "EEEE"]
    parts = divide(["one", "two three four five"], Translated("AAA BBB CCCCC DDDD EEEE"))
    assert [part.text for part in parts] == ["AAA", "BBB CCCCC DDDD EEEE"]


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        ("x.html", "<p>the <b>fire</b> <a href=u>truck</a> stops</p>", "<p>der <a href=u><b>Feuerwehrwagen</b></a> hält</p>"),
        ("x.md", "the **fire** [truck](u) stops\n", "der [**Feuerwehrwagen**](u) hält\n"),
        # Links do not stand in each other.
        ("x.html", "<p>the <a href=v>fire</a> <a href=u>truck</a> stops</p>", "<p>der <a href=v>Feuerwehrwagen</a> <a href=u></a>hält</p>"),
    ],
)  # fmt: skip
def test_elements_of_two_words_that_become_one_stand_around_it(
    name: str, source: str, expected: str
) -> None:
    document = open_document(source.encode(), name)
    [paragraph] = document.paragraphs
    target = "der Feuerwehrwagen hält"
    links = WordLinks(
        find_words(paragraph.text), find_words(target), [(0, 0), (1, 1), (2, 1), (3, 2)]
    )
    assert document.write([Translated(target, links)]).decode() == expected


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        # What only says how text looks has the words around those that move into it.
        (["span class=a", "b", "span class=a"], "<span class=a>Ein Mann spielt</span> <span class=a>auf der Straße</span> <b>Gitarre</b>. <span class=a>Zwei Hunde rennen.</span>"),
        (["span style='x: y'", "SPAN", "span\n class=a"], "<span style='x: y'>Ein Mann spielt</span> <span\n class=a>auf der Straße</span> <SPAN>Gitarre</SPAN>. <span\n class=a>Zwei Hunde rennen.</span>"),
        # What has a name stays whole.
        (["i", "span id=x", "span id=y"], "<i>Ein Mann spielt</i> <span id=y>auf der Straße Gitarre. Zwei Hunde rennen.</span><span id=x></span>"),
    ],
)  # fmt: skip
def test_words_that_move_into_a_neighbor_keep_their_element(tags: list[str], expected: str) -> None:
    texts = ["A man plays ", "guitar", " on the street. Two dogs run."]
    written = (f"<{tag}>{text}</{tag.split()[0]}>" for tag, text in zip(tags, texts, strict=True))
    page = HtmlPage(f"<p>{''.join(written)}</p>")
    pairs = [(0, 0), (1, 1), (2, 2), (3, 6), (4, 3), (5, 4), (6, 5), (7, 7), (8, 8), (9, 9)]
    target = "Ein Mann spielt auf der Straße Gitarre. Zwei Hunde rennen."
    assert page.write([linked("".join(texts), target, *pairs)]) == f"<p>{expected}</p>"


def test_an_element_with_others_inside_stays_whole() -> None:
    inner, moved = Element(0, 1, "b"), Element(9, 10, "i")
    for of, count in (([], 3), ([inner], 2)):
        outer = Element(0, 5, "span", of, is_divisible=True)
        assert len(divide_elements([(0, 5, outer), (2, 3, moved)])) == count


@pytest.mark.slow
def test_the_time_to_divide_elements_is_nearly_linear() -> None:
    count = 20_000
    outer = Element(0, 2 * count, "a", is_divisible=True)
    found = [(0, 2 * count, outer), *((n, n + 1, Element(n, n + 1, "b")) for n in range(1, 2 * count, 2))]  # fmt: skip
    started = time.process_time()
    assert len(divide_elements(found)) == 2 * count
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("name", "source", "text", "expected"),
    [
        ("x.html", "<p>A blue shirt<sup>1</sup> is on<sup><a href=#n>[2]</a></sup>.</p>", "A blue shirt is on.",
         "<p>A BLUE SHIRT<sup>1</sup> IS ON<sup><a href=#n>[2]</a></sup>.</p>"),
        ("x.html", "<p>It runs.<a epub:type=noteref href=#n>1</a> It", "It runs. It", "<p>IT RUNS.<a epub:type=noteref href=#n>1</a> IT"),
        ("x.md", "A shirt<sup>1</sup> is\n", "A shirt is", "A SHIRT<sup>1</sup> IS\n"),
        # Text, not a mark: at the beginning, alone, with letters, or within a word.
        ("x.html", "<p><sup>1</sup> a note <sup>2</sup> b", "1 a note 2 b", "<p><sup>1</sup> A NOTE <sup>2</sup> B"),
        ("x.html", "<p>the 5<sup>th</sup> a<sup>2</sup>b", "the 5th a2b", "<p>THE <sup>5TH</sup> <sup>A2B</sup>"),
    ],
)  # fmt: skip
def test_the_mark_of_a_note_is_no_part_of_the_word_before_it(
    name: str, source: str, text: str, expected: str
) -> None:
    document = open_document(source.encode(), name)
    [paragraph] = document.paragraphs
    assert paragraph.text == text
    links = WordLinks.identity(text)
    assert document.write([Translated(text.upper(), links)]).decode() == expected


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".html", ".md", ".xlf", ".docx", ".odt", ".pptx"])
def test_every_text_is_written_once_however_the_words_are_linked(suffix: str) -> None:
    chooser, kept_count = random.Random(suffix), 0
    for seed in range(12):
        document = open_document(make_file(suffix, 500 + seed), f"x{suffix}")
        for paragraph in document.paragraphs:
            marks = KeptMarks(paragraph)
            words = re.findall("[\ue000-\uf8ff]|[^\ue000-\uf8ff\\s]+", marks.text)
            chooser.shuffle(words)
            target = "".join(word + chooser.choice(["", " "]) for word in words)
            counts = len(find_words(marks.text)), len(find_words(target))
            pairs = [
                (s, t) for s in range(counts[0]) for t in range(counts[1]) if chooser.random() < 0.2
            ]
            translated = marks.expand(linked(marks.text, target, *pairs))
            texts, kept = gather(place(paragraph, translated))
            assert sorted(kept) == sorted(gather(place(paragraph, Translated(paragraph.text)))[1])
            rest = re.sub("[\ue000-\uf8ff]", "", target)
            assert "".join(texts).replace(" ", "") == rest.replace(" ", ""), (
                paragraph,
                target,
                pairs,
            )
            kept_count += len(kept)
    assert kept_count > 5


def gather(parts: list[str | Placed[Any]]) -> tuple[list[str], list[str]]:
    """Return the texts of a translation, and the texts of its kept elements."""
    texts: list[str] = []
    kept: list[str] = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif part.element.is_kept:
            kept.append(f"{part.element.start} {part.inner}")
        else:
            inner = gather(part.inner)
            texts, kept = texts + inner[0], kept + inner[1]
    return texts, kept


def test_an_element_ends_before_the_kept_text_of_another_one() -> None:
    page = HtmlPage("<p><b>switch on</b> <img src=i> <code>x</code> now</p>")
    marks = KeptMarks(page.paragraphs[0])
    target = marks.text.replace("switch on", "A B").replace("now", "C D")
    found = linked(marks.text, target, (0, 0), (0, 1), (1, 3), (1, 4))
    written = page.write([marks.expand(found)])
    assert written == "<p><b>A B</b> <img src=i> <code>x</code> C D</p>"


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("climbing into <a href=x><code>K</code></a> a house", "klettert in {0} ein Haus", "klettert in <a href=x><code>K</code></a> ein Haus"),
        ("<kbd>Ctrl</kbd>+<kbd>C</kbd> now", "{1}+{0} nun", "<kbd>C</kbd>+<kbd>Ctrl</kbd> nun"),
        ("<i>pre</i><code>fix</code> it", "{0}vor es", "<code>fix</code><i>vor</i> es"),
        ("a <b>very big <code>x</code></b> dog", "{0} Hund sehr groß", "<b><code>x</code></b> Hund sehr groß"),
    ],
)  # fmt: skip
def test_kept_text_is_in_its_elements_and_in_no_others(
    source: str, target: str, expected: str
) -> None:
    page = HtmlPage(f"<p>{source}</p>")
    [block] = page.paragraphs
    marks = KeptMarks(block)
    target = target.format(*re.findall("[\ue000-\uf8ff]", marks.text))
    written = page.write([marks.expand(linked(marks.text, target))])
    assert written == f"<p>{expected}</p>"


@pytest.mark.slow
def test_many_elements_take_linear_time() -> None:
    def write(count: int) -> None:
        document = open_document(f"<p>{'a <b>word</b> ' * count}</p>".encode(), "x.html")
        [paragraph] = document.paragraphs
        document.write([Translated(paragraph.text.upper(), WordLinks.identity(paragraph.text))])

    assert grows_less(write, 3_000, 10)
