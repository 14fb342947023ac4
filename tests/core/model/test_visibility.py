"""Segments and visibility: whether rows are packed is a plain fact that no forward reads again."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from headway.config import ModelConfig
from headway.model import Transformer
from headway.model.visibility import Segments
from headway.text.batches import Batch
from headway.training.steps.objective import Objective

SHAPE = ModelConfig(
    source_vocab_size=41, target_vocab_size=41, num_encoder_layers=2, num_decoder_layers=2,
    d_model=12, d_ff=17, num_heads=3, d_k=5, d_v=5, dropout=0.0, max_positions=347,
)  # fmt: skip


class Reads(TorchDispatchMode):
    """Counts how often a number is read back from a tensor, for which a GPU would wait."""

    count = 0

    def __torch_dispatch__(self, func, _types, args=(), kwargs=None):
        self.count += func is torch.ops.aten._local_scalar_dense.default
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("length", [7, 300])
@pytest.mark.parametrize("is_packed", [False, True])
def test_a_forward_of_a_training_batch_waits_for_no_number(length, is_packed):
    torch.manual_seed(1)
    model = Transformer(SHAPE).double()  # neither float32 kernels nor their checks
    ids = torch.randint(2, 40, (2, length))
    segments = torch.arange(length) // (length // 2 + 1 if is_packed else length) + 1
    segments = segments.expand(2, -1).clone()
    batch = Batch(ids, segments, ids, segments, None, 2 * length, is_packed)
    objective = Objective(model, 0.1)
    with Reads() as reads, torch.no_grad():
        objective._read(batch)
    assert reads.count == 0
    with Reads() as reads, torch.no_grad():
        model(ids, ids, segments, segments)
    assert reads.count == (4 if is_packed else 2)  # plain tensors: once or twice for each side


def test_a_decoding_step_waits_for_no_number():
    model = Transformer(SHAPE).double().eval()
    ids = torch.randint(2, 40, (2, 5))
    segments = Segments(torch.ones_like(ids), is_packed=False)
    with torch.no_grad():
        state = model.start(model.encode(ids, segments), segments)
        model.step(torch.tensor([40, 40]), state)
        with Reads() as reads:
            for _ in range(3):
                model.step(torch.tensor([3, 4]), state)
    assert reads.count == 0
