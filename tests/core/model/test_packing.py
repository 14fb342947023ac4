"""Packed rows of one shape: the list of their sentences covers every token once."""

import numpy as np
import pytest

from headway.model.visibility import RowShape, pack_sides

SHAPE = RowShape(tokens=64, longest=9, sentences=8)


def test_both_sides_have_as_many_entries():
    source, target = pack_sides([np.full(40, 1), np.full(8, 1)], SHAPE)
    assert source.bounds.shape == target.bounds.shape
    assert source.bounds.shape[0] > SHAPE.entries + 1


@pytest.mark.parametrize("lengths", [[9] * 8, [10]])
def test_sentences_that_do_not_fit_are_an_error(lengths):
    with pytest.raises(ValueError, match="do not fit"):
        pack_sides([np.array(lengths)], SHAPE)
