"""Several models that translate together: the mean of their probabilities, whatever else is asked for."""

import math

import numpy as np
import pytest
import torch

from headway.config import SearchConfig, TextConfig
from headway.errors import UsageError
from headway.text.tokenizer import Tokenizer
from headway.translation import StepDecoding, Translator, beam_search
from headway.translation.engines.ensemble import EnsembleEngine, EnsembleState, read_tokens
from headway.translation.engines.plain_engine import PlainEngine
from support.engines import SHAPES, VOCAB, attend, model_of, sources
from support.toy_language import EOS, PAD, Toy, brute_force_of
from support.toy_models import sentences, translate_words, write_random_model

SEARCH = SearchConfig(max_extra=7)


@pytest.fixture(scope="module")
def directories(tokenizer, tmp_path_factory):
    """Three models with random weights and the same vocabulary."""
    root = tmp_path_factory.mktemp("ensemble")
    return [write_random_model(root / str(seed), tokenizer, seed=seed) for seed in (5, 6, 7)]


@pytest.fixture(scope="module")
def ensemble(directories):
    return Translator.load(directories)


def test_the_attention_of_an_ensemble_is_the_mean_of_its_models():
    engines = [PlainEngine(model_of(SHAPES["plain"], seed)) for seed in (1, 2)]
    texts = sources(3)
    targets = [[*text, EOS] for text in texts]
    with torch.inference_mode():
        found = attend(EnsembleEngine(engines, VOCAB - 1, torch.device("cpu")), texts, targets)
        one, other = (attend(engine, texts, targets) for engine in engines)
    means = [(a + b) / 2 for a, b in zip(one, other, strict=True)]
    torch.testing.assert_close(found, means)
    assert not torch.allclose(one[1], other[1])


def test_the_sum_of_an_ensemble_does_not_depend_on_threads():
    """A long row of probabilities is shared by threads."""
    logits = torch.randn(1, 40_000, generator=torch.Generator().manual_seed(4)) * 3
    found = []
    threads = torch.get_num_threads()
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            for seed in range(20):
                row = logits.roll(seed)
                decoding = StepDecoding(lambda tokens, state, row=row: row.clone(), None, 0)
                found.append(decoding.candidates(np.array([1]), 2, None).log_z[0])
    finally:
        torch.set_num_threads(threads)
    assert found[:20] == found[20:]
    assert found[0] == pytest.approx(logits.double().logsumexp(-1).item())


@pytest.mark.parametrize("seed", range(2))
def test_a_beam_over_an_ensemble_equals_brute_force(seed):
    toys = [Toy(3, seed, sharpness=2), Toy(3, seed + 10), Toy(3, seed + 20)]
    limits, beam = [5, 3, 4], 200

    def log_p(sentence, tokens):
        """The sum of the logarithms of the mean probability of each token."""
        path, total = [PAD, PAD, *tokens], 0.0
        for a, b, c in zip(path, path[1:], path[2:], strict=False):
            each = [toy.table[sentence, a, b].softmax(-1)[c].item() for toy in toys]
            total += math.log(sum(each) / len(each))
        return total

    state = EnsembleState([toy.decoding(range(3), beam) for toy in toys])
    found = beam_search(
        StepDecoding(read_tokens, state, PAD),
        limits,
        beam=beam,
        alpha=0.6,
        n_best=7,
        eos=EOS,
        pad=PAD,
    )
    for sentence, hypotheses in enumerate(found):
        expected = brute_force_of(log_p, sentence, limits[sentence], 0.6)[:7]
        assert [h.tokens for h in hypotheses] == [tokens for _, tokens in expected]
        for hypothesis, (score, _) in zip(hypotheses, expected, strict=True):
            assert hypothesis.score == pytest.approx(score, abs=1e-5)


def test_the_probability_is_the_mean_of_the_models(ensemble, directories):
    """For a translation of one token after ``</s>`` is forced: the empty one."""
    lines = sentences(9, 3)
    each = [Translator.load(path).score(lines, [""] * 9) for path in directories]
    for line, *scores in zip(lines, *each, strict=True):
        expected = math.log(sum(map(math.exp, scores)) / len(scores))
        assert ensemble.score(line, "") == pytest.approx(expected, abs=1e-4)


def test_an_ensemble_aligns_words_and_keeps_prefixes(ensemble):
    for [found] in ensemble.stream(sentences(5, 2), SEARCH, prefix="die Katze", align=True):
        assert found.text.startswith("die Katze")
        assert found.alignment is not None
        assert {target for _, target in found.alignment} == set(range(len(found.text.split())))


def test_models_of_other_vocabularies_or_languages_are_refused(directories, tokenizer, tmp_path):
    pairs = [(text, translate_words(text)) for text in sentences(400, 2)]
    other = write_random_model(
        tmp_path / "other", Tokenizer.learn(pairs, TextConfig(vocab_size=329))
    )
    with pytest.raises(UsageError, match="other: another vocabulary than"):
        Translator.load([directories[0], other])
    back = write_random_model(tmp_path / "back", tokenizer, ("de", "en"))
    with pytest.raises(UsageError, match="back: translates from de to en, but"):
        Translator.load([directories[0], back])
    with pytest.raises(UsageError, match="no model"):
        Translator.load([])
