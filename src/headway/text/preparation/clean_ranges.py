"""Cleaned ranges: the pairs of a range that break no rule by themselves, and digests to compare them by."""

import json
from collections.abc import Iterable, Iterator, Set
from dataclasses import asdict
from mmap import ACCESS_READ, mmap
from pathlib import Path

import numpy as np
import numpy.typing as npt

from headway.config import TextConfig
from headway.text.cleaning import (
    ELSEWHERE,
    LEAK,
    UNREADABLE,
    Report,
    broken_rule,
    digest_loosely,
    digest_pair,
)
from headway.text.lines import Damaged
from headway.text.readers import Pair

Digests = npt.NDArray[np.uint64]
Places = npt.NDArray[np.uint64]
SIDES = 2
PLAIN, LEAKED, HALF_LEAKED = 0, 1, 2  # whether held-out text has the pair, or one of its sides


def clean_range(
    directory: Path,
    pairs: Iterable[Pair | Damaged],
    config: TextConfig,
    held_out: Set[bytes],
    *,
    with_sides: bool,
) -> None:
    """Clean a range and write what `CleanRange` reads.

    Args:
        directory: An empty directory.
        pairs: The pairs of the range.
        config: The rules.
        held_out: The digests of validation and test text, from `digest_held_out`.
        with_sides: Also write digests of each side, to hold validation text out.
    """
    report = Report()
    lines: list[int] = []
    leaks: list[int] = []
    positions: list[int] = []
    ends: list[int] = []
    whole, loose = bytearray(), bytearray()
    end = 0
    with (directory / "text").open("wb") as file:
        for position, pair in enumerate(pairs):
            report.read += 1
            if isinstance(pair, Damaged):
                why = ELSEWHERE if pair.is_elsewhere else UNREADABLE
                report.drop(why, pair.line, pair.reason, position)
                continue
            source, target = pair.source.strip(), pair.target.strip()
            rule = broken_rule(source, target, config)
            leak = PLAIN
            if rule is None and (held_out or with_sides):
                digests = digest_loosely(source, target)
                leak = _find_leak(digests, held_out)
                if leak == LEAKED and config.drop_leaks:
                    rule = LEAK
            if rule is not None:
                report.drop(rule, pair.line, f"{source} | {target}", position)
                continue
            report.kept += 1
            text = f"{source}\n{target}\n".encode()
            file.write(text)
            end += len(text)
            ends.append(end)
            lines.append(pair.line)
            leaks.append(leak)
            positions.append(position)
            if config.drop_duplicates:
                whole += digest_pair(source, target)
            if with_sides:
                loose += b"".join(digests)
    np.save(directory / "ends.npy", np.array(ends, np.int64))
    np.save(directory / "lines.npy", np.array(lines, np.int64))
    np.save(directory / "leaks.npy", np.array(leaks, np.uint8))
    np.save(directory / "positions.npy", np.array(positions, np.int32))
    if config.drop_duplicates:
        _save_sorted(directory / "pairs", np.frombuffer(whole, "<u8"))
    if with_sides:
        digests_of_pairs = np.frombuffer(loose, "<u8").reshape(-1, 1 + SIDES)
        np.save(directory / "loose.npy", digests_of_pairs)
        _save_sorted(directory / "sides", digests_of_pairs[:, 1:].reshape(-1))
    (directory / "report.json").write_text(json.dumps(asdict(report)), encoding="utf-8")


class CleanRange:
    """A cleaned range.

    Args:
        directory: A directory that `clean_range` wrote.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def __len__(self) -> int:
        return len(np.load(self._directory / "lines.npy", mmap_mode="r"))

    def lines(self) -> npt.NDArray[np.int64]:
        """Return the line of each pair in its file."""
        return np.load(self._directory / "lines.npy")

    def leaks(self) -> npt.NDArray[np.uint8]:
        """Return for each pair PLAIN, LEAKED or HALF_LEAKED."""
        return np.load(self._directory / "leaks.npy")

    def positions(self) -> npt.NDArray[np.int32]:
        """Return the place of each pair in its range, before cleaning."""
        return np.load(self._directory / "positions.npy")

    def loose_digests(self) -> Digests:
        """Return the digests of `digest_loosely`, [pairs, 3]."""
        return np.load(self._directory / "loose.npy")

    def report(self) -> Report:
        """Return the report of the rules that pairs break by themselves."""
        return Report.from_dict(json.loads((self._directory / "report.json").read_bytes()))

    def all_pairs(self) -> tuple[list[str], list[str]]:
        """Return all sources and targets."""
        lines = (self._directory / "text").read_bytes().decode().split("\n")
        return lines[0:-1:2], lines[1::2]

    def some_pairs(self, indices: npt.NDArray[np.int64]) -> Iterator[tuple[str, str]]:
        """Yield the sources and targets of some pairs, without reading the others."""
        if not len(indices):
            return
        ends = np.load(self._directory / "ends.npy", mmap_mode="r")
        starts = np.where(indices > 0, ends[indices - 1], 0)
        with (
            (self._directory / "text").open("rb") as file,
            mmap(file.fileno(), 0, access=ACCESS_READ) as text,
        ):
            for start, end in zip(starts.tolist(), ends[indices].tolist(), strict=True):
                source, target, _ = text[start:end].decode().split("\n")
                yield source, target

    def slice_digests(self, kind: str, low: int, high: int) -> tuple[Digests, Places]:
        """Return the digests in [low, high), in ascending order, and their places.

        Args:
            kind: "pairs": the place of a digest is the number of its pair, and equal digests are in the
                order of the text; "sides": it is twice the number, plus 1 for a target.
            low: The smallest digest.
            high: Above the largest digest; it may be 2 ** 64.
        """
        digests: Digests = np.load(self._directory / f"{kind}.npy", mmap_mode="r")
        places = np.load(self._directory / f"{kind}-places.npy", mmap_mode="r")
        start = np.searchsorted(digests, np.uint64(low))
        end = np.searchsorted(digests, np.uint64(high - 1), side="right")
        return np.array(digests[start:end]), places[start:end].astype(np.uint64)


def _find_leak(digests: tuple[bytes, bytes, bytes], held_out: Set[bytes]) -> int:
    whole, *sides = digests
    if whole in held_out:
        return LEAKED
    return PLAIN if held_out.isdisjoint(sides) else HALF_LEAKED


def _save_sorted(path: Path, digests: npt.NDArray[np.unsignedinteger]) -> None:
    order = np.argsort(digests, kind="stable")
    np.save(path.with_suffix(".npy"), digests[order])
    np.save(path.with_name(f"{path.name}-places.npy"), order.astype(np.uint32))
