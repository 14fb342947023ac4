"""Which words of a sentence belong together, by rules for the sentences of the built-in corpus.

A link goes from the word that asks to the word it should find. Words are what spaces separate,
counted from 0. On other text the rules that know English grammar alone may still find some.
"""

import re
from dataclasses import dataclass

# Two parts of one construction with other words between them; `asks` looks for `finds`.
DISTANT = (
    r"\bman (?P<finds>who) (?:\S+ )+?on \S+ (?P<asks>comes) from",
    r"\b(?P<finds>woman) whom (?:\S+ )+?in \S+ (?P<asks>speaks)\b",
    r"\b(?P<finds>book) that (?:\S+ )+?is not (?P<asks>available)\b",
    r"\b(?P<finds>would) have (?:\S+ )+?(?P<asks>if) she\b",
    r"^(?P<finds>When) \S+ came (?:\S+ )+?had (?P<asks>already)\b",
    r"^(?P<finds>If) it rains (?:\S+ )+?(?P<asks>will)\b",
    r"\bcompany (?P<finds>that) (?:\S+ )+?in \d+ (?P<asks>sells)\b",
    r"\bhas been (?P<finds>moved) from (?:\S+ )+?(?P<asks>to)\b",
    r"\b(?P<finds>opens) at (?:\S+ )+?and (?P<asks>closes)\b",
)
# A pronoun looks for what it stands for.
ANAPHORA = (
    r"\bIs the (?P<finds>\S+) [^?]*\? \S+ cannot find (?P<asks>it)\.",
    r"\brepairs the (?P<finds>\S+) and sells (?P<asks>it) for\b",
    r"\bAlthough (?P<finds>\S+) was tired, (?P<asks>she)\b",
    r"\btold (?P<finds>\S+) that (?P<asks>she) must\b",
    r"(?P<finds>\S+) would have .* if (?P<asks>she) had\b",
    r"\bAfter (?P<finds>\S+) had worked .*, (?P<asks>she) moved\b",
    r"^(?P<finds>\S+) answered in \S+ although (?P<asks>she)\b",
    r"^(?P<finds>\S+) is not coming .* because (?P<asks>he)\b",
    r"\barrived in (?P<finds>\S+) .* stayed (?P<asks>there)\b",
)
# A new clause begins with one of these, or after a comma.
OPENERS = frozenset(
    ("although", "and", "because", "before", "but", "if", "instead", "that", "when", "whether",
     "which", "while", "who", "whom", "why", "without")
)  # fmt: skip
NEAREST = 3  # words apart, at least: nearer ones are no long distance


@dataclass(frozen=True)
class Link:
    """From the word that asks to the word it should find, both counted from 0."""

    asks: int
    finds: int


def distant(sentence: str) -> Link | None:
    """Return two distant parts of one construction, if a rule knows any."""
    link = _first(DISTANT, sentence)
    return link if link and abs(link.asks - link.finds) >= NEAREST else None


def anaphora(sentence: str) -> Link | None:
    """Return a pronoun and what it stands for, if a rule knows any."""
    return _first(ANAPHORA, sentence)


def clauses(sentence: str) -> list[int]:
    """Return the number of each word's clause."""
    number, found, comma = 0, [], False
    for place, word in enumerate(sentence.split()):
        if place and (comma or word.lower().strip(",.?!") in OPENERS):
            number += 1
        found.append(number)
        comma = word.endswith((",", "?", ";", ":"))
    return found


def _first(rules: tuple[str, ...], sentence: str) -> Link | None:
    for rule in rules:
        if match := re.search(rule, sentence):
            asks, finds = (len(sentence[: match.start(name)].split()) for name in ("asks", "finds"))
            return Link(asks, finds)
    return None
