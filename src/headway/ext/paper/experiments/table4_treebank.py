"""Sentences with their trees, made by rules: a treebank for those who have none.

The grammar is small, but a parser must look further than neighbors: verbs agree with nouns over words in
between, ``of`` belongs to the noun before it and other prepositions to the verb, clauses nest.
"""

import random
from collections.abc import Sequence

from headway.ext.paper.parsing.trees import Tree

NOUNS = (
    "dog", "teacher", "river", "painter", "house", "letter", "garden", "king", "bridge", "child",
    "student", "village", "window", "friend", "story", "doctor", "farmer", "song", "ship", "market",
)  # fmt: skip
ADJECTIVES = ("old", "green", "quiet", "large", "famous", "young", "cold", "strange", "happy")
NAMES = ("Anna", "Peter", "Maria", "London", "Berlin", "Paris", "John", "Clara")
TRANSITIVE = ("see", "paint", "visit", "answer", "follow", "remember", "help")
INTRANSITIVE = ("sleep", "wait", "listen", "appear", "work", "travel")
SAYING = ("say", "think", "know", "hope")
PLACES = ("in", "near", "with", "behind", "without", "after")
ADVERBS = ("often", "quietly", "never", "gladly", "soon")


def make_treebank(count: int, seed: int = 1) -> list[Tree]:
    """Return this many different trees, always the same for a seed."""
    grammar = _Grammar(random.Random(seed))
    found: dict[str, Tree] = {}
    while len(found) < count:
        tree = Tree("ROOT", (grammar.sentence(),))
        found.setdefault(" ".join(tree.words()), tree)
    return list(found.values())


class _Grammar:
    def __init__(self, random: random.Random) -> None:
        self.random = random

    def sentence(self) -> Tree:
        subject, verb = self.clause(0)
        return Tree("S", (subject, verb, Tree(".", word=".")))

    def clause(self, depth: int) -> tuple[Tree, Tree]:
        plural = self.chance(0.4)
        return self.noun_phrase(plural, depth), self.verb_phrase(plural, depth)

    def noun_phrase(self, plural: bool, depth: int) -> Tree:
        if not plural and self.chance(0.15):
            return Tree("NP", (Tree("NNP", word=self.pick(NAMES)),))
        determiner = self.pick(("the", "some", "these") if plural else ("the", "a", "this"))
        words = [Tree("DT", word=determiner)]
        words += [
            Tree("JJ", word=self.pick(ADJECTIVES)) for _ in range(self.random.randrange(3) // 2)
        ]
        noun = self.pick(NOUNS)
        tag, noun = ("NNS", _plural(noun)) if plural else ("NN", noun)
        found = Tree("NP", (*words, Tree(tag, word=noun)))
        if depth < 3 and self.chance(0.25):
            found = Tree("NP", (found, self.phrase("of", depth + 1)))
        elif depth < 2 and self.chance(0.15):
            who = Tree("WHNP", (Tree("WP", word="who"),))
            inner = Tree("S", (self.verb_phrase(plural, depth + 1),))
            found = Tree("NP", (found, Tree("SBAR", (who, inner))))
        return found

    def phrase(self, preposition: str, depth: int) -> Tree:
        inner = self.noun_phrase(self.chance(0.4), depth)
        return Tree("PP", (Tree("IN", word=preposition), inner))

    def verb_phrase(self, plural: bool, depth: int) -> Tree:
        kind = self.random.random()
        tag, end = ("VBP", "") if plural else ("VBZ", "s")
        if kind < 0.15 and depth < 2:
            clause = Tree("SBAR", (Tree("IN", word="that"), Tree("S", self.clause(depth + 1))))
            return Tree("VP", (Tree(tag, word=self.pick(SAYING) + end), clause))
        if kind < 0.5:
            parts = [Tree(tag, word=self.pick(INTRANSITIVE) + end)]
        else:
            parts = [Tree(tag, word=self.pick(TRANSITIVE) + end)]
            parts.append(self.noun_phrase(self.chance(0.4), depth + 1))
        if self.chance(0.4):
            parts.append(self.phrase(self.pick(PLACES), depth + 1))
        if self.chance(0.2):
            parts.insert(0, Tree("ADVP", (Tree("RB", word=self.pick(ADVERBS)),)))
        return Tree("VP", tuple(parts))

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def pick(self, words: Sequence[str]) -> str:
        return self.random.choice(words)


def _plural(noun: str) -> str:
    if noun == "child":
        return "children"
    return noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
