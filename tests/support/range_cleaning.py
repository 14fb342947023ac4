"""The cleaning stages of a preparation, applied to pairs in memory."""

import tempfile
from collections.abc import Iterable, Iterator, Set
from itertools import islice
from pathlib import Path

from headway.config import TextConfig
from headway.text import Damaged, Pair
from headway.text.cleaning import Report
from headway.text.preparation import selection
from headway.text.preparation.assembly import join_reports
from headway.text.preparation.clean_ranges import CleanRange, clean_range
from headway.text.preparation.repeats import (
    PlacesReader,
    count_partitions,
    find_duplicates,
    find_repeated_sides,
)


def clean(
    pairs: Iterable[Pair | Damaged],
    config: TextConfig,
    held_out: Set[bytes] = frozenset(),
    *,
    count: int = 0,
    range_pairs: int = 101,
) -> tuple[list[Pair], list[Pair], Report]:
    """Return the training pairs, ``count`` pairs that are held out for validation, and the report."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ranges = list(_clean_ranges(folder, pairs, config, held_out, bool(count), range_pairs))
        partitions = range(count_partitions(len(ranges)))
        files = (
            [folder / f"duplicates-{n}.npy" for n in partitions] if config.drop_duplicates else []
        )
        for n, file in enumerate(files):
            find_duplicates(file, ranges, n)
        duplicates = PlacesReader(files).read
        chosen = []
        if count:
            sides = [folder / f"repeated-{n}.npy" for n in partitions]
            for n, file in enumerate(sides):
                find_repeated_sides(file, ranges, n, duplicates)
            repeated = PlacesReader(sides).read
            chosen = selection.choose_validation(ranges, count, duplicates, repeated)
        valid = selection.read_chosen(ranges, chosen)
        digests = [selection.digest_held_out(valid, in_both_orders=False)]
        selection.write_decisions(folder, ranges, digests, 0, duplicates)
        kept, reports = [], []
        for n, cleaned in enumerate(ranges):
            decisions, texts, lines = (
                selection.read_decisions(folder, n),
                cleaned.all_pairs(),
                cleaned.lines(),
            )
            kept += [
                Pair(source, target, int(line))
                for source, target, line, decision in zip(*texts, lines, decisions, strict=True)
                if decision == selection.KEPT
            ]
            reports.append(
                (
                    selection.report_cleaning(cleaned, decisions, texts),
                    selection.report_held_out(cleaned, decisions, texts),
                )
            )
        return kept, selection.read_chosen(ranges, chosen), join_reports(reports)


def _clean_ranges(
    folder: Path,
    pairs: Iterable[Pair | Damaged],
    config: TextConfig,
    held_out: Set[bytes],
    with_sides: bool,
    range_pairs: int,
) -> Iterator[CleanRange]:
    rest = iter(pairs)
    number = 0
    while some := list(islice(rest, range_pairs)):
        directory = folder / f"clean-{number}"
        directory.mkdir()
        clean_range(directory, some, config, held_out, with_sides=with_sides)
        yield CleanRange(directory)
        number += 1
