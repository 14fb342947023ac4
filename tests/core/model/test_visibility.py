"""Segments and visibility: whether rows are packed is a plain fact that no forward reads again."""

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

from headway.config import ModelConfig
from headway.model import Transformer
from headway.model.visibility import Segments, Visibility
from headway.text.batches import Batch
from headway.training.steps.objective import Objective

SHAPE = ModelConfig(
    source_vocab_size=41, target_vocab_size=41, num_encoder_layers=2, num_decoder_layers=2,
    d_model=12, d_ff=17, num_heads=3, d_k=5, d_v=5, dropout=0.0, max_positions=347,
)  # fmt: skip
PADDED = torch.tensor([[1, 1, 1, 0], [1, 1, 0, 0]])
PACKED = torch.tensor([[1, 1, 2, 0], [1, 2, 3, 3]])


class Reads(TorchDispatchMode):
    """Counts how often a number is read back from a tensor, for which a GPU would wait."""

    count = 0

    def __torch_dispatch__(self, func, _types, args=(), kwargs=None):
        self.count += func is torch.ops.aten._local_scalar_dense.default
        return func(*args, **(kwargs or {}))


def test_plain_tensors_are_searched_for_packed_rows_once():
    assert Segments.of(None) is None
    for ids, is_packed in ((PADDED, False), (PACKED, True)):
        segments = Segments.of(ids)
        assert segments is not None
        assert segments.is_packed is is_packed
        assert Segments.of(segments) is segments
    with FakeTensorMode():
        fake = Segments.of(torch.ones(2, 4, dtype=torch.long))
    assert fake is not None
    assert fake.is_packed  # unknown: the mask of every pair is right for padding too


def test_visibility_is_packed_only_if_both_sides_have_segments():
    padded, packed = Segments(PADDED, is_packed=False), Segments(PACKED, is_packed=True)
    assert Visibility(packed, packed).is_packed
    assert not Visibility(None, packed).is_packed
    assert not Visibility(packed, None).is_packed
    assert not Visibility(padded, padded).is_packed


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
    assert reads.count == 2  # plain tensors: once for each side


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
