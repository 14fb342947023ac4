"""Counts the kernel launches and the bytes of a training step on fake tensors, without a GPU.

Fake tensors have shapes and no numbers. So the step takes the ways of a GPU (see `is_traced`), and reading
a number, for which a GPU would be waited for, is an error of torch.
"""

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from headway.config import TrainingConfig
from headway.ext.cuda.gpu_operations import GpuOperations
from headway.model import make_model, ops, plain_attention
from headway.model.visibility import pack_sides
from headway.text.batches import Batch, fixed_shape
from headway.training.steps import objective, trainer
from headway.training.steps.trainer import Trainer

VIEWS = {
    "_reshape_alias", "_unsafe_view", "alias", "as_strided", "detach", "device", "diagonal", "empty", "empty_like",
    "empty_strided", "expand", "lift_fresh", "new_empty", "new_empty_strided", "permute", "reshape", "select", "slice",
    "split", "split_with_sizes", "squeeze", "t", "transpose", "unbind", "unflatten", "unfold", "unsqueeze", "view",
}  # fmt: skip


@dataclass
class Counts(TorchDispatchMode):
    """Operations that start a kernel, the bytes of their arguments and results, and the shapes of these."""

    launches: Counter[str] = field(default_factory=Counter)
    bytes: Counter[str] = field(default_factory=Counter)
    shapes: list[tuple[str, torch.Size]] = field(default_factory=list)

    def __post_init__(self):
        super().__init__()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        name = func._schema.name.split("::")[1]
        if name not in VIEWS:
            self.launches[name] += 1
            tensors = [x for x in tree_leaves((args, kwargs, result)) if isinstance(x, Tensor)]
            self.bytes[name] += sum(x.numel() * x.element_size() for x in tensors)
            if isinstance(result, Tensor):
                self.shapes.append((name, result.shape))
        return result


def count_step(model, lengths, *, packed, monkeypatch):
    """Count an optimizer step in bf16 on one micro-batch.

    Args:
        model: The model's settings.
        lengths: The tokens of each sentence, the same on both sides.
        packed: Make one packed row, else pad to the longest.
        monkeypatch: Replaces what fake tensors cannot do, and the settings of a CPU.
    """
    monkeypatch.setitem(objective.LOGITS_AT_ONCE, "cpu", objective.LOGITS_AT_ONCE["cuda"])
    monkeypatch.setitem(ops._installed, "cpu", GpuOperations())
    monkeypatch.setattr(plain_attention, "LONGEST_STORED", 0)
    monkeypatch.setattr(trainer, "read_numbers", lambda *_: [1.0, 1.0, 1.0])
    # On a GPU, dropout is a launch forward and one backward.
    monkeypatch.setattr(F, "dropout", lambda x, p: torch.native_dropout(x, p, True)[0])
    counts = Counts()
    with _fake_tensors():
        subject = Trainer(make_model(model), TrainingConfig(), "bf16")
        batch = make_batch_of(lengths, packed=packed)
        with counts:
            subject.step([batch])
    return counts


@contextmanager
def _fake_tensors():
    with FakeTensorMode(allow_non_fake_inputs=True):
        yield


def make_batch_of(lengths, *, packed):
    tokens = sum(lengths)
    if not packed:
        ids = torch.ones(len(lengths), max(lengths), dtype=torch.long)
        return Batch(ids, ids.clone(), ids.clone(), ids.clone(), np.arange(len(lengths)), tokens)
    shape = fixed_shape(tokens, 256, tokens / len(lengths))
    ids = torch.ones(1, shape.tokens, dtype=torch.long)
    packings = pack_sides([np.array(lengths)] * 2, shape)
    return Batch(
        ids, ids.clone(), ids.clone(), ids.clone(), np.arange(len(lengths)), tokens, True, *packings
    )
