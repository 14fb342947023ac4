"""The search returns trees only, and the most probable of them."""

import math
from itertools import product

import numpy as np
import pytest
import torch

from headway.errors import HeadwayError
from headway.ext.paper.parsing.linearization import NUMBERS, delinearize, linearize, number_words
from headway.ext.paper.parsing.trees import Tree, parse_brackets
from headway.ext.paper.parsing.wellformed import TreeVocabulary, WellFormedDecoding
from headway.translation.search.beam_search import beam_search

SUBWORDS = ["<unk>", "</s>", "▁(S", "▁(NP", "▁)NP", "▁)S", "▁NN", "▁VB", "<pad>"]
NUMBERED = [*SUBWORDS, *(f"▁{number}" for number in NUMBERS)]
TAGS = [SUBWORDS.index("▁NN"), SUBWORDS.index("▁VB")]
both_vocabularies = pytest.mark.parametrize(
    "subwords", [SUBWORDS, NUMBERED], ids=["plain", "numbered"]
)


class RandomModel:
    """A model with random logits that depend on all tokens so far."""

    def __init__(self, seed, count, size):
        self.seed, self.prefixes, self.size = seed, [()] * count, size

    def logits(self, tokens):
        self.prefixes = [(*s, int(t)) for s, t in zip(self.prefixes, tokens, strict=True)]
        rows = []
        for prefix in self.prefixes:
            rows.append(np.random.default_rng([self.seed, *prefix]).normal(size=self.size) * 3)
        return torch.tensor(np.array(rows), dtype=torch.float32)

    def reorder(self, rows):
        self.prefixes = [self.prefixes[row] for row in rows]

    def keep(self, sentences):
        pass


def every_tree(vocabulary, words, limit):
    """Return all sequences of at most ``limit`` tokens that are a tree of so many words."""
    found = []
    for length in range(3, limit - (words if vocabulary.numbers else 0)):
        for ids in product(range(2, 8), repeat=length):
            try:
                delinearize([vocabulary.tokens[i] for i in ids], ["w"] * words)
            except ValueError:
                continue
            found.append([*insert_numbers(ids, vocabulary.number_ids), 1])
    return found


def insert_numbers(ids, numbers):
    """Return the ids of a tree with the next number before each part of speech."""
    rest = iter(numbers)
    return [token for i in ids for token in ([next(rest), i] if numbers and i in TAGS else [i])]


@both_vocabularies
@pytest.mark.parametrize("seed", range(2))
def test_a_wide_search_finds_the_most_probable_of_all_trees(seed, subwords):
    vocabulary, words = TreeVocabulary(subwords, 1), 2
    limit, size = vocabulary.least_tokens(words) + 2, len(subwords)
    trees = every_tree(vocabulary, words, limit)
    assert len(trees) > 20

    def log_probability(ids):
        model, total, last = RandomModel(seed, 1, size), 0.0, 8
        for token in ids:
            total += float(model.logits([last]).log_softmax(-1)[0, token])
            last = token
        return total

    best = max(trees, key=log_probability)
    decoding = WellFormedDecoding(RandomModel(seed, 60, size), vocabulary, [words], [limit], 60)
    [[found]] = beam_search(decoding, [limit], beam=60, alpha=0.0, eos=1, pad=8)
    assert found.tokens == best
    assert found.log_probability == pytest.approx(log_probability(best), abs=1e-4)


@both_vocabularies
def test_a_token_is_allowed_exactly_if_a_tree_can_continue_with_it(subwords):
    vocabulary, words = TreeVocabulary(subwords, 1), 2
    limit = vocabulary.least_tokens(words) + 2
    trees = {tuple(ids) for ids in every_tree(vocabulary, words, limit)}
    starts = {ids[:n] for ids in trees for n in range(len(ids) + 1)}
    for start in starts - trees:
        state = vocabulary.start(words, limit)
        for token in start:
            assert vocabulary.allowed(state)[token]
            state = vocabulary.advance(state, token)
        allowed = {int(i) for i in np.flatnonzero(vocabulary.allowed(state))}
        assert allowed == {t for t in range(len(subwords)) if (*start, t) in starts}


@both_vocabularies
@pytest.mark.parametrize("beam", [1, 3])
def test_every_result_is_a_tree_of_its_sentence(beam, subwords):
    vocabulary = TreeVocabulary(subwords, 1)
    counts = [1, 5, 2, 9, 120]
    extra = [0, 22, 0, 1, 50]
    limits = [vocabulary.least_tokens(n) + more for n, more in zip(counts, extra, strict=True)]
    model = RandomModel(7, len(counts) * beam, len(subwords))
    decoding = WellFormedDecoding(model, vocabulary, counts, limits, beam)
    found = beam_search(decoding, limits, beam=beam, alpha=0.3, eos=1, pad=8)
    for (best, *_), count, limit in zip(found, counts, limits, strict=True):
        words = [str(n) for n in range(count)]
        tree = delinearize([vocabulary.tokens[i] for i in best.tokens[:-1]], words)
        assert tree.words() == words
        written = linearize(tree, numbered=bool(vocabulary.numbers))
        assert [vocabulary.tokens[i] for i in best.tokens[:-1]] == written
        assert len(best.tokens) <= limit
        assert math.isfinite(best.score)


def test_numbers_begin_again_after_the_last():
    words = [f"w{n}" for n in range(100)]
    tree = Tree("S", tuple(Tree("NN", word=word) for word in words))
    sentence, tokens = number_words(words), linearize(tree, numbered=True)
    assert sentence[1::2] == words
    assert sentence[::2] == tokens[1:-1:2] == [f"#{n % 40 + 1}" for n in range(100)]


@both_vocabularies
def test_a_tree_is_never_too_deep_to_be_read_again(subwords):
    vocabulary = TreeVocabulary(subwords, 1)
    state, tokens = vocabulary.start(1, 2000), []
    while not tokens or tokens[-1] != 1:
        allowed = np.flatnonzero(vocabulary.allowed(state))
        deeper = [token for token in allowed if vocabulary.opens[token]]
        tokens.append(int((deeper or [*allowed])[0]))
        state = vocabulary.advance(state, tokens[-1])
    written = [token for token in tokens[:-1] if token not in vocabulary.number_ids]
    tree = delinearize([vocabulary.tokens[token] for token in written], ["w"])
    assert str(tree).count("(") > 190
    assert parse_brackets(f"(TOP {tree})", "it").children == (tree,)


def test_a_vocabulary_without_constituents_is_rejected():
    with pytest.raises(HeadwayError, match="no constituents"):
        TreeVocabulary(["<unk>", "</s>", "▁Haus", "▁Baum", "<pad>"], 1)
