"""Headway is faster on a processor than PyTorch's own classes; `benchmarks/` measures by how much.

The two sides take turns, and the median of their ratios counts, so that other programs disturb both alike.
"""

import statistics
import time
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from headway.config import ModelConfig
from headway.ext.native.engine import NativeEngine
from headway.model import Transformer
from headway.translation.engines.engine import Engine
from headway.translation.engines.plain_engine import PlainEngine
from support.engines import library, model_of, native, search, sources

pytestmark = pytest.mark.slow
D, HEADS, F, LAYERS, V, LENGTH = 64, 4, 256, 2, 300, 25


class TorchModel(nn.Module):
    """The same model of PyTorch's own layers, with one table of embeddings."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(V, D)
        self.layers = nn.Transformer(D, HEADS, LAYERS, LAYERS, F, 0.1, batch_first=True)
        self.mask = nn.Transformer.generate_square_subsequent_mask(LENGTH)

    def forward(self, source: Tensor, target: Tensor, segments: Tensor) -> Tensor:
        hidden = segments == 0
        decoded = self.layers(
            self.embedding(source) * D**0.5, self.embedding(target) * D**0.5, tgt_mask=self.mask,
            src_key_padding_mask=hidden, memory_key_padding_mask=hidden,
        )  # fmt: skip
        return decoded @ self.embedding.weight.T


def median_ratio(slower: Callable[[], object], faster: Callable[[], object], turns: int) -> float:
    """Return how many times as long one takes as the other, in seconds of the processor."""

    def seconds(work: Callable[[], object]) -> float:
        started = time.process_time()
        work()
        return time.process_time() - started

    for work in (slower, faster):
        work()
    return statistics.median(seconds(slower) / seconds(faster) for _ in range(turns))


@native
def test_a_gradient_takes_no_longer_than_that_of_torchs_transformer() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(1)
    ours = Transformer(
        ModelConfig(
            source_vocab_size=V,
            target_vocab_size=V,
            d_model=D,
            num_heads=HEADS,
            d_ff=F,
            num_encoder_layers=LAYERS,
            num_decoder_layers=LAYERS,
            dropout=0.1,
        )
    )
    theirs = TorchModel()
    source, target = torch.randint(2, V, (2, 12, LENGTH))
    segments = torch.ones_like(source)
    segments[::3, 15:] = 0

    def step(model: nn.Module) -> None:
        logits = model(source, target, segments)
        nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten()).backward()

    # About 1.2 without bf16; a busy machine disturbs it by a tenth.
    assert median_ratio(lambda: step(theirs), lambda: step(ours), 7) > 0.9


@native
@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_native_code_translates_several_times_as_fast_as_pytorch(precision: str) -> None:
    torch.set_num_threads(1)
    model = model_of({"d_model": 64, "d_ff": 256, "num_heads": 4})
    texts = sources(12)

    def translate(engine: Engine) -> None:
        search(engine, model, texts)

    plain, ours = PlainEngine(model), NativeEngine(model, precision, library())
    assert median_ratio(lambda: translate(plain), lambda: translate(ours), 5) > 3
