"""What a document keeps is not read by the model, and sentences are divided once."""

import json
from dataclasses import replace

import numpy as np
import pytest

from headway.config import SearchConfig
from headway.ext.documents.document_translation import KeptMarks, translate_document
from headway.ext.documents.opening import open_document
from headway.ext.documents.paragraph import DocumentOptions, Element, Paragraph
from headway.ext.documents.texts import TextTranslation
from headway.ext.protect.number_forms import write_number
from headway.ext.quality.learned_quality import examine_lines
from headway.text import WordLinks, find_words
from headway.translation import Translator
from headway.translation.pipeline import Pipeline
from headway.translation.translation import Translation
from support.extended_pieces import translate_texts
from support.pieces import cut

SEARCH = SearchConfig(max_extra=7)
TEXT = "See page 7 and the list `now`."
SEVEN = Element(9, 10, "f", is_kept=True)
LIST = Element(19, 23, "b", inner=[Element(19, 23, "c", is_kept=True)])


def test_the_model_does_not_read_what_a_document_keeps(translator, monkeypatch):
    read = []

    def translate(_, line):
        read.append(line)
        yield []
        return [Translation(line.upper(), 0.0, 0.0, alignment=[])]

    monkeypatch.setattr(Pipeline, "translate", translate)
    document = open_document(b"the `list` sees", "x.md")
    keep = translator.default_search
    found = [*translate_document(translator, document, keep)]
    assert "list" not in read[0]
    assert [each.text for each in found] == ["THE list SEES"]
    found = [*translate_document(translator, document, replace(keep, keep=False))]
    assert "list" in read[1]
    assert found[0].text == "THE LIST SEES"


def test_symbols_alone_stay_in_documents(translator):
    page = b"<table><tr><td>x</td><td>II</td><td>m<sup>2</sup></td><td>5 x 3</td></tr></table>"
    document = open_document(page, "x.html")
    found = [*translate_document(translator, document, translator.default_search)]
    assert document.write([each.for_document() for each in found]) == page


MEASURES = "1,500.5 kg", "50%", "2 x 3.5 mm", "USD 1,200", "1\u2009500 kg", "10–15.5 %"


@pytest.mark.parametrize(
    ("suffix", "form"),
    [
        ("html", "<p>{}</p><table><tr><td>{}</td><td>kg</td></tr></table><p>the cat<br>{}</p>"),
        ("md", "# {}\n\n{}\n\n| a | {} |\n|---|---|\n"),
        ("srt", "1\n00:00:01,000 --> 00:00:03,000\n{}\n\n"),
        ("csv", "a,b\n{!r},{!r}\n"),
    ],
)
def test_numbers_with_units_alone_are_written_as_the_target_language_does(suffix, form, translator):
    options = DocumentOptions(*translator.languages, columns=("b",) if suffix == "csv" else ())
    for measure in MEASURES:
        data = form.replace("{!r}", '"{}"').replace("{}", measure).encode()
        document = open_document(data, f"x.{suffix}", options)
        found = [*translate_document(translator, document, translator.default_search)]
        written = document.write([each.for_document() for each in found]).decode()
        german = write_number(measure, ("en", "de"))
        kept = 1 if suffix == "csv" else 0  # the other column
        assert (written.count(german), written.count(measure)) == (form.count("{") - kept, kept)


def test_a_number_with_a_unit_as_a_value_of_json_is_for_programs():
    for measure in MEASURES:
        document = open_document(json.dumps({"width": measure, "b": "a dog"}).encode(), "x.json")
        assert [paragraph.text for paragraph in document.paragraphs] == ["a dog"]


def test_texts_whose_sentences_were_divided_or_kept_are_not_divided_again(translator):
    """A calibration, too, counts lines of several sentences, as they are."""
    line = "The cat sees a dog. The tree runs."
    own = Translator(
        translator.model, translator.tokenizer, replace(SEARCH, split_sentences=True), "cpu"
    )
    [whole] = translate_texts(own, [line], is_split=False)
    assert whole.text == translator.translate(line, SEARCH)
    kept = cut(own, line, replace(own.default_search, split_sentences=False))
    assert [piece.text for piece in kept] == [line]
    assert not np.isnan(examine_lines(own, [line], [line])).any()


def test_the_text_may_contain_such_characters():
    text = "\ue000\ue001 and x"
    marks = KeptMarks(Paragraph(text, [Element(7, 8, "c", is_kept=True)]))
    assert marks.expand_text(marks.text) == text
    # More protected texts than there are characters: the last ones are read like other text.
    many = "a " * 7000
    elements = [Element(at, at + 1, "c", is_kept=True) for at in range(0, len(many), 2)]
    marks = KeptMarks(Paragraph(many, elements))
    assert marks.text.count("a") == 600
    assert marks.expand_text(marks.text) == many


def test_links_belong_to_the_whole_texts():
    marks = KeptMarks(Paragraph(TEXT, [SEVEN, LIST]))
    _, _, seven, _, _, name, _ = marks.text.split()
    target = f"Die {name} und Seite {seven} jetzt."
    links = WordLinks(find_words(marks.text), find_words(target), [(5, 1), (2, 4)])
    found = marks.expand(TextTranslation(target, links=links))
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
