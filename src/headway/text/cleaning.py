"""The cleaning rules: which pairs are fit for training, and a report of the others."""

import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field

from headway.config import TextConfig
from headway.text.digests import Digests, digest_loosely, digest_pair
from headway.text.lines import SURROGATE, Damaged
from headway.text.readers import Pair

SHOWN = 5  # line numbers in the report for each rule
EXAMPLE_CHARACTERS = 60
SLACK = 10  # characters added to both lengths of a ratio, because short sentences vary more

FEW_WORDS = 4  # a shorter target is often a correct copy: a name, a title, an address

# Every control character that is not white space (Unicode category Cc).
_CONTROL = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
_WORD = re.compile(r"[^\W\d_]{2,}")

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
HELD_OUT = "held out as validation text"
SIBLING = "one side is also in the held-out validation text"
TOKENS = "more than max_tokens"


@dataclass
class Finding:
    """The pairs that one rule found.

    Args:
        count: The number of pairs.
        lines: The line numbers of the first pairs in their file.
        example: The first pair, shortened, or what is wrong with it.
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
    dropped: dict[str, Finding] = field(default_factory=dict)
    leaks_kept: Finding = field(default_factory=Finding)
    half_leaks: Finding = field(default_factory=Finding)
    tokens: dict[str, int] = field(default_factory=dict)

    def drop(self, rule: str, line: int, example: str) -> None:
        """Count a pair that a rule drops."""
        self.dropped.setdefault(rule, Finding()).add(line, example)

    def findings(self) -> dict[str, Finding]:
        """Return the dropped pairs by rule, the most frequent rule first."""
        return dict(sorted(self.dropped.items(), key=lambda item: -item[1].count))

    def summary(self) -> str:
        """Return the report in one line, with the first dropped pair of each rule."""
        parts = [f"{self.read} read, {self.kept} kept"]
        for rule, found in self.findings().items():
            where = f" (first: line {found.lines[0]}, {found.example})" if found.lines else ""
            parts.append(f"{found.count} dropped: {rule}{where}")
        return "; ".join(parts)

    def to_dict(self) -> dict[str, object]:
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
        """Return the report as a table."""
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
    held_out: Set[bytes] = frozenset(),
) -> Iterator[Pair]:
    """Yield the pairs that are fit for training, without white space at the ends of their sides.

    To find duplicates, memory grows by at most 32 bytes for each kept pair, unless
    ``config.drop_duplicates`` is off.

    Args:
        pairs: Pairs as `read_pairs` yields them.
        config: The rules.
        report: Pairs read, kept and dropped are added to it.
        held_out: The digests of the validation and test text, from `digest_held_out`.
    """
    kept = Digests()
    for pair in pairs:
        report.read += 1
        if isinstance(pair, Damaged):
            report.drop(UNREADABLE, pair.line, pair.reason)
            continue
        source, target, line = pair.source.strip(), pair.target.strip(), pair.line
        rule = broken_rule(source, target, config)
        found = None
        if rule is None and held_out:
            whole, *halves = digest_loosely(source, target)
            if whole in held_out:
                rule = LEAK if config.drop_leaks else None
                found = report.leaks_kept
            elif not held_out.isdisjoint(halves):
                found = report.half_leaks
        if rule is None and config.drop_duplicates and not kept.add(digest_pair(source, target)):
            rule = DUPLICATE
        if rule is None:
            if found:
                found.add(line, f"{source} | {target}")
            report.kept += 1
            yield Pair(source, target, line)
        else:
            report.drop(rule, line, f"{source} | {target}")


def broken_rule(source: str, target: str, config: TextConfig) -> str | None:
    """Return the first rule that a pair breaks by itself, or None; other pairs do not matter."""
    shortest, longest = sorted((len(source), len(target)))
    if SURROGATE.search(source) or SURROGATE.search(target):
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
    """Return the share of the target's words that are also in the source; 0 for a short target."""
    words = _WORD.findall(target.casefold())
    if len(words) < FEW_WORDS:
        return 0.0
    source_words = set(_WORD.findall(source.casefold()))
    return sum(word in source_words for word in words) / len(words)


def digest_held_out(pairs: Iterable[Pair]) -> set[bytes]:
    """Return digests by which `clean` finds validation and test pairs, and their sides alone.

    Letter case and white space do not matter.
    """
    return {digest for pair in pairs for digest in digest_loosely(pair.source, pair.target)}


def _shortened(text: str) -> str:
    """Return the beginning of a text, with control characters escaped."""
    start = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text[:EXAMPLE_CHARACTERS])
    return start + "..." * (len(text) > EXAMPLE_CHARACTERS)
