"""Beam search equals brute force, greedy equals argmax, and a result does not depend on the batch."""

import math
from dataclasses import replace

import pytest
import torch

from headway.config import SearchConfig
from headway.errors import HeadwayError
from headway.translation import StepDecoding, beam_search, constrained_search, sample
from headway.translation.engines import resolve_precision
from headway.translation.engines.low_precision import quantize
from headway.translation.search.constraints import Constraint
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


LINES = ["the cat sees the house", "a tree", "the dog sees it and the tree"]
GREEDY = SearchConfig(beam=1, max_extra=9)


def tokens_of(translator, line):
    [ids] = translator.tokenizer.encode_source([line])
    return ids


def word_of(translator, text):
    [[*tokens, _]] = translator.tokenizer.encode_target([text])
    return Constraint((tuple(tokens),), is_exact=True)


def written(found):
    """The tokens alone: the last bits of scores may depend on the batch where no native code computes them."""
    return [[each.tokens for each in n_best] for n_best in found]


def find(translator, constraints, search=GREEDY, prefix=(), is_wanted=None):
    """Search for the translations of the lines; what the random model writes has no words, but for a prefix."""
    ids = [tokens_of(translator, line) for line in LINES]
    return translator.token_search.search_batch(
        ids, [list(prefix) for _ in ids], search, is_wanted, constraints
    )


@pytest.mark.parametrize("beam", [1, 4])
def test_what_a_translation_contains_by_itself_costs_nothing(translator, beam):
    search = replace(GREEDY, beam=beam, n_best=min(beam, 2))
    own, other = word_of(translator, "cat"), word_of(translator, "tree")
    [[*prefix, _]] = translator.tokenizer.encode_target(["cat dog"])
    plain = find(translator, [()] * 3, search, prefix)
    found = find(translator, [[own], [own, other], ()], search, prefix)
    assert (found[0], found[2]) == (plain[0], plain[2])
    follow = translator.token_search.follow([own, other]).accepts
    assert [follow(h.tokens) for h in found[1]] == [True] * search.n_best
    assert not follow(plain[1][0].tokens)


def test_a_missing_word_is_searched_with_several_hypotheses(translator):
    word = word_of(translator, "dog")
    found = find(translator, [[word]] * 3)
    search = translator.token_search
    automaton = search.follow([word])

    def search_alone(beam):
        ids = [tokens_of(translator, line) for line in LINES]
        limits = [search.max_target_length(each, GREEDY, len(word.alternatives[0])) for each in ids]
        settings = replace(GREEDY, beam=beam)
        with torch.inference_mode():
            return search.search_rows(ids, [[]] * 3, limits, None, settings, None, [automaton] * 3)

    assert written(found) == written(search_alone(4))
    wider = find(translator, [[word]] * 3, replace(GREEDY, beam=6))
    assert written(wider) == written(search_alone(6))
    assert written(find(translator, [[word], (), ()]))[0] == written(found)[0]
    # Rows keep their numbers, by which a caller gives some of them up.
    again = find(translator, [(), [word], [word]], is_wanted=lambda row: row != 0)
    assert written(again[1:]) == written(found[1:])
    # A term is searched at once, with as many hypotheses as are asked for.
    as_terms = find(translator, [[replace(word, is_term=True)]] * 3)
    one_beam = search_alone(1)
    assert any(one_beam)
    pairs = zip(written(as_terms), written(one_beam), strict=True)
    assert all(a == b for a, b in pairs if b)


def test_the_best_does_not_depend_on_how_many_are_asked_for(translator, monkeypatch):
    """Where only the best meets its constraints, it stays the best, and others follow that are no better."""
    word = word_of(translator, "dog")
    several = replace(GREEDY, beam=4, n_best=4)
    [[*prefix, _]] = translator.tokenizer.encode_target(["dog cat"])
    plain = find(translator, [()] * 3, several, prefix)
    some = find(translator, [[word], [word_of(translator, "tree")], ()], several)
    monkeypatch.setattr(constrained_search, "keep_met", lambda automaton, n_best: list(n_best[:1]))
    found = find(translator, [[word]] * 3, several, prefix)
    for n_best, before in zip(found, plain, strict=True):
        assert n_best[0] == before[0]
        scores = [h.score for h in n_best]
        assert scores == sorted(scores, reverse=True)
        assert len({tuple(h.tokens) for h in n_best}) == len(n_best) > 1
    # Where none meets them, those of the second search are all.
    monkeypatch.setattr(constrained_search, "keep_met", lambda automaton, n_best: [])
    assert find(translator, [[word], [word_of(translator, "tree")], ()], several) == some


def test_words_of_a_prefix_count_row_by_row(translator):
    """Rows that are searched again keep their own prefix and tokens."""
    word, search = word_of(translator, "tree"), translator.token_search
    ids = [tokens_of(translator, line) for line in LINES]
    prefixes = [t[:-1] for t in translator.tokenizer.encode_target(["cat", "tree cat", "dog"])]
    found = search.search_batch(ids, prefixes, GREEDY, constraints=[[word]] * 3)
    for row, (source, prefix) in enumerate(zip(ids, prefixes, strict=True)):
        [alone] = search.search_batch([source], [prefix], GREEDY, constraints=[[word]])
        assert written([found[row]]) == written([alone])
        assert alone[0].tokens[: len(prefix)] == prefix
        assert alone[0].tokens.count(word.alternatives[0][0]) == 1
    assert written(found)[1] == written(search.search_batch(ids, prefixes, GREEDY))[1]


def test_where_there_is_no_room_for_a_word_the_plain_translation_stays(translator, monkeypatch):
    monkeypatch.setattr(translator.token_search, "max_target_length", lambda *_: 4)
    plain = find(translator, [()] * 3)
    long = Constraint((word_of(translator, "dog").alternatives[0] * 4,))
    for each in (long, replace(long, is_term=True)):
        assert written(find(translator, [[each], (), ()])) == written(plain)


def test_numbers_are_quantized_row_by_row_around_zero():
    x = torch.randn(11, 131) * torch.logspace(-3, 3, 11)[:, None]
    numbers, scale = quantize(x)
    assert (numbers.abs().amax(1) == 127).all()
    assert ((numbers * scale - x).abs() <= scale / 2 * 1.001).all()


def test_a_missing_precision_gives_an_error_of_one_line(monkeypatch):
    cpu, card = torch.device("cpu"), torch.device("cuda")
    assert [resolve_precision("auto", device) for device in (cpu, card)] == ["fp32", "bf16"]
    with pytest.raises(HeadwayError, match="int8"):
        resolve_precision("int8", card)
    for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported"):
        monkeypatch.setattr(torch.cpu, name, lambda: False)
    with pytest.raises(HeadwayError, match="no bf16 instructions"):
        resolve_precision("bf16", cpu)
