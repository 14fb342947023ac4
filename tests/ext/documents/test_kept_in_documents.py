"""What a document keeps is not read by the model, and sentences are divided once."""

from dataclasses import replace

import numpy as np
import pytest

from headway.config import SearchConfig
from headway.ext.documents.document_translation import translate_document
from headway.ext.documents.opening import open_document
from headway.ext.quality.learned_quality import examine_lines
from headway.translation import Translator
from headway.translation.pipeline import Pipeline
from headway.translation.requests import Job
from headway.translation.translation import Translation
from support.extended_pieces import translate_texts
from support.pieces import cut

SEARCH = SearchConfig(max_extra=7)


def test_the_model_does_not_read_what_a_document_keeps(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def translate(_: Pipeline, line: str) -> Job[list[Translation]]:
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


def test_symbols_alone_stay_in_documents(translator: Translator) -> None:
    page = b"<table><tr><td>x</td><td>II</td><td>m<sup>2</sup></td><td>5 x 3</td></tr></table>"
    document = open_document(page, "x.html")
    found = [*translate_document(translator, document, translator.default_search)]
    assert document.write([each.for_document for each in found]) == page


def test_texts_whose_sentences_were_divided_or_kept_are_not_divided_again(
    translator: Translator,
) -> None:
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
