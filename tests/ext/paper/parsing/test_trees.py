"""Trees: brackets, invalid files, simplification and constituents."""

import random

import pytest

from headway.errors import HeadwayError
from headway.ext.paper.parsing.linearization import delinearize, linearize
from headway.ext.paper.parsing.treebank import read_treebank
from headway.ext.paper.parsing.trees import parse_brackets, simplify

SLEEPS = "(ROOT (S (NP (PRP He)) (VP (VBZ sleeps)) (. .)))"


def random_tree(chooser, depth=0):
    if depth and (depth > 4 or chooser.random() < 0.5):
        return f"({chooser.choice(['NN', 'VB', ',', '-LRB-'])} {chooser.choice('abc')})"
    inside = " ".join(random_tree(chooser, depth + 1) for _ in range(chooser.randrange(1, 4)))
    return f"({chooser.choice(['S', 'NP', 'VP'])} {inside})"


@pytest.mark.parametrize("seed", range(20))
def test_reading_writing_and_linearizing_are_inverses(seed):
    text = random_tree(random.Random(seed))
    found = parse_brackets(text)
    assert str(found) == text
    assert delinearize(linearize(found), found.words()) == found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(S (NP a)", "ends before"),
        ("(S (NP a)) )", "follows the end"),
        ("a (S (NP a))", "outside a tree"),
        ("(S (NP a b))", "neither one word"),
        ("(S (NP a) b)", "neither one word"),
        ("(S )", "neither one word"),
        ("(A " * 300 + "(B b)" + ")" * 300, "deep"),
    ],
)
def test_an_invalid_tree_is_rejected_with_file_and_line(tmp_path, text, message):
    (tmp_path / "x.tree").write_text(f"{SLEEPS}\n{text}\n")
    with pytest.raises(HeadwayError, match=rf"x\.tree, line 2: .*{message}"):
        read_treebank(tmp_path / "x.tree")


def test_a_word_may_hold_a_no_break_space(tmp_path):
    text = "(S (NP (CD 5\xa0000) (NNS\tcats)) (VP (VBP sleep)))"
    (tmp_path / "x.tree").write_text(f"{text}\r\n", encoding="utf-8", newline="")
    [found] = read_treebank(tmp_path / "x.tree")
    assert found.words() == ["5\xa0000", "cats", "sleep"]
    assert parse_brackets(str(found)) == found


def test_simplify_removes_traces_functions_and_empty_constituents():
    found = simplify(
        parse_brackets("(S (NP-SBJ-1 (-LRB- -LRB-) (PRP He)) (VP=2 (VBZ is) (S (NP (-NONE- *)))))")
    )
    assert str(found) == "(S (NP (-LRB- -LRB-) (PRP He)) (VP (VBZ is)))"
    assert simplify(parse_brackets("(S (NP (-NONE- *)))")) is None
    # evalb cuts a label at - and = alone.
    assert str(simplify(parse_brackets("(S (ADVP|PRT-1 (RP up)))"))) == "(S (ADVP|PRT (RP up)))"


@pytest.mark.parametrize(
    "tokens", ["(S NN", "(S )S", "NN", "(S NN )NP", "(S NN )S (S NN )S", "(S NN NN )S", ")S", "(S"]
)
def test_an_invalid_token_sequence_is_rejected(tokens):
    with pytest.raises(ValueError, match=r"not one whole|no word|does not close"):
        delinearize(tokens.split(), ["a"])
