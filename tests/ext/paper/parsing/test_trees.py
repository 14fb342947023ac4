"""Trees: brackets, invalid files, simplification and constituents."""

import random

import pytest

from headway.errors import HeadwayError
from headway.ext.paper.parsing.bracketing import brackets, score_parse, score_parser, score_parses
from headway.ext.paper.parsing.linearization import delinearize, linearize
from headway.ext.paper.parsing.treebank import read_treebank
from headway.ext.paper.parsing.trees import parse_brackets, retag, simplify
from headway.ext.paper.parsing.words import split_words, tokenize_english
from support.cases import read_rows

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
        *read_rows(__file__, "test_an_invalid_tree_is_rejected_with_file_and_line"),
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


def test_english_is_tokenized_as_in_treebanks():
    sentence = (
        "\"It's 1,000 miles (or so),\" Dr. Who's co-pilot didn't say at 12:30 in the U.S. today..."
    )
    assert " ".join(tokenize_english(sentence)) == (
        "\" It 's 1,000 miles -LRB- or so -RRB- , \" Dr. Who 's co - pilot did n't say at 12:30 in the"
        " U.S. today ..."
    )


def test_words_of_a_tokenized_sentence_are_split_at_spaces_and_tabs_alone():
    assert split_words(" 5\xa0000 b\t (c)  d\u2003e\r") == [
        "5\xa0000", "b", "-LRB-c-RRB-", "d\u2003e",
    ]  # fmt: skip
    assert split_words(" \t") == []


# What evalb counts, worked out by hand: (matched, gold, found).
CASES = read_rows(__file__, "CASES")


@pytest.mark.parametrize("case", CASES)
def test_brackets_are_counted_as_evalb_counts_them(case):
    gold, found, counts = CASES[case]
    scores = score_parse(parse_brackets(gold), parse_brackets(found))
    assert [scores.matched, scores.gold, scores.found] == counts
    precision, recall = (100 * scores.matched / n for n in (scores.found, scores.gold))
    assert scores.f1 == pytest.approx(2 * precision * recall / (precision + recall))
    assert scores.exact == (counts[0] == counts[1] == counts[2])


def test_different_words_are_an_error_and_punctuation_alone_is_skipped():
    pairs = [
        (SLEEPS, SLEEPS.replace("He", "She")),
        (SLEEPS, "(ROOT (S (NP (PRP He)) (. .)))"),
        # A tag that is punctuation in one tree alone: lengths differ.
        (SLEEPS, SLEEPS.replace("(. .)", "(NN .)")),
        ("(S (. .))", "(S (. .))"),
        (SLEEPS, SLEEPS.replace("VBZ", "NN")),
    ]
    scores = score_parses(*([parse_brackets(pair[side]) for pair in pairs] for side in (0, 1)))
    assert (scores.errors, scores.empty, scores.sentences) == (3, 1, 1)
    assert (scores.matched, scores.tags, scores.words) == (3, 1, 2)
    assert brackets(parse_brackets(SLEEPS)) == [("NP", 0, 1), ("VP", 1, 2), ("S", 0, 2)]
    assert (
        str(retag(parse_brackets(SLEEPS), ["A", "B", "C"]))
        == "(ROOT (S (NP (A He)) (VP (B sleeps)) (C .)))"
    )


# (gold, found, correct parts of speech, exact trees): a wrong one changes nothing else.
PARSED = read_rows(__file__, "PARSED")


@pytest.mark.parametrize("rows", [*([row] for row in PARSED), PARSED])
def test_every_word_of_the_treebank_counts_for_the_parts_of_speech_of_a_parser(rows):
    gold, found = ([parse_brackets(row[side]) for row in rows] for side in (0, 1))
    scores = score_parser(gold, found)
    assert (scores.sentences, scores.errors, scores.empty) == (len(rows), 0, 0)
    assert (scores.words, scores.tags) == (2 * len(rows), sum(row[2] for row in rows))
    assert scores.tagging == pytest.approx(50 * sum(row[2] for row in rows) / len(rows))
    assert scores.exact_match == pytest.approx(100 * sum(row[3] for row in rows) / len(rows))
