"""Which words of a sentence belong together, by rules for the sentences of the built-in corpus.

A link goes from a query word to the key word that attention should find. Words are separated by spaces and
counted from 0. On other text only the rules of general English grammar may find some.
"""

import re
from dataclasses import dataclass

# Two parts of one construction with other words between them.
DISTANT = (
    r"\bman (?P<key>who) (?:\S+ )+?on \S+ (?P<query>comes) from",
    r"\b(?P<key>woman) whom (?:\S+ )+?in \S+ (?P<query>speaks)\b",
    r"\b(?P<key>book) that (?:\S+ )+?is not (?P<query>available)\b",
    r"\b(?P<key>would) have (?:\S+ )+?(?P<query>if) she\b",
    r"^(?P<key>When) \S+ came (?:\S+ )+?had (?P<query>already)\b",
    r"^(?P<key>If) it rains (?:\S+ )+?(?P<query>will)\b",
    r"\bcompany (?P<key>that) (?:\S+ )+?in \d+ (?P<query>sells)\b",
    r"\bhas been (?P<key>moved) from (?:\S+ )+?(?P<query>to)\b",
    r"\b(?P<key>opens) at (?:\S+ )+?and (?P<query>closes)\b",
)
# A pronoun, the query, and the noun that it stands for, the key.
ANAPHORA = (
    r"\bIs the (?P<key>\S+) [^?]*\? \S+ cannot find (?P<query>it)\.",
    r"\brepairs the (?P<key>\S+) and sells (?P<query>it) for\b",
    r"\bAlthough (?P<key>\S+) was tired, (?P<query>she)\b",
    r"\btold (?P<key>\S+) that (?P<query>she) must\b",
    r"(?P<key>\S+) would have .* if (?P<query>she) had\b",
    r"\bAfter (?P<key>\S+) had worked .*, (?P<query>she) moved\b",
    r"^(?P<key>\S+) answered in \S+ although (?P<query>she)\b",
    r"^(?P<key>\S+) is not coming .* because (?P<query>he)\b",
    r"\barrived in (?P<key>\S+) .* stayed (?P<query>there)\b",
)
# A new clause begins with one of these, or after a comma.
OPENERS = frozenset(
    ("although", "and", "because", "before", "but", "if", "instead", "that", "when", "whether",
     "which", "while", "who", "whom", "why", "without")
)  # fmt: skip
LEAST_DISTANCE = 3  # words: a shorter distance is not long


@dataclass(frozen=True)
class WordLink:
    """From a query word to the key word that it should find, both counted from 0."""

    query: int
    key: int


def find_distant(sentence: str) -> WordLink | None:
    """Return two distant parts of one construction, if a rule fits."""
    link = _first(DISTANT, sentence)
    return link if link and abs(link.query - link.key) >= LEAST_DISTANCE else None


def find_anaphora(sentence: str) -> WordLink | None:
    """Return a pronoun and the noun that it stands for, if a rule fits."""
    return _first(ANAPHORA, sentence)


def number_clauses(sentence: str) -> list[int]:
    """Return the number of each word's clause, from 0."""
    number, numbers, comma = 0, [], False
    for position, word in enumerate(sentence.split()):
        if position and (comma or word.lower().strip(",.?!") in OPENERS):
            number += 1
        numbers.append(number)
        comma = word.endswith((",", "?", ";", ":"))
    return numbers


def _first(rules: tuple[str, ...], sentence: str) -> WordLink | None:
    for rule in rules:
        if match := re.search(rule, sentence):
            query, key = (len(sentence[: match.start(name)].split()) for name in ("query", "key"))
            return WordLink(query, key)
    return None
