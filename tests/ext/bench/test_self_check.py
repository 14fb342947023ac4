"""The self-check of a model finds what is broken."""

import pytest
import torch

from headway.config import SearchConfig
from headway.ext.bench import self_check
from headway.ext.bench.device_check import compare_with_processor, gradient_distance
from headway.ext.cuda.fixed_engine import FixedEngine
from headway.ext.native import decoding
from headway.ext.native.native_engine import NativeEngine
from headway.model import Transformer
from headway.translation import Translator
from support.toy_models import sentences, small_config


def test_the_self_check_detects_a_broken_mask(translator, monkeypatch):
    assert all(finding.passed for finding in self_check(translator))
    monkeypatch.setattr(translator.model.decoder.layers[1].mixer, "causal", False)
    failed = [finding.name for finding in self_check(translator) if not finding.passed]
    assert "no prediction depends on a later target token" in failed
    assert "step-by-step decoding equals a full forward pass" in failed


def test_the_self_check_detects_attention_to_padding(translator, monkeypatch):
    encode = translator.model.encode
    monkeypatch.setattr(translator.model, "encode", lambda source, segments=None: encode(source))
    failed = [finding.name for finding in self_check(translator) if not finding.passed]
    assert "padding changes no prediction" in failed


@pytest.mark.skipif(decoding.library() is None, reason="no native code")
@pytest.mark.parametrize("precision", ["auto", "int8"])
def test_the_self_check_detects_a_broken_engine(translator, tokenizer, precision):
    own = Translator(translator.model, tokenizer, SearchConfig(precision=precision))
    assert all(finding.passed for finding in self_check(own))
    engine = own.token_search.engine(precision)
    assert isinstance(engine, NativeEngine)
    engine.weights.attention_scale = 0
    failed = [finding.name for finding in self_check(own) if not finding.passed]
    known = "fp32" if precision == "auto" else precision
    assert failed == [f"the engine computes the logits of the model, {known}"]


def translator_of(tokenizer, seed=3):
    torch.manual_seed(seed)
    translator = Translator(Transformer(small_config(tokenizer).model), tokenizer, device="cpu")
    translator.token_search._engines["fp32"] = FixedEngine(translator.model)
    return translator


def test_another_model_in_the_engine_is_detected(tokenizer):
    sources = tokenizer.encode_source(sentences(3, seed=1))
    translator = translator_of(tokenizer)
    findings = list(compare_with_processor(translator, sources))
    assert [finding for finding in findings if not finding.passed] == []
    assert len(findings) == 4
    with torch.no_grad():
        other = translator_of(tokenizer).model
        other.decoder.layers[1].feed_forward.outer.weight.mul_(1.3)
    translator.token_search._engines["fp32"] = FixedEngine(other)
    passed = [finding.passed for finding in compare_with_processor(translator, sources)]
    assert passed == [False, False, True, True]  # both searches


def test_other_gradients_are_detected(tokenizer):
    sources, targets = (
        encode(sentences(5, seed=1))
        for encode in (tokenizer.encode_source, tokenizer.encode_target)
    )
    ours, theirs = translator_of(tokenizer), translator_of(tokenizer)
    assert gradient_distance(ours, theirs, sources, targets) < 1e-6
    with torch.no_grad():
        ours.model.decoder.layers[0].feed_forward.inner.weight.mul_(1.05)
    assert gradient_distance(ours, theirs, sources, targets) > 1e-3
