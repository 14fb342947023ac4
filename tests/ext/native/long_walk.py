"""A long decoding in native code; `test_native_builds` runs it in a build that checks every address."""

import torch

from headway.ext.native.attention import NativeAttention
from headway.ext.native.library import failure_reason
from headway.ext.native.native_engine import NativeEngine
from headway.model.visibility import Segments, Visibility
from support.engines import PRECISIONS, SHAPES, library, model_of, search, sources, walk


def translate():
    """Every precision, over several blocks of a cache, and sources of many lengths."""
    model = model_of(SHAPES["pre"])
    for precision in PRECISIONS:
        if precision == "bf16" and not library().headway_has_bf16():
            continue
        engine = NativeEngine(model, precision, library(precision))
        walk(engine, model, steps=70, count=3)
        search(engine, model, sources(3, longest=70), beam=3)


def attend():
    """Full, padded, packed and banded rows, forward and backward."""
    for dtype in (torch.float32, torch.bfloat16):
        for length in (1, 37, 131):
            q, k, v = torch.randn(3, 2, 2, length, 11).to(dtype).requires_grad_()
            packed = torch.stack((torch.arange(length) // 7 + 1, torch.arange(length) // 5))
            padded = Segments((packed < 4).long(), is_packed=False)
            several = Segments(packed, is_packed=True)
            for visibility in (
                Visibility(), Visibility(None, padded), Visibility(several, several),
                Visibility(is_causal=True), Visibility(window=4),
            ):  # fmt: skip
                NativeAttention.apply(q, k, v, visibility, 0.3).float().sum().backward()


if __name__ == "__main__":
    if reason := failure_reason("decoding") or failure_reason("training"):
        raise SystemExit(reason)
    translate()
    attend()
    print("walked")
