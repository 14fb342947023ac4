"""From trees to a prepared directory, and from a model to trees."""

import json
import re
import sys

import pytest
import torch

from headway.cli.main import dispatch
from headway.config import Config, ModelConfig, SearchConfig, TextConfig
from headway.errors import HeadwayError
from headway.ext.paper.experiments.table4_treebank import make_treebank
from headway.ext.paper.parsing.bracketing import IGNORED
from headway.ext.paper.parsing.linearization import NUMBERS, delinearize, linearize
from headway.ext.paper.parsing.parser import TreeParser
from headway.ext.paper.parsing.treebank import prepare_treebank
from headway.ext.paper.parsing.trees import parse_brackets
from headway.ext.paper.running.treebank import bracket_scores
from headway.model import Transformer
from headway.text.prepared import PreparedData
from headway.text.tokenizer import Tokenizer
from headway.translation.directory import save_model

FEW = ["--search.beam", "2", "--search.max-extra", "2", "--threads", "1"]


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "numbered"])
def parser(tmp_path_factory, request):
    path = tmp_path_factory.mktemp("parser")
    trees = make_treebank(60)
    config = TextConfig(vocab_size=340 + 40 * request.param)
    data = prepare_treebank(trees[10:], trees[:10], path / "data", config, numbered=request.param)
    sizes = data.tokenizer.source_vocab_size, data.tokenizer.target_vocab_size
    torch.manual_seed(5)
    state = ModelConfig(
        source_vocab_size=sizes[0], target_vocab_size=sizes[1], num_encoder_layers=1,
        num_decoder_layers=1, d_model=22, d_ff=17, num_heads=2, tying="none",
    )  # fmt: skip
    model = Transformer(state).eval()
    save_model(path / "model", model, data.tokenizer, Config(model=state), data.languages, "#")
    return path, data, request.param


def test_a_validation_sentence_is_not_trained_on(tmp_path):
    train = [parse_brackets(f"(S (NP (DT a) (NN {noun})) (VP (V sees)))") for noun in "xyx"]
    config = TextConfig(vocab_size=270)
    data = prepare_treebank(train, train[1:2], tmp_path / "data", config)
    ids = [data.train.pair(i)[0].tolist() for i in range(len(data.train))]
    assert [data.tokenizer.decode_source(row) for row in ids] == ["a x sees", "a x sees"]


@pytest.mark.parametrize(
    "tree", ["(S (</s> w))", "(S (N w) (<unk> v))", "(S▁T (N w))", "(S (▁ w))"]
)
def test_a_label_that_cannot_be_one_token_is_refused(tmp_path, tree):
    trees = [parse_brackets(tree)]
    with pytest.raises(HeadwayError, match="that a vocabulary cannot have: it has </s> and <unk>"):
        prepare_treebank(trees, trees, tmp_path / "data", TextConfig(vocab_size=300))


def test_each_token_of_a_tree_is_one_subword(parser):
    path, data, numbered = parser
    loaded = TreeParser.load(path / "model")
    trees = make_treebank(60)[10:]
    assert 0 < len(data.train) <= len(trees)
    held = {str(tree) for tree in trees}
    for row in range(len(data.train)):
        source, target = data.train.pair(row)
        text = data.tokenizer.decode(target.tolist())
        assert len(target) == len(text.split()) + 1  # </s>
        words = data.tokenizer.decode_source(source.tolist()).split()
        if numbered:
            assert words[::2] == list(NUMBERS[: len(words) // 2])
            words = words[1::2]
        tree = delinearize(text.split(), words)
        assert str(tree) in held
        assert text.split() == linearize(tree, numbered=numbered)
        assert loaded.encode([words]) == [source.tolist()]


def test_a_sentence_has_the_same_parse_alone_and_in_a_batch(parser):
    path, _, _ = parser
    loaded = TreeParser.load(path / "model", SearchConfig(beam=3, alpha=0.3, max_extra=20))
    sentences = [["the", "dog", "sleeps", "."], ["unseen", "-LRB-"], [], ["a"] * 12]
    together = loaded.parse(sentences)
    assert together[2] is None
    for words, parse in zip(sentences, together, strict=True):
        assert loaded.parse([words]) == [parse]
        assert parse is None or parse.tree.words() == words


def test_the_command_and_the_experiment_count_the_same_parts_of_speech(tmp_path, capsys, parser):
    path, _, _ = parser
    gold = make_treebank(60)[:8]
    (tmp_path / "gold.tree").write_text("".join(f"{tree}\n" for tree in gold))
    assert (
        dispatch(["parse", str(path / "model"), "--gold", str(tmp_path / "gold.tree"), *FEW]) == 0
    )
    out, err = capsys.readouterr()
    found = [parse_brackets(line) for line in out.splitlines()]
    leaves = [zip(a.leaves(), b.leaves(), strict=True) for a, b in zip(gold, found, strict=True)]
    right = [a.label == b.label for row in leaves for a, b in row if a.label not in IGNORED]
    assert 0 < sum(right) < len(right)
    expected = 100 * sum(right) / len(right)
    assert f"of 8 sentences; exact 0.00 %, parts of speech {expected:.2f} %" in err
    assert bracket_scores(gold, found)["tagging"] == pytest.approx(expected)


def test_each_tree_of_a_treebank_has_a_line_also_without_words(tmp_path, capsys, parser):
    path, _, _ = parser
    trees = [str(tree) for tree in make_treebank(60)[:2]]
    file = tmp_path / "gold.tree"
    rows = []
    for lines in (trees, [trees[0], "(S (NP (-NONE- *)))", trees[1]]):
        file.write_text("".join(f"{line}\n" for line in lines))
        assert dispatch(["parse", str(path / "model"), "--gold", str(file), *FEW]) == 0
        said = capsys.readouterr()
        rows.append((said.out.splitlines(), said.err))
    (plain, scores), (spaced, same_scores) = rows
    assert spaced == [plain[0], "", plain[1]]
    assert same_scores.splitlines()[-1] == scores.splitlines()[-1]


def test_the_commands_treebank_and_parse_work_together(tmp_path, capsys, monkeypatch, parser):
    path, _, _ = parser
    for name, trees in (("train", make_treebank(50, 2)), ("valid", make_treebank(9, 3))):
        (tmp_path / f"{name}.tree").write_text("".join(f"{t}\n" for t in trees))
    files = ["--train", str(tmp_path / "train.tree"), "--valid", str(tmp_path / "valid.tree")]
    assert dispatch(["treebank", str(tmp_path / "out"), *files, "--text.vocab-size", "340"]) == 0
    assert re.search(r"[0-9]+ trees", capsys.readouterr().err)
    numbered = ["treebank", str(tmp_path / "numbered"), *files, "--text.vocab-size", "380"]
    assert dispatch([*numbered, "--numbers"]) == 0
    capsys.readouterr()
    source, _ = PreparedData.open(tmp_path / "numbered").train.pair(0)
    tokenizer = Tokenizer.load(tmp_path / "numbered")
    assert tokenizer.decode_source(source.tolist()).startswith(NUMBERS[0])

    few = ["--search.beam", "2", "--search.max-extra", "9"]
    (tmp_path / "in").write_bytes(b"He didn't (ever) sleep.\n\n")
    with (tmp_path / "in").open() as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert dispatch(["parse", str(path / "model"), *few]) == 0
    first, second, rest = capsys.readouterr().out.split("\n")
    assert (second, rest) == ("", "")
    words = "He did n't -LRB- ever -RRB- sleep ."
    assert " ".join(parse_brackets(first).words()) == words
    gold = ["--gold", str(tmp_path / "valid.tree"), "--json"]
    assert dispatch(["parse", str(path / "model"), *few, *gold]) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 9
    assert json.loads(out.splitlines()[0])["log_probability"] < 0
    assert "F1" in err
    assert "of 9 sentences" in err
    assert "9 sentences, " in err  # progress
    monkeypatch.setattr("headway.ext.paper.verbs.parse.AT_ONCE", 4)
    assert dispatch(["parse", str(path / "model"), *few, *gold]) == 0
    assert capsys.readouterr().out == out
