"""Minimum Bayes risk and backward models: the choice equals its definition, alone and in a batch."""

from dataclasses import replace

import pytest
from sacrebleu.metrics import CHRF

from headway.config import SearchConfig
from headway.translation import Hypothesis, Translator, length_penalty
from headway.translation.choosing import rank_by_risk
from headway.translation.chrf import pairwise_chrf
from support.pieces import cut
from support.toy_models import sentences, translate_words

SEARCH = SearchConfig(max_extra=7, candidates=5)


def test_chrf_of_pairs_equals_sacrebleu():
    texts = [*map(translate_words, sentences(9, 3)), "", "a", "aa  a", "Übermut tut gut", " "]
    found, metric = pairwise_chrf(texts), CHRF(beta=1)
    for i, hypothesis in enumerate(texts):
        for j, reference in enumerate(texts):
            expected = metric.sentence_score(hypothesis, [reference]).score / 100
            assert found[i, j] == pytest.approx(expected, abs=1e-6)


def test_the_choice_has_the_highest_expected_utility(tokenizer):
    texts = [*map(translate_words, sentences(6, 5)), *map(translate_words, sentences(3, 5))]
    candidates = [
        Hypothesis(ids, -float(n), -float(n % 4))
        for n, ids in enumerate(tokenizer.encode_target(texts))
    ]
    metric = CHRF(beta=1)

    def expected(text):
        scores = [metric.sentence_score(text, [other]).score for other in texts]
        return sum(scores) / len(scores) / 100

    found = rank_by_risk(candidates, tokenizer)
    order = sorted(set(texts), key=lambda text: -expected(text))
    written = [tokenizer.decode(h.tokens) for h in found]
    assert written[: len(order)] == order
    assert sorted(written) == sorted(texts)  # repeated texts come last, so that no list is shorter
    for hypothesis, text in zip(found, order, strict=False):
        assert hypothesis.score == pytest.approx(expected(text), abs=1e-6)
    assert rank_by_risk([], tokenizer) == []


@pytest.mark.parametrize("weight", [0.5, 3.0])
def test_a_backward_model_ranks_by_both_probabilities(
    weight, pair, model_directory, backward_directory
):
    search = replace(SEARCH, n_best=3, backward_weight=weight)
    plain, reverse = Translator.load(model_directory), Translator.load(backward_directory)
    lines = sentences(7, 3)
    candidates = plain.stream(lines, replace(SEARCH, beam=5, n_best=5))
    for line, n_best, found in zip(lines, candidates, pair.stream(lines, search), strict=True):
        length = len(reverse.tokenizer.encode_target([line])[0])
        expected = {
            tuple(t.tokens): t.score
            + weight * reverse.score(t.text, line) / length_penalty(length, 0.6)
            for t in n_best
        }
        assert [t.score for t in found] == sorted((t.score for t in found), reverse=True)
        best = sorted(expected.values(), reverse=True)[:3]
        for t, score in zip(found, best, strict=True):
            assert t.score == pytest.approx(expected[tuple(t.tokens)], abs=1e-3)
            assert t.score == pytest.approx(score, abs=1e-3)


def test_samples_are_those_of_plain_sampling(translator):
    """With one candidate there is no choice; another seed makes other samples."""
    lines, search = sentences(9, 1), replace(SEARCH, mbr=True, sample=True)
    single = replace(search, candidates=1)
    assert translator.translate(lines, single) == translator.translate(
        lines, replace(SEARCH, sample=True)
    )
    assert translator.translate(lines, search) == translator.translate(lines, search)
    other = replace(search, seed=2)
    assert translator.translate(lines, other) != translator.translate(lines, search)


def test_pieces_and_prefixes_are_chosen_alone(pair):
    line = " ".join(f"{text[0].upper()}{text[1:]}." for text in sentences(9, 9))
    search = replace(SEARCH, max_tokens=40)
    [[found]] = pair.stream([line], search)
    pieces = [s.text.strip() for s in cut(pair, line, search)]
    assert found.text.split() == " ".join(pair.translate(pieces, search)).split()
    [[found]] = pair.stream(["the cat"], search, prefix="die Katze", align=True)
    assert found.text.startswith("die Katze")
    assert pair.translate(["", " "], search) == ["", " "]


def test_epsilon_leaves_only_probable_tokens(translator):
    lines = sentences(9, 2)
    greedy = translator.translate(lines, replace(SEARCH, beam=1))
    sampled = replace(SEARCH, sample=True)
    assert translator.translate(lines, replace(sampled, epsilon=0.999)) == greedy
    assert translator.translate(lines, sampled) != greedy
