"""The selection: which cleaned pairs are training text, and which ones are held out for validation.

The choice of validation text depends on the text alone: the pairs with the smallest digests are held out,
wherever they stand in the file. If the training text grows, most of them are held out again.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from headway.errors import UsageError
from headway.text.cleaning import DUPLICATE, HELD_OUT, SIBLING, FoundPairs, Report, digest_loosely
from headway.text.preparation.clean_ranges import HALF_LEAKED, PLAIN, CleanRange, Digests
from headway.text.readers import Pair

KEPT, REPEATED, CHOSEN, SHARES_A_SIDE = range(4)  # what becomes of a cleaned pair
Decisions = npt.NDArray[np.uint8]


class CleanedText(Protocol):
    """Cleaned pairs among which some are chosen, such as a `CleanRange`."""

    def __len__(self) -> int:
        """Return the number of pairs."""

    def lines(self) -> npt.NDArray[np.int64]:
        """Return the line of each pair in its file."""

    def loose_digests(self) -> Digests:
        """Return the digests of `digest_loosely`, [pairs, 3]."""

    def report(self) -> Report:
        """Return the report of the rules that pairs break by themselves."""


class ChosenPair(NamedTuple):
    """A pair that is held out for validation. Pairs are chosen in ascending order.

    Attributes:
        is_repeated: Whether another pair has its source or its target: holding it out costs the training
            text other pairs.
        digest: Of the pair.
        line: Its line in the file.
        range: Its range.
        place: Its place among the cleaned pairs of the range.
    """

    is_repeated: bool
    digest: bytes
    line: int
    range: int
    place: int


def choose_validation(
    ranges: Sequence[CleanedText],
    count: int,
    read_duplicates: Callable[[int], npt.NDArray[np.int64]],
    read_repeated: Callable[[int], npt.NDArray[np.int64]],
) -> list[ChosenPair]:
    """Choose pairs for validation, in the order of the text.

    A pair is preferred if no other pair has its source or its target. Letter case and white space do not
    matter.

    Args:
        ranges: The cleaned text.
        count: The number of pairs to choose.
        read_duplicates: Range -> the pairs that occur before.
        read_repeated: Range -> the places of the sides that occur in several pairs.

    Raises:
        UsageError: If the count is 0 or more than half of the text.
    """
    chosen: list[ChosenPair] = []
    total = 0
    for number, cleaned in enumerate(ranges):
        is_candidate = np.ones(len(cleaned), np.bool_)
        is_candidate[read_duplicates(number)] = False
        total += int(is_candidate.sum())
        is_repeated = np.zeros(len(cleaned), np.bool_)
        is_repeated[read_repeated(number) // 2] = True
        # Digests are compared as bytes, so the first byte is the highest.
        digests = cleaned.loose_digests()[:, 0].astype("<u8").view(">u8").astype(np.uint64)
        if len(chosen) == count and count:
            last = chosen[-1]
            smaller = digests <= np.uint64(int.from_bytes(last.digest, "big"))
            is_candidate &= (is_repeated < last.is_repeated) | (
                (is_repeated == last.is_repeated) & smaller
            )
        indices = np.flatnonzero(is_candidate)
        order = np.lexsort((digests[indices], is_repeated[indices]))[:count]  # of equals the first
        lines = cleaned.lines()
        chosen += [
            ChosenPair(
                bool(is_repeated[i]),
                int(digests[i]).to_bytes(8, "big"),
                int(lines[i]),
                number,
                int(i),
            )
            for i in indices[order]
        ]
        chosen = sorted(chosen)[:count]
    if not 1 <= count <= total // 2:
        report = Report()
        for cleaned in ranges:
            report.extend(cleaned.report())
        if repeated := sum(map(len, ranges)) - total:
            report.dropped[DUPLICATE] = FoundPairs(repeated)
        raise UsageError(
            f"--valid {count}: must be from 1 to {total // 2:,}, half of the {total:,} pairs of the cleaned training"
            f" text, or files{'; ' * bool(report.advice())}{report.advice()}"
        )
    return sorted(chosen, key=lambda pair: pair.line)


def read_chosen(ranges: Sequence[CleanRange], chosen: Sequence[ChosenPair]) -> list[Pair]:
    """Return the text of the pairs that `choose_validation` chose, in the same order."""
    texts: dict[tuple[int, int], tuple[str, str]] = {}
    for number, places in _by_range(chosen).items():
        for place, text in zip(places.tolist(), ranges[number].some_pairs(places), strict=True):
            texts[number, place] = text
    return [Pair(*texts[c.range, c.place], c.line) for c in chosen]


class HeldOut(NamedTuple):
    """Digests of pairs that are held out of a group.

    Attributes:
        wholes: Of the pairs, [pairs].
        sides: Of their sources and targets.
    """

    wholes: Digests
    sides: Digests


def digest_held_out(pairs: Sequence[Pair], *, in_both_orders: bool) -> HeldOut:
    """Return the digests of pairs that are held out.

    Args:
        pairs: The pairs.
        in_both_orders: Also digest a source as a target, and a target as a source, for other groups.
    """
    rows = [digest_loosely(pair.source, pair.target) for pair in pairs]
    sides = [row[1:] for row in rows]
    if in_both_orders:
        sides += [digest_loosely(pair.target, pair.source)[1:] for pair in pairs]
    wholes = b"".join(row[0] for row in rows)
    return HeldOut(
        np.frombuffer(wholes, "<u8"),
        np.frombuffer(b"".join(d for two in sides for d in two), "<u8"),
    )


def write_decisions(
    directory: Path,
    ranges: Sequence[CleanRange],
    held_out: Sequence[HeldOut],
    group: int,
    read_duplicates: Callable[[int], npt.NDArray[np.int64]],
) -> int:
    """Write what becomes of each cleaned pair of a group, and return the number of kept pairs.

    A pair is not kept if it occurs before, or has a side in common with a pair that is held out of any
    group.

    Args:
        directory: Where `read_decisions` reads.
        ranges: The cleaned text of the group.
        held_out: For each group the digests of the pairs that are held out.
        group: The number of the group.
        read_duplicates: Range -> the pairs that occur before.
    """
    wholes = held_out[group].wholes
    sides = np.concatenate([digests.sides for digests in held_out])
    kept = 0
    starts = [0]
    with (directory / "decisions").open("wb") as file:
        for number, cleaned in enumerate(ranges):
            decisions = np.full(len(cleaned), KEPT, np.uint8)
            if len(sides):
                decisions = decide_pairs(cleaned.loose_digests(), wholes, sides)
            decisions[read_duplicates(number)] = REPEATED
            kept += int((decisions == KEPT).sum())
            starts.append(starts[-1] + len(decisions))
            file.write(decisions.tobytes())
    np.save(directory / "starts.npy", np.array(starts, np.int64))
    return kept


def decide_pairs(loose: Digests, wholes: Digests, sides: Digests) -> Decisions:
    """Return what becomes of cleaned pairs if pairs are held out, and none occurs before.

    Args:
        loose: The digests of the pairs, [pairs, 3].
        wholes: Those of held-out pairs.
        sides: Those of the sides of held-out pairs.
    """
    decisions = np.full(len(loose), KEPT, np.uint8)
    shares = np.isin(loose[:, 1:], sides).any(axis=1)
    decisions[shares] = np.where(np.isin(loose[shares, 0], wholes), CHOSEN, SHARES_A_SIDE)
    return decisions


def read_decisions(directory: Path, number: int) -> Decisions:
    """Return what becomes of the pairs of a range."""
    start, end = np.load(directory / "starts.npy")[number : number + 2].tolist()
    return np.fromfile(directory / "decisions", np.uint8, end - start, offset=start)


def _by_range(chosen: Sequence[ChosenPair]) -> dict[int, npt.NDArray[np.int64]]:
    """Return the places of chosen pairs in each range, in ascending order."""
    places: dict[int, list[int]] = {}
    for pair in sorted(chosen, key=lambda pair: (pair.range, pair.place)):
        places.setdefault(pair.range, []).append(pair.place)
    return {number: np.array(some, np.int64) for number, some in places.items()}


def write_pairs(file: Path, pairs: Iterable[Pair]) -> None:
    """Write validation pairs."""
    file.write_text("".join(f"{json.dumps(pair)}\n" for pair in pairs), encoding="utf-8")


def read_pairs(file: Path) -> list[Pair]:
    """Read validation pairs."""
    with file.open(encoding="utf-8") as lines:
        return [Pair(*json.loads(line)) for line in lines]


def report_cleaning(
    cleaned: CleanRange, decisions: Decisions, texts: tuple[list[str], list[str]]
) -> Report:
    """Return the report of a range, the duplicates included.

    Args:
        cleaned: The range.
        decisions: What becomes of its pairs.
        texts: Its sources and targets.
    """
    report = cleaned.report()
    lines, positions, leaks = cleaned.lines(), cleaned.positions(), cleaned.leaks()
    for i in np.flatnonzero((decisions == REPEATED) | (leaks != PLAIN)).tolist():
        line, example = int(lines[i]), f"{texts[0][i]} | {texts[1][i]}"
        if decisions[i] == REPEATED:
            report.drop(DUPLICATE, line, example, int(positions[i]))
            report.kept -= 1
        else:
            found = report.half_leaks if leaks[i] == HALF_LEAKED else report.leaks_kept
            found.add(line, example)
    report.sort_by_position()
    return report


def report_held_out(
    cleaned: CleanRange, decisions: Decisions, texts: tuple[list[str], list[str]]
) -> Report:
    """Return the report of the pairs of a range that are held out, or share a side with such a pair."""
    report = Report()
    lines = cleaned.lines()
    for i in np.flatnonzero((decisions == CHOSEN) | (decisions == SHARES_A_SIDE)).tolist():
        rule = HELD_OUT if decisions[i] == CHOSEN else SIBLING
        report.drop(rule, int(lines[i]), f"{texts[0][i]} | {texts[1][i]}")
        report.kept -= 1
    return report
