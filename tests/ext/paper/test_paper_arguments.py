"""The paper's arguments: identities, rules on hand-made cases, and experiments end to end."""

import math
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
import torch

from headway.config import ModelConfig
from headway.ext.paper.experiments import (
    arguments,
    arguments_heads,
    feed_forward,
    figures3to5,
    figures3to5_heads,
    figures3to5_links,
    positions,
    scaling,
    tying,
)
from headway.ext.paper.experiments.figures3to5_heads import (
    compare_places,
    weigh,
)
from headway.ext.paper.experiments.figures3to5_links import (
    find_anaphora,
    find_distant,
    number_clauses,
)
from headway.ext.paper.reproduction import reproduce
from headway.ext.paper.running.bitext import Bitext
from headway.ext.paper.running.study import Study
from headway.ext.paper.running.unmasking import remove_mask
from headway.ext.pictures import AttentionMap
from headway.model import Transformer, sinusoids
from support.cases import each_case


def test_the_variance_is_d_k_and_scaling_makes_it_one():
    wide = scaling.measure_spread(64, scaled=False, queries=500)
    scaled = scaling.measure_spread(64, scaled=True, queries=500)
    assert abs(wide.mean) < 0.1 * 64**0.5
    assert abs(scaled.mean) < 0.1
    assert wide.variance == pytest.approx(64, rel=0.1)
    assert scaled.variance == pytest.approx(1, rel=0.1)
    assert wide.gradient < 0.5 < scaled.gradient < 1 - 1 / scaling.KEYS


def test_linear_maps_and_convolutions_give_the_same_feed_forward_network():
    outputs, gradients = feed_forward.largest_differences(6, 10, 7)
    assert max(outputs, gradients) < 1e-12
    linear, convolution = feed_forward.equal_networks(6, 10)
    x = torch.randn(1, 7, 6)
    with torch.no_grad():
        convolution.inner.weight += 1  # all, because a hidden value may be 0 everywhere
    assert not torch.allclose(linear(x), convolution(x))


def fit_shift(table_TD, k, count):
    """Fit the map of each sine and cosine on some positions; returns it and its error on the others."""
    table_PT2 = table_TD.double().unflatten(1, (-1, 2)).transpose(0, 1)
    before, after = table_PT2[:, :-k], table_PT2[:, k:]
    map_P22 = torch.linalg.lstsq(before[:, :count], after[:, :count]).solution
    error = (before[:, count:] @ map_P22 - after[:, count:]).abs().max()
    return map_P22.transpose(1, 2), float(error)


def test_shifted_sinusoids_are_rotations_that_a_fit_recovers():
    d, k = 10, 7
    table = sinusoids(200, d)
    matrix = positions.shift_matrix(d, k)
    # Each number of the table is off by up to 2^-25, before and after the rotation.
    rounding = (1 + math.sqrt(2)) * 2**-25
    torch.testing.assert_close(
        table[:-k].double() @ matrix.T, table[k:].double(), atol=rounding, rtol=0
    )
    torch.testing.assert_close(matrix @ matrix.T, torch.eye(d).double(), atol=1e-15, rtol=0)
    claim = positions.compare_shifts(d, 200)[1]
    assert claim.verdict == "shown"
    assert claim.ours.endswith(f" allows {rounding:.1e}")
    fitted, error = fit_shift(table[:, :4], k, 50)
    assert error < 1e-5
    torch.testing.assert_close(torch.block_diag(*fitted), matrix[:4, :4], atol=1e-4, rtol=0)
    learned = torch.randn(200, d, generator=torch.Generator().manual_seed(3))
    assert fit_shift(learned, k, 50)[1] > 0.5  # another table has no such map


def test_wavelengths_are_measured_in_the_table():
    found = positions.measure_wavelengths(6)
    expected = [2 * math.pi * 10000 ** (2 * i / 6) for i in range(3)]
    assert found == pytest.approx(expected, rel=1e-6)


def test_each_pair_is_in_one_group_of_lengths():
    pairs = tuple(("a" * n, "b") for n in range(1, 12))
    found = positions.split_by_length(pairs, (3, 7))
    assert [len(bucket) for bucket in found] == [3, 4, 4]


def test_the_scale_paper_trains_no_layer_and_judges_none(tmp_path, monkeypatch):
    monkeypatch.setattr(arguments, "count", lambda work: [])  # it counts and times
    monkeypatch.delattr(arguments_heads, "train_two_targets")
    result = reproduce("arguments", Study(tmp_path, "paper"))
    assert [table.title for table in result.tables] == ["The trainings as commands"]
    assert not result.claims


def test_two_heads_learn_two_targets_that_one_head_does_not():
    one, two = (arguments_heads.train_two_targets(heads, 1, 120) for heads in (1, 2))
    assert two.right > 0.95
    assert one.right < 0.75
    x, targets = arguments_heads.draw_symbols(3, torch.Generator().manual_seed(1))
    assert int(x[1, 4, : arguments_heads.SYMBOLS].argmax()) == int(targets[1, 5, 0])
    assert int(x[1, 4, : arguments_heads.SYMBOLS].argmax()) == int(targets[1, 3, 1])


def test_without_the_mask_a_position_attends_to_later_ones():
    torch.manual_seed(1)
    config = ModelConfig(
        source_vocab_size=11, target_vocab_size=11, d_model=8, d_ff=6, num_heads=2,
        num_encoder_layers=1, num_decoder_layers=2, dropout=0.0,
    )  # fmt: skip
    model = Transformer(config)
    source, target = torch.tensor([[3, 4, 1]]), torch.tensor([[5, 6, 7, 1]])
    other = torch.tensor([[5, 6, 2, 1]])

    def first():
        return (model(source, target) - model(source, other))[0, 0].abs().max()

    assert first() == 0
    remove_mask(model)
    assert first() > 0
    stored, fed, position = tying.component_sizes(model)
    assert fed == pytest.approx(stored * 8**0.5)
    assert position == pytest.approx(0.5**0.5, rel=1e-3)


def test_the_costs_of_heads_and_separable_convolutions_are_as_claimed():
    _, heads = arguments.compare_heads(16, 5)
    assert heads.verdict == "shown"
    assert heads.ours.startswith("equal multiplications")
    table, wide = arguments.compare_separable((8, 16))
    assert wide.verdict == "holds"
    assert wide.ours.startswith("the same two terms")
    separable, both = table.rows
    assert separable[1:3] == pytest.approx((1, 1))
    assert both[1:3] == pytest.approx((2, 12), rel=0.05)  # QK^T and AV; 4 maps and 2 · 4 d d


@each_case
def test_rules_find_the_words_that_belong_together(rule, sentence, query, key):
    link = getattr(figures3to5_links, rule)(sentence)
    assert link
    words = sentence.split()
    assert (words[link.query], words[link.key]) == (query, key)


def test_no_rule_fits_other_sentences():
    for sentence in ("June 1", "The modern lamp costs $8.", "She sings it."):
        assert find_distant(sentence) is find_anaphora(sentence) is None
    clauses = number_clauses("If it rains, Paula will sing because she can.")
    assert clauses == [0] * 3 + [1] * 3 + [2] * 3


def test_a_head_that_stays_in_its_clause_is_above_chance(monkeypatch):
    def attend(clauses, *, stays):
        """Return a head that looks at its neighbors, only at those of its clause if it stays."""
        weights = np.zeros((1, 1, len(clauses), len(clauses)), np.float32)
        for query, own in enumerate(clauses):
            near = [key for key in (query - 1, query + 1) if 0 <= key < len(clauses)]
            near = [key for key in near if not stays or clauses[key] == own] or [query]
            weights[0, 0, query, near] = 1 / len(near)
        return AttentionMap([], [], weights)

    texts = [[0] * cut + [1] * (7 - cut) for cut in (2, 3, 4, 5)]
    marked = iter([np.equal.outer(text, text) / 7 for text in texts] * 2)
    monkeypatch.setattr(figures3to5_heads, "mark_words", lambda source, topic: next(marked))
    for stays, least, most in ((True, 0.1, 0.4), (False, -1e-7, 1e-7)):
        compared = compare_places([("", "")] * 4, figures3to5_heads.TOPICS[2])
        lifts = [
            weigh(attend(text, stays=stays), sentence.places)
            for text, sentence in zip(texts, compared, strict=True)
        ]
        assert least <= np.mean(lifts) <= most


def test_there_are_more_unseen_sentences_than_scored_ones(tmp_path):
    work = Study(tmp_path, "toy")
    pairs = figures3to5.unseen_pairs(work)
    known = {source.casefold() for source, _ in (*work.corpus.train, *work.corpus.valid)}
    known |= {source.casefold() for source, _ in Bitext.built_in(2000, 0).train}
    assert not known & {source.casefold() for source, _ in pairs}
    for rule in (find_distant, find_anaphora):
        assert sum(rule(source) is not None for source, _ in pairs) >= 4
    given = replace(work.corpus, test=(("a", "b"),))
    assert figures3to5.unseen_pairs(Study(tmp_path, "toy", corpus=given)) == given.test


def test_the_figures_of_attention_heads_are_drawn(tmp_path):
    corpus = Bitext.built_in(300, 6)
    test = tuple(
        (sentence.format(day), "Text.")
        for sentence in (
            "The man who sang the song on {} comes from Egypt.",
            "Paula would have sung on {} if she had had time.",
            "Although Paula was tired, she sang the song on {} again.",
        )
        for day in ("Monday", "Friday")
    )
    work = Study(tmp_path, "toy", seeds=(1, 2), corpus=replace(corpus, test=test))
    result = reproduce("figures3to5", work)
    assert [figure.caption.split(",")[0] for figure in result.figures] == [
        "Figure 3", "Figure 4", "Figure 5", "Figure 5",
    ]  # fmt: skip
    assert all(ElementTree.fromstring(figure.svg).tag.endswith("svg") for figure in result.figures)
    lifts = {row[2]: row[-1] for row in result.tables[0].rows if row[0] == "Figure 3"}
    assert set(lifts) == {1, 2}
    assert lifts[1] != lifts[2]  # each seed has a model of its own
