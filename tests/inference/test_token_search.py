"""Searches for what translations must contain: first without constraints, then with them."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from headway.config import SearchConfig
from headway.inference import Translator
from headway.inference.batch_search import search_batch
from headway.inference.search.beam_search import Hypothesis
from headway.inference.search.constraints import Constraint, Constraints

LINES = ["the cat sees the house", "a tree", "the dog sees it and the tree"]
GREEDY = SearchConfig(beam=1, max_extra=9)


def tokens_of(translator: Translator, line: str) -> list[int]:
    [ids] = translator.tokenizer.encode_source([line])
    return ids


def word_of(translator: Translator, text: str) -> Constraint:
    [[*tokens, _]] = translator.tokenizer.encode_target([text])
    return Constraint((tuple(tokens),), is_exact=True)


def find(
    translator: Translator,
    constraints: Sequence[Constraints],
    search: SearchConfig = GREEDY,
    prefix: Sequence[int] = (),
    is_wanted: Callable[[int], bool] | None = None,
) -> list[list[Hypothesis]]:
    """Search for the translations of the lines; what the random model writes has no words, but for a prefix."""
    ids = [tokens_of(translator, line) for line in LINES]
    return translator.token_search.search_batch(
        ids, [list(prefix) for _ in ids], search, is_wanted, constraints
    )


@pytest.mark.parametrize("beam", [1, 2, 6])
def test_what_a_translation_contains_by_itself_costs_nothing(
    translator: Translator, beam: int
) -> None:
    search = replace(GREEDY, beam=beam, n_best=min(beam, 2))
    own, other = word_of(translator, "cat"), word_of(translator, "tree")
    [[*prefix, _]] = translator.tokenizer.encode_target(["cat dog"])
    plain = find(translator, [()] * 3, search, prefix)
    found = find(translator, [[own], [own, other], ()], search, prefix)
    assert (found[0], found[2]) == (plain[0], plain[2])
    follow = translator.token_search.follow([own, other]).accepts
    assert [follow(h.tokens) for h in found[1]] == [True] * search.n_best
    assert not follow(plain[1][0].tokens)


def test_a_missing_word_is_searched_with_several_hypotheses(translator: Translator) -> None:
    word = word_of(translator, "dog")
    found = find(translator, [[word]] * 3)
    search = translator.token_search
    automaton = search.follow([word])

    def search_alone(beam: int) -> list[list[Hypothesis]]:
        ids = [tokens_of(translator, line) for line in LINES]
        limits = [search.max_target_length(each, GREEDY, len(word.alternatives[0])) for each in ids]
        return search_batch(
            search.engine("fp32"), ids, limits, beam=beam, alpha=GREEDY.alpha, automata=[automaton] * 3,
            eos=translator.tokenizer.eos, pad=translator.tokenizer.target_pad,
        )  # fmt: skip

    assert found == search_alone(4)
    assert find(translator, [[word]] * 3, replace(GREEDY, beam=6)) == search_alone(6)
    assert find(translator, [[word], (), ()])[0] == found[0]
    # Rows keep their numbers, by which a caller gives some of them up.
    again = find(translator, [(), [word], [word]], is_wanted=lambda row: row != 0)
    assert again[1:] == found[1:]
    # A term is searched at once, with as many hypotheses as are asked for.
    as_terms = find(translator, [[replace(word, is_term=True)]] * 3)
    one_beam = search_alone(1)
    assert any(one_beam)
    assert all(a == b for a, b in zip(as_terms, one_beam, strict=True) if b)


def test_where_there_is_no_room_for_a_word_the_plain_translation_stays(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(translator.token_search, "max_target_length", lambda *_: 4)
    plain = find(translator, [()] * 3)
    long = Constraint((word_of(translator, "dog").alternatives[0] * 4,))
    for each in (long, replace(long, is_term=True)):
        assert find(translator, [[each], (), ()]) == plain
