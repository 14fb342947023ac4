"""Trees and sequences are the same thing, the scorer counts as evalb does, parses are trees."""

import json
import math
import random
import re
import sys
import time
from itertools import product

import numpy as np
import pytest
import torch

from headway.cli.main import dispatch
from headway.config import Config, ModelConfig, SearchConfig, TextConfig
from headway.errors import HeadwayError
from headway.inference.directory import save_model
from headway.inference.search import Candidates, beam_search
from headway.model import Transformer
from headway.paper.experiments import table4
from headway.paper.experiments.table4_treebank import make_treebank
from headway.paper.running.work import Work
from headway.parsing.bracketing import agreement, agreement_of_all, brackets
from headway.parsing.parser import Parser
from headway.parsing.treebank import prepare_treebank, read_treebank
from headway.parsing.trees import linearise, parse_brackets, parts, plain, rebuild, retag, tokenise
from headway.parsing.wellformed import Shape, Symbols, WellFormed

SLEEPS = "(ROOT (S (NP (PRP He)) (VP (VBZ sleeps)) (. .)))"


def tree(text):
    return parse_brackets(text)


def random_tree(chooser, depth=0):
    if depth and (depth > 4 or chooser.random() < 0.5):
        return f"({chooser.choice(['NN', 'VB', ',', '-LRB-'])} {chooser.choice('abc')})"
    inside = " ".join(random_tree(chooser, depth + 1) for _ in range(chooser.randrange(1, 4)))
    return f"({chooser.choice(['S', 'NP', 'VP'])} {inside})"


@pytest.mark.parametrize("seed", range(20))
def test_reading_writing_and_linearising_are_inverses(seed):
    text = random_tree(random.Random(seed))
    found = tree(text)
    assert str(found) == text
    assert rebuild(linearise(found), found.words()) == found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("(S (NP a)", "ends before"),
        ("(S (NP a)) )", "follows the end"),
        ("a (S (NP a))", "before the first"),
        ("(S (NP a b))", "neither one word"),
        ("(S (NP a) b)", "neither one word"),
        ("(S )", "neither one word"),
        ("(A " * 300 + "(B b)" + ")" * 300, "deep"),
    ],
)
def test_what_is_no_tree_is_refused_with_file_and_line(tmp_path, text, said):
    (tmp_path / "x.tree").write_text(f"{SLEEPS}\n{text}\n")
    with pytest.raises(HeadwayError, match=rf"x\.tree, line 2: .*{said}"):
        read_treebank(tmp_path / "x.tree")


def test_traces_and_functions_go_and_leave_nothing_empty():
    found = plain(tree("(S (NP-SBJ-1 (-LRB- -LRB-) (PRP He)) (VP=2 (VBZ is) (S (NP (-NONE- *)))))"))
    assert str(found) == "(S (NP (-LRB- -LRB-) (PRP He)) (VP (VBZ is)))"
    assert plain(tree("(S (NP (-NONE- *)))")) is None


def test_parts_are_the_constituents_of_two_words_or_more():
    whole = tree("(ROOT (S (NP (DT a) (NP (NN b) (NN c))) (VP (V d)) (. .)))")
    inside = ["(NP (DT a) (NP (NN b) (NN c)))", "(NP (NN b) (NN c))"]
    assert [str(part) for part in parts(whole)] == [f"(ROOT {part})" for part in inside]
    assert [str(part) for part in parts(whole.children[0])] == inside
    assert not list(parts(tree("(ROOT (UH yes))")))


def test_a_treebank_with_parts_holds_each_once_and_none_of_the_validation_set(tmp_path):
    train = [
        tree(f"(S (NP (DT a) (NN {noun})) (VP (V sees) (PP (P by) (NN day))))") for noun in "xyx"
    ]
    held = [tree("(PP (P by) (NN day))")]
    data = prepare_treebank(
        train, held, tmp_path / "data", TextConfig(vocab_size=284), with_parts=True
    )
    sources = [
        data.tokenizer.decode_source(data.train.pair(i)[0].tolist()) for i in range(len(data.train))
    ]
    assert sources == [
        "a x sees by day",
        "a y sees by day",
        "a x sees by day",
        "a x",
        "sees by day",
        "a y",
    ]


@pytest.mark.parametrize(
    "tokens", ["(S NN", "(S )S", "NN", "(S NN )NP", "(S NN )S (S NN )S", "(S NN NN )S", ")S", "(S"]
)
def test_what_is_no_sequence_of_a_tree_is_refused(tokens):
    with pytest.raises(ValueError, match=r"not one whole|no word|does not close"):
        rebuild(tokens.split(), ["a"])


# What evalb counts, worked out by hand: (matched, gold, found).
CASES = {
    "equal": (SLEEPS, SLEEPS, (3, 3, 3)),
    "a label is wrong": (SLEEPS, SLEEPS.replace("VP", "PP"), (2, 3, 3)),
    "a unary chain counts each of its brackets": (
        "(S (NP (NP (NN a))) (VP (VB b)))", "(S (NP (NN a)) (VP (VB b)))", (3, 4, 3),
    ),
    "a chain's brackets match once each": (
        "(S (NP (NN a)) (VP (VB b)))", "(S (NP (NP (NP (NN a)))) (VP (VB b)))", (3, 3, 5),
    ),
    "the order in a chain does not matter": (
        "(S (NP (VP (NN a))))", "(S (VP (NP (NN a))))", (3, 3, 3),
    ),
    "punctuation has no place": (
        "(S (NP (NN a) (, ,)) (VP (VB b)))", "(S (NP (NN a)) (, ,) (VP (VB b)))", (3, 3, 3),
    ),
    "what holds only punctuation is no bracket": (
        "(S (NP (NN a)) (PRN (: -)))", "(S (NP (NN a)) (: -))", (2, 2, 2),
    ),
    "brackets are words": (
        "(S (NP (-LRB- -LRB-) (NN a)))", "(S (-LRB- -LRB-) (NP (NN a)))", (1, 2, 2),
    ),
    "an empty constituent is none": (
        "(S (NP (-NONE- *)) (VP (VB b)))", "(S (VP (VB b)))", (2, 2, 2),
    ),
    "the topmost is not counted": ("(TOP (S (VB b)))", "(S (VB b))", (1, 1, 1)),
    "PRT is ADVP": ("(S (PRT (RP a)) (VB b))", "(S (ADVP (RP a)) (VB b))", (2, 2, 2)),
    "functions do not count": ("(S (NP-SBJ (NN a)))", "(S (NP (NN a)))", (2, 2, 2)),
    "attachment": (
        "(S (VP (VB a) (NP (NP (NN b)) (PP (IN c) (NP (NN d))))))",
        "(S (VP (VB a) (NP (NN b)) (PP (IN c) (NP (NN d)))))",
        (5, 6, 5),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_brackets_are_counted_as_evalb_counts_them(case):
    gold, found, counts = CASES[case]
    scores = agreement(tree(gold), tree(found))
    assert (scores.matched, scores.gold, scores.found) == counts
    precision, recall = (100 * scores.matched / n for n in (scores.found, scores.gold))
    assert scores.f1 == pytest.approx(2 * precision * recall / (precision + recall))
    assert scores.exact == (counts[0] == counts[1] == counts[2])


def test_words_that_differ_make_an_error_and_nothing_but_punctuation_is_skipped():
    pairs = [
        (SLEEPS, SLEEPS.replace("He", "She")),
        (SLEEPS, "(ROOT (S (NP (PRP He)) (. .)))"),
        # A tag that is punctuation in one tree alone: lengths differ.
        (SLEEPS, SLEEPS.replace("(. .)", "(NN .)")),
        ("(S (. .))", "(S (. .))"),
        (SLEEPS, SLEEPS.replace("VBZ", "NN")),
    ]
    scores = agreement_of_all(*([tree(pair[side]) for pair in pairs] for side in (0, 1)))
    assert (scores.errors, scores.empty, scores.sentences) == (3, 1, 1)
    assert (scores.matched, scores.tags, scores.words) == (3, 1, 2)
    assert brackets(tree(SLEEPS)) == [("NP", 0, 1), ("VP", 1, 2), ("S", 0, 2)]
    assert (
        str(retag(tree(SLEEPS), ["A", "B", "C"])) == "(ROOT (S (NP (A He)) (VP (B sleeps)) (C .)))"
    )


PIECES = ["<unk>", "</s>", "▁(S", "▁(NP", "▁)NP", "▁)S", "▁NN", "▁VB", "<pad>"]


class Random:
    """A model of random opinions that depend on all that was said."""

    def __init__(self, seed, count):
        self.seed, self.said = seed, [()] * count

    def logits(self, tokens):
        self.said = [(*s, int(t)) for s, t in zip(self.said, tokens, strict=True)]
        rows = []
        for said in self.said:
            rows.append(np.random.default_rng([self.seed, *said]).normal(size=len(PIECES)) * 3)
        return torch.tensor(np.array(rows), dtype=torch.float32)

    def reorder(self, rows):
        self.said = [self.said[row] for row in rows]

    def keep(self, sentences):
        pass


def every_tree(symbols, words, limit):
    """All sequences of at most ``limit`` tokens that are a tree of so many words, by trying them."""
    found = []
    for length in range(3, limit):
        for ids in product(range(2, 8), repeat=length):
            try:
                rebuild([symbols.pieces[i] for i in ids], ["w"] * words)
            except ValueError:
                continue
            found.append([*ids, 1])
    return found


@pytest.mark.parametrize("seed", range(4))
def test_a_wide_search_finds_the_likeliest_of_all_trees(seed):
    symbols, words, limit = Symbols(PIECES, 1), 2, 7
    trees = every_tree(symbols, words, limit)
    assert len(trees) > 20

    def log_probability(ids):
        model, total, last = Random(seed, 1), 0.0, 8
        for token in ids:
            total += float(model.logits([last]).log_softmax(-1)[0, token])
            last = token
        return total

    best = max(trees, key=log_probability)
    decoding = WellFormed(Random(seed, 60), symbols, [words], [limit], 60)
    [[found]] = beam_search(decoding, [limit], beam=60, alpha=0.0, eos=1, pad=8)
    assert found.tokens == best
    assert found.log_probability == pytest.approx(log_probability(best), abs=1e-4)


def test_what_is_allowed_is_what_can_still_become_a_tree():
    symbols, words, limit = Symbols(PIECES, 1), 2, 7
    trees = {tuple(ids) for ids in every_tree(symbols, words, limit)}
    starts = {ids[:n] for ids in trees for n in range(len(ids) + 1)}
    for start in starts - trees:
        shape = Shape(words, (), False, False, limit)
        for token in start:
            assert symbols.allowed(shape)[token]
            shape = symbols.after(shape, token)
        allowed = {int(i) for i in np.flatnonzero(symbols.allowed(shape))}
        assert allowed == {t for t in range(9) if (*start, t) in starts}


@pytest.mark.parametrize("beam", [1, 3])
def test_whatever_a_model_says_is_a_tree_of_its_sentence(beam):
    symbols = Symbols(PIECES, 1)
    counts, limits = [1, 5, 2, 9], [4, 30, 5, 13]
    decoding = WellFormed(Random(7, 4 * beam), symbols, counts, limits, beam)
    found = beam_search(decoding, limits, beam=beam, alpha=0.3, eos=1, pad=8)
    for (best, *_), count, limit in zip(found, counts, limits, strict=True):
        words = [str(n) for n in range(count)]
        assert rebuild([symbols.pieces[i] for i in best.tokens[:-1]], words).words() == words
        assert len(best.tokens) <= limit
        assert math.isfinite(best.score)


def test_a_vocabulary_without_constituents_is_refused():
    with pytest.raises(HeadwayError, match="no constituents"):
        Symbols(["<unk>", "</s>", "▁Haus", "▁Baum", "<pad>"], 1)


@pytest.fixture(scope="module")
def parser(tmp_path_factory):
    path = tmp_path_factory.mktemp("parser")
    trees = make_treebank(60)
    data = prepare_treebank(trees[10:], trees[:10], path / "data", TextConfig(vocab_size=340))
    sizes = data.tokenizer.source_vocab_size, data.tokenizer.target_vocab_size
    torch.manual_seed(5)
    shape = ModelConfig(
        source_vocab_size=sizes[0], target_vocab_size=sizes[1], num_encoder_layers=1,
        num_decoder_layers=1, d_model=22, d_ff=17, num_heads=2, tying="none",
    )  # fmt: skip
    model = Transformer(shape).eval()
    save_model(path / "model", model, data.tokenizer, Config(model=shape), data.languages, "#")
    return path, data


def test_a_prepared_treebank_says_every_tree_in_whole_pieces(parser):
    _, data = parser
    trees = make_treebank(60)[10:]
    assert 0 < len(data.train) <= len(trees)
    held = {str(tree) for tree in trees}
    for row in range(len(data.train)):
        source, target = data.train.pair(row)
        text = data.tokenizer.decode(target.tolist())
        assert len(target) == len(text.split()) + 1  # </s>
        words = data.tokenizer.decode_source(source.tolist()).split()
        assert str(rebuild(text.split(), words)) in held


def test_engines_parse_alike_and_neighbours_change_nothing(parser):
    path, _ = parser
    finder = Parser.load(path / "model", SearchConfig(beam=3, alpha=0.3, max_extra=20))
    sentences = [["the", "dog", "sleeps", "."], ["unseen", "-LRB-"], [], ["a"] * 12]
    together = finder.parse(sentences)
    assert together[2] is None
    for words, parse in zip(sentences, together, strict=True):
        assert finder.parse([words]) == [parse]
        assert parse is None or parse.tree.words() == words


def test_the_verbs_from_trees_to_trees(tmp_path, capsys, monkeypatch, parser):
    path, _ = parser
    for name, trees in (("train", make_treebank(50, 2)), ("valid", make_treebank(9, 3))):
        (tmp_path / f"{name}.tree").write_text("".join(f"{t}\n" for t in trees))
    files = ["--train", str(tmp_path / "train.tree"), "--valid", str(tmp_path / "valid.tree")]
    assert dispatch(["treebank", str(tmp_path / "out"), *files, "--text.vocab-size", "340"]) == 0
    trees = int(re.search(r"([0-9]+) trees", capsys.readouterr().err)[1])
    smaller = ["treebank", str(tmp_path / "parts"), *files, "--text.vocab-size", "340", "--parts"]
    assert dispatch(smaller) == 0
    assert int(re.search(r"([0-9]+) trees", capsys.readouterr().err)[1]) > trees

    few = ["--search.beam", "2", "--search.max-extra", "9"]
    (tmp_path / "in").write_bytes(b"He didn't (ever) sleep.\n\n")
    with (tmp_path / "in").open() as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert dispatch(["parse", str(path / "model"), *few]) == 0
    first, second, rest = capsys.readouterr().out.split("\n")
    assert (second, rest) == ("", "")
    said = "He did n't -LRB- ever -RRB- sleep ."
    assert " ".join(tree(first).words()) == said
    gold = ["--gold", str(tmp_path / "valid.tree"), "--json"]
    assert dispatch(["parse", str(path / "model"), *few, *gold]) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 9
    assert json.loads(out.splitlines()[0])["log_probability"] < 0
    assert "F1" in err
    assert "of 9 sentences" in err


def test_raw_english_is_cut_as_treebanks_cut_it():
    said = (
        "\"It's 1,000 miles (or so),\" Dr. Who's co-pilot didn't say at 12:30 in the U.S. today..."
    )
    assert " ".join(tokenise(said)) == (
        "\" It 's 1,000 miles -LRB- or so -RRB- , \" Dr. Who 's co - pilot did n't say at 12:30 in the"
        " U.S. today ..."
    )


def test_the_experiment_runs_at_toy_size_and_is_done_once(tmp_path):
    work = Work(tmp_path, scale="toy")
    result = table4.run(work)
    assert {claim.verdict for claim in result.claims} <= {
        "holds",
        "does not",
        "not decided",
        "shown",
    }
    assert result.claims[0].verdict == "shown"
    began = time.process_time()
    again = table4.run(work)
    assert again.tables == result.tables
    assert time.process_time() - began < 2  # nothing is trained again


def test_a_treebank_given_takes_the_place_of_sentences_made_by_rules(tmp_path):
    folder = tmp_path / "treebank"
    folder.mkdir()
    for name, seed in (("train", 4), ("valid", 5), ("test", 6)):
        text = "".join(f"{t}\n" for t in make_treebank(30, seed))
        (folder / f"{name}.tree").write_text(text)
    name, parts = table4.treebank(Work(tmp_path, scale="toy"))
    assert name
    assert [len(part) for part in parts] == [30, 30, 30]
    assert parts[2] == make_treebank(30, 6)


def test_forced_tokens_are_what_is_allowed_anyway():
    symbols = Symbols(PIECES, 1)
    decoding = WellFormed(Random(1, 1), symbols, [1], [4], 1)
    said = []
    last = np.array([8])
    for _ in range(4):
        found = decoding.candidates(last, 2, None)
        assert isinstance(found, Candidates)
        last = found.tokens[:, 0]
        said.append(int(last[0]))
    assert said[-1] == 1
