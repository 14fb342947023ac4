"""The page about a layer of one's own: its code runs, trains, decodes step by step and is saved."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch

from headway.config import ModelConfig, SearchConfig, TrainingConfig
from headway.model import SelfAttention, Transformer
from headway.text.batches import Batch
from headway.training.steps.trainer import Trainer
from headway.translation import Translator
from headway.translation.engines import make_engine
from headway.translation.engines.plain_engine import PlainEngine

PAGE = Path(__file__).parents[3] / "docs" / "own-layer.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture
def page(tmp_path, monkeypatch):
    """The names that the page's code defines."""
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(3)
    names = {}
    for block in BLOCKS:
        exec(compile(block, str(PAGE), "exec"), names)
    return names


def test_the_documented_layer_step_by_step_equals_full(page):
    model = page["model"].double().eval()
    assert [type(layer.mixer).__name__ for layer in model.decoder.layers] == ["RunningMean"] * 6
    assert all(type(layer.mixer) is SelfAttention for layer in model.encoder.layers)
    source, target = torch.randint(2, 900, (2, 7)), torch.randint(2, 900, (4, 5))
    full = model(source.repeat_interleave(2, 0), target)
    state = model.start(model.encode(source))
    token = torch.full((4,), 999)
    for t in range(3):
        assert (model.step(token, state) - full[:, t]).abs().max() < 1e-10
        token = target[:, t]
    rows = torch.tensor([1, 0, 2, 2])
    state.reorder(rows)
    assert (model.step(token[rows], state) - full[rows, 3]).abs().max() < 1e-10


def test_the_documented_layer_is_saved_and_loaded(page):
    source, target = torch.randint(2, 900, (2, 7)), torch.randint(2, 900, (2, 5))
    model, again = page["model"].eval(), page["again"].eval()
    assert torch.equal(model(source, target), again(source, target))


def test_a_model_with_a_custom_layer_trains_and_translates(page, tokenizer):
    torch.manual_seed(3)
    config = ModelConfig(
        source_vocab_size=tokenizer.source_vocab_size,
        target_vocab_size=tokenizer.target_vocab_size,
        num_encoder_layers=1,
        num_decoder_layers=2,
        d_model=24,
        d_ff=37,
        num_heads=3,
    )
    model = Transformer(config, make_decoder_mixer=lambda index: page["RunningMean"](24))
    ids = torch.randint(2, 90, (3, 7))
    batch = Batch(ids, torch.ones_like(ids), ids, torch.ones_like(ids), np.arange(3), 21)
    trainer = Trainer(model, TrainingConfig(warmup_steps=2))
    before = model.decoder.layers[1].mixer.output.weight.clone()
    losses = [trainer.step([batch]).loss for _ in range(3)]
    assert losses[-1] < losses[0]
    assert not torch.equal(before, model.decoder.layers[1].mixer.output.weight)
    assert isinstance(make_engine(model.eval()), PlainEngine)  # native code has no running mean
    translator = Translator(model, tokenizer, SearchConfig(beam=2, max_extra=3))
    assert len(translator.translate(["the cat sees the dog", "a tree"])) == 2
