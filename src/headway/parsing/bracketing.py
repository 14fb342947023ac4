"""How far a parse agrees with a treebank: labelled bracket F1, by the rules of the evalb program.

evalb, with the parameters of Collins that the field reports: brackets are compared as a multiset of
(label, first word, end), so that equal ones of a unary chain count as often as they are there;
traces and punctuation are taken out before words are counted; what is empty then, and the topmost
bracket, is no bracket; functions after ``-`` or ``=`` do not count; ADVP and PRT are the same; a
sentence whose words differ from the treebank's is an error, and counts for nothing.

Paper: section 6.3, Table 4.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from headway.parsing.trees import ROOTS, TRACE, Tree, without_function

# Parts of speech that are taken out, and labels that are no brackets; evalb has one list for both.
DELETED = ROOTS | {TRACE, ",", ":", "``", "''", "."}
SAME = {"PRT": "ADVP"}

Bracket = tuple[str, int, int]


@dataclass(frozen=True)
class Agreement:
    """Counts over sentences.

    Attributes:
        matched: Brackets in both.
        gold: Brackets of the treebank.
        found: Brackets of the parses.
        sentences: That were compared.
        exact: Of them, with all brackets in both.
        errors: Sentences left out, because their words differ.
        empty: Sentences left out, because nothing but punctuation is in them.
        words: Words compared, punctuation left out.
        tags: Of them, with the right part of speech.
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

    def __add__(self, other: "Agreement") -> "Agreement":
        return Agreement(*(getattr(self, n) + getattr(other, n) for n in self.__dataclass_fields__))

    @property
    def precision(self) -> float:
        """Share of the found brackets that are right, 0 to 100."""
        return 100 * self.matched / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        """Share of the treebank's brackets that were found, 0 to 100."""
        return 100 * self.matched / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of `precision` and `recall`, of the counts of all sentences, 0 to 100."""
        both = self.gold + self.found
        return 200 * self.matched / both if both else 0.0

    @property
    def tagging(self) -> float:
        """Share of right parts of speech, 0 to 100."""
        return 100 * self.tags / self.words if self.words else 0.0


def agreement(gold: Tree, found: Tree) -> Agreement:
    """Compare one parse with the treebank's tree of the same sentence."""
    ours, theirs = [
        [leaf for leaf in t.leaves() if leaf.label not in DELETED] for t in (gold, found)
    ]
    if not theirs:
        return Agreement(empty=1)
    if [leaf.word for leaf in ours] != [leaf.word for leaf in theirs]:
        return Agreement(errors=1)
    here, there = Counter(brackets(gold)), Counter(brackets(found))
    return Agreement(
        matched=(here & there).total(),
        gold=here.total(),
        found=there.total(),
        sentences=1,
        exact=int(here == there),
        words=len(ours),
        tags=sum(a.label == b.label for a, b in zip(ours, theirs, strict=True)),
    )


def agreement_of_all(gold: Iterable[Tree], found: Iterable[Tree]) -> Agreement:
    """Sum the counts over sentences."""
    return sum((agreement(a, b) for a, b in zip(gold, found, strict=True)), Agreement())


def brackets(tree: Tree) -> list[Bracket]:
    """Return a tree's brackets: label, first word, and the word after the last; words from 0.

    Punctuation and traces are no words, and what holds nothing else is no bracket.
    """
    found: list[Bracket] = []

    def read(part: Tree, start: int) -> int:
        if part.word is not None:
            return start + (part.label not in DELETED)
        end = start
        for child in part.children:
            end = read(child, end)
        label = without_function(part.label)
        if end > start and label not in DELETED:
            found.append((SAME.get(label, label), start, end))
        return end

    read(tree, 0)
    return found
