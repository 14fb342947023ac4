"""Rounded numbers of the plain engine, and the precisions that a device has."""

import pytest
import torch

from headway.errors import HeadwayError
from headway.translation.engines import resolve_precision
from headway.translation.engines.low_precision import quantize


def test_numbers_are_quantized_row_by_row_around_zero():
    x = torch.randn(11, 131) * torch.logspace(-3, 3, 11)[:, None]
    numbers, scale = quantize(x)
    assert (numbers.abs().amax(1) == 127).all()
    assert ((numbers * scale - x).abs() <= scale / 2 * 1.001).all()


def test_a_missing_precision_gives_an_error_of_one_line(monkeypatch):
    cpu, card = torch.device("cpu"), torch.device("cuda")
    assert [resolve_precision("auto", device) for device in (cpu, card)] == ["fp32", "bf16"]
    with pytest.raises(HeadwayError, match="int8"):
        resolve_precision("int8", card)
    for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported"):
        monkeypatch.setattr(torch.cpu, name, lambda: False)
    with pytest.raises(HeadwayError, match="no bf16 instructions"):
        resolve_precision("bf16", cpu)
