"""Searches for what translations must contain: first without constraints, then with them."""

from dataclasses import replace

import pytest
import torch

from headway.config import SearchConfig
from headway.translation import constrained_search
from headway.translation.search.constraints import Constraint

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
