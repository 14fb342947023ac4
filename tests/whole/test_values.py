"""Every value of every setting of a model is handled or refused by name, wherever code must know it.

The values are those that the settings themselves declare, so that a new one is tried without a change here.
"""

import copy
import json
from typing import get_args, get_type_hints

import numpy as np
import pytest
import torch

from headway.config import ModelConfig, TextConfig, TrainingConfig
from headway.errors import HeadwayError
from headway.ext.exchange.exporting import export_model
from headway.ext.native.native_engine import make_native_engine
from headway.model import Transformer, make_model, ops
from headway.text.batches import Batch
from headway.text.tokenizer import Tokenizer
from headway.training import Trainer
from headway.translation import load_model, save_model
from headway.translation.engines.plain_engine import PlainEngine
from support.exchange_models import make_model as make_random_model
from support.toy_models import sentences, translate_words

SHAPE = {
    "source_vocab_size": 31, "target_vocab_size": 31, "num_encoder_layers": 2, "num_decoder_layers": 2,
    "d_model": 22, "d_ff": 17, "num_heads": 2, "dropout": 0.0,
}  # fmt: skip
DEFAULT = ModelConfig()
VALUES = [
    (name, value)
    for name, hint in get_type_hints(ModelConfig).items()
    for value in ((True, False) if hint is bool else get_args(hint))
    if value != getattr(DEFAULT, name)
]
every_value = pytest.mark.parametrize(("name", "value"), [("norm", DEFAULT.norm), *VALUES])


def changes_for(name, value):
    """Return a value with what its setting needs beside it."""
    return {name: value} | ({"scale_attention": False} if value == "additive" else {})


def attempt(function, *args, **options):
    """Return the result of a function, or the message with which it refuses."""
    try:
        return function(*args, **options), ""
    except HeadwayError as error:
        return None, str(error)


def read_batch(model):
    """Return sentences of random tokens; a classifier has one label for each."""
    generator = torch.Generator().manual_seed(5)
    source, target = (torch.randint(1, 30, (3, 6), generator=generator) for _ in "st")
    target = target[:, :1] if model.has_labels else target
    ones = torch.ones_like
    return Batch(source, ones(source), target, ones(target), np.arange(3), target.numel())


@every_value
def test_training_and_engines_know_each_value(name, value, monkeypatch):
    config, refusal = attempt(ModelConfig, **SHAPE | changes_for(name, value))
    assert not refusal or name in refusal
    if refusal:
        return
    torch.manual_seed(1)
    model = make_model(config).eval()
    batch = read_batch(model)
    fast = Trainer(copy.deepcopy(model), TrainingConfig()).step([batch])
    monkeypatch.setitem(ops._installed, "cpu", ops.PLAIN)
    plain = Trainer(copy.deepcopy(model), TrainingConfig()).step([batch])
    assert not fast.skipped
    assert fast.loss == pytest.approx(plain.loss, rel=1e-4)
    assert fast.gradient_norm == pytest.approx(plain.gradient_norm, rel=1e-3)
    model.requires_grad_(False)
    if isinstance(model, Transformer) and (native := make_native_engine(model, "fp32")):
        sources, targets = (
            [[*row[1:4], 1] for row in side.tolist()] for side in (batch.source, batch.target)
        )
        ours, theirs = (e.read(sources, targets) for e in (native, PlainEngine(model, "fp32")))
        for one, other in zip(ours, theirs, strict=True):
            assert np.asarray(one.log_p) == pytest.approx(np.asarray(other.log_p), abs=1e-4)


@pytest.fixture(scope="module")
def joint():
    pairs = [(line, translate_words(line)) for line in sentences(400, 1)]
    return Tokenizer.learn(pairs, TextConfig(vocab_size=331))


@every_value
@pytest.mark.parametrize("form", ["ctranslate2", "huggingface"])
def test_exports_express_each_value_or_refuse_it_by_name(form, name, value, joint, tmp_path):
    for package in {"ctranslate2": ["ctranslate2"], "huggingface": ["transformers"]}[form]:
        pytest.importorskip(package)
    model, refusal = attempt(make_random_model, joint, **changes_for(name, value))
    assert not refusal or name in refusal
    if refusal:
        return
    if name == "kind":
        network = make_model(model.config.model)
        save_model(tmp_path, network, joint, model.config, model.languages, "# A model\n")
        labels = [str(number) for number in range(joint.target_vocab_size)]
        (tmp_path / "labels.json").write_text(json.dumps(labels))  # of a classifier
        with pytest.raises(HeadwayError, match=str(value).replace("-", ".")):
            load_model(tmp_path)
        return
    lines = sentences(3, 9)
    export, refusal = attempt(export_model, model, form, tmp_path / "out", lines=lines)
    if refusal:
        assert f"{form} cannot express model.{name} = " in refusal
    else:
        assert not export.certificate.failures
