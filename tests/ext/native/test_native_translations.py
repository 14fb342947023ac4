"""Translations by native code: the same for any number of threads, workers and lines beside."""

from dataclasses import replace

import pytest
import torch

from headway.config import SearchConfig
from headway.ext.native import decoding
from headway.translation import Translator
from support.toy_models import sentences

SEARCH = SearchConfig(max_extra=7, candidates=5)


CHOICES = {
    "samples": replace(SEARCH, mbr=True, sample=True),
    "n-best": replace(SEARCH, mbr=True),
    "backward": SEARCH,
}


native = pytest.mark.skipif(decoding.library() is None, reason="needs native code")


@native
@pytest.mark.parametrize("search", CHOICES.values(), ids=CHOICES)
def test_a_choice_does_not_depend_on_other_lines(search, pair):
    translator = Translator(
        pair.model, pair.tokenizer, languages=("en", "de"),
        backward=None if search.mbr else pair.backward,
    )  # fmt: skip
    lines = sentences(12, 8)
    together = list(translator.stream(lines, replace(search, n_best=2)))
    for line, found in zip(lines, together, strict=True):
        small = replace(search, n_best=2, batch_tokens=1)
        assert list(translator.stream([line], small)) == [found]


@native
@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_translations_do_not_depend_on_the_number_of_threads(
    translator, tokenizer, precision, monkeypatch
):
    search = SearchConfig(max_extra=7, batch_tokens=30, precision=precision, n_best=2)
    own = Translator(translator.model, tokenizer, search)
    lines = sentences(60, 5)
    found = []
    for threads in (1, 5):
        monkeypatch.setattr(torch, "get_num_threads", lambda threads=threads: threads)
        found.append(list(own.stream(lines)))
    assert found[0] == found[1]
