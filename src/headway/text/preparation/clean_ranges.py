"""Cleaned ranges: what becomes of each pair of a range by itself, the text of those that are kept, and their digests."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from headway.config import TextConfig
from headway.text.cleaning import (
    KEPT,
    RULES,
    SHOWN,
    Decisions,
    Digests,
    FoundPairs,
    Report,
    Rule,
    broken_rule,
    digest_pair,
    digest_texts,
    shorten,
    to_numbers,
)
from headway.text.lines import Damaged
from headway.text.readers import Pair

Places = npt.NDArray[np.int64]
DIGEST = np.dtype([("digest", np.uint64), ("place", np.uint32)])
NOTHING, WHOLE, SIDE = range(3)  # what a pair has in common with held-out text
LATER: dict[str, int] = {
    Rule.HELD_OUT: 1,
    Rule.SIBLING: 1,
    Rule.TOKENS: 2,
}  # rules of the steps after cleaning, for the report


def clean_range(
    directory: Path,
    pairs: Sequence[Pair | Damaged],
    config: TextConfig,
    held_out: Digests,
    *,
    with_sides: bool,
) -> None:
    """Clean a range and write what `CleanRange` reads.

    Args:
        directory: An empty directory.
        pairs: The pairs of the range.
        config: The rules.
        held_out: The digests of validation and test text, from `digest_texts`.
        with_sides: Also write digests of each side, to hold validation text out.
    """
    decisions = np.zeros(len(pairs), np.uint8)
    texts = [("", "")] * len(pairs)
    examples: dict[str, str] = {}

    def drop(place: int, rule: str, example: str) -> None:
        decisions[place] = RULES.index(rule)
        texts[place] = "", ""
        examples.setdefault(rule, shorten(example))

    for place, pair in enumerate(pairs):
        if isinstance(pair, Damaged):
            drop(place, Rule.ELSEWHERE if pair.is_elsewhere else Rule.UNREADABLE, pair.reason)
            continue
        source, target = texts[place] = pair.source.strip(), pair.target.strip()
        if rule := broken_rule(source, target, config):
            drop(place, rule, f"{source} | {target}")
    kept = np.flatnonzero(decisions == KEPT)
    leaks = np.zeros(len(pairs), np.uint8)
    if len(held_out) or with_sides:
        loose = np.zeros((len(pairs), 3), np.uint64)
        loose[kept] = digest_texts(texts[place] for place in kept.tolist())
        leaks[kept] = find_shared(loose[kept], held_out[:, 0], held_out[:, 1:])
        if config.drop_leaks:
            for place in np.flatnonzero(leaks == WHOLE).tolist():
                drop(place, Rule.LEAK, " | ".join(texts[place]))
            leaks[leaks == WHOLE] = NOTHING
            kept = np.flatnonzero(decisions == KEPT)
    with (directory / "text").open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{source}\n{target}\n" for source, target in texts)
    (directory / "examples.json").write_text(json.dumps(examples))
    np.save(directory / "lines.npy", np.array([pair.line for pair in pairs], np.int64))
    np.save(directory / "decisions.npy", decisions)
    np.save(directory / "leaks.npy", leaks)
    if config.drop_duplicates:
        exact = to_numbers(digest_pair(*texts[place]) for place in kept.tolist())
        _save_sorted(directory / "exact", exact, kept)
    if with_sides:
        np.save(directory / "loose.npy", loose)
        _save_sorted(directory / "sides", loose[kept, 1:].reshape(-1), kept.repeat(2))


def find_shared(loose: Digests, wholes: Digests, sides: Digests) -> npt.NDArray[np.uint8]:
    """Return for each pair NOTHING, WHOLE or SIDE: what it has in common with held-out pairs.

    Args:
        loose: The digests of the pairs, [pairs, 3].
        wholes: Those of held-out pairs.
        sides: Those of the sides of held-out pairs.
    """
    found = np.full(len(loose), NOTHING, np.uint8)
    shares = np.isin(loose[:, 1:], sides).any(axis=1)
    found[shares] = np.where(np.isin(loose[shares, 0], wholes), WHOLE, SIDE)
    return found


def _save_sorted(file: Path, digests: Digests, places: Places) -> None:
    rows = np.empty(len(digests), DIGEST)
    rows["digest"], rows["place"] = digests, places
    rows[np.argsort(digests, kind="stable")].tofile(file)


@dataclass(frozen=True)
class CleanRange:
    """A cleaned range. The place of a pair is its number in the range, before cleaning.

    Attributes:
        directory: A directory that `clean_range` wrote.
    """

    directory: Path

    def load(self, name: str) -> npt.NDArray[Any]:
        """Return the values of all pairs.

        Args:
            name: "lines": the line of each pair in its file; "decisions": `Decisions`; "leaks": NOTHING, WHOLE or SIDE,
                of kept pairs; "loose": the digests of `digest_texts`, [pairs, 3].
        """
        values: npt.NDArray[Any] = np.load(self.directory / f"{name}.npy", mmap_mode="r")
        return values

    def texts(self, places: Places) -> Iterator[tuple[str, str]]:
        """Yield the sources and targets of some pairs."""
        lines = (self.directory / "text").read_bytes().split(b"\n")
        for place in places.tolist():
            yield lines[2 * place].decode(), lines[2 * place + 1].decode()

    def digests(self, kind: str, start: int = 0, count: int = -1) -> npt.NDArray[np.void]:
        """Return digests of kept pairs in ascending order, and the places of the pairs, as `DIGEST`.

        Args:
            kind: "exact": of whole pairs, equal ones in the order of the text; "sides": of each side.
            start: The number of the first one.
            count: How many; -1: all others.
        """
        offset = start * DIGEST.itemsize
        return np.fromfile(self.directory / kind, DIGEST, count, offset=offset)

    def count_pairs(self, found: FoundPairs, places: Places, rule: str = "") -> None:
        """Add pairs of this range, that a rule found, to those of earlier ranges."""
        example = ""
        if len(places) and not found.count:
            examples = json.loads((self.directory / "examples.json").read_bytes())
            example = examples.get(rule) or shorten(" | ".join(*self.texts(places[:1])))
        lines = self.load("lines")[places[:SHOWN]].tolist()
        found.extend(FoundPairs(len(places), lines, example))


def make_report(ranges: Iterable[tuple[CleanRange, Decisions]]) -> Report:
    """Return the report of a text from what becomes of the pairs of each range."""
    report = Report()
    for cleaned, decisions in ranges:
        report.read += len(decisions)
        report.kept += int((decisions == KEPT).sum())
        _, firsts = np.unique(decisions, return_index=True)
        for decision in decisions[np.sort(firsts)].tolist():
            if decision != KEPT:
                found = report.dropped.setdefault(RULES[decision], FoundPairs())
                cleaned.count_pairs(found, np.flatnonzero(decisions == decision), RULES[decision])
        leaks = cleaned.load("leaks") * (decisions != RULES.index(Rule.DUPLICATE))
        cleaned.count_pairs(report.leaks_kept, np.flatnonzero(leaks == WHOLE))
        cleaned.count_pairs(report.half_leaks, np.flatnonzero(leaks == SIDE))
    rules = sorted(report.dropped.items(), key=lambda item: LATER.get(item[0], 0))
    report.dropped = dict(rules)
    return report
