"""Packed rows of one shape: the list of their sentences covers every token once."""

import numpy as np
import pytest
import torch

from headway.model.visibility import RowShape, pack_sides

SHAPE = RowShape(tokens=64, longest=9, sentences=8)


def test_entries_are_the_sentences_then_pieces_of_padding_then_nothing():
    source, target = pack_sides([np.array([3, 9, 1]), np.array([9, 2, 8])], SHAPE)
    assert source.bounds.dtype == torch.int32
    assert source.bounds[:11].tolist() == [0, 3, 12, 13, 22, 31, 40, 49, 58, 64, 64]
    assert target.bounds[:9].tolist() == [0, 9, 11, 19, 28, 37, 46, 55, 64]
    for side in (source, target):
        assert len(side.bounds) == SHAPE.entries + 1
        assert side.bounds[-1] == 64
        assert int(side.bounds.diff().max()) <= SHAPE.longest
    assert source.positions[0, :15].tolist() == [0, 1, 2, *range(9), 0, 0, 1]
    assert source.positions.shape == (1, 64)


def test_a_full_row_has_no_padding():
    (side,) = pack_sides([np.full(32, 2)], SHAPE)
    assert side.bounds[:34].tolist() == [*range(0, 65, 2), 64]
    assert len(side.bounds) == 2 * SHAPE.entries + 1  # shorter sentences than expected


def test_both_sides_have_as_many_entries():
    source, target = pack_sides([np.full(40, 1), np.full(8, 1)], SHAPE)
    assert source.bounds.shape == target.bounds.shape
    assert source.bounds.shape[0] > SHAPE.entries + 1


@pytest.mark.parametrize("lengths", [[9] * 8, [10]])
def test_sentences_that_do_not_fit_are_an_error(lengths):
    with pytest.raises(ValueError, match="do not fit"):
        pack_sides([np.array(lengths)], SHAPE)
