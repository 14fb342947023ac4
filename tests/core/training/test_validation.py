"""Validation: the scores of known translations, and which model is better."""

import math

import pytest
import torch

from headway.config import SearchConfig
from headway.text.prepared import PreparedData
from headway.training import validation
from headway.translation import load_model


@pytest.fixture
def data(uninterrupted_run):
    return PreparedData.open(uninterrupted_run / "data")


def finished(generator):
    """Return the result of a generator, and what it yielded."""
    yielded = []
    while True:
        try:
            yielded.append(next(generator))
        except StopIteration as end:
            return end.value, yielded


def test_validation_scores_raw_text_and_unsmoothed_likelihood(data, uninterrupted_run, monkeypatch):
    class Perfect:
        def __init__(self, model, tokenizer, search, device, languages, pairs):
            self.default_search, self.token_search = search, self
            self.answers = dict(zip(data.valid_source, data.valid_target, strict=True))

        def to(self, target, source):
            assert (source, target) == data.languages
            return self

        def batch_limits(self, search, tokens):
            return tokens, 0

        def translate(self, texts):
            torch.rand(3)  # validation leaves the random generator unchanged
            return [self.answers[text] for text in texts]

    monkeypatch.setattr(validation, "Translator", Perfect)
    monkeypatch.setattr(validation, "GROUP", 3)
    model = load_model(uninterrupted_run).transformer
    before = torch.get_rng_state()
    scores, progress = finished(
        validation.validate(model, data, SearchConfig(beam=1), batch_tokens=70)
    )
    assert torch.equal(torch.get_rng_state(), before)
    assert (scores.bleu, scores.chrf) == (pytest.approx(100), pytest.approx(100))
    *scored, first, second, third = [(p.done, p.of) for p in progress]
    assert [first, second, third] == [(0, 7), (3, 7), (6, 7)]  # translated
    # Scoring reports before each batch, so that a run can be stopped there.
    assert scored[0] == (0, 7)
    assert 1 < len(scored) == len(set(scored)) <= 7

    sums, tokens = 0.0, 0
    with torch.no_grad():
        for row in range(len(data.valid)):
            source, target = (
                torch.from_numpy(x.astype("int64"))[None] for x in data.valid.pair(row)
            )
            logits = model(source, target)[0]
            sums += torch.nn.functional.cross_entropy(logits, target[0], reduction="sum").item()
            tokens += target.size(1)
    assert scores.perplexity == pytest.approx(math.exp(sums / tokens), rel=1e-4)


def test_validation_translates_the_first_sentences_only(data, uninterrupted_run):
    model = load_model(uninterrupted_run).transformer
    scores = [
        finished(
            validation.validate(model, data, SearchConfig(beam=1), batch_tokens=70, sentences=n)
        )
        for n in (0, 3)
    ]
    assert [progress[-1].of for _, progress in scores] == [7, 3]
    assert (
        scores[0][0].perplexity == scores[1][0].perplexity
    )  # the perplexity is always that of all sentences
