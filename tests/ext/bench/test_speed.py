"""Headway is faster on a processor than PyTorch's own classes; `benchmarks/` measures by how much.

The two sides take turns, and the shortest time of each counts: other programs make a time only longer.
"""

import time

import pytest
import torch
from torch import nn

from headway.config import ModelConfig
from headway.ext.native.native_engine import NativeEngine
from headway.model import Transformer
from headway.translation.engines.plain_engine import PlainEngine
from support.engines import library, model_of, native, search, sources

D, HEADS, F, LAYERS, V, LENGTH = 64, 4, 256, 2, 300, 25


class TorchModel(nn.Module):
    """The same model of PyTorch's own layers, with one table of embeddings."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(V, D)
        self.layers = nn.Transformer(D, HEADS, LAYERS, LAYERS, F, 0.1, batch_first=True)
        self.mask = nn.Transformer.generate_square_subsequent_mask(LENGTH)

    def forward(self, source, target, segments):
        hidden = segments == 0
        decoded = self.layers(
            self.embedding(source) * D**0.5, self.embedding(target) * D**0.5, tgt_mask=self.mask,
            src_key_padding_mask=hidden, memory_key_padding_mask=hidden,
        )  # fmt: skip
        return decoded @ self.embedding.weight.T


def ratio(slower, faster, turns):
    """Return how many times as long one takes as the other, in seconds of the processor."""

    def seconds(work):
        started = time.process_time()
        work()
        return time.process_time() - started

    times = [(seconds(slower), seconds(faster)) for _ in range(turns + 1)]  # the first warm up
    return min(a for a, _ in times) / min(b for _, b in times)


@native
def test_a_gradient_takes_no_longer_than_that_of_torchs_transformer():
    torch.set_num_threads(1)
    torch.manual_seed(1)
    vocabularies = {"source_vocab_size": V, "target_vocab_size": V}
    layers = {"num_encoder_layers": LAYERS, "num_decoder_layers": LAYERS, "dropout": 0.1}
    shape = ModelConfig(d_model=D, num_heads=HEADS, d_ff=F, **vocabularies, **layers)
    ours, theirs = Transformer(shape), TorchModel()
    source, target = torch.randint(2, V, (2, 12, LENGTH))
    segments = torch.ones_like(source)
    segments[::3, 15:] = 0

    def step(model):
        logits = model(source, target, segments)
        nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten()).backward()

    # About 1.2 without bf16.
    assert ratio(lambda: step(theirs), lambda: step(ours), 9) > 0.9


@native
@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_native_code_translates_several_times_as_fast_as_pytorch(precision):
    torch.set_num_threads(1)
    model = model_of({"d_model": 64, "d_ff": 256, "num_heads": 4})
    texts = sources(12)

    def translate(engine):
        search(engine, model, texts)

    plain, ours = PlainEngine(model), NativeEngine(model, precision, library())
    assert ratio(lambda: translate(plain), lambda: translate(ours), 2) > 3
