"""Protected texts of a paragraph as single characters: they come back whole, wherever the translation has them."""

from headway.ext.documents.kept_marks import KeptMarks
from headway.ext.documents.paragraph import Element, Paragraph
from headway.ext.documents.paragraph_translation import expand_kept
from headway.ext.documents.texts import TextTranslation
from headway.text.word_links import WordLinks
from headway.text.words import find_words

TEXT = "See page 7 and the list `now`."
SEVEN = Element(9, 10, "f", is_kept=True)
LIST = Element(19, 23, "b", [Element(19, 23, "c", is_kept=True)])


def test_the_text_may_contain_such_characters() -> None:
    text = "\ue000\ue001 and x"
    marks = KeptMarks(Paragraph(text, [Element(7, 8, "c", is_kept=True)]))
    assert marks.expand_text(marks.text) == text
    # More protected texts than there are characters: the last ones are read like other text.
    many = "a " * 7000
    elements = [Element(at, at + 1, "c", is_kept=True) for at in range(0, len(many), 2)]
    marks = KeptMarks(Paragraph(many, elements))
    assert marks.text.count("a") == 600
    assert marks.expand_text(marks.text) == many


def test_links_belong_to_the_whole_texts() -> None:
    marks = KeptMarks(Paragraph(TEXT, [SEVEN, LIST]))
    _, _, seven, _, _, name, _ = marks.text.split()
    target = f"Die {name} und Seite {seven} jetzt."
    links = WordLinks(find_words(marks.text), find_words(target), [(5, 1), (2, 4)])
    found = expand_kept(TextTranslation(target, links=links), marks)
    assert found.text == "Die list und Seite 7 jetzt."
    assert found.links is not None
    words = [
        (TEXT[slice(*found.links.source[s])], found.text[slice(*found.links.target[t])])
        for s, t in found.links.pairs
    ]
    assert words == [("list", "list"), ("7", "7")]
    assert {TEXT[start]: found.text[slice(*place)] for start, place in found.kept.items()} == {
        "l": "list", "7": "7",
    }  # fmt: skip
