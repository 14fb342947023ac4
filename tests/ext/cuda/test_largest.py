"""The largest numbers of a row are found by reading it once."""

import pytest
import torch

from headway.ext.cuda.top_k import GROUP, find_largest


@pytest.mark.parametrize("size", [3, 9 * GROUP, 9 * GROUP + 1, 37_000])
@pytest.mark.parametrize("kind", ["normal", "ties", "few"])
def test_the_numbers_are_those_of_topk(size, kind):
    torch.manual_seed(size)
    x = torch.randn(2, 3, size)
    if kind == "ties":
        x = x.round()
    if kind == "few":
        x[x < 1.5] = -torch.inf
    count = min(8, size)
    found, places = find_largest(x, count)
    assert torch.equal(found, x.topk(count).values)
    assert torch.equal(x.gather(-1, places), found)
    assert all(len(set(row.tolist())) == count for row in places.flatten(0, 1))


@pytest.mark.parametrize("place", [0, 700, 1299])
def test_a_nan_is_the_largest_number(place):
    x = torch.randn(1300)
    x[place] = torch.nan
    found, places = find_largest(x, 2)
    assert found[0].isnan()
    assert (places[0], places[1]) == (place, x.nan_to_num(-9).argmax())
