"""What has to be bent so that toolkits that are no longer kept run with this Python, numpy and torch.

Python imports this file before all others when its directory is on PYTHONPATH.
"""

import builtins
import dataclasses
import functools
import sys
import types
from typing import Any


def _allow_mutable_defaults() -> None:
    """Let fairseq and hydra have fields whose defaults are other dataclasses, as Python 3.10 does."""
    make = dataclasses.dataclass

    def lenient(cls: Any = None, **options: Any) -> Any:
        if cls is None:
            return functools.partial(lenient, **options)
        is_bent = cls.__module__.split(".")[0] in ("fairseq", "hydra", "omegaconf")
        if is_bent and not options.get("frozen"):
            options.setdefault("unsafe_hash", True)
        return make(cls, **options)

    dataclasses.dataclass = lenient


def _add_old_names() -> None:
    """Give numpy the names that it had before version 1.24, and let torch.load read what the toolkit has written."""
    try:
        import numpy
        import torch
    except ImportError:  # pip, before they are installed
        return
    for name in ("float", "int", "bool", "object"):
        if name not in numpy.__dict__:
            setattr(numpy, name, getattr(builtins, name))
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau
    torch.optim.lr_scheduler.ReduceLROnPlateau = _drop_verbose(plateau)  # type: ignore[misc]
    encode = torch._transformer_encoder_layer_fwd
    # fairseq's masks are of padding, which torch wants to be told.
    torch._transformer_encoder_layer_fwd = functools.partial(encode, mask_type=1)
    load = torch.load
    torch.load = lambda *given, **options: load(*given, **{"weights_only": False, **options})


def _drop_verbose(plateau: Any) -> Any:
    """Return the schedule with the option that torch has removed."""

    class Plateau(plateau):  # type: ignore[misc]
        def __init__(self, *given: Any, verbose: bool = False, **options: Any) -> None:
            super().__init__(*given, **options)

    return Plateau


def _is_asked_for() -> bool:
    return any(
        name in " ".join(sys.orig_argv)
        for name in ("fairseq", "joeynmt", "onmt", "eole", "sockeye")
    )


if _is_asked_for():
    _allow_mutable_defaults()
    _add_old_names()
    for optional in ("torchaudio", "spacy", "fasttext"):  # imported, and not used here
        sys.modules.setdefault(optional, types.ModuleType(optional))
