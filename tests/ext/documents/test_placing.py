"""Elements of a paragraph in its translation, and sentences divided among subtitles."""

import random
import re

import pytest

from headway.ext.documents import HtmlPage, Translated, open_document
from headway.ext.documents.cue_text import divide
from headway.ext.documents.document_translation import KeptMarks
from headway.ext.documents.placing import place
from headway.text import WordLinks, find_words
from support.bounds import grows_less
from support.cases import each_case
from support.documents import expand, make_file

GUITAR = "Ein Mann spielt hier <b>Gitarre</b>. Zwei Hunde rennen."
STRAIGHT = [(0, 0), (1, 1), (2, 2), (3, 4), (4, 3), (5, 5), (6, 6), (7, 7)]
CAT = [(0, 2), (1, 1), (2, 3), (3, 4), (4, 0)]
INU = [(1, 0), (0, 1), (4, 2), (4, 3), (2, 4), (2, 5), (2, 6)]
STREET = [(0, 0), (1, 1), (2, 2), (3, 6), (4, 3), (5, 4), (6, 5), (7, 7), (8, 8), (9, 9)]


def linked(text, target, *pairs):
    return Translated(target, WordLinks(find_words(text), find_words(target), list(pairs)))


def translated(source, target, pairs):
    """Return a page in a translation; `{0}`, `{1}` ... stand for the texts that stay, if it says where they are."""
    page = HtmlPage(source)
    [block] = page.paragraphs
    marks = KeptMarks(block, is_used="{" in target or not target)
    target = target.format(*re.findall("[\ue000-\uf8ff]", marks.text))
    return page.write([expand(marks, linked(marks.text, target, *pairs))])


@pytest.mark.parametrize(
    ("source", "target", "pairs", "expected"),
    [
        # What stands at the beginning stays there: numbers between sentences have no links.
        ("<img><a>1\ta b</a>", "1\tB A", [(1, 2), (2, 1)], "<img><a>1\tB A</a>"),
        # A part of a word stays one if the word stays.
        ("4 m<i>2</i> here", "hier 4 m2", [(0, 1), (1, 2), (2, 0)], "hier 4 m<i>2</i>"),
        ("4 m<i>2</i> here", "hier 4 m²", [(0, 1), (1, 2), (2, 0)], "hier 4 <i>m²</i>"),
        # A mark of the next word is not one of the element.
        ("Oh <b>no.</b>  (so)", "Ach nein.  (so)", [(0, 0), (1, 1), (2, 2)], "Ach <b>nein.</b>  (so)"),
        # Marks in an element of their own stay in it, at the end of the sentence, and no word comes into it.
        ("I see cats<b>.</b> You<i>,</i> no<b>?</b>", "Katzen seh ich. Nein du?", [(0, 2), (1, 1), (2, 0), (3, 4), (4, 3)],
         "Katzen seh ich<b>.</b> Nein du<i></i><b>?</b>"),
        # Without links, what has no text keeps its relative place.
        ("one <img>two <b>three</b><wbr>. Four", "ONE TWO THREE. FOUR", [], "ONE <img>TWO <b>THREE</b><wbr>. FOUR"),
        # An element around all of the text has all of the translation.
        ("<i>I see</i>", "Ich seh,", [(0, 0), (1, 1)], "<i>Ich seh,</i>"),
        # What stands apart from words does not stick to one; in a word, or behind one, it does.
        ("I paid the bill <img>.", "die rechnung bezahlt hab.", [(0, 2), (4, 3)], "die rechnung bezahlt <img> hab."),
        ("I paid the bill <img> ,", "die rechnung bezahlt hab ,", [(0, 2), (4, 3)], "die rechnung bezahlt <img> hab ,"),
        ("un<img> do<wbr> it", "es un tu", [(0, 1), (1, 2), (2, 0)], "es un<img> tu<wbr>"),
        ("a <img> <wbr> b", "A   B", [(0, 0), (1, 1)], "A <img> <wbr> B"),
        ("in Rome <i>100 €</i>.", "in Rom €100.", [(0, 0), (1, 1), (2, 2)], "in Rom <i>€100</i>."),
        ("for <i>4</i> € in Rome", "für 4 € in Rom", [(0, 0), (1, 1)], "für <i>4</i> € in Rom"),
        # The mark that ends the text or a sentence is not in an element that moves there, whether the first word of the
        # next sentence has a link or not. A mark that the text has nowhere between belongs to it: an abbreviation.
        ("I saw the <b>cat</b> today.", "Heute sah ich eine Katze.", CAT, "Heute sah ich eine <b>Katze</b>."),
        ("<b>I saw the cat today.</b>", "Heute sah ich eine Katze.", CAT, "<b>Heute sah ich eine Katze.</b>"),
        ("I saw the <b>cat</b> today", "Heute sah ich eine Katze!", [(3, 4)], "Heute sah ich eine <b>Katze</b>!"),
        ("A man plays <b>guitar</b> here. Two dogs run.", re.sub("<.*?>", "", GUITAR), STRAIGHT, GUITAR),
        ("A man plays <b>guitar</b> here. Two dogs run.", re.sub("<.*?>", "", GUITAR), [*STRAIGHT[:5], *STRAIGHT[6:]], GUITAR),
        ("A man plays <b>guitar</b> here, two dogs run.", "Ein Mann spielt hier Gitarre, zwei Hunde rennen.", STRAIGHT,
         "Ein Mann spielt hier <b>Gitarre</b>, zwei Hunde rennen."),
        ("The <b>doctor</b> Smith sings.", "Dr. Smith singt.", [(1, 0), (2, 1), (3, 2)], "<b>Dr</b>. Smith singt."),
        # Without spaces between words, elements are around single characters.
        ("the <b>dog</b> sees a <i>cat</i>.", "犬は子猫を見る。", INU, "<b>犬</b>は<i>子猫</i>を見る。"),
        ("the dog sees a cat<img>.", "犬は子猫を見る。", INU, "犬は子猫<img>を見る。"),
        ("<b>犬</b>は<i>子猫</i><img>を見る。", "the dog sees a cat.", [(t, s) for s, t in INU], "the <b>dog</b> sees a <i>cat</i>.<img>"),
        # Elements of two words that become one stand around it, but links do not stand in each other.
        ("the <b>fire</b> <a href=u>truck</a> stops", "der Feuerwehrwagen hält", [(0, 0), (1, 1), (2, 1), (3, 2)],
         "der <a href=u><b>Feuerwehrwagen</b></a> hält"),
        ("the <a href=v>fire</a> <a href=u>truck</a> stops", "der Feuerwehrwagen hält", [(0, 0), (1, 1), (2, 1), (3, 2)],
         "der <a href=v>Feuerwehrwagen</a> <a href=u></a>hält"),
        # What only says how text looks has the words around those that move into it. What has a name stays whole, and so
        # does what has others inside.
        ("<span class=a>A man plays </span><b>guitar</b><span class=a> on the street. Two dogs run.</span>", "Ein Mann spielt auf der Straße Gitarre. Zwei Hunde rennen.", STREET,
         "<span class=a>Ein Mann spielt</span> <span class=a>auf der Straße</span> <b>Gitarre</b>. <span class=a>Zwei Hunde rennen.</span>"),
        ("<span style='x: y'>A man plays </span><SPAN>guitar</SPAN><span\n class=a> on the street. Two dogs run.</span>", "Ein Mann spielt auf der Straße Gitarre. Zwei Hunde rennen.", STREET,
         "<span style='x: y'>Ein Mann spielt</span> <span\n class=a>auf der Straße</span> <SPAN>Gitarre</SPAN>. <span\n class=a>Zwei Hunde rennen.</span>"),
        ("<i>A man plays </i><span id=x>guitar</span><span id=y> on the street. Two dogs run.</span>", "Ein Mann spielt auf der Straße Gitarre. Zwei Hunde rennen.", STREET,
         "<i>Ein Mann spielt</i> <span id=y>auf der Straße Gitarre. Zwei Hunde rennen.</span><span id=x></span>"),
        ("<span class=a><b>One</b> two four five</span> <i>three</i>", "One two three four five", [(0, 0), (1, 1), (2, 3), (3, 4), (4, 2)],
         "<i><span class=a><b>One</b> two three four five</span></i>"),
        # Protected text stays wherever the translation has it. In the first place it is a word, which has been translated, or not.
        ("print the list in <code>list</code> and <kbd>list</kbd>", "druck die Liste in {0} und {1}", [], "druck die Liste in <code>list</code> und <kbd>list</kbd>"),
        ("print the list in <code>list</code> and <kbd>list</kbd>", "druck die list in {0} und {1}", [], "druck die list in <code>list</code> und <kbd>list</kbd>"),
        ("print the list in <code>list</code> and <kbd>list</kbd>", "erst {1}, dann {0}!", [], "erst <kbd>list</kbd>, dann <code>list</code>!"),
        ("print the list in <code>list</code> and <kbd>list</kbd>", "", [], "<code>list</code><kbd>list</kbd>"),
        ("the <code>test</code>s are", "Das sind die {0}s", [(1, 3)], "Das sind die <code>test</code>s"),
        ("<b>Page</b><code>7</code> ends", "Seite{0} endet", [(0, 0), (1, 1)], "<b>Seite</b><code>7</code> endet"),
        # If it does not say where, protected text takes the place of its link, but not of words that translate others.
        ("run <code>a b</code> now and <kbd>b</kbd>", "JETZT A B UND X", [(0, 0), (1, 1), (2, 2), (4, 3), (5, 4)], "JETZT <code>a b</code> UND <kbd>b</kbd>"),
        ("run <code>a b</code> now and <kbd>b</kbd>", "JETZT A B UND X", [(0, 0), (1, 1), (2, 2), (4, 3)], "JETZT <code>a b</code> UND <kbd>b</kbd> X"),
        ("<code>7</code> tea,", "Sessa,", [(0, 0)], "<code>7</code> Sessa,"), ("<code>7</code> tea,", "Tee,", [(0, 0), (1, 0)], "<code>7</code> Tee,"),
        ("<code>7</code> tea,", "Nr Tee,", [(0, 0), (1, 1)], "<code>7</code> Tee,"), ("tea <code>7</code>", "Tee so", [(0, 0), (0, 1), (1, 1)], "Tee <code>7</code> so"),
        ("the <code>XY</code>cat", "die Katze", [(0, 0), (1, 1)], "die <code>XY</code>Katze"),
        ("run <code>make</code>--but how", "mach los--aber wie", [(0, 0), (1, 1), (2, 2)], "mach <code>make</code> los--aber wie"),
        # Marks at its ends are replaced with it.
        ("<code>«Name»</code>, dear", "„NAME“, DEAR", [(0, 0), (1, 1)], "<code>«Name»</code>, DEAR"),
        ("as <code>(Doe)</code>.", "AS (DOE).", [(0, 0), (1, 1)], "AS <code>(Doe)</code>."), ("(<code>«a»</code>)", "(„A“)", [(0, 0)], "(<code>«a»</code>)"),
        # It is in its elements, and in no others.
        ("<b>switch on</b> <img src=i> <code>x</code> now", "A B  {0} C D", [(0, 0), (0, 1), (1, 3), (1, 4)], "<b>A B</b> <img src=i> <code>x</code> C D"),
        ("climbing into <a href=x><code>K</code></a> a house", "klettert in {0} ein Haus", [], "klettert in <a href=x><code>K</code></a> ein Haus"),
        ("<kbd>Ctrl</kbd>+<kbd>C</kbd> now", "{1}+{0} nun", [], "<kbd>C</kbd>+<kbd>Ctrl</kbd> nun"),
        ("<i>pre</i><code>fix</code> it", "{0}vor es", [], "<code>fix</code><i>vor</i> es"),
        ("a <b>very big <code>x</code></b> dog", "{0} Hund sehr groß", [], "<b><code>x</code></b> Hund sehr groß"),
    ],
)  # fmt: skip
def test_elements_stand_around_the_words_that_are_linked_to_theirs(source, target, pairs, expected):
    assert translated(source, target, pairs) == expected


@each_case
def test_a_note_behind_the_mark_of_a_sentence_stays_behind_the_sentence(source, expected):
    pairs = [(0, 0), (1, 3), (2, 1), (3, 2), (4, 5), (5, 6)]
    assert translated(source, expected.replace("<img>", ""), pairs) == expected


@pytest.mark.slow
@pytest.mark.parametrize("source", ["x {0}", "{1}", "<span class=a>{2}</span>{1}"])
def test_many_elements_take_linear_time(source):
    def write(count):
        page = HtmlPage(source.format("<code>a</code> " * count, "<b>b</b> " * count, "a " * count))
        [block] = page.paragraphs
        words = find_words(block.text)
        order = [*range(len(words))]
        if "span" in source:  # words of one kind move between those of the other
            order = [*order[::2], *order[1::2]]
        links = WordLinks(words, words, [*enumerate(order)])
        page.write([Translated(block.text.upper(), links)])

    assert grows_less(write, 400, 10)


def test_a_sentence_without_spaces_is_divided():
    texts = ["the dog", "sees a cat"]
    found = linked(" ".join(texts), "犬は、猫を見る。", (0, 0), (1, 0), (4, 2), (2, 4), (2, 5))
    assert [part.text for part in divide(texts, found)] == ["犬は、", "猫を見る。"]


def test_a_sentence_is_divided_where_its_links_say():
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


def test_divided_words_come_back_in_their_order_however_few_they_are():
    for words in range(7):
        target = " ".join("abcdefg"[:words])
        for texts in (["x y", "z"], ["x", "y z", "u v w"], ["a b c d e f", "g"]):
            parts = divide(texts, Translated(target))
            assert len(parts) == len(texts)
            assert " ".join(part.text for part in parts).split() == target.split()
            assert words < len(texts) or all(part.text for part in parts)


def test_without_links_the_parts_have_the_proportions_of_their_texts():
    parts = divide(["one two three four", "five"], Translated("AAA BBB CCCCC DDDD EEEE"))
    assert [part.text for part in parts] == ["AAA BBB CCCCC DDDD", "EEEE"]
    parts = divide(["one", "two three four five"], Translated("AAA BBB CCCCC DDDD EEEE"))
    assert [part.text for part in parts] == ["AAA", "BBB CCCCC DDDD EEEE"]


@each_case
def test_the_mark_of_a_note_is_no_part_of_the_word_before_it(name, source, text, expected):
    document = open_document(source.encode(), name)
    [paragraph] = document.paragraphs
    assert paragraph.text == text
    links = WordLinks.identity(text)
    assert document.write([Translated(text.upper(), links)]).decode() == expected


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".html", ".md", ".xlf", ".docx", ".odt", ".pptx"])
def test_every_text_is_written_once_however_the_words_are_linked(suffix):
    chooser, kept_count = random.Random(suffix), 0
    for seed in range(4):
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
            translated = expand(marks, linked(marks.text, target, *pairs))
            texts, kept = gather(place(paragraph, translated))
            assert sorted(kept) == sorted(gather(place(paragraph, Translated(paragraph.text)))[1])
            rest = re.sub("[\ue000-\uf8ff]", "", target)
            assert "".join(texts).replace(" ", "") == rest.replace(" ", ""), (
                paragraph,
                target,
                pairs,
            )
            kept_count += len(kept)
    assert kept_count > 0


def gather(parts):
    """Return the texts of a translation, and the texts of its kept elements."""
    texts = []
    kept = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif part.element.is_kept:
            kept.append(f"{part.element.start} {part.inner}")
        else:
            inner = gather(part.inner)
            texts, kept = texts + inner[0], kept + inner[1]
    return texts, kept
