"""Recurrent mixers under autocast, which gives them another type on a GPU than on a CPU."""

import pytest
import torch
from torch import nn

from headway.ext.kinds import Recurrent
from headway.model.visibility import Segments

SEGMENTS = Segments(torch.tensor([[1, 1, 2, 0], [1, 2, 3, 3]]), is_packed=True)


class Rounded(nn.Module):
    """A recurrence whose results are bf16, as those of CUDA under autocast."""

    def __init__(self, cell):
        super().__init__()
        self.cell = cell

    def forward(self, packed):
        return self.cell(packed)[0].to(torch.bfloat16), None


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_a_recurrence_may_return_another_type_than_it_gets(cell):
    torch.manual_seed(1)
    layer = Recurrent(12, cell)
    x_BTD = torch.randn(2, 4, 12)
    with torch.autocast("cpu", torch.bfloat16):
        expected = layer(x_BTD, SEGMENTS)
    layer.cell = Rounded(layer.cell)
    with torch.autocast("cpu", torch.bfloat16):
        y_BTD = layer(x_BTD, SEGMENTS)
    assert y_BTD.dtype == torch.bfloat16
    assert torch.equal(y_BTD, expected.bfloat16())
