"""The cleaning stages of a preparation, applied to pairs in memory."""

import tempfile
from itertools import islice
from pathlib import Path

import numpy as np

from headway.text import Pair
from headway.text.cleaning import KEPT, digest_texts
from headway.text.preparation.clean_ranges import CleanRange, clean_range
from headway.text.preparation.selection import PairSelection, read_decisions


def clean(pairs, config, held_out=None, *, count=0, range_pairs=101):
    """Return the training pairs, ``count`` pairs that are held out for validation, and the report."""
    held_out = digest_texts([]) if held_out is None else held_out
    rest, ranges = iter(pairs), list[CleanRange]()
    with tempfile.TemporaryDirectory() as name:
        while some := list(islice(rest, range_pairs)):
            directory = Path(name) / f"{len(ranges)}"
            directory.mkdir()
            clean_range(directory, some, config, held_out, with_sides=bool(count))
            ranges.append(CleanRange(directory))
        selection = PairSelection(Path(name) / "decisions", ranges, range_pairs)
        if config.drop_duplicates:
            selection.drop_duplicates()
        valid = selection.choose(count) if count else []
        digests = digest_texts(pair[:2] for pair in valid)
        selection.drop_held_out(digests[:, 0], digests[:, 1:])
        kept = []
        for number, cleaned in enumerate(ranges):
            decisions = read_decisions(Path(name) / "decisions", number, range_pairs)
            places = np.flatnonzero(decisions == KEPT)
            lines = cleaned.load("lines")[places].tolist()
            kept += [
                Pair(*text, line) for text, line in zip(cleaned.texts(places), lines, strict=True)
            ]
        return kept, valid, selection.report()
