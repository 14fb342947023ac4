"""Score parses against a treebank: labeled bracket F1 by the rules of the evalb program.

The rules are those of evalb with the usual parameters of Collins:

* Brackets are compared as a multiset of (label, first word, end). Equal brackets of a unary chain
  each count.
* Traces and punctuation are removed before words are counted. A constituent that is then empty is no
  bracket, and neither is the root.
* Functions after ``-`` or ``=`` are ignored. ADVP and PRT are the same label, but ``ADVP|PRT`` is another.
* A sentence whose words differ from those of the treebank is an error and is left out.

Paper: section 6.3, Table 4.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from headway.ext.paper.parsing.trees import ROOTS, TRACE, Tree, remove_function, retag

# Parts of speech that are removed, and labels that are no brackets; evalb has one list for both.
IGNORED = ROOTS | {TRACE, ",", ":", "``", "''", "."}
EQUIVALENT = {"PRT": "ADVP"}

Bracket = tuple[str, int, int]


@dataclass(frozen=True)
class BracketScores:
    """Counts over the sentences of a treebank.

    Attributes:
        matched: Brackets that both have.
        gold: Brackets of the treebank.
        found: Brackets of the parses.
        sentences: Sentences that were compared.
        exact: Compared sentences whose brackets are all the same.
        errors: Sentences left out because their words differ.
        empty: Sentences left out because their parses hold only punctuation.
        words: Words compared, without punctuation.
        tags: Compared words with the same part of speech.
    """

    matched: int = 0
    gold: int = 0
    found: int = 0
    sentences: int = 0
    exact: int = 0
    errors: int = 0
    empty: int = 0
    words: int = 0
    tags: int = 0

    def __add__(self, other: "BracketScores") -> "BracketScores":
        return BracketScores(
            *(getattr(self, n) + getattr(other, n) for n in self.__dataclass_fields__)
        )

    @property
    def precision(self) -> float:
        """Percentage of the brackets of the parses that are correct, 0 to 100."""
        return 100 * self.matched / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        """Percentage of the brackets of the treebank that the parses have, 0 to 100."""
        return 100 * self.matched / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of `precision` and `recall` over all sentences, 0 to 100."""
        both = self.gold + self.found
        return 200 * self.matched / both if both else 0.0

    @property
    def exact_match(self) -> float:
        """Percentage of the compared sentences whose brackets are all the same, 0 to 100."""
        return 100 * self.exact / self.sentences if self.sentences else 0.0

    @property
    def tagging(self) -> float:
        """Percentage of correct parts of speech, 0 to 100."""
        return 100 * self.tags / self.words if self.words else 0.0


def score_parse(gold: Tree, found: Tree) -> BracketScores:
    """Compare a parse with the tree of the treebank for the same sentence."""
    gold_leaves, found_leaves = (
        [leaf for leaf in tree.leaves() if leaf.label not in IGNORED] for tree in (gold, found)
    )
    if not found_leaves:
        return BracketScores(empty=1)
    if [leaf.word for leaf in gold_leaves] != [leaf.word for leaf in found_leaves]:
        return BracketScores(errors=1)
    gold_brackets, found_brackets = Counter(brackets(gold)), Counter(brackets(found))
    return BracketScores(
        matched=(gold_brackets & found_brackets).total(),
        gold=gold_brackets.total(),
        found=found_brackets.total(),
        sentences=1,
        exact=int(gold_brackets == found_brackets),
        words=len(gold_leaves),
        tags=sum(a.label == b.label for a, b in zip(gold_leaves, found_leaves, strict=True)),
    )


def score_parses(gold: Iterable[Tree], found: Iterable[Tree]) -> BracketScores:
    """Compare parses with the trees of a treebank; return the sums over all sentences."""
    return sum((score_parse(a, b) for a, b in zip(gold, found, strict=True)), BracketScores())


def score_parser(gold: Sequence[Tree], found: Sequence[Tree]) -> BracketScores:
    """Compare the parses that a parser made of the words of a treebank; return the sums over all sentences.

    The treebank's parts of speech decide which words are punctuation. Those of the parser count only as
    `BracketScores.tags`: a wrong one changes no bracket, and leaves no sentence out.
    """
    labels = [[leaf.label for leaf in tree.leaves()] for tree in gold]
    scores = score_parses(gold, map(retag, found, labels))
    right = sum(
        label == leaf.label
        for row, parse in zip(labels, found, strict=True)
        for label, leaf in zip(row, parse.leaves(), strict=True)
        if label not in IGNORED
    )
    return replace(scores, tags=right)


def brackets(tree: Tree) -> list[Bracket]:
    """Return the brackets of a tree: label, index of the first word, index after the last word.

    Punctuation and traces do not count as words. A constituent that holds nothing else is no bracket.
    """
    result: list[Bracket] = []

    def visit(part: Tree, start: int) -> int:
        if part.word is not None:
            return start + (part.label not in IGNORED)
        end = start
        for child in part.children:
            end = visit(child, end)
        label = remove_function(part.label)
        if end > start and label not in IGNORED:
            result.append((EQUIVALENT.get(label, label), start, end))
        return end

    visit(tree, 0)
    return result
