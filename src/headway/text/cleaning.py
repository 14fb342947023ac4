"""The cleaning rules: which pairs are fit for training, and a report of the others."""

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from headway.config import TextConfig
from headway.text.lines import SURROGATE
from headway.text.words import count_letters

Digests = npt.NDArray[np.uint64]
# What becomes of each pair: KEPT, or the place in RULES of the rule that drops it.
Decisions = npt.NDArray[np.uint8]


def digest_pair(source: str, target: str) -> bytes:
    """Return the digest of a pair."""
    return blake2b(f"{source}\n{target}".encode(), digest_size=8).digest()


def digest_loosely(source: str, target: str) -> tuple[bytes, bytes, bytes]:
    """Return digests of a pair and of each side alone; letter case and white space do not matter."""
    source, target = (" ".join(side.casefold().split()) for side in (source, target))
    return digest_pair(source, target), digest_pair(source, "\n"), digest_pair("\n", target)


def digest_texts(texts: Iterable[tuple[str, str]]) -> Digests:
    """Return the digests of `digest_loosely`, [pairs, 3]."""
    return to_numbers(digest for text in texts for digest in digest_loosely(*text)).reshape(-1, 3)


def to_numbers(digests: Iterable[bytes]) -> Digests:
    """Return digests as numbers, which have the order of the bytes."""
    return np.frombuffer(b"".join(digests), ">u8").astype(np.uint64)


SHOWN = 5  # line numbers in the report for each rule
EXAMPLE_CHARACTERS = 60
SLACK = 10  # letters added to both lengths of a ratio, because short sentences vary more

FEW_WORDS = 4  # a shorter target is often a correct copy: a name, a title, an address

# Every control character that is not white space (Unicode category Cc).
_CONTROL = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
_WORD = re.compile(r"[^\W\d_]{2,}")

KEPT = 0


class Rule(StrEnum):
    """Why a pair is dropped, as a report says it."""

    UNREADABLE = "cannot be read"
    ELSEWHERE = "not in both languages"
    EMPTY = "a side is empty"
    CONTROL = "control characters"
    LONG = "more than max_characters"
    RATIO = "lengths differ by more than max_ratio"
    COPIED = "more than max_copied of the target's words stand in the source"
    IDENTICAL = "both sides are the same"
    LEAK = "also in validation or test text"
    DUPLICATE = "occurs before"
    HELD_OUT = "held out as validation text"
    SIBLING = "one side is also in the held-out validation text"
    TOKENS = "more than max_tokens"


RULES = ("", *Rule)  # by the numbers of `Decisions`

MOST = 0.9  # a share of the text that is rarely dropped on purpose
MANY = 0.3  # a share of translations that rarely differ in length as much as wrong pairs do
# Rules that drop more than a share of the text together, and what keeps these pairs.
_ADVICE = (
    ({Rule.EMPTY}, MOST, "--text.drop-empty false keeps them"),
    ({Rule.CONTROL}, MOST, "--text.drop-control false keeps them"),
    ({Rule.LONG}, MOST, "--text.max-characters 0 keeps them"),
    (
        {Rule.RATIO, Rule.IDENTICAL, Rule.COPIED},
        MOST,
        "if they are copies or summaries, not translations, use --text.compare-sides false",
    ),
    ({Rule.RATIO}, MANY, "if they are good translations, a larger --text.max-ratio keeps them"),
    ({Rule.LEAK}, MOST, "--text.drop-leaks false keeps them"),
    ({Rule.DUPLICATE}, MOST, "--text.drop-duplicates false keeps them"),
    ({Rule.TOKENS}, MOST, "a larger --text.max-tokens keeps them"),
)


@dataclass
class FoundPairs:
    """The pairs that one rule found.

    Args:
        count: The number of pairs.
        lines: The line numbers of the first pairs in their file.
        example: The first pair, or what is wrong with it; see `shorten`.
    """

    count: int = 0
    lines: list[int] = field(default_factory=list)
    example: str = ""

    def extend(self, later: "FoundPairs") -> None:
        """Add the pairs that the rule found further on in the text."""
        if not self.count:
            self.example = later.example
        self.lines = (self.lines + later.lines)[:SHOWN]
        self.count += later.count


@dataclass
class Report:
    """The report of a cleaning.

    Args:
        read: Number of pairs read, damaged ones included.
        kept: Number of pairs kept.
        dropped: Rule -> the pairs that it dropped, in the order of the first find.
        leaks_kept: Kept pairs that are also in validation or test text.
        half_leaks: Kept pairs with only one side in validation or test text.
        tokens: Side -> subwords in the kept pairs.
    """

    read: int = 0
    kept: int = 0
    dropped: dict[str, FoundPairs] = field(default_factory=dict)
    leaks_kept: FoundPairs = field(default_factory=FoundPairs)
    half_leaks: FoundPairs = field(default_factory=FoundPairs)
    tokens: dict[str, int] = field(default_factory=dict)

    def extend(self, later: "Report") -> None:
        """Add the report of text further on."""
        self.read += later.read
        self.kept += later.kept
        for rule, found in later.dropped.items():
            self.dropped.setdefault(rule, FoundPairs()).extend(found)
        self.leaks_kept.extend(later.leaks_kept)
        self.half_leaks.extend(later.half_leaks)

    def findings(self) -> dict[str, FoundPairs]:
        """Return the dropped pairs by rule, the most frequent rule first."""
        return dict(sorted(self.dropped.items(), key=lambda item: -item[1].count))

    def advice(self) -> str:
        """Return what to do if rules that one setting switches dropped too many pairs, else an empty string."""
        findings = self.findings()
        for rules, share, remedy in _ADVICE:
            found = {rule: findings[rule].count for rule in findings if rule in rules}
            if (count := sum(found.values())) > share * self.read:
                reasons = ", or ".join(found)
                return (
                    f"{count:,} of {self.read:,} training pairs were dropped ({reasons}): {remedy}"
                )
        return ""

    def to_dict(self) -> dict[str, object]:
        """Return the report as plain values, for JSON."""
        return {
            "read": self.read,
            "kept": self.kept,
            "advice": self.advice(),
            "tokens": self.tokens,
            "dropped": {rule: asdict(found) for rule, found in self.findings().items()},
            "leaks_kept": asdict(self.leaks_kept),
            "half_leaks": asdict(self.half_leaks),
        }

    def to_text(self) -> str:
        """Return the report as a table."""
        rows = [("pairs read", FoundPairs(self.read)), ("pairs kept", FoundPairs(self.kept))]
        rows += [(f"dropped: {rule}", found) for rule, found in self.findings().items()]
        kept = (
            (f"kept, though {Rule.LEAK}", self.leaks_kept),
            ("kept: one side is in validation or test text", self.half_leaks),
        )
        rows += [(name, found) for name, found in kept if found.count]
        width = max(len(name) for name, _ in rows)
        table = []
        for name, found in rows:
            share = 100 * found.count / max(self.read, 1)
            more = ", ..." if found.count > len(found.lines) else ""
            lines = ", ".join(map(str, found.lines)) + more
            where = f"   line {lines}: {found.example}" if found.lines else ""
            table.append(f"{name:{width}} {found.count:12,} {share:5.1f} %{where}")
        for side, count in self.tokens.items():
            table.append(f"{f'{side} tokens':{width}} {count:12,}")
        table += filter(None, [self.advice()])
        return "\n".join(table)


def broken_rule(source: str, target: str, config: TextConfig) -> Rule | None:
    """Return the first rule that a pair breaks by itself, or None; other pairs do not matter."""
    shortest, longest = sorted((len(source), len(target)))
    if SURROGATE.search(source) or SURROGATE.search(target):
        return Rule.UNREADABLE
    if config.drop_empty and not shortest:
        return Rule.EMPTY
    if config.drop_control and (_CONTROL.search(source) or _CONTROL.search(target)):
        return Rule.CONTROL
    if config.max_characters and longest > config.max_characters:
        return Rule.LONG
    return _broken_comparison(source, target, config) if config.compare_sides else None


def _broken_comparison(source: str, target: str, config: TextConfig) -> Rule | None:
    """Return the first rule of translations that a pair breaks: copies and summaries break them, too."""
    shortest, longest = sorted((count_letters(source), count_letters(target)))
    if config.max_ratio and longest + SLACK > config.max_ratio * (shortest + SLACK):
        return Rule.RATIO
    if config.drop_identical and source == target:
        return Rule.IDENTICAL
    if config.max_copied and _copied(source, target) > config.max_copied:
        return Rule.COPIED
    return None


def _copied(source: str, target: str) -> float:
    """Return the share of the target's words that are also in the source; 0 for a short target."""
    words = _WORD.findall(target.casefold())
    if len(words) < FEW_WORDS:
        return 0.0
    source_words = set(_WORD.findall(source.casefold()))
    return sum(word in source_words for word in words) / len(words)


def shorten(text: str) -> str:
    """Return the beginning of a text, with control characters escaped."""
    start = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text[:EXAMPLE_CHARACTERS])
    return start + "..." * (len(text) > EXAMPLE_CHARACTERS)
