"""Which pairs are fit for training, and a report of those that are not."""

import re
from array import array
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from headway.config import TextConfig
from headway.text.lines import Damaged
from headway.text.readers import Pair

SHOWN = 5  # line numbers kept for each rule
SLACK = 10  # characters added to both sides of a ratio: short sentences vary more

FEW_WORDS = 4  # below, a target may well be copied: names, titles, addresses

# Every control character that is not white space (Unicode category Cc).
_CONTROL = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
_WORD = re.compile(r"[^\W\d_]{2,}")
_SURROGATE = re.compile("[\ud800-\udfff]")  # half a character, as JSON can spell it: no text

UNREADABLE = "cannot be read"
EMPTY = "a side is empty"
CONTROL = "control characters"
LONG = "more than max_characters"
RATIO = "lengths differ by more than max_ratio"
COPIED = "more than max_copied of the target's words stand in the source"
IDENTICAL = "both sides are the same"
LEAK = "also in validation or test text"
HALF = "one side is in validation or test text"
DUPLICATE = "occurs before"
TOKENS = "more than max_tokens"


@dataclass
class Finding:
    """The pairs that one rule found.

    Args:
        count: How many.
        lines: Numbers of the first of them in their file.
        example: The first of them, shortened, or what is wrong with it.
    """

    count: int = 0
    lines: list[int] = field(default_factory=list)
    example: str = ""

    def add(self, line: int, example: str) -> None:
        """Count a pair."""
        if not self.count:
            self.example = _shortened(example)
        if len(self.lines) < SHOWN:
            self.lines.append(line)
        self.count += 1


@dataclass
class Report:
    """What happened to the pairs of a corpus.

    Args:
        read: Pairs that came in, damaged ones included.
        kept: Pairs that are left.
        dropped: Rule -> what it dropped, in the order of the first find.
        leaks_kept: Pairs that are also in validation or test text and were kept all the same.
        half_leaks: Kept pairs of which one side alone is in validation or test text.
        tokens: Side -> pieces in the pairs that are left.
    """

    read: int = 0
    kept: int = 0
    dropped: dict[str, Finding] = field(default_factory=dict)
    leaks_kept: Finding = field(default_factory=Finding)
    half_leaks: Finding = field(default_factory=Finding)
    tokens: dict[str, int] = field(default_factory=dict)

    def drop(self, rule: str, line: int, example: str) -> None:
        """Count a pair that a rule drops."""
        self.dropped.setdefault(rule, Finding()).add(line, example)

    def findings(self) -> dict[str, Finding]:
        """Return what each rule dropped, the most first."""
        return dict(sorted(self.dropped.items(), key=lambda item: -item[1].count))

    def summary(self) -> str:
        """Return one line: what was read, kept and dropped, and where first."""
        parts = [f"{self.read} read, {self.kept} kept"]
        for rule, found in self.findings().items():
            where = f" (first: line {found.lines[0]}, {found.example})" if found.lines else ""
            parts.append(f"{found.count} dropped: {rule}{where}")
        return "; ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values, for JSON."""
        return {
            "read": self.read,
            "kept": self.kept,
            "tokens": self.tokens,
            "dropped": {rule: vars(found) for rule, found in self.findings().items()},
            "leaks_kept": vars(self.leaks_kept),
            "half_leaks": vars(self.half_leaks),
        }

    def to_text(self) -> str:
        """Return the report as a table for people."""
        rows = [("pairs read", Finding(self.read)), ("pairs kept", Finding(self.kept))]
        rows += [(f"dropped: {rule}", found) for rule, found in self.findings().items()]
        kept = ((f"kept, though {LEAK}", self.leaks_kept), (f"kept: {HALF}", self.half_leaks))
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
        return "\n".join(table)


def clean(
    pairs: Iterable[Pair | Damaged],
    config: TextConfig,
    report: Report,
    unseen: Set[bytes] = frozenset(),
) -> Iterator[Pair]:
    """Yield the pairs that are fit for training, without the white space around their sides.

    Memory grows by at most 32 bytes for each pair kept, for finding duplicates; by nothing if
    ``config.drop_duplicates`` is off.

    Args:
        pairs: As `read_pairs` delivers them.
        config: The rules.
        report: Counts what is read, kept and dropped.
        unseen: `held_out` of the validation and test text.
    """
    kept = Digests()
    for pair in pairs:
        report.read += 1
        if isinstance(pair, Damaged):
            report.drop(UNREADABLE, pair.line, pair.reason)
            continue
        source, target, line = pair.source.strip(), pair.target.strip(), pair.line
        rule = fault(source, target, config)
        found = None
        if rule is None and unseen:
            whole, *halves = _traces(source, target)
            if whole in unseen:
                rule = LEAK if config.drop_leaks else None
                found = report.leaks_kept
            elif not unseen.isdisjoint(halves):
                found = report.half_leaks
        if rule is None and config.drop_duplicates and not kept.add(_digest(source, target)):
            rule = DUPLICATE
        if rule is None:
            if found:
                found.add(line, f"{source} | {target}")
            report.kept += 1
            yield Pair(source, target, line)
        else:
            report.drop(rule, line, f"{source} | {target}")


def fault(source: str, target: str, config: TextConfig) -> str | None:
    """Return the rule that a pair breaks by itself, whatever the other pairs are, or None."""
    shortest, longest = sorted((len(source), len(target)))
    if _SURROGATE.search(source) or _SURROGATE.search(target):
        return UNREADABLE
    if config.drop_empty and not shortest:
        return EMPTY
    if config.drop_control and (_CONTROL.search(source) or _CONTROL.search(target)):
        return CONTROL
    if config.max_characters and longest > config.max_characters:
        return LONG
    if config.max_ratio and longest + SLACK > config.max_ratio * (shortest + SLACK):
        return RATIO
    if config.drop_identical and source == target:
        return IDENTICAL
    if config.max_copied and _copied(source, target) > config.max_copied:
        return COPIED
    return None


def _copied(source: str, target: str) -> float:
    """Return the share of the target's words that the source has too; 0 if they are few."""
    words = _WORD.findall(target.casefold())
    if len(words) < FEW_WORDS:
        return 0.0
    known = set(_WORD.findall(source.casefold()))
    return sum(word in known for word in words) / len(words)


def held_out(pairs: Iterable[Pair]) -> set[bytes]:
    """Return what `clean` needs to find the validation and test text among other pairs.

    Args:
        pairs: They and their sides are found again whatever their letter case and white space.
    """
    return {trace for pair in pairs for trace in _traces(pair.source, pair.target)}


class Digests:
    """A set of 8-byte digests in 16 to 32 bytes each, where Python's own set takes about 100.

    One table of integers, at most half full; a digest lies at its place or at the next free one.
    """

    def __init__(self) -> None:
        self._table = array("Q", [0]) * 1024
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, digest: bytes) -> bool:
        """Add a digest and return whether it is new."""
        key = int.from_bytes(digest, "little") or 1  # 0 marks a free place
        place = _place(self._table, key)
        if self._table[place]:
            return False
        self._table[place] = key
        self._count += 1
        if 2 * self._count > len(self._table):
            larger = array("Q", [0]) * (2 * len(self._table))
            for held in self._table:
                if held:
                    larger[_place(larger, held)] = held
            self._table = larger
        return True


def _place(table: "array[int]", key: int) -> int:
    """Return where a key lies in a table, or the free place where it would."""
    last = len(table) - 1
    place = key & last
    while table[place] not in (0, key):
        place = (place + 1) & last
    return place


def _digest(source: str, target: str) -> bytes:
    return blake2b(f"{source}\n{target}".encode(), digest_size=8).digest()


def _traces(source: str, target: str) -> tuple[bytes, bytes, bytes]:
    """Digests of a pair and of each side alone, whatever their letter case and white space."""
    source, target = (" ".join(side.casefold().split()) for side in (source, target))
    return _digest(source, target), _digest(source, "\n"), _digest("\n", target)


def _shortened(text: str, width: int = 60) -> str:
    """Return the beginning of a text, without anything that a terminal would act on."""
    start = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text[:width])
    return start + "..." * (len(text) > width)
