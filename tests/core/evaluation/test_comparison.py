"""The comparison of two systems is calibrated, symmetric, and equal to sacreBLEU's."""

import numpy as np
import pytest

from headway.evaluation import compare
from headway.evaluation.bootstrap import interval, p_value, resample, sacrebleu_p_value
from headway.evaluation.groups import group_lines
from support.random_sentences import degrade, sentences

WORDS = [f"Wort{n}" for n in range(53)]


REFERENCES = sentences(WORDS, 73, seed=1)
SOURCES = [f"source {n}" for n in range(73)]
GOOD, WORSE = degrade(WORDS, REFERENCES, 0.30, seed=2), degrade(WORDS, REFERENCES, 0.36, seed=3)


def test_a_system_compared_with_itself_has_no_difference():
    comparison = compare(GOOD, list(GOOD), REFERENCES)
    for verdict in comparison.differences:
        assert (verdict.difference, verdict.low, verdict.high) == (0, 0, 0)
        assert verdict.p_value == 1
    assert comparison.same == 73
    assert comparison.better_a == comparison.better_b == ()


def test_swapping_the_systems_changes_only_the_sign():
    one, other = compare(GOOD, WORSE, REFERENCES), compare(WORSE, GOOD, REFERENCES)
    for forth, back in zip(one.differences, other.differences, strict=True):
        assert forth.difference < 0
        assert back.difference == -forth.difference
        assert (back.a, back.b) == (forth.b, forth.a)
        assert (back.low, back.high) == (-forth.high, -forth.low)
        assert back.p_value == forth.p_value
    assert [s.line for s in one.better_a] == [s.line for s in other.better_b]
    assert [s.line for s in one.better_b] == [s.line for s in other.better_a]
    assert [b.a for b in one.buckets] == [b.b for b in other.buckets]


def test_scores_and_p_values_equal_those_of_sacrebleus_paired_bootstrap():
    from sacrebleu.metrics import BLEU, CHRF
    from sacrebleu.significance import PairedTest

    systems, metrics = [("a", GOOD), ("b", WORSE)], {"BLEU": BLEU(), "chrF2": CHRF()}
    signatures, results = PairedTest(systems, metrics, [REFERENCES], test_type="bs")()
    comparison = compare(GOOD, WORSE, REFERENCES)
    for key, name in (("bleu", "BLEU"), ("chrf", "chrF2")):
        ours, (first, second) = comparison[key], results[name]
        assert (ours.a, ours.b) == pytest.approx((first.score, second.score))
        # Single-precision sums in sacreBLEU may move a resample or two across the threshold.
        assert ours.p_value_sacrebleu == pytest.approx(second.p_value, abs=0.0021)
        assert ours.signature == str(signatures[name])


def test_the_p_value_is_calibrated_and_agrees_with_the_interval():
    generator, wrong, wrong_as_sacrebleu, agreed, trials = np.random.default_rng(7), 0, 0, 0, 400
    for trial in range(trials):
        counts = generator.normal(size=(71, 1))  # two systems that differ by chance alone
        drawn, observed = resample(counts, 200, trial)[:, 0], float(counts.sum())
        low, high = interval(drawn)
        wrong += p_value(drawn, observed) < 0.05
        wrong_as_sacrebleu += sacrebleu_p_value(drawn, observed) < 0.05
        agreed += (p_value(drawn, observed) < 0.05) == (low > 0 or high < 0)
    assert 0.02 < wrong / trials < 0.09
    assert wrong_as_sacrebleu > 1.4 * wrong
    assert agreed / trials > 0.95


def test_the_sentences_with_the_largest_gains_come_first():
    a, b = list(GOOD), list(GOOD)
    a[16], b[40] = "xyz", "xyz"
    comparison = compare(a, b, REFERENCES, SOURCES, sentences=5)
    (gain,), (loss,) = comparison.better_b, comparison.better_a
    assert (gain.line, loss.line) == (17, 41)
    assert (gain.source, gain.reference) == (SOURCES[16], REFERENCES[16])
    assert (gain.a, gain.b) == ("xyz", GOOD[16])
    assert gain.chrf_b > gain.chrf_a
    assert loss.chrf_a > loss.chrf_b
    spread = compare(GOOD, WORSE, REFERENCES, sentences=7).better_a
    gains = [s.chrf_a - s.chrf_b for s in spread]
    assert gains == sorted(gains, reverse=True)
    assert len(gains) == 7
    assert gains[-1] > 0


def test_a_group_has_the_score_of_its_lines_alone():
    comparison = compare(GOOD, WORSE, REFERENCES)
    rows = group_lines(REFERENCES)["10 to 19 words"]
    alone = compare(*([text[row] for row in rows] for text in (GOOD, WORSE, REFERENCES)))
    (bucket,) = (b for b in comparison.buckets if b.name == "10 to 19 words")
    assert bucket.lines == len(rows)
    assert (bucket.a["bleu"], bucket.b["chrf"]) == pytest.approx((alone["bleu"].a, alone["chrf"].b))


def test_rare_words_are_counted_in_the_training_text_or_in_the_references():
    references = ["eins zwei zwei", "eins, drei", "Eins vier fünf", ""]
    groups = group_lines(references)
    assert groups["no rare words"] == [0, 3]
    assert groups["1 rare word"] == [1]
    assert groups["2 rare words"] == [2]
    assert groups["up to 9 words"] == [0, 1, 2, 3]
    training = ["zwei drei vier fünf"] * 4 + ["Eins? EINS, eins eins eins."]
    groups = group_lines(references, iter(training))
    assert groups["no rare words"] == [3]
    assert groups["1 rare word"] == [1]
    assert groups["2 rare words"] == [0, 2]


def test_words_are_those_of_the_script():
    groups = group_lines(["क्या हिन्दी", "क्या", "我们去看电影吧，好不好？"])
    assert groups["1 rare word"] == [0]  # marks between letters do not end a word
    assert groups["no rare words"] == [1]
    assert groups["10 to 19 words"] == [2]
