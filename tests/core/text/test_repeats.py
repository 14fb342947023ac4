"""The places of repeated text are read range by range, without opening each file for each range."""

from pathlib import Path

import numpy as np
import pytest

from headway.text.preparation import repeats
from headway.text.preparation.repeats import PlacesReader

RANGES, FILES = 103, 5


def test_places_are_those_of_the_range_and_files_are_opened_once_for_many_ranges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = np.random.default_rng(7)
    ranges = draw.integers(0, RANGES, (FILES, 331)).astype(np.uint64)
    ranges[ranges == 11] = 12  # a range without places
    places = np.sort(ranges << np.uint64(32) | draw.integers(0, 2**32, ranges.shape, np.uint64))
    places[:, -1] = (RANGES << 32) - 1  # the last place of the last range
    files = [tmp_path / f"{number}.npy" for number in range(FILES)]
    for file, part in zip(files, places, strict=True):
        np.save(file, part)
    opened = []
    load = np.load
    monkeypatch.setattr(
        np, "load", lambda file, **options: opened.append(file) or load(file, **options)
    )
    reader = PlacesReader(files)
    for number in (*range(RANGES), 3, RANGES - 1, RANGES):
        expected = np.sort(places[places >> np.uint64(32) == number] & np.uint64(2**32 - 1))
        found = reader.read(number)
        assert found.dtype == np.int64
        assert found.tolist() == expected.tolist()
    blocks = -(-RANGES // repeats.PARTITION_RANGES)
    assert len(opened) == (blocks + 2) * FILES  # two more for the steps back and forth


def test_no_files_have_no_places() -> None:
    assert PlacesReader([]).read(7).tolist() == []
