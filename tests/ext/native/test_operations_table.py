"""The table of operations: providers fill it, and without them the plain operations compute the same."""

import numpy as np
import pytest
import torch

from headway.config import ModelConfig
from headway.model import make_model, ops
from headway.model.ops import PLAIN, operations_of
from headway.text.batches import Batch
from headway.training.steps.objective import Objective, compute_gradient

SHAPE = ModelConfig(
    source_vocab_size=41, target_vocab_size=41, num_encoder_layers=2, num_decoder_layers=2, d_model=24, d_ff=37,
    num_heads=3, dropout=0.3,
)  # fmt: skip


@pytest.fixture(autouse=True)
def empty_table(monkeypatch):
    monkeypatch.setattr(ops, "_installed", {})


def gradients(agreement=0.0):
    """Return the loss of a batch and its gradient, with dropout."""
    torch.manual_seed(1)
    model = make_model(SHAPE).train()
    ids = torch.randint(1, 40, (3, 13))
    segments = (torch.arange(13) < torch.tensor([[7], [13], [11]])).long()
    batch = Batch(ids, segments, ids, segments, np.arange(3), 31, False)
    objective = Objective(model, 0.1, agreement)
    *found, sums = compute_gradient(list(model.parameters()), objective, batch, 31, False)
    return [sums, *found]


def test_operations_of_a_processor_work_without_native_code(monkeypatch):
    expected = gradients()
    monkeypatch.setattr("headway.ext.native.native_operations.training_library", lambda: None)
    torch.testing.assert_close(gradients(), expected, rtol=1e-4, atol=1e-5)


def test_a_type_of_device_without_a_provider_and_a_compiler_get_the_plain_operations(monkeypatch):
    assert operations_of(torch.ones(2, device="meta")) is PLAIN
    with monkeypatch.context() as patch:
        patch.setattr(torch.compiler, "is_compiling", lambda: True)
        assert operations_of(torch.ones(2)) is PLAIN
    assert operations_of(torch.ones(2)) is not PLAIN
