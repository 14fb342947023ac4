"""Shards return the pairs that were written; batches hold every pair once and are within their size."""

import re

import numpy as np
import pytest
import torch

from headway.config import TextConfig
from headway.errors import HeadwayError
from headway.text import shards
from headway.text.batches import ROUND, make_batches, plan_batches, plan_packed, read_batch
from headway.text.shards import Corpus
from headway.text.tokenizer import Tokenizer

RANDOM = np.random.default_rng(3)
PAIRS = [
    (RANDOM.integers(0, 500, s).tolist(), RANDOM.integers(0, 500, t).tolist())
    for s, t in RANDOM.integers(1, 40, (997, 2))
]


@pytest.mark.parametrize("vocabulary", [1 << 16, (1 << 16) + 1])
def test_a_corpus_returns_the_pairs_that_were_written(tmp_path, vocabulary, monkeypatch):
    monkeypatch.setattr(shards, "FLUSH", 89)
    monkeypatch.setattr(shards, "DIGESTED", 89)
    corpus = Corpus.write(tmp_path / "corpus", iter(PAIRS), vocabulary)
    again = Corpus(tmp_path / "corpus")
    assert len(again) == 997
    for i in (0, 1, 88, 89, 500, 996):
        assert [side.tolist() for side in again.pair(i)] == list(PAIRS[i])
    assert again.source_lengths.tolist() == [len(s) for s, _ in PAIRS]
    assert again.target_lengths.tolist() == [len(t) for _, t in PAIRS]
    assert again.target_tokens == sum(len(t) for _, t in PAIRS)
    assert corpus.fingerprint == again.fingerprint


def test_the_fingerprint_changes_with_any_token_and_with_the_order(tmp_path):
    prints = {Corpus.write(tmp_path / "a", PAIRS).fingerprint}
    prints.add(Corpus.write(tmp_path / "b", PAIRS[::-1]).fingerprint)
    s, t = PAIRS[0]
    prints.add(Corpus.write(tmp_path / "c", [([*s, t[0]], t[1:]), *PAIRS[1:]]).fingerprint)
    assert len(prints) == 3


@pytest.mark.parametrize(("facts", "changed"), [(".*", "[1, 2]"), ('"pairs": 997', '"pairs": 1000000000000')])  # fmt: skip
def test_facts_that_do_not_fit_give_a_message_of_one_line(tmp_path, facts, changed):
    directory = tmp_path / "corpus"
    Corpus.write(directory, PAIRS)
    path = directory / "corpus.json"
    path.write_text(re.sub(facts, changed, path.read_text(), count=1, flags=re.DOTALL))
    with pytest.raises(HeadwayError, match=rf"^{re.escape(str(directory))}[^\n]*$"):
        Corpus(directory)


def lengths():
    return np.array([len(s) for s, _ in PAIRS]), np.array([len(t) for _, t in PAIRS])


@pytest.mark.parametrize("max_tokens", [39, 101, 997])
def test_every_pair_is_in_one_batch_and_no_batch_is_too_large(max_tokens):
    source, target = lengths()
    plan = plan_batches(source, target, max_tokens, seed=1, epoch=0)
    assert sorted(i for rows in plan for i in rows) == list(range(997))
    for rows in plan:
        assert len(rows) * source[rows].max() <= max_tokens
        assert len(rows) * target[rows].max() <= max_tokens


def test_sentences_of_similar_length_share_a_batch():
    lengths = np.random.default_rng(1).integers(3, 40, 40000)
    plan = plan_batches(lengths, lengths, 2500, seed=1, epoch=0)
    cells = sum(len(rows) * lengths[rows].max() for rows in plan)
    assert 1 - lengths.sum() / cells < 0.01


def test_a_batch_is_padded_on_the_right(tmp_path):
    corpus = Corpus.write(tmp_path / "corpus", PAIRS)
    rows = np.array([3, 11, 7])
    batch = read_batch(corpus, rows, source_pad=500, target_pad=501)
    assert batch.target_tokens == sum(len(PAIRS[i][1]) for i in rows)
    for ids, segments, side, pad in (
        (batch.source, batch.source_segments, 0, 500),
        (batch.target, batch.target_segments, 1, 501),
    ):
        for row, i in enumerate(rows):
            n = len(PAIRS[i][side])
            assert ids[row].tolist() == PAIRS[i][side] + [pad] * (ids.size(1) - n)
            assert segments[row].tolist() == [1] * n + [0] * (ids.size(1) - n)


def test_batches_of_texts_are_those_of_their_corpus(tmp_path):
    pairs = [("a dog " * (n % 7 + 1), "ein Hund " * (n % 5 + 1)) for n in range(83)]
    tokenizer = Tokenizer.learn(pairs, TextConfig(vocab_size=290))
    sources, targets = map(list, zip(*pairs, strict=True))
    ids = zip(tokenizer.encode_source(sources), tokenizer.encode_target(targets), strict=True)
    corpus = Corpus.write(tmp_path / "corpus", ids)
    plan = plan_batches(corpus.source_lengths, corpus.target_lengths, 200, seed=5, epoch=2)
    found = [*make_batches(pairs, tokenizer, 200, seed=5, epoch=2)]
    assert len(found) == len(plan) > 5
    for batch, rows in zip(found, plan, strict=True):
        expected = read_batch(corpus, rows, tokenizer.source_pad, tokenizer.target_pad)
        assert batch.target_tokens == expected.target_tokens
        assert batch.pair_indices.tolist() == rows.tolist()
        assert all(map(torch.equal, batch.tensors(), expected.tensors()))


def test_every_pair_is_in_one_packed_batch_and_no_batch_is_too_large():
    sources, targets = (np.array([len(pair[side]) for pair in PAIRS]) for side in (0, 1))
    plan = plan_packed(sources, targets, 301, seed=5, epoch=2)
    assert sorted(np.concatenate(plan)) == list(range(len(PAIRS)))
    for i, rows in enumerate(plan):
        assert sources[rows].sum() <= 301
        assert targets[rows].sum() <= 301
        if i + 1 < len(plan):  # with the next pair the batch would be too large
            more = [*rows, plan[i + 1][0]]
            assert max(sources[more].sum(), targets[more].sum()) > 301
    again = plan_packed(sources, targets, 301, seed=5, epoch=2)
    assert all(np.array_equal(a, b) for a, b in zip(plan, again, strict=True))
    for function in (
        plan_packed,
        plan_batches,
    ):  # another epoch and another seed have another order
        orders = [function(sources, targets, 301, *key)[0] for key in ((5, 2), (5, 3), (6, 2))]
        assert len({order.tobytes() for order in orders}) == 3
    with pytest.raises(HeadwayError, match="more than a batch of 30"):
        plan_packed(sources, targets, 30, seed=5, epoch=2)


def test_a_packed_row_holds_its_sentences_one_after_the_other(tmp_path):
    corpus = Corpus.write(tmp_path / "corpus", iter(PAIRS), 500)
    rows = np.array([5, 900, 17, 3, 44])
    batch = read_batch(corpus, rows, 499, 498, packed=True)
    assert batch.is_packed
    assert batch.target_tokens == sum(len(PAIRS[r][1]) for r in rows)

    def check(each):
        for side, ids, segments, pad in (
            (0, each.source, each.source_segments, 499),
            (1, each.target, each.target_segments, 498),
        ):
            tokens = [t for r in each.pair_indices for t in PAIRS[r][side]]
            assert ids.shape == segments.shape == (1, (len(tokens) // ROUND + 1) * ROUND)
            assert ids[0].tolist() == tokens + [pad] * (ids.size(1) - len(tokens))
            counts = torch.bincount(segments[0][: len(tokens)])
            assert counts[counts > 0].tolist() == [len(PAIRS[r][side]) for r in each.pair_indices]
            assert not segments[0, len(tokens) :].any()

    check(batch)
