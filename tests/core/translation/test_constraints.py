"""Constrained search equals brute force, and costs free sentences nothing."""

import itertools
import random
import weakref

import numpy as np
import pytest
import torch

from headway.translation import beam_search
from headway.translation.engines.constrained_decoding import NATURAL, ConstrainedDecoding
from headway.translation.search.automaton import (
    FORBIDDEN,
    Automaton,
    AutomatonState,
    SentenceAutomaton,
)
from headway.translation.search.constraints import Constraint, WordEdges
from support.toy_language import EOS, PAD, Toy, V, brute_force

# Every token is a word, or token 3 continues a word that begins with 2 or 3.
APART = WordEdges(np.zeros(V, dtype=bool), np.zeros(V, dtype=bool))
JOINED = WordEdges(np.arange(V) == 3, np.isin(np.arange(V), [2, 3]))


def constraint(*alternatives, is_exact=False):
    return Constraint(alternatives, is_exact)


CASES = {
    "a token": [constraint((2,))],
    "two tokens": [constraint((2, 3))],
    "alternatives": [constraint((3, 3), (2,), (0, 2, 0))],
    "twice": [constraint((2,)), constraint((2,))],
    "two": [constraint((3,)), constraint((0, 2))],
    "a beginning of another": [constraint((2,)), constraint((2, 0))],
    "overlapping itself": [constraint((2, 2)), constraint((2, 2))],
    "exact": [constraint((2,), is_exact=True)],
    "exact, twice": [constraint((3,), is_exact=True), constraint((3,), is_exact=True)],
    "exact, two tokens": [constraint((2, 2), is_exact=True)],
}


def search(toy, sentences, limits, constraints, words=APART, **options):
    settings = {"beam": 4, "alpha": 0.6, "eos": EOS, "pad": PAD, **options}
    automata = [SentenceAutomaton.of(some, words) if some else None for some in constraints]
    beams = settings["beam"]
    decoding = ConstrainedDecoding(
        toy.decoding(sentences, beams), automata, limits, beams=beams, eos=EOS, pad=PAD
    )
    return beam_search(decoding, limits, **settings)


def accepts(tokens, constraints, words):
    return SentenceAutomaton.of(constraints, words).accepts(tokens)


def skip_what_cannot_start(constraints, words):
    if any(all(words.continues[a[0]] for a in c.alternatives) for c in constraints):
        pytest.skip("the search keeps room for a token that ends the word before, needed or not")


def occurs(tokens, constraints, words):
    """Return whether each constraint has an occurrence of its own, by trying all of them."""

    def is_whole(start, end):
        return not any(
            0 < i < len(tokens) and words.ends_inside[tokens[i - 1]] and words.continues[tokens[i]]
            for i in (start, end)
        )

    spans = [
        [
            (start, start + len(a))
            for a in c.alternatives
            for start in range(len(tokens))
            if tuple(tokens[start : start + len(a)]) == a and is_whole(start, start + len(a))
        ]
        for c in constraints
    ]
    return any(
        all(a[1] <= b[0] or b[1] <= a[0] for a, b in itertools.combinations(chosen, 2))
        for chosen in itertools.product(*spans)
    )


@pytest.mark.parametrize("words", [APART, JOINED], ids=["apart", "joined"])
@pytest.mark.parametrize("case", CASES)
def test_the_automaton_accepts_what_contains_all_constraints(case, words):
    """It may miss an assignment of overlapping occurrences, but only if one constraint begins another."""
    for length in range(6):
        for tokens in itertools.product((0, 2, 3), repeat=length):
            accepted, expected = (f(tokens, CASES[case], words) for f in (accepts, occurs))
            if "exact" in case:
                [number, alternative] = len(CASES[case]), CASES[case][0].alternatives[0]
                expected = expected and not occurs(
                    tokens, [constraint(alternative)] * (number + 1), words
                )
            assert not (accepted and not expected), tokens
            # Exact ones may not overlap, nor be the beginning of a word.
            is_strict = "exact" in case and (words is JOINED or "two" in case)
            if "beginning" not in case and not is_strict:
                assert accepted == expected, tokens


def draw_automaton(luck):
    """Return an automaton of constraints that begin, contain and overlap each other, and the number of its letters."""
    size = luck.choice([2, 3, 5])
    constraints = []
    for _ in range(luck.randint(1, 4)):
        lengths = [luck.randint(1, 4) for _ in range(luck.randint(1, 3))]
        alternatives = {tuple(luck.randrange(size) for _ in range(each)) for each in lengths}
        constraints.append(constraint(*sorted(alternatives), is_exact=luck.random() < 0.3))
    return Automaton(tuple(constraints), tuple(luck.randrange(4) for _ in range(size))), size


def test_the_label_of_a_token_is_that_of_the_state_after_it():
    luck = random.Random(1)
    for _ in range(300):
        automaton, size = draw_automaton(luck)
        state = AutomatonState()
        for _ in range(9):
            labels = automaton.labels(state)
            after = [automaton.advance(state, letter) for letter in range(size)]
            known = [FORBIDDEN if each is None else automaton.labels(each).now for each in after]
            assert labels.of_alphabet.tolist() == known
            state = automaton.advance(state, luck.randrange(-4, size)) or state


def test_the_work_for_a_state_does_not_grow_with_the_tokens_of_its_constraints():
    def count_steps(size):
        """Return how many letters are tried for each state of a translation with words of so many tokens."""
        spelled = [tuple(range(size * n, size * n + size)) for n in range(16)]
        automaton = Automaton(tuple(map(constraint, spelled)), (0,) * 16 * size)
        states = [AutomatonState()]
        for letter in range(16 * size):
            automaton.labels(states[-1])
            states.append(automaton.advance(states[-1], letter))
        tried = sum(name == "advance" for name, *_ in automaton.answers)
        return tried / len(states)

    assert count_steps(12) <= count_steps(3) < 16


def test_an_automaton_leaves_memory_with_its_sentence():
    automaton = Automaton((constraint((0, 1)), constraint((2,))), (0,) * 3)
    automaton.labels(automaton.advance(AutomatonState(), 0))
    left = weakref.ref(automaton)
    del automaton  # without a collection of garbage, which a busy server puts off
    assert left() is None


@pytest.mark.parametrize("words", [APART, JOINED], ids=["apart", "joined"])
@pytest.mark.parametrize("case", CASES)
def test_a_full_beam_equals_brute_force(case, words):
    if words is JOINED and any(a[0] == 3 for c in CASES[case] for a in c.alternatives[:1]):
        pytest.skip(
            "no alternative may start after any token, so the search keeps room for one more"
        )
    toy, some = Toy(3, seed=len(case)), CASES[case]
    limits = [5, 4, 5]
    found = search(toy, range(3), limits, [some, [], some], words, beam=300, n_best=7)
    for sentence, hypotheses in enumerate(found):
        expected = [
            tokens
            for _, tokens in brute_force(toy, sentence, limits[sentence], 0.6)
            if sentence == 1 or accepts(tokens[:-1], some, words)
        ]
        assert [h.tokens for h in hypotheses] == expected[:7]


@pytest.mark.parametrize("words", [APART, JOINED], ids=["apart", "joined"])
@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("case", CASES)
def test_every_result_meets_its_constraints_however_unlikely(case, beam, words):
    skip_what_cannot_start(CASES[case], words)
    toy, some = Toy(6, seed=3, sharpness=3.0), CASES[case]
    toy.table[..., 2:4] -= 20
    found = search(toy, range(6), [5, 9] * 3, [some] * 6, words, beam=beam, n_best=beam)
    for sentence, hypotheses in enumerate(found):
        assert hypotheses
        for h in hypotheses:
            assert accepts(h.tokens[:-1], some, words)
            assert h.log_probability == pytest.approx(toy.log_p(sentence, h.tokens), abs=1e-4)


@pytest.mark.parametrize("beam", [1, 4])
def test_a_sentence_alone_equals_itself_among_free_and_constrained_ones(beam):
    toy = Toy(22, seed=5, sharpness=2.0)
    limits = [5 + sentence % 5 for sentence in range(22)]
    cases = [[], *CASES.values()] * 2
    together = search(toy, range(22), limits, cases, JOINED, beam=beam, n_best=beam)
    for sentence, some in enumerate(cases):
        one, limit = [sentence], [limits[sentence]]
        if some:
            alone = search(toy, one, limit, [some], JOINED, beam=beam, n_best=beam)
        else:
            alone = beam_search(
                toy.decoding(one, beam), limit, beam=beam, alpha=0.6, n_best=beam, eos=EOS, pad=PAD
            )
        assert alone == [together[sentence]]


@pytest.mark.parametrize("beam", [4, 200])
def test_a_constraint_that_the_likeliest_translation_meets_changes_nothing(beam):
    toy = Toy(40, seed=7, sharpness=2.0)
    options = {"beam": beam, "alpha": 0.6, "eos": EOS, "pad": PAD}
    free = beam_search(toy.decoding(range(40), beam), [5] * 40, **options)
    met = [[constraint(tuple(h.tokens[-3:-1]))] if len(h.tokens) > 2 else [] for [h] in free]
    assert sum(map(bool, met)) > 9
    found = search(toy, range(40), [5] * 40, met, beam=beam)
    # A small beam keeps hypotheses that meet the constraint in the place of others.
    assert sum(a == b for a, b in zip(found, free, strict=True)) >= (40 if beam == 200 else 36)


def test_a_long_unlikely_term_is_completed_soon_after_the_rest_of_the_translation():
    toy, term = Toy(1, seed=1), (2, 3, 3, 3, 3, 3, 3)
    toy.table[:] = torch.tensor([6.0, -4.0, -2.0, -6.0, -99.0])  # 0 is likely, 2 less, 3 is not
    toy.table[:, :, 0] = torch.tensor([1.0, 6.0, -2.0, -6.0, -99.0])  # 0 is the last word
    [[found]] = search(toy, [0], [60], [[constraint(term)]])
    assert len(found.tokens) < 15


def test_hypotheses_with_terms_are_nearly_as_likely_as_the_best_one_without():
    toy, limits = Toy(40, seed=3, sharpness=6.0), [6] * 40
    automata = [SentenceAutomaton.of([Constraint(((2,),), is_term=True)], APART) for _ in limits]
    decoding = ConstrainedDecoding(
        toy.decoding(range(40), 4), automata, limits, beams=4, eos=EOS, pad=PAD, n_best=4
    )
    found = beam_search(decoding, limits, beam=4, alpha=0.0, n_best=4, eos=EOS, pad=PAD)
    compared = decoding.compare(found)
    counts = [0, 0]
    for n_best, without in zip(compared, decoding.without_terms, strict=True):
        for each in n_best if without else ():
            counts[2 in each.tokens] += 1
            assert 2 not in each.tokens or each.log_probability >= without.log_probability - NATURAL
    assert min(counts) > 2, counts
    assert found != compared


def test_a_prefix_counts_for_the_constraints():
    toy = Toy(2, seed=4)
    found = search(
        toy, range(2), [3, 8], [[constraint((2,), is_exact=True)]] * 2, prefixes=[[2, 0], [3, 0]]
    )
    for [h], prefix in zip(found, ([2, 0], [3, 0]), strict=True):
        assert h.tokens[:2] == prefix
        assert h.tokens.count(2) == 1
