"""The choice of an engine: the fastest that runs a model on its device in the precision that is asked for."""

from collections.abc import Sequence

import torch

from headway.devices import has_bf16
from headway.errors import HeadwayError
from headway.extension import load_first
from headway.model import Transformer
from headway.translation.engines.protocols import Engine


def make_engine(model: Transformer, precision: str = "auto") -> Engine:
    """Return the fastest engine that can run a model.

    Args:
        model: In fp32 and evaluation mode, on its device. Its weights are copied, but for a `PlainEngine` in fp32.
        precision: auto, fp32, bf16, fp16 or int8.

    Raises:
        HeadwayError: If the device of the model does not have the precision.
    """
    device = model.source_embedding.weight.device
    precision = resolve_precision(precision, device)
    make = load_first("engines", device.type)
    engine: Engine | None = make(model, precision) if make else None
    if engine is None:
        from headway.translation.engines.plain_engine import PlainEngine

        engine = PlainEngine(model, precision)
    return engine


def join_engines(engines: Sequence[Engine], pad: int, device: torch.device) -> Engine:
    """Return the engine of one model, or of several together; see `EnsembleEngine`."""
    if len(engines) == 1:
        return engines[0]
    from headway.translation.engines.ensemble import EnsembleEngine

    return EnsembleEngine(engines, pad, device)


def resolve_precision(name: str, device: torch.device) -> str:
    """Return fp32, bf16, fp16 or int8: auto is bf16 on a GPU and fp32 elsewhere.

    Raises:
        HeadwayError: If the device does not have the precision.
    """
    if name == "auto":
        return "bf16" if device.type == "cuda" else "fp32"
    if name == "int8" and device.type == "cuda":
        raise HeadwayError("search.precision = 'int8' is for CPUs; use bf16 on a GPU")
    if name == "fp16" and device.type == "cpu":
        raise HeadwayError("search.precision = 'fp16' is for GPUs; use fp32, bf16 or int8 on a CPU")
    if name == "bf16" and device.type == "cpu" and not has_bf16(device):
        raise HeadwayError(
            "search.precision = 'bf16': this processor has no bf16 instructions; use fp32 or int8"
        )
    return name
