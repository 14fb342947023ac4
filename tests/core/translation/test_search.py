"""Beam search equals brute force, greedy equals argmax, and a result does not depend on the batch."""

import math

import pytest
import torch

from headway.errors import HeadwayError
from headway.translation import StepDecoding, beam_search, sample
from support.toy_language import EOS, PAD, Toy, ToyState, brute_force


def search(toy, sentences, limits, **options):
    settings = {"beam": 4, "alpha": 0.6, "eos": EOS, "pad": PAD, **options}
    return beam_search(toy.decoding(sentences, settings["beam"]), limits, **settings)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("alpha", [0.0, 0.6])
def test_beam_equals_brute_force(seed, alpha):
    toy = Toy(3, seed)
    limits = [5, 3, 4]
    # 3^4 open hypotheses at most: with so many beams no hypothesis is dropped.
    found = search(toy, range(3), limits, beam=200, alpha=alpha, n_best=7)
    for sentence, hypotheses in enumerate(found):
        expected = brute_force(toy, sentence, limits[sentence], alpha)[:7]
        assert [h.tokens for h in hypotheses] == [tokens for _, tokens in expected]
        for hypothesis, (score, tokens) in zip(hypotheses, expected, strict=True):
            assert math.isclose(hypothesis.score, score, abs_tol=1e-5)
            assert math.isclose(
                hypothesis.log_probability, toy.log_p(sentence, tokens), abs_tol=1e-5
            )


def test_a_beam_of_one_is_greedy():
    toy = Toy(20, seed=1)
    for sentence, [found] in enumerate(search(toy, range(20), [9] * 20, beam=1)):
        path = [PAD, PAD]
        for length in range(1, 10):
            scores = toy.table[sentence, path[-2], path[-1]].clone()
            scores[[PAD, EOS] if length == 1 else [PAD]] = -torch.inf
            path.append(EOS if length == 9 else int(scores.argmax()))
            if path[-1] == EOS:
                break
        assert found.tokens == path[2:]


@pytest.mark.parametrize("beam", [1, 4])
def test_a_translation_is_empty_only_if_it_has_no_room(beam):
    toy = Toy(2, seed=1)
    toy.table[..., EOS] = 50.0
    [[one], [nothing]] = search(toy, [0, 1], [9, 1], beam=beam)
    assert len(one.tokens) == 2
    assert nothing.tokens == [EOS]


@pytest.mark.parametrize("beam", [1, 4])
def test_a_sentence_alone_equals_itself_in_a_batch(beam):
    toy = Toy(11, seed=3, sharpness=2.0)
    limits = [2 + sentence % 5 for sentence in range(11)]
    together = search(toy, range(11), limits, beam=beam, n_best=beam)
    for sentence in range(11):
        assert search(toy, [sentence], [limits[sentence]], beam=beam, n_best=beam) == [
            together[sentence]
        ]


def test_every_hypothesis_ends_within_its_limit():
    toy = Toy(5, seed=2)
    toy.table[..., EOS] = -30  # a model that almost never ends a sentence
    for limit, hypotheses in zip(
        [1, 2, 3, 5, 8], search(toy, range(5), [1, 2, 3, 5, 8]), strict=True
    ):
        for hypothesis in hypotheses:
            assert hypothesis.tokens[-1] == EOS
            assert len(hypothesis.tokens) == limit
            assert PAD not in hypothesis.tokens
            assert math.isfinite(hypothesis.score)


@pytest.mark.parametrize("drawn", [False, True])
def test_a_prefix_is_kept_and_scored(drawn):
    toy = Toy(2, seed=4)
    options = {"eos": EOS, "pad": PAD, "prefixes": [[3, 0], []]}
    if drawn:
        found = sample(toy.decoding(range(2), 2), [6, 6], seeds=[[[1], [2]], [[3], [4]]], **options)
    else:
        found = search(toy, range(2), [6, 6], n_best=3, **options)
    for hypothesis in found[0]:
        assert hypothesis.tokens[:2] == [3, 0]
    [whole, *_] = search(toy, [0], [2], prefixes=[[2, 3, 0]])[0]
    assert whole.tokens == [2, 3, 0, EOS]
    for sentence, hypotheses in enumerate(found):
        for h in hypotheses:
            assert math.isclose(h.log_probability, toy.log_p(sentence, h.tokens), abs_tol=1e-5)


def draws(toy, count, **options):
    settings = {"seeds": [[[n] for n in range(count)]], "eos": EOS, "pad": PAD, **options}
    return sample(toy.decoding([0], count), [1 + 6], **settings)[0]


def test_samples_follow_the_models_distribution():
    toy = Toy(1, seed=6)
    count = 4000
    first = [h.tokens[0] for h in draws(toy, count)]
    p = toy.table[0, PAD, PAD].clone()
    p[PAD] = -torch.inf
    for token, expected in enumerate(p.softmax(0).tolist()):
        assert abs(first.count(token) / count - expected) < 4 * math.sqrt(0.25 / count)


def test_samples_depend_on_the_seed_and_not_on_the_batch():
    toy = Toy(3, seed=6)
    options = {"eos": EOS, "pad": PAD}
    together = sample(
        toy.decoding(range(3), 2), [9] * 3, seeds=[[[1], [2]], [[3], [4]], [[5], [6]]], **options
    )
    alone = sample(toy.decoding([1], 2), [9], seeds=[[[3], [4]]], **options)
    assert alone == [together[1]]


@pytest.mark.slow
def test_samples_of_a_large_vocabulary_do_not_depend_on_the_batch():
    """Torch sums a single row of more than 32,768 numbers in parts, but each row of a batch at once."""
    size, count = 37_001, 14  # a sum in parts differs for one row in three
    table = torch.randn(count, size, generator=torch.Generator().manual_seed(1)) * 3
    before = torch.get_num_threads()

    class Fixed:
        def __init__(self, rows):
            self.rows = rows

        def logits(self, tokens):
            return table[self.rows]

    def drawn(rows):
        seeds = [[[row]] for row in rows]
        return sample(Fixed(rows), [6] * len(rows), seeds=seeds, eos=EOS, pad=size - 1)

    try:
        torch.set_num_threads(2)
        assert drawn([*range(count)]) == [drawn([row])[0] for row in range(count)]
    finally:
        torch.set_num_threads(before)


def test_top_k_and_top_p_leave_only_the_likeliest_tokens():
    toy = Toy(1, seed=8)
    toy.table[0, PAD, PAD, EOS] = -50.0  # samples may be empty, and a translation may not
    [greedy] = search(toy, [0], [7], beam=1)[0]
    for options in ({"top_k": 1}, {"top_p": 1e-6}, {"temperature": 1e-4}):
        assert {tuple(h.tokens) for h in draws(toy, 5, **options)} == {tuple(greedy.tokens)}
    order = toy.table[0, PAD, PAD][:PAD].argsort(descending=True)[:2].tolist()
    assert {h.tokens[0] for h in draws(toy, 300, top_k=2)} == set(order)


def test_the_length_of_a_sentence_does_not_blur_near_ties():
    """In float32, differences of 3e-6 would vanish in sums of some hundred."""
    best = torch.randint(2, 1000, (60,), generator=torch.Generator().manual_seed(1)).tolist()
    place = iter(best)

    def step(tokens, state):
        logits = torch.zeros(len(tokens), 1001)
        logits[:, next(place, EOS)] = 3e-6
        return logits

    state = ToyState(torch.tensor([0]), torch.tensor([0]))
    [[found]] = beam_search(
        StepDecoding(step, state, 1000), [61], beam=1, alpha=0.6, eos=EOS, pad=1000
    )
    assert found.tokens == [*best, EOS]


def test_predictions_that_are_not_finite_raise_an_error():
    toy = Toy(1, seed=1)
    for value in (float("nan"), float("inf")):
        toy.table[:] = value
        for look in (lambda: draws(toy, 3), lambda: search(toy, [0], [5])):
            with pytest.raises(HeadwayError, match="numbers that are not finite"):
                look()


def test_top_p_of_one_filters_nothing_and_seeds_are_independent():
    toy = Toy(1, seed=2)
    assert draws(toy, 50, top_p=1.0) == draws(toy, 50)
    seeds = [[[1, 256]], [[2, 0]]]
    first, second = (
        sample(toy.decoding([0], 1), [9], seeds=[s], eos=EOS, pad=PAD)[0][0] for s in seeds
    )
    assert first != second
