"""Bracket scores agree with evalb."""

import pytest

from headway.ext.paper.parsing.bracketing import brackets, score_parse, score_parser, score_parses
from headway.ext.paper.parsing.trees import parse_brackets, retag

SLEEPS = "(ROOT (S (NP (PRP He)) (VP (VBZ sleeps)) (. .)))"


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
    "a label of two names is neither": (
        "(S (PRT|ADVP (RP a)) (VB b))", "(S (ADVP (RP a)) (VB b))", (1, 2, 2),
    ),
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
    scores = score_parse(parse_brackets(gold), parse_brackets(found))
    assert (scores.matched, scores.gold, scores.found) == counts
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
PARSED = [
    (SLEEPS, SLEEPS, 2, 1),
    (SLEEPS, SLEEPS.replace("PRP", "."), 1, 1),  # makes a word punctuation
    (SLEEPS, SLEEPS.replace("(. .)", "(NN .)"), 2, 1),  # makes punctuation a word
    (SLEEPS, "(ROOT (S (NP (. He) (. sleeps)) (. .)))", 0, 0),  # has no words but punctuation
]


@pytest.mark.parametrize("rows", [*([row] for row in PARSED), PARSED])
def test_every_word_of_the_treebank_counts_for_the_parts_of_speech_of_a_parser(rows):
    gold, found = ([parse_brackets(row[side]) for row in rows] for side in (0, 1))
    scores = score_parser(gold, found)
    assert (scores.sentences, scores.errors, scores.empty) == (len(rows), 0, 0)
    assert (scores.words, scores.tags) == (2 * len(rows), sum(row[2] for row in rows))
    assert scores.tagging == pytest.approx(50 * sum(row[2] for row in rows) / len(rows))
    assert scores.exact_match == pytest.approx(100 * sum(row[3] for row in rows) / len(rows))
